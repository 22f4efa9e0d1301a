//! A text message that waits in the database until it is sent.

use crate::{Keyring, sealed};
use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde::{Deserialize, Serialize};

/// A text message. It is stored without its number and text in the clear.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextMessage {
    /// The phone number, in E.164.
    pub to: String,
    pub text: String,
}

/// A message as it is stored: JSON with `id` and `sealed`, or what an earlier version of the host has
/// stored.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Stored {
    Sealed {
        id: String,
        sealed: String,
    },
    Plain {
        id: Option<String>,
        #[serde(flatten)]
        message: TextMessage,
    },
}

impl TextMessage {
    /// Returns the message as it is stored. `random` is the call's randomness. Returns `None` if sealing
    /// fails.
    pub fn seal(&self, id: &str, keys: &Keyring, random: [u8; 32]) -> Option<String> {
        let plain = serde_json::to_vec(self).ok()?;
        let sealed = sealed::seal(&keys.derive(Keyring::TEXT_MESSAGES), random, &plain)?;
        let stored = Stored::Sealed { id: id.to_owned(), sealed: STANDARD.encode(sealed) };
        serde_json::to_string(&stored).ok()
    }

    /// Returns the id of a stored message, and the message, which is `None` if none of these keys opens it.
    /// The id is empty if an earlier version of the host has stored none. Returns `None` if the text is not
    /// a stored message.
    pub fn open(stored: &str, keys: &Keyring) -> Option<(String, Option<Self>)> {
        match serde_json::from_str(stored).ok()? {
            Stored::Plain { id, message } => Some((id.unwrap_or_default(), Some(message))),
            Stored::Sealed { id, sealed } => {
                let sealed = STANDARD.decode(sealed).ok();
                let keys = keys.derive(Keyring::TEXT_MESSAGES);
                let plain = sealed.and_then(|sealed| sealed::open(&keys, &sealed));
                Some((id, plain.and_then(|plain| serde_json::from_slice(&plain).ok())))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys() -> Keyring {
        Keyring::parse(&Keyring::generate().unwrap()).unwrap()
    }

    #[test]
    fn a_stored_message_shows_neither_number_nor_text() {
        let keys = keys();
        let message = TextMessage { to: "+14155550100".into(), text: "Your code".into() };
        let stored = message.seal("sms_1", &keys, [7; 32]).unwrap();
        assert!(!stored.contains("4155550100") && !stored.contains("code"), "{stored}");
        let opened = TextMessage::open(&stored, &keys);
        assert_eq!(opened, Some(("sms_1".to_owned(), Some(message))));
        let without_key = TextMessage::open(&stored, &self::keys());
        assert_eq!(without_key, Some(("sms_1".to_owned(), None)));
    }

    #[test]
    fn a_message_that_an_earlier_version_has_stored_is_read() {
        let message = TextMessage { to: "+14155550100".into(), text: "Your code".into() };
        let stored = r#"{"to":"+14155550100","text":"Your code"}"#;
        assert_eq!(TextMessage::open(stored, &keys()), Some((String::new(), Some(message))));
        assert_eq!(TextMessage::open("{}", &keys()), None);
    }
}
