//! PostgreSQL: its pool, and the connection that commits.

use super::{
    shares::Shares,
    timeout::{ACQUIRE_TIMEOUT, OPEN_TIMEOUT},
};
use crate::error::DbError;
use portolan_vocabulary::{Quota, Quotas};
use sqlx::{
    AssertSqlSafe, Connection as _, Executor as _, PgConnection, PgPool,
    migrate::Migrator,
    postgres::{PgConnectOptions, PgPoolOptions},
};
use std::{
    str::FromStr as _,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

static MIGRATIONS: Migrator = sqlx::migrate!("src/migrations/postgres");

/// A connection that was idle for longer than this is tested before it is used.
const PING_AFTER_IDLE: Duration = Duration::from_secs(1);
const CONNECTIONS: u32 = 16;
/// The pause between attempts to connect while the host starts.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// The key of the advisory lock under which nodes commit: "portolan" as a number.
const COMMIT_LOCK: i64 = i64::from_be_bytes(*b"portolan");

/// Returns the newest step of the schema that this version knows.
pub(super) fn newest_step() -> i64 {
    MIGRATIONS.iter().map(|step| step.version).max().unwrap_or(0)
}

/// Returns the statement that waits for the commit lock and keeps it until the end of the transaction.
pub(super) fn commit_lock() -> String {
    format!("SELECT pg_advisory_xact_lock({COMMIT_LOCK})")
}

#[derive(Debug)]
pub(crate) struct PostgresServer {
    pub(crate) pool: PgPool,
    /// For components' queries.
    pub(super) queries: PgPool,
    pub(super) shares: Shares,
    /// The connection of the last commit, for the next one. A pool would test it before and after each use.
    pub(crate) idle_connection: Arc<Mutex<Option<PgConnection>>>,
}

pub(crate) struct PostgresTransaction {
    connection: Option<PgConnection>,
    idle_connection: Arc<Mutex<Option<PgConnection>>>,
}

impl PostgresServer {
    pub(super) async fn open(url: &str) -> Result<Self, DbError> {
        let options = PgConnectOptions::from_str(url)?.application_name("portolan").options([
            // A node that hangs must not block the others.
            ("idle_in_transaction_session_timeout", "10s"),
            ("lock_timeout", "10s"),
        ]);
        // Opened outside a pool, which would hide the reason of a failure to connect.
        let mut first = connect_with_retries(&options).await.map_err(|error| {
            let server = format!("{}:{}", options.get_host(), options.get_port());
            DbError::NotConnected { server, error }
        })?;
        let version = first.fetch_one("SHOW server_version_num").await?;
        let version: String = sqlx::Row::try_get(&version, 0)?;
        if version.parse::<u32>().is_ok_and(|version| version < 150_000) {
            return Err(DbError::TooOld(version));
        }
        MIGRATIONS.run(&mut first).await?;
        let shares = Shares::for_network();
        let query_time = default_query_time().as_millis().to_string();
        let queries = pool(shares.connections())
            .connect_lazy_with(options.clone().options([("statement_timeout", query_time)]));
        let pool = pool(CONNECTIONS).connect_lazy_with(options);
        Ok(Self { pool, queries, shares, idle_connection: Arc::default() })
    }

    pub(super) async fn close(&self) {
        self.queries.close().await;
        self.pool.close().await;
        let idle_connection =
            self.idle_connection.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(connection) = idle_connection {
            // The server notices the end of the connection either way.
            let _closed = connection.close().await;
        }
    }

    /// Waits until no other node commits, and begins a transaction.
    pub(crate) async fn begin(&self) -> Result<PostgresTransaction, DbError> {
        let idle_connection =
            self.idle_connection.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(connection) = idle_connection {
            match self.begin_on(connection).await {
                // The server may have restarted since the last commit.
                Err(DbError::Sqlx(error)) if error.as_database_error().is_none() => {}
                begun => return begun,
            }
        }
        self.begin_on(self.connect().await?).await
    }

    /// Opens a connection outside the pool.
    pub(crate) async fn connect(&self) -> Result<PgConnection, DbError> {
        if self.pool.is_closed() {
            return Err(DbError::Closed);
        }
        let options = self.pool.connect_options();
        // The statements on these connections find all rows by keys. New tables have no statistics from
        // which the planner could see that an index is best.
        let options = PgConnectOptions::clone(&options).options([
            ("plan_cache_mode", "force_generic_plan"),
            ("enable_seqscan", "off"),
            ("enable_hashjoin", "off"),
            ("enable_mergejoin", "off"),
            ("jit", "off"),
        ]);
        Ok(connect(&options).await?)
    }

    async fn begin_on(&self, connection: PgConnection) -> Result<PostgresTransaction, DbError> {
        let idle_connection = Arc::clone(&self.idle_connection);
        let mut transaction = PostgresTransaction { connection: Some(connection), idle_connection };
        transaction.execute(format!("BEGIN; {}", commit_lock())).await?;
        Ok(transaction)
    }
}

impl PostgresTransaction {
    pub(super) fn connection(&mut self) -> Result<&mut PgConnection, DbError> {
        self.connection.as_mut().ok_or(DbError::Closed)
    }

    pub(super) async fn execute(&mut self, sql: String) -> Result<(), DbError> {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(self.connection()?).await?;
        Ok(())
    }

    pub(super) async fn finish(mut self, sql: String) -> Result<(), DbError> {
        self.execute(sql).await?;
        *self.idle_connection.lock().unwrap_or_else(PoisonError::into_inner) =
            self.connection.take();
        Ok(())
    }
}

/// Returns how long a component's query may take if the operator has set no other time.
pub(super) fn default_query_time() -> Duration {
    Quotas::default().time("", Quota::QueryMs)
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

/// Retries for a short time, because a server that has just started accepts no connections yet.
async fn connect_with_retries(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    let begun = Instant::now();
    loop {
        match connect(options).await {
            Err(_) if begun.elapsed() < OPEN_TIMEOUT => tokio::time::sleep(RETRY_INTERVAL).await,
            ended => return ended,
        }
    }
}

async fn connect(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    let connected =
        tokio::time::timeout(ACQUIRE_TIMEOUT, PgConnection::connect_with(options)).await;
    connected.map_err(|_| std::io::Error::from(std::io::ErrorKind::TimedOut))?
}
