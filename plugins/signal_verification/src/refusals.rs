//! The refusals, each with the next step that helps.

use crate::types::CAPABILITY;
use people_kit::text::{Fault, TextError, Violations};
use portolan_sdk::prelude::*;

#[derive(Debug, Refusals)]
pub(crate) enum SignalError {
    /// Only people who are known to speak for the signal's company may do this.
    ///
    /// Anybody may submit evidence. A person is allowed to speak for a company after they have
    /// proved its domain.
    #[refusal(
        forbidden,
        retryable,
        conflict_detail = json!({ "kind": "permission", "relation": "speaks_for", "object": target_id }),
        next = prove(&target_id)
    )]
    VerificationRequired { target_id: String },
    /// This address was submitted for this signal before.
    #[refusal(
        conflict,
        conflict_detail = json!({ "kind": "duplicate", "existing_id": existing_id }),
        next = get(&signal_id)
    )]
    EvidenceExists { signal_id: String, existing_id: String },
    /// Evidence must be an https address that everybody can read, with a host name, without a user
    /// and without a port.
    #[refusal(
        invalid,
        conflict_detail = Violations::new(vec![Fault {
            pointer: "/url".into(),
            rule: "public_https",
            expected: "an https address of a host with a name, without a user and a port",
        }]),
        next = submit(&signal_id)
    )]
    UrlNotAllowed { signal_id: String },
    /// There is no such person.
    #[refusal(not_found)]
    OwnerNotFound,
    #[refusal(transparent)]
    Text(TextError),
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) type Result<T, E = SignalError> = std::result::Result<T, E>;

/// Returns the call that reads a signal with what people stated about it.
pub(crate) fn get(signal_id: &str) -> Next {
    Next::action(CAPABILITY, "get").field("signal_id", signal_id)
}

pub(crate) fn list_mine() -> Next {
    Next::action(CAPABILITY, "list_mine")
}

fn prove(target_id: &str) -> Next {
    let how = "Can you add a DNS record of the company's domain, or a file to its web server?";
    Next::action("owner_verification", "start").field("target_id", target_id).ask("method", how)
}

fn submit(signal_id: &str) -> Next {
    let what = "At which public https address can it be read, and does it support or retract?";
    let submit = Next::action(CAPABILITY, "submit_evidence").field("signal_id", signal_id);
    // One question asks for both fields.
    submit.ask("url", what).ask("kind", what)
}

fn common(code: ErrorCode, message: &str, next: Next) -> Refusal {
    Refusal::common(code, message).next(next)
}

/// Makes the refusal of a signal that is neither in the feed nor known here.
pub(crate) fn unknown() -> Refusal {
    let where_they_are = Next::call("faq_get").field("slug", "map-feeds");
    common(ErrorCode::NotFound, "There is no such signal in the feed.", where_they_are)
}

/// Makes the refusal of a signal that has left the feed; the statements about it stay.
pub(crate) fn gone(signal_id: &str) -> Refusal {
    let message =
        "This signal is no longer in the feed, so no new statements about it are accepted.";
    common(ErrorCode::ResourceGone, message, get(signal_id))
}

impl SignalError {
    /// Makes the refusal of unknown evidence, or of that of another person.
    pub(crate) fn no_evidence() -> Self {
        common(ErrorCode::NotFound, "There is no such evidence of yours.", list_mine()).into()
    }

    /// Makes the refusal of an unknown record, for the operator.
    pub(crate) fn not_found(what: &str) -> Self {
        Refusal::common(ErrorCode::NotFound, format!("There is no such {what}.")).into()
    }
}
