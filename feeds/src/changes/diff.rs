//! The changes from one version of a document to the next.

use crate::parts::{Parts, etag, id_of, records_of};
use serde::Serialize;
use serde_json::{Value, value::RawValue};
use std::collections::{BTreeMap, BTreeSet};

/// The bytes of a line besides the record.
const FRAME: usize = 200;

/// What happened to a record, or to the fields of a document besides its records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Op {
    Added,
    Changed,
    /// The record is no longer published. There is nothing left of it but its id.
    Removed,
    /// The end of a document's changes: its other fields, and the entity tag that it now has.
    Document,
}

/// One change, without its place in the log.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Change<'a> {
    pub(super) op: Op,
    pub(super) feed: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<String>,
    /// The record that precedes this one in the document; null if it is the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) after: Option<Option<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) record: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) head: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) etag: Option<String>,
}

impl<'a> Change<'a> {
    fn of(op: Op, feed: &'static str) -> Self {
        Self { op, feed, id: None, after: None, record: None, head: None, etag: None }
    }

    /// Returns how large the record is.
    pub(super) fn record_bytes(&self) -> usize {
        self.record.map_or(0, |record| record.get().len())
    }

    /// Returns about how large the line is.
    pub(super) fn line_bytes(&self) -> usize {
        FRAME + self.record_bytes()
    }
}

/// The records of a version of a document, in their order.
struct Version<'a> {
    head: Value,
    ids: Vec<String>,
    records: BTreeMap<String, &'a RawValue>,
}

impl<'a> Version<'a> {
    /// Reads a version. One that cannot be read has no records; the host does not serve it.
    fn of(file: &str, bytes: &'a [u8]) -> Self {
        let parts = Parts::of(file, bytes)
            .unwrap_or_else(|_| Parts { head: Value::Null, records: Vec::new() });
        let mut head = parts.head;
        if let Some(fields) = head.as_object_mut()
            && let Some(records) = fields.get_mut(records_of(file))
        {
            *records = Value::Array(Vec::new());
        }
        let (mut ids, mut records) = (Vec::new(), BTreeMap::new());
        for record in parts.records {
            let id = id_of(record);
            if records.insert(id.clone(), record).is_none() {
                ids.push(id);
            }
        }
        Self { head, ids, records }
    }
}

/// Returns the changes that make the second version out of the first, in the order in which they are applied.
pub(super) fn changes<'a>(
    (feed, file): (&'static str, &str),
    before: &[u8],
    after: &'a [u8],
) -> Vec<Change<'a>> {
    if before == after {
        return Vec::new();
    }
    let (old, new) = (Version::of(file, before), Version::of(file, after));
    let removed = old.ids.iter().filter(|id| !new.records.contains_key(*id));
    let mut changes: Vec<Change<'a>> = removed
        .map(|id| Change { id: Some(id.clone()), ..Change::of(Op::Removed, feed) })
        .collect();
    let staying = staying(&old.ids, &new.ids);
    let mut previous: Option<&String> = None;
    for id in &new.ids {
        let after = previous.replace(id).cloned();
        let Some(record) = new.records.get(id).copied() else { continue };
        let op = match old.records.get(id) {
            Some(known) if known.get() == record.get() && staying.contains(id.as_str()) => continue,
            Some(_) => Op::Changed,
            None => Op::Added,
        };
        let (id, after) = (Some(id.clone()), Some(after));
        changes.push(Change { id, after, record: Some(record), ..Change::of(op, feed) });
    }
    let (head, etag) = (Some(new.head), Some(etag(after)));
    changes.push(Change { head, etag, ..Change::of(Op::Document, feed) });
    changes
}

/// Returns the most ids that are in both lists in the same order: these records need not be moved.
fn staying<'a>(old: &[String], new: &'a [String]) -> BTreeSet<&'a str> {
    let places: BTreeMap<&str, usize> =
        old.iter().enumerate().map(|(at, id)| (id.as_str(), at)).collect();
    let common: Vec<(usize, &str)> =
        new.iter().filter_map(|id| Some((*places.get(id.as_str())?, id.as_str()))).collect();
    // The longest increasing subsequence: `ends` has, for each length, the position of the run of
    // that length with the smallest last place, and `links` the predecessor of each position.
    let place = |at: usize| common.get(at).map_or(usize::MAX, |(place, _)| *place);
    let (mut ends, mut links): (Vec<usize>, Vec<Option<usize>>) = (Vec::new(), Vec::new());
    for at in 0..common.len() {
        let length = ends.partition_point(|end| place(*end) < place(at));
        links.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut staying = BTreeSet::new();
    let mut next = ends.last().copied();
    while let Some(at) = next {
        staying.extend(common.get(at).map(|(_, id)| *id));
        next = links.get(at).copied().flatten();
    }
    staying
}
