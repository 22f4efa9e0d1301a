//! The views of organisations and memberships.

use crate::{
    allowed,
    states::*,
    types::{Ground, Kind, Member, Org, role_of},
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
    /// The last request to own the organisation because its owner is gone; only for its members and
    /// for the person who made it.
    succession: Option<SuccessionView>,
    created_at: String,
    /// Always `untrusted_user_content`: name and domain were written by people.
    trust: &'static str,
}

#[derive(Serialize, JsonSchema)]
struct SuccessionView {
    state: SuccessionState,
    /// The person who made the request.
    requested_by: String,
    ground: Ground,
    /// When it was made (RFC 3339).
    requested_at: String,
    /// When the person becomes the owner, unless an owner refuses it or is there again (RFC 3339).
    due_at: String,
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

/// Returns an organisation as the caller sees it; `own` is the caller's membership, if there ever
/// was one.
pub(crate) fn org(call: &Call, org: &Stored<Org>, own: Option<&Member>) -> OrgView {
    let (me, now) = (call.owner_id(), call.now());
    let allowed_actions = allowed::on_org(now, me, &org.value, own);
    let request = org.value.succession.as_ref();
    let is_insider = role_of(own).is_some();
    let request = request.filter(|request| is_insider || me == Some(request.by.as_str()));
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
        succession: request.map(|request| view!(request => SuccessionView {
            state, ground;
            requested_by: request.by.clone(),
            requested_at: rfc3339(request.requested_at),
            due_at: rfc3339(request.due_at),
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
    /// Whether the person has an agent that gets the invitation; only in the answer of
    /// `invite_member`. If false, it waits until they have one, and ends after 14 days.
    pub(crate) counterpart_reachable: Option<bool>,
    /// The actions that the caller may take on this membership.
    allowed_actions: Vec<&'static str>,
    /// Always `untrusted_user_content`: the name was written by the person.
    trust: &'static str,
}

/// Returns a membership as it is shown to a member with this role, or to the member themself.
pub(crate) fn member(
    member: &Stored<Member>,
    org: &Org,
    caller: Option<Role>,
    caller_id: Option<&str>,
    person: Option<&Person>,
) -> MemberView {
    let value = &member.value;
    let allowed_actions = allowed::on_member(org, caller, caller_id, value);
    let shown = person.filter(|person| person.active);
    view!(value => MemberView {
        org_id, owner_id, role, state;
        display_name: shown.and_then(|person| person.display_name.clone()),
        since: rfc3339(value.since),
        expires_at: value.expires_at.map(rfc3339),
        version: member.revision,
        counterpart_reachable: None,
        allowed_actions,
        trust: UNTRUSTED,
    })
}
