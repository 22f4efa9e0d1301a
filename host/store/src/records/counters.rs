//! Counters that every node shares. They are added to by the commit of a call
//! ([`OutboxCommand::Count`](crate::OutboxCommand)), and read without being part of its read set.

use crate::{
    connection::read, effects::OutboxCommand, error::DbError, integers::unsigned, store::Store,
    unit::Unit,
};

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
}
