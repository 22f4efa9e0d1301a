//! Phrases that flag a text for review before it is published. They delay a listing and do not
//! refuse it: a person decides.

use crate::types::*;
use serde_json::Value;

/// The flags, each with the root categories it applies to (or `all`) and its phrases.
const PHRASES: &str = include_str!("phrases.txt");

/// Returns the flags of a listing in this category, each once.
pub(crate) fn flags(category: &str, content: &Content) -> Vec<String> {
    let mut text = format!("{} . {} . ", content.title, content.description);
    let mut add = |value: &Value| collect(value, &mut text);
    content.attributes.values().for_each(&mut add);
    let criteria = content.criteria.must.iter().chain(&content.criteria.want);
    criteria.for_each(|criterion| add(&criterion.value));
    let words = words(&text);
    let root = category.split('.').next().unwrap_or_default();
    let mut flags: Vec<String> = Vec::new();
    for line in PHRASES.lines().filter(|line| !line.starts_with('#')) {
        let Some((head, phrases)) = line.split_once(": ") else { continue };
        let Some((name, places)) = head.split_once(" in ") else { continue };
        let applies = places == "all" || places.split('+').any(|place| place == root);
        let has_phrase =
            || phrases.split(", ").any(|phrase| words.contains(&format!(" {phrase} ")));
        if applies && !flags.iter().any(|flag| flag == name) && has_phrase() {
            flags.push(name.to_owned());
        }
    }
    flags
}

fn collect(value: &Value, text: &mut String) {
    match value {
        Value::String(part) => {
            text.push_str(part);
            text.push_str(" . ");
        }
        Value::Array(parts) => parts.iter().for_each(|part| collect(part, text)),
        _ => {}
    }
}

/// Returns the words in lower case, with one space around each, so that markup and punctuation do
/// not hide a phrase.
fn words(text: &str) -> String {
    let is_visible = |letter: &char| {
        !matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
    };
    let lower: String = text.chars().filter(is_visible).flat_map(char::to_lowercase).collect();
    let mut words = String::with_capacity(lower.len() + 2);
    let parts = lower.split(|letter: char| !letter.is_alphanumeric());
    for word in parts.filter(|word| !word.is_empty()) {
        words.push(' ');
        words.push_str(word);
    }
    words.push(' ');
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn flagged(category: &str, description: &str) -> Vec<String> {
        let content = json!({"title": "A title", "description": description, "attributes": {}});
        flags(category, &serde_json::from_value(content).unwrap())
    }

    #[test]
    fn phrases_are_flagged_in_the_categories_of_their_law() {
        for (category, text, flag) in [
            ("home.let.room", "Quiet house, NO **children**, please.", "familial_status"),
            ("home.let", "Adults-only building", "familial_status"),
            ("home.let", "christian\u{200b} preferred", "religion"),
            ("work.job.sales", "Males only", "sex"),
            ("work.job", "for young and energetic people", "age"),
            ("social.friend", "send gift cards", "advance_fee"),
        ] {
            assert_eq!(flagged(category, text), [flag], "{text}");
        }
    }

    #[test]
    fn other_texts_are_not_flagged() {
        for (category, text) in [
            ("home.let", "Children welcome. Near a church. Families too."),
            ("work.job", "Women and men of any age are welcome"),
            ("social.friend.parents", "No kids this time, adults only"),
            ("home.let", "The wire transfer of the deposit happens at the signing"),
        ] {
            assert_eq!(flagged(category, text), Vec::<String>::new(), "{text}");
        }
    }

    #[test]
    fn attributes_are_read_too() {
        let content = json!({
            "title": "A", "description": "B", "attributes": {"features": ["no kids"]},
        });
        let content = serde_json::from_value(content).unwrap();
        assert_eq!(flags("home.let", &content), ["familial_status"]);
    }
}
