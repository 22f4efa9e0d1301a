//! People's files: begun, uploaded, broken off and read.

use crate::harness::{
    Host, Options, PATIENCE, Reply, listings::action_body, relationships::Person,
};
use serde_json::{Value, json};
use std::{
    path::{Path, PathBuf},
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

pub const MEDIA: &str = "media";
pub const NAMES: [&str; 10] = [
    "agent_listings",
    "content_render",
    "listing_taxonomy",
    MEDIA,
    "owners",
    "reports",
    "social_org",
    "social_permissions",
    "social_relationships",
    "svc_phone_binding",
];
/// Decoding takes longer while other tests run.
pub const SLOW: &str = "[limits]\ncall_wall_time_ms = 30000\n";

pub fn options() -> Options {
    Options::with(&NAMES).configuration(SLOW)
}

/// Returns a file of the corpus.
pub fn file(name: &str) -> Vec<u8> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/corpora/media");
    std::fs::read(folder.join(name)).unwrap()
}

/// Returns the files in which the host keeps contents, and those that arrive.
pub fn contents(host: &Host) -> Vec<PathBuf> {
    files_in(&host.folder.path().join("data/media"))
}

pub fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let (folders, mut files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    files.retain(|path| !path.ends_with("owner"));
    files.extend(folders.iter().flat_map(|folder| files_in(folder)));
    files
}

impl Person<'_> {
    pub async fn call_media(&self, action: &str, fields: Value) -> Reply {
        self.agent().call(MEDIA, action_body(action, &fields)).await
    }

    pub async fn media(&self, action: &str, fields: Value) -> Value {
        self.agent().result(MEDIA, action_body(action, &fields)).await
    }

    /// Begins a file, and returns the file with the address for its bytes.
    pub async fn begin_upload(&self, kind: &str, bytes: usize, more: Value) -> Value {
        let mut fields = json!({ "kind": kind, "bytes": bytes, "title": "A room with a desk" });
        fields.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        self.media("create", fields).await
    }

    /// Uploads a file, and returns what became of it.
    pub async fn upload(&self, host: &Host, kind: &str, bytes: Vec<u8>, more: Value) -> Value {
        let begun = self.begin_upload(kind, bytes.len(), more).await;
        let sent = put(host, &begun, bytes).await;
        assert_eq!(sent.status, 201, "{}", sent.text);
        self.processed(&begun["media_id"]).await
    }

    /// Waits until a file is neither uploaded nor processed any more.
    pub async fn processed(&self, media_id: &Value) -> Value {
        let started = Instant::now();
        loop {
            let media = self.media("get", json!({ "media_id": media_id })).await;
            if !["uploading", "processing"].iter().any(|state| media["state"] == *state) {
                return media;
            }
            assert!(started.elapsed() < PATIENCE, "it is not processed: {media:#}");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    pub async fn media_events(&self) -> Vec<String> {
        let page = self.reader.page("wait=0&cursor=0&limit=100").await;
        let types = page["events"].as_array().unwrap().iter();
        let types = types.map(|event| event["type"].as_str().unwrap().to_owned());
        types.filter(|name| name.starts_with("media.")).collect()
    }
}

/// Sends the bytes of a file that was begun.
pub async fn put(host: &Host, begun: &Value, bytes: Vec<u8>) -> Reply {
    let url = begun["upload"]["url"].as_str().unwrap();
    Reply::read(host.client.put(url).body(bytes).send().await.unwrap()).await
}

/// Sends the bytes without saying how many they are, and returns the answer.
pub async fn put_in_chunks(host: &Host, begun: &Value, bytes: &[u8]) -> String {
    let head = format!("transfer-encoding: chunked\r\n\r\n{:x}\r\n", bytes.len());
    exchange(host, begun, &[head.as_bytes(), bytes, b"\r\n0\r\n\r\n"].concat()).await
}

/// Sends the bytes of a file as soon as the host does not receive it any more.
pub async fn put_when_free(host: &Host, begun: &Value, bytes: Vec<u8>) -> Reply {
    let started = Instant::now();
    loop {
        let sent = put(host, begun, bytes.clone()).await;
        if sent.status != 503 || started.elapsed() > PATIENCE {
            return sent;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Waits until the host keeps nothing of what it has begun to receive.
pub async fn wait_until_empty(host: &Host) {
    let started = Instant::now();
    while !contents(host).is_empty() {
        assert!(started.elapsed() < PATIENCE, "{:?}", contents(host));
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// Sends half of the bytes and ends the connection; returns what the host answers before.
pub async fn break_off(host: &Host, begun: &Value, bytes: &[u8]) -> String {
    let head = format!("content-length: {}\r\n\r\n", bytes.len());
    exchange(host, begun, &[head.as_bytes(), &bytes[..bytes.len() / 2]].concat()).await
}

async fn exchange(host: &Host, begun: &Value, rest: &[u8]) -> String {
    let (url, address) =
        (begun["upload"]["url"].as_str().unwrap(), host.url.strip_prefix("http://").unwrap());
    let path = url.strip_prefix(&host.url).unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = format!("PUT {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n");
    stream.write_all(&[head.as_bytes(), rest].concat()).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = Vec::new();
    // The host may end the connection without an answer.
    let _end = stream.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

/// Reads the file at an address.
pub async fn read(host: &Host, url: &Value) -> reqwest::Response {
    host.client.get(url.as_str().unwrap()).send().await.unwrap()
}

pub fn header<'a>(response: &'a reqwest::Response, name: &str) -> &'a str {
    response.headers().get(name).map_or("", |value| value.to_str().unwrap())
}

pub fn contains(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}
