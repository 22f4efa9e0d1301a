//! The people whose data a document contains.

use crate::contract::description::{self, Audience, Erasure};

/// A path at which the documents of a collection name a person: an owner's id or an agent's.
///
/// Paths are names joined by dots, with `[]` for the elements of a list and `{}` for the entries of a
/// map whose keys are data (a path that ends in `{}` means the keys). `$id` is the document's id.
#[derive(Debug, Clone, Copy)]
pub struct Person {
    path: &'static str,
    erasure: Erasure,
    fields: &'static [PersonalField],
}

/// The path of a field with data about a person; the variant says who may know it. The part that it
/// has in common with the person's path means the same list element or map entry.
#[derive(Debug, Clone, Copy)]
pub enum PersonalField {
    /// The person alone. The path `$id` is the whole document: others whom it names do not learn that it exists.
    Personal(&'static str),
    /// The people whom the document names. The path `$id` is the whole document: an export for others whom it
    /// names has only the list elements and fields about them.
    Shared(&'static str),
    Public(&'static str),
}

impl Person {
    /// Declares that the erasure of the person deletes the document.
    pub const fn delete(path: &'static str) -> Self {
        Self { path, erasure: Erasure::DeleteDocument, fields: &[] }
    }

    /// Declares that the erasure of the person removes the innermost list element, or entry of a map, that
    /// contains the id.
    pub const fn remove(path: &'static str) -> Self {
        Self { path, erasure: Erasure::RemoveElement, fields: &[] }
    }

    /// Declares that the erasure of the person replaces the id with that of nobody (zeros after the
    /// prefix), and empties the fields: texts and lists become empty, numbers 0, flags false.
    pub const fn redact(path: &'static str, fields: &'static [PersonalField]) -> Self {
        Self { path, erasure: Erasure::Redact, fields }
    }

    /// Sets the fields with data about the person. In an export for somebody else, the personal
    /// ones are empty.
    #[must_use]
    pub const fn fields(mut self, fields: &'static [PersonalField]) -> Self {
        self.fields = fields;
        self
    }

    /// Returns the descriptor's record of this path.
    pub(super) fn declaration(&self) -> description::Person {
        let fields = self.fields.iter().map(|field| {
            let (path, audience) = match field {
                PersonalField::Personal(path) => (path, Audience::Personal),
                PersonalField::Shared(path) => (path, Audience::Shared),
                PersonalField::Public(path) => (path, Audience::Public),
            };
            description::PersonalField { path: (*path).into(), audience }
        });
        description::Person {
            path: self.path.into(),
            erasure: self.erasure,
            fields: fields.collect(),
        }
    }
}
