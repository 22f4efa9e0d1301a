//! The two databases behind the store, and the little in which their SQL differs.

use crate::{
    DatabaseUrl, DbError,
    native::{Reader, Writer},
    signals::Signals,
    transaction::{PostgresServer, Transaction},
};
use serde_json::json;
use sqlx::{
    Connection as _, Executor as _, PgConnection, SqlitePool,
    migrate::Migrator,
    postgres::{PgConnectOptions, PgPoolOptions},
    sqlite::{SqliteConnectOptions, SqliteJournalMode, SqlitePoolOptions, SqliteSynchronous},
};
use std::{
    fs::{File, TryLockError},
    path::{Path, PathBuf},
    str::FromStr as _,
    sync::{Arc, PoisonError},
    time::{Duration, Instant},
};

static SQLITE_MIGRATIONS: Migrator = sqlx::migrate!("src/migrations/sqlite");
static POSTGRES_MIGRATIONS: Migrator = sqlx::migrate!("src/migrations/postgres");

/// How long a statement waits for a connection of the pool.
const ACQUIRE: Duration = Duration::from_secs(2);
/// After so long without use a connection is asked whether it is still there.
const UNSURE: Duration = Duration::from_secs(1);
/// Readers of SQLite: each is a thread of its own.
const SQLITE_READERS: u32 = 4;
const POSTGRES_CONNECTIONS: u32 = 16;

/// An open database.
#[derive(Debug)]
pub(super) enum Backend {
    Sqlite(Sqlite),
    Postgres(Arc<PostgresServer>),
}

#[derive(Debug)]
pub(super) struct Sqlite {
    /// Commits units and makes indexes.
    writer: Writer,
    /// One connection for all other writes, which wait for the writer's turn.
    pub(super) others: SqlitePool,
    pub(super) readers: SqlitePool,
    pub(super) path: PathBuf,
    /// Held while the database is open: two hosts on one file would not know of each other.
    lock: File,
}

/// Runs the same code over the pool that reads, whichever database it is.
macro_rules! read {
    ($store:expr, |$pool:ident| $body:expr) => {
        match &*$store.inner.backend {
            $crate::backend::Backend::Sqlite(sqlite) => {
                let $pool = &sqlite.readers;
                $body
            }
            $crate::backend::Backend::Postgres(server) => {
                let $pool = &server.pool;
                $body
            }
        }
    };
}

/// Runs the same code in a transaction that writes, and commits it.
macro_rules! transact {
    ($store:expr, |$transaction:ident| $body:expr) => {
        match &*$store.inner.backend {
            $crate::backend::Backend::Sqlite(sqlite) => {
                let _turn = sqlite.turn().await?;
                // A read lock cannot become a write lock once another writer was in between.
                let mut $transaction = sqlite.others.begin_with("BEGIN IMMEDIATE").await?;
                let result = $body;
                $transaction.commit().await?;
                result
            }
            $crate::backend::Backend::Postgres(server) => {
                let mut $transaction = server.pool.begin().await?;
                let result = $body;
                $transaction.commit().await?;
                result
            }
        }
    };
}

pub(super) use {read, transact};

/// The newest step of the schema on SQLite that this version knows.
pub(super) fn sqlite_steps() -> i64 {
    newest(&SQLITE_MIGRATIONS)
}

fn newest(migrator: &Migrator) -> i64 {
    migrator.iter().map(|step| step.version).max().unwrap_or(0)
}

/// Steps of the schema before and after a migration.
#[derive(Debug)]
pub struct Steps {
    /// None: there was no schema.
    pub before: Option<i64>,
    pub after: i64,
}

/// Brings the schema of a database up to date, creating the database if there is none.
pub async fn migrate(url: &DatabaseUrl) -> Result<Steps, DbError> {
    // Without a schema, or without a database, there is no such table.
    const STEP: &str = "SELECT max(version) FROM _sqlx_migrations";
    let (before, after) = match url {
        DatabaseUrl::Sqlite(path) => {
            let reader = Reader::open(path);
            let before = reader.and_then(|reader| reader.find(STEP, &[json!([])]));
            (before.unwrap_or_default(), newest(&SQLITE_MIGRATIONS))
        }
        DatabaseUrl::Postgres(url) => {
            let mut connection = PgConnection::connect(url).await?;
            let before = sqlx::query_as(STEP).fetch_all(&mut connection).await;
            connection.close().await?;
            (before.unwrap_or_default(), newest(&POSTGRES_MIGRATIONS))
        }
    };
    Backend::open(url).await?.close().await;
    Ok(Steps { before: before.first().and_then(|(step,)| *step), after })
}

impl Backend {
    /// Opens the database, creating it if there is none, and brings its schema up to date.
    pub(super) async fn open(url: &DatabaseUrl) -> Result<Self, DbError> {
        match url {
            DatabaseUrl::Sqlite(path) => Ok(Self::Sqlite(Sqlite::open(path).await?)),
            DatabaseUrl::Postgres(url) => {
                let options =
                    PgConnectOptions::from_str(url)?.application_name("portolan").options([
                        // A node that hangs must not keep the others waiting.
                        ("idle_in_transaction_session_timeout", "10s"),
                        ("lock_timeout", "10s"),
                    ]);
                // The pool would not say why it gives up.
                let mut first = connect_patiently(&options).await.map_err(|error| {
                    let server = format!("{}:{}", options.get_host(), options.get_port());
                    DbError::NotConnected { server, error }
                })?;
                let version = first.fetch_one("SHOW server_version_num").await?;
                let version: String = sqlx::Row::try_get(&version, 0)?;
                if version.parse::<u32>().is_ok_and(|version| version < 150_000) {
                    return Err(DbError::TooOld(version));
                }
                POSTGRES_MIGRATIONS.run(&mut first).await?;
                let pool = PgPoolOptions::new()
                    .max_connections(POSTGRES_CONNECTIONS)
                    .acquire_timeout(ACQUIRE)
                    .test_before_acquire(false)
                    .before_acquire(|connection, usage| {
                        Box::pin(async move {
                            if usage.idle_for > UNSURE {
                                connection.ping().await?;
                            }
                            Ok(true)
                        })
                    })
                    .connect_lazy_with(options);
                Ok(Self::Postgres(Arc::new(PostgresServer { pool, last: Arc::default() })))
            }
        }
    }

    pub(super) async fn close(&self) {
        match self {
            Self::Sqlite(sqlite) => {
                sqlite.readers.close().await;
                sqlite.others.close().await;
                sqlite.writer.close().await;
                // The file's end would unlock it too, but others may hold on to this value.
                let _unlocked = sqlite.lock.unlock();
            }
            Self::Postgres(server) => {
                server.pool.close().await;
                let last = server.last.lock().unwrap_or_else(PoisonError::into_inner).take();
                if let Some(connection) = last {
                    // The server learns of it either way.
                    let _said = connection.close().await;
                }
            }
        }
    }

    /// The transaction that units are committed in. There is one at a time, on all nodes. On SQLite
    /// it blocks the thread.
    pub(super) async fn begin_commit(&self) -> Result<Transaction, DbError> {
        Ok(match self {
            Self::Sqlite(sqlite) => Transaction::Sqlite(sqlite.writer.begin().await?),
            Self::Postgres(server) => Transaction::Postgres(server.begin().await?),
        })
    }

    /// Runs what keeps using the database: SQLite blocks, and gets a thread for it.
    pub(super) fn spawn(
        &self,
        name: &str,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), DbError> {
        match self {
            Self::Sqlite(_) => {
                let runtime = tokio::runtime::Handle::current();
                let thread = std::thread::Builder::new().name(name.to_owned());
                thread.spawn(move || runtime.block_on(task)).map_err(sqlx::Error::from)?;
            }
            Self::Postgres(_) => drop(tokio::spawn(task)),
        }
        Ok(())
    }

    /// Hears what other nodes tell.
    pub(super) fn listen(&self, signals: Signals) {
        let Self::Postgres(server) = self else { return };
        tokio::spawn(signals.listen(server.pool.clone()));
    }

    pub(super) fn no(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "0",
            Self::Postgres(_) => "false",
        }
    }

    /// What a statement takes its rows from. PostgreSQL gets all of them at once, as JSON; SQLite
    /// gets them one by one, because there is no way to go.
    pub(super) fn rows(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "(SELECT 1) AS e",
            Self::Postgres(_) => "jsonb_array_elements($1::jsonb) AS e(value)",
        }
    }

    /// An element of such a row, as this type.
    pub(super) fn part(&self, place: usize, kind: &str) -> String {
        match self {
            Self::Sqlite(_) => format!("?{}", place + 1),
            Self::Postgres(_) if kind == TEXT => format!("(e.value ->> {place})"),
            Self::Postgres(_) => format!("CAST(e.value ->> {place} AS {kind})"),
        }
    }
}

/// Types of parts, beside those of columns that only PostgreSQL has.
pub(super) const TEXT: &str = "TEXT";
pub(super) const NUMBER: &str = "BIGINT";

impl Sqlite {
    async fn open(path: &Path) -> Result<Self, DbError> {
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
            .busy_timeout(Duration::from_secs(5));
        let pool = || SqlitePoolOptions::new().acquire_timeout(ACQUIRE).test_before_acquire(false);
        let others = pool().max_connections(1).connect_with(options.clone()).await?;
        restrict(path).map_err(|error| DbError::File { path: path.to_owned(), error })?;
        SQLITE_MIGRATIONS.run(&others).await?;
        let readers = pool()
            .max_connections(SQLITE_READERS)
            .connect_with(options.read_only(true).create_if_missing(false))
            .await?;
        let writer = Writer::open(path)?;
        Ok(Self { writer, others, readers, path: path.to_owned(), lock })
    }

    /// Waits until nobody else of this host writes, and keeps them waiting.
    pub(super) async fn turn(&self) -> Result<impl Sized, DbError> {
        self.writer.turn().await
    }
}

/// For a while: a server that has just been started takes no connections yet.
async fn connect_patiently(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    let begun = Instant::now();
    loop {
        match connect(options).await {
            Err(_) if begun.elapsed() < ACQUIRE => tokio::time::sleep(ACQUIRE / 20).await,
            ended => return ended,
        }
    }
}

pub(super) async fn connect(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    let connected = tokio::time::timeout(ACQUIRE, PgConnection::connect_with(options)).await;
    connected.map_err(|_| std::io::Error::from(std::io::ErrorKind::TimedOut))?
}

/// Takes the lock beside the database; the system lets go of it when the process ends.
pub(super) fn lock(path: &Path) -> Result<File, DbError> {
    let mut name = path.as_os_str().to_owned();
    name.push("-lock");
    let file = |error| DbError::File { path: Path::new(&name).to_owned(), error };
    let lock = File::create(&name).map_err(file)?;
    match lock.try_lock() {
        Ok(()) => Ok(lock),
        Err(TryLockError::WouldBlock) => Err(DbError::InUse(path.to_owned())),
        Err(TryLockError::Error(error)) => Err(file(error)),
    }
}

/// Keys and hashes of secrets are in the database: nobody else may read it.
pub fn create_private_folder(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

fn restrict(file: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::set_permissions(file, std::fs::Permissions::from_mode(0o600))
}
