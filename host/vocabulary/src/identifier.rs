//! Identifiers: how the host makes them, and which names capabilities and callers may use.

use crate::Timestamp;
use std::sync::Arc;
use ulid::Ulid;

/// The id that the timers of outgoing text messages have in place of a capability's id. No capability can
/// have it, because of the colon.
pub const OUTGOING_SMS: &str = ":sms";
/// The same for outgoing emails. A timer's name is the owner's id, `/`, and the email's id.
pub const OUTGOING_EMAIL: &str = ":email";
/// The id that the timers have at which a person is told by email what has happened. A timer's name is the owner's
/// id.
pub const EMAIL_NOTICES: &str = ":email_notices";
/// The prefix of the capability's id in the timers of look-ups that the capability has requested.
pub const LOOKUPS_OF: &str = ":lookups/";
/// The prefix of the capability's id in the timers of exports and erasures that the capability has requested.
pub const PEOPLE_OF: &str = ":people/";
/// The prefix of the capability's id in the timers of calls that a person has approved there.
pub const APPROVED_OF: &str = ":approved/";
/// The id that the timers of held events have in place of a capability's id. A timer's name is the owner's id.
pub const HELD_EVENTS: &str = ":held";
/// The id that the host's own collections and events have in place of a capability's id.
pub const HOST: &str = ":host";

/// The event for a text message that was not delivered.
pub const SMS_UNDELIVERABLE: &str = "sms.undeliverable";
/// The event that reports which capabilities were added, removed or changed.
pub const CATALOG_CHANGED: &str = "catalog.changed";
/// The event that tells capabilities that a publication of the feeds is served.
pub const FEEDS_PUBLISHED: &str = "feeds.published";
/// The event before a person is erased, at which capabilities hand over what others share with the person.
pub const OWNER_LEAVING: &str = "identity.owner_leaving";
/// The event after it, at which capabilities end what the person has with others.
pub const OWNER_LEFT: &str = "identity.owner_left";
/// The event that reports that unacknowledged events of an inbox were removed after their retention.
pub const STREAM_GAP: &str = "stream.gap";
/// The event that summarizes the events which were held because of a person's caps.
pub const NOTIFICATIONS_DIGEST: &str = "notifications.digest";
/// The event that asks a webhook to confirm that it wants events.
pub const WEBHOOK_CHALLENGE: &str = "webhook.challenge";
pub const WEBHOOK_TEST: &str = "webhook.test";
/// The event for a webhook that was disabled.
pub const WEBHOOK_DISABLED: &str = "webhook.disabled";
/// The names of the MCP tools with which agents find and describe capabilities, and call what is not listed: to read,
/// and to do anything. No capability has a tool of such a name.
pub const FINDER_TOOLS: [&str; 4] =
    ["find_capabilities", "describe_capability", "read_capability", "call_capability"];

/// The event types that only the host may publish.
pub const HOST_EVENTS: [&str; 10] = [
    SMS_UNDELIVERABLE,
    CATALOG_CHANGED,
    FEEDS_PUBLISHED,
    OWNER_LEAVING,
    OWNER_LEFT,
    STREAM_GAP,
    NOTIFICATIONS_DIGEST,
    WEBHOOK_CHALLENGE,
    WEBHOOK_TEST,
    WEBHOOK_DISABLED,
];

/// Returns random bytes of the operating system. Aborts the process if the system has none, because no
/// key or secret would be safe without them.
pub fn entropy<const COUNT: usize>() -> [u8; COUNT] {
    let mut bytes = [0; COUNT];
    if getrandom::fill(&mut bytes).is_err() {
        std::process::abort();
    }
    bytes
}

/// Returns a new id of a request or of due work, for logs and audit. Its random bits come from a fast
/// generator, because nobody gains anything by guessing such an id.
pub fn new_request_id(now: Timestamp) -> Arc<str> {
    Arc::from(new_identifier("req", now, rand::random()))
}

/// Returns the prefix, `_`, and a ULID of this instant and these random bits.
pub fn new_identifier(prefix: &str, now: Timestamp, random: u128) -> String {
    format!("{prefix}_{}", Ulid::from_parts(now.as_millis(), random))
}

/// Returns the instant at which an identifier of this host was made.
pub fn made_at(identifier: &str) -> Option<Timestamp> {
    let (_, ulid) = identifier.rsplit_once('_')?;
    Ulid::from_string(ulid).ok().map(|ulid| Timestamp::from_millis(ulid.timestamp_ms()))
}

/// The ids that no capability has, because the reference has other pages at these names.
pub const RESERVED_IDS: [&str; 3] = ["connect", "errors", "guides"];

/// Returns whether the text consists of names joined by dots, each of lower-case letters, digits, `_` and
/// `-` and starting with a letter, and has at most 64 characters.
pub fn is_capability_id(id: &str) -> bool {
    let part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_lowercase())
            && part
                .chars()
                .all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-')
    };
    id.len() <= 64 && id.split('.').all(part)
}

/// Returns whether the text consists of lower-case letters, digits and `_`, starts with a letter, and has
/// at most 64 characters.
pub fn is_snake_case(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Returns whether the text consists of two or more names of lower-case letters, digits and `_`, joined by
/// dots, and has at most 128 characters.
pub fn is_event_type(name: &str) -> bool {
    name.contains('.') && is_event_name(name)
}

/// Returns whether the text could be an event type or the first names of one.
pub fn is_event_name(name: &str) -> bool {
    let is_part = |part: &str| {
        let mut bytes = part.bytes();
        !part.is_empty() && bytes.all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
    };
    name.len() <= 128 && name.split('.').all(is_part)
}

/// Returns whether callers may use the text as an idempotency key: it has 1 to 255 bytes, and no control characters,
/// because the key is stored and PostgreSQL's texts cannot contain U+0000.
pub fn is_idempotency_key(key: &str) -> bool {
    (1..=255).contains(&key.len()) && !key.contains(char::is_control)
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
    fn idempotency_keys() {
        for key in ["a", "a key", "schlüssel", &"k".repeat(255)] {
            assert!(is_idempotency_key(key), "{key}");
        }
        for key in ["", "\0", "a\0b", "a\n", "\u{7f}", &"ü".repeat(128)] {
            assert!(!is_idempotency_key(key), "{key:?}");
        }
    }

    #[test]
    fn an_identifier_has_a_prefix_and_26_characters() {
        let id = new_identifier("agt", Timestamp::from_millis(1_795_285_800_000), 7);
        assert!(id.starts_with("agt_01"), "{id}");
        assert_eq!(id.len(), 30);
        assert_eq!(made_at(&id), Some(Timestamp::from_millis(1_795_285_800_000)));
        assert_eq!(made_at("setting"), None);
    }
}
