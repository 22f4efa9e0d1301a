//! What was last read from each source. It is stored with the feeds, so that a source that fails, or
//! returns wrong data, does not remove its records from the map.

use crate::{
    board::Posting,
    directory::Listed,
    entries::Refused,
    join::Knowledge,
    record::{Roads, Signal},
    registry::Organisation,
    syndication::Item,
    timestamp::Timestamp,
};
use serde::{Deserialize, Serialize, de::IgnoredAny};
use std::collections::{BTreeMap, BTreeSet};

/// `S` is what is known about each source, or `IgnoredAny` if that is not read.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State<S = BTreeMap<String, Kept>> {
    pub sources: S,
    /// What people have said about signals, as of the last build.
    #[serde(default)]
    pub knowledge: Knowledge,
    /// Signals of targets that are not on the map now, and signals that are not valid now. They come back,
    /// with their history, if the target does, or when they are valid.
    #[serde(default)]
    pub absent_signals: Vec<Signal>,
    /// Records that the last build did not publish.
    #[serde(default)]
    pub quarantined: Vec<Quarantined>,
    /// Records with pages that earlier publications had, each with the time of the first that had it no
    /// more.
    #[serde(default)]
    pub gone: BTreeMap<String, Timestamp>,
    /// The digest of the objections that were applied.
    #[serde(default)]
    pub objections: String,
    /// From what the documents were made, besides the sources' records.
    #[serde(default)]
    pub origin: Option<Origin>,
}

impl State<IgnoredAny> {
    /// Completes a state that was read without its sources.
    pub fn with(self, sources: BTreeMap<String, Kept>) -> State {
        let Self { sources: _, knowledge, absent_signals, quarantined, gone, objections, origin } =
            self;
        State { sources, knowledge, absent_signals, quarantined, gone, objections, origin }
    }
}

/// From what documents were made: with it, they can be made again without asking a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The text of the file of sources.
    pub sources: String,
    /// The text of the file with corrections of places.
    #[serde(default)]
    pub corrections: String,
    pub roads: Roads,
}

/// A record that is not published, because it is not valid or because it belongs to one that is not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Quarantined {
    pub document: String,
    pub id: String,
    pub reason: String,
    /// The address of the record's first source.
    pub source: Option<String>,
}

/// What is known about one source.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Kept {
    pub records: Records,
    /// When the records were last read.
    pub read_at: Option<Timestamp>,
    /// Since when the source cannot be read, and why.
    pub failing: Option<Failing>,
    /// The entries that could not be read the last time, at most 100.
    #[serde(default)]
    pub refused: Vec<Refused>,
    /// The digest of the answer from which the records are, and of what else they were made from; empty if the
    /// answer does not say everything.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub digest: String,
    /// Whether the last reading lost so many records that it was not believed.
    #[serde(default)]
    pub has_shrunk: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failing {
    pub since: Timestamp,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Records {
    Organisations(Vec<Organisation>),
    Listed(Vec<Listed>),
    Postings(Vec<Held>),
    Items(Vec<Item>),
}

impl Default for Records {
    fn default() -> Self {
        Self::Items(Vec::new())
    }
}

/// A posting, and the number of readings in a row from which it was missing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Held {
    pub posting: Posting,
    pub missing: u32,
}

/// What one reading of a source returned.
#[derive(Debug, Default)]
pub struct Obtained {
    pub records: Records,
    pub refused: Vec<Refused>,
    pub digest: String,
    pub scope: Scope,
}

/// What a reading says of the items that are not in it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Scope {
    /// Nothing: a feed has only the newest.
    #[default]
    Newest,
    /// They were deleted, if they are newer than this, because the reading reaches back to it.
    Since(Timestamp),
    /// There are none, or none that may be shown.
    All,
}

/// How a reading is judged that has lost records.
#[derive(Debug, Clone, Copy)]
pub struct Trust {
    /// The largest share of the records that a source may lose at once.
    pub largest_loss: f64,
    /// Whether the operator has confirmed the loss.
    pub is_confirmed: bool,
}

impl Records {
    pub fn len(&self) -> usize {
        match self {
            Self::Organisations(all) => all.len(),
            Self::Listed(all) => all.len(),
            Self::Postings(all) => all.len(),
            Self::Items(all) => all.len(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns an empty list of the same kind.
    pub fn none_like(&self) -> Self {
        match self {
            Self::Organisations(_) => Self::Organisations(Vec::new()),
            Self::Listed(_) => Self::Listed(Vec::new()),
            Self::Postings(_) => Self::Postings(Vec::new()),
            Self::Items(_) => Self::Items(Vec::new()),
        }
    }

    /// Returns the identifiers of the records by which a loss is measured. Items have none: a feed
    /// has only the newest.
    pub(super) fn identifiers(&self) -> BTreeSet<&str> {
        match self {
            Self::Organisations(all) => all.iter().map(|one| one.slug.as_str()).collect(),
            Self::Listed(all) => all.iter().map(|one| one.slug.as_str()).collect(),
            Self::Postings(all) => all.iter().map(|one| one.posting.external_id.as_str()).collect(),
            Self::Items(_) => BTreeSet::new(),
        }
    }
}
