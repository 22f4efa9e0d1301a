//! The actions of identity's rows of the audit log.

/// An action of identity in the audit log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AuthAction {
    ClientRefused,
    TokenRefused,
    OperatorRefused,
    AgentRegistered,
    ClientRegistered,
    ClientUpdated,
    ClientDeleted,
    SignedIn,
    SessionEnded,
    SignedOut,
    PasskeyAdded,
    PasskeyRemoved,
    ConsentGiven,
    ConsentRefused,
    UserCodeRefused,
    AgentClaimed,
    ClaimRefused,
    TokenRevoked,
    GrantRevoked,
    CodeReused,
    RefreshTokenReused,
    KeyRotated,
}

/// A row of the table of what identity writes to the audit log.
#[derive(Debug, Clone, Copy)]
pub struct AuthActionRow {
    pub action: AuthAction,
    /// The action of the row in the audit log.
    pub name: &'static str,
    /// The outcomes that the row can have.
    pub outcomes: &'static [&'static str],
    /// The fields of the row that are filled in: client, agent, person, address.
    pub who: &'static [&'static str],
    pub meaning: &'static str,
}

/// The actions of identity's rows of the audit log.
pub const AUTH_ACTIONS: [AuthActionRow; 22] = [
    row(
        AuthAction::ClientRefused,
        "auth:client_refused",
        &["invalid_client", "slow_down"],
        &["client", "agent", "address"],
        "a client had a wrong secret, assertion or method, or tried again too soon",
    ),
    row(
        AuthAction::TokenRefused,
        "auth:token_refused",
        &[
            "token_invalid",
            "token_expired",
            "audience_mismatch",
            "client_revoked",
            "identity_expired",
        ],
        &["agent", "client", "address"],
        "a bearer token was refused; agent and client are those of a token that this host signed",
    ),
    row(
        AuthAction::OperatorRefused,
        "auth:operator_refused",
        &["token_invalid", "token_expired", "slow_down"],
        &["address"],
        "a token at the operator's address was wrong or had expired, or came too soon after wrong ones",
    ),
    row(
        AuthAction::AgentRegistered,
        "auth:agent_registered",
        &["ok"],
        &["agent", "client"],
        "an agent registered",
    ),
    row(
        AuthAction::ClientRegistered,
        "auth:client_registered",
        &["ok"],
        &["client", "agent"],
        "a client registered",
    ),
    row(
        AuthAction::ClientUpdated,
        "auth:client_updated",
        &["ok"],
        &["client", "agent"],
        "a client changed its registration",
    ),
    row(
        AuthAction::ClientDeleted,
        "auth:client_deleted",
        &["ok"],
        &["client", "agent"],
        "a client deleted its registration",
    ),
    row(
        AuthAction::SignedIn,
        "auth:signed_in",
        &["ok"],
        &["person"],
        "a person signed in with a browser",
    ),
    row(
        AuthAction::SessionEnded,
        "auth:session_ended",
        &["ok"],
        &["person"],
        "a person ended a session of a browser",
    ),
    row(
        AuthAction::SignedOut,
        "auth:signed_out",
        &["ok"],
        &["person"],
        "every session of a person was ended, because they asked for it or were deactivated",
    ),
    row(
        AuthAction::PasskeyAdded,
        "auth:passkey_added",
        &["ok"],
        &["person"],
        "a person added a passkey",
    ),
    row(
        AuthAction::PasskeyRemoved,
        "auth:passkey_removed",
        &["ok"],
        &["person"],
        "a person removed a passkey",
    ),
    row(
        AuthAction::ConsentGiven,
        "auth:consent_given",
        &["ok"],
        &["client", "agent", "person"],
        "a person let a client act for them",
    ),
    row(
        AuthAction::ConsentRefused,
        "auth:consent_refused",
        &["access_denied"],
        &["client", "person", "address"],
        "somebody refused a client; the person is named if they had signed in",
    ),
    row(
        AuthAction::UserCodeRefused,
        "auth:user_code_refused",
        &["invalid_grant"],
        &["address"],
        "somebody entered a code for which no device waits",
    ),
    row(
        AuthAction::AgentClaimed,
        "auth:agent_claimed",
        &["ok"],
        &["client", "agent", "person"],
        "a person claimed an agent on the page that the agent had them open",
    ),
    row(
        AuthAction::ClaimRefused,
        "auth:claim_refused",
        &["access_denied"],
        &["agent", "person", "address"],
        "somebody refused to claim an agent on its page; the person is named if they had signed in",
    ),
    row(
        AuthAction::TokenRevoked,
        "auth:token_revoked",
        &["ok"],
        &["client", "agent"],
        "a client revoked an access token",
    ),
    row(
        AuthAction::GrantRevoked,
        "auth:grant_revoked",
        &["ok"],
        &["client", "agent"],
        "a client revoked a refresh token, and so its grant",
    ),
    row(
        AuthAction::CodeReused,
        "auth:code_reused",
        &["invalid_grant"],
        &["client", "agent"],
        "an authorization code or a device code was used again, so its grant was revoked",
    ),
    row(
        AuthAction::RefreshTokenReused,
        "auth:refresh_token_reused",
        &["invalid_grant"],
        &["client", "agent"],
        "a refresh token was used again, so its grant was revoked",
    ),
    row(
        AuthAction::KeyRotated,
        "auth:key_rotated",
        &["ok"],
        &[],
        "a new key signs tokens, by command or because `tokens.key_days` were over",
    ),
];

const fn row(
    action: AuthAction,
    name: &'static str,
    outcomes: &'static [&'static str],
    who: &'static [&'static str],
    meaning: &'static str,
) -> AuthActionRow {
    AuthActionRow { action, name, outcomes, who, meaning }
}

impl AuthAction {
    pub(crate) fn name(self) -> &'static str {
        let row = AUTH_ACTIONS.iter().find(|row| row.action == self);
        row.map_or("auth:unknown", |row| row.name)
    }
}
