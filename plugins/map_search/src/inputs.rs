//! The inputs of the actions.

use portolan_sdk::prelude::*;
use record_search::{Filters, Kind, Sort, default_radius};

#[input(Default)]
pub(crate) struct Search {
    #[serde(flatten)]
    pub(crate) filters: Filters,
    /// The order: by default relevance with `q`. Without it, organisations alone come by distance with `near` and else
    /// by name, and other types come newest first.
    pub(crate) sort: Option<Sort>,
    /// Whether to count the matches: see the action `facets`.
    #[serde(default)]
    pub(crate) facets: bool,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct TargetId {
    /// The organisation: `tgt_` and 26 characters.
    pub(crate) target_id: Text<1, 40>,
}

#[input]
pub(crate) struct Nearby {
    /// The organisation: `tgt_` and 26 characters.
    pub(crate) target_id: Text<1, 40>,
    /// The radius in kilometres.
    #[serde(default = "default_radius")]
    #[schemars(range(min = 0.1, max = 200))]
    pub(crate) radius_km: f64,
    /// The kind of organisation.
    pub(crate) kind: Option<Kind>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input(Default)]
pub(crate) struct Questions {
    /// The role of the person who asks, such as `investor`, `candidate` or `journalist`.
    pub(crate) role: Option<Text<1, 40>>,
}

#[input]
pub(crate) struct AskQuestion {
    /// The question: `qst_` and 26 characters; `questions` lists them.
    pub(crate) question_id: Text<1, 40>,
    /// The organisation, if the question is about one.
    pub(crate) target_id: Option<Text<1, 40>>,
    /// The maximum number of records of each feed.
    #[serde(default = "default_records")]
    #[schemars(range(min = 1, max = 50))]
    pub(crate) limit: u32,
}

fn default_records() -> u32 {
    20
}
