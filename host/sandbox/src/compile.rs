//! Compiles components in a child process, so that a slow or hostile one costs this process nothing.

use crate::{
    artifact::with_checksum,
    engine::{Backtraces, Sandbox, config},
};
use portolan_vocabulary::Digest;
use std::{
    io::Read as _,
    os::unix::fs::{DirBuilderExt as _, PermissionsExt as _},
    path::{Path, PathBuf},
    process::Stdio,
};
use tokio::{io::AsyncWriteExt as _, process::Command};
use wasmtime::Engine;

/// The address space of the compiling process. A Python component takes about 2 GiB.
const COMPILER_MEMORY_BYTES: u64 = 6 << 30;

/// The child's exit status for a component that is not valid.
const INVALID: i32 = 65;

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
    /// Returns the artifact of a component, and compiles the component if there is none yet.
    pub async fn compile(&self, digest: Digest, wasm: &[u8]) -> Result<PathBuf, CompileError> {
        let artifact = self.artifact(digest);
        if tokio::fs::try_exists(&artifact).await? {
            return Ok(artifact);
        }
        let Ok(_permit) = self.compilations.acquire().await else {
            return Err(CompileError::Crashed("the host is stopping".to_owned()));
        };
        create_private(&self.options.artifacts)?;
        let unfinished =
            tempfile::Builder::new().prefix(".").tempfile_in(&self.options.artifacts)?;
        self.compile_in_child(wasm, unfinished.path()).await?;
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
    pub fn remove_artifact(&self, digest: Digest) -> std::io::Result<()> {
        std::fs::remove_file(self.artifact(digest))
    }

    fn artifact(&self, digest: Digest) -> PathBuf {
        self.options.artifacts.join(format!("{}-{}.artifact", digest.hex(), self.compatibility()))
    }

    async fn compile_in_child(&self, wasm: &[u8], output: &Path) -> Result<(), CompileError> {
        let mut command = Command::new(&self.options.compiler);
        command.arg("compile-component").arg(output);
        if self.options.backtraces == Backtraces::Source {
            command.arg("--source-lines");
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
            Some(0) => Ok(()),
            Some(INVALID) => Err(CompileError::Invalid(stderr.to_owned())),
            _ => {
                tracing::warn!(status = %finished.status, "the compiler failed: {stderr}");
                Err(CompileError::Crashed(finished.status.to_string()))
            }
        }
    }
}

/// Creates the folder for this user alone: artifacts are run as native code, so no other user may
/// put one there.
fn create_private(folder: &Path) -> std::io::Result<()> {
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    std::fs::set_permissions(folder, std::fs::Permissions::from_mode(0o700))
}

/// Compiles the component on standard input into the file and returns the exit status: what the child
/// process runs.
pub fn compile_from_stdin(output: &Path, backtraces: Backtraces) -> i32 {
    let limited =
        rlimit::setrlimit(rlimit::Resource::AS, COMPILER_MEMORY_BYTES, COMPILER_MEMORY_BYTES);
    let compiled = limited.map_err(anyhow::Error::from).and_then(|()| {
        let mut wasm = Vec::new();
        std::io::stdin().read_to_end(&mut wasm)?;
        Ok((Engine::new(&config(None, backtraces))?, wasm))
    });
    let (engine, wasm) = match compiled {
        Ok(ready) => ready,
        Err(error) => return fail(&error, 1),
    };
    match engine.precompile_component(&wasm) {
        Ok(artifact) => match std::fs::write(output, with_checksum(artifact)) {
            Ok(()) => 0,
            Err(error) => fail(&error.into(), 1),
        },
        Err(error) => fail(&error.into(), INVALID),
    }
}

#[expect(clippy::print_stderr, reason = "standard error is how the child tells its parent why")]
fn fail(error: &anyhow::Error, status: i32) -> i32 {
    eprintln!("{error:#}");
    status
}
