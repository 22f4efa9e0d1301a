//! The steps with the account of a person who is about to be erased.

use crate::{own, people, publish, states, types::*};
use portolan_sdk::{events::Nothing, prelude::*};

/// Hides the person for good, so that other capabilities end what the person has with others.
pub(crate) fn leave(call: &Call, owner_id: &str) -> Result<()> {
    let mut owner = own(owner_id)?;
    // The event is delivered again if an erasure was interrupted.
    let is_known = people::known(call, owner_id)?.is_some();
    if !is_known || owner.value.state == states::State::Deactivated {
        return Ok(());
    }
    let was_active = owner.value.is_active();
    owner.value.state = states::step(owner_id, owner.value.state, "on_owner_left")?;
    OWNERS.save(&mut owner)?;
    people::state_policy(&owner.id, &owner.value)?;
    if was_active {
        let summary = "Your profile is hidden from other people.";
        publish(call, DEACTIVATED, &owner, summary, Nothing {})?;
    }
    Ok(())
}
