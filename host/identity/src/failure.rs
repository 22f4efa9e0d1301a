//! The failure envelope of each error of identity.

use crate::error::IdentityError;
use portolan_store::StateError;
use portolan_vocabulary::{ErrorCode, Failure};
use serde_json::{Value, json};

fn http(method: &str, url: &str) -> Value {
    json!({ "http": { "method": method, "url": url } })
}

impl From<IdentityError> for Failure {
    fn from(error: IdentityError) -> Self {
        let register = || {
            json!({ "http": {
                "method": "POST", "url": "/v1/agents/register", "body": { "type": "anonymous" },
            } })
        };
        let token = || http("POST", "/oauth/token");
        match error {
            IdentityError::NoToken => Self::new(ErrorCode::AuthenticationRequired).next(register()),
            IdentityError::TokenInvalid => Self::new(ErrorCode::TokenInvalid).next(token()),
            IdentityError::TokenExpired => Self::new(ErrorCode::TokenExpired).next(token()),
            IdentityError::AudienceMismatch { metadata } => {
                Self::new(ErrorCode::AudienceMismatch).next(http("GET", &metadata))
            }
            IdentityError::AgentRevoked => Self::new(ErrorCode::ClientRevoked).next(register()),
            IdentityError::AgentExpired => Self::new(ErrorCode::IdentityExpired).next(register()),
            IdentityError::SessionEnded => Self::new(ErrorCode::AuthenticationRequired)
                .message("This browser was signed out. Sign in again."),
            IdentityError::UserCodeUnknown => Self::new(ErrorCode::NotFound)
                .message("No device waits for this code. Check it, or start again at the device: a code is valid for ten minutes, and once."),
            IdentityError::ClaimLinkExpired => Self::new(ErrorCode::NotFound)
                .message("This address has expired or was used. It works once, for ten minutes. Go back to your agent and ask it to try again."),
            IdentityError::AgentClaimed => Self::new(ErrorCode::InvalidTransition)
                .message("This agent acts for a person already. Nothing was changed. If that is you, go back to the agent; you see your agents on the page /account."),
            IdentityError::TestModeOff => Self::new(ErrorCode::NotPermitted)
                .message("Test mode is off on this host. Register a live agent, or ask the operator to set test_mode = \"on\"."),
            IdentityError::PasskeyRequired => Self::new(ErrorCode::AuthenticationRequired)
                .message("You have passkeys, so the phone alone does not sign you in. Use one of them."),
            IdentityError::PasskeyUnknown => Self::new(ErrorCode::AuthenticationRequired)
                .message("This passkey belongs to no account here. It may have been removed."),
            IdentityError::PasskeyExpired => Self::new(ErrorCode::AuthenticationRequired)
                .message("It took too long, or the page was used already. Start again."),
            IdentityError::PasskeyRefused(reason) => {
                tracing::info!(reason, "a passkey is refused");
                Self::new(ErrorCode::AuthenticationRequired)
                    .message("The passkey did not work here. Start again, and use one that was made for this address.")
            }
            IdentityError::TooManyPasskeys { maximum } => Self::new(ErrorCode::NotPermitted)
                .message(format!("You have {maximum} passkeys, as many as a person can have. Remove one first.")),
            IdentityError::NoPasskeys => Self::new(ErrorCode::NotPermitted)
                .message("This host cannot have passkeys, because its address is a number and not a name."),
            IdentityError::SignInTooOld => Self::new(ErrorCode::AuthenticationRequired)
                .message("You signed in more than ten minutes ago. Sign out, sign in again, and then change your passkeys."),
            IdentityError::EmailAddress(fault) => {
                Self::new(ErrorCode::ValidationFailed).message(fault.to_string())
            }
            IdentityError::EmailLater { after_s } => Self::new(ErrorCode::RateLimited)
                .message(format!(
                    "Emails that ask for your confirmation were sent already. Look for the last one, also among unwanted mail. Another one is possible in {}.",
                    duration(after_s)
                ))
                .after_s(after_s),
            IdentityError::AgentName(fault) => Self::new(ErrorCode::ValidationFailed)
                .message(format!("The agent cannot have this name: {fault}"))
                .conflict(json!({ "kind": "validation", "errors": [{
                    "pointer": "/agent_name", "rule": fault.rule(), "expected": fault.expected(),
                }] })),
            IdentityError::SlowDown { after_s } => Self::new(ErrorCode::RateLimited).after_s(after_s),
            IdentityError::OperatorExpired(name) => Self::new(ErrorCode::TokenExpired).message(format!(
                "The operator's token has expired. An operator with the role admin makes a new one by `portolan operators renew {name}`."
            )),
            IdentityError::OperatorExists(name) => Self::new(ErrorCode::InvalidTransition)
                .message(format!("There is an operator {name} already. Renew the token, or remove it first.")),
            IdentityError::NoOperator(name) => {
                Self::new(ErrorCode::NotFound).message(format!("There is no operator {name}."))
            }
            IdentityError::OperatorInvalid(message) => {
                Self::new(ErrorCode::ValidationFailed).message(message)
            }
            IdentityError::Records(StateError::Limit(_)) => Self::new(ErrorCode::NotPermitted)
                .message("This person has the maximum number of agents."),
            IdentityError::Records(StateError::Conflict) => Self::new(ErrorCode::VersionConflict).after_s(1),
            IdentityError::OAuth(_) | IdentityError::Key(_) | IdentityError::Records(_) => {
                Self::new(ErrorCode::InternalError)
            }
            IdentityError::Db(error) => error.into(),
        }
    }
}

/// Returns a wait in words.
fn duration(seconds: u32) -> String {
    match seconds {
        0..=90 => "a minute".to_owned(),
        91..=5400 => format!("{} minutes", seconds.div_ceil(60)),
        _ => format!("{} hours", seconds.div_ceil(3600)),
    }
}
