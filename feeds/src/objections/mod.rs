//! Objections: people and companies that do not want to be listed, and single records. The list is a file
//! in the folder of the feeds. It is applied to every publication, whatever the sources say.

mod list;
mod names;
mod suppression;

pub use list::{LIST, Objection, ObjectionError, ObjectionKind, Objections};
pub use suppression::Suppression;
