//! The queries of components. A query may take a limited time, and runs within the share of its capability.

use super::{
    backend::Backend,
    native::{FromNative, QueryConnection},
    pool,
    pooler::Pooling,
    postgres::{PostgresServer, default_query_time},
    timeout::ACQUIRE_TIMEOUT,
};
use crate::error::DbError;
use futures_util::{Stream, TryStreamExt as _};
use rustix::time::{ClockId, clock_gettime};
use sea_query::{PostgresQueryBuilder, SelectStatement, SqliteQueryBuilder};
use sea_query_sqlx::{SqlxBinder as _, SqlxValues};
use sqlx::{AssertSqlSafe, FromRow, Postgres, SqlSafeStr as _, postgres::PgRow};
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

/// The longest time-out of a statement that PostgreSQL accepts.
const LONGEST_MS: u128 = i32::MAX as u128;

/// The statements of one query. On SQLite, a component's running statement is cancelled when this is dropped;
/// on PostgreSQL it continues, at most until its time-out.
#[derive(Debug)]
pub(crate) struct Queries {
    backend: Arc<Backend>,
    /// The capability whose share the statements use; `None` for a query of the host itself, whose
    /// statements do not wait for a share and are not cancelled.
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
    pub(crate) async fn fetch<T: FromEither>(
        &self,
        statement: &SelectStatement,
    ) -> Result<Vec<T>, DbError> {
        self.fetch_while(statement, |_| true).await.map(|(fetched, _)| fetched)
    }

    /// Fetches rows one by one as long as they are wanted. Returns the wanted rows, and whether an unwanted
    /// one has ended the fetch.
    pub(crate) async fn fetch_while<T: FromEither>(
        &self,
        statement: &SelectStatement,
        is_wanted: impl FnMut(&T) -> bool + Send + 'static,
    ) -> Result<(Vec<T>, bool), DbError> {
        let fetched = match &*self.backend {
            Backend::Sqlite(_) => self.fetch_from_sqlite(statement, is_wanted).await.map(Some),
            Backend::Postgres(_) => self.fetch_from_postgres(statement, is_wanted).await,
        };
        let limit = self.budget.limit.as_millis();
        let over_budget = || DbError::OverBudget(u64::try_from(limit).unwrap_or(u64::MAX));
        match fetched {
            Ok(fetched) => fetched.ok_or_else(over_budget),
            Err(error) if is_cancellation(&error) => Err(over_budget()),
            Err(error) => Err(error),
        }
    }

    /// Fetches the rows of a statement. The statement has the share of its capability for its own time only: a
    /// long call, which runs in a thread of low priority, must not keep a share from others while it waits for
    /// a processor.
    async fn fetch_from_sqlite<T: FromEither>(
        &self,
        statement: &SelectStatement,
        is_wanted: impl FnMut(&T) -> bool + Send + 'static,
    ) -> Result<(Vec<T>, bool), DbError> {
        let Backend::Sqlite(sqlite) = &*self.backend else { return Err(DbError::Closed) };
        let pool = Arc::clone(&sqlite.queries);
        let (sql, values) = statement.build(SqliteQueryBuilder);
        let may_continue =
            self.capability.as_ref().map(|_| Arc::clone(&self.budget).progress_handler());
        let fetch = move |connection: &QueryConnection| {
            connection.fetch(&sql, &values, may_continue, is_wanted)
        };
        let Some(capability) = self.capability.clone() else {
            let permit = Arc::clone(&pool.host).acquire_owned();
            let permit = tokio::time::timeout(ACQUIRE_TIMEOUT, permit).await;
            let permit = permit.map_err(|_| DbError::TimedOut)?.map_err(|_| DbError::Closed)?;
            return pool.run(permit, fetch).await;
        };
        if let Some(share) = sqlite.shares.try_acquire(&capability) {
            return pool.run(share, fetch).await;
        }
        let backend = Arc::clone(&self.backend);
        let waiting = Arc::clone(&pool);
        pool.spawn(async move {
            let Backend::Sqlite(sqlite) = &*backend else { return Err(DbError::Closed) };
            waiting.run(sqlite.shares.acquire(&capability).await?, fetch).await
        })
        .await
    }

    /// Fetches the rows of a statement. Returns `None` if the statements before it have used up the query's
    /// time.
    async fn fetch_from_postgres<T: FromEither>(
        &self,
        statement: &SelectStatement,
        is_wanted: impl FnMut(&T) -> bool + Send + 'static,
    ) -> Result<Option<(Vec<T>, bool)>, DbError> {
        let Backend::Postgres(server) = &*self.backend else { return Err(DbError::Closed) };
        let (server, budget) = (Arc::clone(server), Arc::clone(&self.budget));
        let capability = self.capability.clone();
        let statement = statement.build_sqlx(PostgresQueryBuilder);
        // A task of its own, because the statement occupies its connection even if the call ends meanwhile.
        let fetching = tokio::spawn(async move {
            let _share = match &capability {
                Some(capability) => Some(server.shares.acquire(capability).await?),
                None => None,
            };
            run_on_postgres(&server, (statement, &budget, capability.is_some()), is_wanted).await
        });
        fetching.await.map_err(|_| DbError::Closed)?
    }
}

/// A type that is read from a row of either database.
pub(crate) trait FromEither:
    FromNative + for<'r> FromRow<'r, PgRow> + Send + Unpin + 'static
{
}

impl<T: FromNative + for<'r> FromRow<'r, PgRow> + Send + Unpin + 'static> FromEither for T {}

/// Runs a statement, which may take as long as the whole query.
async fn run_on_postgres<T: FromEither>(
    server: &PostgresServer,
    ((sql, values), budget, is_of_component): ((String, SqlxValues), &Budget, bool),
    is_wanted: impl FnMut(&T) -> bool,
) -> Result<Option<(Vec<T>, bool)>, DbError> {
    let begun = Instant::now();
    if budget.taken() >= budget.limit {
        return Ok(None);
    }
    let connections = match is_of_component {
        true => &server.queries,
        false => server.pool.connections(),
    };
    let limit = budget.limit.as_millis().min(LONGEST_MS);
    let fetched = match server.pooling {
        Pooling::None => {
            let has_own_limit = is_of_component && budget.limit != default_query_time();
            let mut connection = connections.acquire().await?;
            if has_own_limit {
                let limit = format!("SET statement_timeout = {limit}");
                sqlx::raw_sql(AssertSqlSafe(limit)).execute(&mut *connection).await?;
            }
            let rows = sqlx::query_as_with(AssertSqlSafe(sql), values).fetch(&mut *connection);
            let fetched = take_while(rows, is_wanted).await;
            if has_own_limit {
                sqlx::raw_sql("RESET statement_timeout").execute(&mut *connection).await?;
            }
            fetched
        }
        Pooling::Transaction => {
            let mut begin = Pooling::BEGIN.to_owned();
            if is_of_component {
                begin.push_str(&format!("; SET LOCAL statement_timeout = {limit}"));
            }
            let begin = AssertSqlSafe(begin).into_sql_str();
            let mut transaction = pool::begin(connections, begin).await?;
            let query = sqlx::query_as_with::<Postgres, T, _>(AssertSqlSafe(sql), values);
            let rows = query.persistent(false).fetch(&mut *transaction);
            let fetched = take_while(rows, is_wanted).await;
            transaction.rollback().await?;
            fetched
        }
    };
    budget.taken_us.fetch_add(micros(begun.elapsed()), Ordering::Relaxed);
    Ok(Some(fetched?))
}

async fn take_while<T>(
    mut rows: impl Stream<Item = Result<T, sqlx::Error>> + Unpin,
    mut is_wanted: impl FnMut(&T) -> bool,
) -> Result<(Vec<T>, bool), sqlx::Error> {
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
fn is_cancellation(error: &DbError) -> bool {
    match error {
        DbError::Native(error) => {
            error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted)
        }
        DbError::Sqlx(error) => {
            error.as_database_error().and_then(|error| error.code()).as_deref() == Some("57014")
        }
        _ => false,
    }
}
