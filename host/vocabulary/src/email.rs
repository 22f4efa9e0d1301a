//! An email to a person that waits in the database until it is sent, and which events are told by email. An email
//! names its recipient by the owner's id: the address is read when it is sent. Only the last email to an address that
//! the person has replaced or removed has it, sealed, because no record does any more.

use crate::{Keyring, Timestamp, delivery::actor_of, is_always_delivered, sealed};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

/// The types of events that are not worth an email.
const NOT_TOLD: [&str; 1] = ["conversation.read"];

/// Returns whether an event for a person is told to them by email, if they want that: not what they did themselves,
/// except what is always delivered, such as approvals and sign-ins.
pub fn is_told_by_email(event_type: &str, data: &str, owner_id: &str) -> bool {
    if is_always_delivered(event_type) {
        return true;
    }
    !NOT_TOLD.contains(&event_type) && actor_of(data).is_none_or(|actor| actor != owner_id)
}

/// An email to a person. It is stored sealed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Email {
    pub owner_id: String,
    pub content: EmailContent,
    pub created_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum EmailContent {
    /// Asks whether the address is the person's. The token is that of the link.
    Confirmation { token: String },
    /// Tells the address that was the person's until now that it was replaced or removed. It is sealed, as in a
    /// record.
    Change { former: String, is_removal: bool },
    /// Tells what has happened, in sentences.
    Notices { lines: Vec<String> },
}

impl EmailContent {
    /// Returns the kind, for metrics.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Confirmation { .. } => "confirmation",
            Self::Change { .. } => "change",
            Self::Notices { .. } => "notices",
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Stored {
    sealed: String,
}

impl Email {
    /// Returns the email as it is stored. Returns `None` if sealing fails.
    pub fn seal(&self, keys: &Keyring, random: [u8; 32]) -> Option<String> {
        let plain = serde_json::to_vec(self).ok()?;
        let sealed = sealed::seal(&keys.derive(Keyring::EMAILS), random, &plain)?;
        serde_json::to_string(&Stored { sealed: STANDARD.encode(sealed) }).ok()
    }

    /// Returns a stored email. Returns `None` if none of these keys opens it.
    pub fn open(stored: &str, keys: &Keyring) -> Option<Self> {
        let stored: Stored = serde_json::from_str(stored).ok()?;
        let sealed = STANDARD.decode(stored.sealed).ok()?;
        let plain = sealed::open(&keys.derive(Keyring::EMAILS), &sealed)?;
        serde_json::from_slice(&plain).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Keyring {
        Keyring::parse(&Keyring::generate().unwrap()).unwrap()
    }

    #[test]
    fn a_stored_email_shows_nothing_and_opens_with_its_key_alone() {
        let keys = keys();
        let email = Email {
            owner_id: "own_1".into(),
            content: EmailContent::Confirmation { token: "t0ken".into() },
            created_at: Timestamp::from_millis(7),
        };
        let stored = email.seal(&keys, [7; 32]).unwrap();
        assert!(!stored.contains("t0ken") && !stored.contains("own_1"), "{stored}");
        assert_eq!(Email::open(&stored, &keys), Some(email));
        assert_eq!(Email::open(&stored, &self::keys()), None);
        assert_eq!(Email::open("{}", &keys), None);
    }

    #[test]
    fn what_a_person_did_is_told_only_where_it_is_always_delivered() {
        let by =
            |owner_id: &str| format!(r#"{{"actor":{{"kind":"owner","owner_id":"{owner_id}"}}}}"#);
        for (event_type, data, is_told) in [
            ("meeting.proposed", by("own_2"), true),
            ("meeting.confirmed", by("own_1"), false),
            ("meeting.reminder", r#"{"actor":{"kind":"system"}}"#.to_owned(), true),
            ("identity.signed_in", by("own_1"), true),
            ("approval.requested", by("own_1"), true),
            ("conversation.read", by("own_2"), false),
        ] {
            assert_eq!(is_told_by_email(event_type, &data, "own_1"), is_told, "{event_type}");
        }
    }
}
