//! A host in a process of its own, for tests about the process: signals, crashes, the environment, what it
//! prints, and what the system reports about it.

use crate::harness::{
    Host, Options,
    options::{binary, kept_artifacts},
};
use portolan_vocabulary::Digest;
use std::{
    borrow::Borrow,
    io::{BufRead as _, BufReader},
    ops::Deref,
    path::{Path, PathBuf},
    process::{Child, Command, ExitStatus, Stdio},
};
use tempfile::TempDir;

/// The size in bytes above which a component's artifact is kept, so that only the first process
/// compiles it.
const SLOW_TO_COMPILE: usize = 1 << 17;

/// A host in a process of its own, which ends with its test.
pub struct Process {
    // `child` is dropped first, because the log is checked after the process has ended.
    child: KillOnDrop,
    host: Host,
}

/// A process that is killed when this is dropped.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _ended = self.0.kill();
        let _status = self.0.wait();
    }
}

impl Deref for Process {
    type Target = Host;

    fn deref(&self) -> &Host {
        &self.host
    }
}

impl Borrow<Host> for Process {
    fn borrow(&self) -> &Host {
        &self.host
    }
}

impl Process {
    pub fn with(names: &[&str]) -> Self {
        Self::start(Options::with(names))
    }

    pub fn start(options: Options) -> Self {
        let slow = options.components.iter().map(|(_, bytes)| bytes);
        let slow: Vec<_> = slow.filter(|bytes| bytes.len() > SLOW_TO_COMPILE).cloned().collect();
        let trusted = options.trusted.clone();
        let folder = options.folder();
        for bytes in &slow {
            copy_artifacts(kept_artifacts(), &artifacts(folder.path()), bytes);
        }
        let process = Self::start_with(folder, trusted);
        for bytes in &slow {
            copy_artifacts(&artifacts(process.folder.path()), kept_artifacts(), bytes);
        }
        process
    }

    /// Starts a host on the configuration, catalog and data in the folder.
    pub fn start_in(folder: TempDir) -> Self {
        Self::start_with(folder, None)
    }

    fn start_with(folder: TempDir, trusted: Option<PathBuf>) -> Self {
        let mut child = command(folder.path())
            .envs(trusted.map(|file| ("SSL_CERT_FILE", file)))
            .args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut address = |name: &str| {
            lines
                .by_ref()
                .map(|line| line.unwrap())
                .find_map(|line| line.trim().strip_prefix(name).map(|url| url.trim().to_owned()))
                .unwrap_or_else(|| {
                    let log = std::fs::read_to_string(folder.path().join("log"));
                    panic!("the host ended before it was ready: {}", log.unwrap_or_default())
                })
        };
        let (url, admin_url) = (address("agents:"), address("operator:"));
        // The rest of the output has to be read, or the host would block on a full pipe.
        std::thread::spawn(move || lines.for_each(drop));
        Self { child: KillOnDrop(child), host: Host::at_addresses(folder, url, admin_url) }
    }

    pub fn process_id(&self) -> u32 {
        self.child.0.id()
    }

    /// Returns a number of `/proc/PID/status`, such as `Threads` or `VmRSS` (in KiB).
    pub fn process_status(&self, name: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.process_id())).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim_start_matches(':').split_whitespace().next().unwrap().parse().unwrap()
    }

    pub fn signal(&self, name: &str) {
        let sent =
            Command::new("kill").args([format!("-{name}"), self.process_id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the process to end, and returns its exit status and its folder.
    pub fn wait(mut self) -> (ExitStatus, TempDir) {
        let status = self.child.0.wait().unwrap();
        (status, self.host.take_folder())
    }
}

/// Returns a command that runs the binary in a folder; its environment has only `PATH`, and its
/// standard error is appended to the file `log`.
pub fn command(folder: &Path) -> Command {
    let log =
        std::fs::OpenOptions::new().create(true).append(true).open(folder.join("log")).unwrap();
    let mut command = Command::new(binary());
    command.current_dir(folder).env_clear().env("PATH", std::env::var("PATH").unwrap()).stderr(log);
    command
}

fn artifacts(folder: &Path) -> PathBuf {
    folder.join("data/artifacts")
}

/// Copies the artifacts of a component, unless they are already there.
fn copy_artifacts(from: &Path, to: &Path, component: &[u8]) {
    let digest = Digest::of(component).hex();
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).into_iter().flatten() {
        let name = entry.unwrap().file_name();
        let target = to.join(&name);
        if name.to_string_lossy().starts_with(&digest) && !target.exists() {
            // The copy is renamed into place, because other tests read the folder at the same time.
            let unfinished = tempfile::NamedTempFile::new_in(to).unwrap();
            std::fs::copy(from.join(&name), unfinished.path()).unwrap();
            unfinished.persist(target).unwrap();
        }
    }
}
