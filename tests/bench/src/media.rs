//! People's files compared with nginx, which serves the same bytes.

use crate::{
    Effort,
    client::{Client, text},
    host::{BenchHost, Setup},
    nginx::{Nginx, compare},
    report::Report,
};
use anyhow::{Context as _, Result, ensure};
use serde_json::json;
use std::{
    fs,
    time::{Duration, Instant},
};

const CAPABILITY: &str = "media";
const GUESTS: [&str; 10] = [
    "agent_listings",
    "content_render",
    "listing_taxonomy",
    CAPABILITY,
    "owners",
    "reports",
    "social_org",
    "social_permissions",
    "social_relationships",
    "svc_phone_binding",
];
const SMALL: usize = 40_000;
const LARGE: usize = 5_000_000;

pub(crate) async fn measure(effort: &Effort, report: &mut Report) -> Result<()> {
    let host = BenchHost::of(Setup { runs_due_work: true, ..Setup::with(&GUESTS) }).await?;
    let folder = tempfile::tempdir()?;
    let mut person = Client::claimed(&host).await?;
    let (small, large) =
        (upload(&host, &mut person, SMALL).await?, upload(&host, &mut person, LARGE).await?);
    for (path, bytes) in [(&small, SMALL), (&large, LARGE)] {
        // Its signature is in the query.
        let file = path.split('?').next().unwrap_or(path);
        let file = folder.path().join(file.trim_start_matches('/'));
        fs::create_dir_all(file.parent().unwrap_or(folder.path()))?;
        fs::write(file, document(bytes))?;
    }
    let nginx = Nginx::start(folder.path()).await?;
    let cases = [
        ("a document of 40 KB", &small, ""),
        ("a document of 5 MB", &large, ""),
        ("64 KB of 5 MB", &large, "range: bytes=1000000-1065535\r\n"),
    ];
    for (name, path, fields) in cases {
        let request = format!("GET {path} HTTP/1.1\r\nhost: x\r\n{fields}\r\n");
        let case = format!("media, {name}");
        compare(&host, &nginx, &case, [&request, &request], effort, report).await?;
    }
    Ok(())
}

/// Returns a PDF file of this size.
fn document(bytes: usize) -> String {
    let head = "%PDF-1.7\n%";
    format!(
        "{head}{}",
        "0123456789abcdef".repeat(bytes / 16 + 1).get(..bytes - head.len()).unwrap_or_default()
    )
}

/// Uploads a document of this size, waits until it can be read, and returns its path.
async fn upload(host: &BenchHost, person: &mut Client, bytes: usize) -> Result<String> {
    let create = json!({ "action": "create", "kind": "document", "bytes": bytes, "title": bytes.to_string() });
    let begun = person.result(CAPABILITY, &create).await?;
    let path_of = |url: &str| {
        let path = url.strip_prefix(&format!("http://{}", host.address)).map(str::to_owned);
        path.with_context(|| format!("{url} is no address of this host"))
    };
    let path = path_of(text(&begun, "/upload/url"))?;
    let body = document(bytes);
    let request =
        format!("PUT {path} HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    let sent = person.send(&request).await?;
    ensure!(sent.status == 201, "{} {}", sent.status, sent.body);
    let get = json!({ "action": "get", "media_id": text(&begun, "/media_id") });
    let started = Instant::now();
    loop {
        let media = person.result(CAPABILITY, &get).await?;
        if text(&media, "/state") == "ready" {
            return path_of(text(&media, "/url"));
        }
        ensure!(started.elapsed() < crate::PATIENCE, "it is not processed: {media:#}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}
