//! The redacted form of a record: its structure, ids and technical names, without texts and numbers.

use serde_json::{Map, Value};
use std::ops::RangeInclusive;

/// The members whose texts are technical. The seed is none of them: with it, codes and other secrets that a run has drawn
/// can be drawn again.
const SHOWN: [&str; 28] = [
    "action",
    "at",
    "capability",
    "code",
    "digest",
    "error_code",
    "function",
    "kind",
    "level",
    "outcome",
    "pointer",
    "reason",
    "recorded_code",
    "recorded_version",
    "recording",
    "request_id",
    "rule",
    "scopes",
    "state",
    "status",
    "type",
    "verdict",
    "verdicts",
    "version",
    "via",
    "calls",
    "runs",
    "unreadable",
];
/// The members whose texts are technical only in failures and logs.
const IN_FAILURES: [&str; 2] = ["text", "message"];
/// The number of first arguments of functions of these interfaces that name a collection, feed, capability or action.
const NAMES: [(&str, usize); 4] =
    [("documents.", 1), ("feeds.", 1), ("invoke.", 2), ("platform.", 0)];
/// The length of the ULID in an identifier.
const ULID_LENGTH: usize = 26;
/// The numbers of bytes that the prefix of an identifier can have.
const PREFIX_LENGTHS: RangeInclusive<usize> = 2..=5;
/// The maximum number of bytes of a name that a component gives, and of the digits in the name of a member.
const NAME_BYTES: usize = 40;
const NAME_DIGITS: usize = 3;

/// Where in a record a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// A member of the host's own, in which technical names are shown.
    Host,
    /// The same, of a run of another component than the recorded one: what that component says is content.
    Other,
    /// How another component than the recorded one has ended, and what it logs.
    Ended,
    /// A technical name or number of the host.
    Shown,
    /// The input or output of a component: only ids are shown, and the names of members that look like names.
    Content,
    /// The same in a text, such as a document. Texts in it are what people write, even if they are JSON.
    InText,
    /// What another component than the recorded one gives: it chooses the names of members too, so none is shown.
    Chosen,
}

impl Place {
    /// Returns the place of what a component gives here.
    fn content(self) -> Self {
        if matches!(self, Self::Other | Self::Ended | Self::Chosen) {
            Self::Chosen
        } else {
            Self::Content
        }
    }

    /// Returns the place of JSON in a text here.
    fn in_text(self) -> Self {
        match self.content() {
            Self::Chosen => Self::Chosen,
            _ => Self::InText,
        }
    }
}

/// Returns a value without personal data: texts and the names of members that may be texts become their length, numbers
/// become `0`, and JSON in texts becomes part of the value. Ids, booleans and technical names stay.
pub fn redacted(value: &Value) -> Value {
    redact(value, Place::Host)
}

fn redact(value: &Value, place: Place) -> Value {
    match value {
        Value::Null | Value::Bool(_) => value.clone(),
        Value::Number(_) if place == Place::Shown => value.clone(),
        Value::Number(_) => Value::from(0),
        Value::Array(items) => items.iter().map(|item| redact(item, place)).collect(),
        Value::Object(members) => Value::Object(redact_members(members, place)),
        Value::String(text) => match serde_json::from_str(text) {
            Ok(inner @ (Value::Object(_) | Value::Array(_))) if place != Place::InText => {
                redact(&inner, place.in_text())
            }
            _ if place == Place::Shown || is_identifier(text) => value.clone(),
            _ => Value::String(format!("({} bytes)", text.len())),
        },
    }
}

fn redact_members(members: &Map<String, Value>, place: Place) -> Map<String, Value> {
    let is_recorded = members.get("same_component").and_then(Value::as_bool).unwrap_or(false);
    let is_of_other = members.contains_key("verdict") && !is_recorded;
    let place = match place {
        Place::Host | Place::Shown if is_of_other => Place::Other,
        // Only the own technical names of an object are shown.
        Place::Shown => Place::Host,
        place => place,
    };
    let is_content = matches!(place, Place::Content | Place::InText | Place::Chosen);
    let function = members.get("function").and_then(Value::as_str);
    // The text of a failure and the messages of a log are in the operator's log too; those of refusals are not.
    let is_log = members.contains_key("level") || members.contains_key("reason");
    let member = |(position, (name, value)): (usize, (&String, &Value))| {
        let value = match (name.as_str(), function) {
            _ if is_content => redact(value, place),
            ("reason", _) if place == Place::Ended => redact(value, Place::Shown),
            _ if place == Place::Ended => redact(value, place),
            ("replayed" | "logs", _) if place == Place::Other => redact(value, Place::Ended),
            ("recorded" | "recorded_effects" | "missing_effects", _) if place == Place::Other => {
                redact(value, Place::Host)
            }
            ("arguments", Some(function)) => redact_arguments(function, value, place),
            ("answer", Some(_)) => redact(value, place.content()),
            (name, _) if IN_FAILURES.contains(&name) && is_log => redact(value, Place::Shown),
            (name, _) if SHOWN.contains(&name) => redact(value, Place::Shown),
            _ => redact(value, place),
        };
        let is_hidden = is_content && (place == Place::Chosen || !is_member_name(name));
        let name = match is_hidden {
            // The number keeps the names of an object apart.
            true => format!("({} bytes, {})", name.len(), position + 1),
            false => name.clone(),
        };
        (name, value)
    };
    members.iter().enumerate().map(member).collect()
}

fn redact_arguments(function: &str, arguments: &Value, place: Place) -> Value {
    let Value::Array(arguments) = arguments else { return redact(arguments, place.content()) };
    let names = NAMES.iter().find(|(interface, _)| function.starts_with(interface));
    let names = names.map_or(0, |(_, names)| *names);
    let argument = |(position, value): (usize, &Value)| {
        let is_shown = position < names && (place != Place::Other || is_name(value));
        redact(value, if is_shown { Place::Shown } else { place.content() })
    };
    arguments.iter().enumerate().map(argument).collect()
}

/// Returns whether a text is an identifier: two to five small letters, an underscore and a ULID.
fn is_identifier(text: &str) -> bool {
    text.rsplit_once('_').is_some_and(|(prefix, ulid)| {
        let is_ulid = |c: u8| c.is_ascii_digit() || c.is_ascii_uppercase();
        PREFIX_LENGTHS.contains(&prefix.len())
            && prefix.bytes().all(|c| c.is_ascii_lowercase())
            && ulid.len() == ULID_LENGTH
            && ulid.bytes().all(is_ulid)
    })
}

/// Returns whether a value looks like the name of a collection, feed, capability or action.
fn is_name(value: &Value) -> bool {
    let is_part = |c: u8| c.is_ascii_lowercase() || matches!(c, b'_' | b'-' | b'.');
    value.as_str().is_some_and(|name| name.len() <= NAME_BYTES && name.bytes().all(is_part))
}

/// Returns whether the name of a member looks like an identifier of a program, or is the id of something: not like a text,
/// a number or an address of a person.
fn is_member_name(name: &str) -> bool {
    let is_first = |c: char| c.is_ascii_alphabetic() || matches!(c, '_' | '$');
    let is_part = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'$' | b'-' | b'.');
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    let is_plain = name.starts_with(is_first) && name.bytes().all(is_part);
    is_identifier(name) || (is_plain && name.len() <= NAME_BYTES && digits <= NAME_DIGITS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn texts_and_numbers_of_people_are_not_shown() {
        let suspended = json!({
            "function": "moderation.suspend",
            "arguments": ["own_01J00000000000000000000001", { "reason": "Rude.", "until": 5 }],
        });
        assert_eq!(
            redacted(&suspended)["arguments"][1],
            json!({ "reason": "(5 bytes)", "until": 0 })
        );
        let id = "msg_01J00000000000000000000001";
        let value = json!({
            "function": "documents.put",
            "arguments": ["messages", id, r#"{"text":"Come at eight","age":41,"read":true}"#, "Any"],
        });
        assert_eq!(
            redacted(&value),
            json!({
                "function": "documents.put",
                "arguments": ["messages", id, { "text": "(13 bytes)", "age": 0, "read": true }, "(3 bytes)"],
            })
        );
        let failed = json!({ "failed": { "reason": "trapped", "text": "no price; in price" } });
        assert_eq!(redacted(&failed), failed);
        let refused = json!({ "refused": { "code": "not_found", "message": "Anna is away." } });
        assert_eq!(redacted(&refused)["refused"]["message"], "(13 bytes)");
        let long = json!("annas_diary_01J00000000000000000000001");
        assert_eq!(redacted(&long), "(38 bytes)");
    }

    #[test]
    fn the_seed_of_a_run_is_not_shown() {
        let run = json!({ "action": "send", "seed": "00ff".repeat(16) });
        assert_eq!(redacted(&run), json!({ "action": "send", "seed": "(64 bytes)" }));
    }

    #[test]
    fn what_another_component_says_is_content() {
        let run = |same: bool| {
            let failed = json!({ "failed": { "reason": "trapped", "text": "123456" } });
            let asked = json!({ "function": "documents.get", "arguments": ["code 123456", "a"] });
            json!({
                "same_component": same, "verdict": "diverged", "recorded": failed, "replayed": failed,
                "logs": [{ "level": "info", "message": "123456" }], "divergence": asked,
            })
        };
        let shown = &redacted(&json!({ "runs": [run(false)] }))["runs"][0];
        assert_eq!(shown["recorded"]["failed"]["text"], "123456");
        assert_eq!(
            shown["replayed"]["failed"],
            json!({ "reason": "trapped", "text": "(6 bytes)" })
        );
        assert_eq!(shown["logs"][0]["message"], "(6 bytes)");
        assert_eq!(shown["divergence"]["arguments"], json!(["(11 bytes)", "(1 bytes)"]));
        assert_eq!(shown["verdict"], "diverged");
        let same = redacted(&run(true));
        assert_eq!(same["replayed"]["failed"]["text"], "123456");
        assert_eq!(same["logs"][0]["message"], "123456");
    }

    #[test]
    fn a_text_of_a_person_is_not_shown_if_it_is_json() {
        let text = r#"{"Anna Meier, +49 170 1234567": 1}"#;
        let sent = json!({ "text": text, "address_1": { "+49 170": false, "Anna Meier": true } });
        let run = json!({ "action": "send", "input": sent.to_string(), "imports": [] });
        assert_eq!(
            redacted(&run),
            json!({
                "action": "send", "imports": [],
                "input": {
                    "text": "(34 bytes)",
                    "address_1": { "(7 bytes, 1)": false, "(10 bytes, 2)": true },
                },
            })
        );
        let listed = json!({ "function": "documents.get", "answer": { "Ok": { "body": text } } });
        assert_eq!(
            redacted(&listed)["answer"],
            json!({ "Ok": { "body": { "(27 bytes, 1)": 0 } } })
        );
    }

    #[test]
    fn names_that_another_component_chooses_are_not_shown() {
        let document = json!({ "come_at_eight": true }).to_string();
        let effect = json!({ "function": "documents.put", "arguments": ["messages", document] });
        let output = json!({ "come_at_eight": [{ "anna": null }] }).to_string();
        let ended = json!({ "success": { "output": output, "next": null } });
        let run = json!({
            "verdict": "effects_differ", "recorded": ended, "replayed": ended,
            "missing_effects": [effect], "new_effects": [effect],
            "logs": [{ "level": "info", "message": document }],
        });
        let shown = redacted(&run);
        let written = |effects: &str| shown[effects][0]["arguments"].clone();
        assert_eq!(written("missing_effects"), json!(["messages", { "come_at_eight": true }]));
        assert_eq!(written("new_effects"), json!(["messages", { "(13 bytes, 1)": true }]));
        assert_eq!(
            shown["recorded"]["success"]["output"],
            json!({ "come_at_eight": [{ "anna": null }] })
        );
        assert_eq!(
            shown["replayed"]["success"],
            json!({ "output": { "(13 bytes, 1)": [{ "(4 bytes, 1)": null }] }, "next": null })
        );
        assert_eq!(shown["logs"][0]["message"], json!({ "(13 bytes, 1)": true }));
    }

    #[test]
    fn names_of_members_are_those_of_programs() {
        for name in ["text", "sha256", "$id", "svc.phone-binding", "pro_01J00000000000000000000001"]
        {
            assert!(is_member_name(name), "{name}");
        }
        let long = "a".repeat(NAME_BYTES + 1);
        for name in
            ["", "Anna Meier", "491701234567", "a@example.org", "code 1", "k1234", long.as_str()]
        {
            assert!(!is_member_name(name), "{name}");
        }
    }
}
