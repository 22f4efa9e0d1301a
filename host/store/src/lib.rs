//! The store: SQLite or PostgreSQL behind one concrete type. The only room that knows SQL.

mod apply;
mod audit;
mod backend;
mod backlog;
mod backup;
mod catalog;
mod collections;
mod commit;
mod dead_letters;
mod documents;
mod effects;
mod failure;
mod fanout;
mod find;
mod idempotency;
mod inbox;
mod index;
mod keys;
mod lookup;
mod native;
pub mod query;
mod recent;
mod select;
mod sending;
mod signals;
mod statements;
mod sweep;
mod timers;
mod transaction;
mod unit;
mod webhooks;

pub use audit::{AuditEntry, AuditQuery, Outcome};
pub use backend::{Steps, create_private_folder, migrate};
pub use backlog::Backlog;
pub use backup::{backup, pg_dump, pg_restore, restore};
pub use catalog::{CatalogState, Served};
pub use collections::{Collection, Collections, shape};
pub use commit::{Attachments, Spot, Verdict};
pub use dead_letters::DeadLetter;
pub use documents::{Document, Expectation, StateError};
pub use effects::{
    Audience, AuditRecord, IdempotencyKey, KeptAnswer, NewEvent, Order, Task, TimerChange, TimerKey,
};
pub use find::{Counted, Hit, Page};
pub use inbox::{Gap, InboxEntry};
pub use keys::SigningKeyRecord;
pub use sending::{Attempt, DueDelivery};
pub use signals::News;
pub use timers::{ATTEMPTS, DueWork};
pub use unit::Unit;
pub use webhooks::{Delivery, DeliveryOutcome, Health, Webhook, WebhookState};

use backend::{Backend, read, transact};
use collections::Layouts;
use commit::{Committer, Database};
use lookup::Lookup;
use portolan_vocabulary::Keyring;
use signals::Signals;
use statements::Statements;
use std::{fmt, path::PathBuf, sync::Arc};
use tokio::sync::broadcast;

/// Where the data is.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    Sqlite(PathBuf),
    /// The URL as PostgreSQL's own tools take it.
    Postgres(String),
}

/// Why the store cannot do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    #[error("the database: {0}")]
    Sqlx(sqlx::Error),
    #[error("the database: {0}")]
    Native(rusqlite::Error),
    #[error("the database's schema: {0}")]
    Migrate(sqlx::migrate::MigrateError),
    #[error(
        "the database's schema is of a newer version of Portolan (it has step {0}, which this one does not know); start that version, or restore a backup from before it"
    )]
    Newer(i64),
    #[error(
        "cannot write {}: {error}; let this user write there, or choose another folder with --data-dir",
        path.display()
    )]
    File { path: PathBuf, error: std::io::Error },
    #[error(
        "cannot use {}: {error}; it must be a sound SQLite database that this user may write to: restore a backup if it is damaged",
        path.display()
    )]
    Unusable { path: PathBuf, error: Box<DbError> },
    #[error(
        "cannot connect to PostgreSQL at {server}: {error}; see that it runs and takes connections, and that database_url is right"
    )]
    NotConnected { server: String, error: sqlx::Error },
    #[error("another host uses {}; stop it, or give this one a database of its own", .0.display())]
    InUse(PathBuf),
    #[error("{} is there already; name a file that is not", .0.display())]
    Exists(PathBuf),
    #[error("cannot read {}: {error}", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{} is not a database of Portolan", .0.display())]
    NotADatabase(PathBuf),
    #[error("{} is damaged: {fault}; restore a backup", path.display())]
    Damaged { path: PathBuf, fault: String },
    #[error("the kept declaration of {0} cannot be read")]
    Declaration(String),
    #[error(
        "documents that are there already share a value of a unique index of the collection {0}"
    )]
    NotUnique(String),
    #[error(
        "the document {id} of the collection {collection} cannot be indexed as declared: {error}"
    )]
    Unindexable { collection: String, id: String, error: String },
    #[error("{0}")]
    Shared(Arc<DbError>),
    #[error("the database is busy for longer than a write waits, such as with a new index")]
    Busy,
    #[error("the database does not answer")]
    Silent,
    #[error("the store is closed")]
    Closed,
    #[error("PostgreSQL 15 or newer is needed; this server is version {0}")]
    TooOld(String),
}

// Their texts are part of this one's; as its sources they would be told twice.
impl From<sqlx::Error> for DbError {
    fn from(error: sqlx::Error) -> Self {
        Self::Sqlx(error)
    }
}

impl From<rusqlite::Error> for DbError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Native(error)
    }
}

impl From<sqlx::migrate::MigrateError> for DbError {
    fn from(error: sqlx::migrate::MigrateError) -> Self {
        match error {
            sqlx::migrate::MigrateError::VersionMissing(step) => Self::Newer(step),
            other => Self::Migrate(other),
        }
    }
}

impl DbError {
    /// Whether the database refused what it was given, and would take something else.
    fn is_about_content(&self) -> bool {
        // SQLite: too big, a broken constraint, a wrong type, each with extended codes above the
        // lowest eight bits. PostgreSQL: data exceptions, broken constraints, program limits.
        match self {
            Self::Native(rusqlite::Error::SqliteFailure(error, _)) => {
                matches!(error.extended_code & 0xff, 18..=20)
            }
            Self::Sqlx(sqlx::Error::Database(error)) => {
                let code = error.code().unwrap_or_default();
                ["22", "23", "54"].iter().any(|class| code.starts_with(class))
            }
            _ => false,
        }
    }
}

impl std::str::FromStr for DatabaseUrl {
    type Err = String;

    /// `sqlite://PATH` or `postgres://USER:PASSWORD@HOST:PORT/NAME`.
    fn from_str(url: &str) -> Result<Self, String> {
        const FIX: &str = "write sqlite://PATH or postgres://USER:PASSWORD@HOST:PORT/NAME";
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return match url.parse::<sqlx::postgres::PgConnectOptions>() {
                Ok(_) => Ok(Self::Postgres(url.to_owned())),
                Err(error) => Err(format!("{error}; {FIX}")),
            };
        }
        match url.strip_prefix("sqlite://") {
            Some(path) if !path.is_empty() => Ok(Self::Sqlite(PathBuf::from(path))),
            _ => Err(FIX.to_owned()),
        }
    }
}

impl From<PathBuf> for DatabaseUrl {
    fn from(path: PathBuf) -> Self {
        Self::Sqlite(path)
    }
}

impl fmt::Debug for DatabaseUrl {
    /// Without the password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(formatter, "sqlite://{}", path.display()),
            Self::Postgres(_) => formatter.write_str("postgres://…"),
        }
    }
}

/// The host's records and its capabilities' documents.
#[derive(Debug, Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    backend: Arc<Backend>,
    statements: Arc<Statements>,
    committer: Committer,
    lookup: Lookup,
    /// What commits tell, on this node and on others.
    signals: Signals,
    layouts: Layouts,
    keys: Keyring,
    /// Keys that cursors are signed with, the newest first.
    cursor_keys: Vec<[u8; 32]>,
}

impl Store {
    /// Opens the database, creating it if there is none, and brings its schema up to date.
    pub async fn open(url: &DatabaseUrl, keys: &Keyring) -> Result<Self, DbError> {
        let backend = Arc::new(Backend::open(url).await?);
        let statements = Arc::new(Statements::new(&backend));
        let layouts = Layouts::default();
        let signals = Signals::new();
        let committer = Committer::start(Database {
            backend: Arc::clone(&backend),
            statements: Arc::clone(&statements),
            layouts: layouts.clone(),
            signals: signals.clone(),
        })?;
        backend.listen(signals.clone());
        let lookup = Lookup::start(&backend, Arc::clone(&statements))?;
        let cursor_keys = keys.derive(Keyring::CURSORS);
        let keys = keys.clone();
        let inner =
            Inner { backend, statements, committer, lookup, signals, layouts, keys, cursor_keys };
        let store = Self { inner: Arc::new(inner) };
        store.free_leases().await?;
        Ok(store)
    }

    /// The host's secret keys.
    pub fn keys(&self) -> &Keyring {
        &self.inner.keys
    }

    /// Waits until a commit, on this node or another one, has made new work.
    pub async fn new_work(&self) {
        self.inner.signals.work.notified().await;
    }

    /// Waits until there is something to be sent.
    pub async fn new_sending(&self) {
        self.inner.signals.sending.notified().await;
    }

    /// Whose inboxes have something new, from now on.
    pub fn inbox_news(&self) -> broadcast::Receiver<News> {
        self.inner.signals.inboxes.subscribe()
    }

    /// Writes everything out and lets go of the files.
    pub async fn close(&self) {
        self.inner.backend.close().await;
    }
}

/// Both databases store signed integers.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

fn unsigned(number: i64) -> u64 {
    u64::try_from(number).unwrap_or(0)
}
