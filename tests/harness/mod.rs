//! Starts hosts, fills their catalogs, and talks to them.

mod agent;
pub mod calendars;
pub mod conversations;
pub mod credits;
pub mod database;
pub mod dns;
pub mod feeds;
pub mod generated;
pub mod inbox;
pub mod invisible;
pub mod listings;
pub mod matching;
pub mod mcp;
pub mod meetings;
pub mod needed;
pub mod next;
pub mod oauth;
pub mod pairings;
pub mod person;
pub mod postgres;
pub mod queries;
pub mod rounds;
pub mod server;
pub mod ties;
pub mod walk;
pub mod webhooks;

pub use agent::{Agent, Reply};
use database::Database;
use portolan_vocabulary::Digest;
use reqwest::{Client, Method};
use serde_json::Value;
use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::OnceLock,
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// How long a test waits for what must happen; far beyond what it takes.
pub const PATIENCE: Duration = Duration::from_secs(60);

pub fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_portolan"))
}

/// The bytes of a fixture guest, an example or a plugin. `describe_x` is the guest
/// `describes_badly` in its mode x.
pub fn component(name: &str) -> Vec<u8> {
    if let Some(mode) = name.strip_prefix("describe_") {
        let mode = format!("mode:{mode:<8}");
        return patched(&component("describes_badly"), &[("mode:loops   ", &mode)]);
    }
    let file = format!("{name}.wasm");
    let folder = guests();
    let mut kinds = ["fixtures", "plugins"].iter();
    let found = kinds.find_map(|kind| std::fs::read(folder.join(kind).join(&file)).ok());
    found.unwrap_or_else(|| panic!("{file} is not in {}", folder.display()))
}

/// The folder of the built guests, which are built once by the first test that asks.
pub fn guests() -> &'static Path {
    static GUESTS: OnceLock<PathBuf> = OnceLock::new();
    GUESTS.get_or_init(|| {
        let folder = binary().parent().unwrap().parent().unwrap().join("guests");
        let built = Command::new(env!("CARGO")).args(["xtask", "fixtures"]).output().unwrap();
        assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
        folder
    })
}

/// Replaces a text in a component by one of the same length.
pub fn patched(component: &[u8], changes: &[(&str, &str)]) -> Vec<u8> {
    let mut bytes = component.to_vec();
    for (from, to) in changes {
        assert_eq!(from.len(), to.len());
        let places: Vec<_> = bytes
            .windows(from.len())
            .enumerate()
            .filter(|(_, it)| *it == from.as_bytes())
            .map(|(at, _)| at)
            .collect();
        assert!(!places.is_empty(), "{from} is not in the component");
        for at in places {
            bytes[at..at + to.len()].copy_from_slice(to.as_bytes());
        }
    }
    bytes
}

/// What a host is started with.
#[derive(Default)]
pub struct Options {
    /// `portolan.toml`.
    pub configuration: String,
    /// Name and content of files that are there before it starts.
    pub components: Vec<(String, Vec<u8>)>,
    /// Beside what every host has.
    pub environment: Vec<(String, String)>,
}

impl Options {
    pub fn with(names: &[&str]) -> Self {
        let components =
            names.iter().map(|name| (format!("{name}.wasm"), component(name))).collect();
        Self { components, ..Self::default() }
    }

    pub fn environment(mut self, name: &str, value: &str) -> Self {
        self.environment.push((name.to_owned(), value.to_owned()));
        self
    }

    pub fn configuration(mut self, text: &str) -> Self {
        text.clone_into(&mut self.configuration);
        self
    }

    /// More settings, which must stand before every table.
    pub fn configuration_too(mut self, text: &str) -> Self {
        self.configuration = format!("{text}\n{}", self.configuration);
        self
    }

    /// Keeps everything in this PostgreSQL.
    pub fn postgres(self, url: &str) -> Self {
        self.configuration_too(&format!("database_url = \"{url}\""))
    }

    /// A folder for a host, with all of this in it.
    pub fn folder(self) -> TempDir {
        let folder = TempDir::new().unwrap();
        let catalog = folder.path().join("catalog");
        std::fs::create_dir(&catalog).unwrap();
        // Tests call more often than people's agents do; what is about limits says so.
        let off =
            if self.configuration.contains("rate_limits") { "" } else { "rate_limits = \"off\"\n" };
        let configuration = format!("{off}{}", self.configuration);
        std::fs::write(folder.path().join("portolan.toml"), configuration).unwrap();
        for (name, bytes) in self.components {
            if bytes.len() > SLOW_TO_COMPILE {
                copy_artifacts(&kept_artifacts(), &artifacts(folder.path()), &bytes);
            }
            std::fs::write(catalog.join(name), bytes).unwrap();
        }
        folder
    }
}

/// Components above this size are compiled by the first host that needs them, for the others too.
const SLOW_TO_COMPILE: usize = 1 << 17;

fn artifacts(folder: &Path) -> PathBuf {
    folder.join("data/artifacts")
}

fn kept_artifacts() -> PathBuf {
    guests().join("artifacts")
}

/// Copies what was compiled of a component, unless it is there already.
fn copy_artifacts(from: &Path, to: &Path, component: &[u8]) {
    let digest = Digest::of(component).hex();
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).into_iter().flatten() {
        let name = entry.unwrap().file_name();
        let target = to.join(&name);
        if name.to_string_lossy().starts_with(&digest) && !target.exists() {
            // Whole or not at all: other tests look at the same time.
            let unfinished = tempfile::NamedTempFile::new_in(to).unwrap();
            std::fs::copy(from.join(&name), unfinished.path()).unwrap();
            unfinished.persist(target).unwrap();
        }
    }
}

/// A running host with a folder and ports of its own; it ends with its test.
pub struct Host {
    pub folder: TempDir,
    pub url: String,
    pub admin_url: String,
    pub client: Client,
    child: Child,
}

impl Host {
    pub async fn with(names: &[&str]) -> Self {
        Self::start(Options::with(names)).await
    }

    pub async fn start(options: Options) -> Self {
        let slow = |(_, bytes): &&(String, Vec<u8>)| bytes.len() > SLOW_TO_COMPILE;
        let slow: Vec<_> = options.components.iter().filter(slow).cloned().collect();
        let environment = options.environment.clone();
        let host = Self::start_with(options.folder(), environment);
        for (_, bytes) in slow {
            copy_artifacts(&artifacts(host.folder.path()), &kept_artifacts(), &bytes);
        }
        host
    }

    /// Starts a host on what is in the folder already.
    pub fn start_in(folder: TempDir) -> Self {
        Self::start_with(folder, Vec::new())
    }

    fn start_with(folder: TempDir, environment: Vec<(String, String)>) -> Self {
        let mut child = command(folder.path())
            .envs(environment)
            .args(["serve", "--listen", "127.0.0.1:0", "--admin-listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut address = |name: &str| {
            lines
                .by_ref()
                .map(|line| line.unwrap())
                .find_map(|line| line.trim().strip_prefix(name).map(|url| url.trim().to_owned()))
                .unwrap_or_else(|| {
                    panic!("the host ended before it was ready: {}", log(folder.path()))
                })
        };
        let (url, admin_url) = (address("agents:"), address("operator:"));
        // Whatever else the host prints must find a reader.
        std::thread::spawn(move || lines.for_each(drop));
        let _chosen = rustls::crypto::ring::default_provider().install_default();
        Self { folder, url, admin_url, client: Client::new(), child }
    }

    pub fn catalog(&self) -> PathBuf {
        self.folder.path().join("catalog")
    }

    pub fn log(&self) -> String {
        log(self.folder.path())
    }

    /// Renames a file into the catalog, as a careful author does.
    pub fn drop_in(&self, name: &str, bytes: &[u8]) {
        let hidden = self.catalog().join(format!(".{name}.new"));
        std::fs::write(&hidden, bytes).unwrap();
        std::fs::rename(hidden, self.catalog().join(name)).unwrap();
    }

    pub fn database(&self) -> Database {
        Database::of(self.folder.path())
    }

    pub fn process_id(&self) -> u32 {
        self.child.id()
    }

    /// A number of `/proc/PID/status`, such as `Threads` or `VmRSS` (KiB).
    pub fn process_status(&self, name: &str) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/status", self.process_id())).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name)).unwrap();
        line.trim_start_matches(':').split_whitespace().next().unwrap().parse().unwrap()
    }

    pub fn signal(&self, name: &str) {
        let sent =
            Command::new("kill").args([format!("-{name}"), self.process_id().to_string()]).status();
        assert!(sent.unwrap().success());
    }

    /// Waits for the process to end and hands its folder on.
    pub fn wait(mut self) -> (std::process::ExitStatus, TempDir) {
        let status = self.child.wait().unwrap();
        let folder = std::mem::replace(&mut self.folder, TempDir::new().unwrap());
        (status, folder)
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

    /// How many readers wait for events.
    pub async fn waiting(&self) -> u64 {
        let ready = self.client.get(format!("{}/readyz", self.admin_url)).send().await.unwrap();
        ready.json::<Value>().await.unwrap()["waiting_readers"].as_u64().unwrap()
    }

    /// What the operator sees of the catalog.
    pub async fn status(&self) -> Value {
        self.client
            .get(format!("{}/catalog", self.admin_url))
            .send()
            .await
            .unwrap()
            .json()
            .await
            .unwrap()
    }

    /// Waits until the operator's view of the catalog is as wanted.
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

    /// Waits until this file is refused, and answers the row.
    pub async fn refusal(&self, file: &str) -> Value {
        let refused = |status: &Value| find(status, "refused", "file", file);
        let what = format!("refusal of {file}");
        refused(&self.wait_for(&what, |status| refused(status).is_some()).await).unwrap()
    }

    /// Waits until this version of a capability serves.
    pub async fn loaded(&self, id: &str, version: &str) {
        let what = format!("{id} {version}");
        self.wait_for(&what, |status| {
            find(status, "loaded", "id", id).is_some_and(|row| row["version"] == version)
        })
        .await;
    }
}

/// What no log may hold: keys, tokens, codes' numbers.
const SECRETS: [&str; 6] = ["svc_ak_", "svc_rat_", "eyJ0eXAi", "+1201555", "+1415555", "whsec_"];

impl Drop for Host {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            let log = self.log();
            let line = log.lines().find(|line| SECRETS.iter().any(|secret| line.contains(secret)));
            assert!(line.is_none(), "a secret is in the log: {line:?}");
        }
        // It may have ended by itself.
        let _ended = self.child.kill();
        let _status = self.child.wait();
    }
}

/// The row of one of the operator's lists.
pub fn find(status: &Value, list: &str, key: &str, value: &str) -> Option<Value> {
    status[list].as_array()?.iter().find(|row| row[key] == value).cloned()
}

fn log(folder: &Path) -> String {
    std::fs::read_to_string(folder.join("log")).unwrap_or_default()
}

/// The binary in a folder, with nothing of the machine's environment.
pub fn command(folder: &Path) -> Command {
    let log =
        std::fs::OpenOptions::new().create(true).append(true).open(folder.join("log")).unwrap();
    let mut command = Command::new(binary());
    command.current_dir(folder).env_clear().env("PATH", std::env::var("PATH").unwrap()).stderr(log);
    command
}

/// Runs them all at once.
pub async fn futures<F: Future>(all: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut all: Vec<_> = all.map(Box::pin).collect();
    let mut done: Vec<Option<F::Output>> = all.iter().map(|_| None).collect();
    std::future::poll_fn(|context| {
        for (future, done) in all.iter_mut().zip(&mut done) {
            if done.is_none()
                && let std::task::Poll::Ready(output) = future.as_mut().poll(context)
            {
                *done = Some(output);
            }
        }
        match done.iter().all(Option::is_some) {
            true => std::task::Poll::Ready(()),
            false => std::task::Poll::Pending,
        }
    })
    .await;
    done.into_iter().flatten().collect()
}
