//! The view of a verification for its owner.

use crate::{limits::*, proof, states::*, types::*};
use portolan_sdk::prelude::*;

#[derive(Serialize, JsonSchema)]
pub(crate) struct VerificationView {
    pub(crate) verification_id: String,
    #[serde(flatten)]
    of: SubjectRef,
    /// The domain to be proved, from the record.
    domain: String,
    method: Method,
    state: State,
    version: u64,
    pub(crate) allowed_actions: Vec<&'static str>,
    /// The text to publish, and the place. The text must stay there, because it is checked again.
    challenge: Option<Challenge>,
    /// Whether a check is in progress.
    checking: bool,
    /// When it was last checked (RFC 3339).
    checked_at: Option<String>,
    /// Why the last check has failed, or why the verification has ended.
    reason: Option<String>,
    /// When the text was last found (RFC 3339).
    verified_at: Option<String>,
    /// When it is checked again (RFC 3339).
    recheck_at: Option<String>,
    /// When the state was reached (RFC 3339).
    changed_at: String,
}

#[derive(Serialize, JsonSchema)]
struct Challenge {
    /// The name of the TXT record, or the address of the file.
    place: String,
    /// The text of the record, or of a line of the file.
    text: String,
    /// When the challenge expires (RFC 3339).
    expires_at: Option<String>,
}

pub(crate) fn view(stored: &Stored<Verification>) -> Result<VerificationView, HostError> {
    let verification = &stored.value;
    let is_pending = verification.state == State::ChallengeIssued;
    let challenge = |text| Challenge {
        place: proof::place(verification),
        text,
        expires_at: is_pending.then(|| rfc3339(verification.issued_at + CHALLENGE_FOR)),
    };
    let is_valid = is_pending || verification.state.is_proved();
    let text = is_valid.then(|| proof::text(&stored.id, verification)).transpose()?;
    let next = verification.verified_at.filter(|_| verification.state == State::Verified);
    Ok(view!(verification => VerificationView {
        of, domain, method, state, reason;
        verification_id: stored.id.clone(),
        version: stored.revision,
        allowed_actions: VERIFICATION.allowed(verification.state),
        challenge: text.map(challenge),
        checking: verification.lookup_id.is_some(),
        checked_at: verification.checked_at.map(rfc3339),
        verified_at: verification.verified_at.map(rfc3339),
        recheck_at: next.map(|at| rfc3339(at + RECHECK_AFTER)),
        changed_at: rfc3339(verification.changed_at),
    }))
}
