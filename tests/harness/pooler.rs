//! Debian's PgBouncer in transaction mode, in front of PostgreSQL.

use crate::harness::{PATIENCE, postgres::is_root};
use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// A running pooler, which ends when this is dropped.
pub struct Pooler {
    /// The URL of a database behind it.
    pub url: String,
    port: u16,
    process: Child,
    folder: TempDir,
}

impl Drop for Pooler {
    fn drop(&mut self) {
        self.kill();
    }
}

impl Pooler {
    /// Starts a pooler with these further settings in front of the server of a database. Of a setting that is written
    /// twice, the later one counts.
    pub fn start(database: &str, settings: &str) -> Self {
        let (_, place) = database.split_once('@').unwrap();
        let (server, name) = place.split_once('/').unwrap();
        let (host, server_port) = server.split_once(':').unwrap();
        let folder = TempDir::new().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let users = folder.path().join("users");
        fs::write(&users, "\"portolan\" \"\"\n").unwrap();
        let text = format!(
            "[databases]\n* = host={host} port={server_port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\nunix_socket_dir =\nauth_type = trust\nauth_file = {}\npool_mode = transaction\nserver_login_retry = 1\n{settings}\n",
            users.display()
        );
        fs::write(folder.path().join("pgbouncer.ini"), text).unwrap();
        if is_root() {
            // PgBouncer refuses to run as root.
            let owned = Command::new("chown").arg("-R").arg("nobody").arg(folder.path()).status();
            assert!(owned.unwrap().success());
        }
        let process = run(folder.path(), port);
        let url = format!("postgres://portolan@127.0.0.1:{port}/{name}");
        Self { url, port, process, folder }
    }

    /// Kills the pooler, which breaks all connections through it.
    pub fn kill(&mut self) {
        // The process may have ended by itself.
        let _killed = self.process.kill();
        let _status = self.process.wait();
    }

    /// Starts the pooler again after it was killed, at the same address.
    pub fn start_again(&mut self) {
        self.process = run(self.folder.path(), self.port);
    }
}

/// Runs the pooler whose configuration is in a folder, and waits until it accepts connections.
fn run(folder: &Path, port: u16) -> Child {
    let log = fs::File::create(folder.join("log")).unwrap();
    let mut command = match is_root() {
        true => {
            let mut command = Command::new("setpriv");
            command.args(["--reuid=nobody", "--regid=nogroup", "--clear-groups"]).arg(program());
            command
        }
        false => Command::new(program()),
    };
    let file = folder.join("pgbouncer.ini");
    let mut process = command.arg(file).stdout(Stdio::null()).stderr(log).spawn().unwrap();
    let started = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        let ended = process.try_wait().unwrap();
        let log = fs::read_to_string(folder.join("log")).unwrap_or_default();
        assert!(ended.is_none() && started.elapsed() < PATIENCE, "{log}; install pgbouncer");
        std::thread::sleep(Duration::from_millis(20));
    }
    process
}

/// Returns the program, which is outside of the PATH of users on Debian.
fn program() -> &'static Path {
    let installed = Path::new("/usr/sbin/pgbouncer");
    if installed.exists() { installed } else { Path::new("pgbouncer") }
}
