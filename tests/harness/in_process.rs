//! A host within this process: the same as `portolan serve` runs, with a clock that the test moves.
//!
//! Each host has a small runtime of its own. The tasks of a host end with its runtime, and what its
//! threads log is written into the host's file.

use crate::harness::options::{binary, kept_artifacts};
use portolan_command::{
    HostResources, OpenHost,
    config::{Config, Flags},
};
use portolan_http::Listeners;
use portolan_outgoing::Certificate;
use portolan_sandbox::{Backtraces, Sandbox, SandboxOptions};
use portolan_vocabulary::{Clock, Limits};
use std::{
    fs::{File, OpenOptions},
    net::SocketAddr,
    path::Path,
    sync::{Arc, Mutex, PoisonError, Weak},
};
use tokio::{runtime::Runtime, sync::watch};
use tracing::{Dispatch, dispatcher};
use tracing_subscriber::EnvFilter;

/// The number of threads of one host: two, so that a task that computes does not stop the others.
const THREADS: usize = 2;

/// A host that runs within this process.
pub struct InProcessHost {
    pub public: SocketAddr,
    pub admin: SocketAddr,
    runtime: Option<Runtime>,
    /// The host stops when this is dropped.
    _stop: watch::Sender<bool>,
}

impl InProcessHost {
    /// Starts a host on the configuration, catalog and data in the folder.
    pub async fn start(folder: &Path, clock: Clock, trusted: Vec<Certificate>) -> Self {
        let log = log_to(&folder.join("log"));
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("host")
            .enable_all()
            // Forgetting the guard leaves the dispatcher set for as long as the thread lives.
            .on_thread_start(move || std::mem::forget(dispatcher::set_default(&log)))
            .build()
            .unwrap();
        let (stop, stopping) = watch::channel(false);
        let folder = folder.to_owned();
        // The future of `open` is not `Send`, so it runs on one thread of the host's
        // runtime that may block.
        let handle = runtime.handle().clone();
        let open = move || handle.block_on(open(&folder, clock, trusted, stopping));
        let opening = runtime.spawn_blocking(open);
        let host = opening.await.unwrap().unwrap_or_else(|error| panic!("{error:#}"));
        let (public, admin) = host.addresses().unwrap();
        runtime.spawn(host.serve(|server| server));
        Self { public, admin, runtime: Some(runtime), _stop: stop }
    }
}

impl Drop for InProcessHost {
    fn drop(&mut self) {
        // This ends the host as suddenly as the end of a process. It does not wait, because a test
        // may drop this within a runtime, where waiting panics.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

async fn open(
    folder: &Path,
    clock: Clock,
    trusted: Vec<Certificate>,
    stop: watch::Receiver<bool>,
) -> anyhow::Result<OpenHost> {
    let any_port = || Some("127.0.0.1:0".to_owned());
    let flags = Flags {
        listen: any_port(),
        admin_listen: any_port(),
        data_dir: Some(folder.join("data")),
        catalog_dir: Some(folder.join("catalog")),
        ..Flags::default()
    };
    let config = Config::load(&folder.join("portolan.toml"), &flags)?;
    let listeners = Listeners::open(config.listen, config.admin_listen).await?;
    let sandbox = sandbox(&config.limits)?;
    let resources = HostResources { listeners, clock, sandbox, trusted, stop };
    OpenHost::open(&config, resources).await
}

/// Returns the sandbox of these limits, which hosts share because its pool takes much of the
/// address space. Compiled components are kept for later runs.
fn sandbox(limits: &Limits) -> anyhow::Result<Arc<Sandbox>> {
    static SHARED: Mutex<Vec<Weak<Sandbox>>> = Mutex::new(Vec::new());
    let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
    shared.retain(|sandbox| sandbox.strong_count() > 0);
    let found = shared.iter().filter_map(Weak::upgrade).find(|sandbox| sandbox.limits() == limits);
    if let Some(sandbox) = found {
        return Ok(sandbox);
    }
    let sandbox = Arc::new(Sandbox::new(SandboxOptions {
        limits: limits.clone(),
        artifacts: kept_artifacts().to_owned(),
        compiler: binary().to_owned(),
        backtraces: Backtraces::Names,
        compile_cache: None,
    })?);
    if *limits == Limits::default() {
        // Nearly every host has the default limits, so their sandbox is kept
        // until the tests are over.
        std::mem::forget(Arc::clone(&sandbox));
    }
    shared.push(Arc::downgrade(&sandbox));
    Ok(sandbox)
}

fn log_to(file: &Path) -> Dispatch {
    let file: File = OpenOptions::new().create(true).append(true).open(file).unwrap();
    let subscriber = tracing_subscriber::fmt()
        .with_env_filter(EnvFilter::new("rmcp=off,info"))
        .with_ansi(false)
        .with_writer(Mutex::new(file))
        .finish();
    Dispatch::new(subscriber)
}
