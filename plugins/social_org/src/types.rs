//! Inputs, what is kept, and events.

use crate::{
    life::{MemberState, OrgState, Role},
    refusal::OrgError,
};
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "social_org";

/// Active organisations that a person may have founded.
pub(crate) const MOST_FOUNDED: u64 = 10;
/// Members of one organisation, and invitations that are open at a time.
pub(crate) const MOST_MEMBERS: u64 = 200;
pub(crate) const MOST_INVITED: u64 = 50;
/// How long an invitation is open.
pub(crate) const INVITE_FOR: u64 = 14 * DAY;
/// How long who has declined is left alone, and for how long nobody is invited again after an
/// invitation was taken back.
pub(crate) const AFTER_DECLINED: u64 = 90 * DAY;
pub(crate) const AFTER_WITHDRAWN: u64 = DAY;

pub(crate) const ORGS: Collection<Org> = Collection::new("orgs")
    .unique("name", &["name_key"])
    .index("kind", &["state", "kind", "verified", "name_key"])
    .text(&["name", "domain"]);
/// By the ids of both, joined by a slash.
pub(crate) const MEMBERS: Collection<Member> = Collection::new("members")
    .index("org", &["org_id", "state", "role"])
    .index("owner", &["owner_id", "state"]);
/// Which organisation stands for a target of the map, by the target's id.
pub(crate) const TARGETS: Collection<Target> = Collection::new("targets");
/// How many organisations a person has founded and not archived, by the person's id.
pub(crate) const FOUNDERS: Collection<Founder> = Collection::new("founders");

pub(crate) const INVITED: Event<Data<Invitation>> = Event::new("org.invited");
pub(crate) const MEMBER_CHANGED: Event<Data<Change>> = Event::new("org.member_changed");
pub(crate) const VERIFIED: Event<Data<Verified>> = Event::new("org.verified");
pub(crate) const ARCHIVED: Event<Data<OfOrg>> = Event::new("org.archived");

#[derive(Serialize)]
pub(crate) struct Invitation {
    pub(crate) org_id: String,
    pub(crate) role: Role,
    pub(crate) expires_at: String,
}

#[derive(Serialize)]
pub(crate) struct Change {
    pub(crate) org_id: String,
    pub(crate) owner_id: String,
    pub(crate) role: Role,
}

#[derive(Serialize)]
pub(crate) struct Verified {
    pub(crate) verified: bool,
}

#[derive(Serialize)]
pub(crate) struct OfOrg {
    pub(crate) org_id: String,
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
    /// What makes a name the same name; the organisation's id once it is archived.
    pub(crate) name_key: String,
    pub(crate) kind: Kind,
    pub(crate) domain: Option<String>,
    pub(crate) verified: bool,
    pub(crate) target_id: Option<String>,
    pub(crate) state: OrgState,
    pub(crate) founder: String,
    pub(crate) members: u64,
    /// Of the members, so that two who go at once cannot both be the last but one.
    pub(crate) owners: u64,
    pub(crate) invited: u64,
}

#[derive(Clone, Serialize, Deserialize)]
#[entity(kind = "membership", collection = MEMBERS, not_found = OrgError::InviteNotFound)]
pub(crate) struct Member {
    pub(crate) org_id: String,
    pub(crate) owner_id: String,
    pub(crate) role: Role,
    pub(crate) state: MemberState,
    /// Milliseconds since the Unix epoch: when the state was reached.
    pub(crate) since: u64,
    #[serde(default)]
    pub(crate) invited_by: Option<String>,
    #[serde(default)]
    pub(crate) expires_at: Option<u64>,
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
    #[schemars(length(min = 1, max = 200))]
    pub(crate) q: Option<String>,
    /// This kind only.
    pub(crate) kind: Option<Kind>,
    /// Only those that are, or are not, verified.
    pub(crate) verified: Option<bool>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct OrgId {
    /// The organisation, `org_` and a ULID.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) org_id: String,
}

#[input]
pub(crate) struct ListMine {
    /// `member` and `invited` if left out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 7))]
    pub(crate) state: Vec<MemberState>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct ListMembers {
    /// The organisation.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) org_id: String,
    /// `member`, or another state for admins, such as `invited`.
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
    /// As everybody sees it. No other organisation may have it in another case, with other accents or punctuation.
    #[schemars(length(min = 2, max = 80))]
    pub(crate) name: String,
    /// What sort of organisation it is.
    pub(crate) kind: Kind,
    /// Its domain, such as `copperleaf.example`. It counts as its own word until it is verified.
    #[schemars(regex(pattern = DOMAIN), length(max = 253))]
    pub(crate) domain: Option<String>,
}

#[input]
pub(crate) struct Update {
    /// The organisation.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) org_id: String,
    /// Another name; it ends the verification.
    #[schemars(length(min = 2, max = 80))]
    pub(crate) name: Option<String>,
    /// Another sort.
    pub(crate) kind: Option<Kind>,
    /// Another domain, or null for none; it ends the verification.
    #[schemars(regex(pattern = DOMAIN), length(max = 253))]
    pub(crate) domain: Option<Option<String>>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Invite {
    /// The organisation.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) org_id: String,
    /// Whom to invite, `own_` and a ULID.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) owner_id: String,
    /// As what; not above your own role.
    #[serde(default = "lowest")]
    pub(crate) role: Role,
    /// The organisation's version that was read: if there is a newer one by now, nothing is changed.
    pub(crate) expected_version: Option<Version>,
}

fn lowest() -> Role {
    Role::Member
}

#[choice]
pub(crate) enum Decision {
    Accept,
    Decline,
}

#[input]
pub(crate) struct Respond {
    /// The organisation that invites.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) org_id: String,
    /// Whether to become a member.
    pub(crate) decision: Decision,
}

#[input]
pub(crate) struct SetRole {
    /// The organisation.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) org_id: String,
    /// A member, as `members` lists them.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) owner_id: String,
    /// The new role; neither it nor the one before may be above your own.
    pub(crate) role: Role,
    /// The organisation's version that was read: if there is a newer one by now, nothing is changed.
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct OfMember {
    /// The organisation.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) org_id: String,
    /// A person in it, as `members` lists them.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) owner_id: String,
    /// The organisation's version that was read: if there is a newer one by now, nothing is changed.
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Whole {
    /// The organisation.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) org_id: String,
    /// The organisation's version that was read: if there is a newer one by now, nothing is changed.
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct LinkTarget {
    /// The organisation.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) org_id: String,
    /// What it is on the map, `tgt_…`; null takes the link away.
    #[schemars(regex(pattern = "^tgt_[A-Za-z0-9_-]{1,60}$"))]
    #[nullable]
    pub(crate) target_id: Option<String>,
    /// The organisation's version that was read: if there is a newer one by now, nothing is changed.
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct SetVerified {
    #[schemars(length(min = 1, max = 40))]
    pub(crate) org_id: String,
    /// Whether it has proved to be who it says.
    pub(crate) verified: bool,
    /// The domain that was proved; if the organisation has another one by now, nothing is changed.
    pub(crate) domain: Option<String>,
}

/// What is used of the event `verification.updated`.
#[input]
pub(crate) struct Verification {
    /// None if it is not about an organisation.
    pub(crate) org_id: Option<String>,
    pub(crate) domain: String,
    /// Whether somebody has proved it, and it holds.
    pub(crate) anybody_verified: bool,
}

#[input]
pub(crate) struct InviteEnds {
    pub(crate) org_id: String,
    pub(crate) owner_id: String,
}
