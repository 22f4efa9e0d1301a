//! A server that answers as a test says, with or without TLS (with a certificate of its own), and
//! records its requests.

use std::{
    path::PathBuf,
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
};
use tempfile::TempDir;
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::TcpListener,
    task::JoinHandle,
};
use tokio_rustls::{
    TlsAcceptor,
    rustls::{
        ServerConfig,
        pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer},
    },
};

/// Maps the head and body of a request to a whole response; `None` means no answer.
type Answer = dyn Fn(&str) -> Option<String> + Send + Sync;

pub struct Server {
    pub port: u16,
    connections: Arc<AtomicUsize>,
    requests: Arc<Mutex<Vec<String>>>,
    /// The file of the certificate, for clients that have to trust it.
    pub certificate: PathBuf,
    _folder: TempDir,
    work: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.work.abort();
    }
}

impl Server {
    pub async fn with_tls(answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self::start(&["localhost", "127.0.0.1"], true, Arc::new(answer)).await
    }

    /// Starts a server with a certificate for these names.
    pub async fn of(
        names: &[&str],
        answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static,
    ) -> Self {
        Self::start(names, true, Arc::new(answer)).await
    }

    pub async fn plain(answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Self {
        Self::start(&["localhost"], false, Arc::new(answer)).await
    }

    async fn start(names: &[&str], tls: bool, answer: Arc<Answer>) -> Self {
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        let own = rcgen::generate_simple_self_signed(names).unwrap();
        let folder = TempDir::new().unwrap();
        let certificate = folder.path().join("certificate.pem");
        std::fs::write(&certificate, own.cert.pem()).unwrap();
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(own.signing_key.serialize_der()));
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![own.cert.der().clone()], key)
            .unwrap();
        let acceptor = tls.then(|| TlsAcceptor::from(Arc::new(config)));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (connections, requests) = (Arc::default(), Arc::default());
        let recorded: (Arc<AtomicUsize>, Arc<Mutex<Vec<String>>>) =
            (Arc::clone(&connections), Arc::clone(&requests));
        let work = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                recorded.0.fetch_add(1, Ordering::SeqCst);
                let (acceptor, answer) = (acceptor.clone(), Arc::clone(&answer));
                let requests = Arc::clone(&recorded.1);
                tokio::spawn(async move {
                    let Some(acceptor) = acceptor else {
                        return serve(stream, &*answer, &requests).await;
                    };
                    // A client that does not trust the certificate fails the handshake.
                    if let Ok(stream) = acceptor.accept(stream).await {
                        serve(stream, &*answer, &requests).await;
                    }
                });
            }
        });
        Self { port, connections, requests, certificate, _folder: folder, work }
    }

    pub fn connections(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }

    pub fn forget_requests(&self) {
        self.requests.lock().unwrap().clear();
    }
}

async fn serve(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    answer: &Answer,
    requests: &Mutex<Vec<String>>,
) {
    let mut bytes = Vec::new();
    let request = loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().unwrap())
            });
            if body.len() >= length.unwrap_or(0_usize) {
                break text.into_owned();
            }
        }
        let mut part = [0; 4096];
        match stream.read(&mut part).await {
            Ok(0) | Err(_) => return,
            Ok(count) => bytes.extend_from_slice(&part[..count]),
        }
    };
    requests.lock().unwrap().push(request.clone());
    match answer(&request) {
        Some(response) => {
            // The client may have closed the connection.
            let _written = stream.write_all(response.as_bytes()).await;
            let _ended = stream.shutdown().await;
        }
        None => std::future::pending().await,
    }
}

/// Returns a response with a body.
pub fn response(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-length: {length}\r\nconnection: close\r\n{headers}\r\n{body}"
    )
}
