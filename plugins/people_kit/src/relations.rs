//! Permissions and blocks: calls of `social_permissions` and `social_relationships`.

use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// One statement: the subject has the relation to the object.
#[message(PartialEq, Eq, PartialOrd, Ord)]
#[serde(deny_unknown_fields)]
pub struct Tuple {
    /// The object, such as `listing:lst_…`.
    #[schemars(length(min = 3, max = 100))]
    pub object: String,
    /// The relation, such as `owner`.
    #[schemars(length(min = 1, max = 40))]
    pub relation: String,
    /// The subject: `owner:own_…`, `agent:agt_…`, `org:org_…#member`, or `*` for everybody.
    #[schemars(length(min = 1, max = 100))]
    pub subject: String,
}

impl Tuple {
    pub fn new(
        object: impl Into<String>,
        relation: impl Into<String>,
        subject: impl Into<String>,
    ) -> Self {
        Self { object: object.into(), relation: relation.into(), subject: subject.into() }
    }
}

/// The input of `social_permissions relate`.
#[message(Default)]
pub struct RelationChanges {
    /// Tuples that hold from now on; it is no error if one holds already.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub write: Vec<Tuple>,
    /// Tuples that no longer hold; it is no error if one does not hold.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub delete: Vec<Tuple>,
}

/// The input of `social_permissions allowed`.
#[message]
pub struct RelationCheck {
    #[serde(flatten)]
    pub tuple: Tuple,
}

/// The output of `social_permissions allowed`.
#[message]
pub struct Verdict {
    pub allowed: bool,
}

/// The input of `social_relationships hidden`.
#[message]
pub struct HiddenQuery {
    /// The person who looks.
    #[schemars(length(min = 1, max = 40))]
    pub viewer_id: String,
    /// The people whom the viewer would see.
    #[schemars(length(max = 100), inner(length(min = 1, max = 40)))]
    pub owner_ids: Vec<String>,
}

/// The output of `social_relationships hidden`.
#[message]
pub struct Hidden {
    pub owner_ids: Vec<String>,
}

pub const RELATE: Invocation<RelationChanges, ()> = Invocation::new("social_permissions", "relate");
pub const ALLOWED: Invocation<RelationCheck, Verdict> =
    Invocation::new("social_permissions", "allowed");
pub const HIDDEN: Invocation<HiddenQuery, Hidden> =
    Invocation::new("social_relationships", "hidden");

/// Adds and removes relations in the unit of work of this call.
pub fn relate(write: Vec<Tuple>, delete: Vec<Tuple>) -> Result<(), Refusal> {
    RELATE.call(&RelationChanges { write, delete })
}

/// Returns whether the subject has the relation, by a stored tuple or by the rules of the model;
/// false if the subject is blocked.
pub fn allowed(tuple: Tuple) -> Result<bool, Refusal> {
    Ok(ALLOWED.call(&RelationCheck { tuple })?.allowed)
}

/// Returns whether a person has a relation to an object, such as `editor` to `listing:lst_1`.
pub fn has_relation(
    object: impl Into<String>,
    relation: &str,
    owner_id: &str,
) -> Result<bool, Refusal> {
    allowed(Tuple::new(object, relation, format!("owner:{owner_id}")))
}

/// Returns whether one of the two has blocked the other.
pub fn are_blocked(one: &str, other: &str) -> Result<bool, Refusal> {
    Ok(!hidden(Some(one), [other])?.is_empty())
}

/// Returns whether the first person has blocked the second.
pub fn has_blocked(blocker: &str, blocked: &str) -> Result<bool, Refusal> {
    has_relation(format!("owner:{blocker}"), "blocked", blocked)
}

/// Returns those of at most 100 people who are not visible to the viewer, because one of the two
/// has blocked the other. Without a viewer (an agent without an owner), nobody is hidden.
pub fn hidden<'a>(
    viewer_id: Option<&str>,
    owner_ids: impl IntoIterator<Item = &'a str>,
) -> Result<BTreeSet<String>, Refusal> {
    let others: BTreeSet<&str> =
        owner_ids.into_iter().filter(|owner_id| Some(*owner_id) != viewer_id).collect();
    let Some(viewer_id) = viewer_id.filter(|_| !others.is_empty()) else {
        return Ok(BTreeSet::new());
    };
    let owner_ids = others.into_iter().map(str::to_owned).collect();
    let hidden = HIDDEN.call(&HiddenQuery { viewer_id: viewer_id.to_owned(), owner_ids })?;
    Ok(hidden.owner_ids.into_iter().collect())
}
