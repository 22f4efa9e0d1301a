//! The refusals, each with the next step that helps.

use crate::{limits::CHECKS, types::CAPABILITY};
use portolan_sdk::prelude::*;

#[derive(Debug, Refusals)]
pub(crate) enum VerificationError {
    /// The record has no domain of its own that could be proved.
    #[refusal(unprocessable, retryable, next = next)]
    VerificationFailed { next: Next },
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) type Result<T, E = VerificationError> = std::result::Result<T, E>;

impl VerificationError {
    /// Makes the refusal for an unknown verification, and for one of another person.
    pub(crate) fn unknown() -> Self {
        common(ErrorCode::NotFound, "There is no such verification of yours.", status()).into()
    }

    /// Makes the refusal for an organisation without a domain; its members can set one.
    pub(crate) fn no_domain_of_org(org_id: &str) -> Self {
        let update = Next::action("social_org", "update").field("org_id", org_id);
        let next = update.ask("domain", "Which domain has the organisation registered?");
        Self::VerificationFailed { next: next.then_retry() }
    }

    /// Makes the refusal for a target without a domain; a report can correct the map.
    pub(crate) fn no_domain_of_target(target_id: &str) -> Self {
        let get = Next::action("map_search", "get").field("target_id", target_id);
        Self::VerificationFailed { next: get }
    }
}

/// Makes the refusal for a look-up that the host did not accept.
pub(crate) fn not_asked(error: HostError) -> Refusal {
    let HostError::Limit(_) = error else { return error.into() };
    let message = "Too many checks are on their way. Try again in a moment.";
    common(ErrorCode::DependencyUnavailable, message, status().after_s(60).then_retry())
}

pub(crate) fn status() -> Next {
    Next::action(CAPABILITY, "status")
}

pub(crate) fn status_of(verification_id: &str) -> Next {
    status().field("verification_id", verification_id)
}

pub(crate) fn check(verification_id: &str) -> Next {
    Next::action(CAPABILITY, "check").field("verification_id", verification_id)
}

fn common(code: ErrorCode, message: &str, next: Next) -> Refusal {
    Refusal::common(code, message).next(next)
}

pub(crate) fn no_target() -> Refusal {
    let search = Next::action("map_search", "search");
    common(ErrorCode::NotFound, "There is no such target on the map.", search)
}

pub(crate) fn no_org() -> Refusal {
    let mine = Next::action("social_org", "list_mine");
    common(ErrorCode::NotFound, "There is no such organisation.", mine)
}

pub(crate) fn not_permitted(org_id: &str) -> Refusal {
    let get = Next::action("social_org", "get").field("org_id", org_id);
    let message = "Only an owner or admin of the organisation can verify it as long as it has one.";
    common(ErrorCode::NotPermitted, message, get)
}

pub(crate) fn too_soon(verification_id: &str, wait: u64) -> Refusal {
    let limit = Limit::within("checks_of_a_verification", &CHECKS, wait);
    quota("It was checked a moment ago.", &limit, status_of(verification_id))
}
