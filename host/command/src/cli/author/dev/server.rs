//! The host that serves a project: the same as `portolan serve`, in a temporary folder.

use crate::{
    cli::cache,
    config::Config,
    opening::{HostResources, OpenHost},
};
use anyhow::Context as _;
use portolan_catalog::Status;
use portolan_http::{App, Listening};
use portolan_sandbox::{Backtraces, Sandbox, SandboxOptions};
use portolan_vocabulary::{Clock, Digest};
use std::{
    fs,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};

/// The file of the project's component in the catalog.
const FILE: &str = "dev.wasm";
/// The interval at which the status of the catalog is read while a component is loaded.
const LOOK: Duration = Duration::from_millis(5);
/// The time within which the catalog notices a new file.
const NOTICED: Duration = Duration::from_millis(300);
/// How long access tokens are valid: 100 years.
const TOKENS_S: u64 = 100 * 365 * 24 * 3600;
/// How long a component may take to be loaded.
const LOADING: Duration = Duration::from_secs(60);

pub(super) struct Server {
    pub(super) app: Arc<App>,
    pub(super) url: String,
    catalog: PathBuf,
    _stop: watch::Sender<bool>,
    _folder: TempDir,
}

/// What became of a component.
pub(super) enum Outcome {
    Serving { id: String, version: String },
    Refused(Vec<String>),
}

impl Server {
    /// Starts a host with the components of a folder, if one is given.
    pub(super) async fn start(listen: SocketAddr, with: Option<&Path>) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("portolan-dev").tempdir()?;
        let catalog = folder.path().join("catalog");
        fs::create_dir(&catalog)?;
        if let Some(with) = with {
            take_components(with, &catalog)?;
        }
        let mut config = Config::for_tests(folder.path().join("data"), catalog.clone())?;
        // The author can advance the clock, and the printed tokens are used afterwards as well.
        config.tokens.access_seconds = TOKENS_S;
        let local = SocketAddr::from(([127, 0, 0, 1], 0));
        let listening = Listening::open(listen, local).await?;
        let sandbox = Arc::new(Sandbox::new(SandboxOptions {
            limits: config.limits.clone(),
            artifacts: config.data_dir.join("artifacts"),
            compiler: std::env::current_exe()?,
            backtraces: Backtraces::Source,
            compile_cache: cache::compile_cache(),
        })?);
        let (sender, stop) = watch::channel(false);
        let (clock, trusted) = (Clock::system(), Vec::new());
        let resources = HostResources { listening, clock, sandbox, trusted, stop };
        let host = OpenHost::open(&config, resources).await?;
        let url = format!("http://{}", host.addresses()?.0);
        let app = Arc::clone(host.app());
        tokio::spawn(async move {
            if let Err(error) = host.serve(|server| server).await {
                tracing::error!("the host has ended: {error:#}");
            }
        });
        Ok(Self { app, url, catalog, _stop: sender, _folder: folder })
    }

    /// Returns the file to which a build writes the component, and from which the catalog loads it.
    pub(super) fn file(&self) -> PathBuf {
        self.catalog.join(FILE)
    }

    /// Waits until the catalog has loaded or refused the component. The permissions that the
    /// component needs are granted.
    pub(super) async fn loaded(&self) -> anyhow::Result<Outcome> {
        let digest = Digest::of(&fs::read(self.file())?);
        let loading = async {
            let started = Instant::now();
            loop {
                sleep(LOOK).await;
                let status = self.app.host.catalog.status();
                match outcome(&status, digest) {
                    // The refusal may still be that of the previous component.
                    Some(Outcome::Refused(_)) if started.elapsed() < NOTICED => {}
                    Some(Outcome::Refused(lines)) if !self.approve(&status).await => {
                        return Outcome::Refused(lines);
                    }
                    Some(serving @ Outcome::Serving { .. }) => return serving,
                    _ => {}
                }
            }
        };
        timeout(LOADING, loading).await.context("the component is not loaded in time")
    }

    /// Grants the permissions for which the component waits, if it waits for any. Returns whether
    /// they were granted.
    async fn approve(&self, status: &Status) -> bool {
        let own = status.refused.iter().find(|one| one.file == FILE);
        let Some(id) = own.and_then(|one| one.waiting.as_deref()) else { return false };
        self.app.host.catalog.approve(id, None).await.is_ok()
    }
}

fn outcome(status: &Status, digest: Digest) -> Option<Outcome> {
    if let Some(loaded) = status.loaded.iter().find(|one| one.file == FILE && one.digest == digest)
    {
        return Some(Outcome::Serving { id: loaded.id.clone(), version: loaded.version.clone() });
    }
    if status.pending.iter().any(|file| file == FILE) {
        return None;
    }
    let refused = status.refused.iter().find(|one| one.file == FILE)?;
    let mut lines = vec![format!("{}\n  to fix it: {}", refused.message, refused.fix)];
    lines.extend(
        refused
            .problems
            .iter()
            .map(|one| format!("  - {}: {}\n    to fix it: {}", one.at, one.problem, one.fix)),
    );
    Some(Outcome::Refused(lines))
}

/// Copies the components of a folder into the catalog.
fn take_components(from: &Path, catalog: &Path) -> anyhow::Result<()> {
    let entries = fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))?;
    for entry in entries {
        let path = entry?.path();
        let Some(name) =
            path.file_name().filter(|_| path.extension().is_some_and(|end| end == "wasm"))
        else {
            continue;
        };
        fs::copy(&path, catalog.join(name))
            .with_context(|| format!("cannot copy {}", path.display()))?;
    }
    Ok(())
}
