//! The erasure of people: the message that warns of it, and what is kept of the number afterwards: its MAC with the
//! limits of its codes. It names nobody. The person's suspension, which the host keeps by the key in this record,
//! lasts no longer.

use crate::{bind, phone::parse, recycling, types::*};
use portolan_sdk::contract::{
    identity,
    messages::{self, Recipient},
};
use portolan_sdk::prelude::*;

/// The time after an erasure in which a number is remembered: as long as the host keeps a suspension.
const REMEMBERED_FOR: u64 = 90 * DAY;

/// Sends a message about an erasure to the number of the person, if the person has one, so that the
/// person notices an erasure by a stolen agent. Test mode sends no messages.
pub(crate) fn warn(call: &Call, input: &ErasureWarning) -> Result<()> {
    let owner = OWNERS.get(&input.owner_id)?.filter(|owner| !owner.value.sealed.is_empty());
    let Some(owner) = owner.filter(|_| !call.test_mode()) else { return Ok(()) };
    let at = rfc3339(input.erases_at);
    let day = at.get(..10).unwrap_or_default();
    let text = format!(
        "All your Portolan data is to be erased on {day}. If this was not you, tell your agent at once to cancel it."
    );
    if messages::send(&bind::number(&owner.value.sealed)?, &text, Recipient::Known).is_err() {
        log::warn!("the message about an erasure cannot be sent");
    }
    Ok(())
}

/// Sets the timer that forgets the number of a person who is to be erased.
pub(crate) fn forget_later(call: &Call, owner_id: &str) -> Result<()> {
    let Some(owner) = OWNERS.get(owner_id)?.filter(|owner| !owner.value.sealed.is_empty()) else {
        return Ok(());
    };
    let phone =
        parse(&bind::number(&owner.value.sealed)?).map_err(|_unfit| bind::no_pending_bind())?;
    let is_theirs = |number: &Stored<Number>| number.value.person_key == owner.value.person_key;
    let agents = identity::agents(owner_id)?;
    // Only in test mode does the id depend on the agent; in live mode, a person without agents has it too.
    for agent_id in agents.iter().map(|agent| agent.agent_id.as_str()).chain([""]) {
        let ids = bind::number_ids(call.test_mode(), agent_id, &phone)?;
        for number in NUMBERS.get_many(ids)?.into_iter().flatten().filter(is_theirs) {
            let (name, at) = (format!("number/{}", number.id), call.now() + REMEMBERED_FOR);
            timers::set(&name, at, "forget_number", &NumberId { id: number.id })?;
        }
    }
    Ok(())
}

/// Forgets a number, unless a person has it.
pub(crate) fn forget(number_id: &str) -> Result<()> {
    match NUMBERS.get(number_id)? {
        Some(number) if recycling::find_owner(&number.value.person_key)?.is_none() => {
            Ok(NUMBERS.delete(number_id, Expect::Any)?)
        }
        _ => Ok(()),
    }
}
