//! Whether a listing, or a search for listings, fits its category: asked of `listing_taxonomy`.

use portolan_sdk::prelude::*;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// What a listing does with the thing of its category.
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

/// How a value is compared.
#[choice]
pub enum Operator {
    /// The value is this one; of a list, one of its elements is.
    Eq,
    /// The value is one of these; of a list, one of its elements is.
    In,
    /// At least.
    Gte,
    /// At most.
    Lte,
}

/// One thing that a listing asks of those it meets.
#[message(PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Criterion {
    /// One of the `criteria` that `listing_taxonomy` `fields` lists.
    #[schemars(length(min = 1, max = 60))]
    pub field: String,
    pub op: Operator,
    /// What to compare with; a list for `in`.
    pub value: Value,
    /// How much a wish counts beside the others; 1 if it is left out.
    #[schemars(range(min = 0, max = 10))]
    pub weight: Option<f64>,
}

/// What a listing asks of those it meets.
#[message(Default, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct Criteria {
    /// Has to be so.
    #[schemars(length(max = 20))]
    pub must: Vec<Criterion>,
    /// Would be welcome.
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
}

/// The output of `listing_taxonomy check`: the listing's own part in its normal form, and what
/// holds for its category.
#[message]
pub struct Checked {
    /// Without what says nothing: empty lists, and elements that stand twice.
    pub attributes: Map<String, Value>,
    pub category: Category,
    pub policy: Policy,
    pub keys: Keys,
}

#[message]
pub struct Category {
    pub label: String,
    /// Other words for it, and those of the categories above.
    pub synonyms: Vec<String>,
    pub schema_org_type: String,
    /// The category and side of the listings it meets.
    pub counterpart: String,
    pub counterpart_side: Side,
}

/// The rules for listings of a category.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub struct Policy {
    /// How old a person has to be to list, see and contact.
    pub min_age: Option<u8>,
    pub prohibited_criteria: Vec<String>,
    pub default_ttl_days: u16,
    pub proposal_cost: u32,
    pub min_radius_km: Option<u16>,
    /// `public`, or `network`.
    pub default_visibility: String,
}

/// Attributes as texts that an index compares.
#[message(Default)]
pub struct Keys {
    /// One for each value: equal if the values are.
    pub facts: Vec<String>,
    /// One for each value that has an order: between two bounds if the value is.
    pub ranks: Vec<String>,
}

/// A search's comparisons of attributes, by field.
pub type Filters = BTreeMap<String, Comparison>;

/// What is asked of one attribute; all of it has to hold.
#[message(Default, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Comparison {
    /// The value is this one; of a list, one of its elements is.
    pub eq: Option<Value>,
    /// The value is one of these; of a list, one of its elements is.
    #[serde(rename = "in", skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 50))]
    pub one_of: Option<Vec<Value>>,
    /// At least.
    pub gte: Option<Value>,
    /// At most.
    pub lte: Option<Value>,
}

/// The input of `listing_taxonomy narrow`.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
pub struct NarrowInput {
    /// Everything below it counts too; without it, every category does.
    #[schemars(length(min = 1, max = 64))]
    pub code: Option<String>,
    pub filters: Filters,
    /// How far around a point is searched.
    pub radius_km: Option<f64>,
}

/// The output of `listing_taxonomy narrow`: what to compare keys with; all of it has to hold.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Narrowed {
    /// Of the category that was named.
    pub min_age: Option<u8>,
    /// One of the facts of each of these is there.
    pub facts: Vec<Vec<String>>,
    /// A rank lies between each two of these, both included.
    pub ranks: Vec<(String, String)>,
}

/// One thing that does not fit.
#[document(PartialEq)]
pub struct Misfit {
    /// A JSON Pointer (RFC 6901) into the body.
    pub pointer: String,
    pub rule: String,
    pub expected: Value,
}

#[derive(Debug, Serialize)]
pub struct Misfits {
    kind: &'static str,
    errors: Vec<Misfit>,
}

/// What a law or a policy does not allow to select by.
#[derive(Debug, Serialize)]
pub struct Prohibited {
    kind: &'static str,
    policy: &'static str,
    /// Such as `religion`, or `distance_km` for one that is too small.
    prohibited: Vec<&'static str>,
    /// JSON Pointers (RFC 6901) into the body.
    pointers: Vec<String>,
    help_slug: &'static str,
}

impl Prohibited {
    fn new(found: Vec<Breach>) -> Self {
        let radius = found.iter().all(|breach| breach.prohibited == DISTANCE);
        let mut prohibited: Vec<_> = found.iter().map(|breach| breach.prohibited).collect();
        prohibited.sort_unstable();
        prohibited.dedup();
        Self {
            kind: "policy",
            policy: if radius { "min_radius_km" } else { "prohibited_criteria" },
            prohibited,
            pointers: found.into_iter().map(|breach| breach.pointer).collect(),
            help_slug: "safety-and-fairness",
        }
    }
}

/// How far apart the places of two listings are.
pub const DISTANCE: &str = "distance_km";

/// One place where something prohibited is asked for.
#[derive(Debug, Clone, PartialEq)]
pub struct Breach {
    pub pointer: String,
    pub prohibited: &'static str,
}

/// Why a listing or a search does not fit its category.
#[derive(Debug, Refusals)]
pub enum TaxonomyError {
    /// There is no category with this code. The tree lists those there are.
    #[refusal(not_found, next = tree(nearest))]
    CategoryUnknown { nearest: Option<String> },
    /// The attributes or criteria do not fit the category: see conflict for which and why. The
    /// category's fields say what fits.
    #[refusal(
        invalid,
        conflict_detail = Misfits { kind: "validation", errors },
        next = fields(code, side)
    )]
    AttributesInvalid { code: String, side: Side, errors: Vec<Misfit> },
    /// Nobody may be selected by this in this category. Its policy says what is prohibited.
    #[refusal(
        unprocessable,
        conflict_detail = Prohibited::new(found),
        next = get(code)
    )]
    CriteriaProhibited { code: String, found: Vec<Breach> },
    /// Nobody may search by this in this category. Its policy says what is prohibited.
    #[refusal(
        unprocessable,
        conflict_detail = Prohibited::new(found),
        next = get(code)
    )]
    FilterProhibited { code: String, found: Vec<Breach> },
    #[refusal(transparent)]
    Common(Refusal),
}

impl TaxonomyError {
    /// With its pointers, which are into the body of a listing, moved to where attributes and
    /// criteria stand.
    #[must_use]
    pub fn at(self, attributes: &str, criteria: &str) -> Self {
        let mut refusal = Refusal::from(self);
        if let Some(conflict) = refusal.conflict.as_deref_mut() {
            let move_to = |pointer: &mut Value| {
                for (part, to) in [("/attributes", attributes), ("/criteria", criteria)] {
                    let rest = pointer.as_str().and_then(|pointer| pointer.strip_prefix(part));
                    if let Some(moved) = rest.map(|rest| format!("{to}{rest}")) {
                        *pointer = moved.into();
                        return;
                    }
                }
            };
            let list = |conflict: &mut Value, name: &str| conflict.get_mut(name).map(Value::take);
            if let Some(Value::Array(mut errors)) = list(conflict, "errors") {
                errors.iter_mut().filter_map(|error| error.get_mut("pointer")).for_each(move_to);
                conflict["errors"] = errors.into();
            }
            if let Some(Value::Array(mut pointers)) = list(conflict, "pointers") {
                pointers.iter_mut().for_each(move_to);
                conflict["pointers"] = pointers.into();
            }
        }
        Self::Common(refusal)
    }
}

fn call(action: &str) -> Next {
    Next::action("listing_taxonomy", action)
}

/// The part of the tree that a code was probably meant to be in.
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

/// The listing's part in its normal form.
pub fn check(input: &CheckInput) -> Result<Checked, TaxonomyError> {
    invoke::call("listing_taxonomy", "check", input).map_err(TaxonomyError::Common)
}

/// What a search has to compare.
pub fn narrow(input: &NarrowInput) -> Result<Narrowed, TaxonomyError> {
    invoke::call("listing_taxonomy", "narrow", input).map_err(TaxonomyError::Common)
}
