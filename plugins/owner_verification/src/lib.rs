//! The capability `owner_verification`: a person proves that they speak for a company by publishing
//! a text under its domain.
//!
//! The domain is the record's, from the map or the organisation, and never one that a caller gives.
//! Other capabilities (`signal_verification`, `social_org`) follow the event
//! `verification.updated`.

mod checks;
mod domain;
mod intents;
mod states;
mod limits;
mod person_page;
mod proof;
mod refusals;
mod speakers;
mod subject;
mod types;
mod verifications;
mod views;

use people_kit::organisations::{OfPerson, OfTarget, Speakers, SpeaksFor};
use portolan_sdk::{
    lookups::Answered,
    migration::{Migrated, Migration},
    prelude::*,
};
use refusals::{VerificationError, check, status_of};
use states::VERIFICATION;
use types::*;
use views::VerificationView;

struct OwnerVerification;

/// Verification of the people who speak for a company, by a text that is published under its
/// domain.
///
/// `start` takes a target of the map or an organisation, and returns a text and the place where to
/// publish it: a TXT record of the DNS (`dns_txt`), or a file of the web server
/// (`well_known_file`). Once it is published, `check` requests a look-up, and `status` returns the
/// result. The domain is that of the target's website, or of the organisation; nobody can give
/// another one. Several people may be verified for one record.
///
/// The text is looked for again after 90 days, and must stay: if it is not found, it is looked for
/// on each of the next 7 days, and then the verification ends. Verified people confirm and dispute
/// the signals about the target (`signal_verification`); an organisation whose domain is proved is
/// `verified` (`social_org`). Applications and enquiries that wait for the target are delivered as
/// soon as its domain is proved (`applications`). Verification by mail to the domain is not offered, because this
/// service sends no mail; job boards are not used either.
#[capability(
    id = "owner_verification",
    consequence = portolan_sdk::Consequence::of("account"),
    title = "Owner verification",
    tags = ["map", "organisations", "verification", "domain"],
    invokes = [subject::ORG, people_kit::organisations::VACANT],
    collections = [VERIFICATIONS, SUBJECTS, DAYS],
    state_machines = [VERIFICATION]
)]
impl OwnerVerification {
    /// Give proofs of an earlier version the form of this one.
    #[action(access = internal, idempotent)]
    fn migrate(_call: &Call, input: Migration) -> Result<Migrated, Infallible> {
        Ok(verifications::migrate(input))
    }

    /// List the person's verifications, last changed first, or read one of them.
    ///
    /// For an agent that nobody has claimed, the list is empty, and `next` is the way to a claim.
    #[action(
        access = read, idempotent, example = Status { verification_id: None, page: Default::default() },
        intents = intents::STATUS, person_page = person_page::status()
    )]
    fn status(
        call: &Call,
        input: Status,
    ) -> Result<Answer<Items<VerificationView>>, VerificationError> {
        Items::own(call, |me| verifications::status_for(me, input))
    }

    /// Get the text that proves the domain of a record, and the place where to publish it.
    ///
    /// The text must be published within 7 days. The same call returns the same text again, and
    /// another method another text; a verified state stays, and its event is published again. A
    /// failed, expired or revoked verification begins again.
    #[action(
        access = write, idempotent, emits = [UPDATED], example = Start { target_id: Some(TARGET_ID.into()), org_id: None, method: Method::DnsTxt }, example = Start { target_id: None, org_id: Some("org_01JZX8Q4M2N6P7R8S9T0V1W2X3".into()), method: Method::WellKnownFile },
        intents = intents::START, person_page = person_page::start()
    )]
    fn start(call: &Call, input: Start) -> Result<Answer<VerificationView>, VerificationError> {
        let view = verifications::start(call, input)?;
        let next = match view.allowed_actions.contains(&"check") {
            true => check(&view.verification_id),
            false => status_of(&view.verification_id),
        };
        Ok(Answer::new(view).next(next))
    }

    /// Check whether the text is published. `status` returns the result.
    ///
    /// At most one check is made every 30 seconds; the challenge ends after 20 failed checks.
    #[action(
        access = write, example = OwnInput { verification_id: VERIFICATION_ID.into(), expected_version: None },
        intents = intents::CHECK, person_page = person_page::check()
    )]
    fn check(call: &Call, input: OwnInput) -> Result<Answer<VerificationView>, VerificationError> {
        let view = checks::check(call, &input)?;
        let next = status_of(&view.verification_id).after_s(5);
        Ok(Answer::new(view).next(next))
    }

    /// Revoke one's own verification: the person no longer speaks for the company.
    #[action(
        access = write, destructive, emits = [UPDATED], example = OwnInput { verification_id: VERIFICATION_ID.into(), expected_version: None },
        intents = intents::REVOKE, person_page = person_page::revoke()
    )]
    fn revoke(call: &Call, input: OwnInput) -> Result<VerificationView, VerificationError> {
        verifications::revoke(call, &input)
    }

    /// List the people who have proved the domain of a target.
    ///
    /// It is for other capabilities.
    #[action(access = internal, callers = ["applications"], idempotent)]
    fn speakers(_call: &Call, input: OfTarget) -> Result<Speakers, VerificationError> {
        speakers::speakers(input.target_id)
    }

    /// List the targets whose domain a person has proved.
    ///
    /// It is for other capabilities.
    #[action(access = internal, callers = ["applications"], idempotent)]
    fn speaks_for(_call: &Call, input: OfPerson) -> Result<SpeaksFor, VerificationError> {
        speakers::speaks_for(&input.owner_id)
    }

    /// Revoke a person's verification, with a reason that they read.
    #[action(access = internal, emits = [UPDATED])]
    fn withdraw(call: &Call, input: Withdraw) -> Result<VerificationView, VerificationError> {
        verifications::withdraw(call, input)
    }

    /// Record whether the text was found.
    #[action(access = internal, idempotent, emits = [UPDATED])]
    fn on_answer(call: &Call, answer: Answered<About>) -> Result<(), VerificationError> {
        checks::on_answer(call, answer)
    }

    /// Let a challenge expire that was not met in time.
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

/// A target's id for the examples.
const TARGET_ID: &str = "tgt_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const VERIFICATION_ID: &str = "ver_01JZX8Q4M2N6P7R8S9T0V1W2X3";
