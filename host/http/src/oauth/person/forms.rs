//! The forms of actions on a person's page, and the input that a person has filled in.
//!
//! A form has the plain fields that its capability has declared. Values that it takes from a thing are hidden, as
//! JSON, and are checked like all other input: the sender can change a form.

use super::{
    refused::{Fault, Refused},
    things::{Thing, at, label, words},
};
use crate::oauth::forms::PageForm;
use portolan_catalog::{Action, PersonPage, PlainField, PlainKind, plain_field};
use serde_json::{Map, Number, Value};

/// The maximum number of characters of a description beside a field.
const HINT_CHARACTERS: usize = 300;
/// The maximum number of bytes of a value that a form takes from a thing, and of a text with which a field begins.
const CARRIED_BYTES: usize = 4 << 10;
const PREFILLED_BYTES: usize = 16 << 10;
/// The names of form fields for values of a thing, and for those that the person fills in.
const OF: &str = "of.";
const FIELD: &str = "field.";
/// The name of the form field by which the person agrees.
pub(super) const AGREED: &str = "agreed";

/// A form of an action.
pub(super) struct FormView {
    pub(super) action: String,
    /// The number of the part of the page.
    pub(super) part: usize,
    pub(super) title: String,
    pub(super) confirm: Option<String>,
    pub(super) note: Option<String>,
    pub(super) destructive: bool,
    /// Names and values that the person does not see.
    pub(super) hidden: Vec<(String, String)>,
    pub(super) fields: Vec<FieldView>,
    /// Whether it was sent and refused.
    pub(super) is_open: bool,
    /// A text that makes the ids of its elements differ from those of other forms.
    pub(super) id: String,
}

/// A field of a form.
pub(super) struct FieldView {
    pub(super) name: String,
    pub(super) label: String,
    pub(super) hint: String,
    pub(super) input: InputView,
    pub(super) is_required: bool,
    pub(super) problem: Option<&'static str>,
}

/// The control that the person fills in.
pub(super) enum InputView {
    Text { value: String, max_length: Option<u64> },
    Long { value: String, max_length: Option<u64> },
    Number { value: String },
    YesNo { is_checked: bool },
    Choice { options: Vec<OptionView> },
    Several { options: Vec<OptionView> },
}

/// A value of a choice.
pub(super) struct OptionView {
    pub(super) value: String,
    pub(super) label: String,
    pub(super) is_chosen: bool,
}

/// A form that was sent, and why its call was refused, if it was.
#[derive(Clone, Copy)]
pub(super) struct Sent<'a> {
    pub(super) form: &'a PageForm,
    pub(super) refused: Option<&'a Refused>,
}

/// Returns whether a form was sent for a part of a page. The name of the action guards against a catalog that has
/// changed since.
pub(super) fn is_sent(page: &PersonPage, form: &PageForm) -> bool {
    form.field("action") == page.action && form.field("part") == page.number.to_string()
}

impl FormView {
    /// Makes the form of an action, about a thing if it is about one; `None` if a value that it takes from the thing is
    /// too long. A form that was sent keeps what was filled in.
    pub(super) fn new(
        page: &PersonPage,
        action: &Action,
        thing: Option<&Thing>,
        id: String,
        sent: Option<Sent<'_>>,
    ) -> Option<Self> {
        let known = |path: &str| thing.and_then(|thing| at(&thing.value, path));
        let is_long = |text: &Value| text.as_str().is_some_and(|text| text.len() > PREFILLED_BYTES);
        if page.fields.iter().filter_map(|path| known(path)).any(is_long) {
            return None;
        }
        let mut hidden = Vec::new();
        for (name, path) in page.of.iter().flatten() {
            if let Some(value) = known(path) {
                hidden.push((format!("{OF}{name}"), carried(value)?));
            }
        }
        let is_own = |sent: &Sent<'_>| {
            is_sent(page, sent.form)
                && hidden.iter().all(|(name, value)| sent.form.field(name) == value)
        };
        let sent = sent.filter(is_own);
        let schema = action.schemas.input.document();
        let field = |path: &String| {
            let plain = plain_field(schema, path)?;
            Some(FieldView::new(path, &plain, known(path), sent))
        };
        Some(Self {
            action: page.action.clone(),
            part: page.number,
            title: page.title.as_ref().unwrap_or(&action.descriptor.title).clone(),
            confirm: page.confirm.clone(),
            note: page.note.clone(),
            destructive: action.descriptor.destructive,
            fields: page.fields.iter().filter_map(field).collect(),
            hidden,
            is_open: sent.is_some(),
            id,
        })
    }

    /// Returns the number of inputs that the person sees, and of the bytes of the form's texts.
    pub(super) fn size(&self) -> (usize, usize) {
        let inputs = self.fields.iter().map(|field| 1 + field.input.options().len());
        let hidden = self.hidden.iter().map(|(name, value)| name.len() + value.len());
        let texts = [&self.confirm, &self.note].into_iter().flatten().map(String::len);
        let fields = self.fields.iter().map(FieldView::bytes);
        let bytes = self.title.len() + texts.sum::<usize>() + hidden.chain(fields).sum::<usize>();
        (inputs.sum(), bytes)
    }

    /// Returns whether the form is only a button.
    pub(super) fn is_button(&self) -> bool {
        self.fields.is_empty() && self.confirm.is_none() && self.note.is_none()
    }
}

/// Returns a value as a form carries it; `None` if it is too long.
fn carried(value: &Value) -> Option<String> {
    let mut bytes = vec![0_u8; CARRIED_BYTES];
    let mut rest = bytes.as_mut_slice();
    serde_json::to_writer(&mut rest, value).ok()?;
    let length = CARRIED_BYTES - rest.len();
    bytes.truncate(length);
    String::from_utf8(bytes).ok()
}

impl InputView {
    fn options(&self) -> &[OptionView] {
        match self {
            Self::Choice { options } | Self::Several { options } => options,
            Self::Text { .. } | Self::Long { .. } | Self::Number { .. } | Self::YesNo { .. } => &[],
        }
    }
}

impl FieldView {
    /// Returns whether it is the field of the input with this name, or is within it.
    pub(super) fn is_within(&self, name: &str) -> bool {
        let path = self.name.strip_prefix(FIELD).and_then(|path| path.strip_prefix(name));
        path.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    }

    /// Returns the number of bytes of the field's texts.
    fn bytes(&self) -> usize {
        let value = match &self.input {
            InputView::Text { value, .. }
            | InputView::Long { value, .. }
            | InputView::Number { value } => value.len(),
            InputView::YesNo { .. } | InputView::Choice { .. } | InputView::Several { .. } => 0,
        };
        let options = self.input.options().iter();
        let options = options.map(|option| {
            // The input of each option of a list has the field's name as well.
            self.name.len() + option.value.len() + option.label.len()
        });
        self.name.len() + self.label.len() + self.hint.len() + value + options.sum::<usize>()
    }

    /// Returns the ids of the texts that describe the field with this id.
    pub(super) fn describes(&self, id: &str) -> String {
        let hint = (!self.hint.is_empty()).then(|| format!("{id}-hint"));
        let problem = self.problem.map(|_| format!("{id}-problem"));
        hint.into_iter().chain(problem).collect::<Vec<_>>().join(" ")
    }

    fn new(
        path: &str,
        plain: &PlainField<'_>,
        known: Option<&Value>,
        sent: Option<Sent<'_>>,
    ) -> Self {
        let name = format!("{FIELD}{path}");
        let filled = sent.map(|sent| sent.form.field(&name).to_owned());
        let value = filled.unwrap_or_else(|| match known {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Number(number)) => number.to_string(),
            _ => String::new(),
        });
        let option = |text: &&str, is_chosen: bool| OptionView {
            value: (*text).to_owned(),
            label: words(text),
            is_chosen,
        };
        let is_known = |text: &str| {
            let list = known.and_then(Value::as_array);
            list.is_some_and(|list| list.iter().any(|one| one == text))
        };
        let input = match &plain.kind {
            PlainKind::Text { max_length, is_long: false } => {
                InputView::Text { value, max_length: *max_length }
            }
            PlainKind::Text { max_length, is_long: true } => {
                InputView::Long { value, max_length: *max_length }
            }
            PlainKind::Number => InputView::Number { value },
            PlainKind::YesNo => {
                let is_known = known == Some(&Value::Bool(true));
                InputView::YesNo {
                    is_checked: if sent.is_some() { !value.is_empty() } else { is_known },
                }
            }
            PlainKind::Choice(choices) => InputView::Choice {
                options: choices.iter().map(|text| option(text, *text == value)).collect(),
            },
            PlainKind::Several(choices) => {
                let is_chosen = |text: &str| match sent {
                    Some(sent) => !sent.form.field(&format!("{name}.{text}")).is_empty(),
                    None => is_known(text),
                };
                let options = choices.iter().map(|text| option(text, is_chosen(text)));
                InputView::Several { options: options.collect() }
            }
        };
        let refused = sent.and_then(|sent| sent.refused);
        let faults = refused.map(|refused| refused.faults.as_slice()).unwrap_or_default();
        let fault = faults.iter().find(|fault: &&Fault| fault.path == path);
        Self {
            name,
            label: label(path),
            hint: hint(plain.description),
            input,
            // A field of an object that can be null may be left empty.
            is_required: plain.is_required && !plain.is_nullable,
            problem: fault.map(|fault| fault.text),
        }
    }
}

/// Returns the first words of a description. The rest is for programs.
fn hint(description: &str) -> String {
    let ends = [". ", "; ", ": ", "\n"];
    let end = ends.iter().filter_map(|end| description.find(end)).min();
    let first = description.get(..end.unwrap_or(description.len())).unwrap_or_default();
    let first = first.trim_end_matches('.').replace('`', "");
    first.chars().take(HINT_CHARACTERS).collect()
}

/// Returns the input of an action: what is always the same, what is taken from a thing, and what the person has
/// filled in. A field that was left empty is left out; in a form about a thing it becomes null, if it can.
pub(super) fn input(page: &PersonPage, action: &Action, form: &PageForm) -> Map<String, Value> {
    let mut input = page.input.clone();
    for name in page.of.iter().flatten().map(|(name, _)| name) {
        let text = form.field(&format!("{OF}{name}"));
        if let Ok(value) = serde_json::from_str(text) {
            input.insert(name.clone(), value);
        }
    }
    fill(&mut input, page, action, form);
    input
}

/// Returns the input of an action that was drafted: the draft, with what the person has filled in. A field that was
/// left empty is left out.
pub(super) fn drafted_input(
    page: &PersonPage,
    action: &Action,
    form: &PageForm,
    draft: Map<String, Value>,
) -> Map<String, Value> {
    let mut input = fixed_input(page, draft);
    fill(&mut input, page, action, form);
    input
}

/// Returns the part of the input of an action that was drafted which the person does not fill in.
pub(super) fn fixed_input(page: &PersonPage, draft: Map<String, Value>) -> Map<String, Value> {
    let mut input = draft;
    input.extend(page.input.clone());
    for path in &page.fields {
        remove(&mut input, path);
    }
    input
}

/// Sets the fields that the person has filled in.
fn fill(input: &mut Map<String, Value>, page: &PersonPage, action: &Action, form: &PageForm) {
    let schema = action.schemas.input.document();
    let mut emptied = Vec::new();
    for path in &page.fields {
        let Some(plain) = plain_field(schema, path) else { continue };
        match filled(&plain, form, &format!("{FIELD}{path}")) {
            // For a form about no thing, an empty choice leaves the field out.
            Some(Value::Array(chosen)) if chosen.is_empty() && page.of.is_none() => {}
            Some(value) => insert(input, path, value),
            None if plain.is_nullable && page.of.is_some() => emptied.push(path),
            None => {}
        }
    }
    for path in emptied {
        let first = path.split('.').next().unwrap_or_default();
        input.entry(first.to_owned()).or_insert(Value::Null);
    }
}

/// Returns the value of a field; `None` if it was left empty.
fn filled(plain: &PlainField<'_>, form: &PageForm, name: &str) -> Option<Value> {
    // Browsers send line breaks as CR LF.
    let text = form.field(name).trim().replace("\r\n", "\n");
    match &plain.kind {
        PlainKind::YesNo => Some(Value::Bool(!text.is_empty())),
        PlainKind::Several(choices) => {
            let is_chosen = |choice: &&&str| !form.field(&format!("{name}.{choice}")).is_empty();
            let chosen = choices.iter().filter(is_chosen).map(|choice| Value::from(*choice));
            Some(Value::Array(chosen.collect()))
        }
        _ if text.is_empty() => None,
        // A text that is no number is refused by the schema, which names the field.
        PlainKind::Number => {
            Some(text.parse::<Number>().map_or_else(|_| Value::from(text), Value::Number))
        }
        PlainKind::Text { .. } | PlainKind::Choice(_) => Some(Value::from(text)),
    }
}

/// Sets the value at a path of dotted names.
fn insert(input: &mut Map<String, Value>, path: &str, value: Value) {
    match path.split_once('.') {
        None => {
            input.insert(path.to_owned(), value);
        }
        Some((first, rest)) => {
            let inner = input.entry(first.to_owned()).or_insert_with(|| Value::Object(Map::new()));
            if let Value::Object(inner) = inner {
                insert(inner, rest, value);
            }
        }
    }
}

/// Removes the value at a path of dotted names.
fn remove(input: &mut Map<String, Value>, path: &str) {
    match path.split_once('.') {
        None => {
            input.shift_remove(path);
        }
        Some((first, rest)) => {
            if let Some(Value::Object(inner)) = input.get_mut(first) {
                remove(inner, rest);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_form_carries_only_short_values() {
        let value = json!({ "id": "b_1", "list": [1, null] });
        assert_eq!(carried(&value), Some(value.to_string()));
        let long = |length: usize| json!("x".repeat(length));
        // The quotation marks are part of it.
        assert!(carried(&long(CARRIED_BYTES - 2)).is_some());
        assert!(carried(&long(CARRIED_BYTES - 1)).is_none());
    }
}
