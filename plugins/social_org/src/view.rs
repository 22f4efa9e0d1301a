//! How organisations and memberships are shown.

use crate::{
    states::*,
    types::{Kind, Member, Org},
};
use people_kit::{UNTRUSTED, people::Person};
use portolan_sdk::prelude::*;

#[derive(Serialize, JsonSchema)]
pub(crate) struct OrgView {
    pub(crate) org_id: String,
    /// The name that its members chose.
    name: String,
    kind: Kind,
    /// The domain. `verified` says whether the organisation has proved it.
    domain: Option<String>,
    /// Whether it has proved its domain.
    verified: bool,
    /// The linked target of the map.
    target_id: Option<String>,
    members_count: u64,
    state: OrgState,
    pub(crate) version: u64,
    /// The actions that the caller's role permits now.
    pub(crate) allowed_actions: Vec<&'static str>,
    /// The caller's own membership; null if there is none.
    membership: Option<OwnMembership>,
    created_at: String,
    /// Always `untrusted_user_content`: name and domain were written by people.
    trust: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct OwnMembership {
    role: Role,
    state: MemberState,
    /// When the state was reached (RFC 3339).
    since: String,
    /// The person who invited.
    invited_by: Option<String>,
    /// Until when the invitation is open (RFC 3339).
    expires_at: Option<String>,
}

/// Returns the role of a membership that is active.
pub(crate) fn role(member: Option<&Member>) -> Option<Role> {
    member.filter(|member| member.state == MemberState::Member).map(|member| member.role)
}

pub(crate) fn org(org: &Stored<Org>, own: Option<&Member>) -> OrgView {
    let allowed_actions = match own {
        Some(own) if own.state == MemberState::Invited => ORG.allowed_as(INVITEE, org.value.state),
        _ => allowed(role(own), org.value.state),
    };
    let value = &org.value;
    view!(value => OrgView {
        name, kind, domain, verified, target_id, state;
        org_id: org.id.clone(),
        members_count: value.roles.len() as u64,
        version: org.revision,
        allowed_actions,
        membership: own.map(|own| view!(own => OwnMembership {
            role, state, invited_by;
            since: rfc3339(own.since),
            expires_at: own.expires_at.map(rfc3339),
        })),
        created_at: rfc3339(org.created_at),
        trust: UNTRUSTED,
    })
}

#[derive(Serialize, JsonSchema)]
pub(crate) struct MemberView {
    org_id: String,
    pub(crate) owner_id: String,
    /// The name that the person has given themselves; null if there is none to show.
    display_name: Option<String>,
    role: Role,
    state: MemberState,
    /// When the state was reached (RFC 3339).
    since: String,
    /// Until when the invitation is open (RFC 3339).
    expires_at: Option<String>,
    version: u64,
    /// The actions that the caller may take on this membership.
    allowed_actions: Vec<&'static str>,
    /// Always `untrusted_user_content`: the name was written by the person.
    trust: &'static str,
}

/// Returns a membership as it is shown to a member with this role, or to the member themself.
pub(crate) fn member(
    member: &Stored<Member>,
    state: OrgState,
    caller: Option<Role>,
    caller_id: Option<&str>,
    person: Option<&Person>,
) -> MemberView {
    let value = &member.value;
    let is_own = caller_id == Some(value.owner_id.as_str());
    let allowed_actions = match state {
        OrgState::Active => allowed_on_member(caller, is_own, value.state, value.role),
        OrgState::Archived => Vec::new(),
    };
    let shown = person.filter(|person| person.active);
    view!(value => MemberView {
        org_id, owner_id, role, state;
        display_name: shown.and_then(|person| person.display_name.clone()),
        since: rfc3339(value.since),
        expires_at: value.expires_at.map(rfc3339),
        version: member.revision,
        allowed_actions,
        trust: UNTRUSTED,
    })
}
