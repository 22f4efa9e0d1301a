//! The statements about people's notices by email, for rows that are JSON arrays.

use super::backend::{Backend, NUMBER, TEXT};
use sqlx::{AssertSqlSafe, SqlSafeStr as _, SqlStr};

#[derive(Debug)]
pub(crate) struct EmailStatements {
    /// Adds to the number of events of a type: the owner, the type, the number, and the id of the newest event.
    pub(crate) add: SqlStr,
    /// Sets timers. A timer that is already set keeps its due time, and a run in progress does not clear it.
    pub(crate) put_timers: SqlStr,
    /// Takes from the number of events of a type: the owner, the type, and the number.
    pub(crate) take: SqlStr,
    /// Removes, by owner, the types without events.
    pub(crate) drop_empty: SqlStr,
}

impl EmailStatements {
    pub(super) fn new(backend: &Backend) -> Self {
        let sql = |text: String| AssertSqlSafe(text).into_sql_str();
        let rows = backend.row_source();
        let text = |place| backend.parameter(place, TEXT);
        let number = |place| backend.parameter(place, NUMBER);
        Self {
            // `WHERE true` keeps SQLite from reading ON CONFLICT as part of the join.
            add: sql(format!(
                "INSERT INTO email_notices (owner_id, event_type, events, event_seq)
                 SELECT {}, {}, {}, t.seq FROM {rows} JOIN events t ON t.id = {} WHERE true
                 ON CONFLICT (owner_id, event_type) DO UPDATE SET
                 events = email_notices.events + excluded.events, event_seq = excluded.event_seq",
                text(0),
                text(1),
                number(2),
                text(3)
            )),
            put_timers: sql(format!(
                "INSERT INTO timers
                 (capability, name, test_mode, setting, action, input, at, due_at, attempts)
                 SELECT {}, {}, {}, {}, {}, {}, {}, {}, {} FROM {rows} WHERE true
                 ON CONFLICT (capability, name, test_mode) DO UPDATE SET
                 setting = excluded.setting, at = excluded.at, attempts = 0, last_error = NULL,
                 due_at = CASE WHEN excluded.due_at < timers.due_at
                     THEN excluded.due_at ELSE timers.due_at END",
                text(0),
                text(1),
                number(2),
                text(3),
                text(4),
                text(5),
                number(6),
                number(7),
                number(8)
            )),
            take: sql(format!(
                "UPDATE email_notices SET events = events - {} FROM {rows}
                 WHERE email_notices.owner_id = {} AND email_notices.event_type = {}",
                number(2),
                text(0),
                text(1)
            )),
            drop_empty: sql(format!(
                "DELETE FROM email_notices
                 WHERE events <= 0 AND owner_id IN (SELECT {} FROM {rows})",
                text(0)
            )),
        }
    }
}
