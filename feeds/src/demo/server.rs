//! Serves the raw documents of one stage as the vendors would: in pages, compressed, with ETags.

use crate::{document::etag, timestamp::Timestamp};
use axum::{
    Router,
    body::Body,
    extract::State,
    http::{HeaderMap, HeaderName, StatusCode, Uri, header},
    response::Response,
};
use flate2::{Compression, write::GzEncoder};
use serde_json::Value;
use std::{
    collections::BTreeMap,
    io::Write as _,
    net::SocketAddr,
    path::{Component, Path, PathBuf},
    sync::Arc,
};
use tokio::{net::TcpListener, task::JoinHandle};

/// A server of one folder. It stops when this value is dropped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    task: JoinHandle<()>,
}

impl Server {
    /// Returns the value for `{origin}` in the file of sources.
    pub fn origin(&self) -> String {
        format!("http://{}", self.address)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// Serves the documents under `site/` in a stage's folder, on this machine only.
pub async fn serve(stage: &Path) -> std::io::Result<Server> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let router = Router::new().fallback(answer).with_state(Arc::new(stage.join("site")));
    let task = tokio::spawn(async move {
        if let Err(error) = axum::serve(listener, router).await {
            // There is nobody to report the error to; the next request will fail.
            drop(error);
        }
    });
    Ok(Server { address, task })
}

async fn answer(State(site): State<Arc<PathBuf>>, uri: Uri, headers: HeaderMap) -> Response {
    let found = tokio::task::spawn_blocking(move || found(&site, &uri)).await.ok().flatten();
    let Some(body) = found else { return response(StatusCode::NOT_FOUND, &[], Vec::new()) };
    let tag = etag(&body);
    let has = |name: HeaderName, part: &str| {
        headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|text| text.contains(part))
    };
    if has(header::IF_NONE_MATCH, &tag) {
        return response(StatusCode::NOT_MODIFIED, &[(header::ETAG, &tag)], Vec::new());
    }
    let packed = if has(header::ACCEPT_ENCODING, "gzip") { packed(&body) } else { None };
    match packed {
        Some(packed) => response(
            StatusCode::OK,
            &[(header::ETAG, &tag), (header::CONTENT_ENCODING, "gzip")],
            packed,
        ),
        None => response(StatusCode::OK, &[(header::ETAG, &tag)], body),
    }
}

fn response(status: StatusCode, headers: &[(HeaderName, &str)], body: Vec<u8>) -> Response {
    let builder =
        headers.iter().fold(Response::builder().status(status), |builder, (name, value)| {
            builder.header(name, *value)
        });
    builder.body(Body::from(body)).unwrap_or_default()
}

fn packed(body: &[u8]) -> Option<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).ok()?;
    encoder.finish().ok()
}

/// Returns the file at the URL's path; `None` if there is none. If the query has a limit, returns
/// only that page of the file's list.
fn found(site: &Path, uri: &Uri) -> Option<Vec<u8>> {
    let path = Path::new(uri.path().trim_start_matches('/'));
    path.components().all(|component| matches!(component, Component::Normal(_))).then_some(())?;
    let mut file = site.join(path).into_os_string();
    file.push(".json");
    let bytes = std::fs::read(site.join(path)).or_else(|_| std::fs::read(file)).ok()?;
    let asked: BTreeMap<String, usize> =
        url::form_urlencoded::parse(uri.query().unwrap_or_default().as_bytes())
            .filter_map(|(name, value)| Some((name.into_owned(), value.parse().ok()?)))
            .collect();
    let Some(limit) = asked.get("limit") else { return Some(bytes) };
    let first = asked.get("skip").or_else(|| asked.get("offset")).copied().unwrap_or(0);
    let mut document: Value = serde_json::from_slice(&bytes).ok()?;
    let list = match document.get_mut("content") {
        Some(content) => content,
        None => &mut document,
    };
    let page: Vec<Value> = list.as_array()?.iter().skip(first).take(*limit).cloned().collect();
    *list = page.into();
    serde_json::to_vec(&document).ok()
}

/// A stage of the rehearsal: its time, and the folder of its documents.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Stage {
    pub now: Timestamp,
    pub folder: PathBuf,
    /// What people say about companies' hiring at this stage.
    pub statements: Vec<Statement>,
}

/// A statement about a company's hiring, by the company's slug.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Statement {
    pub slug: String,
    pub kind: crate::join::EvidenceKind,
}
