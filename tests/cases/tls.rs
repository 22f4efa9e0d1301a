//! TLS at the address for agents, and a certificate that changes while the host runs.

use crate::harness::{Host, PATIENCE, feeds::city};
use portolan_command::config::{Config, Flags};
use reqwest::Client;
use rustls::{
    ClientConfig, RootCertStore,
    pki_types::{CertificateDer, ServerName},
};
use std::{
    fs,
    path::Path,
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokio::{io::AsyncReadExt as _, net::TcpStream, time::timeout};
use tokio_rustls::TlsConnector;

/// A certificate for `localhost`, with its key.
struct Pair {
    certificate: String,
    key: String,
    der: CertificateDer<'static>,
}

impl Pair {
    fn new() -> Self {
        let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
        Self {
            certificate: made.cert.pem(),
            key: made.signing_key.serialize_pem(),
            der: made.cert.der().clone(),
        }
    }

    /// Replaces the files, as programs that renew certificates do.
    fn write(&self, folder: &Path) {
        for (name, text) in [("certificate.pem", &self.certificate), ("key.pem", &self.key)] {
            fs::write(folder.join("new"), text).unwrap();
            fs::rename(folder.join("new"), folder.join(name)).unwrap();
        }
    }
}

fn settings(folder: &Path) -> String {
    let (certificate, key) = (folder.join("certificate.pem"), folder.join("key.pem"));
    format!("[tls]\ncertificate = {certificate:?}\nkey = {key:?}\n")
}

/// Starts a host with this certificate in files of the folder.
async fn host_with(pair: &Pair, folder: &Path) -> Host {
    pair.write(folder);
    let feeds = city().join("feeds");
    Host::start(Host::serving(&format!("feeds_dir = {feeds:?}\n{}", settings(folder)))).await
}

fn port(host: &Host) -> u16 {
    host.url.rsplit(':').next().unwrap().parse().unwrap()
}

/// Returns the certificate that the host shows, and the protocol that it chooses.
async fn handshake(host: &Host, trusted: &[&Pair]) -> (CertificateDer<'static>, Vec<u8>) {
    let mut roots = RootCertStore::empty();
    trusted.iter().for_each(|pair| roots.add(pair.der.clone()).unwrap());
    let mut config = ClientConfig::builder().with_root_certificates(roots).with_no_client_auth();
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let stream = TcpStream::connect(("127.0.0.1", port(host))).await.unwrap();
    let name = ServerName::try_from("localhost").unwrap();
    let stream = TlsConnector::from(Arc::new(config)).connect(name, stream).await.unwrap();
    let (_, session) = stream.get_ref();
    let certificate = session.peer_certificates().unwrap()[0].clone().into_owned();
    (certificate, session.alpn_protocol().unwrap().to_vec())
}

async fn wait_until(what: &str, mut is_met: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !is_met().await {
        assert!(started.elapsed() < PATIENCE, "never: {what}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_are_served_over_tls_and_the_operator_without() {
    let (folder, pair) = (TempDir::new().unwrap(), Pair::new());
    let host = host_with(&pair, folder.path()).await;
    let trusted = reqwest::Certificate::from_pem(pair.certificate.as_bytes()).unwrap();
    let client = Client::builder().tls_certs_only([trusted]).build().unwrap();
    let get = async |path: &str| {
        let url = format!("https://localhost:{}{path}", port(&host));
        let response = client.get(url).send().await.unwrap();
        assert_eq!(response.status(), 200, "{path}");
        response.bytes().await.unwrap()
    };
    assert_eq!(get("/healthz").await, "ok");
    // Without TLS, the kernel sends this document from its file.
    let published = portolan_feeds::publish::documents(&city().join("feeds")).unwrap();
    assert!(get("/map/data/sf-job-roles.json").await == published["sf-job-roles.json"]);
    let (certificate, protocol) = handshake(&host, &[&pair]).await;
    assert_eq!((certificate, protocol), (pair.der.clone(), b"http/1.1".to_vec()));
    assert!(host.client.get(format!("{}/healthz", host.url)).send().await.is_err());
    assert_eq!(host.operate("/status").await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_certificate_is_used_and_a_faulty_one_is_not() {
    let folder = TempDir::new().unwrap();
    let [first, second, third] = [(); 3].map(|()| Pair::new());
    let host = host_with(&first, folder.path()).await;
    let all = [&first, &second, &third];
    let shown = async || handshake(&host, &all).await.0;
    assert_eq!(shown().await, first.der);

    second.write(folder.path());
    wait_until("the second certificate", async || shown().await == second.der).await;

    let faults = || host.log().matches("the new certificate cannot be used").count();
    fs::write(folder.path().join("key.pem"), &third.key).unwrap();
    wait_until("an error", async || faults() > 0).await;
    assert!(host.log().contains("is not the key of the certificate"), "{}", host.log());
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(faults(), 1, "{}", host.log());
    assert_eq!(shown().await, second.der);

    third.write(folder.path());
    wait_until("the third certificate", async || shown().await == third.der).await;
    assert_eq!(faults(), 1, "{}", host.log());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_handshake_has_the_time_of_the_first_head() {
    let (folder, pair) = (TempDir::new().unwrap(), Pair::new());
    pair.write(folder.path());
    let limits = "[limits]\nfirst_head_time_ms = 300\n";
    let host = Host::start(Host::serving(&format!("{}{limits}", settings(folder.path())))).await;
    let mut silent = TcpStream::connect(("127.0.0.1", port(&host))).await.unwrap();
    let read = timeout(PATIENCE, silent.read(&mut [0; 1])).await.unwrap();
    assert_eq!(read.unwrap(), 0);
}

#[test]
fn every_fault_of_a_certificate_is_reported_with_the_others() {
    let (folder, pair, other) = (TempDir::new().unwrap(), Pair::new(), Pair::new());
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).unwrap();
    let faults = |before: &str| {
        let file = folder.path().join("portolan.toml");
        fs::write(&file, format!("{before}\n{}", settings(folder.path()))).unwrap();
        Config::load(&file, &Flags::default()).map(drop).unwrap_err().to_string()
    };
    let https = "public_url = \"https://localhost\"";
    let missing = faults("public_url = \"http://localhost\"\nlisten = \"nowhere\"");
    for part in [
        "public_url does not begin with https://",
        "listen is",
        "tls.certificate",
        "cannot be read",
    ] {
        assert!(missing.contains(part), "{part}: {missing}");
    }
    write("certificate.pem", &pair.certificate);
    for (key, part) in [
        ("", "has no private key"),
        (&*pair.certificate, "has no private key"),
        (&*other.key, "is not the key of the certificate"),
    ] {
        write("key.pem", key);
        let fault = faults(https);
        assert!(fault.contains(part), "{part}: {fault}");
        assert!(!fault.contains("BEGIN"), "{fault}");
    }
    write("key.pem", &pair.key);
    write("certificate.pem", "no certificate");
    assert!(faults(https).contains("has no certificate"));
    write("certificate.pem", &pair.certificate);
    assert!(faults("").contains("public_url does not begin with https://"));
    let file = folder.path().join("portolan.toml");
    fs::write(&file, format!("{https}\n{}", settings(folder.path()))).unwrap();
    Config::load(&file, &Flags::default()).unwrap();
}
