//! The end of all memberships of a person who is about to be erased.
//!
//! It is what the person could do by leaving, so that others take over what is shared. Unlike a
//! person who leaves, the last owner goes too.

use crate::{access::*, members, orgs, refusal::*, states::*, succession, types::*};
use portolan_sdk::prelude::*;

/// The maximum number of memberships that one call ends. Each publishes one event, and the members of
/// an organisation without an owner are notified in a call of their own.
const AT_ONCE: u32 = 50;

pub(crate) fn end_memberships(call: &Call, departure: &Departure) -> Result<()> {
    let owner_id = &*departure.owner_id;
    let theirs = field("owner_id").eq(owner_id).and(field("state").eq(MemberState::Member));
    let page = MEMBERS.find(Query::new().filter(theirs).limit(AT_ONCE))?;
    let (memberships, next) = page.into_parts();
    for member in memberships {
        end(call, member)?;
    }
    match next {
        Some(_) => {
            Ok(timers::set(&format!("leave/{owner_id}"), call.now(), "go_on_leaving", departure)?)
        }
        None => Ok(()),
    }
}

fn end(call: &Call, mut member: Stored<Member>) -> Result<()> {
    let to = MEMBERSHIP.step(&member.value.org_id, member.value.state, "on_owner_leaving")?;
    let org = ORGS.get(&member.value.org_id)?;
    if let Some(mut org) = org.filter(|org| org.value.state == OrgState::Active) {
        leave(call, &mut org, &member.value)?;
    }
    (member.value.state, member.value.since) = (to, call.now());
    MEMBERS.save(&mut member)?;
    members::notify(call, &member, None, "Somebody has left an organisation.")
}

/// Takes a member out of an active organisation; one without another member is archived.
fn leave(call: &Call, org: &mut Stored<Org>, member: &Member) -> Result<()> {
    let Member { owner_id, role, .. } = member;
    let is_alone = org.value.roles.keys().all(|member| member == owner_id);
    let to = if is_alone { OrgState::Archived } else { OrgState::Active };
    org.value.state = ORG.step_to(&org.id, org.value.state, "on_owner_leaving", to)?;
    if is_alone {
        return orgs::end(call, org);
    }
    let was_last_owner = org.value.is_last_owner(owner_id);
    write_member_role(&mut org.value, owner_id, None);
    write_role_relation(&org.id, owner_id, Some(*role), None)?;
    save(org)?;
    match was_last_owner {
        true => succession::tell_later(call, org, Notice::OwnerGone),
        false => Ok(()),
    }
}
