//! The refusals, and the next step that each names.

use crate::types::{CAPABILITY, Purpose};
use portolan_sdk::prelude::*;

#[derive(Debug, Refusals)]
pub(crate) enum BindError {
    /// This is not a phone number in E.164, such as +12015550123.
    #[refusal(invalid, next = ask_number(purpose))]
    PhoneInvalid { purpose: Purpose },
    /// No code can be sent to this kind of number. A mobile number is needed; in test mode, one of +14155550100 to +14155550116.
    #[refusal(unprocessable, next = ask_number(purpose))]
    PhoneNotAllowed { purpose: Purpose },
    /// This agent is claimed already, by this person or another.
    #[refusal(conflict, next = status())]
    AlreadyClaimed,
    /// Too many codes were sent. Wait before asking for another.
    #[refusal(too_many, retryable, next = later(wait_s))]
    SmsRateLimited { wait_s: u32 },
    /// A code was sent a moment ago. Wait before asking for another.
    #[refusal(too_many, retryable, next = later(wait_s))]
    ResendTooSoon { wait_s: u32 },
    /// The message cannot be delivered to this number.
    #[refusal(upstream, retryable, next = ask_number(purpose))]
    SmsUndeliverable { purpose: Purpose },
    /// There is no attempt to verify. Start one with bind.
    #[refusal(conflict, next = if claimed { status() } else { Next::claim() })]
    NoPendingBind { claimed: bool },
    /// The code does not match.
    #[refusal(unprocessable, retryable, keep_writes, next = ask_code(bind_id))]
    CodeInvalid { bind_id: String },
    /// The code has expired. Ask for another.
    #[refusal(gone, retryable, next = Next::action(CAPABILITY, "resend"))]
    CodeExpired,
    /// No code was sent for this attempt. Ask the person to open the link of the last message from this host, and to enter the approval code there.
    #[refusal(conflict, next = status().after_s(APPROVAL_S))]
    NoCodeSent,
    /// The number is right, but this person has passkeys. Ask them to open the page /approve of this host, to sign in there with a passkey, and to enter the approval code that status returns.
    #[refusal(conflict, next = status().after_s(APPROVAL_S))]
    PasskeyRequired,
    /// The link was used, or it has expired. Ask for another code.
    #[refusal(gone, next = Next::claim())]
    LinkInvalid,
    /// Too many wrong codes. Wait, or let the person open the link of the last message.
    #[refusal(too_many, retryable, keep_writes, next = ask_number(purpose).after_s(wait_s))]
    TooManyAttempts { purpose: Purpose, wait_s: u32 },
    /// Nobody has proved this number for a long time, so it may belong to another person by now. If it is the same person, let one of their agents call confirm_number, or let them sign in with a passkey. Otherwise try again in a week: the number then gets an account of its own.
    #[refusal(conflict, keep_writes, next = Next::claim().after_s(wait_s))]
    NumberInQuarantine { wait_s: u32 },
    /// There is nothing to confirm: nobody has proved the number who may be another person.
    #[refusal(conflict, next = status())]
    NotInQuarantine,
    /// A change of the number is already pending.
    #[refusal(conflict, retryable, next = later(wait_s))]
    ChangeOnHold { wait_s: u32 },
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) type Result<T, E = BindError> = std::result::Result<T, E>;

/// The time after which to look whether the person has approved an attempt.
pub(crate) const APPROVAL_S: u32 = 15;

/// Returns the call that requests a number for this purpose.
fn ask_number(purpose: Purpose) -> Next {
    match purpose {
        Purpose::Claim => Next::claim(),
        Purpose::Change => Next::action(CAPABILITY, "change")
            .ask("phone", "Which mobile number may I send a code to?"),
    }
}

pub(crate) fn ask_code(bind_id: impl Into<String>) -> Next {
    Next::action(CAPABILITY, "verify")
        .field("bind_id", bind_id.into())
        .ask("code", "Which six digits did the text message say?")
}

pub(crate) fn status() -> Next {
    Next::action(CAPABILITY, "status")
}

fn later(wait_s: u32) -> Next {
    status().after_s(wait_s).then_retry()
}
