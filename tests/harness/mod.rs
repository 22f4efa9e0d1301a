//! Starts hosts, fills their catalogs, and talks to them.

mod agent;
pub mod approvals;
pub mod arrivals;
pub mod calendar_server;
pub mod calendars;
pub mod canaries;
pub mod canary_people;
pub mod cluster;
pub mod collector;
pub mod component_sets;
pub mod console;
pub mod conversations;
pub mod credits;
pub mod disclosures;
pub mod disk;
pub mod database;
pub mod delivery_model;
pub mod delivery_walk;
pub mod dns;
pub mod feeds;
pub mod generated;
pub mod hostile;
mod in_process;
pub mod inbox;
pub mod listings;
pub mod long_form;
pub mod matching;
pub mod mcp;
pub mod media;
pub mod meetings;
pub mod next_steps;
pub mod oauth;
pub mod operators;
pub mod options;
pub mod pairings;
pub mod passkeys;
pub mod person;
pub mod pooler;
pub mod postgres;
pub mod process;
pub mod proxy;
pub mod publishing;
pub mod queries;
pub mod registry;
pub mod relationships;
pub mod releases;
pub mod rounds;
pub mod server;
pub mod smtp;
pub mod time;
mod tokens;
pub mod transfer_checks;
pub mod transfers;
pub mod visibility;
pub mod walk;
pub mod walk_office;
pub mod walk_preferences;
pub mod webhooks;

pub use agent::{Agent, Reply};
pub use options::{Options, binary, component, guests, patched, template_copies, unsigned};
pub use process::{Process, command};

use database::Database;
use in_process::InProcessHost;
use portolan_http::TOKEN_FILE;
use portolan_outgoing::Certificate;
use portolan_vocabulary::Clock;
use reqwest::{
    Client, Method,
    header::{AUTHORIZATION, HeaderMap, HeaderValue},
};
use serde_json::Value;
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tempfile::TempDir;
use tokens::Tokens;

/// How long a test waits for what must happen before it fails. Nothing takes nearly as long.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// A running host with a folder and ports of its own; it ends when this is dropped.
pub struct Host {
    pub folder: TempDir,
    pub url: String,
    pub admin_url: String,
    pub client: Client,
    /// A client with the operator's token.
    pub operator: Client,
    /// The host's clock, if it runs within this process; otherwise the system's.
    pub clock: Clock,
    tokens: Tokens,
    in_process: Option<InProcessHost>,
}

impl Host {
    /// Starts a host with these components within this process.
    pub async fn with(names: &[&str]) -> Self {
        Self::start(Options::with(names)).await
    }

    /// Starts a host within this process.
    pub async fn start(options: Options) -> Self {
        let read = |file: &PathBuf| Certificate::from_pem(&std::fs::read(file).unwrap()).unwrap();
        let trusted = options.trusted.iter().map(read).collect();
        Self::start_at(options.folder(), Clock::system(), trusted).await
    }

    /// Starts a host within this process at a time that passes only when the test advances it.
    pub async fn start_at_fixed_time(options: Options) -> Self {
        let clock = Clock::fixed_at(Clock::system().now());
        Self::start_at(options.folder(), clock, Vec::new()).await
    }

    /// Starts a host within this process on a machine whose clock is ahead by this much.
    pub async fn start_ahead(options: Options, time: Duration) -> Self {
        Self::start_at(options.folder(), Clock::ahead_by(time), Vec::new()).await
    }

    /// Starts a host within this process on what is in the folder already.
    pub async fn start_in(folder: TempDir) -> Self {
        Self::start_at(folder, Clock::system(), Vec::new()).await
    }

    async fn start_at(folder: TempDir, clock: Clock, trusted: Vec<Certificate>) -> Self {
        let in_process = InProcessHost::start(folder.path(), clock.clone(), trusted).await;
        let [url, admin_url] =
            [in_process.public, in_process.admin].map(|at| format!("http://{at}"));
        let mut host = Self::at_addresses(folder, url, admin_url);
        host.clock = clock;
        host.in_process = Some(in_process);
        host
    }

    /// Returns a host in a process of its own, which is reached at these addresses.
    fn at_addresses(folder: TempDir, url: String, admin_url: String) -> Self {
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        let client = Client::new();
        let operator = operator(folder.path());
        let (clock, tokens) = (Clock::system(), Tokens::default());
        Self { folder, url, admin_url, client, operator, clock, tokens, in_process: None }
    }

    fn take_folder(mut self) -> TempDir {
        self.ensure_no_secret_in_log();
        std::mem::replace(&mut self.folder, TempDir::new().unwrap())
    }

    pub fn catalog(&self) -> PathBuf {
        self.folder.path().join("catalog")
    }

    pub fn log(&self) -> String {
        std::fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    /// Renames a file into the catalog folder, so that the host sees only the whole file.
    pub fn drop_in(&self, name: &str, bytes: &[u8]) {
        let hidden = self.catalog().join(format!(".{name}.new"));
        std::fs::write(&hidden, bytes).unwrap();
        std::fs::rename(hidden, self.catalog().join(name)).unwrap();
    }

    pub fn database(&self) -> Database {
        Database::of(self.folder.path())
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.send(Method::GET, path, &[], None).await
    }

    pub async fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<String>,
    ) -> Reply {
        let mut request = self.client.request(method, format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(body) = body {
            request = request.body(body);
        }
        Reply::read(request.send().await.unwrap()).await
    }

    /// Returns the number of readers that wait for events.
    pub async fn waiting_readers(&self) -> u64 {
        self.operate("/status").await.body["waiting_readers"].as_u64().unwrap()
    }

    /// Returns the operator's view of the catalog.
    pub async fn status(&self) -> Value {
        self.operate("/catalog").await.body
    }

    /// Sends a GET request for a path at the operator's address.
    pub async fn operate(&self, path: &str) -> Reply {
        let url = format!("{}{path}", self.admin_url);
        Reply::read(self.operator.get(url).send().await.unwrap()).await
    }

    /// Returns the value of a metric; the name includes the labels, if it has some.
    pub async fn metric(&self, name: &str) -> u64 {
        let text = self.operate("/metrics").await.text;
        let mut values = text.lines().filter_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        let value = values.next().unwrap_or_else(|| panic!("{name} is not in {text}"));
        value.parse::<f64>().unwrap() as u64
    }

    /// Decides about a component as the operator, with `approve`, `adopt` or `rollback`.
    pub async fn decide(&self, id: &str, decision: &str) -> Value {
        let url = format!("{}/catalog/{id}/{decision}", self.admin_url);
        let reply = Reply::read(self.operator.post(url).send().await.unwrap()).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        reply.body
    }

    /// Waits until the operator's view of the catalog is as wanted, and returns it.
    pub async fn wait_for(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let started = Instant::now();
        loop {
            let status = self.status().await;
            if wanted(&status) {
                return status;
            }
            assert!(started.elapsed() < PATIENCE, "no {what}: {status:#}");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    /// Waits until this file is refused, and returns its row in the list of refused files.
    pub async fn wait_for_refusal(&self, file: &str) -> Value {
        let refused = |status: &Value| find_row(status, "refused", "file", file);
        let what = format!("refusal of {file}");
        refused(&self.wait_for(&what, |status| refused(status).is_some()).await).unwrap()
    }

    /// Waits until documents are migrated to this version of a capability; false if that has ended before it
    /// was seen.
    pub async fn sees_migration(&self, id: &str, version: &str) -> bool {
        let serves = |status: &Value| {
            find_row(status, "loaded", "id", id).is_some_and(|row| row["version"] == version)
        };
        let begun = |status: &Value| {
            let migrations = status["migrations"].as_array().unwrap();
            migrations.iter().any(|row| row["migrated"].as_u64() > Some(0))
        };
        begun(&self.wait_for("a migrated document", |status| begun(status) || serves(status)).await)
    }

    /// Waits until this version of a capability serves.
    pub async fn wait_for_version(&self, id: &str, version: &str) {
        let what = format!("{id} {version}");
        self.wait_for(&what, |status| {
            find_row(status, "loaded", "id", id).is_some_and(|row| row["version"] == version)
        })
        .await;
    }
}

/// Beginnings of texts that no log may have: of keys, of tokens, and of phone numbers.
const SECRETS: [&str; 7] =
    ["ptl_op_", "svc_ak_", "svc_rat_", "eyJ0eXAi", "+1201555", "+1415555", "whsec_"];

impl Host {
    fn ensure_no_secret_in_log(&self) {
        let log = self.log();
        let line = log.lines().find(|line| SECRETS.iter().any(|secret| line.contains(secret)));
        assert!(line.is_none(), "a secret is in the log: {line:?}");
    }
}

impl Drop for Host {
    fn drop(&mut self) {
        self.in_process = None;
        if !std::thread::panicking() {
            self.ensure_no_secret_in_log();
        }
    }
}

/// Returns a client with the operator's token of the host in this folder.
fn operator(folder: &Path) -> Client {
    let token = std::fs::read_to_string(folder.join("data").join(TOKEN_FILE)).unwrap_or_default();
    let header = HeaderValue::from_str(&format!("Bearer {}", token.trim())).unwrap();
    let headers = HeaderMap::from_iter([(AUTHORIZATION, header)]);
    Client::builder().default_headers(headers).build().unwrap()
}

/// Returns the first row of one of the operator's lists in which `key` has this value.
pub fn find_row(status: &Value, list: &str, key: &str, value: &str) -> Option<Value> {
    status[list].as_array()?.iter().find(|row| row[key] == value).cloned()
}

/// Runs the futures concurrently and returns their outputs in the same order.
pub async fn join_all<F: Future>(all: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<_> = all.map(Box::pin).collect();
    let mut outputs: Vec<Option<F::Output>> = all.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, slot) in all.iter_mut().zip(&mut outputs) {
            if slot.is_none()
                && let std::task::Poll::Ready(output) = future.as_mut().poll(context)
            {
                *slot = Some(output);
            }
        }
        match outputs.iter().all(Option::is_some) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    outputs.into_iter().flatten().collect()
}
