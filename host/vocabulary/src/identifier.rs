//! Identifiers: how ours are made, and what capabilities may call things.

use crate::Timestamp;
use std::sync::Arc;
use ulid::Ulid;

/// In the place of a capability's id, for text messages on their way out: no capability can have it.
pub const OUTGOING_SMS: &str = ":sms";
/// The capability that proves phones, by which people sign in.
pub const PHONE_BINDING: &str = "svc.phone-binding";
/// What stands before a capability's id, for the questions that it has asked the host.
pub const LOOKUPS_OF: &str = ":lookups/";
/// In the place of a capability's id, for what the host itself does.
pub const HOST: &str = ":host";

/// The event that says of a text message that it did not arrive.
pub const SMS_UNDELIVERABLE: &str = "sms.undeliverable";
/// Capabilities came, went, or have new versions.
pub const CATALOG_CHANGED: &str = "catalog.changed";
/// Events were removed by age before they were acknowledged.
pub const STREAM_GAP: &str = "stream.gap";
/// The question whether an address wants to be sent events.
pub const WEBHOOK_CHALLENGE: &str = "webhook.challenge";
pub const WEBHOOK_TEST: &str = "webhook.test";
/// An address is sent nothing any more.
pub const WEBHOOK_DISABLED: &str = "webhook.disabled";
/// What only the host says.
pub const HOST_EVENTS: [&str; 6] = [
    SMS_UNDELIVERABLE,
    CATALOG_CHANGED,
    STREAM_GAP,
    WEBHOOK_CHALLENGE,
    WEBHOOK_TEST,
    WEBHOOK_DISABLED,
];

/// Random bytes of the operating system. Without them nothing on this host is safe: it ends.
pub fn entropy<const COUNT: usize>() -> [u8; COUNT] {
    let mut bytes = [0; COUNT];
    if getrandom::fill(&mut bytes).is_err() {
        std::process::abort();
    }
    bytes
}

/// The name of one request or one piece of due work, for logs and audit. There are many of them, and
/// nobody gains by guessing one, so it is not the operating system that is asked.
pub fn new_request_id(now: Timestamp) -> Arc<str> {
    Arc::from(new_identifier("req", now, rand::random()))
}

/// `prefix_` and a ULID of this instant and these random bits.
pub fn new_identifier(prefix: &str, now: Timestamp, random: u128) -> String {
    format!("{prefix}_{}", Ulid::from_parts(now.as_millis(), random))
}

/// Lower-case names of letters, digits, `_` and `-` that start with a letter, joined by dots; at
/// most 64 characters.
pub fn is_capability_id(id: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_lowercase())
            && part
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-')
    };
    id.len() <= 64 && id.split('.').all(part)
}

/// Letters, digits and `_`, lower case, starting with a letter; at most 64 characters.
pub fn is_snake_case(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Two or more names of lower-case letters, digits and `_`, joined by dots; at most 128 characters.
pub fn is_event_type(name: &str) -> bool {
    let is_part = |part: &str| {
        let mut bytes = part.bytes();
        !part.is_empty() && bytes.all(|it| matches!(it, b'a'..=b'z' | b'0'..=b'9' | b'_'))
    };
    name.len() <= 128 && name.contains('.') && name.split('.').all(is_part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capability_ids() {
        for id in ["faq_get", "svc.phone-binding", "a", "a.b.c", "x1"] {
            assert!(is_capability_id(id), "{id}");
        }
        let long = "a".repeat(65);
        for id in ["", ".", "a.", ".a", "A", "1a", "a b", "a/b", "../a", "a.-b", &long] {
            assert!(!is_capability_id(id), "{id}");
        }
    }

    #[test]
    fn an_identifier_has_a_prefix_and_26_characters() {
        let id = new_identifier("agt", Timestamp::from_millis(1_795_285_800_000), 7);
        assert!(id.starts_with("agt_01"), "{id}");
        assert_eq!(id.len(), 30);
    }
}
