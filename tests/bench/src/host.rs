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
use portolan_command::{
    HostResources, OpenHost,
    config::{Config, Flags},
};
use portolan_http::{
    App, Listeners, Refusal, RequestId, Server, Stop, accept, dispatcher, read_body,
};
use portolan_identity::{Credentials, IdentityError, Registration};
use portolan_pipeline::{Answer, Call, Meta, ensure_permitted};
use portolan_sandbox::{Backtraces, Sandbox, SandboxOptions};
use portolan_store::DatabaseUrl;
use portolan_vocabulary::{AgentCaller, Clock, ErrorCode, Failure, Limits, Retention};
use std::{path::PathBuf, sync::Arc, time::Duration};
use tempfile::TempDir;
use template::{Order, add_up};

/// The setup of a host.
pub(crate) struct Setup<'a> {
    /// The components of its catalog.
    pub(crate) guests: &'a [&'a str],
    /// Other files of its catalog: their paths in the folder, and their contents.
    pub(crate) files: &'a [(String, Vec<u8>)],
    pub(crate) limits: Limits,
    pub(crate) rate_limits: bool,
    /// The database; `None` means SQLite in a new folder.
    pub(crate) database: Option<DatabaseUrl>,
    /// Whether the host runs due work: timers, and deliveries of events to capabilities.
    pub(crate) runs_due_work: bool,
    /// The folder of the feeds.
    pub(crate) feeds: Option<PathBuf>,
    /// The collector of traces, of which a tenth are recorded.
    pub(crate) otlp_endpoint: Option<String>,
    /// Whether calls are recorded, as the host does by default.
    pub(crate) records: bool,
}

impl<'a> Setup<'a> {
    pub(crate) fn with(guests: &'a [&'a str]) -> Self {
        // All clients of a benchmark have one address.
        let limits = Limits { connections_per_address: u64::MAX, ..Limits::default() };
        Self {
            guests,
            files: &[],
            limits,
            rate_limits: false,
            database: None,
            runs_due_work: false,
            feeds: None,
            otlp_endpoint: None,
            records: true,
        }
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
    _host: OpenHost,
    folder: TempDir,
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
    /// Replaces a file of the catalog folder by another guest.
    pub(crate) fn install(&self, file: &str, name: &str) -> Result<()> {
        let catalog = self.folder.path().join("catalog");
        let hidden = catalog.join(format!(".{file}"));
        std::fs::write(&hidden, guest(name)?)?;
        Ok(std::fs::rename(hidden, catalog.join(file))?)
    }

    /// Starts a host with these guests in its catalog.
    pub(crate) async fn start(guests: &[&str]) -> Result<Self> {
        Self::of(Setup::with(guests)).await
    }

    pub(crate) async fn of(setup: Setup<'_>) -> Result<Self> {
        let Setup {
            guests,
            files,
            limits,
            rate_limits,
            database,
            runs_due_work,
            feeds,
            otlp_endpoint,
            records,
        } = setup;
        let folder = TempDir::new()?;
        let flags = Flags {
            listen: Some("127.0.0.1:0".to_owned()),
            admin_listen: Some("127.0.0.1:0".to_owned()),
            data_dir: Some(folder.path().join("data")),
            catalog_dir: Some(folder.path().join("catalog")),
            feeds_dir: feeds,
            ..Flags::default()
        };
        let mut config = Config::load(&folder.path().join("portolan.toml"), &flags)?;
        config.limits = limits.clone();
        config.rate_limits = rate_limits;
        config.test_mode = true;
        config.telemetry.otlp_endpoint = otlp_endpoint;
        config.recording.enabled = records;
        if let Some(database) = database {
            config.database_url = database;
        }
        std::fs::create_dir(&config.catalog_dir)?;
        for name in guests {
            std::fs::write(config.catalog_dir.join(format!("{name}.wasm")), guest(name)?)?;
        }
        for (path, content) in files {
            let path = config.catalog_dir.join(path);
            std::fs::create_dir_all(path.parent().context("a path of a file")?)?;
            std::fs::write(path, content)?;
        }
        let sandbox = Arc::new(Sandbox::new(SandboxOptions {
            limits: limits.clone(),
            artifacts: folder.path().join("artifacts"),
            compiler: std::env::current_exe()?,
            backtraces: Backtraces::Names,
            compile_cache: None,
        })?);
        // The routes below are served here, so the host needs no address of its own.
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?.to_string();
        config.public_url = Some(format!("http://{address}"));
        let (stop, stopped) = tokio::sync::watch::channel(false);
        let resources = HostResources {
            listeners: Listeners::open(config.listen, config.admin_listen).await?,
            clock: Clock::system(),
            sandbox,
            trusted: Vec::new(),
            stop: stopped,
        };
        let host = OpenHost::open(&config, resources).await?;
        let app = Arc::clone(host.app());
        let identity = &app.host.identity;
        let agent = identity
            .register(Registration { identity_type: "anonymous", ..Registration::default() })
            .await?;
        let client = Credentials::Secret {
            client_id: agent.client_id.clone(),
            secret: agent.client_secret.clone(),
        };
        let client = identity.authenticate_client(&client, None).await?;
        let credentials = (agent.client_id, agent.client_secret);
        let token = identity.issue_for_client_credentials(&client, None, None).await?.access_token;
        let resource = Some(identity.mcp_audience());
        let mcp_token =
            identity.issue_for_client_credentials(&client, None, resource).await?.access_token;
        let caller = identity.authenticate(&token, identity.audience()).await?;
        let native = Router::new()
            .route("/native", post(native))
            .route("/unchecked", post(unchecked).layer(Extension(caller)))
            .with_state(Arc::clone(&app));
        let server = Server {
            dispatcher: dispatcher(Arc::clone(&app), app.mcp.service(|server| server), native),
            connections: Arc::clone(&app.connections),
            limits,
            tls: None,
            stop: Stop::after(stop.subscribe(), Duration::ZERO),
        };
        tokio::spawn(accept(listener, server));
        if runs_due_work {
            tokio::spawn(
                Arc::clone(&app.host).run_due_work(stop.subscribe(), Retention::default()),
            );
        }
        Ok(Self { app, address, token, mcp_token, client: credentials, _host: host, folder, stop })
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
    let (idempotency_key, by_person, trace) = (None, false, None);
    let call = Call { caller, capability, body, idempotency_key, request_id, by_person, trace };
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
    let capability = snapshot.find("template_000", app.host.clock.now())?;
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
        needs_approval: None,
    };
    Ok(Json(Answer { result, meta, next: None }))
}
