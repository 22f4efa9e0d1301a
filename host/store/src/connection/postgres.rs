//! PostgreSQL: its pool, and the connection that commits.

use super::{
    batch::Batch,
    pooler,
    session::Session,
    shares::Shares,
    timeout::{ACQUIRE_TIMEOUT, OPEN_TIMEOUT},
};
use crate::error::DbError;
use portolan_vocabulary::{Quota, Quotas, entropy};
use serde_json::Value;
use sqlx::{
    ConnectOptions as _, Connection as _, Executor as _, PgConnection, PgPool, SqlStr,
    migrate::Migrator,
    postgres::{PgConnectOptions, PgPoolOptions, PgRow},
};
use std::{
    str::FromStr as _,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

static MIGRATIONS: Migrator = sqlx::migrate!("src/migrations/postgres");

/// Each statement sees what was committed before it, also after waiting for a lock.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
/// How long a transaction waits at once until nothing is being committed, how long it pauses, and how long it waits
/// in all.
const ALONE_TURN: Duration = Duration::from_millis(300);
const ALONE_PAUSE: Duration = Duration::from_millis(300);
const ALONE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a statement waits for a lock.
const LOCK_TIMEOUT: &str = "10s";
/// A connection that was idle for longer than this is tested before it is used.
const PING_AFTER_IDLE: Duration = Duration::from_secs(1);
const CONNECTIONS: u32 = 16;
/// The first characters of PostgreSQL's codes for an end of the session from outside, such as a restart.
const OPERATOR_INTERVENTION: &str = "57P";
/// The number of bytes of rows with which waiting statements are sent before the transaction ends.
const MOST_WAITING: usize = 4 << 20;
/// Keeps PostgreSQL from writing statements that fail to its log, if this user may decide that. The error is written
/// all the same.
const UNLOGGED: &str = "SELECT set_config('log_min_error_statement', 'panic', false)
     WHERE has_parameter_privilege('log_min_error_statement', 'SET')";
/// The pause between attempts to connect while the host starts.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// The key of the advisory lock that commits share, and that is exclusive for work during which nothing may be
/// committed: "portolan" as a number.
const COMMIT_LOCK: i64 = i64::from_be_bytes(*b"portolan");
/// The key of the advisory lock under which recordings are added and removed, and erasures are recorded. A transaction that
/// needs the commit lock too takes that one first.
const RECORDINGS_LOCK: i64 = i64::from_be_bytes(*b"recorded");

/// Returns the newest step of the schema that this version knows.
pub(super) fn newest_step() -> i64 {
    MIGRATIONS.iter().map(|step| step.version).max().unwrap_or(0)
}

/// Returns the statement that waits until nothing is being committed, and lets nothing be committed until the end
/// of the transaction.
pub(super) fn commit_lock() -> String {
    format!("SELECT pg_advisory_xact_lock({COMMIT_LOCK})")
}

/// Returns the statement that waits until no recordings are being added or removed, and lets none be until the end of
/// the transaction.
pub(super) fn recordings_lock() -> String {
    format!("SELECT pg_advisory_xact_lock({RECORDINGS_LOCK})")
}

#[derive(Debug)]
pub(crate) struct PostgresServer {
    pub(crate) pool: PgPool,
    /// For components' queries.
    pub(super) queries: PgPool,
    pub(super) shares: Shares,
    /// The session of the last commit, for the next one. A pool would test it before and after each use.
    idle_session: Mutex<Option<Session>>,
    /// The part of the counts of usage that this node adds to.
    usage_part: i64,
    /// The maximum number of locks that a batch should take. The server has room for several such batches.
    pub(crate) batch_locks: usize,
}

/// How long a commit waits for its locks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LockTimeouts {
    /// For transactions that must be alone.
    pub(crate) commit: Duration,
    /// For each lock that another node keeps.
    pub(crate) each: Duration,
}

/// A transaction whose statements wait until the result of one of them is needed, so that they need few round trips.
pub(crate) struct PostgresTransaction {
    server: Arc<PostgresServer>,
    state: State,
    /// The statements that were not sent yet; at first those that begin the transaction.
    waiting: Batch,
}

enum State {
    /// Nothing was sent.
    New,
    Begun(Session),
    /// Statements have failed.
    Failed,
}

impl PostgresServer {
    pub(super) async fn open(url: &str) -> Result<Self, DbError> {
        let options = PgConnectOptions::from_str(url)?.application_name("portolan").options([
            // A node that hangs must not block the others.
            pooler::IDLE_TIMEOUT,
            ("lock_timeout", LOCK_TIMEOUT),
        ]);
        // Opened outside a pool, which would hide the reason of a failure to connect.
        let mut first = connect_with_retries(&options)
            .await
            .map_err(|error| pooler::not_connected(&options, error))?;
        pooler::ensure_own_session(&mut first, &options).await?;
        let version = first.fetch_one("SHOW server_version_num").await?;
        let version: String = sqlx::Row::try_get(&version, 0)?;
        if version.parse::<u32>().is_ok_and(|version| version < 150_000) {
            return Err(DbError::TooOld(version));
        }
        MIGRATIONS.run(&mut first).await?;
        merge_usage(&mut first).await?;
        let batch_locks = batch_locks(&mut first).await?;
        let shares = Shares::for_network();
        let query_time = default_query_time().as_millis().to_string();
        let queries = pool(shares.connections())
            .connect_lazy_with(options.clone().options([("statement_timeout", query_time)]));
        let pool = pool(CONNECTIONS).connect_lazy_with(options);
        let usage_part = i64::from_le_bytes(entropy()).checked_abs().unwrap_or(1).max(1);
        let idle_session = Mutex::default();
        Ok(Self { pool, queries, shares, idle_session, usage_part, batch_locks })
    }

    pub(super) async fn close(&self) {
        self.queries.close().await;
        self.pool.close().await;
        if let Some(session) = self.take_idle_session() {
            // The server notices the end of the connection either way.
            let _closed = session.into_connection().close().await;
        }
    }

    fn take_idle_session(&self) -> Option<Session> {
        self.idle_session.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Begins a transaction in which nothing else is committed on any node. While it waits, all commits wait behind
    /// it; so that a node that hangs in a commit does not stop the others, it waits in short turns.
    pub(crate) async fn begin_alone(self: &Arc<Self>) -> Result<PostgresTransaction, DbError> {
        let turn = ALONE_TURN.as_millis();
        let begun = Instant::now();
        loop {
            let mut transaction = PostgresTransaction::new(self);
            let waiting = &mut transaction.waiting;
            waiting.add(format!("SELECT set_config('lock_timeout', '{turn}', true)"));
            waiting.add(commit_lock());
            waiting.add(format!("SELECT set_config('lock_timeout', '{LOCK_TIMEOUT}', true)"));
            match transaction.send().await {
                Ok(_) => return Ok(transaction),
                Err(error) if error.is_lock_timeout() && begun.elapsed() < ALONE_TIMEOUT => {
                    tokio::time::sleep(ALONE_PAUSE).await;
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Begins a transaction under these locks: the number of each, in ascending order, and whether it is exclusive.
    /// They are taken by the statements that are sent first.
    pub(crate) fn begin_shared(
        self: &Arc<Self>,
        locks: &[(i64, bool)],
        timeouts: LockTimeouts,
    ) -> PostgresTransaction {
        let (mut high, mut low, mut exclusive) = (Vec::new(), Vec::new(), Vec::new());
        for (number, is_exclusive) in locks {
            // Two halves, because locks with one number are for the commit lock.
            high.push((number >> 32).to_string());
            low.push((*number as i32).to_string());
            exclusive.push(if *is_exclusive { "t" } else { "f" });
        }
        let (high, low, exclusive) = (high.join(","), low.join(","), exclusive.join(","));
        let part = self.usage_part;
        let (commit, each) = (timeouts.commit.as_millis(), timeouts.each.as_millis());
        let mut transaction = PostgresTransaction::new(self);
        let waiting = &mut transaction.waiting;
        waiting.add(format!(
            "SELECT set_config('portolan.part', '{part}', true), set_config('lock_timeout', '{commit}', true)"
        ));
        waiting.add(format!("SELECT pg_advisory_xact_lock_shared({COMMIT_LOCK})"));
        // The lock of this node, because a transaction of which it has lost the connection may still end: what it
        // wrote, such as audit rows, must be seen by the next one.
        waiting.add(format!("SELECT pg_advisory_xact_lock({part})"));
        waiting.add(format!("SELECT set_config('lock_timeout', '{each}', true)"));
        waiting.add(format!(
            "SELECT CASE WHEN l.exclusive THEN pg_advisory_xact_lock(l.high, l.low)
                 ELSE pg_advisory_xact_lock_shared(l.high, l.low) END
             FROM (SELECT * FROM unnest('{{{high}}}'::integer[], '{{{low}}}'::integer[], '{{{exclusive}}}'::boolean[])
                 WITH ORDINALITY AS k(high, low, exclusive, place) ORDER BY place) l"
        ));
        waiting.add(format!("SELECT set_config('lock_timeout', '{LOCK_TIMEOUT}', true)"));
        transaction
    }

    /// Sends the first statements of a transaction, perhaps twice, so the one that commits must not be among them.
    async fn begin(&self, first: &Batch) -> Result<(Session, Vec<Vec<PgRow>>), DbError> {
        if let Some(mut session) = self.take_idle_session() {
            match session.send(first).await {
                Ok(found) => return Ok((session, found)),
                // The server may have restarted since the last commit.
                Err(error) if has_ended(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let mut session = self.open_session().await?;
        let found = session.send(first).await?;
        Ok((session, found))
    }

    /// Opens a connection outside the pool.
    pub(crate) async fn connect(&self) -> Result<PgConnection, DbError> {
        Ok(connect(&self.options_for_keys()?).await?)
    }

    /// Opens a session for transactions. As the texts of its statements have content of callers, they are not logged.
    async fn open_session(&self) -> Result<Session, DbError> {
        let mut connection = connect(&self.options_for_keys()?.disable_statement_logging()).await?;
        if let Err(error) = connection.execute(UNLOGGED).await {
            tracing::debug!(%error, "PostgreSQL may log the statements of commits");
        }
        Ok(Session::new(connection))
    }

    /// Returns the options of a connection whose statements find all rows by keys. New tables have no statistics from
    /// which the planner could see that an index is best.
    fn options_for_keys(&self) -> Result<PgConnectOptions, DbError> {
        if self.pool.is_closed() {
            return Err(DbError::Closed);
        }
        let options = self.pool.connect_options();
        Ok(PgConnectOptions::clone(&options).options([
            ("plan_cache_mode", "force_generic_plan"),
            ("enable_seqscan", "off"),
            ("enable_hashjoin", "off"),
            ("enable_mergejoin", "off"),
            ("jit", "off"),
        ]))
    }
}

impl PostgresTransaction {
    fn new(server: &Arc<PostgresServer>) -> Self {
        let mut waiting = Batch::default();
        waiting.add(BEGIN);
        Self { server: Arc::clone(server), state: State::New, waiting }
    }

    /// Adds a statement over rows to those that wait.
    pub(super) async fn run(&mut self, sql: &SqlStr, rows: Vec<Value>) -> Result<(), DbError> {
        self.waiting.run(sql, rows);
        if self.waiting.bytes() > MOST_WAITING {
            self.send().await?;
        }
        Ok(())
    }

    /// Sends the waiting statements and these queries, and returns what each query has found. Sends nothing if no
    /// query has rows.
    pub(super) async fn find_all(
        &mut self,
        queries: Vec<(&SqlStr, Vec<Value>)>,
    ) -> Result<Vec<Vec<PgRow>>, DbError> {
        let mut have_rows = Vec::with_capacity(queries.len());
        for (sql, rows) in queries {
            have_rows.push(!rows.is_empty());
            if !rows.is_empty() {
                self.waiting.find(sql, rows);
            }
        }
        let found = match have_rows.contains(&true) {
            true => self.send().await?,
            false => Vec::new(),
        };
        let mut found = found.into_iter();
        let of_query = |has_rows| match has_rows {
            true => found.next().unwrap_or_default(),
            false => Vec::new(),
        };
        Ok(have_rows.into_iter().map(of_query).collect())
    }

    /// Runs a statement without rows after those that wait.
    pub(super) async fn execute(&mut self, sql: String) -> Result<(), DbError> {
        self.waiting.add(sql);
        self.send().await.map(drop)
    }

    /// Sends the waiting statements, and returns what the queries among them have found.
    pub(super) async fn send(&mut self) -> Result<Vec<Vec<PgRow>>, DbError> {
        if self.waiting.is_empty() {
            return Ok(Vec::new());
        }
        let batch = std::mem::take(&mut self.waiting);
        let (session, found) = match std::mem::replace(&mut self.state, State::Failed) {
            State::New => self.server.begin(&batch).await?,
            State::Begun(mut session) => {
                let found = session.send(&batch).await?;
                (session, found)
            }
            State::Failed => return Err(DbError::Closed),
        };
        self.state = State::Begun(session);
        Ok(found)
    }

    /// Sends the waiting statements and commits.
    pub(super) async fn commit(mut self) -> Result<(), DbError> {
        if matches!(self.state, State::New) {
            self.send().await?;
        }
        self.end("COMMIT").await
    }

    /// Forgets the waiting statements and undoes the others.
    pub(super) async fn roll_back(mut self) -> Result<(), DbError> {
        self.waiting = Batch::default();
        match self.state {
            State::New => Ok(()),
            _ => self.end("ROLLBACK").await,
        }
    }

    async fn end(mut self, statement: &str) -> Result<(), DbError> {
        self.waiting.add(statement);
        self.send().await?;
        if let State::Begun(session) = self.state {
            let mut idle = self.server.idle_session.lock().unwrap_or_else(PoisonError::into_inner);
            *idle = Some(session);
        }
        Ok(())
    }
}

/// Returns whether an error is about a session that has ended: the connection is lost, or the server says so.
fn has_ended(error: &sqlx::Error) -> bool {
    match error.as_database_error() {
        None => true,
        Some(error) => error.code().is_some_and(|code| code.starts_with(OPERATOR_INTERVENTION)),
    }
}

/// Returns how long a component's query may take if the operator has set no other time.
pub(super) fn default_query_time() -> Duration {
    Quotas::default().time("", Quota::QueryMs)
}

/// Adds the counts of usage of all nodes together, unless something is being committed. Nodes that run count on from
/// zero.
async fn merge_usage(connection: &mut PgConnection) -> Result<(), DbError> {
    const MERGE: &str = "WITH parts AS (DELETE FROM collection_usage WHERE part <> 0 RETURNING *)
         INSERT INTO collection_usage AS u (collection, part, documents, tombstones, bytes)
         SELECT collection, 0, sum(documents), sum(tombstones), sum(bytes) FROM parts GROUP BY collection
         ON CONFLICT (collection, part) DO UPDATE SET documents = u.documents + excluded.documents,
             tombstones = u.tombstones + excluded.tombstones, bytes = u.bytes + excluded.bytes;
         WITH parts AS (DELETE FROM timer_usage WHERE part <> 0 RETURNING *)
         INSERT INTO timer_usage AS u (capability, part, timers, bytes)
         SELECT capability, 0, sum(timers), sum(bytes) FROM parts GROUP BY capability
         ON CONFLICT (capability, part) DO UPDATE SET timers = u.timers + excluded.timers,
             bytes = u.bytes + excluded.bytes";
    let mut transaction = connection.begin().await?;
    let is_alone: bool = sqlx::query_scalar("SELECT pg_try_advisory_xact_lock($1)")
        .bind(COMMIT_LOCK)
        .fetch_one(&mut *transaction)
        .await?;
    if is_alone {
        sqlx::raw_sql(MERGE).execute(&mut *transaction).await?;
    }
    Ok(transaction.commit().await?)
}

/// Returns how many locks a batch should take at most: a sixteenth of those for which the server has room.
async fn batch_locks(connection: &mut PgConnection) -> Result<usize, DbError> {
    const ROOM: &str = "SELECT CAST(current_setting('max_locks_per_transaction') AS BIGINT)
        * (CAST(current_setting('max_connections') AS BIGINT)
           + CAST(current_setting('max_prepared_transactions') AS BIGINT))";
    let room: i64 = sqlx::query_scalar(ROOM).fetch_one(connection).await?;
    Ok(usize::try_from(room / 16).unwrap_or(0))
}

fn pool(connections: u32) -> PgPoolOptions {
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        .before_acquire(|connection, usage| {
            Box::pin(async move {
                if usage.idle_for > PING_AFTER_IDLE {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
}

/// Retries for a short time, because a server that has just started accepts no connections yet. A pooler refuses again.
async fn connect_with_retries(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    let begun = Instant::now();
    loop {
        match connect(options).await {
            Err(error) if pooler::refusal(&error).is_none() && begun.elapsed() < OPEN_TIMEOUT => {
                tokio::time::sleep(RETRY_INTERVAL).await;
            }
            ended => return ended,
        }
    }
}

async fn connect(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    let connected =
        tokio::time::timeout(ACQUIRE_TIMEOUT, PgConnection::connect_with(options)).await;
    connected.map_err(|_| std::io::Error::from(std::io::ErrorKind::TimedOut))?
}
