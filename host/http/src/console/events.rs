//! The page of waiting and failed work: timers, dead letters, webhooks, documents in quarantine, quotas.

use super::{
    catalog::{Catalog, QuotaUse},
    figures::{grouped, moment, percent, quoted},
    frame::{Done, Frame, shown},
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
use std::{cmp::Reverse, sync::Arc};

/// The maximum number of rows of each list.
const MAX_ROWS: usize = 100;

#[derive(Debug, Deserialize)]
struct Timers {
    timers: Vec<Timer>,
}

#[derive(Debug, Deserialize)]
struct Timer {
    capability: String,
    action: String,
    pending: u64,
    due: u64,
    next_due_at: Timestamp,
}

#[derive(Debug, Deserialize)]
struct DeadLetters {
    dead_letters: Vec<DeadLetter>,
    /// The cursor of the next page.
    after: Option<i64>,
}

#[derive(Debug, Deserialize)]
struct DeadLetter {
    id: i64,
    capability: String,
    action: String,
    attempts: u64,
    last_error: String,
    event_type: String,
    occurred_at: Timestamp,
}

#[derive(Debug, Deserialize)]
struct Webhooks {
    failing: Vec<Webhook>,
}

#[derive(Debug, Deserialize)]
struct Webhook {
    id: String,
    agent_id: String,
    state: String,
    failing_since: Option<Timestamp>,
    last_error: Option<String>,
}

#[derive(Debug, Deserialize)]
struct Documents {
    documents: Vec<Document>,
}

#[derive(Debug, Deserialize)]
struct Document {
    capability: String,
    test_mode: bool,
    collection: String,
    id: String,
    reason: String,
    quarantined_at: Timestamp,
}

/// The query: a decision that has been made, and where the dead letters begin.
#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    #[serde(flatten)]
    done: Done,
    after: Option<String>,
}

#[derive(Template)]
#[template(path = "console/events.html")]
struct EventsPage {
    frame: Frame,
    timers: Vec<Timer>,
    /// `None` if the role of the operator is too small.
    letters: Option<DeadLetters>,
    webhooks: Vec<Webhook>,
    documents: Option<Vec<Document>>,
    quotas: Vec<QuotaUse>,
}

pub(super) async fn show(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    Query(asked): Query<Asked>,
) -> Response {
    shown(events_page(&console, &visitor, asked).await)
}

async fn events_page(
    console: &Console,
    visitor: &Visitor,
    Asked { done, after }: Asked,
) -> Result<EventsPage, Failure> {
    let (api, operator) = (&console.api, &visitor.operator);
    let Timers { mut timers } = api.get(operator, "/timers").await?;
    timers.sort_by_key(|timer| Reverse(timer.pending));
    timers.truncate(MAX_ROWS);
    let after = after.and_then(|text| text.parse::<i64>().ok()).unwrap_or(0);
    let path = format!("/dead-letters?limit={MAX_ROWS}&after={after}");
    let letters = api.get_permitted(operator, &path).await?;
    let Webhooks { failing } = api.get(operator, "/webhooks").await?;
    let documents: Option<Documents> = api.get_permitted(operator, "/documents").await?;
    let Catalog { mut quotas, .. } = api.get(operator, "/catalog").await?;
    quotas.sort_by_key(|quota| Reverse(percent(quota.used, quota.limit)));
    quotas.truncate(MAX_ROWS);
    Ok(EventsPage {
        frame: Frame::new(console, visitor, "/console/events", &done),
        timers,
        letters,
        webhooks: failing,
        documents: documents.map(|Documents { mut documents }| {
            documents.truncate(MAX_ROWS);
            documents
        }),
        quotas,
    })
}
