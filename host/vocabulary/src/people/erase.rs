//! The effect of people's erasure on a document.

use super::{
    declaration::Erasure,
    documents::People,
    ids::{person_ids, redact_ids},
    path::{Step, for_each_at},
    subject::MatchEffect,
};
use serde_json::Value;

/// The result of erasing people from a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Erased {
    Unchanged,
    Changed,
    /// The document is to be deleted.
    Deleted,
}

impl People {
    /// Erases these people from a document.
    pub fn erase(&self, id: &str, document: &mut Value, people: &[String]) -> Erased {
        let is_theirs = |found: &str| people.iter().any(|person| person == found);
        let before = document.clone();
        for subject in &self.0 {
            if subject.is_document_id {
                if person_ids(id).any(is_theirs) {
                    return Erased::Deleted;
                }
                continue;
            }
            let mut clear = |value: &mut Value, _| clear_value(value);
            if subject.visit(document, &is_theirs, &mut clear) == MatchEffect::DeleteDocument {
                return Erased::Deleted;
            }
            if subject.erasure == Erasure::Redact {
                redact_at(document, &subject.path, people);
            }
        }
        if *document == before { Erased::Unchanged } else { Erased::Changed }
    }
}

/// Replaces the ids of these people at a path, in values and in keys.
fn redact_at(document: &mut Value, path: &[Step], people: &[String]) {
    let is_keys = path.last() == Some(&Step::Entries);
    let values = if is_keys { path.get(..path.len() - 1).unwrap_or_default() } else { path };
    for_each_at(document, values, &mut |value| match value {
        Value::String(text) => *text = redact_ids(text, people),
        Value::Object(entries) if is_keys => {
            *entries = std::mem::take(entries)
                .into_iter()
                .map(|(key, mut child)| {
                    if let Value::String(text) = &mut child {
                        *text = redact_ids(text, people);
                    }
                    (redact_ids(&key, people), child)
                })
                .collect();
        }
        _ => {}
    });
}

/// Empties a value and keeps its type, so that the code that wrote it can read it: texts and lists
/// become empty, numbers zero, flags false; objects keep their fields.
pub(super) fn clear_value(value: &mut Value) {
    match value {
        Value::Null => {}
        Value::Bool(flag) => *flag = false,
        Value::Number(number) => *number = 0.into(),
        Value::String(text) => text.clear(),
        Value::Array(elements) => elements.clear(),
        Value::Object(entries) => entries.values_mut().for_each(clear_value),
    }
}
