//! The whole host in this process: opens every crate with one clock, and serves until it is told to stop.

use crate::{
    config::Config,
    reload::Reloader,
    secret_keys::{SECRET_KEYS, read_secret_keys},
};
use anyhow::Context as _;
use arc_swap::ArcSwap;
use portolan_blobs::Blobs;
use portolan_catalog::{Catalog, CatalogOptions, Service, Status};
use portolan_events::Events;
use portolan_http::{
    App, Listeners, OperatorAccess, OperatorSocket, OperatorToken, Proxies, StartProgress, Stop,
    answer_probes, node::NodePlaces,
};
use portolan_identity::{Identity, Settings};
use portolan_mcp::{Server, ServerHandler};
use portolan_outgoing::{Certificate, Outgoing, email::Mailer, lookups::Lookups, sms::Sms};
use portolan_pipeline::{Emails, Host, MessageLimits, Rates};
use portolan_publication::{
    Feeds, FeedsOptions, HostDescription, Hubs, Roads, records::RecordsFolder,
};
use portolan_sandbox::Sandbox;
use portolan_store::{DatabaseUrl, Store, create_private_folder};
use portolan_telemetry::Telemetry;
use portolan_vocabulary::{
    Clock, Keyring, Retention, Role, SCOPES, Timestamp, entropy, new_identifier,
};
use std::{
    future::pending, io::Write as _, net::SocketAddr, path::Path, sync::Arc, time::Duration,
};
use tokio::{sync::watch, task::JoinSet};
use zeroize::Zeroizing;

/// The file in the data folder that lists the erased people.
pub(crate) const ERASURES: &str = "erasures";

/// The time for sending the last spans when the host stops.
const LAST_SPANS: Duration = Duration::from_secs(3);

/// The resources that a host gets from its process.
#[derive(Debug)]
pub struct HostResources {
    pub listeners: Listeners,
    /// The one clock of the host.
    pub clock: Clock,
    /// The engine, which several hosts can share.
    pub sandbox: Arc<Sandbox>,
    /// Certificate authorities that are trusted in addition to those of the system.
    pub trusted: Vec<Certificate>,
    /// Becomes true when the host is to stop.
    pub stop: watch::Receiver<bool>,
}

/// A host whose parts are open and whose catalog is loaded, and which does not answer requests yet.
#[derive(Debug)]
pub struct OpenHost {
    app: Arc<App>,
    store: Store,
    listeners: Listeners,
    retention: Retention,
    stop: watch::Receiver<bool>,
}

impl OpenHost {
    /// Opens the database, loads the catalog and the feeds, and starts the tasks that keep them up
    /// to date.
    pub async fn open(config: &Config, resources: HostResources) -> anyhow::Result<Self> {
        let HostResources { mut listeners, clock, sandbox, trusted, stop } = resources;
        let public = listeners.public.local_addr()?;
        let public_url = config.public_url.clone().unwrap_or_else(|| format!("http://{public}"));
        let admin_port = listeners.admin.local_addr()?.port();
        let progress = StartProgress::new(clock.now());
        let probes =
            answer_probes(&listeners.admin, progress.clone(), &config.limits, clock.clone());
        let parts = HostParts {
            public_url: public_url.clone(),
            admin_port,
            clock,
            sandbox,
            trusted,
            stop: stop.clone(),
            progress,
        };
        // On the heap, because the types of futures within futures have a limited depth.
        let opening = Box::pin(open_pipeline(config, parts));
        let host = tokio::select! {
            host = opening => host?,
            never = async { probes.await; pending().await } => never,
        };
        let store = host.store.clone();
        let proxies = Proxies(config.trusted_proxies.clone());
        let operator = operator_access(config)?;
        listeners.tls.clone_from(&config.tls);
        listeners.socket = OperatorSocket::open(&config.data_dir)?;
        let map = config.map.clone().with_feeds(&config.feeds_dir);
        let own_file = config.secret_keys.is_none().then(|| config.data_dir.join(SECRET_KEYS));
        let places = NodePlaces::new(config.data_dir.clone(), own_file);
        let app = App::new(host, public_url, proxies, operator, places, config.mcp.clone(), map);
        app.check_node().await;
        Ok(Self { app, store, listeners, retention: config.retention, stop })
    }

    /// Returns the reloader, which takes over changes of the configuration while the host runs.
    pub fn reloader(&self, config: Config) -> Reloader {
        Reloader::new(Arc::clone(&self.app), config)
    }

    /// Returns the state that handlers reach, for programs that add routes of their own.
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Returns the addresses for agents and for the operator.
    pub fn addresses(&self) -> std::io::Result<(SocketAddr, SocketAddr)> {
        Ok((self.listeners.public.local_addr()?, self.listeners.admin.local_addr()?))
    }

    /// Returns what the catalog has loaded and refused.
    pub fn catalog_status(&self) -> Status {
        self.app.host.catalog.status()
    }

    /// Answers requests and runs due work until the host is told to stop, then finishes the work in
    /// flight. `wrap` wraps the server of MCP.
    pub async fn serve<S: ServerHandler + Send + 'static>(
        self,
        wrap: impl Fn(Server) -> S + Send + Sync + 'static,
    ) -> anyhow::Result<()> {
        let Self { app, store, listeners, retention, stop } = self;
        let stop = Stop::after(stop, app.host.sandbox.limits().stop_delay());
        // While the host still takes connections, it also does due work, shares its rates and keeps its audit log.
        let due_work = Arc::clone(&app.host).run_due_work(stop.closing.clone(), retention);
        let worker_task = tokio::spawn(due_work);
        let sender_task = tokio::spawn(Arc::clone(&app.host.events).send());
        let mut hubs_tasks: JoinSet<()> = app
            .host
            .cities()
            .map(|feeds| Arc::clone(feeds).notify_hubs(stop.told.clone()))
            .collect();
        let publications_task =
            tokio::spawn(Arc::clone(&app.host).announce_publications(stop.told.clone()));
        let status_task = tokio::spawn(Arc::clone(&app).watch_status(stop.told.clone()));
        let telemetry = app.host.telemetry.clone();
        let node_task = tokio::spawn(Arc::clone(&app).watch_node(stop.told.clone()));
        let mcp = app.mcp.service(wrap);
        portolan_http::serve(listeners, app, mcp, stop).await?;
        worker_task.await?;
        sender_task.await?;
        while let Some(ended) = hubs_tasks.join_next().await {
            ended?;
        }
        publications_task.await?;
        status_task.await?;
        node_task.await?;
        telemetry.flush(LAST_SPANS).await;
        store.close().await;
        Ok(())
    }
}

/// The values with which the parts of a host are opened, in addition to the configuration.
pub(crate) struct HostParts {
    pub(crate) public_url: String,
    /// The port of the operator's address. The host's outgoing requests without TLS are refused at this port.
    pub(crate) admin_port: u16,
    pub(crate) clock: Clock,
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) trusted: Vec<Certificate>,
    pub(crate) stop: watch::Receiver<bool>,
    /// The progress of the start, for the probes.
    pub(crate) progress: StartProgress,
}

/// Opens the database, loads the catalog and the feeds, and returns the host that runs calls.
pub(crate) async fn open_pipeline(config: &Config, parts: HostParts) -> anyhow::Result<Arc<Host>> {
    let HostParts { public_url, admin_port, clock, sandbox, trusted, stop, progress } = parts;
    let keys = secret_keys(config)?;
    progress.step("it opens the database");
    let quotas = config.quotas.clone();
    let (url, server) = (&config.database_url, &config.database_server);
    let store = Store::open_with(url, server, &keys, clock.clone(), quotas).await?;
    let rates = match config.rate_limits {
        true => Rates::new(&config.limits, &keys, clock.clone()),
        false => Rates::unlimited(),
    };
    rates.restore(&store).await?;
    create_data_folder(config)?;
    store.open_audit_log(&node_id(&config.data_dir, clock.now())?).await?;
    let assigned = |role| config.roles.assigned(role).map(str::to_owned);
    let settings = Settings {
        public_url: public_url.clone(),
        access_seconds: config.tokens.access_seconds,
        refresh_days: config.tokens.refresh_days,
        key_days: config.tokens.key_days,
        redirects: config.redirect_hosts.clone(),
        test_mode: config.test_mode,
        phone_verification: assigned(Role::PhoneVerification),
    };
    let outgoing = Outgoing::new(&config.reachable_networks, &trusted, admin_port)?;
    let identity =
        Identity::open(store.clone(), &keys, settings, outgoing.clone(), clock.clone()).await?;
    let telemetry = Telemetry::start(&config.telemetry).map_err(anyhow::Error::msg)?;
    let events = Events::new(
        store.clone(),
        &public_url,
        outgoing.clone(),
        config.webhooks.clone(),
        telemetry.clone(),
        assigned(Role::WebhookManagement),
        stop.clone(),
        clock.clone(),
    );
    let (folder, media) = (&config.data_dir, config.media.clone());
    if matches!(config.database_url, DatabaseUrl::Postgres(_)) && media.is_of_one_node() {
        tracing::warn!(
            "the files of people are in the data folder of this node: several nodes need media.folder, which they share, or store = \"s3\""
        );
    }
    let blobs =
        Blobs::open(store.clone(), folder, media, &keys, &public_url, clock.clone()).await?;
    progress.step("it loads the catalog; new components are compiled");
    let catalog = open_catalog(config, &public_url, &sandbox, &store, stop.clone(), &clock).await?;
    progress.step("it reads the list of erased people and the feeds");
    create_data_folder(config)?;
    let erasures = config.data_dir.join(ERASURES);
    let erased = store.use_erasure_list(&erasures, clock.now()).await?;
    if erased > 0 {
        tracing::info!(erased, "erased people whom the database still contained");
    }
    let host_description = HostDescription {
        public_url: public_url.clone(),
        mcp_url: identity.mcp_audience().to_owned(),
        scopes: SCOPES.to_vec(),
        provider: config.provider.clone(),
        cities: config.feeds.cities.clone(),
    };
    let hubs = Hubs { addresses: config.feeds.hubs.clone(), outgoing: outgoing.clone() };
    let feeds_of = async |folder: &Path, records: &Path, city: Option<&str>| {
        let records = RecordsFolder::open(records.to_owned(), keys.clone())
            .with_context(|| format!("cannot create the folder {}", records.display()))?;
        let options = FeedsOptions {
            folder: folder.to_owned(),
            roads: Roads::of_host(&public_url, city),
            host: host_description.clone(),
            records,
            hubs: hubs.clone(),
            clock: clock.clone(),
        };
        anyhow::Ok(Feeds::start(options, stop.clone()).await)
    };
    let records = config.data_dir.join("records");
    let feeds = feeds_of(&config.feeds_dir, &records, None).await?;
    let mut other_cities = Vec::new();
    for city in &config.feeds.cities {
        // Opening the folder of the first city's records has removed what was in it.
        let records = records.join(&city.slug);
        other_cities.push(feeds_of(&city.path, &records, Some(&city.slug)).await?);
    }
    let message_rates = config.rate_limits.then_some(&config.limits);
    let message_limits = MessageLimits::new(config.text_messages.clone(), message_rates);
    let sms = Sms::new(config.sms.clone(), &public_url)?;
    let emails = config.email.clone().map(|server| Emails::new(Mailer::new(server, &public_url)));
    let lookups = Lookups::new(&config.lookups, &config.reachable_networks, &trusted)?;
    Ok(Host::new(
        identity,
        catalog,
        sandbox,
        store,
        events,
        Arc::new(blobs),
        feeds,
        other_cities,
        sms,
        emails,
        lookups,
        rates,
        message_limits,
        telemetry,
        config.recording,
        clock,
    ))
}

async fn open_catalog(
    config: &Config,
    public_url: &str,
    sandbox: &Arc<Sandbox>,
    store: &Store,
    stop: watch::Receiver<bool>,
    clock: &Clock,
) -> anyhow::Result<Arc<Catalog>> {
    std::fs::create_dir_all(&config.catalog_dir).with_context(|| {
        format!("cannot create the catalog folder {}", config.catalog_dir.display())
    })?;
    let options = CatalogOptions {
        folder: config.catalog_dir.clone(),
        start_note: config.data_dir.join("catalog.start"),
        failures: config.data_dir.join("catalog.failures"),
        installation_note: config.data_dir.join("catalog.installed"),
        publishing: config.publishing.clone(),
        grants: config.grants.clone(),
        trust: config.trust.clone(),
        roles: config.roles.clone(),
        service: Service {
            started_at: clock.now(),
            public_url: public_url.to_owned(),
            limits: config.limits.table().to_vec(),
        },
        clock: clock.clone(),
    };
    Catalog::start(Arc::clone(sandbox), store.clone(), options, stop).await
}

/// Returns the rules for the operator's address, with the configured token or the one in the data
/// folder.
fn operator_access(config: &Config) -> anyhow::Result<OperatorAccess> {
    create_data_folder(config)?;
    let token = match &config.operator_token {
        Some(token) => OperatorToken::configured(token),
        None => OperatorToken::open(&config.data_dir)?,
    };
    Ok(OperatorAccess {
        token,
        hosts: config.operator_hosts.clone(),
        metrics_public: config.metrics_public,
        settings: ArcSwap::from_pointee(config.shown.clone()),
    })
}

fn create_data_folder(config: &Config) -> anyhow::Result<()> {
    create_private_folder(&config.data_dir)
        .with_context(|| format!("cannot create the data folder {}", config.data_dir.display()))
}

/// Returns the id of this node, which the file `node` in the data folder keeps.
fn node_id(folder: &Path, now: Timestamp) -> anyhow::Result<String> {
    let path = folder.join("node");
    let write = || -> std::io::Result<String> {
        match std::fs::read_to_string(&path) {
            Ok(text) if !text.trim().is_empty() => return Ok(text.trim().to_owned()),
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let id = new_identifier("nod", now, u128::from_le_bytes(entropy()));
        let mut file = tempfile::NamedTempFile::new_in(folder)?;
        writeln!(file, "{id}")?;
        file.as_file().sync_all()?;
        file.persist(&path)?;
        Ok(id)
    };
    write().with_context(|| {
        format!(
            "cannot read or write {}; let this user write there, or choose another folder with --data-dir",
            path.display()
        )
    })
}

/// Returns the configured keys, or those of the file `secret.keys` in the data folder, which is created
/// at the first start.
fn secret_keys(config: &Config) -> anyhow::Result<Keyring> {
    if let Some(keys) = &config.secret_keys {
        return Ok(keys.clone());
    }
    let path = config.data_dir.join(SECRET_KEYS);
    create_data_folder(config)?;
    let file_name = || path.display().to_string();
    if !path.exists()
        && let Err(error) = create_secret_keys(&path, &config.data_dir)
    {
        anyhow::bail!(
            "cannot write {}: {error}; let this user write there, or choose another folder with --data-dir",
            file_name()
        );
    }
    read_secret_keys(config, &config.data_dir)
}

/// Creates the file by a rename: after a crash, a partial file would fail the next start.
fn create_secret_keys(path: &Path, folder: &Path) -> anyhow::Result<()> {
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    writeln!(
        file,
        "# The newest key comes first. Keep older keys as long as anything that they signed or sealed.\n{}",
        *Zeroizing::new(Keyring::generate()?)
    )?;
    file.as_file().sync_all()?;
    match file.persist_noclobber(path) {
        Err(error) if error.error.kind() != std::io::ErrorKind::AlreadyExists => {
            Err(error.error.into())
        }
        _ => Ok(()),
    }
}
