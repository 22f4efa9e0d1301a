//! The people whom a collection's documents name, as the collection declares them.

use serde::{Deserialize, Serialize};

/// One path at which the documents of a collection name a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// Names joined by dots, `[]` for the elements of a list, `{}` for the entries of an object whose
    /// keys are data (at the end of the path: the keys themselves). `$id` is the document's id.
    pub path: String,
    pub erasure: Erasure,
    /// The fields with data about this person.
    pub fields: Vec<PersonalField>,
}

/// The effect of a person's erasure on a document that names them; the most thorough first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Erasure {
    DeleteDocument,
    /// Removes the innermost element of a list, or entry of an object, that contains the id.
    RemoveElement,
    /// Replaces the id with that of nobody (zeros after the prefix), and empties the fields.
    Redact,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PersonalField {
    /// Written as [`Person::path`]. As far as the path begins with the same steps as the person's path, it
    /// means the same element. `$id` is the whole document. With [`Audience::Personal`], others whom it names do
    /// not learn that it exists; with [`Audience::Shared`], an export for others has only the list elements and
    /// fields about them. If several paths have it, the people at all of them know the document.
    pub path: String,
    pub audience: Audience,
}

/// The audience to which a field about a person may be disclosed, the smallest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Audience {
    /// The person alone.
    Personal,
    /// The people whom the document names.
    Shared,
    Public,
}

/// Adds the declaration of a later version of a capability to the stored one. Documents of earlier versions
/// may still exist, so nothing is withdrawn: each path keeps its most thorough erasure, and each field its
/// smallest audience.
pub fn merge_people(stored: &mut Vec<Person>, declared: &[Person]) {
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
