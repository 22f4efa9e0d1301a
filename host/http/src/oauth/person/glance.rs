//! The capabilities on the first page of the account, each with what the person has there.

use super::{calls::PersonCalls, things::Things};
use crate::App;
use futures_util::future::join_all;
use portolan_catalog::{Capability, PersonPage};
use portolan_vocabulary::Publisher;
use serde_json::Value;
use std::sync::Arc;

/// The maximum number of capabilities on the page, of their counts, and of the counts of one.
const CAPABILITIES: usize = 50;
const COUNTS: usize = 30;
const COUNTS_OF_ONE: usize = 3;
/// The maximum number of names beside a count.
const NAMES: usize = 3;

/// A capability with a page for people.
pub(in super::super) struct Glance {
    pub(in super::super) id: Arc<str>,
    pub(in super::super) title: String,
    /// The publisher, if it is not this host.
    pub(in super::super) publisher: Option<String>,
    pub(in super::super) counts: Vec<Count>,
}

/// The number of things in a section of a capability.
pub(in super::super) struct Count {
    pub(in super::super) section: String,
    /// The number, with `+` if there are more, or what failed.
    pub(in super::super) number: Result<String, &'static str>,
    /// The names of the first ones.
    pub(in super::super) names: Vec<String>,
}

/// Returns how a page names the publisher of a component that is not this host's own.
pub(super) fn publisher(capability: &Capability) -> Option<String> {
    match &capability.publisher {
        Publisher::Host => None,
        other => Some(other.to_string()),
    }
}

/// Returns the capabilities that have a page for people, with their counts if there are calls for them.
pub(in super::super) async fn glances(app: &App, calls: &PersonCalls<'_>) -> Vec<Glance> {
    let snapshot = app.host.catalog.snapshot();
    let now = app.host.clock.now();
    let shown = snapshot
        .capabilities
        .values()
        .filter(|capability| !capability.person_pages.is_empty() && !capability.is_sunset(now));
    // This host's own come first, so that others cannot crowd them out.
    let mut shown: Vec<_> = shown.collect();
    shown.sort_by_key(|capability| capability.publisher != Publisher::Host);
    shown.truncate(CAPABILITIES);
    let counted = shown.iter().flat_map(|capability| {
        let pages = capability.person_pages.iter().filter(|page| page.is_view() && page.glance);
        pages.take(COUNTS_OF_ONE).map(move |page| (&capability.id, count(calls, capability, page)))
    });
    let counted = counted.take(COUNTS).map(async |(id, count)| (id, count.await));
    let mut counts = join_all(counted).await;
    let mut counts_of = |capability: &Capability| {
        let own = counts.extract_if(.., |(id, _)| **id == capability.id);
        own.map(|(_, count)| count).collect()
    };
    let glance = |capability: &&Arc<Capability>| Glance {
        id: Arc::clone(&capability.id),
        title: capability.descriptor.title.clone(),
        publisher: publisher(capability),
        counts: counts_of(capability),
    };
    shown.iter().map(glance).collect()
}

async fn count(calls: &PersonCalls<'_>, capability: &Capability, page: &PersonPage) -> Count {
    let section = page.section.clone();
    match calls.read(capability, page, None).await {
        Ok(output) => {
            let action = capability.action(&page.action);
            let schema = action.map_or(&Value::Null, |action| action.schemas.output.document());
            let found = Things::of(page, schema, &output);
            let more = if found.has_more { "+" } else { "" };
            let names = found.things.iter().map(|thing| thing.name.clone());
            let names = names.filter(|name| !name.is_empty()).take(NAMES).collect();
            Count { section, number: Ok(format!("{}{more}", found.things.len())), names }
        }
        Err(_) => Count { section, number: Err("cannot be shown now"), names: Vec::new() },
    }
}
