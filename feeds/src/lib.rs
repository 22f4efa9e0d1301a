//! Builds the map's public feeds: fetches public sources politely, converts their records into one form,
//! joins them, updates each signal's maturity, validates the documents, and publishes all of them at once.
//!
//! This crate knows nothing of the host that serves the documents. A module uses only modules that are
//! listed below it:

/// A demonstration: feeds built from invented sources.
pub mod demo;
/// A build: from the sources to a publication.
pub mod build;
/// Publishes all documents at once, or none.
pub mod publish;
/// Validates documents: by their schemas, and by rules that no schema can express.
pub mod check;
/// The JSON Schemas of the documents.
pub mod schema;
/// The documents: records, and metadata about them.
pub mod document;
/// Splits a document into its metadata and its records, and joins them again.
pub mod parts;
/// Makes records that refer to each other.
pub mod join;
/// Questions that agents can answer from the feeds.
pub mod questions;
/// The handoff manifest: contracts with the capability API.
pub mod handoffs;
/// Reads all sources.
pub mod gather;
/// What was last read from each source.
pub mod state;
/// Reads RSS, Atom and JSON Feed.
pub mod syndication;
/// Reads accelerators' directories.
pub mod directory;
/// Reads registries: the organisations on the map.
pub mod registry;
/// The operator's file of sources.
pub mod sources;
/// Reads boards of open roles.
pub mod board;
/// The HTTP client.
pub mod fetch;
/// Cleans text that others wrote.
pub mod text;
/// Reads the entries of a source one by one.
pub mod entries;
/// The types of the feeds' records and documents.
pub mod record;
/// How well a signal is supported.
pub mod maturity;
/// Identifiers and digests.
pub mod identifier;
/// Instants.
pub mod timestamp;

pub use build::{BuildError, Moved, Options, Report, SourceReport, build, check, quarantined};
pub use check::Fault;
pub use fetch::Limits;
pub use gather::Progress;
pub use join::{Evidence, EvidenceKind, Knowledge};
pub use record::Roads;
pub use sources::Sources;
pub use state::Quarantined;
pub use timestamp::Timestamp;
