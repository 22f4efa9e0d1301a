//! Checks of listings and searches against their category: calls of `listing_taxonomy`.

use portolan_sdk::prelude::*;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The side of a listing.
#[choice]
pub enum Side {
    Offer,
    Demand,
}

impl Side {
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Offer => Self::Demand,
            Self::Demand => Self::Offer,
        }
    }
}

/// Returns whether the category is the root, or below it.
pub fn is_within(category: &str, root: &str) -> bool {
    category.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// The categories whose listings are never public, with those below them.
const NEVER_PUBLIC: &str = include_str!("never_public.txt");

/// Returns whether listings of the category are never public.
pub fn is_never_public(category: &str) -> bool {
    let mut roots = NEVER_PUBLIC.lines().filter(|line| !line.starts_with('#'));
    roots.any(|root| is_within(category, root))
}

/// The comparison of a value.
#[choice]
pub enum Operator {
    /// The value is equal; of a list, one of its elements is.
    Eq,
    /// The value is in the list; of a list, one of its elements is.
    In,
    /// The value is at least this.
    Gte,
    /// The value is at most this.
    Lte,
}

/// One criterion for the counterparts of a listing.
#[message(PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// One of the `criteria` that `listing_taxonomy` `fields` lists.
    #[schemars(length(min = 1, max = 60))]
    pub field: String,
    pub op: Operator,
    /// The value to compare with; a list for `in`.
    pub value: Value,
    /// The weight of a wish; 1 by default.
    #[schemars(range(min = 0, max = 10))]
    pub weight: Option<f64>,
}

/// The criteria of a listing for its counterparts.
#[message(Default, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Criteria {
    /// Required criteria.
    #[schemars(length(max = 20))]
    pub must: Vec<Criterion>,
    /// Wishes.
    #[schemars(length(max = 20))]
    pub want: Vec<Criterion>,
}

impl Criteria {
    pub fn is_empty(&self) -> bool {
        self.must.is_empty() && self.want.is_empty()
    }
}

/// The input of `listing_taxonomy check`.
#[message]
pub struct CheckInput {
    #[schemars(length(min = 1, max = 64))]
    pub code: String,
    pub side: Side,
    pub attributes: Map<String, Value>,
    #[serde(default)]
    pub criteria: Criteria,
    /// The title and the description, from which values are read that the attributes do not state.
    #[serde(default)]
    pub text: String,
}

/// The output of `listing_taxonomy check`: the listing's content in its normal form, and the rules
/// of its category.
#[message]
pub struct Checked {
    /// The attributes, without empty lists and repeated elements.
    pub attributes: Map<String, Value>,
    /// Values that the text says and the attributes do not state and, as `to_check`, sentences from
    /// which no value was read.
    #[serde(default)]
    pub said: Map<String, Value>,
    /// The distinct words of the text, with one word for synonyms.
    #[serde(default)]
    pub gist: Vec<String>,
    /// Further words by which searches find the listing: what its text and its values mean.
    #[serde(default)]
    pub words: String,
    pub category: Category,
    pub policy: Policy,
    pub keys: Keys,
}

#[message]
pub struct Category {
    pub label: String,
    /// Synonyms of the category and of those above it.
    pub synonyms: Vec<String>,
    pub schema_org_type: String,
    /// The category of its counterpart.
    pub counterpart: String,
    pub counterpart_side: Side,
}

/// The rules for listings of a category.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// The minimum age to list, see and contact.
    pub min_age: Option<u8>,
    pub prohibited_criteria: Vec<String>,
    pub default_ttl_days: u16,
    pub proposal_cost: u32,
    pub min_radius_km: Option<u16>,
    /// The default visibility: `public` or `network`.
    pub default_visibility: String,
}

/// Keys: attributes as texts that an index compares.
#[message(Default)]
pub struct Keys {
    /// A key for each value: equal for equal values.
    pub facts: Vec<String>,
    /// A key for each value that has an order: within a range of keys if the value is within the
    /// range.
    pub ranks: Vec<String>,
}

/// The comparisons of a search, by attribute.
pub type Filters = BTreeMap<String, Comparison>;

/// The comparisons of one attribute; all of them must hold.
#[message(Default, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The value is equal; of a list, one of its elements is.
    pub eq: Option<Value>,
    /// The value is in the list; of a list, one of its elements is.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 50))]
    pub one_of: Option<Vec<Value>>,
    /// The value is not in the list; of a list, none of its elements is. Listings that do not state
    /// the attribute are found too.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 50))]
    pub not_in: Option<Vec<Value>>,
    /// The value is at least this.
    pub gte: Option<Value>,
    /// The value is at most this.
    pub lte: Option<Value>,
}

/// The input of `listing_taxonomy narrow`.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NarrowInput {
    /// The category, with everything below it; without it, all categories.
    #[schemars(length(min = 1, max = 64))]
    pub code: Option<String>,
    pub filters: Filters,
    /// The radius of a search around a point.
    pub radius_km: Option<f64>,
    /// The words of the search.
    #[schemars(length(min = 1, max = 200))]
    pub q: Option<String>,
    /// The categories that are left out, with everything below them.
    #[serde(default)]
    #[schemars(length(max = 10))]
    pub without: Vec<String>,
}

/// The output of `listing_taxonomy narrow`: comparisons of keys, all of which must hold.
#[derive(Debug, Default, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Narrowed {
    /// The minimum age of the category.
    pub min_age: Option<u8>,
    /// The listing has one of the facts of each of these lists.
    pub facts: Vec<Vec<String>>,
    /// The listing has none of these facts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_facts: Vec<String>,
    /// The listing has a rank within each of these ranges, ends included.
    pub ranks: Vec<(String, String)>,
    /// The words of the search, each with words that mean the same as alternatives.
    pub q: Option<String>,
}

/// The input of `listing_taxonomy highlight`.
#[message]
pub struct HighlightInput {
    /// The words of a search.
    #[schemars(length(min = 1, max = 200))]
    pub q: String,
    #[schemars(length(max = 400))]
    pub texts: Vec<String>,
}

/// The output of `listing_taxonomy highlight`: for each text its words that match.
#[message]
pub struct Highlighted {
    pub texts: Vec<Vec<Highlight>>,
}

/// A word of a text that matches a search.
#[message(PartialEq)]
pub struct Highlight {
    /// The word as it is written.
    pub text: String,
    /// The position of its first character, in Unicode code points from 0.
    pub start: usize,
    /// The position after its last character.
    pub end: usize,
}

/// One fault of attributes or criteria.
#[document(PartialEq)]
pub struct Violation {
    /// A JSON Pointer (RFC 6901) into the body.
    pub pointer: String,
    pub rule: String,
    pub expected: Value,
}

/// Returns the conflict of a refusal because of prohibited characteristics: those by which a law or
/// a policy does not allow people to be selected.
fn prohibited(found: &[Breach]) -> Value {
    let radius = found.iter().all(|breach| breach.prohibited == DISTANCE);
    let prohibited: BTreeSet<_> = found.iter().map(|breach| breach.prohibited).collect();
    let pointers: Vec<_> = found.iter().map(|breach| breach.pointer.as_str()).collect();
    json!({
        "kind": "policy",
        "policy": if radius { "min_radius_km" } else { "prohibited_criteria" },
        "prohibited": prohibited, "pointers": pointers, "help_slug": "safety-and-fairness",
    })
}

/// The field of criteria that compares the distance between the places of two listings.
pub const DISTANCE: &str = "distance_km";

/// One place in which a prohibited characteristic is used.
#[derive(Debug, Clone, PartialEq)]
pub struct Breach {
    /// A JSON Pointer (RFC 6901) into the body.
    pub pointer: String,
    /// The characteristic, such as `religion`, or `distance_km` for a distance that is too small.
    pub prohibited: &'static str,
}

/// Why a listing or a search does not fit its category.
#[derive(Debug, Refusals)]
pub enum TaxonomyError {
    /// There is no category with this code. The tree lists the existing ones.
    #[refusal(not_found, next = tree(nearest))]
    CategoryUnknown { nearest: Option<String> },
    /// The attributes or criteria do not fit the category: see conflict for the faults. The
    /// category's fields list what fits.
    #[refusal(
        invalid,
        conflict_detail = json!({ "kind": "validation", "errors": errors }),
        next = fields(code, side)
    )]
    AttributesInvalid { code: String, side: Side, errors: Vec<Violation> },
    /// Listings in this category must not select people by this. The category's policy says what is
    /// prohibited.
    #[refusal(
        unprocessable,
        conflict_detail = prohibited(&found),
        next = get(code)
    )]
    CriteriaProhibited { code: String, found: Vec<Breach> },
    /// Searches in this category must not use this. The category's policy says what is prohibited.
    #[refusal(
        unprocessable,
        conflict_detail = prohibited(&found),
        next = get(code)
    )]
    FilterProhibited { code: String, found: Vec<Breach> },
    #[refusal(transparent)]
    Common(Refusal),
}

impl TaxonomyError {
    /// Returns the error with its pointers moved to where the attributes and criteria are in the
    /// caller's body.
    #[must_use]
    pub fn at(self, attributes: &str, criteria: &str) -> Self {
        self.moved(|pointer| {
            let parts = [("/attributes", attributes), ("/criteria", criteria)];
            let moved = |(part, to)| Some(format!("{to}{}", pointer.strip_prefix(part)?));
            parts.into_iter().find_map(moved)
        })
    }

    /// Returns the error with `base` before each of its pointers.
    #[must_use]
    pub fn within(self, base: &str) -> Self {
        self.moved(|pointer| Some(format!("{base}{pointer}")))
    }

    fn moved(self, place: impl Fn(&str) -> Option<String>) -> Self {
        let mut refusal = Refusal::from(self);
        if let Some(conflict) = refusal.conflict.as_deref_mut() {
            let move_to = |pointer: &mut Value| {
                if let Some(moved) = pointer.as_str().and_then(&place) {
                    *pointer = moved.into();
                }
            };
            if let Some(errors) = conflict.get_mut("errors").and_then(Value::as_array_mut) {
                errors.iter_mut().filter_map(|error| error.get_mut("pointer")).for_each(move_to);
            }
            if let Some(pointers) = conflict.get_mut("pointers").and_then(Value::as_array_mut) {
                pointers.iter_mut().for_each(move_to);
            }
        }
        Self::Common(refusal)
    }
}

fn call(action: &str) -> Next {
    Next::action("listing_taxonomy", action)
}

/// Returns the call that lists the part of the tree in which the code was probably meant to be.
fn tree(nearest: Option<String>) -> Next {
    match nearest {
        Some(root) => call("tree").field("root", root),
        None => call("tree"),
    }
}

fn get(code: String) -> Next {
    call("get").field("code", code)
}

fn fields(code: String, side: Side) -> Next {
    call("fields").field("code", code).field("side", portolan_sdk::to_value(&side))
}

pub const CHECK: Invocation<CheckInput, Checked> = Invocation::new("listing_taxonomy", "check");
pub const NARROW: Invocation<NarrowInput, Narrowed> = Invocation::new("listing_taxonomy", "narrow");
pub const HIGHLIGHT: Invocation<HighlightInput, Highlighted> =
    Invocation::new("listing_taxonomy", "highlight");

/// Returns the listing's content in its normal form, and the rules of its category.
pub fn check(input: &CheckInput) -> Result<Checked, TaxonomyError> {
    CHECK.call(input).map_err(TaxonomyError::Common)
}

/// Returns for each text its words that match a search.
pub fn highlight(input: &HighlightInput) -> Result<Highlighted, TaxonomyError> {
    HIGHLIGHT.call(input).map_err(TaxonomyError::Common)
}

/// Translates the comparisons of a search into comparisons of keys.
pub fn narrow(input: &NarrowInput) -> Result<Narrowed, TaxonomyError> {
    NARROW.call(input).map_err(TaxonomyError::Common)
}
