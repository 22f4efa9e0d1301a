//! The metrics' sample of the database: read when the metrics are requested, and kept for when it does not
//! answer.

use portolan_pipeline::{EmailStatus, Host, MessageCosts};
use portolan_store::{Backlog, DbError, QuotaUse};
use std::{
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

/// How long the metrics wait for the database.
const PATIENCE: Duration = Duration::from_secs(1);

/// The values that were read of the database.
#[derive(Debug)]
pub(super) struct Sample {
    pub(super) backlog: Backlog,
    pub(super) costs: MessageCosts,
    /// `None` if this host sends no emails.
    pub(super) emails: Option<EmailStatus>,
    pub(super) quotas: Vec<QuotaUse>,
    read_at: Instant,
}

impl Sample {
    pub(super) fn age(&self) -> Duration {
        self.read_at.elapsed()
    }
}

/// The last sample.
#[derive(Debug, Default)]
pub(super) struct DatabaseSample {
    last: Mutex<Option<Arc<Sample>>>,
    /// Held while a sample is read, so that a database which does not answer gets one query at a time.
    reading: tokio::sync::Mutex<()>,
}

impl DatabaseSample {
    /// Reads a sample. Returns it, or the last one with false if the database does not answer in time.
    pub(super) async fn take(&self, host: &Host) -> (Option<Arc<Sample>>, bool) {
        let reading = async {
            let _turn = self.reading.lock().await;
            read(host).await
        };
        let read = tokio::time::timeout(PATIENCE, reading).await.ok().and_then(Result::ok);
        let is_new = read.is_some();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(read) = read {
            *last = Some(Arc::new(read));
        }
        (last.clone(), is_new)
    }
}

async fn read(host: &Host) -> Result<Sample, DbError> {
    Ok(Sample {
        backlog: host.store.backlog(host.clock.now()).await?,
        costs: host.message_costs().await?,
        emails: host.email_status().await?,
        quotas: host.store.quota_uses().await?,
        read_at: Instant::now(),
    })
}
