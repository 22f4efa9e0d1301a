//! `portolan serve`.

use crate::{
    cli::log_format,
    config::{Config, FILE, Flags},
    reload::{Reloaded, Reloader},
    startup::{HostResources, OpenHost},
};
use anyhow::Context as _;
use portolan_http::Listeners;
use portolan_mcp::{Server, ServerHandler};
use portolan_outgoing::sms::SmsTransport;
use portolan_sandbox::{Backtraces, Sandbox, SandboxOptions};
use portolan_vocabulary::Clock;
use std::{io::Write as _, path::Path, process::ExitCode, sync::Arc, time::Instant};
use tokio::{
    signal::unix::{SignalKind, signal},
    sync::watch,
};
use tracing_subscriber::EnvFilter;

/// A log filter that turns the MCP SDK off, because it logs the content of requests and people's answers.
const SDK_OFF: &str = "rmcp=off";

pub(super) fn serve<S: ServerHandler + Send + 'static>(
    flags: &Flags,
    wrap: impl Fn(Server) -> S + Send + Sync + 'static,
) -> anyhow::Result<ExitCode> {
    let config = Config::load(Path::new(FILE), flags)?;
    let set_filter = log_format::start(config.log_format, log_filter(&config)?);
    let set_log = move |config: &Config| set_filter(log_filter(config)?);
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(run(config, flags, wrap, set_log))?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the filter of the log: `RUST_LOG`, or else the setting `log`.
fn log_filter(config: &Config) -> anyhow::Result<EnvFilter> {
    let filter = std::env::var("RUST_LOG").unwrap_or_else(|_| config.log.clone());
    EnvFilter::try_new(format!("{SDK_OFF},{filter}"))
        .context("RUST_LOG or log is not a filter such as info or portolan=debug")
}

async fn run<S: ServerHandler + Send + 'static>(
    config: Config,
    flags: &Flags,
    wrap: impl Fn(Server) -> S + Send + Sync + 'static,
    set_log: impl Fn(&Config) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let started = Instant::now();
    // This comes first, so that a signal during the start is not lost.
    let stop = stop_signal()?;
    let mut hangup = signal(SignalKind::hangup())?;
    ignore_file_size_signal()?;
    // Each waiting reader holds a connection open. It is not an error if the limit of open files
    // cannot be raised.
    let _raised = rlimit::increase_nofile_limit(u64::MAX);
    let listeners = Listeners::open(config.listen, config.admin_listen).await?;
    let sandbox = Arc::new(Sandbox::new(SandboxOptions {
        limits: config.limits.clone(),
        artifacts: config.data_dir.join("artifacts"),
        compiler: std::env::current_exe()?,
        backtraces: Backtraces::Names,
        compile_cache: None,
    })?);
    sandbox.clean_artifacts();
    let (clock, trusted) = (Clock::system(), Vec::new());
    let resources = HostResources { listeners, clock, sandbox, trusted, stop };
    let host = OpenHost::open(&config, resources).await?;
    if let SmsTransport::Outbox(path) = &config.sms {
        tracing::warn!(path = %path.display(), "text messages are written to a file; set `sms` to a provider in production");
    }
    announce(&host, &config, started)?;
    let reloader = host.reloader(config);
    let reloads = async {
        while hangup.recv().await.is_some() {
            reload(&reloader, flags, &set_log).await;
        }
    };
    tokio::select! {
        served = host.serve(wrap) => served?,
        () = reloads => {}
    }
    print("stopped");
    Ok(())
}

fn announce(host: &OpenHost, config: &Config, started: Instant) -> std::io::Result<()> {
    let (public, admin) = host.addresses()?;
    let scheme = if config.tls.is_some() { "https" } else { "http" };
    let status = host.catalog_status();
    let (loaded, refused) = (status.loaded.len(), status.refused.len());
    let version = env!("CARGO_PKG_VERSION");
    let elapsed = started.elapsed().as_millis();
    tracing::info!(version, %public, %admin, loaded, refused, "ready");
    print(&format!(
        "portolan {version} is ready after {elapsed} ms
  {loaded} capabilities loaded, {refused} files refused (see portolan catalog)
  agents:   {scheme}://{public}
  operator: http://{admin}"
    ));
    if config.test_mode {
        print(
            "  test mode is on: agents can register in it and be claimed without a phone, over data of its own",
        );
    }
    Ok(())
}

/// Writes to standard output. An error must not end the host, so it is ignored.
fn print(text: &str) {
    let _written = writeln!(std::io::stdout(), "{text}");
}

/// Takes over a changed configuration. A fault is logged, and changes nothing.
async fn reload(
    reloader: &Reloader,
    flags: &Flags,
    set_log: impl Fn(&Config) -> anyhow::Result<()>,
) {
    let reloaded = async {
        let config = Config::load(Path::new(FILE), flags)?;
        // A filter with a fault changes nothing else either.
        log_filter(&config)?;
        let reloaded = reloader.reload(&config).await?;
        set_log(&config)?;
        anyhow::Ok(reloaded)
    };
    match reloaded.await {
        Ok(Reloaded { applied, waiting }) => {
            let applied = applied.join(", ");
            tracing::info!(applied, "the configuration is reloaded");
            if !waiting.is_empty() {
                let settings = waiting.join(", ");
                tracing::warn!(settings, "these changed settings take effect at the next start");
            }
        }
        Err(error) => tracing::error!("nothing is reloaded: {error:#}"),
    }
}

/// Turns a write beyond the system's file size limit into an ordinary error. Without a handler, the signal
/// `SIGXFSZ` ends the process.
fn ignore_file_size_signal() -> std::io::Result<()> {
    const SIGXFSZ: i32 = 25;
    // The handler stays installed after the stream is dropped.
    signal(SignalKind::from_raw(SIGXFSZ)).map(drop)
}

/// Returns a receiver whose value becomes true at SIGTERM or SIGINT.
fn stop_signal() -> anyhow::Result<watch::Receiver<bool>> {
    let (sender, receiver) = watch::channel(false);
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("stopping: calls in flight are finished first");
        // An error means that no receiver is left.
        let _sent = sender.send(true);
        // The sender must stay alive, because receivers report a dropped sender as an error.
        std::future::pending::<()>().await;
    });
    Ok(receiver)
}
