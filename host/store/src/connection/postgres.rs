//! PostgreSQL: its pool, and the connection that commits.

use super::{
    batch::Batch,
    failover::{Failover, has_ended},
    pool::{self, ServerPool},
    pooler::{self, LOCK_TIMEOUT, Pooling, ServerSettings, connect},
    schema,
    session::Session,
    shares::Shares,
};
use crate::{error::DbError, url::DatabaseUrl};
use portolan_vocabulary::{Quota, Quotas, entropy};
use serde_json::Value;
use sqlx::{
    ConnectOptions as _, Connection as _, Executor as _, PgConnection, PgPool, SqlStr,
    postgres::{PgConnectOptions, PgRow},
};
use std::{
    str::FromStr as _,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// Each statement sees what was committed before it, also after waiting for a lock.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";
/// How long a transaction waits at once until nothing is being committed, how long it pauses, and how long it waits
/// in all.
const ALONE_TURN: Duration = Duration::from_millis(300);
const ALONE_PAUSE: Duration = Duration::from_millis(300);
const ALONE_TIMEOUT: Duration = Duration::from_secs(10);
/// The number of connections outside the pools: one commits, one reads documents, and one validates reads.
const SINGLE_CONNECTIONS: u32 = 3;
/// The number of bytes of rows with which waiting statements are sent before the transaction ends.
const MOST_WAITING: usize = 4 << 20;
/// Keeps PostgreSQL from writing statements that fail to its log, if this user may decide that. The error is written
/// all the same.
const UNLOGGED: &str = "SELECT set_config('log_min_error_statement', 'panic', false)
     WHERE has_parameter_privilege('log_min_error_statement', 'SET')";
/// The same in one transaction.
const UNLOGGED_NOW: &str = "SELECT set_config('log_min_error_statement', 'panic', true)
     WHERE has_parameter_privilege('log_min_error_statement', 'SET')";
/// Lets the statements of a transaction find all rows by keys. New tables have no statistics from which the planner could
/// see that an index is best.
pub(super) const KEY_SETTINGS: &str = "SELECT set_config('enable_seqscan', 'off', true),
     set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
     set_config('jit', 'off', true)";
/// The key of the advisory lock that commits share, and that is exclusive for work during which nothing may be
/// committed: "portolan" as a number.
const COMMIT_LOCK: i64 = i64::from_be_bytes(*b"portolan");
/// The key of the advisory lock under which recordings are added and removed, and erasures are recorded. A transaction that
/// needs the commit lock too takes that one first.
const RECORDINGS_LOCK: i64 = i64::from_be_bytes(*b"recorded");

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
    pub(crate) pool: ServerPool,
    /// For components' queries.
    pub(super) queries: PgPool,
    pub(super) shares: Shares,
    pub(super) pooling: Pooling,
    /// For what other nodes announce; `None` if no connection can listen.
    listening: Option<PgPool>,
    failover: Arc<Failover>,
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
    pub(super) async fn open(url: &str, settings: &ServerSettings) -> Result<Self, DbError> {
        let url = PgConnectOptions::from_str(url)?.application_name("portolan");
        // Opened outside a pool, which would hide the reason of a failure to connect.
        let (mut first, options, pooling) = pooler::open_at_start(&url, settings.pooling).await?;
        let version = schema::server_version(&mut first).await?;
        if version.parse::<u32>().is_ok_and(|version| version < 150_000) {
            return Err(DbError::TooOld(version));
        }
        let direct = match (&settings.direct_url, pooling) {
            (Some(DatabaseUrl::Postgres(url)), Pooling::Transaction) => {
                let url = PgConnectOptions::from_str(url)?.application_name("portolan");
                let (mut server, options, pooling) =
                    pooler::open_at_start(&url, Some(Pooling::None)).await?;
                schema::update(&mut server, pooling).await?;
                Some(options)
            }
            _ => {
                schema::update(&mut first, pooling).await?;
                None
            }
        };
        if pooling == Pooling::Transaction {
            let listens = direct.is_some();
            tracing::info!(listens, "a pooler gives each transaction any of its sessions");
        }
        schema::merge_usage(&mut first, COMMIT_LOCK).await?;
        let batch_locks = schema::batch_locks(&mut first).await?;
        let failover = Arc::default();
        let pooled_connections = settings.connections.saturating_sub(SINGLE_CONNECTIONS);
        let shares = Shares::for_network(pooled_connections / 2);
        let query_options = match pooling {
            Pooling::None => {
                let query_time = default_query_time().as_millis().to_string();
                options.clone().options([("statement_timeout", query_time)])
            }
            Pooling::Transaction => options.clone(),
        };
        let queries = pool::open_lazily(shares.connections(), query_options, &failover);
        let for_work = pooled_connections.saturating_sub(shares.connections()).max(1);
        let connections = pool::open_lazily(for_work, options, &failover);
        let listening = match (pooling, direct) {
            (Pooling::None, _) => Some(connections.clone()),
            (Pooling::Transaction, direct) => {
                direct.map(|options| pool::open_lazily(1, options, &failover))
            }
        };
        let pool = ServerPool::new(connections, pooling, Arc::clone(&failover));
        let usage_part = i64::from_le_bytes(entropy()).checked_abs().unwrap_or(1).max(1);
        let idle_session = Mutex::default();
        Ok(Self {
            pool,
            queries,
            shares,
            pooling,
            listening,
            failover,
            idle_session,
            usage_part,
            batch_locks,
        })
    }

    pub(super) async fn close(&self) {
        self.queries.close().await;
        self.pool.connections().close().await;
        if let Some(listening) = &self.listening {
            listening.close().await;
        }
        if let Some(session) = self.take_idle_session() {
            // The server notices the end of the connection either way.
            let _closed = session.into_connection().close().await;
        }
    }

    /// Returns the connections that can listen to what other nodes announce; `None` if a pooler gives each transaction
    /// another session, and nothing leads to the server itself.
    pub(crate) fn listening(&self) -> Option<&PgPool> {
        self.listening.as_ref()
    }

    /// Returns whether a connection that was opened then may lead to a server that is gone, or is a standby now.
    pub(super) fn is_outdated(&self, opened: Instant) -> bool {
        self.failover.is_outdated(opened)
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
        let idle = self.take_idle_session();
        if let Some(mut session) = idle.filter(|session| !self.is_outdated(session.opened)) {
            match self.send(&mut session, first).await {
                Ok(found) => return Ok((session, found)),
                // The server may have restarted since the last commit.
                Err(error) if has_ended(&error) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let mut session = self.open_session().await?;
        let found = self.send(&mut session, first).await?;
        Ok((session, found))
    }

    async fn send(
        &self,
        session: &mut Session,
        batch: &Batch,
    ) -> Result<Vec<Vec<PgRow>>, sqlx::Error> {
        session.send(batch).await.inspect_err(|error| self.failover.note(error))
    }

    /// Opens a connection outside the pool, whose statements find all rows by keys. Through a pooler, they need
    /// `KEY_SETTINGS` in their transaction.
    pub(crate) async fn connect(&self) -> Result<PgConnection, DbError> {
        Ok(connect(&self.options_for_keys()?).await?)
    }

    /// Opens a session for transactions. As the texts of its statements have content of callers, they are not logged.
    async fn open_session(&self) -> Result<Session, DbError> {
        let mut connection = connect(&self.options_for_keys()?.disable_statement_logging()).await?;
        if self.pooling == Pooling::None
            && let Err(error) = connection.execute(UNLOGGED).await
        {
            tracing::debug!(%error, "PostgreSQL may log the statements of commits");
        }
        Ok(Session::new(connection, self.pooling))
    }

    /// Returns the options of a connection whose statements find all rows by keys. New tables have no statistics from
    /// which the planner could see that an index is best.
    fn options_for_keys(&self) -> Result<PgConnectOptions, DbError> {
        let connections = self.pool.connections();
        if connections.is_closed() {
            return Err(DbError::Closed);
        }
        let options = PgConnectOptions::clone(&connections.connect_options());
        Ok(match self.pooling {
            Pooling::None => options.options([
                ("plan_cache_mode", "force_generic_plan"),
                ("enable_seqscan", "off"),
                ("enable_hashjoin", "off"),
                ("enable_mergejoin", "off"),
                ("jit", "off"),
            ]),
            // The texts of its statements have their rows.
            Pooling::Transaction => options.disable_statement_logging(),
        })
    }
}

impl PostgresTransaction {
    fn new(server: &Arc<PostgresServer>) -> Self {
        let mut waiting = Batch::default();
        match server.pooling {
            Pooling::None => waiting.add(BEGIN),
            Pooling::Transaction => {
                let begin = Pooling::BEGIN.split("; ").chain([KEY_SETTINGS, UNLOGGED_NOW]);
                begin.for_each(|statement| waiting.add(statement));
            }
        }
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
                let found = self.server.send(&mut session, &batch).await?;
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

/// Returns how long a component's query may take if the operator has set no other time.
pub(super) fn default_query_time() -> Duration {
    Quotas::default().time("", Quota::QueryMs)
}
