//! Reads the timers in the database, without the changes that the call itself has made.

use super::unit_of_work::Unit;
use crate::{
    connection::read,
    effects::TimerKey,
    error::{DbError, StateError},
    integers::unsigned,
    texts::is_storable,
};

impl Unit {
    /// Returns whether the database has this timer.
    pub async fn has_timer(&self, key: &TimerKey) -> Result<bool, StateError> {
        Ok(is_storable(&key.name) && self.find_setting(key).await?.is_some())
    }

    /// Counts the timers of a capability in the database, in one mode.
    pub async fn count_timers(&self, capability: &str, test_mode: bool) -> Result<u64, StateError> {
        Ok(self.count_timers_of(capability, test_mode).await?)
    }

    /// Returns the current setting of the timer.
    async fn find_setting(&self, key: &TimerKey) -> Result<Option<String>, DbError> {
        Ok(read!(self.store.inner.backend, |pool| {
            sqlx::query_scalar(
                "SELECT setting FROM timers WHERE capability = $1 AND name = $2 AND test_mode = $3",
            )
            .bind(&key.capability)
            .bind(&key.name)
            .bind(i64::from(key.test_mode))
            .fetch_optional(pool)
            .await?
        }))
    }

    async fn count_timers_of(&self, capability: &str, test_mode: bool) -> Result<u64, DbError> {
        let count: i64 = read!(self.store.inner.backend, |pool| {
            sqlx::query_scalar(
                "SELECT COUNT(*) FROM timers WHERE capability = $1 AND test_mode = $2",
            )
            .bind(capability)
            .bind(i64::from(test_mode))
            .fetch_one(pool)
            .await?
        });
        Ok(unsigned(count))
    }
}
