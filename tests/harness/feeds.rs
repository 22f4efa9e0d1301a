//! Feeds of an invented city, made once for all tests, other editions of them, and hosts that serve them.

use crate::harness::{Host, Options, binary, command};
use portolan_feeds::{
    Timestamp,
    changes::Past,
    document::{Documents, INDEX, etag},
    publish::{Press, documents},
    record::FEEDS,
};
use reqwest::{Method, StatusCode, header::HeaderMap};
use serde_json::Value;
use std::{path::Path, sync::OnceLock};
use tempfile::TempDir;

/// The base URL of the links in the feeds. Tests request the paths of the links at
/// the host's own address.
pub const PUBLIC_URL: &str = "https://map.example";

/// The path, the OpenAPI operation and the media type of each document.
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

/// Returns the folder in which the feeds of the invented city are, under `feeds`; the first test
/// builds them.
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

/// The slug of the further city, with which its documents are made.
pub const OTHER_CITY: &str = "oakland";

/// Returns a configuration with the further city, whose feeds are in this folder, behind the other settings.
pub fn with_other_city(settings: &str, folder: &Path) -> String {
    let city = format!("slug = \"{OTHER_CITY}\"\nname = \"Oakland\"\npath = {folder:?}\n");
    format!("{settings}\n[[feeds.cities]]\n{city}")
}

/// Returns the folder in which the feeds of a further city are, under `oakland`, beside the configuration with
/// which the first test builds them.
pub fn other_city() -> &'static Path {
    static CITY: OnceLock<TempDir> = OnceLock::new();
    let folder = CITY.get_or_init(|| {
        let folder = TempDir::new().unwrap();
        let configuration = with_other_city("", Path::new(OTHER_CITY));
        std::fs::write(folder.path().join("portolan.toml"), configuration).unwrap();
        let city = ["--seed", "2", "--city", OTHER_CITY, "--public-url", PUBLIC_URL];
        let status = command(folder.path()).args(["feeds", "demo"]).args(city).status().unwrap();
        let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
        assert!(status.success(), "{log}");
        folder
    });
    folder.path()
}

/// Returns the documents of the invented city with this licence in their metadata, so that each
/// document differs from that of another edition.
pub fn edition(license: &str) -> Documents {
    with_meta("license", &license.into())
}

/// Returns the documents of the invented city with this value in their metadata.
pub fn with_meta(field: &str, value: &Value) -> Documents {
    changed(&city().join("feeds"), field, value)
}

/// Returns the documents in a folder of feeds with this value in their metadata.
pub fn changed(folder: &Path, field: &str, value: &Value) -> Documents {
    let mut files = documents(folder).unwrap();
    let changed = |bytes: &[u8]| {
        let mut document: Value = serde_json::from_slice(bytes).unwrap();
        document["_meta"][field] = value.clone();
        document
    };
    // Parts of feeds are compressed, and have no metadata.
    for (_, bytes) in files.iter_mut().filter(|(name, _)| name.ends_with(".json")) {
        *bytes = changed(bytes).to_string().into_bytes();
    }
    indexed(files)
}

/// Returns documents with an index that names them as they are.
pub fn indexed(mut files: Documents) -> Documents {
    let mut index: Value = serde_json::from_slice(&files[INDEX]).unwrap();
    for (at, feed) in FEEDS.iter().enumerate() {
        index["items"][at]["etag"] = etag(&files[feed.file]).into();
        index["items"][at]["bytes"] = files[feed.file].len().into();
    }
    files.insert(INDEX.to_owned(), index.to_string().into_bytes());
    files
}

/// Returns the metadata of an index. The rest of it changes when it is published, with the cursor of the
/// changes.
pub fn index_meta(index: &[u8]) -> Value {
    let index: Value = serde_json::from_slice(index).unwrap();
    index["_meta"].clone()
}

/// Publishes documents as a build does. Publications with different days have different names.
pub fn publish(folder: &Path, files: &Documents, day: u32) {
    let now: Timestamp = format!("2026-11-{day:02}").parse().unwrap();
    let press = Press::open(folder).unwrap();
    let state = press.published().unwrap_or_default().state;
    press.publish(files, &state, Past::Kept, now).unwrap();
}

/// An answer with the bytes of its body as they were sent.
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
    /// Starts a host that serves the feeds of the invented city.
    pub async fn with_city() -> Self {
        let folder = city().join("feeds");
        Self::start(Self::serving(&format!("feeds_dir = {folder:?}"))).await
    }

    /// Returns options of a host whose public URL is the one in the feeds' links.
    pub fn serving(configuration: &str) -> Options {
        let public_url = format!("public_url = \"{PUBLIC_URL}\"\n");
        Options::default().configuration(&format!("{public_url}{configuration}"))
    }

    pub async fn request(&self, method: Method, path: &str, headers: &[(&str, &str)]) -> Answer {
        let mut request = self.client.request(method, format!("{}{path}", self.url));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let response = request.send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        Answer { status, headers, bytes: response.bytes().await.unwrap().to_vec() }
    }

    pub async fn fetch(&self, path: &str, headers: &[(&str, &str)]) -> Answer {
        self.request(Method::GET, path, headers).await
    }

    /// Returns the operator's view of the feeds.
    pub async fn feeds_status(&self) -> Value {
        self.operate("/status").await.body["feeds"].take()
    }

    /// Waits until the operator's view of the feeds is as wanted, and returns it.
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
