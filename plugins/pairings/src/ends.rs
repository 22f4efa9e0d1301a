//! The ends of pairings: by a side, by a timer, and by changes of listings and people.

use crate::notices::{self, BOTH};
use crate::rounds::{self, Round, Work};
use crate::{
    access, counterparts, credits::By, documents::*, limits::*, propose, refusals::*, states::*,
    transitions, types::*, views::*,
};
use people_kit::{listings, relations, threads};
use portolan_sdk::prelude::*;

/// The reason with which an idle conversation is closed.
const IDLE_REASON: &str = "idle";
/// The reason of a connection with an organisation that was archived.
const ARCHIVED: &str = "org_archived";
/// The reason of a proposal that was not answered in time.
const UNANSWERED: &str = "unanswered";
/// The reason of a proposal to a listing that is not active, whatever has ended it.
const INACTIVE: &str = "listing_inactive";

pub(crate) fn close(call: &Call, input: &Close) -> Result<View> {
    let (mut pairing, _) =
        transitions::load_for_action(call, &input.pairing_id, "close", input.expected_version)?;
    pairing.value.outcome = Some(input.outcome);
    let outcome = portolan_sdk::to_value(&input.outcome);
    end_thread(&pairing, outcome.as_str().unwrap_or_default())?;
    transitions::enter(call, &mut pairing, "close", State::Closed, By::Another)?;
    let facts = Facts { outcome: Some(input.outcome), ..Facts::default() };
    notices::CLOSING.notify(call, &pairing, BOTH, facts)?;
    propose::view(call, &pairing)
}

fn end_thread(pairing: &Stored<Pairing>, reason: &str) -> Result<()> {
    match &pairing.value.thread_id {
        Some(thread_id) => threads::end(thread_id, reason)
            .map_err(|error| PairingError::of_thread(error, &pairing.id)),
        None => Ok(()),
    }
}

pub(crate) fn expire(call: &Call, pairing_id: &str) -> Result<()> {
    let is_waiting = |pairing: &Pairing| pairing.state.is_waiting();
    let Some(mut pairing) = load_due(call, pairing_id, is_waiting)? else { return Ok(()) };
    pairing.value.reason = Some(UNANSWERED.to_owned());
    transitions::enter(call, &mut pairing, "expire", State::Expired, By::Another)?;
    notices::EXPIRY.notify(call, &pairing, BOTH, Facts::because(UNANSWERED))
}

/// Closes a connection without activity. If a message was sent in its conversation since the due
/// time was set, sets a later one instead.
pub(crate) fn close_idle(call: &Call, pairing_id: &str) -> Result<()> {
    let is_connected = |pairing: &Pairing| pairing.state == State::Connected;
    let Some(mut pairing) = load_due(call, pairing_id, is_connected)? else { return Ok(()) };
    let later = last_written(&pairing.value)? + IDLE;
    if later > call.now() {
        pairing.value.due_at = Some(later);
        return transitions::save(call, &mut pairing);
    }
    close_because(call, &mut pairing, "close_idle", IDLE_REASON)
}

/// Closes the connections of an organisation that was archived. Its proposals end with its listings.
pub(crate) fn org_archived(call: &Call, event: &Happened<OrgArchived>) -> Result<()> {
    let org_id = event.data.org_id.as_str();
    let theirs = any_of([field("from.org_id").eq(org_id), field("to.org_id").eq(org_id)]);
    let connected = theirs.and(field("state").eq(State::Connected));
    let name = format!("archived/{org_id}");
    for mut pairing in find_batch(call, connected, &name, "on_org_archived", event)? {
        close_because(call, &mut pairing, "on_org_archived", ARCHIVED)?;
    }
    Ok(())
}

/// Closes a connection and its conversation for a reason that both sides read.
fn close_because(
    call: &Call,
    pairing: &mut Stored<Pairing>,
    action: &str,
    reason: &'static str,
) -> Result<()> {
    end_thread(pairing, reason)?;
    pairing.value.reason = Some(reason.to_owned());
    transitions::enter(call, pairing, action, State::Closed, By::Another)?;
    notices::CLOSING.notify(call, pairing, BOTH, Facts::because(reason))
}

/// Returns the pairing if its due time has come and it is still in the state for which the timer
/// was set, as `is_meant` decides; otherwise `None`.
fn load_due(
    call: &Call,
    id: &str,
    is_expected: fn(&Pairing) -> bool,
) -> Result<Option<Stored<Pairing>>> {
    let is_over = |pairing: &Pairing| pairing.due_at.is_some_and(|due| due <= call.now());
    let is_due = |pairing: &Stored<Pairing>| is_expected(&pairing.value) && is_over(&pairing.value);
    Ok(PAIRINGS.get(id)?.filter(is_due))
}

/// Returns when the last message was sent in the conversation; 0 if there is no conversation, or
/// neither side still takes part in it.
fn last_written(pairing: &Pairing) -> Result<u64> {
    let Some(thread_id) = &pairing.thread_id else { return Ok(0) };
    for side in [&pairing.from, &pairing.to] {
        match threads::thread(thread_id, &side.owner_id).map_err(Refusal::from) {
            Ok(thread) => return Ok(thread.active_at),
            Err(refusal) if refusal.code == "thread_not_found" => {}
            Err(refusal) => return Err(refusal.into()),
        }
    }
    Ok(0)
}

/// Ends all pairings of two people after a block. The events do not say why.
pub(crate) fn blocked(call: &Call, event: &Happened<Blocked>) -> Result<()> {
    let Blocked { blocker_id, blocked_id } = &event.data;
    // The event may be delivered after the block has ended.
    if !relations::are_blocked(blocker_id, blocked_id)? {
        return Ok(());
    }
    let between = field("people").eq(both(blocker_id, blocked_id));
    let between = between.and(field("state").one_of(OPEN));
    let name = format!("blocked/{blocker_id}/{blocked_id}");
    for mut pairing in find_batch(call, between, &name, "on_blocked", event)? {
        let is_proposer = pairing.value.from.owner_id == *blocker_id;
        let by = if is_proposer { By::Proposer } else { By::Another };
        cancel(call, &mut pairing, "on_blocked", by, None)?;
    }
    Ok(())
}

/// Ends the proposals of and to a listing that is no longer active. Connections stay; if the listing
/// has ended, their other sides are notified.
pub(crate) fn listing_left(call: &Call, event: &Happened<ListingLeft>) -> Result<()> {
    let listing_id = event.data.listing_id.as_str();
    let profile = listings::profile(listing_id)?;
    // The event may be delivered after the listing was published again.
    if profile.as_ref().is_some_and(listings::Profile::is_active) {
        return Ok(());
    }
    let state = profile.map(|profile| profile.state).unwrap_or_default();
    let reason = counterparts::end_reason(&state);
    let concerned =
        any_of([field("from.listing_id").eq(listing_id), field("to.listing_id").eq(listing_id)]);
    let concerned = concerned.and(field("state").one_of(WAITING));
    let name = format!("left/{listing_id}");
    let batch = find_batch(call, concerned, &name, "on_listing_left", event)?;
    let has_ended_some = !batch.is_empty();
    for mut pairing in batch {
        if pairing.value.from.listing_id == listing_id {
            let by =
                if CHOSEN_BY_OWNER.contains(&state.as_str()) { By::Proposer } else { By::Another };
            cancel(call, &mut pairing, "on_listing_left", by, reason)?;
        } else if state == "removed" {
            cancel(call, &mut pairing, "on_listing_left", By::Another, reason)?;
        } else {
            let reason = reason.unwrap_or(INACTIVE);
            pairing.value.reason = Some(reason.to_owned());
            transitions::enter(call, &mut pairing, "on_listing_left", State::Expired, By::Another)?;
            notices::END_WITH_LISTING.notify(call, &pairing, BOTH, Facts::because(reason))?;
        }
    }
    match reason {
        // The events for the proposals leave no room for those for the connections.
        Some(_) if has_ended_some => Ok(timers::set(&name, call.now(), "on_listing_left", event)?),
        Some(_) => rounds::run(call, Round::new(Work::ListingEnded, listing_id)),
        None => Ok(()),
    }
}

/// The states of a listing whose own proposals count as ended by their proposer.
const CHOSEN_BY_OWNER: [&str; 4] = ["paused", "filled", "withdrawn", "removed"];

/// Cancels a pairing. Without a reason, nobody is told why.
fn cancel(
    call: &Call,
    pairing: &mut Stored<Pairing>,
    action: &str,
    by: By,
    reason: Option<&'static str>,
) -> Result<()> {
    pairing.value.reason = reason.map(str::to_owned);
    transitions::enter(call, pairing, action, State::Cancelled, by)?;
    notices::CANCELLATION.notify(call, pairing, BOTH, Facts { reason, ..Facts::default() })
}

/// Returns as many of the affected pairings as one call can handle. If there are more, sets a timer
/// that handles the same event again at once.
pub(crate) fn find_batch<T: Serialize>(
    call: &Call,
    concerned: Filter,
    name: &str,
    action: &str,
    event: &Happened<T>,
) -> Result<Vec<Stored<Pairing>>> {
    let page = PAIRINGS.find(Query::new().filter(concerned).limit(MOST_IN_A_BATCH))?;
    let (found, next) = page.into_parts();
    let (mut batch, mut told, mut is_more) = (Vec::new(), 0, next.is_some());
    for pairing in found {
        for role in BOTH {
            told += access::people(&pairing.value, *role)?.len();
        }
        if told > MOST_TOLD && !batch.is_empty() {
            is_more = true;
            break;
        }
        batch.push(pairing);
    }
    if is_more {
        timers::set(name, call.now(), action, event)?;
    }
    Ok(batch)
}
