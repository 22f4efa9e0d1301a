//! The page of the calls of the last minutes: how many, how long, and how they ended.

use super::{
    figures::{grouped, moment, percent, quoted},
    frame::{Done, Frame, rendered, shown},
    state::Console,
    visitor::Visitor,
};
use askama::Template;
use axum::{
    extract::{Query, State},
    response::Response,
};
use portolan_vocabulary::{Failure, Operator, Timestamp};
use serde::Deserialize;
use std::sync::Arc;

/// The maximum number of actions and of error codes that the page shows.
const MAX_ROWS: usize = 100;
/// The height of the chart, and the width of one of its bars with the space around it.
const CHART: (u64, usize) = (60, 20);

/// The answer to `GET /calls`.
#[derive(Debug, Deserialize)]
pub(super) struct Calls {
    minutes: Vec<Minute>,
    actions: Vec<Action>,
    refusals: Vec<CodeCount>,
}

#[derive(Debug, Deserialize)]
struct Minute {
    at: Timestamp,
    calls: u64,
    failed: u64,
}

#[derive(Debug, Deserialize)]
struct Action {
    capability: String,
    action: String,
    calls: u64,
    failed: u64,
    p50_ms: f64,
    p99_ms: f64,
    longest_ms: f64,
    codes: Vec<CodeCount>,
}

#[derive(Debug, Deserialize)]
struct CodeCount {
    code: String,
    count: u64,
}

/// A bar of the chart.
struct Bar {
    x: usize,
    y: u64,
    height: u64,
    failed_y: u64,
    failed_height: u64,
}

impl Calls {
    pub(super) fn count(&self) -> u64 {
        self.minutes.iter().map(|minute| minute.calls).sum()
    }

    pub(super) fn failed(&self) -> u64 {
        self.minutes.iter().map(|minute| minute.failed).sum()
    }

    /// Returns the calls of the last minute that is over.
    pub(super) fn last_minute(&self) -> u64 {
        self.minutes.iter().rev().nth(1).map_or(0, |minute| minute.calls)
    }

    pub(super) fn failed_percent(&self) -> u64 {
        percent(self.failed(), self.count())
    }

    /// Returns the name of the slowest action with the time that 99 of 100 of its runs needed at most.
    pub(super) fn slowest(&self) -> Option<(String, f64)> {
        let slowest = self.actions.first()?;
        Some((format!("{}.{}", slowest.capability, slowest.action), slowest.p99_ms))
    }

    fn bars(&self) -> Vec<Bar> {
        let (height, width) = CHART;
        let most = self.minutes.iter().map(|minute| minute.calls).max().unwrap_or(0);
        let scaled = |count: u64| percent(count, most) * height / 100;
        let bar = |(index, minute): (usize, &Minute)| {
            let (calls, failed) = (scaled(minute.calls), scaled(minute.failed));
            Bar {
                x: index * width,
                y: height - calls,
                height: calls,
                failed_y: height - failed,
                failed_height: failed,
            }
        };
        self.minutes.iter().enumerate().map(bar).collect()
    }
}

#[derive(Template)]
#[template(path = "console/calls.html")]
struct CallsPage {
    frame: Frame,
    live: String,
}

#[derive(Template)]
#[template(path = "console/calls_live.html")]
struct CallsLive {
    bars: Vec<Bar>,
    calls: Calls,
}

pub(super) async fn show(
    State(console): State<Arc<Console>>,
    visitor: Visitor,
    Query(done): Query<Done>,
) -> Response {
    let live = live(&console, &visitor.operator).await;
    let frame = Frame::new(&console, &visitor, "/console/calls", &done);
    shown(live.map(|live| CallsPage { frame, live }))
}

/// Returns the part of the page that changes.
pub(super) async fn live(console: &Console, operator: &Operator) -> Result<String, Failure> {
    let mut calls: Calls = console.api.get(operator, "/calls").await?;
    calls.actions.truncate(MAX_ROWS);
    calls.refusals.truncate(MAX_ROWS);
    rendered(&CallsLive { bars: calls.bars(), calls })
}
