//! The page of incidents: what the public is told on the status page, with the forms to write it.

use super::{
    figures::moment,
    frame::{Done, Frame, shown},
    state::Console,
    visitor::Visitor,
};
use askama::Template;
use axum::{
    extract::{Query, State},
    response::Response,
};
use portolan_vocabulary::{Failure, INCIDENT_STATES, IncidentState, Timestamp};
use serde::Deserialize;
use std::sync::Arc;

const PAGE: &str = "/console/incidents";
/// The maximum number of incidents that the page shows, the newest first.
const MAX_ROWS: usize = 100;

/// The answer to `GET /incidents`.
#[derive(Debug, Deserialize)]
struct Incidents {
    incidents: Vec<Incident>,
}

#[derive(Debug, Deserialize)]
struct Incident {
    id: String,
    title: String,
    state: IncidentState,
    opened_at: Timestamp,
    maintenance: Option<Maintenance>,
    updates: Vec<Update>,
}

#[derive(Debug, Deserialize)]
struct Maintenance {
    starts_at: Timestamp,
    ends_at: Timestamp,
}

#[derive(Debug, Deserialize)]
struct Update {
    at: Timestamp,
    state: IncidentState,
    text: String,
}

impl Incident {
    fn is_open(&self) -> bool {
        self.state != IncidentState::Resolved
    }
}

#[derive(Template)]
#[template(path = "console/incidents.html")]
struct IncidentsPage {
    frame: Frame,
    incidents: Vec<Incident>,
    /// The names of the states of open incidents, with what people read.
    states: Vec<(&'static str, &'static str)>,
}

pub(super) async fn show(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    Query(done): Query<Done>,
) -> Response {
    let answer: Result<Incidents, Failure> = console.api.get(&visitor.operator, "/incidents").await;
    let open = INCIDENT_STATES.iter().filter(|row| row.state != IncidentState::Resolved);
    shown(answer.map(|Incidents { mut incidents }| {
        incidents.truncate(MAX_ROWS);
        IncidentsPage {
            frame: Frame::new(&console, &visitor, PAGE, &done),
            incidents,
            states: open.map(|row| (row.name, row.title)).collect(),
        }
    }))
}
