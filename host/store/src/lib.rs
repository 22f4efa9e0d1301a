//! The store: SQLite or PostgreSQL behind one concrete type. The only crate that knows SQL.

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
mod store;
mod unit;
mod url;
mod webhook;

pub use changes::Attachments;
pub use commit::{ConflictKey, News, Verdict};
pub use connection::{Steps, backup, create_private_folder, migrate, pg_dump, pg_restore, restore};
pub use document::{Document, Expectation};
pub use effects::{
    Audience, AuditRecord, IdempotencyKey, KeptAnswer, NewEvent, OutboxCommand, Task, TimerChange,
    TimerKey,
};
pub use error::{DbError, StateError};
pub use query::{Collection, Collections, shape};
pub use records::{
    Attempt, AuditEntry, AuditQuery, Backlog, CatalogState, DeadLetter, DueDelivery, DueWork, Gap,
    InboxEntry, MAX_ATTEMPTS, Outcome, Served, SigningKeyRecord,
};
pub use store::Store;
pub use unit::{Counted, Hit, Page, Unit};
pub use url::DatabaseUrl;
pub use webhook::{Delivery, DeliveryOutcome, Health, Webhook, WebhookState};
