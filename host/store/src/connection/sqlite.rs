//! SQLite: its file, the lock file next to it, its pools and its writer.

use super::{
    native::Writer,
    place::Place,
    query_pool::QueryPool,
    shares::Shares,
    timeout::{ACQUIRE_TIMEOUT, OPEN_TIMEOUT},
};
use crate::error::DbError;
use sqlx::{
    Connection as _, SqlitePool,
    migrate::Migrator,
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, Instant},
};

static MIGRATIONS: Migrator = sqlx::migrate!("src/migrations/sqlite");

/// The number of connections for the host's own reads; each one has a thread.
const READERS: u32 = 4;

#[derive(Debug)]
pub(crate) struct Sqlite {
    /// The connection that commits units of work and makes indexes.
    pub(super) writer: Writer,
    /// One connection for all other writes, which wait for the writer.
    pub(crate) write_pool: SqlitePool,
    /// For the host's own reads.
    pub(crate) readers: SqlitePool,
    /// For queries, of components and of the host itself.
    pub(super) queries: Arc<QueryPool>,
    pub(super) shares: Shares,
    pub(crate) path: PathBuf,
    /// The database and its lock file as they were opened.
    places: Box<[Place; 2]>,
    /// The lock file, which is locked while the database is open, because two hosts on one file would
    /// overwrite each other.
    lock: File,
}

/// Returns the newest step of the schema that this version knows.
pub(super) fn newest_step() -> i64 {
    MIGRATIONS.iter().map(|step| step.version).max().unwrap_or(0)
}

impl Sqlite {
    pub(super) async fn open(path: &Path) -> Result<Self, DbError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            create_private_folder(folder)
                .map_err(|error| DbError::File { path: folder.to_owned(), error })?;
        }
        let lock = lock(path)?;
        let unusable = |error| DbError::Unusable { path: path.to_owned(), error: Box::new(error) };
        Self::open_file(path, lock).await.map_err(|error| match error {
            DbError::Sqlx(_) | DbError::Native(_) | DbError::Migrate(_) => unusable(error),
            other => other,
        })
    }

    async fn open_file(path: &Path, lock: File) -> Result<Self, DbError> {
        let options = SqliteConnectOptions::new()
            .filename(path)
            .create_if_missing(true)
            .journal_mode(SqliteJournalMode::Wal)
            .synchronous(SqliteSynchronous::Full)
            .foreign_keys(true)
            // Deleted content is overwritten, because it may be about a person.
            .pragma("secure_delete", "ON")
            .busy_timeout(Duration::from_secs(5));
        let pool =
            || SqlitePoolOptions::new().acquire_timeout(ACQUIRE_TIMEOUT).test_before_acquire(false);
        // SQLite rolls back by itself when the disk fails, and then the connection's own rollback fails: such a
        // connection would begin no further transaction.
        let writing = pool().max_connections(1).before_acquire(|connection, _| {
            let is_usable = !connection.is_in_transaction();
            Box::pin(async move { Ok(is_usable) })
        });
        let write_pool = open_pool(writing, options.clone()).await?;
        restrict(path).map_err(|error| DbError::File { path: path.to_owned(), error })?;
        MIGRATIONS.run(&write_pool).await?;
        let read_only = options.read_only(true).create_if_missing(false);
        let readers = open_pool(pool().max_connections(READERS), read_only).await?;
        let shares = Shares::for_processors();
        let queries = QueryPool::open(path, READERS as usize)?;
        let writer = Writer::open(path)?;
        let place = |path: &Path| {
            Place::of(path).map_err(|error| DbError::File { path: path.to_owned(), error })
        };
        let places = Box::new([place(path)?, place(&lock_path(path))?]);
        let path = path.to_owned();
        Ok(Self { writer, write_pool, readers, queries, shares, path, places, lock })
    }

    /// Ensures that the files were neither deleted nor replaced: writes into them would be lost, and another host
    /// could use what is in their place.
    pub(super) fn ensure_in_place(&self) -> Result<(), DbError> {
        self.places.iter().try_for_each(Place::ensure_unchanged)
    }

    /// Waits until nothing else in this host writes, and blocks all other writes until the guard is dropped.
    pub(crate) async fn lock_writer(&self) -> Result<impl Sized, DbError> {
        self.ensure_in_place()?;
        self.writer.lock().await
    }

    pub(super) async fn close(&self) {
        self.shares.close().await;
        self.queries.close();
        self.readers.close().await;
        self.write_pool.close().await;
        self.writer.close().await;
        // Dropping the file would unlock it too, but clones of the store may still own this value.
        let _unlocked = self.lock.unlock();
    }
}

/// Opens a pool and its first connection, and retries while the machine is too busy for that.
async fn open_pool(
    pool: SqlitePoolOptions,
    options: SqliteConnectOptions,
) -> Result<SqlitePool, sqlx::Error> {
    let begun = Instant::now();
    loop {
        match pool.clone().connect_with(options.clone()).await {
            Err(sqlx::Error::PoolTimedOut) if begun.elapsed() < OPEN_TIMEOUT => {}
            ended => return ended,
        }
    }
}

/// Locks the file `…-lock` next to the database; the system releases the lock when the process ends. The
/// error is `InUse` if another process has the lock.
pub(super) fn lock(path: &Path) -> Result<File, DbError> {
    let name = lock_path(path);
    let file = |error| DbError::File { path: name.clone(), error };
    let lock = File::create(&name).map_err(file)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(DbError::InUse(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(file(error)),
    }
}

/// Returns the lock file of a database.
pub(super) fn lock_path(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-lock");
    PathBuf::from(name)
}

/// Creates a folder that only this user may read, because the database holds keys and hashes.
pub fn create_private_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn restrict(file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600))
}
