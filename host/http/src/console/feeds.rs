//! The page of the feeds of each city: the publication in force, the sources, and what the build has left out.

use super::{
    figures::{grouped, moment, quoted},
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
use serde_json::Value;
use std::sync::Arc;

/// The maximum number of left out records and of faults that the page shows.
const MAX_ROWS: usize = 100;

#[derive(Debug, Deserialize)]
struct Cities {
    cities: Vec<City>,
}

#[derive(Debug, Deserialize)]
struct City {
    /// `None` for the first city.
    city: Option<String>,
    source_count: usize,
    sources: Vec<Source>,
    status: Status,
}

#[derive(Debug, Deserialize)]
struct Source {
    id: String,
    checked_at: Option<Timestamp>,
    failing_since: Option<Timestamp>,
    record_count: u64,
}

#[derive(Debug, Deserialize)]
struct Status {
    in_force: Option<InForce>,
    refused: Option<RefusedPublication>,
}

#[derive(Debug, Deserialize)]
struct InForce {
    name: String,
    generated_at: Timestamp,
    quarantined_count: u64,
    quarantined: Vec<Value>,
}

#[derive(Debug, Deserialize)]
struct RefusedPublication {
    name: String,
    count: u64,
    faults: Vec<String>,
}

impl City {
    fn failing(&self) -> usize {
        self.sources.iter().filter(|source| source.failing_since.is_some()).count()
    }
}

impl InForce {
    /// Returns a line for each record that was left out: its fields, as the build names them.
    fn left_out(&self) -> Vec<String> {
        let line = |record: &Value| {
            let fields = record.as_object().into_iter().flatten();
            let fields = fields.filter_map(|(name, value)| match value {
                Value::Null => None,
                Value::String(text) => Some(format!("{name}: {text}")),
                other => Some(format!("{name}: {other}")),
            });
            quoted(&fields.collect::<Vec<_>>().join(", "))
        };
        self.quarantined.iter().take(MAX_ROWS).map(line).collect()
    }
}

#[derive(Template)]
#[template(path = "console/feeds.html")]
struct FeedsPage {
    frame: Frame,
    cities: Vec<City>,
}

pub(super) async fn show(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    Query(done): Query<Done>,
) -> Response {
    let cities: Result<Cities, Failure> = console.api.get(&visitor.operator, "/sources").await;
    let frame = Frame::new(&console, &visitor, "/console/feeds", &done);
    shown(cities.map(|Cities { mut cities }| {
        for refused in cities.iter_mut().filter_map(|city| city.status.refused.as_mut()) {
            refused.faults.truncate(MAX_ROWS);
        }
        FeedsPage { frame, cities }
    }))
}
