//! The errors of the store, and the failures that callers see in their place.

use crate::usage::ExceededQuota;
use portolan_vocabulary::{ErrorCode, Failure, KeySealError, RETRY_SOON_S, UndeclaredPerson};
use serde_json::json;
use std::{borrow::Cow, path::PathBuf, sync::Arc};

/// A failure of the database or its files.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    #[error("the database: {0}")]
    Sqlx(sqlx::Error),
    #[error("the database: {0}")]
    Native(rusqlite::Error),
    #[error("the database's schema: {0}")]
    Migrate(sqlx::migrate::MigrateError),
    #[error(
        "the database's schema belongs to a newer version of Portolan (this version does not know step {0}); start that version, or restore an older backup"
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
        "cannot connect to PostgreSQL at {server}: {error}; check that the server runs and accepts connections, and that database_url is right"
    )]
    NotConnected { server: String, error: sqlx::Error },
    #[error(
        "{server} is a pooler and not PostgreSQL itself ({reason}): set its pool_mode to transaction, and database_pooler to \"transaction\" or leave it out, or name PostgreSQL itself"
    )]
    Pooler { server: String, reason: String },
    #[error("another host uses {}; stop it, or give this host its own database", .0.display())]
    InUse(PathBuf),
    #[error(
        "{} was deleted or replaced while this host uses it, so writes would be lost and are refused; stop the host, put the file back or restore a backup, and start the host again",
        .0.display()
    )]
    Replaced(PathBuf),
    #[error("{} exists already; name a new file", .0.display())]
    Exists(PathBuf),
    #[error("cannot read {}: {error}", path.display())]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{} is not a database of Portolan", .0.display())]
    NotADatabase(PathBuf),
    #[error("{} is damaged: {fault}; restore a backup", path.display())]
    Damaged { path: PathBuf, fault: String },
    #[error("the stored declaration of {0} cannot be parsed")]
    Declaration(String),
    #[error("existing documents share a value of a unique index of the collection {0}")]
    NotUnique(String),
    #[error(
        "the document {id} of the collection {collection} cannot be indexed as declared: {error}"
    )]
    Unindexable { collection: String, id: String, error: String },
    #[error(
        "the documents of the collection {0} were migrated by another node, or their migration was given up"
    )]
    GenerationReplaced(String),
    #[error("{0}")]
    Shared(Arc<DbError>),
    #[error("a query took longer than {0} ms")]
    OverBudget(u64),
    #[error("the database is busy, for example with a new index, and the write timed out")]
    Busy,
    #[error("the database does not answer in time")]
    TimedOut,
    #[error("the store is closed")]
    Closed,
    #[error("PostgreSQL 15 or newer is needed; this server is version {0}")]
    TooOld(String),
}

// `#[from]` would make these errors sources of `DbError`. Their texts are part of its text already, so a
// report of the error with its sources would print them twice.
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
    /// Returns whether the database refused this content and would accept other content.
    pub(crate) fn is_about_content(&self) -> bool {
        // SQLite: too big, a broken constraint, a wrong type, each with extended codes above the
        // lowest eight bits. PostgreSQL: data exceptions, broken constraints, program limits.
        match self {
            Self::Native(rusqlite::Error::SqliteFailure(error, _)) => {
                matches!(error.extended_code & 0xff, 18..=20)
            }
            _ => self
                .postgres_code()
                .is_some_and(|code| ["22", "23", "54"].iter().any(|class| code.starts_with(class))),
        }
    }

    /// Returns whether the database cannot contain a character of a text that it was sent: U+0000 on PostgreSQL.
    fn is_about_characters(&self) -> bool {
        match self {
            Self::Shared(error) => error.is_about_characters(),
            _ => matches!(self.postgres_code().as_deref(), Some("22021" | "22P05")),
        }
    }

    /// Returns whether another transaction has kept a lock for longer than this one waits.
    pub(crate) fn is_lock_timeout(&self) -> bool {
        self.postgres_code().as_deref() == Some("55P03")
    }

    /// Returns whether the transaction and another one waited for each other, or PostgreSQL has no room for all
    /// of its locks.
    pub(crate) fn is_about_locks(&self) -> bool {
        matches!(self.postgres_code().as_deref(), Some("40P01" | "53200"))
    }

    /// Returns PostgreSQL's code of the error (SQLSTATE).
    fn postgres_code(&self) -> Option<Cow<'_, str>> {
        match self {
            Self::Sqlx(sqlx::Error::Database(error)) => error.code(),
            _ => None,
        }
    }
}

/// The refusal of a capability's request to the store.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The text is for the capability's author.
    #[error("{0}")]
    Invalid(String),
    #[error(
        "undeclared_person: the document names a person at {}: declare the path in the people of the collection {collection}",
        person.at
    )]
    UndeclaredPerson { person: UndeclaredPerson, collection: String },
    #[error(
        "the document is not as the write expects: it exists, is missing or has another revision"
    )]
    Conflict,
    #[error("a unique value belongs to the document {0}")]
    Duplicate(String),
    #[error("{0}")]
    Limit(String),
    #[error("the cursor is not one of this query")]
    CursorInvalid,
    #[error(transparent)]
    Db(DbError),
}

/// The reason why a signing key of the host cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeyError {
    #[error("the signing key {0} cannot be read: {1}")]
    Unreadable(String, String),
    #[error(transparent)]
    Seal(#[from] KeySealError),
    #[error(transparent)]
    Db(#[from] DbError),
}

impl From<DbError> for StateError {
    fn from(error: DbError) -> Self {
        match error {
            DbError::OverBudget(ms) => Self::Limit(format!(
                "the query would take longer than {ms} ms, the capability's quota query_ms: restrict it to fewer documents, with an index that its filter and its order can use"
            )),
            other => Self::Db(other),
        }
    }
}

impl From<DbError> for Failure {
    fn from(error: DbError) -> Self {
        match error.is_about_characters() {
            true => Self::new(ErrorCode::ValidationFailed).message(
                "A text has a character that the database cannot contain, such as U+0000. Leave it out.",
            ),
            false => Self::new(ErrorCode::DependencyUnavailable).after_s(RETRY_SOON_S),
        }
    }
}

impl From<ExceededQuota> for Failure {
    fn from(exceeded: ExceededQuota) -> Self {
        let ExceededQuota { capability, quota, limit, wait } = exceeded;
        let name = quota.name();
        let message = format!(
            "The capability {capability} has used up its quota {name}. The operator can raise it."
        );
        let conflict =
            json!({ "kind": "limit", "name": name, "limit": limit, "capability": capability });
        let failure = Self::new(ErrorCode::QuotaExceeded).message(message).conflict(conflict);
        match wait {
            Some(wait) => failure.after_s(wait.as_secs_f64().ceil() as u32),
            None => failure,
        }
    }
}

impl From<StateError> for Failure {
    fn from(error: StateError) -> Self {
        match error {
            StateError::CursorInvalid => Self::new(ErrorCode::CursorInvalid),
            StateError::Db(error) => error.into(),
            _ => Self::new(ErrorCode::InternalError),
        }
    }
}
