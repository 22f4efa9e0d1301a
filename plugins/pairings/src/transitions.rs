//! The transitions of a pairing, with everything that follows from them.

use crate::access::{self, Viewer};
use crate::credits::{self, By};
use crate::{documents::*, limits::*, refusals::*, states::*, types::*, views::*};
use portolan_sdk::prelude::*;

/// Returns a pairing of the caller, and their side of it. Refuses any other as not found.
pub(crate) fn load_with_role(call: &Call, pairing_id: &str) -> Result<(Stored<Pairing>, Role)> {
    let me = call.owner_id().ok_or(PairingError::PairingNotFound)?;
    let pairing = Pairing::load(pairing_id)?;
    let viewer = Viewer::load(me, &[&pairing])?;
    let role = viewer.role(&pairing.value).ok_or(PairingError::PairingNotFound)?;
    access::ensure_visible(&pairing.value, role, me)?;
    Ok((pairing, role))
}

/// Returns a pairing of the caller, and their side of it, to be changed by `action`. Refuses like
/// [`mine`] and [`ensure_may`].
pub(crate) fn load_for_action(
    call: &Call,
    pairing_id: &str,
    action: &str,
    expected: Option<Version>,
) -> Result<(Stored<Pairing>, Role)> {
    let (pairing, role) = load_with_role(call, pairing_id)?;
    ensure_allowed(call, &pairing, role, action, expected)?;
    Ok((pairing, role))
}

/// Refuses if this side may not take the action now, or if the caller expects another version.
pub(crate) fn ensure_allowed(
    call: &Call,
    pairing: &Stored<Pairing>,
    role: Role,
    action: &str,
    expected: Option<Version>,
) -> Result<()> {
    let (id, state, me) = (pairing.id.as_str(), pairing.value.state, call.require_owner()?);
    let allowed = access::allowed(&pairing.value, role, me);
    if let Err(refusal) = PAIRING.step(id, state, action) {
        return Err(with_allowed(refusal, &allowed).into());
    }
    if !allowed.contains(&action) {
        return Err(PairingError::not_yours(id));
    }
    let current =
        || ViewContext::load(me, &[pairing]).and_then(|context| context.view(pairing)).ok();
    Ok(pairing.ensure_version(expected, current, get(id))?)
}

/// Records the agent that acts for this side. A side of an organisation that is assigned to nobody is
/// assigned to the caller; returns whether it was.
pub(crate) fn record_agent(call: &Call, pairing: &mut Stored<Pairing>, role: Role) -> Result<bool> {
    let (me, agent) = (call.require_owner()?, call.require_agent()?);
    let side = pairing.value.side(role);
    let is_free = side.org_id.is_some() && side.assigned_to.is_none();
    if is_free {
        pairing.value.assign(role, me);
    }
    let side = pairing.value.side_mut(role);
    if side.owner_id == me {
        side.agent_id = Some(agent.agent_id.clone());
    }
    Ok(is_free)
}

/// Replaces the allowed actions of a refusal by those of the caller.
pub(crate) fn with_allowed(mut refusal: Refusal, allowed: &[&'static str]) -> Refusal {
    if let Some(conflict) = &mut refusal.conflict {
        conflict["allowed_actions"] = portolan_sdk::to_value(allowed);
    }
    refusal
}

/// Applies `action` to a pairing and saves it, with its timer, its pair, its listing's open
/// proposals and its credits.
pub(crate) fn enter(
    call: &Call,
    pairing: &mut Stored<Pairing>,
    action: &str,
    to: State,
    by: By,
) -> Result<()> {
    let is_new = pairing.revision == 0;
    if !is_new {
        PAIRING.step_to(&pairing.id, pairing.value.state, action, to)?;
    }
    pairing.value.state = to;
    update_pair(call, &pairing.id, &pairing.value)?;
    credits::settle(&mut pairing.value, by, call.now())?;
    if !to.is_waiting() {
        pairing.value.forget_listing();
    }
    touch(call, pairing)
}

/// Saves a pairing after activity, with a new due time.
pub(crate) fn touch(call: &Call, pairing: &mut Stored<Pairing>) -> Result<()> {
    let now = call.now();
    let value = &mut pairing.value;
    value.changed_at = now;
    value.due_at = match value.state {
        State::Proposed | State::Clarifying => Some(now + SILENCE),
        State::Connected => Some(now + IDLE),
        _ => None,
    };
    save(call, pairing)
}

/// Saves a pairing, and sets its timers or cancels them.
pub(crate) fn save(call: &Call, pairing: &mut Stored<Pairing>) -> Result<()> {
    let (timer, input) = (format!("due/{}", pairing.id), PairingId::of(&pairing.id));
    match pairing.value.due_at {
        Some(at) => {
            let action = if pairing.value.state.is_waiting() { "expire" } else { "close_idle" };
            timers::set(&timer, at, action, &input)?;
            set_check(call, &pairing.id, CHECK_INTERVAL)?;
        }
        None => {
            timers::cancel(&timer)?;
            timers::cancel(&check_timer(&pairing.id))?;
        }
    }
    Ok(pairing.save()?)
}

/// Sets the timer of the next comparison of an open pairing with its people, after this time.
pub(crate) fn set_check(call: &Call, id: &str, after: u64) -> Result<()> {
    let at = call.now() + after;
    Ok(timers::set(&check_timer(id), at, "check", &PairingId::of(id))?)
}

fn check_timer(id: &str) -> String {
    format!("check/{id}")
}

/// Updates the open pairing of the two listings, and the open proposals of the proposer's listing.
fn update_pair(call: &Call, pairing_id: &str, pairing: &Pairing) -> Result<()> {
    let Some(key) = pairing.pair_key() else { return Ok(()) };
    let mut pair = PAIRS.get_or_default(&key)?;
    pair.value.open = pairing.state.is_open().then(|| pairing_id.to_owned());
    if pairing.state == State::Declined {
        pair.value.declined = Some(Declined {
            pairing_id: pairing_id.to_owned(),
            listing_id: pairing.from.listing_id.clone(),
            at: call.now(),
        });
    }
    match pair.value.open.is_some() || pair.value.declined.is_some() {
        true => PAIRS.put(&pair.id, &pair.value, Expect::Any).map(drop)?,
        false => PAIRS.delete(&pair.id, Expect::Any)?,
    }
    let listing_id = pairing.from.listing_id.as_str();
    if !pairing.state.is_waiting() {
        OPEN_PROPOSALS.leave(listing_id, pairing_id)?;
    } else if OPEN_PROPOSALS.enter(listing_id, pairing_id)? > OPEN_OF_A_LISTING {
        return Err(PairingError::too_many_open());
    }
    Ok(())
}

/// Counts a proposal of this person, or refuses if the daily limit is reached.
pub(crate) fn count_proposal(call: &Call, owner_id: &str) -> Result<()> {
    let mut day = DAYS.get_or_default(owner_id)?;
    let (times, next) = (&mut day.value.proposed_at, list().field("role", "sent"));
    let message = "The limit of proposals for one day is reached.";
    PROPOSALS_A_DAY.count(times, call.now(), "proposals_per_day", message, next)?;
    Ok(DAYS.save(&mut day)?)
}
