//! Checks: requested, answered, and repeated after some time.

use crate::{life::*, limits::*, proof, refusals::*, types::*, verifications::*, views::*};
use portolan_sdk::{lookups::Answered, prelude::*};

const NOT_THERE: &str = "The text was not found there.";
const OTHER_DOMAIN: &str = "The record has another domain by now, or none.";
const GONE: &str = "The text was gone for too long.";

pub(crate) fn check(call: &Call, input: &Own) -> Result<VerificationView> {
    let mut stored = own(call, input)?;
    let it = &stored.value;
    VERIFICATION.step(&stored.id, it.state, "check")?;
    let since = it.checked_at.map(|at| call.now().saturating_sub(at));
    if it.lookup_id.is_some() && since.is_some_and(|since| since < ANSWERED_WITHIN) {
        return Ok(view(&stored)?);
    }
    if let Some(since) = since.filter(|since| *since < CHECKS.within) {
        return Err(too_soon(&stored.id, CHECKS.within - since).into());
    }
    CHECKS_A_DAY.count(call, DAYS, &stored.value.owner_id, status())?;
    look(call, &mut stored)?;
    stored.save()?;
    Ok(view(&stored)?)
}

fn look(call: &Call, stored: &mut Stored<Verification>) -> Result<()> {
    let it = &mut stored.value;
    if it.of.domain_now()?.as_ref() != Some(&it.domain) {
        it.lookup_id = None;
        it.reason = Some(OTHER_DOMAIN.to_owned());
    } else {
        it.lookup_id = Some(proof::look(&stored.id, it).map_err(not_asked)?);
    }
    it.checked_at = Some(call.now());
    Ok(())
}

/// Handles the result of a look-up. Of what was found, only whether the challenge text is there is
/// used.
pub(crate) fn on_answer(call: &Call, answer: Answered<About>) -> Result<()> {
    let awaited = |value: &Verification| value.lookup_id.as_ref() == Some(&answer.lookup_id);
    let Some(mut stored) = current(&answer.about, awaited)? else { return Ok(()) };
    let it = &mut stored.value;
    it.lookup_id = None;
    let is_there = answer.error.is_none() && proof::is_among(&answer.found, &stored.id, it)?;
    // The record's domain may have changed since the look-up was requested.
    if is_there && it.of.domain_now()?.as_ref() == Some(&it.domain) {
        (it.in_vain, it.verified_at, it.stale_since) = (0, Some(call.now()), None);
        enter(call, &mut stored, "on_answer", State::Verified, None)?;
        timers::cancel(&timer("expire", &stored))?;
        return Ok(set_timer(&stored, "recheck", call.now() + RECHECK_AFTER)?);
    }
    it.in_vain += 1;
    let is_last = it.state == State::ChallengeIssued && it.in_vain >= MOST_IN_VAIN;
    let to = if is_last { State::Failed } else { it.state };
    let missing = if is_there { OTHER_DOMAIN } else { NOT_THERE };
    let reason = answer.error.unwrap_or_else(|| missing.to_owned());
    enter(call, &mut stored, "on_answer", to, Some(reason))
}

/// Requests another look-up of the text. Until the text is found the verification is stale: it
/// still counts, and the text is looked for each day. After [`STALE_FOR`] the verification ends.
pub(crate) fn recheck(call: &Call, input: &About) -> Result<()> {
    let Some(mut stored) = current(input, |value| value.state.speaks())? else { return Ok(()) };
    let since = *stored.value.stale_since.get_or_insert(call.now());
    if call.now() >= since + STALE_FOR {
        return end(call, &mut stored, "recheck", GONE.to_owned());
    }
    look(call, &mut stored)?;
    let reason = stored.value.reason.take();
    enter(call, &mut stored, "recheck", State::Stale, reason)?;
    Ok(set_timer(&stored, "recheck", call.now() + RECHECK_STALE_EVERY)?)
}
