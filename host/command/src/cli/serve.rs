//! `portolan serve`.

use crate::config::{Config, Flags};
use anyhow::Context as _;
use portolan_catalog::{Catalog, CatalogOptions, Service};
use portolan_events::Events;
use portolan_http::{App, Listening, Proxies};
use portolan_identity::{Identity, Settings};
use portolan_mcp::{Server, ServerHandler};
use portolan_outgoing::{
    Outgoing,
    lookups::Lookups,
    sms::{Sms, SmsPort},
};
use portolan_pipeline::{Host, Rates};
use portolan_publication::{About, Feeds, FeedsOptions, records::RecordsFolder};
use portolan_sandbox::{Sandbox, SandboxOptions};
use portolan_store::{Store, create_private_folder};
use portolan_vocabulary::{Clock, Keyring, Role, SCOPES};
use std::{
    io::{IsTerminal as _, Write as _},
    path::Path,
    process::ExitCode,
    sync::Arc,
    time::Instant,
};
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
    let config = Config::load(flags)?;
    let filter = std::env::var("RUST_LOG").unwrap_or_else(|_| "info".to_owned());
    let filter = EnvFilter::try_new(format!("{SDK_OFF},{filter}"))
        .context("RUST_LOG is not a filter such as info or portolan=debug")?;
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr)
        // An error of standard error would be logged to standard error, and panic.
        .log_internal_errors(false)
        .init();
    tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()?
        .block_on(run(config, wrap))?;
    Ok(ExitCode::SUCCESS)
}

async fn run<S: ServerHandler + Send + 'static>(
    config: Config,
    wrap: impl Fn(Server) -> S + Send + Sync + 'static,
) -> anyhow::Result<()> {
    let started = Instant::now();
    // This comes first, so that a signal during the start is not lost.
    let stop = stop_signal()?;
    ignore_file_size_signal()?;
    // Each waiting reader holds a connection open. A lower limit of open files is not an error.
    let _raised = rlimit::increase_nofile_limit(u64::MAX);
    let listening = Listening::open(config.listen, config.admin_listen).await?;
    let (public, admin) = (listening.public.local_addr()?, listening.admin.local_addr()?);
    let public_url = config.public_url.clone().unwrap_or_else(|| format!("http://{public}"));
    let (app, store) = open(&config, public_url, stop.clone()).await?;
    if let SmsPort::Outbox(path) = &config.sms {
        tracing::warn!(path = %path.display(), "text messages are written to a file; set `sms` to a provider in production");
    }
    announce(&app, public, admin, started);
    let work = tokio::spawn(Arc::clone(&app.host).work(stop.clone(), config.retention));
    let sending = tokio::spawn(Arc::clone(&app.host.events).send());
    let mcp = app.mcp.service(wrap);
    portolan_http::serve(listening, app, mcp, stop).await?;
    work.await?;
    sending.await?;
    store.close().await;
    print("stopped");
    Ok(())
}

async fn open(
    config: &Config,
    public_url: String,
    stop: watch::Receiver<bool>,
) -> anyhow::Result<(Arc<App>, Store)> {
    // The only clock of this process.
    let clock = Clock::system();
    let keys = secret_keys(config)?;
    let store = Store::open(&config.database_url, &keys, clock.clone()).await?;
    let assigned = |role| config.roles.assigned(role).map(str::to_owned);
    let settings = Settings {
        public_url: public_url.clone(),
        access_seconds: config.tokens.access_seconds,
        refresh_days: config.tokens.refresh_days,
        redirects: config.redirect_hosts.clone(),
        phone_verification: assigned(Role::PhoneVerification),
    };
    let outgoing = Outgoing::new(&config.reachable_networks)?;
    let identity =
        Identity::open(store.clone(), &keys, settings, outgoing.clone(), clock.clone()).await?;
    let events = Events::new(
        store.clone(),
        &public_url,
        outgoing,
        config.webhooks.clone(),
        assigned(Role::WebhookManagement),
        stop.clone(),
        clock.clone(),
    );
    let sandbox = Arc::new(Sandbox::new(SandboxOptions {
        limits: config.limits.clone(),
        artifacts: config.data_dir.join("artifacts"),
        compiler: std::env::current_exe()?,
    })?);
    std::fs::create_dir_all(&config.catalog_dir).with_context(|| {
        format!("cannot create the catalog folder {}", config.catalog_dir.display())
    })?;
    let options = CatalogOptions {
        folder: config.catalog_dir.clone(),
        grants: config.grants.clone(),
        roles: config.roles.clone(),
        service: Service {
            started_at: clock.now(),
            public_url: public_url.clone(),
            limits: config.limits.table().to_vec(),
        },
        clock: clock.clone(),
    };
    let catalog =
        Catalog::start(Arc::clone(&sandbox), store.clone(), options, stop.clone()).await?;
    let about = About {
        public_url: public_url.clone(),
        mcp_url: identity.mcp_audience().to_owned(),
        scopes: SCOPES.to_vec(),
        provider: config.provider.clone(),
    };
    let records = config.data_dir.join("records");
    let records = RecordsFolder::open(records.clone(), keys)
        .with_context(|| format!("cannot create the folder {}", records.display()))?;
    let options =
        FeedsOptions { folder: config.feeds_dir.clone(), about, records, clock: clock.clone() };
    let feeds = Feeds::start(options, stop).await;
    let rates = if config.rate_limits { Rates::new(&config.limits) } else { Rates::off() };
    let sms = Sms::new(config.sms.clone(), &public_url)?;
    let lookups = Lookups::new(&config.lookups, &config.reachable_networks)?;
    let host = Host::new(
        identity,
        catalog,
        sandbox,
        store.clone(),
        events,
        feeds,
        sms,
        lookups,
        rates,
        clock,
    );
    let proxies = Proxies(config.trusted_proxies.clone());
    Ok((App::new(host, public_url, proxies, config.mcp.clone()), store))
}

/// Returns the configured keys, or those of the file `secret.keys` in the data folder, which is created
/// at the first start.
fn secret_keys(config: &Config) -> anyhow::Result<Keyring> {
    if let Some(keys) = &config.secret_keys {
        return Ok(keys.clone());
    }
    let path = config.data_dir.join("secret.keys");
    create_private_folder(&config.data_dir)
        .with_context(|| format!("cannot create the data folder {}", config.data_dir.display()))?;
    let at = || path.display().to_string();
    if !path.exists()
        && let Err(error) = create_secret_keys(&path, &config.data_dir)
    {
        anyhow::bail!(
            "cannot write {}: {error}; let this user write there, or choose another folder with --data-dir",
            at()
        );
    }
    let text = std::fs::read_to_string(&path).with_context(at)?;
    Keyring::parse(&text).map_err(|fix| anyhow::anyhow!("{}: {fix}", at()))
}

/// Creates the file by a rename: after a crash, a partial file would fail the next start.
fn create_secret_keys(path: &Path, folder: &Path) -> anyhow::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    writeln!(
        file,
        "# The newest key comes first. Keep older keys as long as anything that they signed or sealed.\n{}",
        Keyring::generate()?
    )?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(error.error.into())
        }
        _ => Ok(()),
    }
}

fn announce(
    app: &App,
    public: std::net::SocketAddr,
    admin: std::net::SocketAddr,
    started: Instant,
) {
    let status = app.host.catalog.status();
    let (loaded, refused) = (status.loaded.len(), status.refused.len());
    let version = env!("CARGO_PKG_VERSION");
    let elapsed = started.elapsed().as_millis();
    tracing::info!(version, %public, %admin, loaded, refused, "ready");
    print(&format!(
        "portolan {version} is ready after {elapsed} ms
  {loaded} capabilities loaded, {refused} files refused (see portolan catalog)
  agents:   http://{public}
  operator: http://{admin}"
    ));
}

/// Writes to standard output. An error must not end the host, so it is ignored.
fn print(text: &str) {
    let _written = writeln!(std::io::stdout(), "{text}");
}

/// Turns a write beyond the system's file size limit into an ordinary error. Without a handler, the signal
/// `SIGXFSZ` ends the process.
fn ignore_file_size_signal() -> std::io::Result<()> {
    const SIGXFSZ: i32 = 25;
    // The handler stays installed after the stream is dropped.
    signal(SignalKind::from_raw(SIGXFSZ)).map(drop)
}

/// Returns a signal that becomes true at SIGTERM or SIGINT.
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
