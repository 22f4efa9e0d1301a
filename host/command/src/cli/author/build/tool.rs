//! The external programs that a build needs.

use std::{
    env,
    ffi::OsString,
    io::ErrorKind,
    path::Path,
    process::{Command, Output, Stdio},
};

/// A program, and how it is installed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) install: &'static str,
}

impl Tool {
    /// Returns a command that finds programs in the project's own folders first.
    pub(super) fn command(self, project: &Path) -> Command {
        let mut command = Command::new(self.name);
        if let Some(path) = search_path(project) {
            command.env("PATH", path);
        }
        command
    }

    /// Runs the program and returns its standard output. Its standard error is shown.
    pub(super) fn output(self, command: &mut Command) -> anyhow::Result<Vec<u8>> {
        let result = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
        let Output { status, stdout, .. } = match result {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                anyhow::bail!("{} is missing; install it: {}", self.name, self.install)
            }
            other => other?,
        };
        anyhow::ensure!(status.success(), "{} failed ({status}); see above", self.name);
        Ok(stdout)
    }

    /// Runs the program and discards its standard output.
    pub(super) fn run(self, command: &mut Command) -> anyhow::Result<()> {
        self.output(command).map(drop)
    }
}

/// Returns the value of `PATH`: the program folders of the project's packages and of its virtual environment,
/// then those of the environment.
fn search_path(project: &Path) -> Option<OsString> {
    let project_folders = ["node_modules/.bin", ".venv/bin"].map(|folder| project.join(folder));
    let project_folders =
        project_folders.into_iter().filter_map(|folder| folder.canonicalize().ok());
    let path = env::var_os("PATH").unwrap_or_default();
    env::join_paths(project_folders.chain(env::split_paths(&path))).ok()
}
