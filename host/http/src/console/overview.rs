//! The first page of the console: what is wrong, each with its fix, and what the node does now.

use super::{
    calls::Calls,
    figures::{grouped, quoted},
    frame::{Done, Frame, rendered, shown},
    state::Console,
    visitor::Visitor,
};
use askama::Template;
use axum::{
    extract::{Query, State},
    response::Response,
};
use portolan_vocabulary::{Failure, Operator};
use serde::Deserialize;
use std::sync::Arc;

/// The maximum number of problems that the page shows.
const MAX_PROBLEMS: usize = 100;

#[derive(Template)]
#[template(path = "console/overview.html")]
struct OverviewPage {
    frame: Frame,
    live: String,
}

#[derive(Template)]
#[template(path = "console/overview_live.html")]
struct OverviewLive {
    problems: Vec<Problem>,
    count: usize,
    status: Status,
    calls: Calls,
}

#[derive(Debug, Deserialize)]
struct Problem {
    part: String,
    severity: String,
    problem: String,
    fix: String,
}

#[derive(Debug, Deserialize)]
struct Problems {
    problems: Vec<Problem>,
}

#[derive(Debug, Deserialize)]
struct Status {
    version: String,
    public_url: String,
    catalog_version: u64,
    capabilities: u64,
    waiting_readers: u64,
    remembered_tokens: u64,
}

impl Problem {
    /// Returns the page of the console that is about the part of the host.
    fn page(&self) -> Option<&'static str> {
        Some(match self.part.as_str() {
            "catalog" => "/console/catalog",
            "documents" | "events" | "webhooks" | "quotas" => "/console/events",
            "feeds" => "/console/feeds",
            "operators" | "messages" => "/console/settings",
            _ => return None,
        })
    }
}

pub(super) async fn show(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    Query(done): Query<Done>,
) -> Response {
    let live = live(&console, &visitor.operator).await;
    let frame = Frame::new(&console, &visitor, "/console", &done);
    shown(live.map(|live| OverviewPage { frame, live }))
}

/// Returns the part of the page that changes.
pub(super) async fn live(console: &Console, operator: &Operator) -> Result<String, Failure> {
    let Problems { mut problems } = console.api.get(operator, "/problems").await?;
    let count = problems.len();
    problems.truncate(MAX_PROBLEMS);
    let status = console.api.get(operator, "/status").await?;
    let calls = console.api.get(operator, "/calls").await?;
    rendered(&OverviewLive { problems, count, status, calls })
}
