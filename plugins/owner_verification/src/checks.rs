//! Checks: requested, answered, and repeated after some time.

use crate::{limits::*, proof, refusals::*, states::*, types::*, verifications::*, views::*};
use portolan_sdk::{lookups::Answered, prelude::*};

const NOT_FOUND: &str = "The text was not found there.";
const OTHER_DOMAIN: &str = "The record has another domain by now, or none.";
const MISSING_TOO_LONG: &str = "The text was gone for too long.";

pub(crate) fn check(call: &Call, input: &OwnInput) -> Result<VerificationView> {
    let mut stored = load_own(call, input)?;
    let verification = &stored.value;
    VERIFICATION.step(&stored.id, verification.state, "check")?;
    let since = verification.checked_at.map(|at| call.now().saturating_sub(at));
    if verification.lookup_id.is_some() && since.is_some_and(|since| since < ANSWERED_WITHIN) {
        return Ok(view(&stored)?);
    }
    if let Some(since) = since.filter(|since| *since < CHECKS.within) {
        return Err(too_soon(&stored.id, CHECKS.within - since).into());
    }
    CHECKS_A_DAY.count(call, DAYS, &stored.value.owner_id, status())?;
    request_lookup(call, &mut stored)?;
    stored.save()?;
    Ok(view(&stored)?)
}

fn request_lookup(call: &Call, stored: &mut Stored<Verification>) -> Result<()> {
    let verification = &mut stored.value;
    if verification.of.domain_now()?.as_ref() != Some(&verification.domain) {
        verification.lookup_id = None;
        verification.reason = Some(OTHER_DOMAIN.to_owned());
    } else {
        verification.lookup_id =
            Some(proof::request_lookup(&stored.id, verification).map_err(not_asked)?);
    }
    verification.checked_at = Some(call.now());
    Ok(())
}

/// Handles the result of a look-up. Of the answer, only the presence of the challenge text is used.
pub(crate) fn on_answer(call: &Call, answer: Answered<About>) -> Result<()> {
    let is_awaited = |value: &Verification| value.lookup_id.as_ref() == Some(&answer.lookup_id);
    let Some(mut stored) = find_current(&answer.about, is_awaited)? else { return Ok(()) };
    let verification = &mut stored.value;
    verification.lookup_id = None;
    let is_found =
        answer.error.is_none() && proof::is_among(&answer.found, &stored.id, verification)?;
    // The record's domain may have changed since the look-up was requested.
    if is_found && verification.of.domain_now()?.as_ref() == Some(&verification.domain) {
        (verification.in_vain, verification.verified_at, verification.stale_since) =
            (0, Some(call.now()), None);
        enter(call, &mut stored, "on_answer", State::Verified, None)?;
        timers::cancel(&timer("expire", &stored))?;
        return Ok(set_timer(&stored, "recheck", call.now() + RECHECK_AFTER)?);
    }
    verification.in_vain += 1;
    let is_last =
        verification.state == State::ChallengeIssued && verification.in_vain >= MOST_FAILED_CHECKS;
    let to = if is_last { State::Failed } else { verification.state };
    let missing = if is_found { OTHER_DOMAIN } else { NOT_FOUND };
    let reason = answer.error.unwrap_or_else(|| missing.to_owned());
    enter(call, &mut stored, "on_answer", to, Some(reason))
}

/// Requests another look-up of the text. Until the text is found the verification is stale: it
/// still counts, and the text is looked for each day. After [`STALE_FOR`] the verification ends.
pub(crate) fn recheck(call: &Call, input: &About) -> Result<()> {
    let Some(mut stored) = find_current(input, |value| value.state.is_proved())? else {
        return Ok(());
    };
    let since = *stored.value.stale_since.get_or_insert(call.now());
    if call.now() >= since + STALE_FOR {
        return end(call, &mut stored, "recheck", MISSING_TOO_LONG.to_owned());
    }
    request_lookup(call, &mut stored)?;
    let reason = stored.value.reason.take();
    enter(call, &mut stored, "recheck", State::Stale, reason)?;
    Ok(set_timer(&stored, "recheck", call.now() + RECHECK_STALE_EVERY)?)
}
