//! `portolan pull` and `portolan push`: components in OCI registries, as the CNCF's Wasm artifacts.
//!
//! - `address`: `oci://` addresses, and which registries are reached without TLS
//! - `credentials`: what authenticates this user at a registry
//! - `artifact`: the manifest and the configuration of a component
//! - `client`: requests to a registry

mod address;
mod artifact;
mod client;
mod credentials;

use crate::{
    cli::{check::inspect_file, client::block_on},
    config::{Config, FILE, Flags},
};
use address::Address;
use anyhow::Context as _;
use artifact::Artifact;
use clap::Args;
use client::Registry;
use credentials::Credentials;
use portolan_vocabulary::Timestamp;
use serde_json::json;
use std::{
    fs,
    io::Write as _,
    path::{Path, PathBuf},
    process::ExitCode,
};

/// Arguments of `portolan pull`.
#[derive(Debug, Args)]
pub(super) struct Pull {
    /// The component's address, with a tag or a digest
    #[arg(value_name = "oci://REGISTRY/NAME:TAG")]
    address: Address,
    /// Where to write the component [default: the last part of NAME, with .wasm]
    #[arg(long, value_name = "FILE.wasm")]
    output: Option<PathBuf>,
    /// Replace the file if it is there
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    access: RegistryAccess,
    /// Print the outcome as JSON
    #[arg(long)]
    json: bool,
}

/// Arguments of `portolan push`.
#[derive(Debug, Args)]
pub(super) struct Push {
    /// The component, which must be fit for a catalog
    #[arg(value_name = "FILE.wasm")]
    component: PathBuf,
    /// The address that it gets
    #[arg(value_name = "oci://REGISTRY/NAME:TAG")]
    address: Address,
    #[command(flatten)]
    access: RegistryAccess,
    /// Print the outcome as JSON
    #[arg(long)]
    json: bool,
}

/// The options for the access to a registry.
#[derive(Debug, Args)]
pub(super) struct RegistryAccess {
    /// Your name at the registry, with the password in PORTOLAN_REGISTRY_PASSWORD or --password-stdin
    /// [default: what `docker login` has stored]
    #[arg(long, value_name = "NAME")]
    username: Option<String>,
    /// Read the password from standard input
    #[arg(long, requires = "username")]
    password_stdin: bool,
    /// Use HTTP without TLS; a registry on this machine needs no such flag
    #[arg(long)]
    plain_http: bool,
}

/// A component from a registry.
pub(super) struct Pulled {
    pub(super) content: Vec<u8>,
    /// Its address with the digest of its manifest.
    pub(super) pinned: String,
    /// The name of its file, which is made from the address.
    pub(super) file: String,
}

impl RegistryAccess {
    fn registry(&self, address: &Address) -> anyhow::Result<Registry> {
        let credentials = match &self.username {
            Some(username) => Credentials::from_username(username, self.password_stdin)?,
            None => Credentials::from_docker(address.reference().resolve_registry())?,
        };
        Registry::open(address, credentials, self.plain_http)
    }

    /// Reads a component of at most `limit` bytes from a registry, and checks its digests.
    pub(super) async fn pull(&self, address: &Address, limit: u64) -> anyhow::Result<Pulled> {
        let registry = self.registry(address)?;
        let (content, digest) = registry.pull(limit).await?;
        Ok(Pulled { content, pinned: address.pinned(&digest), file: address.file_name() })
    }
}

/// Parses an address. Returns `None` for a text that does not begin with `oci://`.
pub(super) fn parse_address(text: &str) -> Option<anyhow::Result<Address>> {
    let is_address = text.starts_with("oci://");
    is_address.then(|| text.parse::<Address>().map_err(anyhow::Error::msg))
}

impl Pull {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(self.pull())
    }

    async fn pull(self) -> anyhow::Result<ExitCode> {
        let limit = load_config()?.limits.component_bytes;
        let output = self.output.unwrap_or_else(|| PathBuf::from(self.address.file_name()));
        anyhow::ensure!(
            self.force || !output.exists(),
            "{} is there already; name another file with --output, or replace it with --force",
            output.display()
        );
        let Pulled { content, pinned, .. } = self.access.pull(&self.address, limit).await?;
        write(&output, &content, self.force)
            .with_context(|| format!("cannot write {}", output.display()))?;
        if self.json {
            line!("{:#}", json!({ "file": output, "address": pinned, "bytes": content.len() }));
        } else {
            line!("{} has {} bytes, from {pinned}", output.display(), content.len());
        }
        Ok(ExitCode::SUCCESS)
    }
}

impl Push {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        block_on(self.push())
    }

    async fn push(self) -> anyhow::Result<ExitCode> {
        let Self { component, address, access, json } = self;
        anyhow::ensure!(
            address.tag().is_some(),
            "{address} has a digest, which only the content decides: give it a tag, such as :1.0.0"
        );
        let content =
            fs::read(&component).with_context(|| format!("cannot read {}", component.display()))?;
        let inspection = inspect_file(&component, &load_config()?).await?;
        let capability = inspection.capability.map_err(|error| {
            anyhow::anyhow!(
                "not fit for a catalog: {} ({})\n  to fix it: {}",
                error.message(),
                error.reason(),
                error.fix()
            )
        })?;
        let artifact = Artifact::new(&capability, content, Timestamp::now());
        let bytes = artifact.bytes();
        let digest = access.registry(&address)?.push(artifact).await?;
        let pinned = address.pinned(&digest);
        if json {
            line!("{:#}", json!({ "address": pinned, "digest": digest, "bytes": bytes }));
        } else {
            line!("{} {} is at {pinned}", capability.id, capability.descriptor.version);
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns the settings of `portolan.toml` in this folder, or the default ones.
fn load_config() -> anyhow::Result<Config> {
    Ok(Config::load(Path::new(FILE), &Flags::default())?)
}

/// Writes a file whole or not at all. Fails if the file exists and may not be replaced.
fn write(output: &Path, content: &[u8], can_replace: bool) -> std::io::Result<()> {
    let folder = output.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut file = tempfile::NamedTempFile::new_in(folder.unwrap_or(Path::new(".")))?;
    file.write_all(content)?;
    file.as_file().sync_all()?;
    let result = match can_replace {
        true => file.persist(output),
        false => file.persist_noclobber(output),
    };
    result.map(drop).map_err(|error| error.error)
}
