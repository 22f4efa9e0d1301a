//! `GET /status`, and `/status.atom` for feed readers: what works now, for the public, and the incidents of the
//! last 90 days. Nothing here counts people or names versions and addresses.

use crate::{
    App,
    conditional::tagged,
    media_type::{AcceptedTypes, HTML, JSON},
    page::{public_page, unrendered},
    status_board::{Service, StatusNow},
};
use askama::Template;
use axum::{
    extract::State,
    http::{HeaderMap, header},
    response::{IntoResponse as _, Response},
};
use portolan_pipeline::Condition;
use portolan_vocabulary::{HOUR, Incident, IncidentState, Timestamp};
use serde_json::{Value, json};
use std::sync::Arc;

const ATOM: &str = "application/atom+xml";
/// The media types of the answer. The first one is for those who accept anything.
const OFFERED: [&str; 3] = [JSON, HTML, ATOM];

/// The texts for people about a condition, and its name for programs and for the stylesheet.
struct ConditionRow {
    name: &'static str,
    title: &'static str,
    /// The page's sentence about the whole host.
    summary: &'static str,
}

const OPERATIONAL: ConditionRow =
    ConditionRow { name: "operational", title: "Works", summary: "Everything works" };
const DEGRADED: ConditionRow = ConditionRow {
    name: "degraded",
    title: "Works in part",
    summary: "Something works only in part",
};
const OUTAGE: ConditionRow =
    ConditionRow { name: "outage", title: "Does not work", summary: "Something does not work" };

#[derive(Template)]
#[template(path = "status.html")]
struct StatusPage<'a> {
    summary: &'static str,
    services: Vec<ServiceRow<'a>>,
    open: Vec<&'a Incident>,
    past: Vec<&'a Incident>,
}

struct ServiceRow<'a> {
    service: &'a Service,
    name: &'static str,
    title: &'static str,
    /// The age of its data.
    age: Option<String>,
}

#[derive(Template)]
#[template(path = "status.xml")]
struct StatusFeed<'a> {
    url: &'a str,
    organization: &'a str,
    updated_at: Timestamp,
    incidents: &'a [Incident],
}

pub(super) async fn show(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    match AcceptedTypes::of(&headers).best(&OFFERED) {
        Some(HTML) => status_page(&app, &headers),
        Some(ATOM) => feed(&app, &headers),
        _ => {
            let text = document(&app.status.now(&app.host)).to_string();
            tagged(&headers, text, |text| ([(header::CONTENT_TYPE, JSON)], text).into_response())
        }
    }
}

/// Answers with the incidents as a feed, whatever the reader accepts.
pub(super) async fn atom(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    feed(&app, &headers)
}

fn status_page(app: &App, headers: &HeaderMap) -> Response {
    let StatusNow { services, incidents } = app.status.now(&app.host);
    let now = app.host.clock.now();
    let (open, past) = incidents.iter().partition(|incident| incident.is_open());
    let shown = StatusPage {
        summary: summary(&services, &incidents),
        services: services.iter().map(|service| ServiceRow::new(service, now)).collect(),
        open,
        past,
    };
    public_page(headers, &shown)
}

fn feed(app: &App, headers: &HeaderMap) -> Response {
    let StatusNow { services, incidents } = app.status.now(&app.host);
    let newest = incidents.iter().map(Incident::updated_at).max();
    let started = services.first().map(|service| service.since);
    let shown = StatusFeed {
        url: &app.public_url,
        organization: &app.host.feeds.host().provider.organization,
        updated_at: newest.or(started).unwrap_or(app.host.clock.now()),
        incidents: &incidents,
    };
    match shown.render() {
        Ok(text) => tagged(headers, text, |text| {
            ([(header::CONTENT_TYPE, "application/atom+xml; charset=utf-8")], text).into_response()
        }),
        Err(error) => unrendered(&error),
    }
}

/// Returns the state for programs.
fn document(now: &StatusNow) -> Value {
    let service = |service: &Service| {
        let mut row = json!({
            "name": service.name,
            "status": row(service.condition).name,
            "since": service.since,
        });
        if let (Some(row), Some(at)) = (row.as_object_mut(), service.published_at) {
            row.insert("published_at".to_owned(), json!(at));
        }
        row
    };
    json!({
        "status": row(worst(&now.services)).name,
        "services": now.services.iter().map(service).collect::<Vec<_>>(),
        "incidents": &*now.incidents,
    })
}

/// Returns what the page says about the whole host: what people know can be worse than what was observed.
fn summary(services: &[Service], incidents: &[Incident]) -> &'static str {
    let is_trouble =
        |incident: &Incident| incident.is_open() && incident.state != IncidentState::Planned;
    match worst(services) {
        Condition::Operational if incidents.iter().any(is_trouble) => "An incident is open",
        observed => row(observed).summary,
    }
}

fn worst(services: &[Service]) -> Condition {
    services.iter().map(|service| service.condition).max().unwrap_or(Condition::Operational)
}

fn row(condition: Condition) -> ConditionRow {
    match condition {
        Condition::Operational => OPERATIONAL,
        Condition::Degraded => DEGRADED,
        Condition::Outage => OUTAGE,
    }
}

impl<'a> ServiceRow<'a> {
    fn new(service: &'a Service, now: Timestamp) -> Self {
        let ConditionRow { name, title, .. } = row(service.condition);
        Self { service, name, title, age: service.published_at.map(|at| age(at, now)) }
    }
}

/// Returns how old data is, in words.
fn age(published_at: Timestamp, now: Timestamp) -> String {
    let hours = now.as_secs().saturating_sub(published_at.as_secs()) / HOUR.as_secs();
    match hours {
        0 => "less than an hour old".to_owned(),
        1 => "one hour old".to_owned(),
        2..48 => format!("{hours} hours old"),
        _ => format!("{} days old", hours / 24),
    }
}
