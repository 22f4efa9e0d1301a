//! TLS at the address for agents, with a certificate that is read again when its files change.

use arc_swap::ArcSwap;
use portolan_vocabulary::Digest;
use rustls::{
    Error, ServerConfig,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject as _},
};
use serde::{Deserialize, Serialize};
use std::{
    convert::Infallible,
    fmt, io,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::{net::TcpStream, task::spawn_blocking, time::sleep};
use tokio_rustls::{TlsAcceptor, server::TlsStream};
use zeroize::Zeroizing;

/// The time between two looks at the files. New content is used once it has not changed for so long, because
/// two files are not replaced at the same instant.
const RELOAD_INTERVAL: Duration = Duration::from_secs(1);
/// The protocol that the host speaks, for a client that asks (RFC 7301).
const PROTOCOL: &[u8] = b"http/1.1";

/// The files of a certificate, in PEM.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TlsFiles {
    /// The certificate, followed by those that lead to its authority.
    pub certificate: PathBuf,
    /// The private key of the certificate, without a password.
    pub key: PathBuf,
}

/// The certificate in force, and its files.
#[derive(Clone)]
pub struct Tls {
    files: TlsFiles,
    in_force: Arc<ArcSwap<ServerConfig>>,
    /// The digest of the files that were loaded at the start.
    loaded: Digest,
}

/// The content of the files.
struct Content {
    certificate: Vec<u8>,
    key: Zeroizing<Vec<u8>>,
}

impl Tls {
    /// Loads the certificate and its key.
    ///
    /// # Errors
    ///
    /// Returns what is wrong with which file.
    pub fn load(files: TlsFiles) -> Result<Self, String> {
        let content = Content::read(&files)?;
        let in_force = Arc::new(ArcSwap::from_pointee(content.parse(&files)?));
        Ok(Self { loaded: content.digest(), files, in_force })
    }

    /// Uses the certificate of another value from now on, if both have the same files. Returns whether they have.
    pub fn take_over(&self, other: &Self) -> bool {
        let has_same_files = self.files == other.files;
        if has_same_files {
            self.in_force.store(other.in_force.load_full());
        }
        has_same_files
    }

    /// Makes a connection of TLS of one of TCP.
    pub(super) async fn handshake(&self, stream: TcpStream) -> io::Result<TlsStream<TcpStream>> {
        TlsAcceptor::from(self.in_force.load_full()).accept(stream).await
    }

    /// Uses the files again each time they change. Files with a fault are logged once, and the certificate
    /// in force stays.
    pub(super) async fn reload(&self) -> Infallible {
        let (mut seen, mut judged) = (self.loaded, self.loaded);
        loop {
            sleep(RELOAD_INTERVAL).await;
            let files = self.files.clone();
            let Ok(content) = spawn_blocking(move || Content::read(&files)).await else { continue };
            let digest =
                content.as_ref().map_or_else(|fault| Digest::of(fault.as_bytes()), Content::digest);
            let is_unchanged = digest == seen;
            seen = digest;
            if !is_unchanged || digest == judged {
                continue;
            }
            judged = digest;
            match content.and_then(|content| content.parse(&self.files)) {
                Ok(config) => {
                    self.in_force.store(Arc::new(config));
                    tracing::info!(certificate = %self.files.certificate.display(), "the certificate has been replaced");
                }
                Err(fault) => {
                    tracing::error!(%fault, "the new certificate cannot be used; the one in force stays");
                }
            }
        }
    }
}

impl fmt::Debug for Tls {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.files.fmt(formatter)
    }
}

impl Content {
    fn read(files: &TlsFiles) -> Result<Self, String> {
        let read = |name: &str, path: &Path| {
            std::fs::read(path)
                .map_err(|error| format!("tls.{name} {} cannot be read: {error}", path.display()))
        };
        let certificate = read("certificate", &files.certificate)?;
        let key = Zeroizing::new(read("key", &files.key)?);
        Ok(Self { certificate, key })
    }

    fn digest(&self) -> Digest {
        let parts = [Digest::of(&self.certificate), Digest::of(&self.key)];
        Digest::of(format!("{parts:?}").as_bytes())
    }

    fn parse(&self, files: &TlsFiles) -> Result<ServerConfig, String> {
        let TlsFiles { certificate: certificate_file, key: key_file } = files;
        let (certificate_file, key_file) = (certificate_file.display(), key_file.display());
        let chain: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&self.certificate).collect();
        let chain = chain.unwrap_or_default();
        if chain.is_empty() {
            return Err(format!(
                "tls.certificate {certificate_file} has no certificate: write it and those that lead to its authority in PEM"
            ));
        }
        // The error of the parser can quote the file, so it is not shown.
        let key = PrivateKeyDer::from_pem_slice(&self.key).map_err(|_error| {
            format!("tls.key {key_file} has no private key: write it in PEM, without a password")
        })?;
        let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key));
        let mut config = config.map_err(|error| match error {
            Error::InconsistentKeys(_) => format!(
                "tls.key {key_file} is not the key of the certificate in {certificate_file}"
            ),
            error => format!(
                "tls.certificate {certificate_file} cannot be used with tls.key {key_file}: {error}"
            ),
        })?;
        config.alpn_protocols = vec![PROTOCOL.to_vec()];
        Ok(config)
    }
}
