//! Access to organisations: whether the caller's role permits an action.

use crate::{
    refusal::*,
    states::*,
    types::{MEMBERS, Member, ORGS, Org, role_of},
    view,
};
use people_kit::relations;
use portolan_sdk::prelude::*;

/// An organisation, and the caller's membership in it.
pub(crate) struct Access {
    pub(crate) org: Stored<Org>,
    pub(crate) me: String,
    pub(crate) own: Stored<Member>,
    pub(crate) role: Role,
}

pub(crate) fn membership(org_id: &str, owner_id: &str) -> Result<Option<Stored<Member>>> {
    Ok(MEMBERS.get(&member_id(org_id, owner_id))?)
}

pub(crate) fn member_id(org_id: &str, owner_id: &str) -> String {
    format!("{org_id}/{owner_id}")
}

/// Returns the caller's membership, if there ever was one.
pub(crate) fn own_membership(call: &Call, org_id: &str) -> Result<Option<Member>> {
    let Some(owner_id) = call.owner_id() else { return Ok(None) };
    Ok(membership(org_id, owner_id)?.map(|member| member.value))
}

/// Returns the organisation and the caller's membership, for an action. Refuses if the caller's
/// role or the state does not allow the action, or if the caller expects another version.
pub(crate) fn authorize(
    call: &Call,
    org_id: &str,
    action: &str,
    expected_version: Option<Version>,
) -> Result<Access> {
    let (mut org, me) = (Org::load(org_id)?, call.require_owner()?.to_owned());
    let own = membership(org_id, &me)?;
    let role = role_of(own.as_ref().map(|own| &own.value));
    let is_heir = action == "archive" && org.value.is_last_admin(&me);
    let may_act = |role: &Role| is_heir || is_permitted(Some(*role), action);
    let (Some(own), Some(role)) = (own, role.filter(may_act)) else {
        return Err(not_permitted(org_id).into());
    };
    org.ensure_version(expected_version, || view::org(call, &org, Some(&own.value)), get(org_id))?;
    org.value.state = ORG.step(org_id, org.value.state, action)?;
    Ok(Access { org, me, own, role })
}

pub(crate) fn not_permitted(org_id: &str) -> Refusal {
    Refusal::common(ErrorCode::NotPermitted, "Your role in this organisation does not allow it.")
        .next(get(org_id))
}

impl Access {
    /// Returns another person's membership, for an action. Refuses if there is none, if its role is
    /// above the caller's, or if its state does not allow the action.
    pub(crate) fn member_for_action(&self, owner_id: &str, action: &str) -> Result<Stored<Member>> {
        let org_id = &self.org.id;
        let is_present = |found: &Stored<Member>| {
            matches!(found.value.state, MemberState::Member | MemberState::Invited)
        };
        let member = membership(org_id, owner_id)?.filter(is_present);
        let member = member.ok_or_else(|| OrgError::MemberNotFound { org_id: org_id.clone() })?;
        if member.value.role > self.role {
            return Err(not_permitted(org_id).into());
        }
        MEMBERSHIP.step(org_id, member.value.state, action)?;
        Ok(member)
    }

    pub(crate) fn save(&mut self) -> Result<()> {
        save(&mut self.org)
    }

    pub(crate) fn view(&self, call: &Call) -> Result<view::OrgView> {
        let own = membership(&self.org.id, &self.me)?.map(|membership| membership.value);
        Ok(view::org(call, &self.org, own.as_ref()))
    }
}

/// Saves the organisation. Every change of a membership writes its organisation too, so that two
/// concurrent changes conflict.
pub(crate) fn save(org: &mut Stored<Org>) -> Result<()> {
    ORGS.save(org).on_duplicate(|existing_id| OrgError::OrgNameTaken { existing_id })
}

/// Sets the role of a member; without a role, removes the member. Refuses if no owner would be
/// left.
pub(crate) fn set_member_role(
    org: &mut Stored<Org>,
    owner_id: &str,
    role: Option<Role>,
) -> Result<()> {
    if org.value.is_last_owner(owner_id) && role != Some(Role::Owner) {
        return Err(OrgError::LastOrgOwner { org_id: org.id.clone() });
    }
    write_member_role(&mut org.value, owner_id, role);
    Ok(())
}

/// Sets the role of a member, or removes the member, also the last owner.
pub(crate) fn write_member_role(org: &mut Org, owner_id: &str, role: Option<Role>) {
    let roles = &mut org.roles;
    match role {
        Some(role) => roles.insert(owner_id.to_owned(), role),
        None => roles.remove(owner_id),
    };
    org.sole_member = roles.keys().next().filter(|_| roles.len() == 1).cloned();
}

/// Returns the relation that represents a role.
fn tuple(org_id: &str, owner_id: &str, role: Role) -> relations::Tuple {
    relations::Tuple::new(format!("org:{org_id}"), role.name(), format!("owner:{owner_id}"))
}

/// Writes a person's new role into `social_permissions`, and removes the old one there.
pub(crate) fn write_role_relation(
    org_id: &str,
    owner_id: &str,
    before: Option<Role>,
    now: Option<Role>,
) -> Result<()> {
    let tuples = |role: Option<Role>| role.map(|role| tuple(org_id, owner_id, role));
    relations::relate(tuples(now).into_iter().collect(), tuples(before).into_iter().collect())?;
    Ok(())
}

/// Removes the roles of many people from `social_permissions`.
pub(crate) fn delete_role_relations(org_id: &str, members: &[(String, Role)]) -> Result<()> {
    for chunk in members.chunks(100) {
        let tuples = chunk.iter().map(|(owner_id, role)| tuple(org_id, owner_id, *role));
        relations::relate(Vec::new(), tuples.collect())?;
    }
    Ok(())
}
