//! Requests to a registry.

use super::{
    address::Address,
    artifact::{Artifact, LAYER},
    credentials::Credentials,
};
use anyhow::Context as _;
use futures_util::TryStreamExt as _;
use oci_client::{
    Client,
    client::{ClientConfig, ClientProtocol},
    errors::{OciDistributionError, OciError, OciErrorCode},
    manifest::OciDescriptor,
    secrets::RegistryAuth,
};
use portolan_vocabulary::Digest;
use std::time::Duration;

/// How long a registry may be silent.
const READ_TIMEOUT: Duration = Duration::from_secs(60);
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// A registry, for one address.
pub(super) struct Registry {
    client: Client,
    address: Address,
    credentials: RegistryAuth,
}

impl Registry {
    pub(super) fn open(
        address: &Address,
        credentials: Credentials,
        plain_http: bool,
    ) -> anyhow::Result<Self> {
        // An error means that a crypto provider is installed already.
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let is_plain_http = plain_http || address.is_loopback();
        let http_registries =
            is_plain_http.then(|| address.reference().resolve_registry().to_owned());
        let config = ClientConfig {
            protocol: ClientProtocol::HttpsExcept(http_registries.into_iter().collect()),
            read_timeout: Some(READ_TIMEOUT),
            connect_timeout: Some(CONNECT_TIMEOUT),
            user_agent: concat!("portolan/", env!("CARGO_PKG_VERSION")),
            // An index of images for several platforms is not a component, so it is refused.
            platform_resolver: None,
            ..ClientConfig::default()
        };
        let client = Client::try_from(config).context("no client for registries can be made")?;
        let credentials = credentials.into_auth();
        Ok(Self { client, address: address.clone(), credentials })
    }

    /// Returns the component, of at most `limit` bytes, and the digest of its manifest.
    pub(super) async fn pull(&self, limit: u64) -> anyhow::Result<(Vec<u8>, String)> {
        let reference = self.address.reference();
        let manifest = self.client.pull_image_manifest(reference, &self.credentials).await;
        let (manifest, digest) = manifest.map_err(|error| self.describe(error))?;
        let [layer] = manifest.layers.as_slice() else {
            anyhow::bail!(
                "{} is not a component: it has {} layers, and a component has one",
                self.address,
                manifest.layers.len()
            )
        };
        anyhow::ensure!(
            layer.media_type == LAYER,
            "{} is not a component: its layer is of type {}, and a component's is {LAYER}",
            self.address,
            layer.media_type
        );
        let content = self.pull_layer(layer, limit).await?;
        Ok((content, digest))
    }

    async fn pull_layer(&self, layer: &OciDescriptor, limit: u64) -> anyhow::Result<Vec<u8>> {
        let too_large = |size: u64| {
            format!(
                "{} has {size} bytes or more, more than the limit of {limit}; raise limits.component_bytes in portolan.toml",
                self.address
            )
        };
        let size = u64::try_from(layer.size).unwrap_or(u64::MAX);
        anyhow::ensure!(size <= limit, too_large(size));
        let stream = self.client.pull_blob_stream(self.address.reference(), layer).await;
        let mut stream = stream.map_err(|error| self.describe(error))?.stream;
        let mut content = Vec::new();
        let truncated = || format!("{} cannot be read to its end, or is damaged", self.address);
        while let Some(part) = stream.try_next().await.with_context(truncated)? {
            content.extend_from_slice(&part);
            let received = content.len() as u64;
            anyhow::ensure!(received <= limit, too_large(received));
        }
        anyhow::ensure!(
            Digest::of(&content).to_string() == layer.digest,
            "{} is damaged: its content has the digest {} instead of {}",
            self.address,
            Digest::of(&content),
            layer.digest
        );
        Ok(content)
    }

    /// Stores a component, and returns the digest of its manifest.
    pub(super) async fn push(&self, artifact: Artifact) -> anyhow::Result<String> {
        let Artifact { manifest, config, layer } = artifact;
        let (reference, credentials) = (self.address.reference(), &self.credentials);
        let result =
            self.client.push(reference, &[layer], config, credentials, Some(manifest)).await;
        result.map_err(|error| self.describe(error))?;
        let digest = self.client.fetch_manifest_digest(reference, credentials).await;
        digest.map_err(|error| self.describe(error))
    }

    /// Returns what went wrong, with its fix. Neither the message nor the addresses in it have credentials.
    fn describe(&self, error: OciDistributionError) -> anyhow::Error {
        let (address, registry) = (&self.address, self.address.registry());
        let not_found = || anyhow::anyhow!("{registry} has no {address}; look at its name and tag");
        let unauthorized = || {
            anyhow::anyhow!(
                "{registry} does not accept these credentials for {address}; run `docker login {registry}`, or give --username and a password"
            )
        };
        match error {
            OciDistributionError::UnauthorizedError { .. }
            | OciDistributionError::AuthenticationFailure(_)
            | OciDistributionError::ServerError { code: 401 | 403, .. } => unauthorized(),
            OciDistributionError::RegistryError { envelope, .. }
                if envelope.errors.iter().any(is_unauthorized) =>
            {
                unauthorized()
            }
            OciDistributionError::ImageManifestNotFoundError(_) => not_found(),
            OciDistributionError::RegistryError { envelope, .. }
                if envelope.errors.iter().any(is_not_found) =>
            {
                not_found()
            }
            OciDistributionError::ImageIndexParsingNoPlatformResolverError => anyhow::anyhow!(
                "{address} is not a component: it is an index of images for several platforms"
            ),
            OciDistributionError::RequestError(error) if error.is_connect() => {
                anyhow::anyhow!(error.without_url()).context(format!(
                    "no registry answers at {registry}; if it has no TLS, add --plain-http"
                ))
            }
            error => anyhow::anyhow!(error).context(format!("{registry} refuses {address}")),
        }
    }
}

/// Returns whether a registry's error says that it has nothing at an address.
const fn is_not_found(error: &OciError) -> bool {
    matches!(
        error.code,
        OciErrorCode::ManifestUnknown | OciErrorCode::NameUnknown | OciErrorCode::NotFound
    )
}

/// Returns whether a registry's error says that the credentials are not enough.
const fn is_unauthorized(error: &OciError) -> bool {
    matches!(error.code, OciErrorCode::Unauthorized | OciErrorCode::Denied)
}
