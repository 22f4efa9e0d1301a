//! The people in documents: those that a collection declares, what an export of one of them shows,
//! and what their erasure does.
//!
//! A person is an owner (`own_` and a ULID) or one of their agents (`agt_` and a ULID).
//!
//! The modules in reading order; a module uses only modules above it:
//!
//! - `declaration`: what a collection declares.
//! - `ids`: the ids of people in a text.
//! - `undeclared`: an id where a document may have none, and the input that it comes from.
//! - `path`: the paths at which documents name people.
//! - `subject`: one declared path of people, and the search for matching people at that path.
//! - `documents`: the people whom the documents of a collection name.
//! - `erase`: what an erasure does to a document.
//! - `export`: what an export shows of a document.

mod declaration;
mod documents;
mod erase;
mod export;
mod ids;
mod path;
mod subject;
mod undeclared;

pub use declaration::{Audience, Erasure, Person, PersonalField, merge_people};
pub use documents::People;
pub use erase::Erased;
pub use ids::{person_ids, redact_ids};
pub use undeclared::UndeclaredPerson;

#[cfg(test)]
mod tests;
