//! Inputs, outputs, what is kept, and refusals.

use crate::judge::{Shape, Step};
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "social_permissions";

/// What people may grant on one object, and how many sets may be among it.
pub(crate) const MOST_GRANTS: u64 = 100;
pub(crate) const MOST_SETS: u64 = 20;
/// Documents that one call looks at: less than the host lets it, because it may be part of another's.
pub(crate) const MOST_LOOKS: u32 = 4000;

/// What is stated, by the tuple's own text.
pub(crate) const TUPLES: Collection<Kept> = Collection::new("tuples")
    .index("object", &["object", "relation", "shape"])
    .index("subject", &["subject", "relation"])
    .index("granted", &["object", "granted"]);

/// Of each object that people granted something on: two grants at once both write it, and so neither is
/// counted without the other.
pub(crate) const OBJECTS: Collection<Granted> = Collection::new("objects");

#[derive(Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) object: String,
    pub(crate) relation: String,
    pub(crate) subject: String,
    pub(crate) shape: Shape,
    /// By a person, and not stated by another capability.
    pub(crate) granted: bool,
    #[serde(default)]
    pub(crate) granted_by: Option<String>,
    /// Milliseconds since the Unix epoch.
    #[serde(default)]
    pub(crate) expires_at: Option<u64>,
}

impl Kept {
    pub(crate) fn is_over(&self, now: u64) -> bool {
        self.expires_at.is_some_and(|at| at <= now)
    }
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Granted {
    pub(crate) grants: u64,
    pub(crate) sets: u64,
}

/// A question.
#[input(Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct Ask {
    /// Who: `me` if left out, which is your person and you; else `owner:…`, `agent:…`, `org:…#member`, or `*` for everybody.
    #[serde(default = "me", skip_serializing_if = "is_me")]
    #[schemars(length(min = 1, max = 100))]
    pub(crate) subject: String,
    /// Such as `can_message`; `model` lists them.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) relation: String,
    /// Such as `listing:lst_…`; `owner:me` and `calendar:me` are your person's.
    #[schemars(length(min = 3, max = 100))]
    pub(crate) object: String,
}

pub(crate) fn me() -> String {
    "me".into()
}

fn is_me(subject: &String) -> bool {
    subject == "me"
}

#[input]
pub(crate) struct AskMany {
    /// At most 50.
    #[schemars(length(min = 1, max = 50))]
    pub(crate) questions: Vec<Ask>,
}

#[output]
pub(crate) struct Judged {
    pub(crate) allowed: bool,
    /// Why, from the question down to what is stated; empty if it does not hold.
    pub(crate) reason_path: Vec<Step>,
    /// RFC 3339: everything that was committed before this instant is taken into account. There is nothing to
    /// send along: no answer is ever older than its call.
    pub(crate) consistency_token: String,
}

#[output]
pub(crate) struct JudgedMany {
    /// In the order of the questions.
    pub(crate) items: Vec<JudgedOne>,
    /// As in `check`.
    pub(crate) consistency_token: String,
}

#[output]
pub(crate) struct JudgedOne {
    /// False too if the question was refused.
    pub(crate) allowed: bool,
    pub(crate) reason_path: Vec<Step>,
    /// What `check` would refuse this question with.
    pub(crate) error_code: Option<String>,
}

#[input]
pub(crate) struct ListObjects {
    /// The type of the objects, such as `listing`.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) object_type: String,
    /// Which relation to have to them, such as `editor`.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) relation: String,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

/// A relation of an object that the caller governs.
#[input]
pub(crate) struct Governed {
    /// An object that you govern, such as `listing:lst_…`, `owner:me` or `calendar:me`.
    #[schemars(length(min = 3, max = 100))]
    pub(crate) object: String,
    /// Such as `can_view`.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) relation: String,
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
    /// The tree in preorder: what belongs to a node follows it, one deeper.
    pub(crate) nodes: Vec<Branch>,
    /// As in `check`.
    pub(crate) consistency_token: String,
}

#[output]
pub(crate) struct Branch {
    /// 0 for the question.
    pub(crate) depth: u32,
    /// `relation` for a relation of an object; `any`, `all` or `but_not` over what follows; `stated` for
    /// subjects; `everybody`; `itself`; `unknown` for what only others may know.
    pub(crate) operation: &'static str,
    pub(crate) object: String,
    pub(crate) relation: String,
    /// Whom it is stated of, at most 100.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) subjects: Vec<String>,
}

#[input]
pub(crate) struct ListGrants {
    /// An object that you govern; without it, what names you as the subject.
    #[schemars(length(min = 3, max = 100))]
    pub(crate) object: Option<String>,
    /// This relation only.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) relation: Option<String>,
    /// With an object: this subject only.
    #[schemars(length(min = 1, max = 100))]
    pub(crate) subject: Option<String>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[choice(Default)]
pub(crate) enum Otherwise {
    #[default]
    Error,
    Ignore,
}

#[input]
pub(crate) struct Grant {
    /// To whom: `owner:…`, `agent:…` or `org:…#member`, as `model` says under `grantable_to`.
    #[schemars(length(min = 1, max = 100))]
    pub(crate) subject: String,
    /// Such as `freebusy_viewer`.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) relation: String,
    /// What you govern: `owner:me`, `calendar:me`, a listing of yours.
    #[schemars(length(min = 3, max = 100))]
    pub(crate) object: String,
    /// RFC 3339: when it ends by itself. Without it, it stays until it is revoked.
    #[schemars(extend("format" = "date-time"), length(max = 40))]
    pub(crate) expires_at: Option<String>,
    /// If it holds already: refuse with `tuple_exists`, or answer what there is, unchanged.
    #[serde(default)]
    pub(crate) on_duplicate: Otherwise,
}

#[input]
pub(crate) struct Revoke {
    /// From whom, as it was granted.
    #[schemars(length(min = 1, max = 100))]
    pub(crate) subject: String,
    /// Such as `freebusy_viewer`.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) relation: String,
    /// What you govern: `owner:me`, `calendar:me`, a listing of yours.
    #[schemars(length(min = 3, max = 100))]
    pub(crate) object: String,
    /// If it does not hold: refuse with `tuple_missing`, or leave it at that.
    #[serde(default)]
    pub(crate) on_missing: Otherwise,
}

/// One statement.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TupleView {
    pub(crate) object: String,
    pub(crate) relation: String,
    pub(crate) subject: String,
    /// True if a person granted it, false if it follows from what another capability keeps.
    pub(crate) granted: bool,
    /// Whether the caller may revoke it.
    pub(crate) allowed_actions: Vec<&'static str>,
    /// RFC 3339.
    pub(crate) expires_at: Option<String>,
    /// RFC 3339.
    pub(crate) created_at: String,
}

impl TupleView {
    pub(crate) fn of(kept: &Kept, created_at: u64, governed: bool) -> Self {
        view!(kept => Self {
            object, relation, subject, granted;
            allowed_actions: if kept.granted && governed { vec!["revoke"] } else { Vec::new() },
            expires_at: kept.expires_at.map(rfc3339),
            created_at: rfc3339(created_at),
        })
    }
}

#[output]
pub(crate) struct Revoked {
    pub(crate) object: String,
    pub(crate) relation: String,
    pub(crate) subject: String,
    /// False if there was nothing to revoke.
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
    /// Who has this relation may read what is stated of the object, and grant.
    pub(crate) governed_by: Option<&'static str>,
    pub(crate) relations: Vec<RelationView>,
}

#[output]
pub(crate) struct RelationView {
    pub(crate) relation: &'static str,
    pub(crate) meaning: &'static str,
    /// When it holds, in the manner of OpenFGA; in brackets, whom it can be stated of.
    pub(crate) define: String,
    /// Whom `grant` takes as the subject; empty if people do not grant it.
    pub(crate) grantable_to: Vec<String>,
    /// Whether the subject may ask for it; who governs the object always may, but for what others blocked.
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
    /// Whose agent it is by now; absent where it is nobody's any more.
    pub(crate) owner_id: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct DuplicateTuple {
    kind: &'static str,
    granted: bool,
    expires_at: Option<String>,
}

impl DuplicateTuple {
    pub(crate) fn of(kept: &Kept) -> Self {
        let expires_at = kept.expires_at.map(rfc3339);
        Self { kind: "duplicate", granted: kept.granted, expires_at }
    }
}

#[derive(Refusals)]
pub(crate) enum PermissionsError {
    /// The model has no such relation, or not for such a subject: see model.
    #[refusal(invalid, next = Next::action(CAPABILITY, "model"))]
    RelationUnknown,
    /// This is stated already.
    #[refusal(conflict, conflict_detail = existing, next = list_grants(object))]
    TupleExists { existing: DuplicateTuple, object: String },
    /// Nothing of the kind was granted.
    #[refusal(not_found, next = list_grants(object))]
    TupleMissing { object: String },
    /// There are too many relations: see conflict for which limit it is.
    #[refusal(conflict, conflict_detail = limit, next = next)]
    TupleLimit { limit: Box<Limit>, next: Next },
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) type Result<T, E = PermissionsError> = std::result::Result<T, E>;

pub(crate) fn list_grants(object: impl Into<String>) -> Next {
    Next::action(CAPABILITY, "list_grants").field("object", object.into())
}

/// The caller's own relations.
pub(crate) fn own_grants() -> Next {
    Next::action(CAPABILITY, "list_grants")
}
