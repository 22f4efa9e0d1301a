//! Generations of a collection: how its documents get the form of another version, or other indexes, while
//! calls continue.
//!
//! A collection is a row of `collections`. A version with another form of the documents, or with other
//! indexes over many of them, gets a second row, which is filled while the first one serves:
//!
//! 1. `Store::begin_generation` makes the second row. From then on, the database notes the id of every
//!    document of the first row that changes.
//! 2. `Store::copy_documents` writes migrated documents, in the order of their ids.
//! 3. `Store::follow_changes` does the same for the noted documents.
//! 4. `Store::fence` prevents commits to the first row for some seconds, and the last changes are followed.
//! 5. `Store::switch` lets the second row serve, and retires the first one.
//!
//! Every step is one short transaction that checks that its input is still current, so that nothing is lost
//! after a crash at any time, or if another node does the same. A document that cannot be migrated is
//! quarantined with its old body. Documents that are only indexed anew stay as they are; a document that
//! does not fit its index, or has the same unique value as another one, is an error.
//!
//! The modules in reading order; a module uses only modules above it:
//!
//! - `generation`: an outdated collection, and the generation that is to replace it.
//! - `document`: a document on its way into another generation.
//! - `outcome`: what a document becomes there, and what is checked.
//! - `rows`: reads and changes of rows of collections within a transaction.
//! - `outdated`, `revive`: which collections need another generation, and the retired one that can serve
//!   again.
//! - `abandon`, `begin`: a generation is no longer filled, or begins to be filled.
//! - `write`: migrated documents are written.
//! - `copy`, `follow`: all documents, then those that have changed meanwhile.
//! - `sweep`: generations that were retired too long ago are deleted.
//! - `switch`: the filled generation serves, and the former one is retired.

mod begin;
mod copy;
mod document;
mod follow;
mod generation;
mod abandon;
mod outcome;
mod outdated;
mod revive;
mod rows;
mod sweep;
mod switch;
mod write;

pub use document::{Migrated, OldDocument};
pub use generation::{Generation, Outdated};
