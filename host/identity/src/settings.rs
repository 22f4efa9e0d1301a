//! The operator's settings of identity.

use crate::redirects::RedirectHosts;

const DAY_MS: u64 = 24 * 3600 * 1000;

/// The operator's settings.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The address of this host for agents, without a trailing slash.
    pub public_url: String,
    /// Life of an access token.
    pub access_seconds: u64,
    /// Life of a refresh token that is not used.
    pub refresh_days: u64,
    /// The age at which the key that signs tokens is replaced; 0 for never.
    pub key_days: u64,
    pub redirects: RedirectHosts,
    /// Whether agents can register for test mode, in which everybody can claim an agent as any person.
    pub test_mode: bool,
    /// The capability that verifies phone numbers. Its action `adopted` publishes the event that an agent was
    /// added to a person.
    pub phone_verification: Option<String>,
}

impl Settings {
    pub(crate) fn refresh_ms(&self) -> u64 {
        self.refresh_days * DAY_MS
    }

    /// Returns the age at which the key that signs tokens is replaced; `None` for never.
    pub(crate) fn key_age_ms(&self) -> Option<u64> {
        (self.key_days > 0).then_some(self.key_days * DAY_MS)
    }
}
