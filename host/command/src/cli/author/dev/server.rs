//! The host that serves a project: the same as `portolan serve`, in a temporary folder.

use crate::{
    cli::cache,
    config::Config,
    startup::{HostResources, OpenHost},
};
use anyhow::Context as _;
use portolan_catalog::Status;
use portolan_http::{App, Listeners};
use portolan_sandbox::{Backtraces, Sandbox, SandboxOptions};
use portolan_vocabulary::{Clock, Digest, Operator};
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
const STATUS_INTERVAL: Duration = Duration::from_millis(5);
/// The time within which the catalog notices a new file.
const NOTICE_TIME: Duration = Duration::from_millis(300);
/// How long access tokens are valid: 100 years.
const TOKEN_LIFETIME_S: u64 = 100 * 365 * 24 * 3600;
/// How long a component may take to be loaded.
const LOAD_TIMEOUT: Duration = Duration::from_secs(60);

pub(super) struct Server {
    pub(super) app: Arc<App>,
    pub(super) url: String,
    catalog: PathBuf,
    _stop: watch::Sender<bool>,
    _folder: TempDir,
}

/// The outcome of loading a component.
pub(super) enum Outcome {
    Serving { id: String, version: String },
    Refused(Vec<String>),
}

impl Server {
    /// Starts a host with the components of a folder, if one is given.
    pub(super) async fn start(
        listen: SocketAddr,
        components: Option<&Path>,
    ) -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("portolan-dev").tempdir()?;
        let catalog = folder.path().join("catalog");
        fs::create_dir(&catalog)?;
        if let Some(components) = components {
            copy_components(components, &catalog)?;
        }
        let mut config = Config::for_tests(folder.path().join("data"), catalog.clone())?;
        // The author can advance the clock, and the printed tokens are used afterwards as well.
        config.tokens.access_seconds = TOKEN_LIFETIME_S;
        let local = SocketAddr::from(([127, 0, 0, 1], 0));
        let listeners = Listeners::open(listen, local).await?;
        let sandbox = Arc::new(Sandbox::new(SandboxOptions {
            limits: config.limits.clone(),
            artifacts: config.data_dir.join("artifacts"),
            compiler: std::env::current_exe()?,
            backtraces: Backtraces::Source,
            compile_cache: cache::compile_cache(),
        })?);
        let (sender, stop) = watch::channel(false);
        let (clock, trusted) = (Clock::system(), Vec::new());
        let resources = HostResources { listeners, clock, sandbox, trusted, stop };
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
    pub(super) async fn wait_until_loaded(&self) -> anyhow::Result<Outcome> {
        let digest = Digest::of(&fs::read(self.file())?);
        let loading = async {
            let started = Instant::now();
            loop {
                sleep(STATUS_INTERVAL).await;
                let status = self.app.host.catalog.status();
                match outcome(&status, digest) {
                    // The refusal may still be that of the previous component.
                    Some(Outcome::Refused(_)) if started.elapsed() < NOTICE_TIME => {}
                    Some(Outcome::Refused(lines)) if !self.approve(&status).await => {
                        return Outcome::Refused(lines);
                    }
                    Some(serving @ Outcome::Serving { .. }) => return serving,
                    _ => {}
                }
            }
        };
        timeout(LOAD_TIMEOUT, loading).await.context("the component is not loaded in time")
    }

    /// Grants the permissions for which the component waits, if it waits for any. Returns whether
    /// they were granted.
    async fn approve(&self, status: &Status) -> bool {
        let refused = status.refused.iter().find(|entry| entry.file == FILE);
        let Some(id) = refused.and_then(|entry| entry.waiting.as_deref()) else { return false };
        let operator = Operator::admin("portolan dev");
        self.app.host.catalog.approve(id, None, &operator).await.is_ok()
    }
}

fn outcome(status: &Status, digest: Digest) -> Option<Outcome> {
    if let Some(loaded) =
        status.loaded.iter().find(|entry| entry.file == FILE && entry.digest == digest)
    {
        return Some(Outcome::Serving { id: loaded.id.clone(), version: loaded.version.clone() });
    }
    if status.pending.iter().any(|file| file == FILE) {
        return None;
    }
    let refused = status.refused.iter().find(|entry| entry.file == FILE)?;
    let mut lines = vec![format!("{}\n  to fix it: {}", refused.message, refused.fix)];
    lines.extend(refused.problems.iter().map(|problem| {
        format!("  - {}: {}\n    to fix it: {}", problem.at, problem.problem, problem.fix)
    }));
    Some(Outcome::Refused(lines))
}

/// Copies the components of a folder into the catalog.
fn copy_components(from: &Path, catalog: &Path) -> anyhow::Result<()> {
    let entries = fs::read_dir(from).with_context(|| format!("cannot read {}", from.display()))?;
    for entry in entries {
        let path = entry?.path();
        let Some(name) = path
            .file_name()
            .filter(|_| path.extension().is_some_and(|extension| extension == "wasm"))
        else {
            continue;
        };
        fs::copy(&path, catalog.join(name))
            .with_context(|| format!("cannot copy {}", path.display()))?;
    }
    Ok(())
}
