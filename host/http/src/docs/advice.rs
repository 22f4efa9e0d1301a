//! The advice to developers for each common error code.

use portolan_vocabulary::ErrorCode;

/// Returns what to do about a code. A code without advice does not compile.
pub(super) fn advice(code: ErrorCode) -> &'static str {
    use ErrorCode as Code;
    match code {
        Code::AuthenticationRequired => {
            "Send `authorization: Bearer TOKEN`. An agent without a token registers once and requests one at `/oauth/token`."
        }
        Code::TokenInvalid | Code::TokenExpired => {
            "Request a new token at `/oauth/token` with the same credentials, then repeat the call. Do not register again."
        }
        Code::AudienceMismatch => {
            "Tokens for REST and for MCP differ. Request one whose `resource` is the address that you call."
        }
        Code::InsufficientScope => {
            "`conflict.required` names the scope. Request a token with it; `next` is that request."
        }
        Code::ClientRevoked | Code::IdentityExpired | Code::IdentityErased => {
            "The credentials are of no more use. Delete them, register again, and let the person claim the new agent."
        }
        Code::IdentitySuspended => {
            "The operator has suspended the person. Reading still works. Tell the person, who can appeal."
        }
        Code::PhoneBindingRequired => {
            "A person claims the agent once. Follow `next`: it is the call that begins the claim, with the question for the person."
        }
        Code::ApprovalRequired => {
            "Ask the person to decide on their account page. Do not repeat the call: the host makes it, and `approval.decided` says how it ended."
        }
        Code::ApprovalDenied => "The person said no. Do not repeat the call.",
        Code::ApprovalExpired => "Make the call again, and ask the person to decide in time.",
        Code::MalformedJson => {
            "Send one JSON object in UTF-8. The message says where reading stopped."
        }
        Code::PayloadTooLarge => {
            "`conflict.limit` is the maximum in bytes. Shorten texts, or split the input over several calls."
        }
        Code::UnsupportedMediaType => "Send the header `content-type: application/json`.",
        Code::UnknownCapability => {
            "Look the id up in `/v1/capabilities`, or search there with `?q=` and plain words."
        }
        Code::UnknownAction => {
            "Name one of the actions of the capability in `action`; its page lists them."
        }
        Code::MethodNotAllowed => "Use a method of the header `Allow`.",
        Code::ValidationFailed => {
            "`conflict.errors` names each place, its rule and its schema, and `conflict.example` is a valid call. Correct the input; the same call fails again."
        }
        Code::CursorInvalid => "Begin the list again without a cursor, with the same filters.",
        Code::CapabilityDeprecated => {
            "It has reached the end that it announced. Its page and its schema name the successor, if there is one."
        }
        Code::NotFound => {
            "It does not exist, or you may not see it: callers cannot tell which. Check the id."
        }
        Code::ResourceGone => "It existed and will not come back. Forget its id.",
        Code::NotPermitted => {
            "The rules of the capability do not allow it to this caller. The message says which; do not repeat the call."
        }
        Code::NotOwner => "Only agents of the person who owns the thing can do this.",
        Code::NotParticipant => "Only agents of the people who take part can do this.",
        Code::ConfirmRequired => {
            "It cannot be undone. Ask the person, then repeat the call with `confirm` set to `true`."
        }
        Code::VersionConflict => {
            "Somebody changed it at the same time. `conflict.current` is what it is now: apply your change to that, and repeat."
        }
        Code::InvalidTransition => {
            "Read the thing: its state is not the one that you expected. The capability's page shows which action is possible in which state."
        }
        Code::IdempotencyKeyReused => {
            "A key is for one call with one body. Take a new key for a new call."
        }
        Code::IdempotencyInProgress => {
            "Your first call with the key still runs. Wait a moment and repeat it: you get its answer."
        }
        Code::RateLimited => {
            "Wait as long as `Retry-After` says, which is also `next.after_s`, and then repeat the call."
        }
        Code::QuotaExceeded => {
            "A number per time is used up. `next.after_s` says when there is room again, if it is known."
        }
        Code::InsufficientCredits => {
            "The account has too few credits. Get some, or wait until held ones are released."
        }
        Code::AccountFrozen => "The operator has frozen the account. Tell the person.",
        Code::InternalError => {
            "It is a fault of the host. Try again once; if it fails again, report it with `request_id`."
        }
        Code::CapabilityTrapped => {
            "The component crashed or needed too much memory, and nothing was changed. It will most likely fail again: send less, or report it."
        }
        Code::CapabilityAnswerInvalid => {
            "The component broke its own declaration, and nothing was changed. Report it; it fails again."
        }
        Code::CapabilityTimeout => "Nothing was changed. Ask for less at once, then try again.",
        Code::CapabilityUnavailable => {
            "All its sandboxes are busy, or a new version is starting. Try again after `next.after_s` seconds."
        }
        Code::DependencyUnavailable => {
            "Try again in a moment. A write may have been committed: repeat it with the same `idempotency_key`."
        }
        Code::Maintenance => "See the status page, and try again later.",
    }
}
