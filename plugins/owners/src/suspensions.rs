//! The suspensions of a person, and their ends.

use crate::{own, people, publish, types::*};
use people_kit::people::Suspension;
use portolan_sdk::{contract::moderation, events::Nothing, prelude::*};

pub(crate) fn suspend(call: &Call, input: Suspension) -> Result<()> {
    let Suspension { owner_id, reference, reason, until, appeal } = input;
    if people::known(call, &owner_id)?.is_none() {
        return Err(OwnersError::OwnerNotFound);
    }
    let mut owner = own(&owner_id)?;
    let was_active = owner.value.is_active();
    owner.value.suspensions.retain(|suspended| suspended.reference != reference);
    owner.value.suspensions.push(Suspended { reference, reason, until, appeal });
    save(&mut owner)?;
    if let Some(suspended) = owner.value.last_suspension() {
        let view = SuspensionView::new(suspended);
        publish(call, SUSPENDED, &owner, "You are suspended: your agents cannot write.", view)?;
    }
    if was_active {
        publish(
            call,
            DEACTIVATED,
            &owner,
            "Your profile is hidden from other people.",
            Nothing {},
        )?;
    }
    Ok(())
}

/// Ends the suspensions that `is_over` selects.
pub(crate) fn end(call: &Call, owner_id: &str, is_over: impl Fn(&Suspended) -> bool) -> Result<()> {
    let mut owner = own(owner_id)?;
    let before = owner.value.suspensions.len();
    owner.value.suspensions.retain(|suspended| !is_over(suspended));
    if owner.value.suspensions.len() == before {
        return Ok(());
    }
    save(&mut owner)?;
    if owner.value.suspensions.is_empty() {
        publish(call, REINSTATED, &owner, "Your suspension has ended.", Nothing {})?;
    }
    if owner.value.is_active() {
        publish(call, REACTIVATED, &owner, "Your profile is visible again.", Nothing {})?;
    }
    Ok(())
}

/// Saves the record, and passes the state in force to the host, the policy and the timer.
fn save(owner: &mut Stored<Record>) -> Result<()> {
    OWNERS.save(owner)?;
    people::state_policy(&owner.id, &owner.value)?;
    match owner.value.last_suspension() {
        Some(suspended) => {
            let suspension = moderation::Suspension {
                reason: suspended.reason.clone(),
                until: suspended.until,
                appeal: suspended.appeal.as_ref().map(portolan_sdk::to_json),
            };
            moderation::suspend(&owner.id, &suspension)?;
        }
        None => drop(moderation::reinstate(&owner.id)?),
    }
    let timer = format!("suspension/{}", owner.id);
    match owner.value.suspensions.iter().filter_map(|suspended| suspended.until).min() {
        Some(at) => {
            let person = OwnerId { owner_id: owner.id.clone() };
            timers::set(&timer, at, "end_suspensions", &person)?;
        }
        None => drop(timers::cancel(&timer)?),
    }
    Ok(())
}
