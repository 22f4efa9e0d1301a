//! Subscribing, and what a person does with their subscriptions.

use super::{reading::*, types::*};
use crate::{
    blocks,
    documents::Change,
    limits::{ANSWERED_WITHIN, MOST_SUBSCRIPTIONS, REFRESHES},
    refusals::*,
    types::BLOCKS,
    zones::Zone,
};
use people_kit::text::{Faults, Lines, plain};
use portolan_sdk::prelude::*;

pub(crate) fn subscribe(call: &Call, input: Subscribe) -> Result<Answer<SubscriptionView>> {
    let owner_id = call.require_owner()?;
    let url = https_address(&input.url).ok_or_else(not_an_address)?;
    if input.time_zone.as_deref().is_some_and(|name| Zone::named(name).is_none()) {
        return Err(CalendarError::no_zone("/time_zone"));
    }
    let mut faults = Faults::default();
    let label = input.label.as_deref().map(|label| plain("/label", label, Lines::One, &mut faults));
    faults.check().map_err(CalendarError::Text)?;
    // Of two concurrent calls, one runs again and sees the subscription of the other.
    let mut change = Change::of(owner_id)?;
    let before = of_owner(owner_id)?;
    for known in &before {
        if known.value.url()?.as_ref() == Some(&url) {
            let subscription_id = known.id.clone();
            return Err(CalendarError::AlreadySubscribed { subscription_id });
        }
    }
    if before.len() >= MOST_SUBSCRIPTIONS as usize {
        return Err(CalendarError::SubscriptionLimitReached);
    }
    change.count_subscription(call.now())?;
    let mut subscription = Subscription::of(owner_id, &url)?;
    (subscription.label, subscription.time_zone) = (label, input.time_zone);
    let mut stored = Stored::new(call.new_id("sub"), subscription, call.now());
    if !ask(call, &mut stored)? {
        return Err(not_an_address());
    }
    stored.save()?;
    change.save(0, 0)?;
    Ok(Answer::new(view(&stored)).next(list_subscriptions()))
}

/// Returns the subscriptions of a person.
fn of_owner(owner_id: &str) -> Result<Vec<Stored<Subscription>>> {
    let query = Query::new().filter(field("owner_id").eq(owner_id)).limit(MOST_SUBSCRIPTIONS);
    SUBSCRIPTIONS.all(query).map(|hit| Ok(hit?.document)).collect()
}

pub(crate) fn list(owner_id: &str) -> Result<Items<SubscriptionView>> {
    let mut found = of_owner(owner_id)?;
    found.sort_by_key(|stored| stored.created_at);
    Ok(Items { items: found.iter().map(view).collect(), next_cursor: None })
}

/// Requests a reading now, or leaves it at the one that is awaited.
pub(crate) fn refresh(call: &Call, input: &SubscriptionInput) -> Result<Answer<SubscriptionView>> {
    let mut stored = Subscription::load_own(call, &input.subscription_id)?;
    let since = stored.value.asked_at.map(|at| call.now().saturating_sub(at));
    let is_awaited = since.is_some_and(|since| since < ANSWERED_WITHIN);
    if stored.value.lookup_id.is_some() && is_awaited {
        return Ok(Answer::new(view(&stored)).next(list_subscriptions()));
    }
    let was_failed = stored.value.state == SubscriptionState::Failed;
    stored.step(&SUBSCRIPTION, "refresh_subscription")?;
    if was_failed {
        // It gets as long again as before.
        (stored.value.failures, stored.value.failing_since) = (0, Some(call.now()));
    }
    let (name, message) = ("refreshes", "This calendar was read a moment ago.");
    let next = list_subscriptions();
    REFRESHES.count(&mut stored.value.refreshed, call.now(), name, message, next)?;
    ask_again(call, &mut stored)?;
    Ok(Answer::new(view(&stored)).next(list_subscriptions()))
}

pub(crate) fn unsubscribe(call: &Call, input: &SubscriptionInput) -> Result<Unsubscribed> {
    let stored = Subscription::load_own(call, &input.subscription_id)?;
    SUBSCRIPTION.step(&stored.id, stored.value.state, "unsubscribe")?;
    let owner_id = &stored.value.owner_id;
    let change = Change::of(owner_id)?;
    let is_own = |subscription_id: &Option<String>| subscription_id.as_ref() == Some(&stored.id);
    let mut removed = 0;
    for block in blocks::all(owner_id)? {
        if is_own(&block.value.subscription_id) {
            BLOCKS.delete(&block.id, Expect::Revision(block.revision))?;
            removed += 1;
        }
    }
    change.save(0, removed)?;
    timers::cancel(&timer(&stored.id))?;
    SUBSCRIPTIONS.delete(&stored.id, Expect::Revision(stored.revision))?;
    Ok(Unsubscribed { subscription_id: stored.id, removed })
}
