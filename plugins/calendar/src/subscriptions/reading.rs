//! Readings of subscribed calendars: requested from the host, and taken into the person's calendar.

use super::{schedule::*, types::*};
use crate::{
    ics::import::{self, Origin},
    limits::{FAILS_AFTER, LONGEST_RETRY, WAIT_FOR_ROOM},
    refusals::*,
    zones::Zone,
};
use portolan_sdk::{
    lookups::{self, AnsweredFile},
    prelude::*,
};

/// The status of an address that will never exist again (RFC 9110, section 15.5.11).
const GONE: u16 = 410;
const GONE_FOR_GOOD: &str = "The server says that this calendar is gone for good.";
const CANNOT_BE_OPENED: &str = "The stored address cannot be opened. Subscribe again.";
const REFUSED: &str = "The stored address is refused. Subscribe again.";
const LOST: &str = "The last reading could not be taken into the calendar.";
const REPLACED: &str = "The address may have been replaced. Copy it again and subscribe again.";
const NO_CALENDAR: &str = "This is no calendar file. Copy the address in iCal format (it often ends in .ics) from the \
    calendar's settings.";
const FEWER_EVENTS: &str = "Publish a calendar with fewer past events.";
/// The beginnings of the host's sentences about a file of another type, and about one that is too large.
const OTHER_TYPE: &str = "The server answers with a file of another type";
const TOO_LARGE: &str = "The file has more than";

/// Requests a reading of a subscription whose time has come. If the last one is still awaited, its answer could not be
/// taken, and it has failed.
pub(crate) fn poll(call: &Call, input: &AboutSubscription) -> Result<()> {
    let is_read = |value: &Subscription| value.state != SubscriptionState::Failed;
    let found = SUBSCRIPTIONS.get(&input.subscription_id)?;
    let Some(mut stored) = found.filter(|found| is_read(&found.value)) else { return Ok(()) };
    if stored.value.lookup_id.take().is_some() {
        return fail(call, &mut stored, LOST.to_owned(), None);
    }
    ask_again(call, &mut stored)
}

/// Requests a reading of a stored subscription, and saves it. If the host refuses what is stored, the reading has
/// failed.
pub(super) fn ask_again(call: &Call, stored: &mut Stored<Subscription>) -> Result<()> {
    if ask(call, stored)? {
        return Ok(stored.save()?);
    }
    (stored.value.etag, stored.value.last_modified) = (None, None);
    fail(call, stored, REFUSED.to_owned(), None)
}

/// Requests a reading, and returns `false` if the host refuses the request as invalid. An address that cannot be opened
/// is noted as the problem. The caller saves the subscription.
pub(super) fn ask(call: &Call, stored: &mut Stored<Subscription>) -> Result<bool> {
    // The answer to an earlier request is not awaited any more.
    stored.value.lookup_id = None;
    let Some(url) = stored.value.url()? else {
        (stored.value.problem, stored.value.next_at) = (Some(CANNOT_BE_OPENED.to_owned()), None);
        return Ok(true);
    };
    let about = AboutSubscription { subscription_id: stored.id.clone() };
    let known = stored.value.validators();
    let wait = match lookups::file(&url, &["text/calendar"], &known, "take_calendar", &about) {
        Ok(lookup_id) => {
            stored.value.lookup_id = Some(lookup_id);
            stored.value.asked_at = Some(call.now());
            // The answer sets the time of the next reading. If there is none, it is asked for again then.
            LONGEST_RETRY
        }
        // As many look-ups as the host allows are waiting.
        Err(HostError::Limit(_)) => WAIT_FOR_ROOM,
        Err(HostError::Invalid(_)) => return Ok(false),
        Err(error) => return Err(error.into()),
    };
    set_next(call, stored, wait)?;
    Ok(true)
}

pub(super) fn not_an_address() -> CalendarError {
    let expected = "an https or webcal address with the name of a public host and without a port";
    CalendarError::validation("/url", "address", expected)
}

pub(super) fn timer(subscription_id: &str) -> String {
    format!("poll/{subscription_id}")
}

fn set_next(call: &Call, stored: &mut Stored<Subscription>, wait: u64) -> Result<()> {
    let at = call.now() + wait;
    stored.value.next_at = Some(at);
    let about = AboutSubscription { subscription_id: stored.id.clone() };
    Ok(timers::set(&timer(&stored.id), at, "poll_subscription", &about)?)
}

/// Takes the answer to a reading. One that is not awaited, for example because the subscription was ended, changes
/// nothing.
pub(crate) fn take(call: &Call, answer: AnsweredFile<AboutSubscription>) -> Result<()> {
    let is_awaited = |value: &Subscription| value.lookup_id.as_ref() == Some(&answer.lookup_id);
    let found = SUBSCRIPTIONS.get(&answer.about.subscription_id)?;
    let Some(mut stored) = found.filter(|found| is_awaited(&found.value)) else { return Ok(()) };
    stored.value.lookup_id = None;
    if answer.status == Some(GONE) {
        return give_up(call, &mut stored, GONE_FOR_GOOD.to_owned());
    }
    if let Some(error) = &answer.error {
        return fail(call, &mut stored, advised(error, answer.status), answer.retry_after_s);
    }
    let Some(text) = &answer.text else {
        return match answer.unchanged {
            true => succeed(call, &mut stored, &answer),
            false => fail(call, &mut stored, "The server sent nothing.".to_owned(), None),
        };
    };
    let zone = stored.value.time_zone.as_deref().and_then(Zone::named);
    let origin = Origin::subscription(&stored.value.owner_id, &stored.id, zone);
    let taken = match import::take(call, text, &origin) {
        Ok(taken) => taken,
        Err(error) => match problem_of(&error) {
            Some(problem) => return fail(call, &mut stored, problem, None),
            None => return Err(error),
        },
    };
    let value = &mut stored.value;
    (value.blocks, value.interval) = (taken.blocks, taken.interval);
    value.left_out = taken.imported.skipped.faulty;
    (value.etag, value.last_modified) = (None, None);
    succeed(call, &mut stored, &answer)
}

/// Returns what a person reads of a reading that failed with this sentence and status: with the step that helps, if
/// there is one.
fn advised(error: &str, status: Option<u16>) -> String {
    match status {
        Some(401 | 403 | 404) => format!("{error} {REPLACED}"),
        _ if error.starts_with(OTHER_TYPE) => NO_CALENDAR.to_owned(),
        _ if error.starts_with(TOO_LARGE) => format!("{error} {FEWER_EVENTS}"),
        _ => error.to_owned(),
    }
}

/// Returns what a person reads of a file that cannot be taken; `None` if the file is not the reason.
fn problem_of(error: &CalendarError) -> Option<String> {
    match error {
        CalendarError::IcsInvalid { fault } => Some(format!(
            "The file is not a calendar that can be read: line {} should be {}.",
            fault.line.unwrap_or(1),
            fault.expected
        )),
        CalendarError::BlockLimitReached { blocks } => Some(format!(
            "With this calendar, the person would have {blocks} blocks, more than are allowed."
        )),
        CalendarError::DailyLimitReached => Some(
            "With this calendar, the person would have too many occurrences on one day.".to_owned(),
        ),
        _ => None,
    }
}

fn succeed(
    call: &Call,
    stored: &mut Stored<Subscription>,
    answer: &AnsweredFile<AboutSubscription>,
) -> Result<()> {
    stored.step_to(&SUBSCRIPTION, "take_calendar", SubscriptionState::Active)?;
    let value = &mut stored.value;
    // An answer that says nothing new leaves the validators as they are.
    value.etag = answer.etag.clone().or(value.etag.take());
    value.last_modified = answer.last_modified.clone().or(value.last_modified.take());
    if let Some(url) = &answer.moved_to {
        value.lead_to(url)?;
    }
    (value.failures, value.failing_since, value.problem) = (0, None, None);
    value.read_at = Some(call.now());
    let wait = until_next(value.interval, share(call));
    set_next(call, stored, wait)?;
    Ok(stored.save()?)
}

fn fail(
    call: &Call,
    stored: &mut Stored<Subscription>,
    problem: String,
    retry_after_s: Option<u64>,
) -> Result<()> {
    let value = &mut stored.value;
    value.failures = value.failures.saturating_add(1);
    let since = *value.failing_since.get_or_insert(call.now());
    if call.now() >= since + FAILS_AFTER {
        return give_up(call, stored, problem);
    }
    value.problem = Some(problem);
    stored.step_to(&SUBSCRIPTION, "take_calendar", SubscriptionState::Failing)?;
    let wait = until_retry(stored.value.failures, retry_after_s, share(call));
    set_next(call, stored, wait)?;
    Ok(stored.save()?)
}

/// Reads a subscription no more, and tells the person's agents. Its blocks stay, because what they stand for may still
/// take place.
fn give_up(call: &Call, stored: &mut Stored<Subscription>, problem: String) -> Result<()> {
    stored.step_to(&SUBSCRIPTION, "take_calendar", SubscriptionState::Failed)?;
    let value = &mut stored.value;
    value.failing_since.get_or_insert(call.now());
    (value.problem, value.next_at) = (Some(problem.clone()), None);
    timers::cancel(&timer(&stored.id))?;
    stored.save()?;
    let summary = "A calendar elsewhere is no longer read.";
    let more = SubscriptionFailed { problem: Some(problem) };
    let data = Data::by_system(stored.resource(), summary, more).next(list_subscriptions());
    Ok(stored.notify_owner(FAILED, &data)?)
}

fn share(call: &Call) -> f64 {
    call.random_numbers(1).first().copied().unwrap_or(0.0)
}
