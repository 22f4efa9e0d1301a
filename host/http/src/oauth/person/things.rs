//! The answer of an action, as a page shows it: things with a name, and facts about them.

use portolan_catalog::{PersonPage, has_choices};
use portolan_vocabulary::{Timestamp, is_snake_case};
use serde::Deserialize as _;
use serde_json::{Map, Value};

/// The maximum number of things in one part of a page.
const THINGS: usize = 50;
/// The maximum number of characters of a fact, and of elements of a list in one.
const FACT_CHARACTERS: usize = 300;
const FACT_ELEMENTS: usize = 10;

/// A thing of a capability.
pub(super) struct Thing {
    pub(super) name: String,
    pub(super) facts: Vec<Fact>,
    /// The thing itself, from which forms take their values.
    pub(super) value: Value,
}

/// A fact about a thing.
pub(super) struct Fact {
    pub(super) label: String,
    pub(super) text: String,
    /// The instant, if it is one.
    pub(super) instant: Option<Timestamp>,
}

/// The things that an output has.
pub(super) struct Things {
    pub(super) things: Vec<Thing>,
    /// The cursor of the things that follow.
    pub(super) next_cursor: Option<String>,
    /// Whether more things follow.
    pub(super) has_more: bool,
}

impl Things {
    /// Reads the things of an output with this schema, as the capability has declared where they are.
    pub(super) fn of(page: &PersonPage, schema: &Value, output: &Value) -> Self {
        let mut values: Vec<(&str, &Value)> = Vec::new();
        if page.things.is_empty() {
            values.push(("", output));
        }
        // Things of several kinds are told apart by where they are.
        let has_kinds = page.things.len() > 1;
        for path in page.things.iter().map(String::as_str) {
            match at(output, path) {
                Some(Value::Array(list)) => values.extend(list.iter().map(|value| (path, value))),
                Some(value) => values.push((path, value)),
                None => {}
            }
        }
        values.retain(|(_, value)| value.is_object());
        let next_cursor = output.get("next_cursor").and_then(Value::as_str).map(str::to_owned);
        let has_more = next_cursor.is_some() || values.len() > THINGS;
        let values = values.into_iter().take(THINGS);
        let thing = |(path, value): (&str, &Value)| {
            let kind = if has_kinds { path } else { "" };
            let is_choice = |column: &str| match path {
                "" => has_choices(schema, column),
                path => has_choices(schema, &format!("{path}.{column}")),
            };
            Thing::of(page, kind, is_choice, value)
        };
        let things = values.map(thing).collect();
        Self { things, next_cursor, has_more }
    }
}

impl Thing {
    /// Returns a thing of which nothing is shown, for the fields of a form.
    pub(super) fn of_value(value: Map<String, Value>) -> Self {
        Self { name: String::new(), facts: Vec::new(), value: Value::Object(value) }
    }

    fn of(page: &PersonPage, kind: &str, is_choice: impl Fn(&str) -> bool, value: &Value) -> Self {
        let fact = |path: &String| {
            let value = at(value, path)?;
            let whole = value.as_str().filter(|_| page.whole.contains(path));
            match whole {
                Some(text) => Some(Fact::whole(path, text)),
                None => Fact::of(path, value, is_choice(path)),
            }
        };
        let mut facts = page.columns.iter().filter_map(fact);
        // A thing without a name begins with its first fact.
        let first = page.columns.first();
        let first = first.and_then(|path| text(at(value, path)?, is_choice(path)));
        let name = match first {
            Some(name) => {
                facts.next();
                if kind.is_empty() { name } else { format!("{}: {name}", label(kind)) }
            }
            None => label(kind),
        };
        Self { name, facts: facts.collect(), value: value.clone() }
    }

    /// Returns the number of bytes of what is shown of the thing.
    pub(super) fn bytes(&self) -> usize {
        let facts = self.facts.iter().map(|fact| fact.label.len() + fact.text.len());
        self.name.len() + facts.sum::<usize>()
    }

    /// Returns whether the thing's capability offers an action on it now.
    pub(super) fn allows(&self, action: &str) -> bool {
        let allowed = self.value.get("allowed_actions").and_then(Value::as_array);
        allowed.is_none_or(|allowed| allowed.iter().any(|one| one == action))
    }
}

impl Fact {
    /// Returns a text as a fact, however long it is.
    fn whole(path: &str, text: &str) -> Self {
        Self { label: label(path), text: text.to_owned(), instant: None }
    }

    fn of(path: &str, value: &Value, is_choice: bool) -> Option<Self> {
        let text = text(value, is_choice)?;
        Some(Self { label: label(path), text, instant: Timestamp::deserialize(value).ok() })
    }
}

/// Returns the value at a path of dotted names.
pub(super) fn at<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, name| value.get(name))
}

/// Returns a path of dotted names in words: `Quiet hours: from`.
pub(super) fn label(path: &str) -> String {
    let words = path.replace('.', ": ").replace('_', " ");
    let mut letters = words.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Returns a value for people to read, and the words of a choice apart; `None` if there is nothing to read.
fn text(value: &Value, is_choice: bool) -> Option<String> {
    let text = match value {
        Value::String(text) if is_choice => words(text),
        Value::String(text) => text.chars().take(FACT_CHARACTERS + 1).collect(),
        Value::Number(number) => number.to_string(),
        Value::Bool(true) => "yes".to_owned(),
        Value::Bool(false) => "no".to_owned(),
        Value::Array(list) => {
            let texts = list.iter().filter_map(|value| text(value, is_choice));
            let texts: Vec<_> = texts.take(FACT_ELEMENTS).collect();
            texts.join(", ")
        }
        Value::Object(fields) => {
            let texts = fields.iter().filter(|(_, value)| !value.is_object() && !value.is_array());
            let texts = texts.filter_map(|(name, value)| {
                Some(format!("{} {}", words(name), text(value, false)?))
            });
            texts.take(FACT_ELEMENTS).collect::<Vec<_>>().join(", ")
        }
        Value::Null => String::new(),
    };
    let shown: String = text.chars().take(FACT_CHARACTERS).collect();
    let is_cut = shown.len() < text.len();
    (!shown.is_empty()).then(|| if is_cut { format!("{shown}…") } else { shown })
}

/// Returns a text with the words of a code such as `in_review` apart.
pub(super) fn words(text: &str) -> String {
    if is_snake_case(text) { text.replace('_', " ") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn page(things: &[&str], columns: &[&str]) -> PersonPage {
        let page = json!({ "section": "Loans", "things": things, "columns": columns });
        PersonPage::deserialize(&page).unwrap()
    }

    #[test]
    fn things_are_found_and_told_in_words() {
        let output = json!({
            "items": [
                { "title": "Emma", "state": "on_loan", "due": { "at": "2026-11-21T18:05:00Z" }, "tags": ["a", 1, null], "reader": "ada_l" },
                { "title": null, "state": "here" },
                "no thing",
            ],
            "next_cursor": "c",
        });
        let schema = json!({ "properties": { "items": { "type": "array", "items": { "properties": {
            "title": { "type": "string" }, "state": { "enum": ["on_loan", "here"] },
        } } } } });
        let columns = ["title", "state", "due.at", "tags", "reader"];
        let found = Things::of(&page(&["items"], &columns), &schema, &output);
        let names: Vec<_> = found.things.iter().map(|thing| &*thing.name).collect();
        assert_eq!(names, ["Emma", ""]);
        let facts: Vec<_> =
            found.things[0].facts.iter().map(|fact| (&*fact.label, &*fact.text)).collect();
        assert_eq!(
            facts,
            [
                ("State", "on loan"),
                ("Due: at", "2026-11-21T18:05:00Z"),
                ("Tags", "a, 1"),
                // A name is not a choice, and stays as it was written.
                ("Reader", "ada_l"),
            ]
        );
        let due = "2026-11-21T18:05:00Z".parse().ok();
        assert_eq!(
            (found.things[0].facts[1].instant, found.things[0].facts[0].instant),
            (due, None)
        );
        assert_eq!(found.things[1].facts[0].text, "here");
        assert!(found.has_more);
        // One thing, or one that is not there.
        let output = json!({ "export": { "state": "ready" }, "erasure": null });
        let none = Value::Null;
        let found = Things::of(&page(&["export", "erasure"], &["state"]), &none, &output);
        assert_eq!((found.things.len(), &*found.things[0].name), (1, "Export: ready"));
        let found = Things::of(&page(&[], &["export.state"]), &none, &output);
        assert_eq!(found.things[0].name, "ready");
    }

    #[test]
    fn a_text_is_shown_whole_where_it_is_declared() {
        let page = json!({
            "section": "Calls", "things": ["items"], "columns": ["title", "input", "note"],
            "whole": ["input"],
        });
        let page = PersonPage::deserialize(&page).unwrap();
        let long = "x".repeat(10 * FACT_CHARACTERS);
        let output = json!({ "items": [{ "title": "Pay", "input": long, "note": long }] });
        let found = Things::of(&page, &Value::Null, &output);
        let lengths: Vec<_> =
            found.things[0].facts.iter().map(|fact| fact.text.chars().count()).collect();
        assert_eq!(lengths, [10 * FACT_CHARACTERS, FACT_CHARACTERS + 1]);
    }

    #[test]
    fn what_is_shown_is_bounded() {
        let long = json!({ "items": vec![json!({ "title": "x".repeat(1_000) }); 60] });
        let found = Things::of(&page(&["items"], &["title"]), &Value::Null, &long);
        assert_eq!((found.things.len(), found.has_more), (THINGS, true));
        assert_eq!(found.things[0].name.chars().count(), FACT_CHARACTERS + 1);
    }
}
