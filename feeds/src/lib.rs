//! Makes the map's public feeds: asks public sources politely, puts what they tell into one form, joins
//! it, follows how sure each signal is, checks all of it, and publishes it at once.
//!
//! It knows nothing of the host that serves the documents. A room uses only rooms below it:

/// Invented sources, and feeds made of them.
pub mod demo;
/// From sources to a publication.
pub mod build;
/// All documents at once, or none.
pub mod publish;
/// What no schema can say.
pub mod check;
/// The JSON Schemas of the documents.
pub mod schema;
/// Records with a description around them.
pub mod document;
/// A document taken apart, and put together.
pub mod parts;
/// Records that name each other.
pub mod join;
/// What agents are asked.
pub mod questions;
/// Contracts with the capability API.
pub mod handoffs;
/// All sources, asked.
pub mod gather;
/// What is known about each source.
pub mod state;
/// RSS, Atom and JSON Feed.
pub mod syndication;
/// Accelerators' directories.
pub mod directory;
/// The organisations on the map.
pub mod registry;
/// What an operator writes down.
pub mod sources;
/// Boards of open roles.
pub mod board;
/// The HTTP client.
pub mod fetch;
/// Text that others wrote.
pub mod text;
/// The shapes of what the feeds hold.
pub mod record;
/// How sure a signal is.
pub mod maturity;
/// Identifiers and digests.
pub mod identifier;
/// Instants.
pub mod timestamp;

pub use build::{BuildError, Moved, Options, Report, SourceReport, build, check};
pub use check::Fault;
pub use fetch::Limits;
pub use gather::Progress;
pub use join::{Evidence, EvidenceKind, Knowledge};
pub use record::Roads;
pub use sources::Sources;
pub use timestamp::Timestamp;
