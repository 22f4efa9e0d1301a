//! The records of people's email addresses, and of the links in emails.

use serde::{Deserialize, Serialize};

/// The email address of a person, keyed by the owner's id. Addresses and tokens are sealed, as an export opens them.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EmailRecord {
    /// The address that the person has confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Whether the person is told what happens.
    #[serde(default)]
    pub is_wanted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified_at: Option<u64>,
    /// The token of the link that ends emails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsubscribe: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingEmail>,
    /// The address that the mail server did not know.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// When a record is removed that has nothing but an address that was not confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

/// An address that waits for its confirmation.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PendingEmail {
    pub address: String,
    pub token_hash: String,
    pub requested_at: u64,
    pub expires_at: u64,
}

/// The link in an email, keyed by the hash of its token.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct EmailLinkRecord {
    pub owner_id: String,
    /// Whether it confirms the address; otherwise it ends emails.
    pub confirms: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}
