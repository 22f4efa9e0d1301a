//! The page of one capability: its versions with the way back, what it reaches, and who reaches it.

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
const MAX_BREAKING: usize = 10;

#[derive(Debug, Deserialize)]
struct History {
    serving: Option<Serving>,
    desired: Option<i64>,
    versions: Vec<Version>,
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
    /// What serves, if anything does.
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
