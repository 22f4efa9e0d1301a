//! Counters that every node shares. They are added to by the commit of a call
//! ([`OutboxCommand::Count`](crate::OutboxCommand)), and read without being part of its read set.

use crate::{
    connection::read,
    effects::{Count, OutboxCommand},
    error::DbError,
    integers::unsigned,
    store::Store,
    unit::Unit,
};
use portolan_vocabulary::Timestamp;

impl Store {
    /// Returns the committed value of a counter; 0 if there is none.
    pub async fn counter(&self, name: &str) -> Result<u64, DbError> {
        let value: Option<i64> = read!(self.inner.backend, |pool| {
            sqlx::query_scalar("SELECT value FROM counters WHERE name = $1")
                .bind(name)
                .fetch_optional(pool)
                .await?
        });
        Ok(unsigned(value.unwrap_or_default()))
    }
}

impl Unit {
    /// Returns the value of a counter, with what this call has added to it.
    pub async fn counter(&self, name: &str) -> Result<u64, DbError> {
        let committed = self.store.counter(name).await?;
        let counts = self.commands().filter_map(|command| match command {
            OutboxCommand::Count(count) if count.name == name => Some(count),
            _ => None,
        });
        Ok(counts.fold(committed, |value, count| count.after(value)))
    }

    /// Returns what is to be counted for one use of what can be used `most` times at once and once in each
    /// `interval` of milliseconds (the generic cell rate algorithm); the error is when it can be used again.
    /// The counter is when all uses are available again.
    pub async fn count_use(
        &self,
        name: String,
        (interval, most): (u64, u64),
    ) -> Result<Result<Count, Timestamp>, DbError> {
        let now = self.now().as_millis();
        let full_at = self.counter(&name).await?;
        let open_at = full_at.saturating_sub(interval * most.saturating_sub(1));
        if open_at > now {
            return Ok(Err(Timestamp::from_millis(open_at)));
        }
        let expires_at = Timestamp::from_millis(full_at.max(now) + interval);
        Ok(Ok(Count { name, floor: now, step: interval, expires_at }))
    }
}
