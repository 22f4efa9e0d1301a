//! Compiles components in a child process, so that a slow or hostile component costs this process nothing.

use crate::{
    artifact::with_checksum,
    cache::{self, FunctionCache, create_private},
    engine::{Backtraces, Sandbox, config},
    source::Program,
};
use portolan_vocabulary::Digest;
use std::{
    io::Read as _,
    path::{Path, PathBuf},
    process::Stdio,
    sync::Arc,
};
use tokio::{io::AsyncWriteExt as _, process::Command};
use wasmtime::Engine;

/// The maximum address space of the compiling process. A Python component takes about 2 GiB.
const COMPILER_MEMORY_BYTES: u64 = 6 << 30;

/// The child's exit status for a component that is not valid, and for an artifact that cannot be written, because
/// the disk is full for example.
const INVALID: i32 = 65;
const UNWRITABLE: i32 = 74;

/// The reasons why a component cannot be compiled.
#[derive(Debug, thiserror::Error)]
pub enum CompileError {
    #[error("not a valid component: {0}")]
    Invalid(String),
    #[error("took longer than {0} ms to compile")]
    OutOfTime(u64),
    #[error("the compiler failed ({0})")]
    Crashed(String),
    #[error("the host failed: {0}")]
    Host(#[from] std::io::Error),
}

impl Sandbox {
    /// Returns the path of a component's artifact, and compiles the component if there is no artifact yet.
    pub async fn compile(&self, program: &Program<'_>) -> Result<PathBuf, CompileError> {
        let artifact = self.artifact(program.digest);
        if tokio::fs::try_exists(&artifact).await? {
            return Ok(artifact);
        }
        let Ok(_permit) = self.compilations.acquire().await else {
            let stopping = std::io::Error::other("the host is stopping");
            return Err(CompileError::Host(stopping));
        };
        create_private(&self.options.artifacts)?;
        let unfinished =
            tempfile::Builder::new().prefix(".").tempfile_in(&self.options.artifacts)?;
        self.compile_in_child(program.code, unfinished.path()).await?;
        unfinished.as_file().sync_all()?;
        unfinished.persist(&artifact).map_err(|error| error.error)?;
        Ok(artifact)
    }

    /// Removes files that an interrupted compilation or an older engine left.
    pub fn clean_artifacts(&self) {
        let current = format!("-{}.artifact", self.compatibility());
        let entries = std::fs::read_dir(&self.options.artifacts).into_iter().flatten().flatten();
        for entry in
            entries.filter(|entry| !entry.file_name().to_string_lossy().ends_with(&current))
        {
            if let Err(error) = std::fs::remove_file(entry.path()) {
                tracing::warn!(%error, file = %entry.path().display(), "an old artifact cannot be removed");
            }
        }
    }

    /// Removes a damaged artifact, so that the next attempt compiles the component again.
    pub fn remove_artifact(&self, program: &Program<'_>) -> std::io::Result<()> {
        std::fs::remove_file(self.artifact(program.digest))
    }

    fn artifact(&self, digest: Digest) -> PathBuf {
        self.options.artifacts.join(format!("{}-{}.artifact", digest.hex(), self.compatibility()))
    }

    /// Returns the file of the compile cache; `None` if no cache is configured or its folder cannot be used.
    fn cache_file(&self) -> Option<PathBuf> {
        let folder = self.options.compile_cache.as_deref()?;
        cache::file(folder, &self.compatibility())
            .inspect_err(|error| {
                tracing::warn!(%error, folder = %folder.display(), "the compile cache cannot be used");
            })
            .ok()
    }

    async fn compile_in_child(&self, wasm: &[u8], output: &Path) -> Result<(), CompileError> {
        let mut command = Command::new(&self.options.compiler);
        command.arg("compile-component").arg(output);
        if self.options.backtraces == Backtraces::Source {
            command.arg("--source-lines");
        }
        let cache = self.cache_file();
        if let Some(cache) = &cache {
            command.arg("--cache").arg(cache);
        }
        let mut child = command
            .env_clear()
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            // Ctrl-C at the terminal must reach only the host, which then ends its children.
            .process_group(0)
            .spawn()?;
        let stdin = child.stdin.take();
        let exchange = async {
            if let Some(mut stdin) = stdin {
                // The child may end before it has read everything; its exit status says why.
                let _unread = stdin.write_all(wasm).await;
            }
            child.wait_with_output().await
        };
        let limit = self.options.limits.compile_time();
        let Ok(finished) = tokio::time::timeout(limit, exchange).await else {
            return Err(CompileError::OutOfTime(self.options.limits.compile_time_ms));
        };
        let finished = finished?;
        let stderr = String::from_utf8_lossy(&finished.stderr);
        let stderr = stderr.trim();
        match finished.status.code() {
            Some(0) => {
                if let Some(file) = &cache {
                    cache::remove_others(file);
                }
                Ok(())
            }
            Some(INVALID) => Err(CompileError::Invalid(stderr.to_owned())),
            Some(UNWRITABLE) => {
                let unwritable = format!("the compiled component cannot be written: {stderr}");
                Err(CompileError::Host(std::io::Error::other(unwritable)))
            }
            _ => {
                tracing::warn!(status = %finished.status, "the compiler failed: {stderr}");
                Err(CompileError::Crashed(finished.status.to_string()))
            }
        }
    }
}

/// The arguments of the child process.
#[derive(Debug)]
pub struct CompileRequest {
    /// The file that the artifact is written to.
    pub output: PathBuf,
    pub backtraces: Backtraces,
    /// The file of the compile cache; `None` to compile without one.
    pub cache: Option<PathBuf>,
}

/// Compiles the component on standard input and returns the exit status. The child process runs this.
pub fn compile_from_stdin(request: CompileRequest) -> i32 {
    let limited =
        rlimit::setrlimit(rlimit::Resource::AS, COMPILER_MEMORY_BYTES, COMPILER_MEMORY_BYTES);
    let cache = request.cache.map(|file| Arc::new(FunctionCache::open(file)));
    let ready = limited.map_err(anyhow::Error::from).and_then(|()| {
        let mut wasm = Vec::new();
        std::io::stdin().read_to_end(&mut wasm)?;
        Ok((compiling_engine(request.backtraces, cache.clone())?, wasm))
    });
    let (engine, wasm) = match ready {
        Ok(ready) => ready,
        Err(error) => return fail(&error, 1),
    };
    let artifact = match engine.precompile_component(&wasm) {
        Ok(artifact) => artifact,
        Err(error) => return fail(&error.into(), INVALID),
    };
    if let Err(error) = std::fs::write(request.output, with_checksum(artifact)) {
        return fail(&error.into(), UNWRITABLE);
    }
    if let Some(cache) = cache {
        // A cache that cannot be written only makes the next compilation slower.
        let _written = cache.write();
    }
    0
}

fn compiling_engine(
    backtraces: Backtraces,
    cache: Option<Arc<FunctionCache>>,
) -> anyhow::Result<Engine> {
    let mut config = config(None, backtraces);
    if let Some(cache) = cache {
        config.enable_incremental_compilation(cache)?;
    }
    Ok(Engine::new(&config)?)
}

#[expect(clippy::print_stderr, reason = "standard error is how the child tells its parent why")]
fn fail(error: &anyhow::Error, status: i32) -> i32 {
    eprintln!("{error:#}");
    status
}
