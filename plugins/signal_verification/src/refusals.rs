//! Why something is refused, and the step that helps.

use crate::{limits::MOST_WAITING, types::CAPABILITY};
use people_kit::text::{Fault, TextError, Violations};
use portolan_sdk::prelude::*;

#[derive(Debug, Serialize)]
pub(crate) struct Lacks {
    kind: &'static str,
    relation: &'static str,
    object: String,
}

#[derive(Debug, Serialize)]
pub(crate) struct Duplicate {
    kind: &'static str,
    existing_id: String,
}

#[derive(Debug, Refusals)]
pub(crate) enum SignalError {
    /// Only who is known to speak for the company that the signal is about may do this.
    ///
    /// Anybody may submit evidence. A person comes to speak for a company by proving its domain.
    #[refusal(
        forbidden,
        retryable,
        conflict_detail = Lacks { kind: "permission", relation: "speaks_for", object: target_id.clone() },
        next = prove(&target_id)
    )]
    VerificationRequired { target_id: String },
    /// This address was submitted for this signal before.
    #[refusal(
        conflict,
        conflict_detail = Duplicate { kind: "duplicate", existing_id },
        next = get(&signal_id)
    )]
    EvidenceExists { signal_id: String, existing_id: String },
    /// Evidence is an https address that everybody can read, of a host with a name, without a user
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

/// Reads a signal with everything that was said about it.
pub(crate) fn get(signal_id: &str) -> Next {
    Next::action(CAPABILITY, "get").field("signal_id", signal_id)
}

pub(crate) fn list_mine() -> Next {
    Next::action(CAPABILITY, "list_mine")
}

fn prove(target_id: &str) -> Next {
    let start = Next::action("owner_verification", "start");
    let start = start.field("target_id", target_id);
    start.ask(
        "method",
        "Can you add a DNS record of the company's domain, or a file to its web server?",
    )
}

fn submit(signal_id: &str) -> Next {
    let submit = Next::action(CAPABILITY, "submit_evidence");
    let submit = submit.field("signal_id", signal_id);
    let submit = submit.ask("url", "At which public https address can it be read?");
    submit.ask(
        "kind",
        "At which public https address can it be read, and does it support or retract?",
    )
}

fn common(code: ErrorCode, message: &str, next: Next) -> Refusal {
    Refusal::common(code, message).next(next)
}

/// Neither in the feed nor spoken of here.
pub(crate) fn unknown() -> Refusal {
    let where_they_are = Next::call("faq_get").field("slug", "map-feeds");
    common(ErrorCode::NotFound, "There is no such signal in the feed.", where_they_are)
}

/// It left the feed; what was said about it stays.
pub(crate) fn gone(signal_id: &str) -> Refusal {
    let message = "This signal is in the feed no longer, so nothing new is said about it.";
    common(ErrorCode::ResourceGone, message, get(signal_id))
}

impl SignalError {
    /// For whoever asks about evidence of somebody else's, too.
    pub(crate) fn no_evidence() -> Self {
        common(ErrorCode::NotFound, "There is no such evidence of yours.", list_mine()).into()
    }

    /// For the operator.
    pub(crate) fn nothing(what: &str) -> Self {
        Refusal::common(ErrorCode::NotFound, format!("There is no such {what}.")).into()
    }
}

pub(crate) fn many_wait(signal_id: &str) -> Refusal {
    let limit = Limit::reached("evidence_waiting_for_a_signal", MOST_WAITING);
    quota("As much evidence for this signal waits for a review as may.", &limit, get(signal_id))
}

pub(crate) fn many_appointed(name: &'static str, limit: u64) -> Refusal {
    quota("As many are appointed as may be.", &Limit::reached(name, limit), list_mine())
}
