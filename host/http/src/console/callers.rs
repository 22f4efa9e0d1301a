//! The page of the busiest callers: agents, addresses and networks, with what they cost and how often they were
//! refused.

use super::{
    figures::{grouped, percent, quoted},
    frame::{Done, Frame, shown},
    state::Console,
    visitor::Visitor,
};
use askama::Template;
use axum::{
    extract::{Query, State},
    response::Response,
};
use portolan_vocabulary::Failure;
use serde::Deserialize;
use std::sync::Arc;

/// The answer to `GET /callers`.
#[derive(Debug, Deserialize)]
struct Callers {
    /// Whether there are limits, without which nothing is counted.
    limited: bool,
    accounts: Vec<Account>,
}

#[derive(Debug, Deserialize)]
struct Account {
    account: String,
    kind: String,
    refused: u64,
    rates: Vec<Rate>,
}

#[derive(Debug, Deserialize)]
struct Rate {
    limit: String,
    used: u64,
    allowed: u64,
    window_s: u64,
    refused: u64,
}

impl Account {
    fn is_agent(&self) -> bool {
        self.account.starts_with("agt_")
    }

    /// Returns the filter of the audit log for what an agent or a person has done.
    fn audit_filter(&self) -> Option<&'static str> {
        match self.account.split_once('_').map(|(prefix, _)| prefix) {
            Some("agt") => Some("agent_id"),
            Some("own") => Some("owner_id"),
            _ => None,
        }
    }
}

#[derive(Template)]
#[template(path = "console/callers.html")]
struct CallersPage {
    frame: Frame,
    callers: Callers,
}

pub(super) async fn show(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    Query(done): Query<Done>,
) -> Response {
    let callers: Result<Callers, Failure> = console.api.get(&visitor.operator, "/callers").await;
    let frame = Frame::new(&console, &visitor, "/console/callers", &done);
    shown(callers.map(|callers| CallersPage { frame, callers }))
}
