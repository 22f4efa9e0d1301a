//! Inputs and outputs of the actions.

use crate::{
    criteria::Criterion,
    taxonomy::{Mapping, Node, Policy, Scheme, Side},
};
use portolan_sdk::prelude::*;
use serde_json::{Map, Value};

/// Returns the default of a field.
fn number<const NUMBER: u8>() -> u8 {
    NUMBER
}

#[input]
pub(crate) struct TreeInput {
    /// The code of the category to start from, such as `work.job`. Without it, the whole taxonomy.
    #[schemars(length(max = 64))]
    pub(crate) root: Option<String>,
    /// How many levels below `root` to list: 0 is `root` alone. Without `root`, the top level
    /// counts as the first of them and is always listed.
    #[serde(default = "number::<2>")]
    #[schemars(range(max = 6))]
    pub(crate) depth: u8,
    /// The preferred language of labels (BCP 47). Only `en` is available; the answer says so.
    #[schemars(length(max = 35))]
    pub(crate) locale: Option<String>,
}

#[output]
pub(crate) struct Tree {
    /// The language of labels and descriptions.
    pub(crate) locale: &'static str,
    /// The categories in tree order: each is followed by those below it.
    pub(crate) nodes: Vec<&'static Node>,
}

#[input]
pub(crate) struct GetInput {
    /// The category's code, such as `home.let.apartment`.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) code: String,
}

#[output]
pub(crate) struct Category {
    #[serde(flatten)]
    pub(crate) node: &'static Node,
    pub(crate) policy: &'static Policy,
}

#[input]
pub(crate) struct SearchInput {
    /// Words of a category's name, synonyms or description: `nurse`, `parking`.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) q: String,
    /// The maximum number of categories to return.
    #[serde(default = "number::<20>")]
    #[schemars(range(min = 1, max = 100))]
    pub(crate) limit: u8,
}

#[output]
pub(crate) struct Found {
    #[serde(flatten)]
    pub(crate) node: &'static Node,
    /// The score: higher is better; comparable within one answer only.
    pub(crate) score: f64,
}

#[output]
pub(crate) struct FoundNodes {
    /// The categories, best first.
    pub(crate) items: Vec<Found>,
}

#[input]
pub(crate) struct SuggestInput {
    /// The person's words or the planned listing's, in plain language.
    #[schemars(length(min = 1, max = 4000))]
    pub(crate) text: String,
    /// Whether the person has something (`offer`) or looks for it (`demand`), if you know. Without
    /// it, phrases such as `looking for` and `to let` decide which side comes first.
    pub(crate) side: Option<Side>,
    /// The maximum number of suggestions to return.
    #[serde(default = "number::<5>")]
    #[schemars(range(min = 1, max = 20))]
    pub(crate) limit: u8,
}

#[output]
pub(crate) struct Suggestion {
    pub(crate) code: &'static str,
    pub(crate) label: &'static str,
    /// The score: higher is better; comparable within one answer only.
    pub(crate) score: f64,
    /// The words of the text that match the category; for a text in another language than English,
    /// what they mean.
    pub(crate) matched_terms: Vec<String>,
}

#[output]
pub(crate) struct Suggestions {
    /// The suggestions, best first; empty if no word of the text is known.
    pub(crate) items: Vec<Suggestion>,
}

#[input]
pub(crate) struct FieldsInput {
    /// The category's code.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) code: String,
    /// The side of the listing: one of the category's `sides`.
    pub(crate) side: Side,
}

#[output]
pub(crate) struct Fields {
    pub(crate) code: &'static str,
    pub(crate) side: Side,
    /// The category and side of the listings that the criteria are about.
    pub(crate) counterpart: &'static str,
    pub(crate) counterpart_side: Side,
    /// JSON Schema (2020-12) of the listing's `attributes`, with an example. A field with
    /// `x-not-above` is at most the field that it names, a date at the latest on that day.
    pub(crate) attributes: Map<String, Value>,
    /// The fields that the listing's `criteria`, and filters of a search for its counterparts, can
    /// use.
    pub(crate) criteria: Vec<Criterion>,
}

#[input]
pub(crate) struct CrosswalkInput {
    /// The scheme of the mappings to return. Omit this field to get mappings of all schemes.
    pub(crate) scheme: Option<Scheme>,
    /// A code of this taxonomy or of another scheme: `work.job.design`, `2166`, `15-1252.00`,
    /// `http://data.europa.eu/esco/isco/C2512`, `JobPosting`. Omit this field to get the mappings
    /// of all codes.
    #[schemars(length(min = 1, max = 120))]
    pub(crate) code: Option<String>,
}

#[output]
pub(crate) struct Mappings {
    pub(crate) items: Vec<&'static Mapping>,
}
