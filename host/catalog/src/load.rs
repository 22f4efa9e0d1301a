//! The steps from a file to a capability: read, screen, compile, prepare, describe, check.

use crate::{
    capability::Capability,
    catalog::Catalog,
    check::check,
    failures::conditions,
    file,
    refusal::LoadError,
    trust::{Origin, Trust},
};
use portolan_sandbox::{PrepareError, Program, Sandbox, screen};
use portolan_vocabulary::{Descriptor, Digest};
use std::{
    sync::Arc,
    time::{Duration, Instant},
};

/// The result of the inspection of a component.
#[derive(Debug)]
pub struct Inspection {
    pub digest: Digest,
    pub size: usize,
    /// The time that screening and compilation took; `None` if the component was not compiled.
    pub compiled_in: Option<Duration>,
    pub capability: Result<Capability, LoadError>,
}

/// Loads one file of the folder. Returns `None` if its content has the digest `serving`.
pub(super) async fn load(
    catalog: &Arc<Catalog>,
    file: &str,
    serving: Option<Digest>,
) -> Result<Option<Capability>, LoadError> {
    let (sandbox, options) = (&catalog.sandbox, &catalog.options);
    let limit = sandbox.limits().component_bytes;
    let (path, name) = (options.folder.clone(), file.to_owned());
    let (bytes, digest) = blocking(move || {
        let bytes = file::read(&path, &name, limit)?;
        let digest = Digest::of(&bytes);
        Ok((bytes, digest))
    })
    .await?;
    if serving == Some(digest) {
        return Ok(None);
    }
    let origin = options.trust.origin(&bytes, file)?;
    screen(&bytes)?;
    let conditions = conditions(sandbox);
    if let Some(known) = catalog.failures.find(digest, &conditions, options.clock.now()) {
        return Err(LoadError::Known(known));
    }
    let built = build(sandbox, digest, &bytes, origin).await;
    if let Err(error) = &built
        && let Err(error) = catalog.failures.note(digest, conditions, error, options.clock.now())
    {
        tracing::warn!(%error, file, "the failure cannot be noted; the file is tried again");
    }
    built.map(Some)
}

/// Loads a component that is in no folder yet. `file` is the name of its file.
pub(super) async fn load_content(
    sandbox: &Arc<Sandbox>,
    trust: &Trust,
    file: &str,
    content: &[u8],
) -> Result<Capability, LoadError> {
    let limit = sandbox.limits().component_bytes;
    if content.len() as u64 > limit {
        return Err(LoadError::TooLarge { size: content.len() as u64, limit });
    }
    file::ensure_preamble(content)?;
    let origin = trust.origin(content, file)?;
    screen(content)?;
    build(sandbox, Digest::of(content), content, origin).await
}

/// Inspects a component that is in no catalog, for `portolan check`. `file` is the name of its file.
pub async fn inspect(
    sandbox: &Arc<Sandbox>,
    trust: &Trust,
    file: &str,
    bytes: Vec<u8>,
) -> Inspection {
    let (digest, size) = (Digest::of(&bytes), bytes.len());
    let started = Instant::now();
    let mut compiled_in = None;
    let capability = async {
        let limit = sandbox.limits().component_bytes;
        if size as u64 > limit {
            return Err(LoadError::TooLarge { size: size as u64, limit });
        }
        file::ensure_preamble(&bytes)?;
        let origin = trust.origin(&bytes, file)?;
        screen(&bytes)?;
        sandbox.compile(&Program::new(&bytes, digest)).await?;
        compiled_in = Some(started.elapsed());
        build(sandbox, digest, &bytes, origin).await
    };
    let capability = capability.await;
    Inspection { digest, size, compiled_in, capability }
}

async fn build(
    sandbox: &Arc<Sandbox>,
    digest: Digest,
    bytes: &[u8],
    origin: Origin,
) -> Result<Capability, LoadError> {
    let program = Program::new(bytes, digest);
    let mut artifact = sandbox.compile(&program).await?;
    let prepare = |artifact: std::path::PathBuf| {
        let (sandbox, source) = (Arc::clone(sandbox), program.source());
        blocking(move || Ok(sandbox.prepare(&artifact, source)?))
    };
    let prepared = match prepare(artifact.clone()).await {
        // The artifact is damaged, perhaps because the disk was full, so the component is compiled again.
        Err(LoadError::Prepare(PrepareError::Artifact(error))) => {
            tracing::warn!(%digest, %error, "the stored artifact is damaged; it is compiled again");
            sandbox.remove_artifact(&program)?;
            artifact = sandbox.compile(&program).await?;
            prepare(artifact).await?
        }
        other => other?,
    };
    let size = bytes.len() as u64;
    let descriptor: Descriptor = sandbox.describe(&prepared).await?;
    let limits = sandbox.limits().clone();
    blocking(move || {
        let schemas = check(&descriptor, &limits).map_err(LoadError::Descriptor)?;
        Ok(Capability::new(descriptor, schemas, prepared, (digest, size), origin))
    })
    .await
}

/// Runs work that takes milliseconds on another thread, so that it does not delay calls.
async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, LoadError> + Send + 'static,
) -> Result<T, LoadError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(LoadError::Unreadable(std::io::Error::other(error))),
    }
}
