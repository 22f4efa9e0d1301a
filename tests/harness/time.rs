//! Moves the time of a host, and waits until due work has run.

use crate::harness::{Host, PATIENCE};
use std::time::{Duration, Instant};

pub const SECOND: Duration = Duration::from_secs(1);
pub const MINUTE: Duration = Duration::from_secs(60);
pub const HOUR: Duration = Duration::from_secs(3600);
pub const DAY: Duration = Duration::from_secs(24 * 3600);

/// The time between two looks into the database for due work.
const POLL_INTERVAL: Duration = Duration::from_millis(3);

impl Host {
    /// Returns the instant this much later than now, as text.
    pub fn instant_after(&self, time: Duration) -> String {
        self.clock.now().plus(time).to_string()
    }

    /// Moves the time forward, and waits until everything that became due has run.
    pub async fn advance(&self, time: Duration) {
        // Work that is running now would lose its lease.
        self.wait_until_settled().await;
        self.clock.advance(time);
        self.wait_until_settled().await;
    }

    /// Moves the time to the instant in this field of the document with this id.
    pub async fn reach(&self, id: &str, field: &str) {
        let instant = format!("json_extract(body, '$.{field}')");
        let named = format!(
            "SELECT CAST({instant} AS TEXT) FROM documents WHERE id = '{id}' AND {instant} IS NOT NULL"
        );
        self.reach_instant(&named).await;
    }

    /// Moves the time to when the one timer whose name ends with this text, in which `%` is any text, is due.
    pub async fn reach_timer(&self, name: &str) {
        let named = format!("SELECT CAST(due_at AS TEXT) FROM timers WHERE name LIKE '%{name}'");
        self.reach_instant(&named).await;
    }

    async fn reach_instant(&self, query: &str) {
        let found = self.database().texts(query).await;
        assert_eq!(found.len(), 1, "{found:?} of {query}");
        let instant: u64 = found[0].parse().unwrap();
        // One millisecond more, because some things expire after their instant and not at it.
        let left = (instant + 1).saturating_sub(self.clock.now().as_millis());
        self.advance(Duration::from_millis(left)).await;
    }

    /// Waits until no timer is due or running, and no event is on its way to a capability or a webhook.
    pub async fn wait_until_settled(&self) {
        let started = Instant::now();
        let database = self.database();
        // What a commit makes due at once may be due a moment after the time of the first look. So two looks have to
        // find nothing.
        let mut looks = 0;
        loop {
            let now = self.clock.now().as_millis();
            // A timer is running if a lease has moved its due time (`due_at > at`)
            // in its first attempt.
            let unsettled = format!(
                "SELECT 'timer ' || name FROM timers
                 WHERE due_at <= {now} OR (attempts = 0 AND due_at > at)
                 UNION ALL SELECT 'event for ' || capability FROM deliveries
                 WHERE dead = {no} AND (attempts = 0 OR due_at <= {now})
                 UNION ALL SELECT 'delivery to ' || w.url FROM webhook_deliveries d
                 JOIN webhooks w ON w.id = d.webhook_id
                 WHERE d.outcome = 'pending' AND d.due_at <= {now}
                 AND (d.challenge = 1 OR (w.state = 'active' AND w.rest_until <= {now}
                 AND NOT EXISTS (SELECT 1 FROM webhook_deliveries p WHERE p.webhook_id = w.id
                 AND p.outcome = 'pending' AND p.challenge = 0 AND p.subject = d.subject
                 AND p.seq < d.seq)))",
                no = database.false_literal(),
            );
            let unsettled = database.texts(&unsettled).await;
            if unsettled.is_empty() {
                looks += 1;
                if looks == 2 {
                    return;
                }
                continue;
            }
            looks = 0;
            assert!(started.elapsed() < PATIENCE, "still due: {unsettled:?}");
            tokio::time::sleep(POLL_INTERVAL).await;
        }
    }
}
