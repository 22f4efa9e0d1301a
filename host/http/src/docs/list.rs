//! `GET /docs`: the capabilities by topic, in pages, and the guides; with `q`, the actions that fit its words.

use super::guides::{GUIDES, Guide};
use crate::{
    App,
    address::ClientAddress,
    capabilities::find,
    page::public_page,
    refusal::{self, Refusal},
};
use askama::Template;
use axum::{
    extract::{Query, State, rejection::QueryRejection},
    http::HeaderMap,
    response::Response,
};
use portolan_catalog::{Capability, Snapshot};
use portolan_vocabulary::Status;
use serde::Deserialize;
use std::sync::Arc;

/// How many capabilities one page lists.
const PAGE: usize = 100;
/// How many actions a search finds at most, and how many characters of its words count.
const FOUND: usize = 20;
const QUERY_CHARACTERS: usize = 200;
/// The topic of a capability without tags.
const NO_TOPIC: &str = "other";

#[derive(Debug, Default, Deserialize)]
pub(crate) struct Asked {
    page: Option<usize>,
    q: Option<String>,
}

#[derive(Template)]
#[template(path = "docs/list.html")]
struct ListPage<'a> {
    count: usize,
    /// The words that were searched for, and the actions that fit them, instead of the topics.
    query: Option<&'a str>,
    found: Vec<FoundAction<'a>>,
    topics: Vec<Topic<'a>>,
    /// The number of this page, from 1, and of the last one.
    number: usize,
    last: usize,
    guides: &'static [Guide],
}

struct FoundAction<'a> {
    capability: &'a str,
    name: &'a str,
    title: &'a str,
}

/// Capabilities with the same first tag.
struct Topic<'a> {
    name: &'a str,
    capabilities: Vec<Listed<'a>>,
}

struct Listed<'a> {
    id: &'a str,
    title: &'a str,
    summary: &'a str,
    version: &'a str,
    actions: usize,
    is_deprecated: bool,
}

pub(crate) async fn show(
    State(app): State<Arc<App>>,
    ClientAddress(address): ClientAddress,
    asked: Result<Query<Asked>, QueryRejection>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let Ok(Query(Asked { page, q })) = asked else { return Err(refusal::no_such_path().await) };
    let snapshot = app.host.catalog.snapshot();
    let count = snapshot.capabilities.len();
    let (number, last) = (page.unwrap_or(1), count.div_ceil(PAGE).max(1));
    if !(1..=last).contains(&number) {
        return Err(refusal::no_such_path().await);
    }
    let query: Option<String> =
        q.map(|words| words.trim().chars().take(QUERY_CHARACTERS).collect());
    let query = query.as_deref().filter(|words| !words.is_empty());
    if let Some(words) = query {
        let found = find(&app, words, FOUND, address)?;
        let shown = ListPage {
            count,
            query,
            found: found.iter().map(FoundAction::new).collect(),
            topics: Vec::new(),
            number: 1,
            last: 1,
            guides: &GUIDES,
        };
        return Ok(public_page(&headers, &shown));
    }
    let topics = topics(&snapshot, number);
    let shown = ListPage { count, query, found: Vec::new(), topics, number, last, guides: &GUIDES };
    Ok(public_page(&headers, &shown))
}

impl<'a> FoundAction<'a> {
    fn new((capability, name): &'a (Arc<Capability>, String)) -> Self {
        let title = capability.action(name).map(|action| action.descriptor.title.as_str());
        Self { capability: &capability.id, name, title: title.unwrap_or_default() }
    }
}

fn topic(capability: &Capability) -> &str {
    capability.descriptor.tags.first().map_or(NO_TOPIC, String::as_str)
}

/// Returns the capabilities of a page, which are sorted by topic and then by id.
fn topics(snapshot: &Snapshot, number: usize) -> Vec<Topic<'_>> {
    let capabilities = snapshot.capabilities.values();
    let mut sorted: Vec<&Capability> = capabilities.map(|capability| &**capability).collect();
    sorted.sort_by(|one, other| topic(one).cmp(topic(other)));
    let mut topics: Vec<Topic<'_>> = Vec::new();
    for capability in sorted.into_iter().skip((number - 1) * PAGE).take(PAGE) {
        let name = topic(capability);
        match topics.last_mut().filter(|last| last.name == name) {
            Some(last) => last.capabilities.push(Listed::new(capability)),
            None => topics.push(Topic { name, capabilities: vec![Listed::new(capability)] }),
        }
    }
    topics
}

impl<'a> Listed<'a> {
    fn new(capability: &'a Capability) -> Self {
        let descriptor = &capability.descriptor;
        Self {
            id: &descriptor.id,
            title: &descriptor.title,
            summary: &descriptor.summary,
            version: &descriptor.version,
            actions: capability.callable().count(),
            is_deprecated: descriptor.status == Status::Deprecated,
        }
    }
}
