//! The store: SQLite behind one concrete type. The only room that knows SQL.

mod agents;
mod catalog;
mod keys;

pub use agents::{AgentRecord, ClientRecord};
pub use catalog::CatalogState;
pub use keys::SigningKeyRecord;

use sqlx::{
    SqlitePool,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use std::{path::PathBuf, str::FromStr as _, time::Duration};

/// Where the data is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseUrl(PathBuf);

/// Why the store cannot do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    #[error("the database: {0}")]
    Sqlx(#[from] sqlx::Error),
    #[error("the database's schema: {0}")]
    Migrate(#[from] sqlx::migrate::MigrateError),
    #[error("the data folder {}: {error}", folder.display())]
    Folder { folder: PathBuf, error: std::io::Error },
}

impl std::str::FromStr for DatabaseUrl {
    type Err = String;

    /// `sqlite://PATH`.
    fn from_str(url: &str) -> Result<Self, String> {
        match url.strip_prefix("sqlite://") {
            Some(path) if !path.is_empty() => Ok(Self(PathBuf::from(path))),
            _ if url.starts_with("postgres") => {
                Err("this version stores in SQLite only; write sqlite://PATH".to_owned())
            }
            _ => Err("write sqlite://PATH".to_owned()),
        }
    }
}

impl From<PathBuf> for DatabaseUrl {
    fn from(path: PathBuf) -> Self {
        Self(path)
    }
}

/// The host's records.
#[derive(Debug, Clone)]
pub struct Store {
    /// One connection: SQLite has one writer at a time.
    writer: SqlitePool,
    readers: SqlitePool,
}

impl Store {
    /// Opens the database, creating it if there is none, and brings its schema up to date.
    pub async fn open(url: &DatabaseUrl) -> Result<Self, DbError> {
        let path = &url.0;
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            create_private_folder(folder)
                .map_err(|error| DbError::Folder { folder: folder.to_owned(), error })?;
        }
        let options = SqliteConnectOptions::from_str("sqlite://")?
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            .busy_timeout(Duration::from_secs(5));
        let writer =
            SqlitePoolOptions::new().max_connections(1).connect_with(options.clone()).await?;
        restrict(path).map_err(|error| DbError::Folder { folder: path.clone(), error })?;
        sqlx::migrate!("src/db/migrations").run(&writer).await?;
        let readers = SqlitePoolOptions::new()
            .max_connections(4)
            .connect_with(options.read_only(true).create_if_missing(false))
            .await?;
        Ok(Self { writer, readers })
    }

    /// Writes everything out and lets go of the files.
    pub async fn close(&self) {
        self.readers.close().await;
        self.writer.close().await;
    }
}

/// Keys and hashes of secrets are in the database: nobody else may read it.
fn create_private_folder(folder: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn restrict(file: &std::path::Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600))
}

/// SQLite stores signed integers.
fn signed(millis: u64) -> i64 {
    i64::try_from(millis).unwrap_or(i64::MAX)
}

fn unsigned(millis: i64) -> u64 {
    u64::try_from(millis).unwrap_or(0)
}
