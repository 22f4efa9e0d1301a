//! The page of one capability: its versions with rollback, and its reach in both directions.

use super::{
    catalog::{Catalog, Loaded, QuotaUse},
    figures::{grouped, moment, percent, quoted},
    frame::{Done, Frame, shown},
    state::Console,
    visitor::Visitor,
};
use askama::Template;
use axum::{
    extract::{Path, Query, State},
    response::Response,
};
use portolan_vocabulary::{ErrorCode, Failure, Timestamp, is_capability_id};
use serde::Deserialize;
use std::sync::Arc;

/// The maximum number of versions that the page shows, and of sentences about one.
const MAX_VERSIONS: usize = 100;
const MAX_RELEASES: usize = 10;
const MAX_BREAKING: usize = 10;

#[derive(Debug, Deserialize)]
struct History {
    serving: Option<Serving>,
    desired: Option<i64>,
    versions: Vec<Version>,
    releases: Vec<Release>,
}

/// A version that was given to a share of callers.
#[derive(Debug, Deserialize)]
struct Release {
    version: String,
    served_version: String,
    share: u64,
    state: String,
    started_at: Timestamp,
    started_by: String,
    ended_at: Option<Timestamp>,
    reason: Option<String>,
    figures: BothFigures,
}

#[derive(Debug, Deserialize)]
struct BothFigures {
    served: Figures,
    canary: Figures,
}

#[derive(Debug, Deserialize)]
struct Figures {
    calls: u64,
    failures: u64,
    refusals: u64,
    median_ms: Option<f64>,
}

impl Figures {
    fn median(&self) -> String {
        self.median_ms.map_or_else(|| "-".to_owned(), |median| format!("{median} ms"))
    }
}

#[derive(Debug, Deserialize)]
struct Serving {
    version: String,
    digest: String,
}

#[derive(Debug, Deserialize)]
struct Version {
    seq: i64,
    version: String,
    digest: String,
    publisher: String,
    bytes: u64,
    arrival: String,
    file: String,
    source: String,
    decided_by: Option<String>,
    at: Timestamp,
    breaking: Vec<String>,
    kept: bool,
}

impl History {
    fn is_serving(&self, version: &Version) -> bool {
        self.serving.as_ref().is_some_and(|serving| serving.digest == version.digest)
    }
}

#[derive(Template)]
#[template(path = "console/capability.html")]
struct CapabilityPage {
    frame: Frame,
    id: String,
    history: History,
    /// The version that serves, if there is one.
    loaded: Option<Loaded>,
    callers: Vec<(String, String)>,
    quotas: Vec<QuotaUse>,
}

pub(super) async fn show(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    Path(id): Path<String>,
    Query(done): Query<Done>,
) -> Response {
    shown(capability_page(&console, &visitor, id, &done).await)
}

async fn capability_page(
    console: &Console,
    visitor: &Visitor,
    id: String,
    done: &Done,
) -> Result<CapabilityPage, Failure> {
    if !is_capability_id(&id) {
        return Err(Failure::new(ErrorCode::NotFound).message("This is no id of a capability."));
    }
    let operator = &visitor.operator;
    let mut history: History = console.api.get(operator, &format!("/catalog/{id}/history")).await?;
    history.versions.truncate(MAX_VERSIONS);
    history.releases.truncate(MAX_RELEASES);
    for version in &mut history.versions {
        version.breaking.truncate(MAX_BREAKING);
    }
    let catalog: Catalog = console.api.get(operator, "/catalog").await?;
    let callers = catalog.callers_of(&id).into_iter();
    let callers =
        callers.map(|(caller, actions)| (caller.to_owned(), actions.join(", "))).collect();
    Ok(CapabilityPage {
        frame: Frame::new(console, visitor, "/console/catalog", done),
        callers,
        quotas: catalog.quotas.into_iter().filter(|quota| quota.capability == id).collect(),
        loaded: catalog.loaded.into_iter().find(|loaded| loaded.id == id),
        history,
        id,
    })
}
