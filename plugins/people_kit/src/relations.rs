//! Who may do what with what, and who must not see whom: asked of `social_permissions` and
//! `social_relationships`.

use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

/// One statement: the subject has the relation to the object.
#[message(PartialEq, Eq, PartialOrd, Ord)]
#[serde(deny_unknown_fields)]
pub struct Tuple {
    /// Such as `listing:lst_…`.
    #[schemars(length(min = 3, max = 100))]
    pub object: String,
    /// Such as `owner`.
    #[schemars(length(min = 1, max = 40))]
    pub relation: String,
    /// `owner:own_…`, `agent:agt_…`, `org:org_…#member`, or `*` for everybody.
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
pub struct Relate {
    /// Hold from now on; one that holds already is no error.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub write: Vec<Tuple>,
    /// Hold no longer; one that does not hold is no error.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub delete: Vec<Tuple>,
}

/// The input of `social_permissions allowed`.
#[message]
pub struct Question {
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
pub struct Whom {
    /// The person who looks.
    #[schemars(length(min = 1, max = 40))]
    pub viewer_id: String,
    /// Whom they would see.
    #[schemars(length(max = 100), inner(length(min = 1, max = 40)))]
    pub owner_ids: Vec<String>,
}

/// The output of `social_relationships hidden`.
#[message]
pub struct Hidden {
    pub owner_ids: Vec<String>,
}

/// States relations and takes them back, together with whatever else the call does.
pub fn relate(write: Vec<Tuple>, delete: Vec<Tuple>) -> Result<(), Refusal> {
    let NoOutput {} = invoke::call("social_permissions", "relate", &Relate { write, delete })?;
    Ok(())
}

/// Whether a relation holds, by itself or by the model; `not` if the subject is blocked.
pub fn allowed(tuple: Tuple) -> Result<bool, Refusal> {
    let verdict: Verdict = invoke::call("social_permissions", "allowed", &Question { tuple })?;
    Ok(verdict.allowed)
}

/// Whether a person has a relation to an object, such as `editor` to `listing:lst_1`.
pub fn may(object: impl Into<String>, relation: &str, owner_id: &str) -> Result<bool, Refusal> {
    allowed(Tuple::new(object, relation, format!("owner:{owner_id}")))
}

/// Whether one of the two has blocked the other.
pub fn are_blocked(one: &str, other: &str) -> Result<bool, Refusal> {
    Ok(!hidden(Some(one), [other])?.is_empty())
}

/// Which of at most 100 people the viewer must not see, because one of the two has blocked the
/// other. Somebody without a person behind them has blocked nobody.
pub fn hidden<'a>(
    viewer_id: Option<&str>,
    owner_ids: impl IntoIterator<Item = &'a str>,
) -> Result<BTreeSet<String>, Refusal> {
    let others: BTreeSet<&str> =
        owner_ids.into_iter().filter(|owner_id| Some(*owner_id) != viewer_id).collect();
    let Some(viewer_id) = viewer_id.filter(|_| !others.is_empty()) else {
        return Ok(BTreeSet::new());
    };
    let whom = Whom {
        viewer_id: viewer_id.to_owned(),
        owner_ids: others.into_iter().map(str::to_owned).collect(),
    };
    let answer: Hidden = invoke::call("social_relationships", "hidden", &whom)?;
    Ok(answer.owner_ids.into_iter().collect())
}
