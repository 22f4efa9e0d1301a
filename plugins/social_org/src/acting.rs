//! The people who act for an organisation, for other capabilities.

use crate::{refusal::*, states::*, types::*};
use people_kit::organisations::{ACTING_ROLES, ActingFor, ActingMembers, ActingOrg, ActingQuery};
use portolan_sdk::prelude::*;

/// Returns the people who act for an organisation, or for the one that is linked to a target.
pub(crate) fn acting_members(input: ActingQuery) -> Result<ActingMembers> {
    let org_id = match (input.org_id, input.target_id) {
        (Some(org_id), _) => Some(org_id),
        (None, Some(target_id)) => TARGETS.get(&target_id)?.map(|target| target.value.org_id),
        (None, None) => None,
    };
    let Some(org_id) = org_id else { return Ok(ActingMembers::default()) };
    let is_active = |org: &Stored<Org>| org.value.state == OrgState::Active;
    let Some(org) = ORGS.get(&org_id)?.filter(is_active) else {
        return Ok(ActingMembers::default());
    };
    let is_acting = |(_, role): &(&String, &Role)| ACTING_ROLES.contains(&role.name());
    let mut acting: Vec<_> = org.value.roles.iter().filter(is_acting).collect();
    acting.sort_by(|(_, one), (_, other)| other.cmp(one));
    let owner_ids = acting.into_iter().map(|(owner_id, _)| owner_id.clone());
    Ok(ActingMembers { org_id: Some(org_id), owner_ids: owner_ids.collect() })
}

/// Returns the active organisations for which a person acts.
pub(crate) fn acting_for(owner_id: &str) -> Result<ActingFor> {
    let roles = field("role").one_of(ACTING_ROLES);
    let acting = field("owner_id").eq(owner_id).and(field("state").eq(MemberState::Member));
    let found = MEMBERS.all(Query::new().filter(acting.and(roles)));
    let ids = found.map(|hit| hit.map(|hit| hit.document.value.org_id));
    let ids = ids.collect::<Result<Vec<String>, HostError>>()?;
    let is_active = |org: &Stored<Org>| org.value.state == OrgState::Active;
    let orgs = ORGS.get_many(ids)?.into_iter().flatten().filter(is_active);
    let orgs = orgs.map(|org| ActingOrg { org_id: org.id, target_id: org.value.target_id });
    Ok(ActingFor { orgs: orgs.collect() })
}
