//! The external programs that a build needs.

use std::{
    env,
    ffi::OsString,
    io::{ErrorKind, Read as _},
    path::Path,
    process::{Child, Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    time::{Duration, Instant},
};

/// The interval at which a running program is looked at.
const WAIT_INTERVAL: Duration = Duration::from_millis(5);

/// A program, and how it is installed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Tool {
    pub(super) name: &'static str,
    pub(super) install: &'static str,
    /// The time after which it is ended: code at the top level of a project may loop for ever.
    pub(super) time_limit: Duration,
}

/// The program that runs, if one does: a build runs one at a time.
static RUNNING: Mutex<Option<Child>> = Mutex::new(None);

fn running() -> MutexGuard<'static, Option<Child>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Ends the program that runs, so that it does not outlive this process.
pub(in crate::cli::author) fn end_running() {
    if let Some(mut child) = running().take() {
        let _ended = child.kill();
        let _status = child.wait();
    }
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
        let result =
            command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::inherit()).spawn();
        let mut child = match result {
            Err(error) if error.kind() == ErrorKind::NotFound => {
                anyhow::bail!("{} is missing; install it: {}", self.name, self.install)
            }
            other => other?,
        };
        let output = child.stdout.take().map(|mut output| {
            std::thread::spawn(move || {
                let mut content = Vec::new();
                output.read_to_end(&mut content).map(|_| content)
            })
        });
        let started = Instant::now();
        *running() = Some(child);
        let status = loop {
            let status = running().as_mut().map(Child::try_wait).transpose()?;
            match status {
                None => anyhow::bail!("{} was ended", self.name),
                Some(Some(status)) => break status,
                Some(None) => {}
            }
            if started.elapsed() >= self.time_limit {
                end_running();
                anyhow::bail!(
                    "{} was ended after {} s; does code at the top level of a module loop for ever?",
                    self.name,
                    self.time_limit.as_secs()
                );
            }
            std::thread::sleep(WAIT_INTERVAL);
        };
        *running() = None;
        let read = output.map(std::thread::JoinHandle::join);
        let stdout = read.transpose().map_err(|_| anyhow::anyhow!("its output cannot be read"))?;
        let stdout = stdout.transpose()?.unwrap_or_default();
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
