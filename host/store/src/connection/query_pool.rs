//! SQLite's connections for queries. A query runs to its end in a thread for blocking work, so it costs two thread
//! switches, however many rows it finds: each switch can wait for a busy processor.

use super::native::QueryConnection;
use crate::error::DbError;
use std::{
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};
use tokio::{
    runtime::Handle,
    sync::Semaphore,
    task::{JoinError, JoinHandle},
};

/// The connections, opened as they are needed. The callers limit how many queries run at once.
#[derive(Debug)]
pub(super) struct QueryPool {
    path: PathBuf,
    /// `None` after the pool is closed.
    idle: Mutex<Option<Vec<QueryConnection>>>,
    /// The runtime whose threads have normal priority. A query of a long call runs there too, because it holds
    /// its share meanwhile.
    runtime: Handle,
    /// The permits of the host's own queries.
    pub(super) host: Arc<Semaphore>,
}

impl QueryPool {
    /// Opens the pool, with its first connection.
    pub(super) fn open(path: &Path, host_queries: usize) -> Result<Arc<Self>, DbError> {
        let first = QueryConnection::open(path)?;
        Ok(Arc::new(Self {
            path: path.to_owned(),
            idle: Mutex::new(Some(vec![first])),
            runtime: Handle::current(),
            host: Arc::new(Semaphore::new(host_queries)),
        }))
    }

    /// Starts a task on the runtime of the pool.
    pub(super) async fn spawn<T: Send + 'static>(
        &self,
        task: impl Future<Output = Result<T, DbError>> + Send + 'static,
    ) -> Result<T, DbError> {
        flatten(self.runtime.spawn(task).await)
    }

    /// Runs a query in a thread of its own, to its end even if the caller is cancelled. It keeps the permit
    /// until then.
    pub(super) async fn run<T: Send + 'static>(
        self: Arc<Self>,
        permit: impl Send + 'static,
        query: impl FnOnce(&QueryConnection) -> Result<T, DbError> + Send + 'static,
    ) -> Result<T, DbError> {
        let pool = Arc::clone(&self);
        let running: JoinHandle<_> = self.runtime.spawn_blocking(move || {
            let _permit = permit;
            let idle = pool.idle().as_mut().ok_or(DbError::Closed)?.pop();
            let connection = idle.map_or_else(|| QueryConnection::open(&pool.path), Ok)?;
            let result = query(&connection);
            if let Some(idle) = &mut *pool.idle() {
                idle.push(connection);
            }
            result
        });
        flatten(running.await)
    }

    /// Closes the idle connections; those of running queries are closed when the queries end.
    pub(super) fn close(&self) {
        self.host.close();
        *self.idle() = None;
    }

    fn idle(&self) -> MutexGuard<'_, Option<Vec<QueryConnection>>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn flatten<T>(ended: Result<Result<T, DbError>, JoinError>) -> Result<T, DbError> {
    ended.map_err(|_| DbError::Closed)?
}
