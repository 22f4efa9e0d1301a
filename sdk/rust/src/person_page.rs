//! The part or form of an action on a person's own page.

use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The annotation of an action that belongs on a person's own page: `#[action(person_page = …)]`.
pub const PERSON_PAGE: &str = "portolan/person_page";

/// An action on a person's page. An action that reads is a part of the page, one that writes is a form.
///
/// ```
/// # use portolan_sdk::PersonPage;
/// // On the action that lists loans, and on the one that gives a book back.
/// let list = PersonPage::in_section("Loans").things(&["items"]).columns(&["title", "due_at"]).glance();
/// let give_back = PersonPage::in_section("Loans").about(&[("loan_id", "loan_id")]);
/// # let _ = (list, give_back);
/// ```
#[derive(Debug, Clone, Default, Serialize)]
pub struct PersonPage {
    section: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'static str>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    input: Map<String, Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    things: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    columns: Vec<&'static str>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    whole: Vec<&'static str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    glance: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<BTreeMap<&'static str, &'static str>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    fields: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    confirm: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draft: Option<PersonDraft>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<PersonFile>,
}

/// The path by which a handoff's page finds the result of the action.
#[derive(Debug, Clone, Copy, Serialize)]
struct PersonDraft {
    #[serde(skip_serializing_if = "Option::is_none")]
    made: Option<&'static str>,
}

/// The paths by which a page reads the parts of an archive's files. Every field is a path of dotted names.
#[derive(Debug, Clone, Copy, Serialize)]
pub struct PersonFile {
    /// The list of parts in the output.
    pub parts: &'static str,
    /// The file's name in a part.
    pub name: &'static str,
    /// The text in a part.
    pub text: &'static str,
    /// The value of the next call's field `input`; null after the last part.
    pub next: &'static str,
    /// The field of the input that says which part comes first.
    pub input: &'static str,
}

impl PersonPage {
    /// Makes one under a heading. Actions with the same heading are shown together.
    pub fn in_section(section: &'static str) -> Self {
        Self { section, ..Self::default() }
    }

    /// Sets the title on the page in place of the action's own, such as a button's text.
    #[must_use]
    pub fn titled(mut self, title: &'static str) -> Self {
        self.title = Some(title);
        self
    }

    /// Sets a field of the input that is always the same.
    #[must_use]
    pub fn input(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.input.insert(name.to_owned(), value.into());
        self
    }

    /// Sets the paths in the output at which things are, or lists of them. Without any, the output is one thing.
    #[must_use]
    pub fn things(mut self, paths: &[&'static str]) -> Self {
        self.things = paths.to_vec();
        self
    }

    /// Sets the paths of the values of a thing that are shown, the first one as its name.
    #[must_use]
    pub fn columns(mut self, paths: &[&'static str]) -> Self {
        self.columns = paths.to_vec();
        self
    }

    /// Sets the paths among the columns of texts that are shown whole, however long they are.
    #[must_use]
    pub fn whole(mut self, paths: &[&'static str]) -> Self {
        self.whole = paths.to_vec();
        self
    }

    /// Counts the things on the first page of the account.
    #[must_use]
    pub fn glance(mut self) -> Self {
        self.glance = true;
        self
    }

    /// Makes the action one about a thing of its section: these fields of its input are taken from these paths of
    /// the thing. It is offered where the thing's `allowed_actions` name it.
    #[must_use]
    pub fn about(mut self, fields: &[(&'static str, &'static str)]) -> Self {
        self.of = Some(fields.iter().copied().collect());
        self
    }

    /// Sets the paths of the input's fields that the person fills in: texts, numbers, choices, lists of choices.
    #[must_use]
    pub fn fields(mut self, paths: &[&'static str]) -> Self {
        self.fields = paths.to_vec();
        self
    }

    /// Sets the statement that the person must agree to first.
    #[must_use]
    pub fn confirm(mut self, text: &'static str) -> Self {
        self.confirm = Some(text);
        self
    }

    /// Sets the text before the fields, such as who sees what is sent.
    #[must_use]
    pub fn note(mut self, text: &'static str) -> Self {
        self.note = Some(text);
        self
    }

    /// Puts an action that reads on the pages of handoffs that draft it, and not on the capability's own page.
    #[must_use]
    pub fn drafted(mut self) -> Self {
        self.draft = Some(PersonDraft { made: None });
        self
    }

    /// Puts an action that writes on the pages of handoffs that draft it, and not on the capability's own page. `made`
    /// is the path, in the output and in the things of the section, of the id of the thing that the action has made.
    #[must_use]
    pub fn drafted_as(mut self, made: &'static str) -> Self {
        self.draft = Some(PersonDraft { made: Some(made) });
        self
    }

    /// Offers the parts that the action answers as one file.
    #[must_use]
    pub fn file(mut self, file: PersonFile) -> Self {
        self.file = Some(file);
        self
    }
}
