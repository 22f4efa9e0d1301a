//! Inputs, outputs, stored documents and refusals.

use crate::{
    evaluate::{Shape, Step},
    model::BLOCKED,
};
use portolan_sdk::{
    documents::{Person, PersonalField::Personal},
    prelude::*,
};

pub(crate) const CAPABILITY: &str = "social_permissions";

/// The maximum number of grants of people on one object.
pub(crate) const MOST_GRANTS: u64 = 100;
/// The maximum number of sets among the subjects of these grants.
pub(crate) const MOST_SETS: u64 = 20;
/// The maximum number of grants of a person that one call compares with what they govern.
pub(crate) const MOST_ENDED: u32 = 50;
/// The maximum number of documents that one call reads. It is less than the host's limit, because
/// the call may be nested in another one.
pub(crate) const MOST_READS: u32 = 4000;

/// The tuples, keyed by their text.
pub(crate) const TUPLES: Collection<StoredTuple> = Collection::new("tuples")
    .version(2)
    .people(&[
        Person::delete("$id"),
        Person::delete("object"),
        Person::delete("subject"),
        Person::redact("granted_by", &[]),
        Person::delete("kept_by").fields(&[Personal("$id")]),
    ])
    .index("object", &["object", "relation", "shape"])
    .index("subject", &["subject", "relation"])
    .index("granted", &["object", "granted"])
    .index("granted_by", &["granted_by"]);

/// The number of grants on each object. Every grant writes it, so that two concurrent grants are
/// both counted.
pub(crate) const OBJECTS: Collection<Granted> =
    Collection::new("objects").people(&[Person::delete("$id")]);

#[derive(Serialize, Deserialize)]
pub(crate) struct StoredTuple {
    pub(crate) object: String,
    pub(crate) relation: String,
    pub(crate) subject: String,
    pub(crate) shape: Shape,
    /// Whether a person granted it; otherwise another capability stated it.
    pub(crate) granted: bool,
    #[serde(default)]
    pub(crate) granted_by: Option<String>,
    /// When it expires, in milliseconds since the Unix epoch.
    #[serde(default)]
    pub(crate) expires_at: Option<u64>,
    /// The object of a block, of which nobody else learns.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) kept_by: Option<String>,
}

impl StoredTuple {
    /// Makes a tuple that another capability states.
    pub(crate) fn stated(object: String, relation: String, subject: String) -> Self {
        let (shape, granted_by, expires_at) = (Shape::of(&subject), None, None);
        let (granted, kept_by) = (false, None);
        Self { object, relation, subject, shape, granted, granted_by, expires_at, kept_by }
            .with_keeper()
    }

    /// Returns the tuple with the person who keeps it, as version 2 has it.
    pub(crate) fn with_keeper(mut self) -> Self {
        self.kept_by = (self.relation == BLOCKED).then(|| self.object.clone());
        self
    }

    pub(crate) fn id(&self) -> String {
        crate::tuples::id(&self.object, &self.relation, &self.subject)
    }

    pub(crate) fn is_expired(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Granted {
    pub(crate) grants: u64,
    pub(crate) sets: u64,
}

/// The part of `org.member_changed` that is read, and where to go on with the person's grants.
#[input(Clone)]
pub(crate) struct MemberChanged {
    pub(crate) owner_id: String,
    #[serde(default)]
    pub(crate) cursor: Option<String>,
}

/// A question: whether a subject has a relation to an object.
#[input(Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct CheckInput {
    /// The subject: by default `me`, which means your person and you; else `owner:…`, `agent:…`,
    /// `org:…#member`, or `*` for everybody.
    #[serde(default = "me", skip_serializing_if = "is_me")]
    pub(crate) subject: Text<1, 100>,
    /// The relation, such as `can_message`; the action `model` lists the relations.
    pub(crate) relation: Text<1, 40>,
    /// The object, such as `listing:lst_…`; `owner:me` and `calendar:me` are your person's.
    pub(crate) object: Text<3, 100>,
}

fn me() -> Text<1, 100> {
    "me".into()
}

fn is_me(subject: &str) -> bool {
    subject == "me"
}

#[input]
pub(crate) struct BatchCheckInput {
    /// The questions, at most 50.
    #[schemars(length(min = 1, max = 50))]
    pub(crate) questions: Vec<CheckInput>,
}

#[output]
pub(crate) struct CheckOutput {
    pub(crate) allowed: bool,
    /// The derivation, from the question down to the stated tuples; empty if the relation does not
    /// hold.
    pub(crate) reason_path: Vec<Step>,
    /// The time of the answer (RFC 3339): everything that was committed before it is included. You
    /// do not have to send a token, because no answer is older than its call.
    pub(crate) consistency_token: String,
}

#[output]
pub(crate) struct BatchCheckOutput {
    /// The answers, in the order of the questions.
    pub(crate) items: Vec<BatchCheckItem>,
    /// The time of the answer, as in `check`.
    pub(crate) consistency_token: String,
}

#[output]
pub(crate) struct BatchCheckItem {
    /// Whether the relation holds; false too if the question was refused.
    pub(crate) allowed: bool,
    pub(crate) reason_path: Vec<Step>,
    /// The error code with which `check` would refuse this question.
    pub(crate) error_code: Option<String>,
}

#[input]
pub(crate) struct ListObjects {
    /// The type of the objects, such as `listing`.
    pub(crate) object_type: Text<1, 40>,
    /// The relation to them, such as `editor`.
    pub(crate) relation: Text<1, 40>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

/// A relation of an object that the caller governs.
#[input]
pub(crate) struct Governed {
    /// An object that you govern, such as `listing:lst_…`, `owner:me` or `calendar:me`.
    pub(crate) object: Text<3, 100>,
    /// The relation, such as `can_view`.
    pub(crate) relation: Text<1, 40>,
}

#[input]
pub(crate) struct ListSubjects {
    #[serde(flatten)]
    pub(crate) of: Governed,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[output]
pub(crate) struct Tree {
    /// The nodes of the tree in preorder: the children of a node follow it, one level deeper.
    pub(crate) nodes: Vec<Branch>,
    /// The time of the answer, as in `check`.
    pub(crate) consistency_token: String,
}

#[output]
pub(crate) struct Branch {
    /// The depth of the node; 0 for the question.
    pub(crate) depth: u32,
    /// The kind of node: `relation` for a relation of an object; `any`, `all` or `but_not` over
    /// what follows; `stated` for subjects; `everybody`; `itself`; `unknown` for what only others
    /// may know.
    pub(crate) operation: &'static str,
    pub(crate) object: String,
    pub(crate) relation: String,
    /// The subjects of the stated tuples, at most 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) subjects: Vec<String>,
}

#[input]
pub(crate) struct ListGrants {
    /// An object that you govern; without it, your own relations as a subject are listed.
    pub(crate) object: Option<Text<3, 100>>,
    /// The relation of the grants to return. Omit this field to get the grants of all relations.
    pub(crate) relation: Option<Text<1, 40>>,
    /// With `object`: the subject of the grants to return. Omit this field to get the grants of all
    /// subjects.
    pub(crate) subject: Option<Text<1, 100>>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[choice(Default)]
pub(crate) enum OnConflict {
    #[default]
    Error,
    Ignore,
}

#[input]
pub(crate) struct Grant {
    /// The subject: `owner:…`, `agent:…` or `org:…#member`, as `model` lists under `grantable_to`.
    pub(crate) subject: Text<1, 100>,
    /// The relation, such as `freebusy_viewer`.
    pub(crate) relation: Text<1, 40>,
    /// An object that you govern: `owner:me`, `calendar:me`, or a listing of yours.
    pub(crate) object: Text<3, 100>,
    /// When the grant expires (RFC 3339). Without it, it stays until it is revoked.
    #[schemars(extend("format" = "date-time"), length(max = 40))]
    pub(crate) expires_at: Option<String>,
    /// If it exists already: refuse with `tuple_exists`, or return the existing one unchanged.
    #[serde(default)]
    pub(crate) on_duplicate: OnConflict,
}

#[input]
pub(crate) struct Revoke {
    /// The subject of the grant.
    pub(crate) subject: Text<1, 100>,
    /// The relation, such as `freebusy_viewer`.
    pub(crate) relation: Text<1, 40>,
    /// An object that you govern: `owner:me`, `calendar:me`, or a listing of yours.
    pub(crate) object: Text<3, 100>,
    /// If there is no such grant: refuse with `tuple_missing`, or accept it.
    #[serde(default)]
    pub(crate) on_missing: OnConflict,
}

/// One tuple.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TupleView {
    pub(crate) object: String,
    pub(crate) relation: String,
    pub(crate) subject: String,
    /// Whether a person granted it; false if another capability stated it.
    pub(crate) granted: bool,
    /// Whether the caller may revoke it.
    pub(crate) allowed_actions: Vec<&'static str>,
    /// When it expires (RFC 3339).
    pub(crate) expires_at: Option<String>,
    /// When it was created (RFC 3339).
    pub(crate) created_at: String,
}

impl TupleView {
    pub(crate) fn of(stored: &StoredTuple, created_at: u64, governed: bool) -> Self {
        view!(stored => Self {
            object, relation, subject, granted;
            allowed_actions: if stored.granted && governed { vec!["revoke"] } else { Vec::new() },
            expires_at: stored.expires_at.map(rfc3339),
            created_at: rfc3339(created_at),
        })
    }
}

#[output]
pub(crate) struct Revoked {
    pub(crate) object: String,
    pub(crate) relation: String,
    pub(crate) subject: String,
    /// Whether it was revoked; false if there was nothing to revoke.
    pub(crate) revoked: bool,
}

#[output]
pub(crate) struct ModelView {
    pub(crate) types: Vec<KindView>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct KindView {
    #[serde(rename = "type")]
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
    /// The relation whose subjects may read the tuples of the object, and grant.
    pub(crate) governed_by: Option<&'static str>,
    pub(crate) relations: Vec<RelationView>,
}

#[output]
pub(crate) struct RelationView {
    pub(crate) relation: &'static str,
    pub(crate) meaning: &'static str,
    /// When it holds, in the manner of OpenFGA; in brackets, the kinds of subjects for which it can
    /// be stated.
    pub(crate) define: String,
    /// The kinds of subjects to which `grant` can grant it; empty if people cannot grant it.
    pub(crate) grantable_to: Vec<String>,
    /// Whether the subject may ask for it. The governor of the object always may, except for blocks
    /// by others.
    pub(crate) subject_may_ask: bool,
}

#[input]
pub(crate) struct TupleId {
    #[schemars(length(max = 128))]
    pub(crate) tuple: String,
}

#[input]
pub(crate) struct Agent {
    pub(crate) agent_id: String,
    /// The person of the agent; missing if it has none any more.
    pub(crate) owner_id: Option<String>,
}

#[derive(Refusals)]
pub(crate) enum PermissionsError {
    /// The model has no such relation, or not for this kind of subject: see model.
    #[refusal(invalid, next = Next::action(CAPABILITY, "model"))]
    RelationUnknown,
    /// This relation is stated already.
    #[refusal(
        conflict,
        conflict_detail = json!({ "kind": "duplicate", "granted": granted, "expires_at": expires_at }),
        next = list_grants(object)
    )]
    TupleExists { object: String, granted: bool, expires_at: Option<String> },
    /// There is no such grant.
    #[refusal(not_found, next = list_grants(object))]
    TupleMissing { object: String },
    /// There are too many relations: see conflict for the limit.
    #[refusal(conflict, conflict_detail = limit, next = next)]
    TupleLimit { limit: Box<Limit>, next: Next },
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) type Result<T, E = PermissionsError> = std::result::Result<T, E>;

pub(crate) fn own_grants() -> Next {
    Next::action(CAPABILITY, "list_grants")
}

pub(crate) fn list_grants(object: impl Into<String>) -> Next {
    own_grants().field("object", object.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_of_version_1_get_their_keeper() {
        for (relation, keeper) in [(BLOCKED, Some("owner:own_1")), ("follower", None)] {
            let of = |relation: &str| {
                StoredTuple::stated("owner:own_1".into(), relation.into(), "owner:own_2".into())
            };
            let old = StoredTuple { kept_by: None, ..of(relation) };
            assert_eq!(old.with_keeper().kept_by.as_deref(), keeper);
        }
    }
}
