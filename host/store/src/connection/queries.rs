//! The queries of components. A query may take a limited time, and runs within the share of its capability.

use super::{
    backend::Backend,
    postgres::{PostgresServer, default_query_time},
    sqlite::Sqlite,
};
use crate::error::DbError;
use futures_util::{Stream, TryStreamExt as _};
use rustix::time::{ClockId, clock_gettime};
use sea_query::{PostgresQueryBuilder, SelectStatement, SqliteQueryBuilder};
use sea_query_sqlx::SqlxBinder as _;
use sqlx::{AssertSqlSafe, FromRow, postgres::PgRow, sqlite::SqliteRow};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// The number of SQLite's instructions between two checks of the clock: some tens of microseconds.
const INSTRUCTIONS: i32 = 4_000;

/// The longest time-out of a statement that PostgreSQL accepts.
const LONGEST_MS: u128 = i32::MAX as u128;

/// The statements of one query. On SQLite, a component's running statement is cancelled when this is dropped;
/// on PostgreSQL it continues, at most until its time-out.
#[derive(Debug)]
pub(crate) struct Queries {
    backend: Arc<Backend>,
    /// Whose share the statements use; `None` for a query of the host itself, whose statements do not wait
    /// for a share and are not cancelled.
    capability: Option<Arc<str>>,
    budget: Arc<Budget>,
}

/// The time that a query may take.
#[derive(Debug)]
struct Budget {
    limit: Duration,
    /// The time that the query's statements have taken, in microseconds. On SQLite this is processor time,
    /// which a busy machine does not lengthen.
    taken_us: AtomicU64,
    cancelled: AtomicBool,
}

impl Drop for Queries {
    fn drop(&mut self) {
        self.budget.cancelled.store(true, Ordering::Relaxed);
    }
}

impl Queries {
    /// Begins a query of a capability. Its statements together may take `limit`. An empty capability means the
    /// host.
    pub(crate) fn begin(backend: &Arc<Backend>, capability: &str, limit: Duration) -> Self {
        let capability = Some(capability).filter(|id| !id.is_empty()).map(Arc::from);
        let (taken_us, cancelled) = (AtomicU64::new(0), AtomicBool::new(false));
        let budget = Arc::new(Budget { limit, taken_us, cancelled });
        Self { backend: Arc::clone(backend), capability, budget }
    }

    /// Fetches the rows of a statement.
    pub(crate) async fn fetch<T>(&self, statement: &SelectStatement) -> Result<Vec<T>, DbError>
    where
        T: Send + Unpin + 'static + for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow>,
    {
        self.fetch_while(statement, |_| true).await.map(|(fetched, _)| fetched)
    }

    /// Fetches rows one by one as long as they are wanted. Returns the wanted rows, and whether an unwanted
    /// one has ended the fetch.
    pub(crate) async fn fetch_while<T>(
        &self,
        statement: &SelectStatement,
        is_wanted: impl FnMut(&T) -> bool + Send + 'static,
    ) -> Result<(Vec<T>, bool), DbError>
    where
        T: Send + Unpin + 'static + for<'r> FromRow<'r, SqliteRow> + for<'r> FromRow<'r, PgRow>,
    {
        let (backend, budget) = (Arc::clone(&self.backend), Arc::clone(&self.budget));
        let capability = self.capability.clone();
        let limit = self.budget.limit.as_millis();
        let limit_ms = u64::try_from(limit).unwrap_or(u64::MAX);
        let statement = statement.clone();
        // A task of its own, because the statement occupies its connection even if the call ends meanwhile. It
        // has the share for the time of the statement only: a long call, which runs in a thread of low priority,
        // must not keep a connection from others while it waits for a processor.
        let fetched = tokio::spawn(async move {
            let shares = match &*backend {
                Backend::Sqlite(sqlite) => &sqlite.shares,
                Backend::Postgres(server) => &server.shares,
            };
            let _share = match &capability {
                Some(capability) => Some(shares.acquire(capability).await?),
                None => None,
            };
            let of_component = capability.is_some().then_some(&budget);
            match &*backend {
                Backend::Sqlite(sqlite) => {
                    fetch_from_sqlite(sqlite, &statement, of_component, is_wanted).await.map(Some)
                }
                Backend::Postgres(server) => {
                    let fetch = (&statement, &*budget, capability.is_some());
                    fetch_from_postgres(server, fetch, is_wanted).await
                }
            }
            .map_err(DbError::from)
        });
        match fetched.await.map_err(|_| DbError::Closed)? {
            Ok(Some(fetched)) => Ok(fetched),
            Ok(None) => Err(DbError::OverBudget(limit_ms)),
            Err(DbError::Sqlx(error)) if is_cancellation(&error) => {
                Err(DbError::OverBudget(limit_ms))
            }
            Err(error) => Err(error),
        }
    }
}

type Fetched<T> = Result<(Vec<T>, bool), sqlx::Error>;

/// Fetches the rows of a statement. `budget` is that of a component's query.
async fn fetch_from_sqlite<T>(
    sqlite: &Sqlite,
    statement: &SelectStatement,
    budget: Option<&Arc<Budget>>,
    is_wanted: impl FnMut(&T) -> bool,
) -> Fetched<T>
where
    T: Send + Unpin + for<'r> FromRow<'r, SqliteRow>,
{
    let mut connection = match budget {
        Some(_) => sqlite.queries.acquire().await?,
        None => sqlite.readers.acquire().await?,
    };
    if let Some(budget) = budget {
        // The connection keeps the handler until its next query, so the handler must not hold the share.
        let progress_handler = Arc::clone(budget).progress_handler();
        connection.lock_handle().await?.set_progress_handler(INSTRUCTIONS, progress_handler);
    }
    let (sql, values) = statement.build_sqlx(SqliteQueryBuilder);
    let rows = sqlx::query_as_with(AssertSqlSafe(sql), values).fetch(&mut *connection);
    take_while(rows, is_wanted).await
}

/// Fetches the rows of a statement, which may take as long as the whole query. Returns `None` if the
/// statements before it have used up the query's time.
async fn fetch_from_postgres<T>(
    server: &PostgresServer,
    (statement, budget, is_of_component): (&SelectStatement, &Budget, bool),
    is_wanted: impl FnMut(&T) -> bool,
) -> Result<Option<(Vec<T>, bool)>, sqlx::Error>
where
    T: Send + Unpin + for<'r> FromRow<'r, PgRow>,
{
    let begun = Instant::now();
    if budget.taken() >= budget.limit {
        return Ok(None);
    }
    let mut connection = match is_of_component {
        true => server.queries.acquire().await?,
        false => server.pool.acquire().await?,
    };
    let has_own_limit = is_of_component && budget.limit != default_query_time();
    if has_own_limit {
        let limit = budget.limit.as_millis().min(LONGEST_MS);
        let limit = format!("SET statement_timeout = {limit}");
        sqlx::raw_sql(AssertSqlSafe(limit)).execute(&mut *connection).await?;
    }
    let (sql, values) = statement.build_sqlx(PostgresQueryBuilder);
    let rows = sqlx::query_as_with(AssertSqlSafe(sql), values).fetch(&mut *connection);
    let fetched = take_while(rows, is_wanted).await;
    if has_own_limit {
        sqlx::raw_sql("RESET statement_timeout").execute(&mut *connection).await?;
    }
    budget.taken_us.fetch_add(micros(begun.elapsed()), Ordering::Relaxed);
    fetched.map(Some)
}

async fn take_while<T>(
    mut rows: impl Stream<Item = Result<T, sqlx::Error>> + Unpin,
    mut is_wanted: impl FnMut(&T) -> bool,
) -> Fetched<T> {
    let mut fetched = Vec::new();
    while let Some(row) = rows.try_next().await? {
        if !is_wanted(&row) {
            return Ok((fetched, true));
        }
        fetched.push(row);
    }
    Ok((fetched, false))
}

impl Budget {
    fn taken(&self) -> Duration {
        Duration::from_micros(self.taken_us.load(Ordering::Relaxed))
    }

    /// Returns the progress handler of the next statement. The thread that runs the statement calls it; it
    /// returns whether the statement may continue.
    fn progress_handler(self: Arc<Self>) -> impl FnMut() -> bool + Send + 'static {
        let before = self.taken();
        let mut begun = None;
        move || {
            let now = processor_time();
            let taken = before + now.saturating_sub(*begun.get_or_insert(now));
            self.taken_us.store(micros(taken), Ordering::Relaxed);
            taken < self.limit && !self.cancelled.load(Ordering::Relaxed)
        }
    }
}

/// Returns the processor time that this thread has used.
fn processor_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    let seconds = Duration::from_secs(u64::try_from(time.tv_sec).unwrap_or(0));
    seconds + Duration::from_nanos(u64::try_from(time.tv_nsec).unwrap_or(0))
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Returns whether the database has cancelled a statement: `SQLITE_INTERRUPT`, or `query_canceled` of
/// PostgreSQL.
fn is_cancellation(error: &sqlx::Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    matches!(code.as_deref(), Some("9" | "57014"))
}
