//! Flags for a review of a text before it is published. They delay a listing and do not refuse it: a
//! person decides.

use crate::types::*;
use people_kit::fairness;
use serde_json::Value;

/// Returns the flags of a listing in this category, each once.
pub(crate) fn flags(category: &str, content: &Content) -> Vec<String> {
    let mut text = format!("{} . {} . ", content.title, content.description);
    let mut add = |value: &Value| collect(value, &mut text);
    content.attributes.values().for_each(&mut add);
    let criteria = content.criteria.must.iter().chain(&content.criteria.want);
    criteria.for_each(|criterion| add(&criterion.value));
    fairness::flags(category, &text).into_iter().map(str::to_owned).collect()
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn attributes_are_read_too() {
        let content = json!({
            "title": "A", "description": "B", "attributes": {"features": ["no kids"]},
        });
        let content = serde_json::from_value(content).unwrap();
        assert_eq!(flags("home.let", &content), ["familial_status"]);
    }
}
