//! How organisations and memberships are shown.

use crate::{
    life::{INVITED, MemberState, ORG, OrgState, Role, open, open_on},
    types::{Kind, Member, Org},
};
use people_kit::{UNTRUSTED, people::Person};
use portolan_sdk::prelude::*;

#[derive(Serialize, JsonSchema)]
pub(crate) struct OrgView {
    pub(crate) org_id: String,
    /// As its members chose it.
    name: String,
    kind: Kind,
    /// Its own word unless `verified`.
    domain: Option<String>,
    /// Whether it has proved that the domain is its own.
    verified: bool,
    /// What it is on the map.
    target_id: Option<String>,
    members_count: u64,
    state: OrgState,
    pub(crate) version: u64,
    /// What the caller's role opens now.
    pub(crate) allowed_actions: Vec<&'static str>,
    /// The caller's own; null for who has none.
    membership: Option<OwnMembership>,
    created_at: String,
    /// Always `untrusted_user_content`: name and domain were written by people.
    trust: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct OwnMembership {
    role: Role,
    state: MemberState,
    /// RFC 3339.
    since: String,
    /// Who invited.
    invited_by: Option<String>,
    /// RFC 3339: until when an invitation is open.
    expires_at: Option<String>,
}

/// The membership, as far as it counts.
pub(crate) fn role(member: Option<&Member>) -> Option<Role> {
    member.filter(|it| it.state == MemberState::Member).map(|it| it.role)
}

pub(crate) fn org(org: &Stored<Org>, own: Option<&Member>) -> OrgView {
    let mut allowed_actions = open(role(own), org.value.state);
    if own.is_some_and(|it| it.state == MemberState::Invited) {
        allowed_actions = ORG.allowed_as(INVITED, org.value.state);
    }
    let value = org.value.clone();
    OrgView {
        org_id: org.id.clone(),
        name: value.name,
        kind: value.kind,
        domain: value.domain,
        verified: value.verified,
        target_id: value.target_id,
        members_count: value.members,
        state: value.state,
        version: org.revision,
        allowed_actions,
        membership: own.map(|it| OwnMembership {
            role: it.role,
            state: it.state,
            since: rfc3339(it.since),
            invited_by: it.invited_by.clone(),
            expires_at: it.expires_at.map(rfc3339),
        }),
        created_at: rfc3339(org.created_at),
        trust: UNTRUSTED,
    }
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct MemberView {
    org_id: String,
    pub(crate) owner_id: String,
    /// The person's own words; null if they have none to show.
    display_name: Option<String>,
    role: Role,
    state: MemberState,
    /// RFC 3339: when the state was reached.
    since: String,
    /// RFC 3339: until when an invitation is open.
    expires_at: Option<String>,
    version: u64,
    /// What the caller may do with this membership.
    allowed_actions: Vec<&'static str>,
    /// Always `untrusted_user_content`: the name was written by the person.
    trust: &'static str,
}

/// A membership, for a member of this role or for whose it is.
pub(crate) fn member(
    member: &Stored<Member>,
    state: OrgState,
    caller: Option<Role>,
    caller_id: Option<&str>,
    person: Option<&Person>,
) -> MemberView {
    let value = &member.value;
    let is_own = caller_id == Some(value.owner_id.as_str());
    let mut allowed_actions = Vec::new();
    if state == OrgState::Active {
        allowed_actions = open_on(caller, is_own, value.state, value.role);
    }
    MemberView {
        org_id: value.org_id.clone(),
        owner_id: value.owner_id.clone(),
        display_name: person.filter(|it| it.active).and_then(|it| it.display_name.clone()),
        role: value.role,
        state: value.state,
        since: rfc3339(value.since),
        expires_at: value.expires_at.map(rfc3339),
        version: member.revision,
        allowed_actions,
        trust: UNTRUSTED,
    }
}
