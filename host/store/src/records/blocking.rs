//! Work that may block its thread.

use crate::{error::DbError, store::Store};

impl Store {
    /// Runs work that may block its thread, as a commit on SQLite does.
    pub(super) async fn run_blocking<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T, DbError>> + Send + 'static,
    ) -> Result<T, DbError> {
        let (done, result) = tokio::sync::oneshot::channel();
        self.inner.backend.spawn("portolan-index", async move {
            let _sent = done.send(work.await);
        })?;
        result.await.map_err(|_| DbError::Closed)?
    }
}
