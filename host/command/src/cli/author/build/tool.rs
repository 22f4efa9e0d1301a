//! The programs of other projects that a build needs.

use std::{
    io::ErrorKind,
    path::Path,
    process::{Command, Output, Stdio},
};

/// A program, and the command that installs it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) install: &'static str,
}

impl Tool {
    /// Starts a command line of the program, which is taken from the project's own folder of programs if it
    /// is there.
    pub(super) fn command(self, project: &Path) -> Command {
        let own = project.join("node_modules/.bin").join(self.name);
        match own.canonicalize() {
            Ok(own) => Command::new(own),
            Err(_) => Command::new(self.name),
        }
    }

    /// Runs the program and returns its standard output. Its errors pass through.
    pub(super) fn output(self, command: &mut Command) -> anyhow::Result<Vec<u8>> {
        let ran = command.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
        let Output { status, stdout, .. } = match ran {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                anyhow::bail!("{} is missing; install it: {}", self.name, self.install)
            }
            other => other?,
        };
        anyhow::ensure!(status.success(), "{} failed ({status}); see above", self.name);
        Ok(stdout)
    }

    /// Runs the program; what it prints goes to standard error.
    pub(super) fn run(self, command: &mut Command) -> anyhow::Result<()> {
        let printed = self.output(command)?;
        eprint!("{}", String::from_utf8_lossy(&printed));
        Ok(())
    }
}
