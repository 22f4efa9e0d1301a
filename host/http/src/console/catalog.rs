//! The page of the catalog: what serves, what is refused and why, what waits for a decision, and who reaches whom.

use super::{
    figures::{moment, quoted},
    frame::{Done, Frame, shown},
    reach::{Caller, Reach},
    state::Console,
    visitor::Visitor,
};
use askama::Template;
use axum::{
    extract::{Query, State},
    response::Response,
};
use portolan_vocabulary::{Failure, Timestamp};
use serde::Deserialize;
use std::sync::Arc;

/// The maximum number of rows of each list, and of problems of a component.
const MAX_ROWS: usize = 300;
const MAX_PROBLEMS: usize = 20;
const MAX_CHANGES: usize = 20;

/// The answer to `GET /catalog`.
#[derive(Debug, Deserialize)]
pub(super) struct Catalog {
    pub(super) catalog_version: u64,
    pub(super) loaded: Vec<Loaded>,
    pub(super) refused: Vec<Refused>,
    pub(super) roles: Vec<RoleStatus>,
    pub(super) pending: Vec<String>,
    pub(super) migrations: Vec<Migration>,
    pub(super) releases: Vec<Release>,
    pub(super) changes: Vec<Change>,
    pub(super) quotas: Vec<QuotaUse>,
}

/// A capability that serves.
#[derive(Debug, Deserialize)]
pub(super) struct Loaded {
    pub(super) file: String,
    pub(super) id: String,
    pub(super) version: String,
    pub(super) digest: String,
    pub(super) actions: usize,
    pub(super) imports: Vec<String>,
    pub(super) publisher: String,
    pub(super) invokes: Vec<String>,
    pub(super) publishes: Vec<String>,
    pub(super) subscribes: Vec<String>,
    /// The permissions that it needs and does not have.
    #[serde(default)]
    pub(super) missing: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Refused {
    file: String,
    reason: String,
    message: String,
    fix: String,
    #[serde(default)]
    problems: Vec<Problem>,
    decision: Option<PendingDecision>,
    still_serving: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Problem {
    at: String,
    problem: String,
    fix: String,
}

#[derive(Debug, Deserialize)]
struct PendingDecision {
    decision: String,
    id: String,
    digest: String,
    publisher: String,
    permissions: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct RoleStatus {
    pub(super) role: String,
    pub(super) purpose: String,
    pub(super) id: Option<String>,
    /// Why no capability has the role.
    pub(super) vacant: Option<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct Migration {
    id: String,
    collection: String,
    documents: u64,
    migrated: u64,
}

/// A version that a share of callers gets.
#[derive(Debug, Deserialize)]
pub(super) struct Release {
    id: String,
    version: String,
    served_version: String,
    share: u64,
    /// `given`, `loading`, `apart` or `refused`.
    state: String,
}

#[derive(Debug, Deserialize)]
pub(super) struct Change {
    at: Timestamp,
    id: String,
    from: Option<String>,
    to: Option<String>,
    breaking: Vec<String>,
}

#[derive(Debug, Deserialize)]
pub(super) struct QuotaUse {
    pub(super) capability: String,
    pub(super) test_mode: bool,
    pub(super) quota: String,
    pub(super) used: u64,
    pub(super) limit: u64,
}

impl Catalog {
    /// Returns the capabilities that declare to call one with this id, each with the actions that it calls.
    pub(super) fn callers_of(&self, id: &str) -> Vec<(&str, Vec<&str>)> {
        let callers = self.loaded.iter().map(|loaded| {
            let actions = loaded.invokes.iter().filter(|invoked| {
                invoked.rsplit_once('.').is_some_and(|(invoked_id, _)| invoked_id == id)
            });
            (loaded.id.as_str(), actions.map(String::as_str).collect::<Vec<_>>())
        });
        callers.filter(|(_, actions)| !actions.is_empty()).collect()
    }
}

impl Loaded {
    /// Returns whom it may call. All components that nobody has signed count as of one publisher.
    fn caller(&self) -> Caller<'_> {
        let publisher = match self.publisher.starts_with("unsigned:") {
            true => "unsigned",
            false => &self.publisher,
        };
        Caller { id: &self.id, publisher, invokes: &self.invokes }
    }

    /// Returns whether it keeps files that people have uploaded.
    pub(super) fn keeps_files(&self) -> bool {
        self.imports.iter().any(|name| name.contains("/blobs@"))
    }

    /// Returns the ids of the capabilities whose actions it declares to call, each once.
    fn reaches(&self) -> Vec<&str> {
        let ids = self.invokes.iter().filter_map(|invoked| invoked.rsplit_once('.'));
        let mut ids: Vec<&str> = ids.map(|(id, _)| id).collect();
        ids.sort_unstable();
        ids.dedup();
        ids
    }
}

#[derive(Template)]
#[template(path = "console/catalog.html")]
struct CatalogPage {
    frame: Frame,
    catalog: Catalog,
    reach: Reach,
}

pub(super) async fn show(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    Query(done): Query<Done>,
) -> Response {
    let catalog: Result<Catalog, Failure> = console.api.get(&visitor.operator, "/catalog").await;
    shown(catalog.map(|mut catalog| {
        catalog.loaded.truncate(MAX_ROWS);
        catalog.refused.truncate(MAX_ROWS);
        catalog.changes.truncate(MAX_CHANGES);
        for refused in &mut catalog.refused {
            refused.problems.truncate(MAX_PROBLEMS);
        }
        let reach = Reach::of(&catalog.loaded.iter().map(Loaded::caller).collect::<Vec<_>>());
        CatalogPage {
            frame: Frame::new(&console, &visitor, "/console/catalog", &done),
            catalog,
            reach,
        }
    }))
}
