//! The changes in the recipient's listing while a proposal waits.
//!
//! The event names the changed parts. Their values are read with `get`, because events have no
//! texts that people wrote.

use crate::notices::Notice;
use crate::{documents::*, limits::*, refusals::*, transitions, types::*};
use people_kit::listings::Profile;
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

const CHANGE: Notice = Notice::new(
    LISTING_CHANGED,
    "The listing to which you proposed has changed. You may withdraw the proposal without a cost.",
)
.anonymous();

/// The fields of a listing that contain a part below.
const FIELDS: [&str; 5] = ["title", "place", "remote", "compensation", "attributes"];

/// The parts of a listing that matter to a proposer: title, place, price and dates. Each has its
/// name and its place in the listing.
const MATERIAL: [(&str, &str); 18] = [
    ("title", "/title"),
    ("place", "/place"),
    ("remote", "/remote"),
    ("compensation", "/compensation"),
    ("attributes.deposit", "/attributes/deposit"),
    ("attributes.amount", "/attributes/amount"),
    ("attributes.min_cheque", "/attributes/min_cheque"),
    ("attributes.available_from", "/attributes/available_from"),
    ("attributes.available_until", "/attributes/available_until"),
    ("attributes.move_in_from", "/attributes/move_in_from"),
    ("attributes.move_in_by", "/attributes/move_in_by"),
    ("attributes.needed_from", "/attributes/needed_from"),
    ("attributes.arrive", "/attributes/arrive"),
    ("attributes.depart", "/attributes/depart"),
    ("attributes.start_date", "/attributes/start_date"),
    ("attributes.closes_on", "/attributes/closes_on"),
    ("attributes.deadline", "/attributes/deadline"),
    ("attributes.by", "/attributes/by"),
];

/// Returns whether an update of these fields may change a part that matters.
pub(crate) fn concerns(fields: &[String]) -> bool {
    fields.iter().any(|field| FIELDS.contains(&field.as_str()))
}

/// Returns the public values of the parts that matter, by name; those without a value are omitted.
pub(crate) fn material(listing: &Profile) -> BTreeMap<String, Value> {
    let listing = portolan_sdk::to_value(listing);
    let value = |pointer: &str| listing.pointer(pointer).filter(|value| !value.is_null()).cloned();
    let parts = MATERIAL.iter().filter_map(|&(name, at)| Some((name.to_owned(), value(at)?)));
    parts.collect()
}

/// Compares the listing with its state at the proposal. If something has changed since the proposer
/// was last notified, notifies them and lets them withdraw without a cost for a while.
pub(crate) fn update(
    call: &Call,
    pairing: &mut Stored<Pairing>,
    now: &BTreeMap<String, Value>,
) -> Result<()> {
    let value = &mut pairing.value;
    // A proposal of before this was recorded.
    if value.proposed_to.is_empty() {
        return Ok(());
    }
    let changes = between(&value.proposed_to, now);
    let news = news(&value.changes, &changes);
    if news.is_empty() {
        return Ok(());
    }
    value.changes = changes;
    value.changed_at = call.now();
    value.free_until = Some(call.now() + FREE_WITHDRAWAL);
    let facts = Facts {
        changed: news,
        withdraw_free_until: value.free_until.map(rfc3339),
        ..Facts::default()
    };
    transitions::save(call, pairing)?;
    CHANGE.notify(call, pairing, &[Role::Sent], facts)
}

/// Returns the differences, in the order of the table.
fn between(before: &BTreeMap<String, Value>, after: &BTreeMap<String, Value>) -> Vec<Change> {
    let value = |values: &BTreeMap<String, Value>, name: &str| {
        values.get(name).cloned().unwrap_or_default()
    };
    let change = |&(name, _): &(&str, &str)| Change {
        field: name.to_owned(),
        before: value(before, name),
        after: value(after, name),
    };
    MATERIAL.iter().map(change).filter(|change| change.before != change.after).collect()
}

/// Returns the names of the parts whose value differs between two lists of changes.
fn news(told: &[Change], changes: &[Change]) -> Vec<String> {
    let added = changes.iter().filter(|change| !told.contains(change));
    let reverted = told.iter().filter(|change| !changes.contains(change));
    let names: BTreeSet<_> = added.chain(reverted).map(|change| change.field.clone()).collect();
    names.into_iter().collect()
}
