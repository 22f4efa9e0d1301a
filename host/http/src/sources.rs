//! `GET /sources` for the operator: the sources of the published feeds of each city, and the records that the
//! build has left out.

use crate::App;
use axum::{Json, extract::State};
use portolan_publication::Feeds;
use portolan_vocabulary::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// The maximum number of sources of a city in an answer. Those that fail come first.
const MAX_SOURCES: usize = 500;

/// A source as the index of the feeds has it.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Source {
    id: String,
    /// When it was last read without an error.
    checked_at: Option<Timestamp>,
    /// Since when it cannot be read.
    pub(super) failing_since: Option<Timestamp>,
    record_count: usize,
}

/// The part of the index that has the sources.
#[derive(Debug, Default, Deserialize)]
struct Index {
    #[serde(default)]
    sources: Vec<Source>,
}

/// Returns the sources of a city, those that fail the longest first.
pub(super) fn sources_of(feeds: &Feeds) -> Vec<Source> {
    let current = feeds.current();
    let document =
        current.as_ref().and_then(|publication| publication.document(&feeds.index_path()));
    let index = document.map(|document| serde_json::from_slice(&document.plain().bytes));
    let Index { mut sources } = index.and_then(Result::ok).unwrap_or_default();
    sources.sort_by_key(|source| (source.failing_since.is_none(), source.failing_since));
    sources
}

pub(super) async fn sources(State(app): State<Arc<App>>) -> Json<Value> {
    let city = |feeds: &Arc<Feeds>| {
        let mut sources = sources_of(feeds);
        let (count, status) = (sources.len(), feeds.status());
        sources.truncate(MAX_SOURCES);
        json!({
            "city": feeds.roads().city(),
            "source_count": count,
            "sources": sources,
            "status": status,
        })
    };
    Json(json!({ "cities": app.host.cities().map(city).collect::<Vec<_>>() }))
}
