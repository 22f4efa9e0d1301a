//! Removes what is kept no longer.

use crate::{
    db::{DbError, Store, signed, transact},
    vocabulary::Timestamp,
};

const DAY_MS: u64 = 24 * 3600 * 1000;
/// How long it is known that a document was deleted, so that one that comes back is told from it.
const DELETED_DAYS: u64 = 30;
/// How long events are kept after their last delivery.
const EVENT_DAYS: u64 = 30;

impl Store {
    /// Removes expired answers, old traces of deletions, events that were delivered, and audit rows
    /// older than `audit_days`.
    pub async fn sweep(&self, now: Timestamp, audit_days: u64) -> Result<(), DbError> {
        let before = |days: u64| signed(now.as_millis().saturating_sub(days * DAY_MS));
        let removals = [
            ("DELETE FROM idempotency WHERE expires_at <= $1", before(0)),
            ("DELETE FROM documents WHERE body IS NULL AND updated_at <= $1", before(DELETED_DAYS)),
            (
                "DELETE FROM events WHERE occurred_at <= $1 AND NOT EXISTS
                 (SELECT 1 FROM deliveries WHERE deliveries.event_seq = events.seq)",
                before(EVENT_DAYS),
            ),
            ("DELETE FROM audit WHERE at <= $1", before(audit_days)),
        ];
        for (sql, before) in removals {
            transact!(self, |transaction| {
                sqlx::query(sql).bind(before).execute(&mut *transaction).await?;
            });
        }
        Ok(())
    }
}
