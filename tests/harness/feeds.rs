//! Feeds of an invented city, made once for all tests, other editions of them, and hosts that serve them.

use crate::harness::{Host, Options, binary, command};
use portolan_feeds::{
    Timestamp,
    document::{Documents, INDEX, etag},
    publish::{Press, documents},
    record::FEEDS,
};
use reqwest::{Method, StatusCode, header::HeaderMap};
use serde_json::Value;
use std::{path::Path, sync::OnceLock};
use tempfile::TempDir;

/// What the links in the feeds begin with. Tests ask for what they lead to at the host's own address.
pub const PUBLIC_URL: &str = "https://map.example";

/// Path, operation and media type of each document, as agents know them.
pub const DOCUMENTS: [(&str, &str, &str); 11] = [
    ("/.well-known/agent.json", "getAgentDiscovery", "application/json"),
    ("/map/data/agent-index.json", "getAgentIndex", "application/json"),
    ("/map/data/openapi.json", "getServiceDesc", "application/openapi+json"),
    ("/map/data/sf-live-targets.json", "getTargets", "application/json"),
    ("/map/data/live-signal-feed.json", "getSignalFeed", "application/json"),
    ("/map/data/agent-readable-signals.json", "getAgentSignals", "application/json"),
    ("/map/data/sf-events.json", "getEvents", "application/json"),
    ("/map/data/sf-job-roles.json", "getJobRoles", "application/json"),
    ("/map/data/sf-people.json", "getPeople", "application/json"),
    ("/map/data/public-social-signals.json", "getPublicSocial", "application/json"),
    ("/map/data/hi-handoff-manifest.json", "getHiHandoffs", "application/json"),
];
pub const INDEX_PATH: &str = "/map/data/agent-index.json";

/// The folder of the invented city's feeds.
pub fn city() -> &'static Path {
    static CITY: OnceLock<TempDir> = OnceLock::new();
    let folder = CITY.get_or_init(|| {
        let folder = TempDir::new().unwrap();
        let arguments = ["feeds", "demo", "--public-url", PUBLIC_URL, "--folder", "feeds"];
        let status = command(folder.path()).args(arguments).status().unwrap();
        let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
        assert!(status.success(), "{}: {log}", binary().display());
        folder
    });
    folder.path()
}

/// The documents of the invented city in an edition that differs from the others in each of them.
pub fn edition(license: &str) -> Documents {
    let mut files = documents(&city().join("feeds")).unwrap();
    let relicensed = |bytes: &[u8]| {
        let mut document: Value = serde_json::from_slice(bytes).unwrap();
        document["_meta"]["license"] = license.into();
        document
    };
    let index = files.remove(INDEX).unwrap();
    for bytes in files.values_mut() {
        *bytes = relicensed(bytes).to_string().into_bytes();
    }
    let mut index = relicensed(&index);
    for (at, feed) in FEEDS.iter().enumerate() {
        index["items"][at]["etag"] = etag(&files[feed.file]).into();
        index["items"][at]["bytes"] = files[feed.file].len().into();
    }
    files.insert(INDEX.to_owned(), index.to_string().into_bytes());
    files
}

/// Publishes documents as a build does. The day tells apart what is published.
pub fn publish(folder: &Path, files: &Documents, day: u32) {
    let now: Timestamp = format!("2026-11-{day:02}").parse().unwrap();
    let press = Press::open(folder).unwrap();
    let state = press.published().unwrap_or_default().state;
    press.publish(files, &state, now).unwrap();
}

/// An answer with its bytes as they came.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub bytes: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap()
    }
}

impl Host {
    /// A host that serves the invented city.
    pub async fn with_city() -> Self {
        let folder = city().join("feeds");
        Self::start(Self::serving(&format!("feeds_dir = {folder:?}"))).await
    }

    /// Options of a host to which the links in the feeds lead.
    pub fn serving(configuration: &str) -> Options {
        let public_url = format!("public_url = \"{PUBLIC_URL}\"\n");
        Options::default().configuration(&format!("{public_url}{configuration}"))
    }

    pub async fn ask(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = self.client.request(method, format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        Answer { status, headers, bytes: response.bytes().await.unwrap().to_vec() }
    }

    pub async fn fetch(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.ask(Method::GET, path, headers).await
    }

    /// What the operator is told about the feeds.
    pub async fn feeds_status(&self) -> Value {
        self.operate("/status").await.body["feeds"].take()
    }

    /// Waits until what the operator is told about the feeds is as wanted.
    pub async fn wait_for_feeds(&self, what: &str, wanted: impl Fn(&Value) -> bool) -> Value {
        let started = std::time::Instant::now();
        loop {
            let status = self.feeds_status().await;
            if wanted(&status) {
                return status;
            }
            assert!(started.elapsed() < crate::harness::PATIENCE, "no {what}: {status:#}");
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
    }
}
