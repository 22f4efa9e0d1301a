//! A follower: keeps a document up to date with the changes alone. It shows how the log is to be read.

use crate::parts::{id_of, together};
use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use std::collections::BTreeMap;

/// A document that is kept up to date.
#[derive(Debug)]
pub struct Follower {
    file: String,
    head: Value,
    ids: Vec<String>,
    records: BTreeMap<String, Box<RawValue>>,
}

#[derive(Deserialize)]
struct Line {
    op: String,
    #[serde(default)]
    id: String,
    #[serde(default)]
    after: Option<String>,
    record: Option<Box<RawValue>>,
    head: Option<Value>,
}

impl Follower {
    /// Begins with a published document.
    pub fn new(file: &str, bytes: &[u8]) -> serde_json::Result<Self> {
        let parts = crate::parts::Parts::of(file, bytes)?;
        let ids = parts.records.iter().map(|record| id_of(record)).collect();
        let records =
            parts.records.iter().map(|record| (id_of(record), (*record).to_owned())).collect();
        Ok(Self { file: file.to_owned(), head: parts.head, ids, records })
    }

    /// Applies one change of this document's feed.
    pub fn apply(&mut self, change: &str) -> serde_json::Result<()> {
        let Line { op, id, after, record, head } = serde_json::from_str(change)?;
        if let Some(head) = head {
            self.head = head;
        }
        if op == "removed" || record.is_some() {
            self.ids.retain(|known| *known != id);
            self.records.remove(&id);
        }
        if let Some(record) = record {
            let before = after.and_then(|after| self.ids.iter().position(|known| *known == after));
            self.ids.insert(before.map_or(0, |at| at + 1), id.clone());
            self.records.insert(id, record);
        }
        Ok(())
    }

    /// Returns the document.
    pub fn document(&self) -> serde_json::Result<Vec<u8>> {
        let records: Vec<&RawValue> =
            self.ids.iter().filter_map(|id| self.records.get(id).map(|record| &**record)).collect();
        together(&self.file, &self.head, &records)
    }
}
