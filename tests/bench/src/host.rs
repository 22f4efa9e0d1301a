//! The measured host: the real router in this process, and a native handler that does everything that a
//! call does except run a sandbox.

use anyhow::{Context as _, Result};
use axum::{
    Extension, Json, Router,
    body::Bytes,
    extract::State,
    http::{HeaderMap, header::AUTHORIZATION},
    routing::post,
};
use portolan_catalog::{Catalog, CatalogOptions, Grants, Service};
use portolan_events::{Events, WebhookSettings};
use portolan_http::{App, Proxies, Refusal, RequestId, accept, dispatcher, read_body};
use portolan_identity::{
    Credentials, Identity, IdentityError, RedirectHosts, Registration, Settings,
};
use portolan_mcp::McpSettings;
use portolan_outgoing::{
    Outgoing,
    lookups::{LookupSettings, Lookups},
    sms::{Sms, SmsPort},
};
use portolan_pipeline::{Answer, Call, Host, Meta, Rates, ensure_permitted};
use portolan_publication::{About, Feeds, FeedsOptions, Provider, records::RecordsFolder};
use portolan_sandbox::{Sandbox, SandboxOptions};
use portolan_store::{DatabaseUrl, Store};
use portolan_vocabulary::{
    AgentCaller, Clock, ErrorCode, Failure, Keyring, Limits, Retention, Roles, Timestamp,
};
use std::{path::PathBuf, sync::Arc};
use tempfile::TempDir;
use template::{Order, add_up};

/// The setup of a host.
pub(crate) struct Setup<'a> {
    /// The components of its catalog.
    pub(crate) guests: &'a [&'a str],
    pub(crate) limits: Limits,
    pub(crate) rates: Rates,
    /// The database; none means SQLite in a new folder.
    pub(crate) database: Option<DatabaseUrl>,
    /// Whether it runs due work: timers, and deliveries of events to capabilities.
    pub(crate) works: bool,
    /// The folder of the feeds.
    pub(crate) feeds: Option<PathBuf>,
}

impl<'a> Setup<'a> {
    pub(crate) fn with(guests: &'a [&'a str]) -> Self {
        let (limits, rates) = (Limits::default(), Rates::off());
        Self { guests, limits, rates, database: None, works: false, feeds: None }
    }
}

/// A running host.
pub(crate) struct BenchHost {
    pub(crate) app: Arc<App>,
    /// `127.0.0.1:PORT`.
    pub(crate) address: String,
    pub(crate) token: String,
    /// A token for the MCP endpoint.
    pub(crate) mcp_token: String,
    /// The client's id and its secret.
    pub(crate) client: (String, String),
    _folder: TempDir,
    stop: tokio::sync::watch::Sender<bool>,
}

impl Drop for BenchHost {
    fn drop(&mut self) {
        // An error means that the host has ended already.
        let _sent = self.stop.send(true);
    }
}

/// Returns the folder of the built guests, next to this program's folder.
pub(crate) fn guests() -> Result<PathBuf> {
    let program = std::env::current_exe()?;
    let target = program.parent().and_then(|folder| folder.parent()).context("no target folder")?;
    Ok(target.join("guests"))
}

pub(crate) fn guest(name: &str) -> Result<Vec<u8>> {
    let folder = guests()?;
    let file = |kind: &str| -> PathBuf { folder.join(kind).join(format!("{name}.wasm")) };
    std::fs::read(file("fixtures"))
        .or_else(|_| std::fs::read(file("plugins")))
        .with_context(|| format!("{} is not built", file("fixtures").display()))
}

impl BenchHost {
    /// Starts a host with these guests in its catalog.
    pub(crate) async fn start(guests: &[&str]) -> Result<Self> {
        Self::of(Setup::with(guests)).await
    }

    pub(crate) async fn of(setup: Setup<'_>) -> Result<Self> {
        let Setup { guests, limits, rates, database, works, feeds } = setup;
        let folder = TempDir::new()?;
        let catalog_folder = folder.path().join("catalog");
        std::fs::create_dir(&catalog_folder)?;
        for name in guests {
            std::fs::write(catalog_folder.join(format!("{name}.wasm")), guest(name)?)?;
        }
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        let public_url = format!("http://{address}");
        let database =
            database.unwrap_or_else(|| DatabaseUrl::from(folder.path().join("bench.db")));
        let keys = Keyring::parse(&Keyring::generate()?).map_err(anyhow::Error::msg)?;
        let store = Store::open(&database, &keys, Clock::system()).await?;
        let settings = Settings {
            public_url: public_url.clone(),
            access_seconds: 3600,
            refresh_days: 30,
            redirects: RedirectHosts::default(),
            phone_verification: None,
        };
        let outgoing = Outgoing::new(&[], &[])?;
        let clock = Clock::system();
        let identity =
            Identity::open(store.clone(), &keys, settings, outgoing.clone(), clock.clone()).await?;
        let sandbox = Arc::new(Sandbox::new(SandboxOptions {
            limits: limits.clone(),
            artifacts: folder.path().join("artifacts"),
            compiler: std::env::current_exe()?,
        })?);
        let service = Service {
            started_at: Timestamp::now(),
            public_url: public_url.clone(),
            limits: limits.table().to_vec(),
        };
        let options = CatalogOptions {
            folder: catalog_folder,
            grants: Grants::default(),
            roles: Roles::default(),
            service,
            clock: Clock::system(),
        };
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let catalog = Catalog::start(Arc::clone(&sandbox), store.clone(), options, stopped).await?;
        let agent = identity
            .register(Registration { identity_type: "anonymous", ..Registration::default() })
            .await?;
        let client = Credentials::Secret {
            client_id: agent.client_id.clone(),
            secret: agent.client_secret.clone(),
        };
        let client = identity.authenticate_client(&client).await?;
        let credentials = (agent.client_id, agent.client_secret);
        let token = identity.issue_for_client_credentials(&client, None, None).await?.access_token;
        let resource = Some(identity.mcp_audience());
        let mcp_token =
            identity.issue_for_client_credentials(&client, None, resource).await?.access_token;
        let sms = Sms::new(SmsPort::Outbox(folder.path().join("sms.jsonl")), &public_url)?;
        let events = Events::new(
            store.clone(),
            &public_url,
            outgoing,
            WebhookSettings::default(),
            None,
            stop.subscribe(),
            clock.clone(),
        );
        let about = About {
            public_url: public_url.clone(),
            mcp_url: identity.mcp_audience().to_owned(),
            scopes: Vec::new(),
            provider: Provider::default(),
        };
        let records = RecordsFolder::open(folder.path().join("records"), keys.clone())?;
        let feeds = feeds.unwrap_or_else(|| folder.path().join("feeds"));
        let options = FeedsOptions { folder: feeds, about, records, clock };
        let feeds = Feeds::start(options, stop.subscribe()).await;
        let lookups = Lookups::new(&LookupSettings::default(), &[], &[])?;
        let host = Host::new(
            identity,
            catalog,
            sandbox,
            store,
            events,
            feeds,
            sms,
            lookups,
            rates,
            Clock::system(),
        );
        let app = App::new(host, public_url, Proxies::default(), McpSettings::default());
        let identity = &app.host.identity;
        let caller = identity.authenticate(&token, identity.audience()).await?;
        let native = Router::new()
            .route("/native", post(native))
            .route("/unchecked", post(unchecked).layer(Extension(caller)))
            .with_state(Arc::clone(&app));
        let service = dispatcher(Arc::clone(&app), app.mcp.service(|server| server), native);
        tokio::spawn(accept(listener, service, limits, std::future::pending()));
        if works {
            tokio::spawn(Arc::clone(&app.host).work(stop.subscribe(), Retention::default()));
        }
        Ok(Self { app, address, token, mcp_token, client: credentials, _folder: folder, stop })
    }
}

/// Calls `template_000` without checking a token.
async fn unchecked(
    State(app): State<Arc<App>>,
    Extension(caller): Extension<AgentCaller>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Answer>, Refusal> {
    let body = read_body(&app, &headers, Ok(body));
    let capability = "template_000";
    let call = Call { caller, capability, body, idempotency_key: None, request_id };
    Ok(Json(app.host.call(call).await.outcome?))
}

/// Does what a call of `template_000` does, without a sandbox: the same checks of token, permission and
/// schemas, the same JSON, the same work.
async fn native(
    State(app): State<Arc<App>>,
    Extension(RequestId(request_id)): Extension<RequestId>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Answer>, Refusal> {
    let header = headers.get(AUTHORIZATION).and_then(|value| value.to_str().ok());
    let token =
        header.and_then(|text| text.strip_prefix("Bearer ")).ok_or(IdentityError::NoToken)?;
    let identity = &app.host.identity;
    let caller = identity.authenticate(token, identity.audience()).await?;
    let body = read_body(&app, &headers, Ok(body))?;
    let snapshot = app.host.catalog.snapshot();
    let capability = snapshot.find("template_000", Timestamp::now())?;
    let selected = capability.select(body)?;
    let action = selected.action;
    ensure_permitted(&caller, action.descriptor.access, app.host.catalog.roles())?;
    let input = capability.check_input(selected, None)?;
    let order: Order =
        serde_json::from_value(input.fields).map_err(|_| Failure::new(ErrorCode::InternalError))?;
    let receipt = add_up(order).ok_or(Failure::new(ErrorCode::NotFound))?;
    let result =
        serde_json::to_value(receipt).map_err(|_| Failure::new(ErrorCode::InternalError))?;
    if action.schemas.output.violations(&result).is_some() {
        return Err(Failure::new(ErrorCode::InternalError).into());
    }
    let meta = Meta {
        capability: Arc::clone(&capability.id),
        action: action.descriptor.name.clone(),
        version: capability.descriptor.version.clone(),
        request_id,
        replayed: false,
        test_mode: caller.test_mode,
        cost_credits: action.descriptor.cost_credits,
        would_emit: None,
        dry_run: input.dry_run,
    };
    Ok(Json(Answer { result, meta, next: None }))
}
