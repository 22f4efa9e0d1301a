//! How a verification is shown to whose it is.

use crate::{
    life::*,
    limits::{CHALLENGE_FOR, RECHECK_AFTER},
    proof,
    types::*,
};
use portolan_sdk::prelude::*;

#[derive(Serialize, JsonSchema)]
pub(crate) struct VerificationView {
    pub(crate) verification_id: String,
    #[serde(flatten)]
    of: Of,
    /// The domain that is to be proved, as the record has it.
    domain: String,
    method: Method,
    state: State,
    version: u64,
    pub(crate) allowed_actions: Vec<&'static str>,
    /// What to publish, and where. It must stay there: it is looked at again.
    challenge: Option<Challenge>,
    /// A check is on its way.
    checking: bool,
    /// RFC 3339: the last check.
    checked_at: Option<String>,
    /// Why the last check has not found the text, or why it has ended.
    reason: Option<String>,
    /// RFC 3339: when the text was found last.
    verified_at: Option<String>,
    /// RFC 3339: when it is looked for again.
    recheck_at: Option<String>,
    /// RFC 3339: when the state was reached.
    changed_at: String,
}

#[derive(Serialize, JsonSchema)]
struct Challenge {
    /// The name of the TXT record, or the address of the file.
    place: String,
    /// The record's text, or a line of the file.
    text: String,
    /// RFC 3339: until when it must be found for the first time.
    expires_at: Option<String>,
}

pub(crate) fn view(stored: &Stored<Verification>) -> Result<VerificationView, HostError> {
    let it = &stored.value;
    let waits = it.state == State::ChallengeIssued;
    let challenge = match waits || it.state.speaks() {
        true => Some(Challenge {
            place: proof::place(it),
            text: proof::text(&stored.id, it)?,
            expires_at: waits.then(|| rfc3339(it.issued_at + CHALLENGE_FOR)),
        }),
        false => None,
    };
    let next = it.verified_at.filter(|_| it.state == State::Verified);
    Ok(view!(it => VerificationView {
        of, domain, method, state, reason;
        verification_id: stored.id.clone(),
        version: stored.revision,
        allowed_actions: VERIFICATION.allowed(it.state),
        challenge,
        checking: it.lookup_id.is_some(),
        checked_at: it.checked_at.map(rfc3339),
        verified_at: it.verified_at.map(rfc3339),
        recheck_at: next.map(|at| rfc3339(at + RECHECK_AFTER)),
        changed_at: rfc3339(it.changed_at),
    }))
}
