//! An SMTP server that takes emails as a test says, with or without STARTTLS (with a certificate of its own), and keeps
//! what it was sent.

use crate::harness::PATIENCE;
use base64::{Engine as _, engine::general_purpose::STANDARD};
use std::{
    path::PathBuf,
    sync::{Arc, Mutex},
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader},
    net::{TcpListener, TcpStream},
    task::JoinHandle,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
};

/// The user and the password of the server with TLS.
pub const USER: &str = "portolan";
pub const PASSWORD: &str = "hunter2-for-mail";

/// The reply of the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reply {
    Usual,
    /// This line.
    Line(&'static str),
    /// No reply, and the end of the connection.
    HangUp,
    /// No reply, and an open connection.
    Silence,
}

/// Maps a command, or `.` at the end of an email, to the reply.
type Script = dyn Fn(&str) -> Reply + Send + Sync;

/// An email as the server got it.
#[derive(Debug, Clone)]
pub struct Received {
    pub to: String,
    pub message: String,
    /// Whether it came through TLS.
    pub encrypted: bool,
    /// Whether the client has shown the user and the password.
    pub authenticated: bool,
}

impl Received {
    /// Returns the value of a header.
    pub fn header(&self, name: &str) -> String {
        let head = self.message.split("\r\n\r\n").next().unwrap().replace("\r\n ", " ");
        let prefix = format!("{name}: ");
        let found: Vec<_> = head.lines().filter_map(|line| line.strip_prefix(&prefix)).collect();
        assert!(found.len() <= 1, "{name} is there twice: {head}");
        found.first().copied().unwrap_or_default().to_owned()
    }

    /// Returns the part of this type, decoded.
    pub fn part(&self, media_type: &str) -> String {
        let start = format!("Content-Type: {media_type}");
        let parts: Vec<_> = self.message.split("\r\n--").collect();
        let part = parts.iter().find(|part| part.contains(&start));
        let part = part.unwrap_or_else(|| panic!("no {media_type}: {}", self.message));
        let (head, body) = part.split_once("\r\n\r\n").unwrap();
        match head.contains("quoted-printable") {
            true => quoted_printable(body),
            false => {
                assert!(!head.contains("base64"), "{head}");
                body.to_owned()
            }
        }
    }

    pub fn text(&self) -> String {
        self.part("text/plain")
    }

    /// Returns the path of the last link of the host in the text.
    pub fn link(&self) -> String {
        let text = self.text();
        let lines = text.lines().filter(|line| line.starts_with("http"));
        let links: Vec<_> = lines.filter_map(|line| line.split_once("/email/")).collect();
        let (_, token) = links.last().unwrap_or_else(|| panic!("no link: {text}"));
        format!("/email/{}", token.trim())
    }
}

fn quoted_printable(text: &str) -> String {
    let text = text.replace("=\r\n", "");
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'=' {
            let digits = [rest.next().unwrap(), rest.next().unwrap()];
            let digits = std::str::from_utf8(&digits).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).unwrap()
}

pub struct SmtpServer {
    pub port: u16,
    /// The file of the certificate, for hosts that have to trust it.
    pub certificate: PathBuf,
    received: Arc<Mutex<Vec<Received>>>,
    _folder: TempDir,
    work: JoinHandle<()>,
}

impl Drop for SmtpServer {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl SmtpServer {
    /// Starts a server without TLS that takes every email.
    pub async fn plain() -> Self {
        Self::scripted(|_| Reply::Usual).await
    }

    /// Starts a server without TLS that replies as the function says.
    pub async fn scripted(script: impl Fn(&str) -> Reply + Send + Sync + 'static) -> Self {
        Self::start("127.0.0.1:0", false, Arc::new(script)).await
    }

    /// Starts a server that takes emails only after STARTTLS and from its user.
    pub async fn with_tls() -> Self {
        Self::start("127.0.0.1:0", true, Arc::new(|_: &str| Reply::Usual)).await
    }

    /// Starts a server at this port, where none was before.
    pub async fn at(port: u16) -> Self {
        Self::start(&format!("127.0.0.1:{port}"), false, Arc::new(|_: &str| Reply::Usual)).await
    }

    async fn start(address: &str, tls: bool, script: Arc<Script>) -> Self {
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let own = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        let folder = TempDir::new().unwrap();
        let certificate = folder.path().join("certificate.pem");
        std::fs::write(&certificate, own.cert.pem()).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key)
            .unwrap();
        let acceptor = tls.then(|| TlsAcceptor::from(Arc::new(config)));
        let listener = TcpListener::bind(address).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let received: Arc<Mutex<Vec<Received>>> = Arc::default();
        let kept = Arc::clone(&received);
        let work = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (acceptor, script) = (acceptor.clone(), Arc::clone(&script));
                tokio::spawn(talk(stream, acceptor, script, Arc::clone(&kept)));
            }
        });
        Self { port, certificate, received, _folder: folder, work }
    }

    /// Returns the settings of a host that sends by this server without TLS.
    pub fn settings(&self) -> String {
        format!(
            "[email]\nhost = \"localhost\"\nport = {}\ntls = \"none\"\nfrom = \"Portolan <notices@portolan.test>\"\n",
            self.port
        )
    }

    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Waits until the server has this number of emails, and returns the last one of them.
    pub async fn wait_for(&self, count: usize) -> Received {
        let started = Instant::now();
        loop {
            let all = self.received();
            if all.len() >= count {
                return all[count - 1].clone();
            }
            assert!(started.elapsed() < PATIENCE, "{} of {count} emails", all.len());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

async fn talk(
    mut stream: TcpStream,
    acceptor: Option<TlsAcceptor>,
    script: Arc<Script>,
    received: Arc<Mutex<Vec<Received>>>,
) {
    // The client may end the connection at any time.
    let _written = stream.write_all(b"220 mail.portolan.test ready\r\n").await;
    let has_tls = acceptor.is_some();
    if session(&mut stream, has_tls, false, &*script, &received).await
        && let Some(acceptor) = acceptor
        && let Ok(mut stream) = acceptor.accept(stream).await
    {
        session(&mut stream, has_tls, true, &*script, &received).await;
    }
}

/// Answers commands until the connection ends; true if the client wants to begin TLS.
async fn session(
    stream: &mut (impl AsyncRead + AsyncWrite + Unpin),
    has_tls: bool,
    encrypted: bool,
    script: &Script,
    received: &Mutex<Vec<Received>>,
) -> bool {
    let mut stream = BufReader::new(stream);
    let (mut to, mut authenticated, mut line) = (String::new(), false, String::new());
    loop {
        line.clear();
        match stream.read_line(&mut line).await {
            Ok(0) | Err(_) => return false,
            Ok(_) => {}
        }
        let command = line.trim_end().to_owned();
        let verb = command.split(' ').next().unwrap().to_ascii_uppercase();
        let usual = match verb.as_str() {
            "EHLO" if has_tls && !encrypted => "250-mail.portolan.test\r\n250 STARTTLS",
            "EHLO" if has_tls => "250-mail.portolan.test\r\n250 AUTH PLAIN LOGIN",
            "EHLO" => "250-mail.portolan.test\r\n250 8BITMIME",
            "STARTTLS" => "220 go ahead",
            "AUTH" => {
                let shown = command.rsplit(' ').next().unwrap();
                let wanted = STANDARD.encode(format!("\0{USER}\0{PASSWORD}"));
                authenticated = shown == wanted;
                if authenticated { "235 welcome" } else { "535 5.7.8 wrong" }
            }
            "MAIL" if has_tls && !authenticated => "530 5.7.0 authenticate first",
            "DATA" => "354 go ahead",
            "QUIT" => "221 bye",
            _ => "250 ok",
        };
        let reply = match script(&command) {
            Reply::Usual => usual,
            Reply::Line(line) => line,
            Reply::HangUp => return false,
            Reply::Silence => return std::future::pending().await,
        };
        if stream.write_all(format!("{reply}\r\n").as_bytes()).await.is_err() {
            return false;
        }
        match verb.as_str() {
            "STARTTLS" => return true,
            "RCPT" => to = command.split(['<', '>']).nth(1).unwrap_or_default().to_owned(),
            "DATA" if reply == usual => {
                let mut message = String::new();
                loop {
                    line.clear();
                    if !matches!(stream.read_line(&mut line).await, Ok(1..)) {
                        return false;
                    }
                    if line == ".\r\n" {
                        break;
                    }
                    message.push_str(line.strip_prefix('.').unwrap_or(&line));
                }
                let reply = script(".");
                if matches!(reply, Reply::Usual | Reply::HangUp) {
                    let to = to.clone();
                    received.lock().unwrap().push(Received {
                        to,
                        message,
                        encrypted,
                        authenticated,
                    });
                }
                let text = match reply {
                    Reply::Usual => "250 taken",
                    Reply::Line(line) => line,
                    Reply::HangUp => return false,
                    Reply::Silence => return std::future::pending().await,
                };
                let _written = stream.write_all(format!("{text}\r\n").as_bytes()).await;
            }
            _ => {}
        }
    }
}
