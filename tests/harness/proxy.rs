//! Debian's nginx and Caddy in front of a host, with the configurations of `docs/proxies.md`.

use crate::harness::{Host, Options, PATIENCE};
use reqwest::{Certificate, Client, ClientBuilder};
use std::{
    fs,
    net::{TcpListener, TcpStream},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The server that is put in front of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    Nginx,
    Caddy,
}

/// A running proxy, which ends when this is dropped.
pub struct Proxy {
    process: Child,
    certificate: String,
    _folder: TempDir,
}

impl Drop for Proxy {
    fn drop(&mut self) {
        // The process may have ended by itself.
        let _killed = self.process.kill();
        let _status = self.process.wait();
    }
}

impl Proxy {
    /// Starts a host with these components, and the proxy in front of it. The URL of the host is that of the
    /// proxy, and its client trusts the proxy's certificate.
    pub async fn start(server: Server, components: &[&str]) -> (Self, Host) {
        let folder = TempDir::new().unwrap();
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        fs::write(folder.path().join("certificate.pem"), made.cert.pem()).unwrap();
        fs::write(folder.path().join("key.pem"), made.signing_key.serialize_pem()).unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let url = format!("https://localhost:{port}");
        let settings = filled(&block("toml"), &[("https://agents.example.org", &url)]);
        let mut host = Host::start(Options::with(components).configuration(&settings)).await;
        let upstream = host.url.strip_prefix("http://").unwrap();
        let mut process = match server {
            Server::Nginx => nginx(folder.path(), port, upstream),
            Server::Caddy => caddy(folder.path(), port, upstream),
        };
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            let ended = process.try_wait().unwrap();
            let log = fs::read_to_string(folder.path().join("log")).unwrap_or_default();
            assert!(ended.is_none() && started.elapsed() < PATIENCE, "{server:?}: {log}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let proxy = Self { process, certificate: made.cert.pem(), _folder: folder };
        host.url = url;
        host.client = proxy.client().build().unwrap();
        (proxy, host)
    }

    /// Returns a client that trusts the certificate of this proxy.
    pub fn client(&self) -> ClientBuilder {
        let trusted = Certificate::from_pem(self.certificate.as_bytes()).unwrap();
        Client::builder().tls_certs_only([trusted])
    }
}

/// Returns the first block of the page in this language.
fn block(language: &str) -> String {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/proxies.md");
    let page = fs::read_to_string(page).unwrap();
    let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

/// Replaces texts, each of which must occur.
fn filled(text: &str, changes: &[(&str, &str)]) -> String {
    changes.iter().fold(text.to_owned(), |text, (from, to)| {
        assert!(text.contains(from), "{from} is not in {text}");
        text.replace(from, to)
    })
}

fn nginx(folder: &Path, port: u16, upstream: &str) -> Child {
    let path = |name: &str| folder.join(name).display().to_string();
    let sites = filled(
        &block("nginx"),
        &[
            ("listen 443 ssl", &format!("listen 127.0.0.1:{port} ssl")),
            ("server_name agents.example.org", "server_name localhost"),
            ("/etc/ssl/agents.example.org/fullchain.pem", &path("certificate.pem")),
            ("/etc/ssl/agents.example.org/privkey.pem", &path("key.pem")),
            ("127.0.0.1:8080", upstream),
        ],
    );
    let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let temporary = temporary.map(|name| format!("{name}_temp_path {};\n", path(name))).concat();
    let configuration = format!(
        "daemon off;\nmaster_process off;\npid {};\nevents {{}}\nhttp {{\naccess_log off;\n{temporary}{sites}}}\n",
        path("pid")
    );
    fs::write(path("nginx.conf"), configuration).unwrap();
    let mut command = Command::new("nginx");
    command.args(["-p", &path(""), "-c", &path("nginx.conf"), "-e", &path("log")]);
    spawn(command)
}

fn caddy(folder: &Path, port: u16, upstream: &str) -> Child {
    let path = |name: &str| folder.join(name).display().to_string();
    let site = format!(
        "https://localhost:{port} {{\nbind 127.0.0.1\ntls {} {}",
        path("certificate.pem"),
        path("key.pem")
    );
    let configuration = filled(
        &block("caddyfile"),
        &[
            ("    servers {", "admin off\nauto_https off\nservers {"),
            ("agents.example.org {", &site),
            ("127.0.0.1:8080", upstream),
        ],
    );
    fs::write(path("Caddyfile"), configuration).unwrap();
    let log = fs::File::create(folder.join("log")).unwrap();
    let mut command = Command::new("caddy");
    command.args(["run", "--adapter", "caddyfile", "--config", &path("Caddyfile")]).stderr(log);
    for variable in ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME"] {
        command.env(variable, folder);
    }
    spawn(command)
}

fn spawn(mut command: Command) -> Child {
    let program = command.get_program().to_string_lossy().into_owned();
    command
        .stdout(Stdio::null())
        .spawn()
        .unwrap_or_else(|error| panic!("{program}: {error}; install it, or run cargo xtask test"))
}
