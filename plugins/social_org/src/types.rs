//! Inputs, stored documents and events.

use crate::{refusal::OrgError, states::*};
use portolan_sdk::{documents::Person, prelude::*};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) const CAPABILITY: &str = "social_org";

/// The organisation.
#[id]
pub(crate) struct Id(String);

/// The maximum number of active organisations that a person has created.
pub(crate) const MOST_FOUNDED: u64 = 10;
/// The maximum number of members of one organisation.
pub(crate) const MOST_MEMBERS: u64 = 200;
/// The maximum number of open invitations of one organisation.
pub(crate) const MOST_INVITED: u64 = 50;
/// The time for which an invitation is open.
pub(crate) const INVITE_FOR: u64 = 14 * DAY;
/// The cooldown after a declined invitation.
pub(crate) const AFTER_DECLINED: u64 = 90 * DAY;
/// The cooldown after a withdrawn invitation.
pub(crate) const AFTER_WITHDRAWN: u64 = DAY;
/// The time without a call by any of their agents after which a person counts as gone.
pub(crate) const GONE_AFTER: u64 = 60 * DAY;
/// The time until an admin who has requested it owns an organisation whose owner is gone.
pub(crate) const WAIT_OF_ADMIN: u64 = 7 * DAY;
/// The same for a person who has proved the organisation's domain.
pub(crate) const WAIT_OF_DOMAIN: u64 = 14 * DAY;
/// The same for any other member.
pub(crate) const WAIT_OF_MEMBER: u64 = 30 * DAY;

pub(crate) const ORGS: Collection<Org> = Collection::new("orgs")
    .people(&[
        Person::delete("sole_member"),
        Person::redact("founder", &[]),
        Person::remove("roles{}"),
        Person::remove("invited[]"),
        Person::remove("verified_by[]"),
        Person::redact("succession.by", &[]),
    ])
    .unique("name", &["name_key"])
    .index("kind", &["state", "kind", "verified", "name_key"])
    .text(&["name", "domain"]);
/// The memberships, keyed by the ids of the organisation and the person, joined by a slash.
pub(crate) const MEMBERS: Collection<Member> = Collection::new("members")
    .people(&[Person::delete("$id"), Person::delete("owner_id"), Person::redact("invited_by", &[])])
    .index("org", &["org_id", "state", "role"])
    .index("owner", &["owner_id", "state"]);
/// The organisation that is linked to a target of the map, keyed by the target's id.
pub(crate) const TARGETS: Collection<Target> = Collection::new("targets").nobody();
/// The number of organisations that a person has created and not archived, keyed by the person's
/// id.
pub(crate) const FOUNDERS: Collection<Founder> =
    Collection::new("founders").people(&[Person::delete("$id")]);

pub(crate) const INVITED: Event<Data<Facts>> = Event::new("org.invited");
pub(crate) const MEMBER_CHANGED: Event<Data<Facts>> = Event::new("org.member_changed");
pub(crate) const VERIFIED: Event<Data<Facts>> = Event::new("org.verified");
/// An organisation is linked to a target of the map. Only capabilities receive it.
pub(crate) const TARGET_LINKED: Event<Data<Facts>> = Event::new("org.target_linked");
pub(crate) const ARCHIVED: Event<Data<Facts>> = Event::new("org.archived");
pub(crate) const SUCCESSION_REQUESTED: Event<Data<Facts>> = Event::new("org.succession_requested");
pub(crate) const SUCCESSION_REFUSED: Event<Data<Facts>> = Event::new("org.succession_refused");
pub(crate) const OWNER_CHANGED: Event<Data<Facts>> = Event::new("org.owner_changed");

/// The facts of the events; each event has some of them.
#[output(Default)]
pub(crate) struct Facts {
    pub(crate) org_id: Option<String>,
    pub(crate) owner_id: Option<String>,
    pub(crate) role: Option<Role>,
    pub(crate) expires_at: Option<String>,
    pub(crate) verified: Option<bool>,
    /// When a request to own the organisation takes effect (RFC 3339).
    pub(crate) due_at: Option<String>,
    /// The end without effect of a request to own the organisation.
    pub(crate) succession: Option<SuccessionState>,
    pub(crate) target_id: Option<String>,
}

#[choice]
pub(crate) enum Kind {
    Company,
    Fund,
    Agency,
    Community,
    Landlord,
    LawFirm,
}

#[document]
#[entity(kind = "org", collection = ORGS, not_found = OrgError::OrgNotFound)]
pub(crate) struct Org {
    pub(crate) name: String,
    /// The key of the name; the organisation's id once it is archived.
    pub(crate) name_key: String,
    pub(crate) kind: Kind,
    pub(crate) domain: Option<String>,
    pub(crate) verified: bool,
    pub(crate) target_id: Option<String>,
    pub(crate) state: OrgState,
    pub(crate) founder: String,
    /// The roles of the members. They are in this one document, so that two owners who leave at the
    /// same time conflict and the last one is refused.
    #[serde(default)]
    pub(crate) roles: BTreeMap<String, Role>,
    /// The people with an open invitation.
    #[serde(default)]
    pub(crate) invited: BTreeSet<String>,
    /// The member, while there is only one: their erasure deletes the organisation.
    #[serde(default)]
    pub(crate) sole_member: Option<String>,
    /// The people who have proved the domain.
    #[serde(default)]
    pub(crate) verified_by: BTreeSet<String>,
    /// The last request to own the organisation.
    #[serde(default)]
    pub(crate) succession: Option<Succession>,
}

/// A request to own an organisation whose owner is gone. Times are milliseconds since the Unix
/// epoch.
#[document]
pub(crate) struct Succession {
    pub(crate) by: String,
    pub(crate) ground: Ground,
    pub(crate) state: SuccessionState,
    pub(crate) requested_at: u64,
    pub(crate) due_at: u64,
}

/// Why a person may own an organisation whose owner is gone.
#[choice]
pub(crate) enum Ground {
    /// They are an admin.
    Admin,
    /// They have proved its domain, and there is no admin.
    Domain,
    /// They are a member, and there is neither an admin nor anybody who has proved the domain.
    Member,
}

impl Org {
    /// Returns the request to own the organisation that has not ended.
    pub(crate) fn open_succession(&self) -> Option<&Succession> {
        self.succession.as_ref().filter(|request| request.state == SuccessionState::Requested)
    }

    /// Returns the members with at least this role.
    pub(crate) fn members_from(&self, role: Role) -> Vec<String> {
        let from = self.roles.iter().filter(|(_, own)| **own >= role);
        from.map(|(owner_id, _)| owner_id.clone()).collect()
    }

    /// Returns whether the person is the only owner.
    pub(crate) fn is_last_owner(&self, owner_id: &str) -> bool {
        self.members_from(Role::Owner) == [owner_id]
    }

    /// Returns whether the organisation has no owner, and the person is its only admin.
    pub(crate) fn is_last_admin(&self, owner_id: &str) -> bool {
        self.members_from(Role::Admin) == [owner_id] && !self.is_last_owner(owner_id)
    }
}

#[derive(Clone, Serialize, Deserialize)]
#[entity(kind = "membership", collection = MEMBERS, not_found = OrgError::InviteNotFound)]
pub(crate) struct Member {
    pub(crate) org_id: String,
    pub(crate) owner_id: String,
    pub(crate) role: Role,
    pub(crate) state: MemberState,
    /// When the state was reached, in milliseconds since the Unix epoch.
    pub(crate) since: u64,
    #[serde(default)]
    pub(crate) invited_by: Option<String>,
    #[serde(default)]
    pub(crate) expires_at: Option<u64>,
}

/// Returns the role of a membership that is active.
pub(crate) fn role_of(member: Option<&Member>) -> Option<Role> {
    member.filter(|member| member.state == MemberState::Member).map(|member| member.role)
}

#[derive(Serialize, Deserialize)]
pub(crate) struct Target {
    pub(crate) org_id: String,
}

#[derive(Default, Serialize, Deserialize)]
pub(crate) struct Founder {
    pub(crate) founded: u64,
}

const DOMAIN: &str = "^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?[.])+[a-z]{2,63}$";

#[input]
pub(crate) struct Search {
    /// Words of the name or the domain.
    pub(crate) q: Option<Text<1, 200>>,
    /// The kind of the organisations to return. Omit this field to get organisations of all kinds.
    pub(crate) kind: Option<Kind>,
    /// True to get only verified organisations, false to get only organisations that are not
    /// verified. Omit this field to get both.
    pub(crate) verified: Option<bool>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct OrgId {
    /// The organisation, `org_` and a ULID.
    pub(crate) org_id: Id,
}

#[input]
pub(crate) struct ListMine {
    /// The states of the memberships to return; by default `member` and `invited`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 7))]
    pub(crate) state: Vec<MemberState>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct ListMembers {
    pub(crate) org_id: Id,
    /// The state of the members: `member`, or another one for admins, such as `invited`.
    #[serde(default = "member", skip_serializing_if = "is_member")]
    pub(crate) state: MemberState,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

fn member() -> MemberState {
    MemberState::Member
}

fn is_member(state: &MemberState) -> bool {
    *state == MemberState::Member
}

#[input]
pub(crate) struct Create {
    /// The name that everybody sees. It must differ from the names of other organisations by more
    /// than case, accents and punctuation.
    pub(crate) name: Text<2, 80>,
    /// The kind of organisation.
    pub(crate) kind: Kind,
    /// Its domain, such as `copperleaf.example`. Answers have `verified` false until the domain is proved.
    #[schemars(regex(pattern = DOMAIN), length(max = 253))]
    pub(crate) domain: Option<String>,
}

#[input]
pub(crate) struct Update {
    pub(crate) org_id: Id,
    /// A new name.
    pub(crate) name: Option<Text<2, 80>>,
    /// A new kind.
    pub(crate) kind: Option<Kind>,
    /// A new domain, or null for none; it ends the verification.
    #[schemars(regex(pattern = DOMAIN), length(max = 253))]
    pub(crate) domain: Option<Option<String>>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Invite {
    pub(crate) org_id: Id,
    /// The person to invite: `own_` and a ULID.
    pub(crate) owner_id: Text<1, 40>,
    /// The role of the new member; not above your own role.
    #[serde(default)]
    pub(crate) role: Role,
    /// The organisation's version that was read. If it has changed since then, the call is refused.
    pub(crate) expected_version: Option<Version>,
}

#[choice]
pub(crate) enum Decision {
    Accept,
    Decline,
}

#[input]
pub(crate) struct Respond {
    /// The organisation that invites.
    pub(crate) org_id: Id,
    /// The answer to the invitation.
    pub(crate) decision: Decision,
}

#[input]
pub(crate) struct SetRole {
    pub(crate) org_id: Id,
    /// A member, from `members`.
    pub(crate) owner_id: Text<1, 40>,
    /// The new role. Neither it nor the present role may be above your own.
    pub(crate) role: Role,
    /// The organisation's version that was read. If it has changed since then, the call is refused.
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct MemberInput {
    pub(crate) org_id: Id,
    /// A person in the organisation, from `members`.
    pub(crate) owner_id: Text<1, 40>,
    /// The organisation's version that was read. If it has changed since then, the call is refused.
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct OrgVersion {
    pub(crate) org_id: Id,
    /// The organisation's version that was read. If it has changed since then, the call is refused.
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct LinkTarget {
    pub(crate) org_id: Id,
    /// The organisation's target of the map, `tgt_…`; null removes the link.
    #[schemars(regex(pattern = "^tgt_[A-Za-z0-9_-]{1,60}$"))]
    #[nullable]
    pub(crate) target_id: Option<String>,
    /// The organisation's version that was read. If it has changed since then, the call is refused.
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct SetVerified {
    pub(crate) org_id: Text<1, 40>,
    /// Whether it has proved its identity.
    pub(crate) verified: bool,
    /// The domain that was proved. If the organisation has another one by now, nothing changes.
    pub(crate) domain: Option<String>,
}

/// The part of the event `verification.updated` that is read.
#[input]
pub(crate) struct Verification {
    /// The organisation; `None` if the event is about a target.
    pub(crate) org_id: Option<String>,
    pub(crate) domain: String,
    /// Whether a person has proved it, and the proof is valid.
    pub(crate) anybody_verified: bool,
    /// The person whose verification it is.
    pub(crate) owner_id: String,
    pub(crate) resource: VerificationState,
}

/// The part of a verification that is read.
#[input]
pub(crate) struct VerificationState {
    pub(crate) state: String,
}

impl Verification {
    /// Returns whether this person's proof is valid.
    pub(crate) fn is_proved(&self) -> bool {
        ["verified", "stale"].contains(&self.resource.state.as_str())
    }
}

#[input]
pub(crate) struct InviteExpiry {
    pub(crate) org_id: String,
    pub(crate) owner_id: String,
}

/// The input of the timer of a request to own an organisation.
#[input]
pub(crate) struct SuccessionDue {
    pub(crate) org_id: String,
}

/// A person who is about to be erased: the data of `identity.owner_leaving`.
#[input]
pub(crate) struct Departure {
    /// The person.
    pub(crate) owner_id: Text<1, 40>,
}

/// A notice to members about the ownership of the organisation.
#[choice]
pub(crate) enum Notice {
    Requested,
    Refused,
    OwnerChanged,
    /// No owner is left.
    OwnerGone,
}

/// The input of `tell_members`.
#[input]
pub(crate) struct Telling {
    pub(crate) org_id: String,
    pub(crate) notice: Notice,
    /// The last person who was notified.
    pub(crate) after: String,
}
