//! The declarations for a person's own page, in the annotation [`PERSON_PAGE`] of a capability's actions: an action
//! that reads is a part of the page, one that writes is a form. With `draft`, it is on the pages of handoffs instead.

use crate::{
    plain_field::{PlainKind, plain_field},
    problem::{Problems, check_line, check_text, excerpt},
};
use portolan_vocabulary::{Access, ActionDescriptor, Annotation, Descriptor, PERSON_PAGE};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

const SECTION_CHARACTERS: usize = 60;
const CONFIRM_CHARACTERS: usize = 500;
/// The maximum number of actions of a capability that read for the page, and that are forms.
const VIEWS: usize = 10;
const FORMS: usize = 30;
const COLUMNS: usize = 8;
const THINGS: usize = 4;
const FIELDS: usize = 20;
/// The maximum number of fields that are taken from a thing, and of those that are always the same.
const OF: usize = 8;
const INPUT: usize = 20;
/// The maximum number of inputs of a form, because requests have no more parameters, and of those that each form has:
/// its token, the action, the part, and the agreement.
const INPUTS: usize = 100;
const OWN_INPUTS: usize = 4;

/// An action on a person's page.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonPage {
    /// The number among those of the capability.
    #[serde(skip)]
    pub number: usize,
    #[serde(skip)]
    pub action: String,
    #[serde(skip)]
    pub writes: bool,
    /// The heading under which the page shows it. Actions with the same one are shown together.
    pub section: String,
    /// The title of the action on the page, if its own does not suit a page.
    #[serde(default)]
    pub title: Option<String>,
    /// Fields of the input that are always the same.
    #[serde(default)]
    pub input: Map<String, Value>,
    /// The paths of dotted names in the output at which things are, or lists of them; without any, the output is
    /// one thing. For an action that reads.
    #[serde(default)]
    pub things: Vec<String>,
    /// The paths of the values of a thing that are shown, the first one as its name.
    #[serde(default)]
    pub columns: Vec<String>,
    /// The paths among the columns of texts that are shown whole, however long they are.
    #[serde(default)]
    pub whole: Vec<String>,
    /// Whether the first page of the account counts the things.
    #[serde(default)]
    pub glance: bool,
    /// For an action about one thing: the fields of its input that are taken from the thing, with their paths in
    /// the thing. It is offered beside each thing of its section whose `allowed_actions` name it, or that has none.
    #[serde(default)]
    pub of: Option<BTreeMap<String, String>>,
    /// The paths of the fields that the person fills in. If the action is about a thing, they begin with what the
    /// thing has at the same paths.
    #[serde(default)]
    pub fields: Vec<String>,
    /// The statement that the person must agree to before the action is run.
    #[serde(default)]
    pub confirm: Option<String>,
    /// The text before the fields, such as who sees what is sent.
    #[serde(default)]
    pub note: Option<String>,
    /// For an action that handoffs draft: it is on the page of such a handoff, and not on the capability's own.
    #[serde(default)]
    pub draft: Option<PersonDraft>,
    /// For an action that reads a file in parts.
    #[serde(default)]
    pub file: Option<PersonFile>,
}

/// The paths by which a handoff's page finds the result of a draft.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonDraft {
    /// For an action that writes: the path, in its output and in the things of its section, of the id of the thing
    /// that it has made.
    #[serde(default)]
    pub made: Option<String>,
}

/// The paths by which a page reads an archive's files in parts from an action's answers, to offer them as one file.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PersonFile {
    /// The path of the list of parts in the output.
    pub parts: String,
    /// The paths in a part of the file's name and of its text.
    pub name: String,
    pub text: String,
    /// The path in the output of the value of the next call's field `input`; null after the last part.
    pub next: String,
    pub input: String,
}

impl PersonPage {
    /// Returns whether the page shows what the action answers.
    pub const fn is_view(&self) -> bool {
        !self.writes && self.file.is_none()
    }
}

/// Returns what a capability declares for a person's page; what cannot be read is left out, and the check reports it.
pub(super) fn person_pages(descriptor: &Descriptor) -> Vec<PersonPage> {
    let declared = |action: &ActionDescriptor| {
        let at = format!("actions.{}", action.name);
        let is_own = |one: &&Annotation| one.at == at && one.key == PERSON_PAGE;
        let annotation = descriptor.annotations.iter().find(is_own)?;
        let pages = read(annotation.value.as_ref().ok()?).ok()?;
        let (action, writes) = (action.name.clone(), action.access == Access::Write);
        Some(pages.into_iter().map(move |page| PersonPage {
            action: action.clone(),
            writes,
            ..page
        }))
    };
    let pages = descriptor.actions.iter().filter_map(declared).flatten().enumerate();
    pages.map(|(number, page)| PersonPage { number, ..page }).collect()
}

/// Reads a declaration: one part of the page, or a list of several.
fn read(value: &Value) -> Result<Vec<PersonPage>, serde_json::Error> {
    match value {
        Value::Array(list) => list.iter().map(PersonPage::deserialize).collect(),
        one => Ok(vec![PersonPage::deserialize(one)?]),
    }
}

/// Checks the declaration in an annotation of an action.
pub(super) fn check_person_page(
    descriptor: &Descriptor,
    annotation: &Annotation,
    value: &Value,
    problems: &mut Problems,
) {
    let at = format!("{}.annotations.{PERSON_PAGE}", excerpt(&annotation.at));
    let name = annotation.at.strip_prefix("actions.").unwrap_or_default();
    let can_have_one = |action: &&ActionDescriptor| {
        action.name == name && matches!(action.access, Access::Read | Access::Write)
    };
    let Some(action) = descriptor.actions.iter().find(can_have_one) else {
        let fix = "move it to such an action, or leave it out";
        problems.add(at, "is not at an action of access read or write", fix);
        return;
    };
    let pages = match read(value) {
        Ok(pages) => pages,
        Err(error) => {
            let fix = "write {section, title?, input?, things?, columns?, whole?, glance?, of?, fields?, confirm?, note?, draft?, file?}, or a list of these";
            problems.add(at, format!("cannot be read: {error}"), fix);
            return;
        }
    };
    for page in pages {
        let page = PersonPage { writes: action.access == Access::Write, ..page };
        check_part(action, &page, &at, problems);
    }
    check_count(descriptor, &at, problems);
}

/// Checks one part of a page.
fn check_part(action: &ActionDescriptor, page: &PersonPage, at: &str, problems: &mut Problems) {
    check_line(&format!("{at}.section"), &page.section, SECTION_CHARACTERS, problems);
    if let Some(title) = &page.title {
        check_line(&format!("{at}.title"), title, SECTION_CHARACTERS, problems);
    }
    if let Some(confirm) = &page.confirm {
        check_text(&format!("{at}.confirm"), confirm, CONFIRM_CHARACTERS, problems);
    }
    if let Some(note) = &page.note {
        check_text(&format!("{at}.note"), note, CONFIRM_CHARACTERS, problems);
    }
    for (list, count, most) in [
        ("things", page.things.len(), THINGS),
        ("columns", page.columns.len(), COLUMNS),
        ("whole", page.whole.len(), COLUMNS),
        ("fields", page.fields.len(), FIELDS),
        ("of", page.of.iter().flatten().count(), OF),
        ("input", page.input.len(), INPUT),
    ] {
        if count > most {
            problems.add(at, format!("has more than {most} in {list}"), "leave some out");
        }
    }
    let has_view_parts = !page.things.is_empty()
        || !page.columns.is_empty()
        || !page.whole.is_empty()
        || page.glance;
    let has_fields = !page.fields.is_empty() || page.note.is_some();
    let has_form_parts = has_fields || page.confirm.is_some();
    let is_mixed = match (page.writes, page.file.is_some()) {
        (true, true) => true,
        (true, false) => has_view_parts,
        (false, true) => has_view_parts || has_form_parts,
        // The person can change what a drafted search looks for.
        (false, false) if page.draft.is_some() => page.confirm.is_some(),
        (false, false) => has_form_parts || page.of.is_some(),
    };
    if is_mixed {
        problems.add(
            at,
            "has parts of another kind of action",
            "give things, columns, whole and glance to an action that reads, fields, note and confirm to one that writes, and file to one that reads a file",
        );
    }
    check_draft(page, at, problems);
    check_input(action, page, at, problems);
}

/// Checks the parts of a declaration for the pages of handoffs.
fn check_draft(page: &PersonPage, at: &str, problems: &mut Problems) {
    let Some(draft) = &page.draft else { return };
    if page.of.is_some() || page.glance || page.file.is_some() {
        let fix = "leave out of, glance and file: everything is taken from the draft";
        problems.add(at, "has a draft and parts that a draft cannot have", fix);
    }
    if draft.made.is_some() != page.writes {
        let fix = "name in made the path of what an action that writes has made, and leave it out of one that reads";
        problems.add(at, "has a draft of another kind of action", fix);
    }
}

/// Checks that the input has the fields that a declaration names.
fn check_input(action: &ActionDescriptor, page: &PersonPage, at: &str, problems: &mut Problems) {
    // A schema that is not JSON is reported with the action.
    let Ok(schema) = &action.input else { return };
    let has = |name: &str| schema.get("properties").is_some_and(|all| all.get(name).is_some());
    let of = page.of.iter().flatten().map(|(name, _)| name);
    let next = page.file.iter().map(|file| &file.input);
    for name in page.input.keys().chain(of).chain(next) {
        if !has(name) {
            let problem = format!("{} is not a field of the input", excerpt(name));
            problems.add(at, problem, "name a field of the action's input");
        }
    }
    let mut inputs = OWN_INPUTS + page.of.iter().flatten().count();
    for path in &page.fields {
        match plain_field(schema, path).map(|field| field.kind) {
            Some(PlainKind::Several(choices)) => inputs += choices.len(),
            Some(_) => inputs += 1,
            None => problems.add(
                at,
                format!("{} is no field that a form can have", excerpt(path)),
                "name texts, numbers, choices, lists of choices, or true and false",
            ),
        }
    }
    if inputs > INPUTS {
        let problem = format!("makes a form with more than {INPUTS} inputs");
        problems.add(at, problem, "leave out fields, or lists of many choices");
    }
}

/// Reports more parts of a page than a capability can have, once.
fn check_count(descriptor: &Descriptor, at: &str, problems: &mut Problems) {
    let pages = person_pages(descriptor);
    let views = pages.iter().filter(|page| !page.writes).count();
    let is_last =
        pages.last().is_some_and(|page| at.starts_with(&format!("actions.{}.", page.action)));
    if is_last && (views > VIEWS || pages.len() - views > FORMS) {
        let problem = format!("is at more than {VIEWS} actions that read, or {FORMS} that write");
        problems.add(at, problem, "keep those that people need most");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::tests::{action, descriptor};
    use serde_json::json;

    fn declaring(at: &str, value: Value) -> Descriptor {
        let tags: Vec<String> = (0..49).map(|number| format!("tag_{number}")).collect();
        let input = json!({ "type": "object", "properties": {
            "book_id": { "type": "string" }, "days": { "type": "integer" }, "confirm": { "type": "boolean" },
            "tags": { "type": "array", "items": { "enum": tags } }, "a": {}, "b": {}, "c": {}, "d": {}, "e": {},
            "f": {}, "g": {}, "h": {}, "i": {},
        } });
        let mut descriptor = descriptor(None);
        descriptor.actions =
            [("list", Access::Read), ("lend", Access::Write), ("tidy", Access::Internal)]
                .map(|(name, access)| action(name, access, input.clone()).descriptor)
                .into();
        let key = PERSON_PAGE.to_owned();
        descriptor.annotations.push(Annotation { at: at.to_owned(), key, value: Ok(value) });
        descriptor
    }

    fn problems_of(at: &str, value: Value) -> String {
        let descriptor = declaring(at, value);
        let mut problems = Problems::default();
        let annotation = &descriptor.annotations[0];
        let value = annotation.value.as_ref().unwrap();
        check_person_page(&descriptor, annotation, value, &mut problems);
        problems.0.iter().map(|problem| format!("{}\n", problem.problem)).collect()
    }

    #[test]
    fn a_declaration_is_read_with_its_action() {
        let lend = json!({ "section": "Loans", "of": { "book_id": "id" }, "fields": ["days"] });
        let pages = person_pages(&declaring("actions.lend", lend));
        assert_eq!((pages.len(), &*pages[0].action, pages[0].writes), (1, "lend", true));
        let list = json!({ "section": "Loans", "things": ["items"], "columns": ["title"] });
        assert!(person_pages(&declaring("actions.list", list))[0].is_view());
        // An annotation that cannot be parsed declares nothing; the check refuses it.
        assert!(person_pages(&declaring("actions.list", json!("Loans"))).is_empty());
    }

    #[test]
    fn a_wrong_declaration_is_refused() {
        let good = json!({ "section": "Loans", "things": ["items"], "columns": ["title"], "glance": true });
        assert_eq!(problems_of("actions.list", good), "");
        let good = json!({
            "section": "Loans", "of": { "book_id": "id" }, "fields": ["days"],
            "input": { "confirm": true }, "confirm": "I want it.",
        });
        assert_eq!(problems_of("actions.lend", good), "");
        let good = json!({
            "section": "Loans", "draft": { "made": "loan_id" }, "fields": ["days"], "note": "The library sees it.",
        });
        assert_eq!(problems_of("actions.lend", good), "");
        let good =
            json!({ "section": "Loans", "draft": {}, "fields": ["days"], "things": ["items"] });
        assert_eq!(problems_of("actions.list", good), "");
        for (at, value, problem) in [
            ("actions.tidy", json!({ "section": "Loans" }), "not at an action of access"),
            ("", json!({ "section": "Loans" }), "not at an action of access"),
            ("actions.list", json!({ "section": "" }), "is empty"),
            ("actions.list", json!({ "section": "Loans", "colour": "red" }), "cannot be read"),
            ("actions.list", json!({ "section": "Loans", "fields": ["days"] }), "another kind"),
            ("actions.lend", json!({ "section": "Loans", "columns": ["days"] }), "another kind"),
            ("actions.lend", json!({ "section": "Loans", "fields": ["none"] }), "none is no field"),
            (
                "actions.lend",
                json!({ "section": "Loans", "draft": { "made": "id" }, "of": {} }),
                "parts that a draft cannot have",
            ),
            ("actions.lend", json!({ "section": "Loans", "draft": {} }), "draft of another kind"),
            (
                "actions.list",
                json!({ "section": "Loans", "draft": { "made": "id" } }),
                "draft of another kind",
            ),
            ("actions.list", json!({ "section": "Loans", "note": "All see it." }), "another kind"),
            (
                "actions.lend",
                json!({ "section": "Loans", "of": { "id": "id" } }),
                "id is not a field",
            ),
            (
                "actions.lend",
                json!({ "section": "Loans", "of": {
                    "a": "a", "b": "b", "c": "c", "d": "d", "e": "e", "f": "f", "g": "g", "h": "h", "i": "i",
                } }),
                "has more than 8 in of",
            ),
            (
                "actions.lend",
                json!({ "section": "Loans", "fields": ["tags", "tags"] }),
                "more than 100 inputs",
            ),
            (
                "actions.lend",
                json!({ "section": "Loans", "input": { "id": 1 } }),
                "id is not a field",
            ),
        ] {
            let found = problems_of(at, value);
            assert!(found.contains(problem), "{problem}: {found}");
        }
    }
}
