//! The capability `owner_verification`: a person proves to speak for a company by publishing a text
//! under its domain.
//!
//! The domain is the record's, as the map or the organisation has it, and never one that a caller
//! names. Whoever follows what is proved (`signal_verification`, `social_org`) hears of it by the event
//! `verification.updated`.

mod checks;
mod domain;
mod life;
mod limits;
mod proof;
mod refusals;
mod subject;
mod tell;
mod types;
mod verifications;
mod views;

use life::VERIFICATION;
use portolan_sdk::{lookups::Answered, prelude::*};
use refusals::{VerificationError, check, status_of};
use types::*;
use views::VerificationView;

struct OwnerVerification;

/// Who may speak for a company: proved by a text that is published under its domain.
///
/// `start` names a target of the map or an organisation, and answers a text and the place where to
/// publish it: a TXT record of the DNS (`dns_txt`), or a file of the web server (`well_known_file`).
/// Once it is there, `check` has it looked for, and `status` tells what came of it. The domain is that
/// of the target's website, or of the organisation; nobody can name another one. Several people may be
/// verified for one record. The text is looked for again after 90 days, and must stay: what is not
/// found is looked for on each of the next 7 days, and ends then. Who is verified confirms and disputes
/// the signals about the target (`signal_verification`); an organisation whose domain is proved is
/// `verified` (`social_org`). Mail to the domain is not offered, because this service sends none, and
/// job boards are not read for it.
#[capability(
    id = "owner_verification",
    title = "Owner verification",
    tags = ["map", "organisations", "verification", "domain"],
    collections = [VERIFICATIONS, SUBJECTS, DAYS],
    state_machines = [VERIFICATION]
)]
impl OwnerVerification {
    /// List the person's verifications, the last changed first, or read one of them.
    ///
    /// For an agent that nobody has claimed, the list is empty, and `next` is the way to a claim.
    #[action(access = read, idempotent, example = Status { verification_id: None, page: Default::default() })]
    fn status(
        call: &Call,
        input: Status,
    ) -> Result<Answer<Items<VerificationView>>, VerificationError> {
        Items::own(call, |me| verifications::status_for(me, input))
    }

    /// Get the text that proves the domain of a record, and the place where to publish it.
    ///
    /// There are 7 days for it. The same again answers the same, another method another text; what is
    /// proved stays so, and counts again where it was forgotten. What has failed, expired or was
    /// revoked begins anew.
    #[action(access = write, idempotent, emits = [UPDATED], example = Start { target_id: Some(TARGET_ID.into()), org_id: None, method: Method::DnsTxt }, example = Start { target_id: None, org_id: Some("org_01JZX8Q4M2N6P7R8S9T0V1W2X3".into()), method: Method::WellKnownFile })]
    fn start(call: &Call, input: Start) -> Result<Answer<VerificationView>, VerificationError> {
        let view = verifications::start(call, input)?;
        let next = match view.allowed_actions.contains(&"check") {
            true => check(&view.verification_id),
            false => status_of(&view.verification_id),
        };
        Ok(Answer::new(view).next(next))
    }

    /// Have the text looked for. `status` tells what came of it.
    ///
    /// At most every 30 seconds; 20 checks in vain end the challenge.
    #[action(access = write, example = Own { verification_id: VERIFICATION_ID.into(), expected_version: None })]
    fn check(call: &Call, input: Own) -> Result<Answer<VerificationView>, VerificationError> {
        let view = checks::check(call, &input)?;
        let next = status_of(&view.verification_id).after_s(5);
        Ok(Answer::new(view).next(next))
    }

    /// Give a verification up: the person speaks for the company no longer.
    #[action(access = write, destructive, emits = [UPDATED], example = Own { verification_id: VERIFICATION_ID.into(), expected_version: None })]
    fn revoke(call: &Call, input: Own) -> Result<VerificationView, VerificationError> {
        verifications::revoke(call, &input)
    }

    /// End somebody's verification, with a reason that they read.
    #[action(access = internal, emits = [UPDATED])]
    fn withdraw(call: &Call, input: Withdraw) -> Result<VerificationView, VerificationError> {
        verifications::withdraw(call, input)
    }

    /// Note whether the text was found.
    #[action(access = internal, idempotent, emits = [UPDATED])]
    fn on_answer(call: &Call, answer: Answered<About>) -> Result<(), VerificationError> {
        checks::on_answer(call, answer)
    }

    /// End a challenge that was not met in time.
    #[action(access = internal, idempotent, emits = [UPDATED])]
    fn expire(call: &Call, input: About) -> Result<(), VerificationError> {
        verifications::expire(call, &input)
    }

    /// Look for the text again.
    #[action(access = internal, emits = [UPDATED])]
    fn recheck(call: &Call, input: About) -> Result<(), VerificationError> {
        checks::recheck(call, &input)
    }
}

/// Of the examples.
const TARGET_ID: &str = "tgt_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const VERIFICATION_ID: &str = "ver_01JZX8Q4M2N6P7R8S9T0V1W2X3";
