//! Calls at a later time.

use crate::db::{DbError, StateError, Store, TimerKey, Unit, read};

impl Unit {
    /// Whether the database has this timer.
    pub async fn has_timer(&self, key: &TimerKey) -> Result<bool, StateError> {
        Ok(self.store.lookup_timer(key).await?.is_some())
    }
}

impl Store {
    /// Which setting of the timer is in force.
    async fn lookup_timer(&self, key: &TimerKey) -> Result<Option<String>, DbError> {
        Ok(read!(self, |pool| {
            sqlx::query_scalar("SELECT setting FROM timers WHERE capability = $1 AND name = $2")
                .bind(&key.capability)
                .bind(&key.name)
                .fetch_optional(pool)
                .await?
        }))
    }
}
