//! One declared path of people, and the search for matching people at that path of a document.

use super::{
    declaration::{Audience, Erasure, Person, PersonalField},
    ids::person_ids,
    path::{Step, for_each_at, parse_path},
};
use serde_json::Value;

/// The declared path of the document's own id.
pub(super) const DOCUMENT_ID: &str = "$id";

/// A valid [`Person`], with its paths parsed.
#[derive(Debug, Clone)]
pub(super) struct Subject {
    pub(super) is_document_id: bool,
    /// The visibility of the whole document, if it is declared.
    pub(super) document: Option<Audience>,
    pub(super) path: Vec<Step>,
    pub(super) erasure: Erasure,
    pub(super) fields: Vec<(Vec<Step>, Audience)>,
}

/// A match in a value, with what an erasure does about it; the most thorough last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum MatchEffect {
    NoMatch,
    /// A person who matches; nothing is to be removed.
    Keep,
    /// The innermost element that contains the person is to be removed.
    RemoveElement,
    /// The document is to be deleted.
    DeleteDocument,
}

impl PersonalField {
    /// Returns whether the field is the document as a whole.
    fn is_document(&self) -> bool {
        self.path == DOCUMENT_ID && self.audience < Audience::Public
    }
}

impl Subject {
    pub(super) fn new(declared: &Person) -> Result<Self, String> {
        let is_document_id = declared.path == DOCUMENT_ID;
        let path = match is_document_id {
            true => Vec::new(),
            false => parse_path(&declared.path)?,
        };
        let has_elements = path.iter().any(Step::is_repeated);
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
                let field = |field: &PersonalField| Ok((parse_path(&field.path)?, field.audience));
                let (whole, parts): (Vec<_>, Vec<_>) =
                    declared.fields.iter().partition(|field| field.is_document());
                let document = whole.iter().map(|field| field.audience).min();
                let fields = parts.into_iter().map(field).collect::<Result<_, String>>()?;
                Ok(Self { is_document_id, document, path, erasure, fields })
            }
        }
    }

    /// Finds the people who match, calls `change` with each of their fields, and removes their elements if
    /// the erasure is `RemoveElement`. Returns the most thorough of what was found.
    pub(super) fn visit(
        &self,
        document: &mut Value,
        matches: &dyn Fn(&str) -> bool,
        change: &mut dyn FnMut(&mut Value, Audience),
    ) -> MatchEffect {
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
    ) -> MatchEffect {
        let Some((step, rest)) = path.split_first() else {
            let found = value.as_str().is_some_and(|text| person_ids(text).any(matches));
            return if found { self.match_effect() } else { MatchEffect::NoMatch };
        };
        // Fields whose path begins with the same step belong to the same element.
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
                None => MatchEffect::NoMatch,
            },
            (Step::Elements, Value::Array(elements)) => {
                let mut most = MatchEffect::NoMatch;
                elements.retain_mut(|element| {
                    let found = self.descend(element, rest, &inner, matches, change);
                    most = most.max(if found == MatchEffect::RemoveElement {
                        MatchEffect::Keep
                    } else {
                        found
                    });
                    found != MatchEffect::RemoveElement
                });
                most
            }
            (Step::Entries, Value::Object(entries)) => {
                let mut most = MatchEffect::NoMatch;
                entries.retain(|key, child| {
                    let is_key = rest.is_empty() && person_ids(key).any(matches);
                    let found = match is_key {
                        true => self.match_effect(),
                        false => self.descend(child, rest, &inner, matches, change),
                    };
                    most = most.max(if found == MatchEffect::RemoveElement {
                        MatchEffect::Keep
                    } else {
                        found
                    });
                    found != MatchEffect::RemoveElement
                });
                most
            }
            _ => MatchEffect::NoMatch,
        };
        if found > MatchEffect::NoMatch {
            for (field, audience) in own {
                for_each_at(value, field, &mut |value| change(value, audience));
            }
        }
        found
    }

    fn match_effect(&self) -> MatchEffect {
        match self.erasure {
            Erasure::DeleteDocument => MatchEffect::DeleteDocument,
            Erasure::RemoveElement => MatchEffect::RemoveElement,
            Erasure::Redact => MatchEffect::Keep,
        }
    }
}
