//! The stored answers of calls with an idempotency key.

use crate::{
    connection::read, effects::IdempotencyKey, error::DbError, integers::signed, store::Store,
};
use portolan_vocabulary::Timestamp;

impl Store {
    /// Returns the digest of the input, in hexadecimal digits, and the stored answer; `None` if there is no
    /// answer or if it has expired.
    pub async fn find_answer(
        &self,
        key: &IdempotencyKey,
        now: Timestamp,
    ) -> Result<Option<(String, String)>, DbError> {
        Ok(read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT body_hash, answer FROM idempotency
                 WHERE agent_id = $1 AND capability = $2 AND action = $3 AND key = $4 AND expires_at > $5",
            )
            .bind(&key.agent_id)
            .bind(&key.capability)
            .bind(&key.action)
            .bind(&key.key)
            .bind(signed(now.as_millis()))
            .fetch_optional(pool)
            .await?
        }))
    }
}
