//! Whose data a document is: the people that a collection declares, what an export of one of them
//! shows, and what their erasure does.
//!
//! A person is an owner (`own_` and a ULID) or one of their agents (`agt_` and a ULID).

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeSet;

/// The path of the document's own id.
const DOCUMENT_ID: &str = "$id";
const MAX_PATH_LENGTH: usize = 128;
const OWNER: &str = "own_";
const PREFIXES: [&str; 2] = [OWNER, "agt_"];
/// The length of an id of a person: a prefix and a ULID.
const ID_LENGTH: usize = 4 + 26;
/// The id that replaces that of an erased person, after its prefix.
const NOBODY: &str = "00000000000000000000000000";

/// One path at which the documents of a collection name a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// Names joined by dots, `[]` for the elements of a list, `{}` for the entries of an object whose
    /// keys are data (at the end of the path: the keys themselves). `$id` is the document's id.
    pub path: String,
    pub erasure: Erasure,
    /// The fields that tell about this person.
    pub fields: Vec<PersonalField>,
}

/// What the erasure of a person does to a document that names them; the most thorough first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Erasure {
    DeleteDocument,
    /// Removes the innermost element of a list, or entry of an object, that contains the id.
    RemoveElement,
    /// Replaces the id with that of nobody, and empties the fields.
    Redact,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonalField {
    /// As [`Person::path`]. Where it begins like the person's path, it means the same element.
    pub path: String,
    pub audience: Audience,
}

/// Who may know a field about a person; the fewest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// The person alone.
    Personal,
    /// The people whom the document names.
    Shared,
    Public,
}

/// The result of erasing people from a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Erased {
    Unchanged,
    Changed,
    /// The document is to be deleted.
    Deleted,
}

/// The people of a collection's documents, ready for use.
#[derive(Debug, Clone, Default)]
pub struct People(Vec<Subject>);

#[derive(Debug, Clone)]
struct Subject {
    is_document_id: bool,
    path: Vec<Step>,
    erasure: Erasure,
    fields: Vec<(Vec<Step>, Audience)>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    Name(String),
    /// Each element of a list.
    Elements,
    /// Each entry of an object.
    Entries,
}

/// What was found below one value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Found {
    Nothing,
    Person,
    /// The element that contains the person is to be removed.
    Element,
    Document,
}

impl People {
    /// Parses declarations. The error is a sentence about the first one that is wrong.
    pub fn new(declared: &[Person]) -> Result<Self, String> {
        declared.iter().map(Subject::new).collect::<Result<_, _>>().map(Self)
    }

    /// Returns where a document names a person outside the declared paths: `$id`, or a path such as
    /// `members.0.owner_id`.
    pub fn undeclared(&self, id: &str, document: &Value) -> Option<String> {
        if person_ids(id).next().is_some() && !self.0.iter().any(|subject| subject.is_document_id) {
            return Some(DOCUMENT_ID.to_owned());
        }
        let paths = self.0.iter().filter(|subject| !subject.is_document_id);
        let fields = self.0.iter().flat_map(|subject| &subject.fields).map(|(path, _)| path);
        let allowed = paths.map(|subject| &subject.path).chain(fields);
        undeclared(document, &allowed.map(Vec::as_slice).collect::<Vec<_>>(), "")
    }

    /// Returns whether the document names one of these people at a declared path.
    pub fn names(&self, id: &str, document: &Value, people: &[String]) -> bool {
        let is_theirs = |found: &str| people.iter().any(|person| person == found);
        self.0.iter().any(|subject| match subject.is_document_id {
            true => person_ids(id).any(is_theirs),
            false => {
                let mut copy = document.clone();
                subject.visit(&mut copy, &is_theirs, &mut |_, _| ()) > Found::Nothing
            }
        })
    }

    /// Returns the owners whom the document names at the declared paths.
    pub fn owners(&self, id: &str, document: &Value) -> BTreeSet<String> {
        let mut owners = BTreeSet::new();
        for subject in &self.0 {
            match subject.is_document_id {
                true => owners.extend(owner_ids(id)),
                false => add_owners(document, &subject.path, &mut owners),
            }
        }
        owners
    }

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
            let mut clear = |value: &mut Value, _| empty(value);
            if subject.visit(document, &is_theirs, &mut clear) == Found::Document {
                return Erased::Deleted;
            }
            if subject.erasure == Erasure::Redact {
                replace_at(document, &subject.path, people);
            }
        }
        if *document == before { Erased::Unchanged } else { Erased::Changed }
    }

    /// Empties what these people may not know of others: the personal fields about anybody else.
    pub fn hide_others(&self, id: &str, document: &mut Value, people: &[String]) {
        let is_other = |found: &str| !people.iter().any(|person| person == found);
        let mut hide = |value: &mut Value, audience| {
            if audience == Audience::Personal {
                empty(value);
            }
        };
        for subject in &self.0 {
            if subject.is_document_id {
                if person_ids(id).any(is_other) && !person_ids(id).any(|found| !is_other(found)) {
                    for (path, audience) in &subject.fields {
                        each_at(document, path, &mut |value| hide(value, *audience));
                    }
                }
                continue;
            }
            // Nothing is removed here, whatever an erasure would do.
            let subject = Subject { erasure: Erasure::Redact, ..subject.clone() };
            subject.visit(document, &is_other, &mut hide);
        }
    }
}

impl Subject {
    fn new(declared: &Person) -> Result<Self, String> {
        let is_document_id = declared.path == DOCUMENT_ID;
        let path = match is_document_id {
            true => Vec::new(),
            false => steps(&declared.path)?,
        };
        let has_elements = path.iter().any(|step| !matches!(step, Step::Name(_)));
        match declared.erasure {
            Erasure::RemoveElement if !has_elements => Err(format!(
                "{} is not within a list or an object of entries: use redact or delete_document",
                declared.path
            )),
            Erasure::RemoveElement | Erasure::Redact if is_document_id => {
                Err("a document whose id names the person can only be deleted: use delete_document"
                    .to_owned())
            }
            erasure => {
                let field = |field: &PersonalField| Ok((steps(&field.path)?, field.audience));
                let fields = declared.fields.iter().map(field).collect::<Result<_, String>>()?;
                Ok(Self { is_document_id, path, erasure, fields })
            }
        }
    }

    /// Finds the people who match, changes their fields, and removes their elements.
    fn visit(
        &self,
        document: &mut Value,
        matches: &dyn Fn(&str) -> bool,
        change: &mut dyn FnMut(&mut Value, Audience),
    ) -> Found {
        let fields: Vec<_> =
            self.fields.iter().map(|(path, audience)| (path.as_slice(), *audience)).collect();
        self.descend(document, &self.path, &fields, matches, change)
    }

    fn descend(
        &self,
        value: &mut Value,
        path: &[Step],
        fields: &[(&[Step], Audience)],
        matches: &dyn Fn(&str) -> bool,
        change: &mut dyn FnMut(&mut Value, Audience),
    ) -> Found {
        let Some((step, rest)) = path.split_first() else {
            let found = value.as_str().is_some_and(|text| person_ids(text).any(matches));
            return if found { self.found() } else { Found::Nothing };
        };
        // Fields that begin like the path are those of the same element.
        let (inner, own): (Vec<_>, Vec<_>) = fields
            .iter()
            .copied()
            .partition(|(field, _)| field.first() == Some(step) && field.len() > 1);
        let inner: Vec<_> = inner
            .iter()
            .filter_map(|(field, audience)| Some((field.get(1..)?, *audience)))
            .collect();
        let found = match (step, &mut *value) {
            (Step::Name(name), Value::Object(entries)) => match entries.get_mut(name) {
                Some(child) => self.descend(child, rest, &inner, matches, change),
                None => Found::Nothing,
            },
            (Step::Elements, Value::Array(elements)) => {
                let mut most = Found::Nothing;
                elements.retain_mut(|element| {
                    let found = self.descend(element, rest, &inner, matches, change);
                    most = most.max(if found == Found::Element { Found::Person } else { found });
                    found != Found::Element
                });
                most
            }
            (Step::Entries, Value::Object(entries)) => {
                let mut most = Found::Nothing;
                entries.retain(|key, child| {
                    let is_key = rest.is_empty() && person_ids(key).any(matches);
                    let found = match is_key {
                        true => self.found(),
                        false => self.descend(child, rest, &inner, matches, change),
                    };
                    most = most.max(if found == Found::Element { Found::Person } else { found });
                    found != Found::Element
                });
                most
            }
            _ => Found::Nothing,
        };
        if found > Found::Nothing {
            for (field, audience) in own {
                each_at(value, field, &mut |value| change(value, audience));
            }
        }
        found
    }

    fn found(&self) -> Found {
        match self.erasure {
            Erasure::DeleteDocument => Found::Document,
            Erasure::RemoveElement => Found::Element,
            Erasure::Redact => Found::Person,
        }
    }
}

/// Returns the ids of owners in a text.
pub fn owner_ids(text: &str) -> impl Iterator<Item = String> {
    person_ids(text).filter(|id| id.starts_with(OWNER)).map(str::to_owned)
}

/// Adds what a later version of a capability declares of documents that an earlier one may have written.
/// Nothing is withdrawn: a path and its fields stay, with the most thorough erasure and the fewest readers.
pub fn add_people(stored: &mut Vec<Person>, declared: &[Person]) {
    for person in declared {
        let Some(known) = stored.iter_mut().find(|known| known.path == person.path) else {
            stored.push(person.clone());
            continue;
        };
        known.erasure = known.erasure.min(person.erasure);
        for field in &person.fields {
            match known.fields.iter_mut().find(|known| known.path == field.path) {
                Some(known) => known.audience = known.audience.min(field.audience),
                None => known.fields.push(field.clone()),
            }
        }
    }
}

/// Returns the ids of owners and agents in a text.
pub fn person_ids(text: &str) -> impl Iterator<Item = &str> {
    let starts = PREFIXES.iter().flat_map(move |prefix| text.match_indices(prefix));
    starts.filter_map(move |(start, _)| {
        let id = text.get(start..start + ID_LENGTH)?;
        let is_whole = |c: Option<char>| !c.is_some_and(|c| c.is_ascii_alphanumeric());
        let is_id = id.get(4..).is_some_and(|ulid| {
            ulid != NOBODY && ulid.bytes().all(|c| c.is_ascii_digit() || c.is_ascii_uppercase())
        });
        let (before, after) = (text.get(..start)?, text.get(start + ID_LENGTH..)?);
        (is_id && is_whole(before.chars().next_back()) && is_whole(after.chars().next()))
            .then_some(id)
    })
}

/// Replaces the ids of these people in a text with that of nobody.
pub fn redact_ids(text: &str, people: &[String]) -> String {
    people.iter().fold(text.to_owned(), |text, person| match person.get(..4) {
        Some(prefix) => text.replace(person, &format!("{prefix}{NOBODY}")),
        None => text,
    })
}

fn steps(path: &str) -> Result<Vec<Step>, String> {
    let wrong = || {
        let shown: String = path.chars().take(MAX_PATH_LENGTH).collect();
        format!(
            "{shown:?} is not a path: use names joined by dots, [] for the elements of a list, \
             {{}} for the entries of an object"
        )
    };
    let mut steps = Vec::new();
    for part in path.split('.') {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let (name, mut rest) = part.split_at(part.find(|c| !is_name(c)).unwrap_or(part.len()));
        if name.is_empty() || path.len() > MAX_PATH_LENGTH {
            return Err(wrong());
        }
        steps.push(Step::Name(name.to_owned()));
        while !rest.is_empty() {
            let (step, after) = match (rest.strip_prefix("[]"), rest.strip_prefix("{}")) {
                (Some(after), _) => (Step::Elements, after),
                (_, Some(after)) => (Step::Entries, after),
                _ => return Err(wrong()),
            };
            steps.push(step);
            rest = after;
        }
    }
    Ok(steps)
}

fn undeclared(value: &Value, allowed: &[&[Step]], at: &str) -> Option<String> {
    let below = |child: &Value, name: &str, matches: &dyn Fn(&Step) -> bool| {
        let allowed = allowed.iter().filter_map(|path| {
            path.split_first().filter(|(step, _)| matches(step)).map(|(_, rest)| rest)
        });
        let at = if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") };
        undeclared(child, &allowed.collect::<Vec<_>>(), &at)
    };
    match value {
        Value::String(text) => {
            // What people write in sentences is not a record of whom a document is about.
            let is_text = text.contains(char::is_whitespace);
            let is_allowed = is_text || allowed.iter().any(|path| path.is_empty());
            (!is_allowed && person_ids(text).next().is_some()).then(|| at.to_owned())
        }
        Value::Array(elements) => elements.iter().enumerate().find_map(|(place, element)| {
            below(element, &place.to_string(), &|step| *step == Step::Elements)
        }),
        Value::Object(entries) => entries.iter().find_map(|(name, child)| {
            let has_entries = allowed.iter().any(|path| path.first() == Some(&Step::Entries));
            if !has_entries && person_ids(name).next().is_some() {
                return Some(if at.is_empty() {
                    "a key".to_owned()
                } else {
                    format!("a key of {at}")
                });
            }
            below(child, name, &|step| match step {
                Step::Name(declared) => declared == name,
                Step::Entries => true,
                Step::Elements => false,
            })
        }),
        _ => None,
    }
}

/// Adds the ids of owners at a path, in values and in keys.
fn add_owners(value: &Value, path: &[Step], owners: &mut BTreeSet<String>) {
    let Some((step, rest)) = path.split_first() else {
        return owners.extend(value.as_str().into_iter().flat_map(owner_ids));
    };
    match (step, value) {
        (Step::Name(name), Value::Object(entries)) => {
            if let Some(child) = entries.get(name) {
                add_owners(child, rest, owners);
            }
        }
        (Step::Elements, Value::Array(elements)) => {
            elements.iter().for_each(|element| add_owners(element, rest, owners));
        }
        (Step::Entries, Value::Object(entries)) => {
            for (key, child) in entries {
                if rest.is_empty() {
                    owners.extend(owner_ids(key));
                }
                add_owners(child, rest, owners);
            }
        }
        _ => {}
    }
}

fn each_at(value: &mut Value, path: &[Step], change: &mut dyn FnMut(&mut Value)) {
    let Some((step, rest)) = path.split_first() else { return change(value) };
    match (step, value) {
        (Step::Name(name), Value::Object(entries)) => {
            if let Some(child) = entries.get_mut(name) {
                each_at(child, rest, change);
            }
        }
        (Step::Elements, Value::Array(elements)) => {
            elements.iter_mut().for_each(|element| each_at(element, rest, change));
        }
        (Step::Entries, Value::Object(entries)) => {
            entries.values_mut().for_each(|child| each_at(child, rest, change));
        }
        _ => {}
    }
}

/// Replaces the ids of these people at a path, in values and in keys.
fn replace_at(document: &mut Value, path: &[Step], people: &[String]) {
    let is_keys = path.last() == Some(&Step::Entries);
    let values = if is_keys { path.get(..path.len() - 1).unwrap_or_default() } else { path };
    each_at(document, values, &mut |value| match value {
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
fn empty(value: &mut Value) {
    match value {
        Value::Null => {}
        Value::Bool(flag) => *flag = false,
        Value::Number(number) => *number = 0.into(),
        Value::String(text) => text.clear(),
        Value::Array(elements) => elements.clear(),
        Value::Object(entries) => entries.values_mut().for_each(empty),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ANNA: &str = "own_01J00000000000000000000001";
    const BEN: &str = "own_01J00000000000000000000002";

    type Declared<'d> = (&'d str, Erasure, &'d [(&'d str, Audience)]);

    fn people(declared: &[Declared<'_>]) -> People {
        let person = |(path, erasure, fields): &Declared<'_>| Person {
            path: (*path).to_owned(),
            erasure: *erasure,
            fields: fields
                .iter()
                .map(|(path, audience)| PersonalField {
                    path: (*path).to_owned(),
                    audience: *audience,
                })
                .collect(),
        };
        People::new(&declared.iter().map(person).collect::<Vec<_>>()).unwrap()
    }

    fn erased(people: &People, mut document: Value) -> (Erased, Value) {
        let outcome = people.erase("id", &mut document, &[ANNA.to_owned()]);
        (outcome, document)
    }

    #[test]
    fn a_declaration_adds_to_the_stored_one_and_withdraws_nothing() {
        let field = |path: &str, audience| PersonalField { path: path.to_owned(), audience };
        let person = |path: &str, erasure, fields: &[PersonalField]| Person {
            path: path.to_owned(),
            erasure,
            fields: fields.to_vec(),
        };
        let note = field("note", Audience::Personal);
        let mut stored = vec![
            person("owner", Erasure::Redact, std::slice::from_ref(&note)),
            person("by", Erasure::DeleteDocument, &[]),
        ];
        add_people(&mut stored, &[]);
        assert_eq!(stored.len(), 2);
        let text = field("text", Audience::Shared);
        add_people(
            &mut stored,
            &[
                person(
                    "owner",
                    Erasure::DeleteDocument,
                    &[field("note", Audience::Public), text.clone()],
                ),
                person("by", Erasure::Redact, &[]),
                person("agent", Erasure::Redact, &[]),
            ],
        );
        let expected = [
            person("owner", Erasure::DeleteDocument, &[note, text]),
            person("by", Erasure::DeleteDocument, &[]),
            person("agent", Erasure::Redact, &[]),
        ];
        assert_eq!(stored, expected);
    }

    #[test]
    fn owners_are_found_at_declared_paths() {
        let declared = people(&[
            ("owner", Erasure::DeleteDocument, &[]),
            ("members[].by", Erasure::RemoveElement, &[]),
            ("votes{}", Erasure::RemoveElement, &[]),
        ]);
        let document = json!({
            "owner": ANNA,
            "members": [{ "by": "agt_01J00000000000000000000003" }],
            "votes": { BEN: true },
            "note": "own_01J00000000000000000000004 was here",
        });
        let found: Vec<_> = declared.owners("id", &document).into_iter().collect();
        assert_eq!(found, [ANNA, BEN]);
    }

    #[test]
    fn ids_are_found_as_whole_words() {
        let found = |text: &'static str| person_ids(text).collect::<Vec<_>>();
        assert_eq!(found("own_01J00000000000000000000001"), [ANNA]);
        assert_eq!(found("a:own_01J00000000000000000000001|x"), [ANNA]);
        assert_eq!(found("xown_01J00000000000000000000001"), Vec::<&str>::new());
        assert_eq!(found("own_01J000000000000000000000019"), Vec::<&str>::new());
        assert_eq!(found("own_00000000000000000000000000"), Vec::<&str>::new());
        assert_eq!(found("the own_ prefix"), Vec::<&str>::new());
    }

    #[test]
    fn people_outside_declared_paths_are_named_by_their_place() {
        let declared = people(&[
            ("owner_id", Erasure::DeleteDocument, &[("note", Audience::Personal)]),
            ("members[].id", Erasure::RemoveElement, &[]),
            ("votes{}", Erasure::RemoveElement, &[]),
        ]);
        let at = |document: Value| declared.undeclared("id", &document);
        let fit = json!({"owner_id": ANNA, "members": [{"id": BEN}], "votes": {BEN: 1}, "note": ANNA,
            "text": format!("ask {ANNA}")});
        assert_eq!(at(fit), None);
        assert_eq!(at(json!({"by": ANNA})).as_deref(), Some("by"));
        assert_eq!(at(json!({"members": [{"by": BEN}]})).as_deref(), Some("members.0.by"));
        assert_eq!(at(json!({"seen": {BEN: 1}})).as_deref(), Some("a key of seen"));
        assert_eq!(at(json!({"pair": format!("{ANNA}:{BEN}")})).as_deref(), Some("pair"));
        assert_eq!(declared.undeclared(ANNA, &json!({})).as_deref(), Some("$id"));
    }

    #[test]
    fn erasure_deletes_removes_or_redacts() {
        let delete = people(&[("owner_id", Erasure::DeleteDocument, &[])]);
        assert_eq!(erased(&delete, json!({"owner_id": ANNA})).0, Erased::Deleted);
        assert_eq!(erased(&delete, json!({"owner_id": BEN})).0, Erased::Unchanged);

        let remove = people(&[("members[].id", Erasure::RemoveElement, &[])]);
        let document = json!({"members": [{"id": ANNA, "role": "a"}, {"id": BEN, "role": "b"}]});
        let expected = json!({"members": [{"id": BEN, "role": "b"}]});
        assert_eq!(erased(&remove, document), (Erased::Changed, expected));

        let redact = people(&[(
            "author_id",
            Erasure::Redact,
            &[("text", Audience::Shared), ("at.place", Audience::Personal)],
        )]);
        let document = json!({"author_id": ANNA, "text": "hello", "at": {"place": 3, "time": 4}});
        let expected = json!({"author_id": "own_00000000000000000000000000", "text": "",
            "at": {"place": 0, "time": 4}});
        assert_eq!(erased(&redact, document), (Erased::Changed, expected));
    }

    #[test]
    fn fields_beside_a_person_in_a_list_are_those_of_the_same_element() {
        let redact =
            people(&[("rows[].by", Erasure::Redact, &[("rows[].said", Audience::Shared)])]);
        let document = json!({"rows": [{"by": ANNA, "said": "a"}, {"by": BEN, "said": "b"}]});
        let expected = json!({"rows": [
            {"by": "own_00000000000000000000000000", "said": ""}, {"by": BEN, "said": "b"}]});
        assert_eq!(erased(&redact, document), (Erased::Changed, expected));
    }

    #[test]
    fn keys_are_people_too() {
        let remove = people(&[("votes{}", Erasure::RemoveElement, &[])]);
        let document = json!({"votes": {ANNA: 1, BEN: 2}});
        assert_eq!(erased(&remove, document), (Erased::Changed, json!({"votes": {BEN: 2}})));
        let redact = people(&[("votes{}", Erasure::Redact, &[])]);
        let expected = json!({"votes": {"own_00000000000000000000000000": 1}});
        assert_eq!(erased(&redact, json!({"votes": {ANNA: 1}})), (Erased::Changed, expected));
    }

    #[test]
    fn an_export_hides_what_is_personal_to_others() {
        let declared = people(&[
            ("by", Erasure::Redact, &[("by", Audience::Personal), ("reason", Audience::Shared)]),
            ("about", Erasure::Redact, &[("secret", Audience::Personal)]),
        ]);
        let mut document = json!({"by": BEN, "about": ANNA, "reason": "r", "secret": "s"});
        declared.hide_others("id", &mut document, &[ANNA.to_owned()]);
        assert_eq!(document, json!({"by": "", "about": ANNA, "reason": "r", "secret": "s"}));
    }

    #[test]
    fn a_declaration_that_cannot_be_carried_out_is_refused() {
        let refused = |path: &str, erasure| {
            let person = Person { path: path.to_owned(), erasure, fields: Vec::new() };
            People::new(&[person]).unwrap_err()
        };
        assert!(refused("owner_id", Erasure::RemoveElement).contains("not within a list"));
        assert!(refused("$id", Erasure::Redact).contains("can only be deleted"));
        assert!(refused("a..b", Erasure::Redact).contains("is not a path"));
    }
}
