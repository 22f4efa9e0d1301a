//! The records of people's email addresses, and of the links in emails.

use serde::{Deserialize, Serialize};

pub(crate) const DAY_MS: u64 = 24 * 3_600_000;
/// How long a refused address is kept, so that the person's page shows it.
const REFUSED_MS: u64 = 30 * DAY_MS;

/// The email address of a person, keyed by the owner's id. Addresses and tokens are sealed, as an export opens them.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct EmailRecord {
    /// The address that the person has confirmed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub address: Option<String>,
    /// Whether the person gets notices by email.
    #[serde(default)]
    pub is_wanted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub confirmed_at: Option<u64>,
    /// The token of the link that ends emails.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unsubscribe: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pending: Option<PendingEmail>,
    /// The address to which an email could not be delivered, and since when.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused_at: Option<u64>,
    /// When the next part of the record expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<u64>,
}

impl EmailRecord {
    /// Returns when the next part of the record expires; `None` if none does.
    pub(crate) fn next_expiry(&self) -> Option<u64> {
        let pending = self.pending.as_ref().map(|pending| pending.expires_at);
        [pending, self.refused_until()].into_iter().flatten().min()
    }

    /// Removes an address that nobody has confirmed in time, and one that was refused long ago.
    pub(crate) fn remove_expired(&mut self, now: u64) {
        self.pending = self.pending.take().filter(|pending| pending.expires_at > now);
        if self.refused_until().is_some_and(|until| until <= now) {
            (self.refused, self.refused_at) = (None, None);
        }
        self.expires_at = self.next_expiry();
    }

    fn refused_until(&self) -> Option<u64> {
        self.refused_at.map(|at| at + REFUSED_MS)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_expire_and_a_confirmed_address_stays() {
        let pending = PendingEmail {
            address: "a".to_owned(),
            token_hash: "t".to_owned(),
            requested_at: 0,
            expires_at: DAY_MS,
        };
        let mut record = EmailRecord {
            address: Some("b".to_owned()),
            pending: Some(pending),
            refused: Some("c".to_owned()),
            refused_at: Some(0),
            ..EmailRecord::default()
        };
        assert_eq!(record.next_expiry(), Some(DAY_MS));
        record.remove_expired(DAY_MS - 1);
        assert!(record.pending.is_some());
        record.remove_expired(DAY_MS);
        assert!(record.pending.is_none() && record.refused.is_some());
        assert_eq!(record.expires_at, Some(REFUSED_MS));
        record.remove_expired(REFUSED_MS);
        let kept = EmailRecord { address: Some("b".to_owned()), ..EmailRecord::default() };
        assert_eq!(record, kept);
    }
}
