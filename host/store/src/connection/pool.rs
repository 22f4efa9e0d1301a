//! The connections for the host's work, and the executors that run statements on them.
//!
//! sqlx sends the text of a statement with parameters first and the parameters after the answer, and keeps the statement
//! under a name in the session. Through a pooler that gives each transaction another session, both must be in one
//! transaction, and no statement may have a name.

use super::{failover::Failover, pooler::Pooling, timeout::ACQUIRE_TIMEOUT};
use futures_util::{
    FutureExt as _, StreamExt as _, TryFutureExt as _, TryStreamExt as _,
    future::BoxFuture,
    stream::{self, BoxStream},
};
use sqlx::{
    Connection as _, Describe, Either, Error, Execute, Executor, PgPool, Postgres, SqlStr,
    error::BoxDynError,
    postgres::{
        PgArguments, PgConnectOptions, PgPoolOptions, PgQueryResult, PgRow, PgStatement, PgTypeInfo,
    },
};
use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
    time::Duration,
};

/// A connection that was idle for longer than this is tested before it is used.
const PING_AFTER_IDLE: Duration = Duration::from_secs(1);

type Step = Either<PgQueryResult, PgRow>;

/// The connections for the host's work. Each statement that is run on it is a transaction of its own.
#[derive(Debug)]
pub(crate) struct ServerPool {
    connections: PgPool,
    pooling: Pooling,
    failover: Arc<Failover>,
}

/// A transaction on a connection of the pool, which is rolled back when it is dropped without a commit.
#[derive(Debug)]
pub(crate) struct PoolTransaction(Begun);

/// The statements of a transaction that has begun.
#[derive(Debug)]
pub(crate) struct Begun {
    transaction: sqlx::Transaction<'static, Postgres>,
    pooling: Pooling,
    failover: Arc<Failover>,
}

/// A statement that is not kept in its session.
struct Unnamed<E>(E);

impl ServerPool {
    pub(super) fn new(connections: PgPool, pooling: Pooling, failover: Arc<Failover>) -> Self {
        Self { connections, pooling, failover }
    }

    /// Returns the connections themselves. What runs on them must be a single simple query, or a transaction whose
    /// statements have no names.
    pub(crate) fn connections(&self) -> &PgPool {
        &self.connections
    }

    pub(crate) async fn begin(&self) -> Result<PoolTransaction, Error> {
        let begun = match self.pooling {
            Pooling::None => self.connections.begin().await,
            Pooling::Transaction => {
                begin(&self.connections, SqlStr::from_static(Pooling::BEGIN)).await
            }
        };
        let transaction = begun.inspect_err(|error| self.failover.note(error))?;
        let failover = Arc::clone(&self.failover);
        Ok(PoolTransaction(Begun { transaction, pooling: self.pooling, failover }))
    }
}

impl PoolTransaction {
    pub(crate) async fn commit(self) -> Result<(), Error> {
        let Self(Begun { transaction, failover, .. }) = self;
        transaction.commit().await.inspect_err(|error| failover.note(error))
    }
}

impl Deref for PoolTransaction {
    type Target = Begun;

    fn deref(&self) -> &Begun {
        &self.0
    }
}

impl DerefMut for PoolTransaction {
    fn deref_mut(&mut self) -> &mut Begun {
        &mut self.0
    }
}

impl<'c> Executor<'c> for &'c ServerPool {
    type Database = Postgres;

    fn fetch_many<'e, 'q, E>(self, query: E) -> BoxStream<'e, Result<Step, Error>>
    where
        'c: 'e,
        E: Execute<'q, Postgres>,
        'q: 'e,
        E: 'q,
    {
        match self.pooling {
            Pooling::None => {
                let (steps, failover) = (self.connections.fetch_many(query), &self.failover);
                steps.inspect_err(move |error| failover.note(error)).boxed()
            }
            Pooling::Transaction => {
                let run = async move {
                    let mut transaction = self.begin().await?;
                    let steps: Vec<Step> = transaction.fetch_many(query).try_collect().await?;
                    transaction.commit().await?;
                    Ok::<_, Error>(stream::iter(steps.into_iter().map(Ok::<Step, Error>)))
                };
                run.try_flatten_stream().boxed()
            }
        }
    }

    fn fetch_optional<'e, 'q, E>(self, query: E) -> BoxFuture<'e, Result<Option<PgRow>, Error>>
    where
        'c: 'e,
        E: Execute<'q, Postgres>,
        'q: 'e,
        E: 'q,
    {
        match self.pooling {
            Pooling::None => {
                let (row, failover) = (self.connections.fetch_optional(query), &self.failover);
                row.inspect_err(move |error| failover.note(error)).boxed()
            }
            Pooling::Transaction => {
                let run = async move {
                    let mut transaction = self.begin().await?;
                    let row = transaction.fetch_optional(query).await?;
                    transaction.commit().await?;
                    Ok::<_, Error>(row)
                };
                run.boxed()
            }
        }
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement, Error>>
    where
        'c: 'e,
    {
        self.connections.prepare_with(sql, parameters)
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Postgres>, Error>>
    where
        'c: 'e,
    {
        self.connections.describe(sql)
    }
}

impl<'c> Executor<'c> for &'c mut Begun {
    type Database = Postgres;

    fn fetch_many<'e, 'q, E>(self, query: E) -> BoxStream<'e, Result<Step, Error>>
    where
        'c: 'e,
        E: Execute<'q, Postgres>,
        'q: 'e,
        E: 'q,
    {
        let Begun { transaction, pooling, failover } = self;
        let steps = match pooling {
            Pooling::None => transaction.fetch_many(query),
            Pooling::Transaction => transaction.fetch_many(Unnamed(query)),
        };
        steps.inspect_err(move |error| failover.note(error)).boxed()
    }

    fn fetch_optional<'e, 'q, E>(self, query: E) -> BoxFuture<'e, Result<Option<PgRow>, Error>>
    where
        'c: 'e,
        E: Execute<'q, Postgres>,
        'q: 'e,
        E: 'q,
    {
        let Begun { transaction, pooling, failover } = self;
        let row = match pooling {
            Pooling::None => transaction.fetch_optional(query),
            Pooling::Transaction => transaction.fetch_optional(Unnamed(query)),
        };
        row.inspect_err(move |error| failover.note(error)).boxed()
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [PgTypeInfo],
    ) -> BoxFuture<'e, Result<PgStatement, Error>>
    where
        'c: 'e,
    {
        self.transaction.prepare_with(sql, parameters)
    }

    fn describe<'e>(self, sql: SqlStr) -> BoxFuture<'e, Result<Describe<Postgres>, Error>>
    where
        'c: 'e,
    {
        self.transaction.describe(sql)
    }
}

impl<'q, E: Execute<'q, Postgres>> Execute<'q, Postgres> for Unnamed<E> {
    fn sql(self) -> SqlStr {
        self.0.sql()
    }

    fn statement(&self) -> Option<&PgStatement> {
        self.0.statement()
    }

    fn take_arguments(&mut self) -> Result<Option<PgArguments>, BoxDynError> {
        self.0.take_arguments()
    }

    fn persistent(&self) -> bool {
        false
    }
}

/// Begins a transaction with these statements. It is begun and rolled back also if the caller is gone meanwhile, as when
/// its call has timed out: sqlx rolls back only what it knows to have begun, so the pool would get a connection that keeps
/// a session of the pooler, in a transaction that nobody ends.
pub(super) async fn begin(
    connections: &PgPool,
    statements: SqlStr,
) -> Result<sqlx::Transaction<'static, Postgres>, Error> {
    let connection = connections.acquire().await?;
    let begin = sqlx::Transaction::<'static, Postgres>::begin(connection, Some(statements));
    tokio::spawn(begin).await.unwrap_or(Err(Error::WorkerCrashed))
}

/// Makes a pool of at most so many connections, which are opened when they are needed.
pub(super) fn open_lazily(
    connections: u32,
    options: PgConnectOptions,
    failover: &Arc<Failover>,
) -> PgPool {
    let failover = Arc::clone(failover);
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .test_before_acquire(false)
        .before_acquire(move |connection, usage| {
            let is_outdated = failover.is_too_old(usage.age);
            Box::pin(async move {
                if !is_outdated && usage.idle_for > PING_AFTER_IDLE {
                    connection.ping().await?;
                }
                Ok(!is_outdated)
            })
        })
        .connect_lazy_with(options)
}
