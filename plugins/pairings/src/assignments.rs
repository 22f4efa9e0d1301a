//! Assignments: the member that is responsible for an organisation's side. A member can be assigned or
//! take over; when the member is gone, another one is assigned.

use crate::notices::{self, BOTH};
use crate::{
    access, counterparts, documents::*, ends, propose, refusals::*, states::*, transitions,
    types::*, views::*,
};
use people_kit::organisations;
use portolan_sdk::prelude::*;

pub(crate) fn assign(call: &Call, input: &Assign) -> Result<View> {
    let expected = input.expected_version;
    let (mut pairing, role) =
        transitions::load_for_action(call, &input.pairing_id, "assign", expected)?;
    if !access::can_stand_in(&pairing.value, role, &input.owner_id)? {
        let org_id = pairing.value.side(role).org_id.clone().unwrap_or_default();
        return Err(PairingError::MemberNotFound { org_id });
    }
    give(call, &mut pairing, role, &input.owner_id)?;
    propose::view(call, &pairing)
}

pub(crate) fn take_over(call: &Call, input: &Step) -> Result<View> {
    let expected = input.expected_version;
    let (mut pairing, role) =
        transitions::load_for_action(call, &input.pairing_id, "take_over", expected)?;
    give(call, &mut pairing, role, call.require_owner()?)?;
    propose::view(call, &pairing)
}

fn give(call: &Call, pairing: &mut Stored<Pairing>, role: Role, owner_id: &str) -> Result<()> {
    if pairing.value.side(role).assigned_to.as_deref() == Some(owner_id) {
        return Ok(());
    }
    let is_other = pairing.value.side(role).owner_id != owner_id;
    pairing.value.assign(role, owner_id);
    pairing.value.changed_at = call.now();
    transitions::save(call, pairing)?;
    match is_other {
        true => notices::announce_successor(call, pairing, role),
        false => notices::announce(call, pairing, role),
    }
}

/// Ends the assignments of a member who no longer acts for the organisation. Until somebody takes
/// over, another member stands for it; without another member, an open pairing is cancelled.
pub(crate) fn member_changed(call: &Call, event: &Happened<MemberChanged>) -> Result<()> {
    let MemberChanged { org_id, owner_id } = &event.data;
    let members = organisations::acting_members(org_id)?;
    if members.contains(owner_id) {
        return Ok(());
    }
    let of_side = |org: &str, owner: &str| field(org).eq(org_id).and(field(owner).eq(owner_id));
    let concerned =
        any_of([of_side("from.org_id", "from.owner_id"), of_side("to.org_id", "to.owner_id")]);
    let concerned = match members.is_empty() {
        true => concerned.and(field("state").one_of(OPEN)),
        false => concerned,
    };
    let name = format!("member/{org_id}/{owner_id}");
    for mut pairing in ends::find_batch(call, concerned, &name, "on_member_changed", event)? {
        let Some(first) = members.first() else {
            counterparts::check(call, &pairing.id)?;
            continue;
        };
        for role in BOTH {
            let side = pairing.value.side(*role);
            if side.owner_id != *owner_id || side.org_id.as_ref() != Some(org_id) {
                continue;
            }
            let other = pairing.value.side(role.other()).owner_id.clone();
            let heir = organisations::successor(org_id, owner_id, [other.as_str()])?;
            pairing.value.stand_in(*role, heir.as_ref().unwrap_or(first));
            transitions::save(call, &mut pairing)?;
            if pairing.value.state.is_open() {
                notices::announce_successor(call, &pairing, *role)?;
            }
        }
    }
    Ok(())
}
