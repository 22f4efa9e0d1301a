//! The host's own records, each kind in a file with its statements.

mod audit;
mod audit_checkpoints;
mod backlog;
mod blocking;
mod catalog;
mod collections;
mod counters;
mod dead_letters;
mod due_work;
mod email_notices;
mod generations;
mod health;
mod held;
mod idempotency;
mod inbox;
mod incidents;
mod node_catalogs;
mod operators;
mod people;
mod publishers;
mod quarantine;
mod rates;
mod recordings;
mod release;
mod releases;
mod sending;
mod signing_keys;
mod standings;
mod sweep;
mod timers;
mod usage;
mod versions;
mod webhooks;

pub use audit::{AuditQuery, Outcome};
pub use audit_checkpoints::ExportCursor;
pub use backlog::Backlog;
pub use catalog::{CatalogState, ServedCapability};
pub use dead_letters::{DeadLetter, DroppedLetters};
pub use due_work::{DueWork, MAX_ATTEMPTS};
pub use email_notices::EmailNotice;
pub use generations::{Generation, Migrated, OldDocument, Outdated};
pub use health::FailingWebhook;
pub use held::HeldEvent;
pub use inbox::{Gap, InboxEntry, InboxHead};
pub use operators::OperatorRecord;
pub use people::{
    ErasureCounts, PersonalAnswer, PersonalDocument, PersonalEvent, PersonalItem, PersonalTimer,
    PersonalWebhook,
};
pub use publishers::InstalledId;
pub use quarantine::{Quarantined, QuarantinedDocument};
pub use recordings::{NewRecording, OpenedRecording, RecordingEntry, RecordingQuery, RecordingUse};
pub use release::{
    NewRelease, Promotion, ReleaseCount, ReleaseEnding, ReleaseRecord, ReleaseSide, ReleaseState,
};
pub use sending::{Attempt, DueDelivery};
pub use signing_keys::KeyPurpose;
pub use standings::StandingSignals;
pub use timers::PendingTimers;
pub use usage::QuotaUse;
pub use versions::{Arrival, DesiredVersion, VersionEntry, VersionRecord, VersionState};
