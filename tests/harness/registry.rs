//! An OCI registry of the tests' own: Debian's `docker-registry`, on a free port of this machine.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use rand::{RngExt as _, distr::Alphanumeric};
use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The user of a registry with a password.
pub const USER: &str = "ada";

/// A registry, which ends when this is dropped.
pub struct Registry {
    /// The address with the port.
    pub host: String,
    folder: TempDir,
    process: Child,
}

impl Registry {
    /// Starts a registry that everybody may use.
    pub fn start() -> Self {
        Self::start_with("")
    }

    /// Starts a registry that only `USER` may use, with this password.
    pub fn start_closed(password: &str) -> Self {
        Self::start_with(&hash(password))
    }

    fn start_with(hash: &str) -> Self {
        let folder = TempDir::new().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let host = format!("127.0.0.1:{port}");
        let passwords = folder.path().join("passwords");
        let auth = match hash {
            "" => String::new(),
            hash => {
                fs::write(&passwords, format!("{USER}:{hash}\n")).unwrap();
                format!("auth: {{ htpasswd: {{ realm: test, path: {} }} }}\n", passwords.display())
            }
        };
        let storage = folder.path().join("storage");
        let configuration = format!(
            "version: 0.1\nlog: {{ level: error }}\nstorage: {{ filesystem: {{ rootdirectory: {} }} }}\nhttp: {{ addr: {host} }}\n{auth}",
            storage.display()
        );
        let file = folder.path().join("config.yml");
        fs::write(&file, configuration).unwrap();
        let process = Command::new("docker-registry")
            .arg("serve")
            .arg(&file)
            .env("OTEL_TRACES_EXPORTER", "none")
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap_or_else(|error| {
                panic!("docker-registry: {error}; install it, or run cargo xtask test")
            });
        let started = Instant::now();
        while TcpStream::connect(&host).is_err() {
            assert!(started.elapsed() < super::PATIENCE, "the registry does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Self { host, folder, process }
    }

    /// Returns the address of a component in the registry.
    pub fn address(&self, name: &str) -> String {
        format!("oci://{}/{name}", self.host)
    }

    /// Changes a byte of every stored blob that contains this text, and returns the
    /// number of these blobs.
    pub fn damage(&self, text: &str) -> usize {
        let blobs = blobs(self.folder.path());
        let mut damaged = 0;
        for path in blobs {
            let mut bytes = fs::read(&path).unwrap();
            let found = bytes.windows(text.len()).position(|window| window == text.as_bytes());
            if let Some(place) = found {
                bytes[place] ^= 1;
                fs::write(&path, bytes).unwrap();
                damaged += 1;
            }
        }
        damaged
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _killed = self.process.kill();
        let _status = self.process.wait();
    }
}

/// Returns the files of the stored blobs, which the registry names `data`.
fn blobs(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let data = files.into_iter().filter(|path| path.ends_with("data"));
    data.chain(folders.iter().flat_map(|folder| blobs(folder))).collect()
}

/// Returns a random password.
pub fn new_password() -> String {
    letters(24)
}

fn letters(count: usize) -> String {
    rand::rng().sample_iter(Alphanumeric).take(count).map(char::from).collect()
}

/// Returns the bcrypt hash of a password, made by the system's own library.
fn hash(password: &str) -> String {
    // Four of the six bits of a salt's last letter must be zero, so it is fixed.
    let salt = format!("$2y$05${}e", letters(21));
    let script = "print crypt($ARGV[0], $ARGV[1])";
    let output = Command::new("perl").args(["-e", script, password, &salt]).output().unwrap();
    let hash = String::from_utf8(output.stdout).unwrap();
    assert!(hash.starts_with("$2y$05$"), "{hash}");
    hash
}

/// Returns Docker's configuration with a password of `USER` for a registry.
pub fn docker_config(registry: &str, password: &str) -> String {
    let auth = STANDARD.encode(format!("{USER}:{password}"));
    format!(r#"{{"auths":{{"{registry}":{{"auth":"{auth}"}}}}}}"#)
}
