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
/// The last publication of each day.
pub mod snapshots;
/// Validates documents: by their schemas, and by rules that no schema can express.
pub mod check;
/// The JSON Schemas of the documents.
pub mod schema;
/// The documents: records, and metadata about them.
pub mod document;
/// The log of changes from one publication to the next.
pub mod changes;
/// Feeds as lines and as tables.
pub mod export;
/// The descriptions of roles, in parts.
pub mod descriptions;
/// Splits a document into its metadata and its records, and joins them again.
pub mod parts;
/// Makes records that refer to each other.
pub mod join;
/// Questions that agents can answer from the feeds.
pub mod questions;
/// The handoff manifest: contracts with the capability API.
pub mod handoffs;
/// Objections of people and companies to be listed.
pub mod objections;
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
/// Reads claims in news, posts and filings.
pub mod claims;
/// Which city, region and country the texts of places name.
pub mod places;
/// Reads XML.
pub mod xml;
/// The HTTP client.
pub mod fetch;
/// Converts answers to UTF-8.
pub mod charset;
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
/// Files that are on the disk before others refer to them.
mod files;
/// Instants.
pub mod timestamp;

pub use build::{
    BuildError, Moved, Options, Report, SourceReport, build, check, not_published, republish,
};
pub use check::Fault;
pub use fetch::Limits;
pub use gather::Progress;
pub use join::{Evidence, EvidenceKind, Knowledge, LeftOut};
pub use objections::{Objection, ObjectionKind, Objections};
pub use publish::{NotPublished, Objected};
pub use record::Roads;
pub use sources::Sources;
pub use state::Quarantined;
pub use timestamp::Timestamp;
