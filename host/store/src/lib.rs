//! The store of a host: capabilities' documents and the host's own records, on SQLite or
//! PostgreSQL.
//!
//! A call reads and writes through a [`Unit`], which is committed whole or not at all. The host's
//! own records have functions on [`Store`]. This is the only crate that knows SQL.
//!
//! The modules in reading order; a module uses only modules above it:
//!
//! - `error`, `url`, `integers`, `texts`: errors, the database's URL, and numbers and texts in their stored form.
//! - `document`, `webhook`, `effects`: the types of documents, webhooks, and all other effects.
//! - `signing_key`, `audit_log`: private keys in use; the hashes of audit rows, and the checkpoints that each
//!   node signs.
//! - `usage`: how much documents and timers take of the quotas, and whether a quota would be exceeded.
//! - `connection`: the open database, its transactions and prepared statements, batched reads of
//!   single documents, backups, and a look at a database from outside.
//! - [`query`]: declarations, the tables of indexes, and the statements that queries become.
//! - `changes`: the read set and the write set of a unit of work that has ended.
//! - `commit`: group commit: validation, the writes, fan-out of events to inboxes and webhooks, and
//!   the signals that announce a commit.
//! - `server_clock`: how far the clock of the database server is from that of this node.
//! - `store`: the handles that everything below shares.
//! - `unit`: the unit of work: documents, queries, effects, savepoints.
//! - `records`: the host's own records: audit log and its checkpoints, backlog, catalog, collections, dead letters, due
//!   work, generations of collections, held events, idempotency keys, inboxes, incidents, nodes, people, publishers,
//!   quarantined documents, rates, signing keys, timers, usage, versions of components, webhooks and their deliveries,
//!   and the sweep; `standings` announces that what a node remembers of callers has changed.
//! - `open`: opens the store from all of these.
//!
//! Three libraries speak to the databases:
//!
//! - rusqlite is used in `connection` alone, by the one writer, the readers of single documents and of
//!   read sets, and backups: it needs no thread switch for each statement. `error` wraps its error.
//! - sea-query builds statements whose conditions vary: in `query::select` and `query::many`, and in the
//!   filters of `records::audit` and `records::inbox`. `connection` renders them for the database.
//! - sqlx opens both databases in `connection` and runs all other statements. Modules with fixed
//!   statements call it through the macros `read!` and `transact!`; `url` checks URLs with it, and
//!   `commit::signals` listens to PostgreSQL with it.
//!
//! Invariants:
//!
//! - The outcome of units of work, on any number of nodes, is that of committing one after the other.
//! - A unit never commits if its read set has changed. The results of `unchecked` queries are left out of
//!   the read set.
//! - Sequences of inboxes never have gaps.
//! - No value from a caller ever becomes SQL text: values are bound, or base64 in the transactions of PostgreSQL
//!   (`connection::batch`), and the names of tables and columns are made from numbers.
//! - The store never reads the time: it gets a clock, and functions get the time as an argument.

mod audit_log;
mod changes;
mod commit;
mod connection;
mod document;
mod effects;
mod error;
mod integers;
mod open;
pub mod query;
mod records;
mod server_clock;
mod signing_key;
mod store;
#[cfg(test)]
mod tests;
mod texts;
mod unit;
mod url;
mod usage;
mod webhook;

pub use audit_log::{AuditEntry, AuditFault, AuditLine, AuditReport, AuditVerifier, Checkpoint};
pub use changes::Attachments;
pub use commit::{ConflictKey, InboxSignal, Verdict};
pub use connection::{
    Examination, Pooling, ServerSettings, Steps, backup, create_private_folder, examine, is_in_use,
    migrate, pg_dump, pg_restore, restore, sqlite_version,
};
pub use document::{CollectionId, Document, Expectation};
pub use effects::{
    Audience, AuditRecord, Count, IdempotencyKey, NewEvent, OutboxCommand, Release, StoredAnswer,
    Task, TimerChange, TimerKey,
};
pub use error::{DbError, KeyError, StateError};
pub use query::{Collection, Collections, Counted, shape};
pub use records::{
    Arrival, Attempt, AuditQuery, Backlog, CatalogState, DeadLetter, DesiredVersion,
    DroppedLetters, DueDelivery, DueWork, EmailNotice, ErasureCounts, ExportCursor, FailingWebhook,
    Gap, Generation, HeldEvent, InboxEntry, InboxHead, InstalledId, KeyPurpose, MAX_ATTEMPTS,
    Migrated, NewRecording, NewRelease, OldDocument, OpenedRecording, OperatorRecord, Outcome,
    Outdated, PendingTimers, PersonalAnswer, PersonalDocument, PersonalEvent, PersonalItem,
    PersonalTimer, PersonalWebhook, Promotion, Quarantined, QuarantinedDocument, QuotaUse,
    RecordingEntry, RecordingQuery, RecordingUse, ReleaseCount, ReleaseEnding, ReleaseRecord,
    ReleaseSide, ReleaseState, ServedCapability, StandingSignals, VersionEntry, VersionRecord,
    VersionState,
};
pub use signing_key::SigningKey;
pub use store::{PoolUse, Store};
pub use unit::{Cause, Hit, Page, Unit};
pub use url::DatabaseUrl;
pub use usage::{ExceededQuota, Usage};
pub use webhook::{Delivery, DeliveryOutcome, Health, Webhook, WebhookState};
