//! The statements about the events that people's delivery rules hold, for rows that are JSON arrays. The
//! number of rows that each reads does not depend on how many events are held.

use super::backend::{Backend, NUMBER, TEXT};
use crate::effects::HELD_AT_ONCE;
use sqlx::{AssertSqlSafe, SqlSafeStr as _, SqlStr};

#[derive(Debug)]
pub(crate) struct HeldStatements {
    /// Finds, by owner and time: the owner, the sequence that a release has reached, and whether events that
    /// wait are due.
    pub(crate) states: SqlStr,
    /// Finds, by owner: the owner, and the number of held events.
    pub(crate) numbers: SqlStr,
    /// Finds, by owner and sequence, the next events after the sequence.
    pub(crate) after: SqlStr,
    /// Finds, by owner, kind and time, the events of the kind that are due first after the time.
    pub(crate) first: SqlStr,
    /// Finds, by owner: the owner, and the smallest due times.
    pub(crate) next: SqlStr,
    pub(crate) put: SqlStr,
    pub(crate) drop: SqlStr,
    pub(crate) put_reached: SqlStr,
    pub(crate) add_counts: SqlStr,
    pub(crate) take_counts: SqlStr,
    pub(crate) drop_counts: SqlStr,
}

impl HeldStatements {
    pub(super) fn new(backend: &Backend) -> Self {
        let sql = |text: String| AssertSqlSafe(text).into_sql_str();
        let (rows, lateral) = (backend.row_source(), backend.lateral());
        let text = |place| backend.parameter(place, TEXT);
        let number = |place| backend.parameter(place, NUMBER);
        Self {
            // The minimum is the first entry of an index, also where planners take a condition for frequent.
            states: sql(format!(
                "SELECT t.owner_id, t.released_to,
                 CAST(CASE WHEN (SELECT min(h.due_at) FROM held_events h
                   WHERE h.owner_id = t.owner_id AND h.summarized = 0) <= {}
                 THEN 1 ELSE 0 END AS BIGINT)
                 FROM {rows} JOIN held_owners t ON t.owner_id = {}",
                number(1),
                text(0)
            )),
            numbers: sql(format!(
                "SELECT t.owner_id, t.events FROM {rows} JOIN held_owners t ON t.owner_id = {}",
                text(0)
            )),
            // The limit is within the subquery, so that no more rows are read of either table.
            after: sql(format!(
                "SELECT t.* FROM {rows} CROSS JOIN {lateral}
                 (SELECT h.event_seq, v.id, v.event_type, v.subject, v.data, v.audience, v.audience_id,
                    v.occurred_at, h.due_at, h.summarized
                  FROM held_events h JOIN events v ON v.seq = h.event_seq
                  WHERE h.owner_id = {} AND h.event_seq > {}
                  ORDER BY h.event_seq LIMIT {HELD_AT_ONCE}) t
                 ORDER BY t.event_seq",
                text(0),
                number(1)
            )),
            first: sql(format!(
                "SELECT t.* FROM {rows} CROSS JOIN {lateral}
                 (SELECT h.event_seq, h.due_at, v.event_type
                  FROM held_events h JOIN events v ON v.seq = h.event_seq
                  WHERE h.owner_id = {} AND h.summarized = {} AND h.due_at > {}
                  ORDER BY h.due_at, h.event_seq LIMIT {HELD_AT_ONCE}) t
                 ORDER BY t.due_at, t.event_seq",
                text(0),
                number(1),
                number(2)
            )),
            // Each minimum is the first entry of an index.
            next: sql(format!(
                "SELECT {owner},
                 (SELECT min(due_at) FROM held_events WHERE owner_id = {owner} AND summarized = 0),
                 (SELECT min(due_at) FROM held_events WHERE owner_id = {owner} AND summarized = 1),
                 (SELECT min(due_at) FROM held_counts WHERE owner_id = {owner})
                 FROM {rows}",
                owner = text(0)
            )),
            // `WHERE true` keeps SQLite from reading ON CONFLICT as part of the join.
            put: sql(format!(
                "INSERT INTO held_events (owner_id, event_seq, due_at, summarized)
                 SELECT {}, t.seq, {}, {} FROM {rows} JOIN events t ON t.id = {} WHERE true
                 ON CONFLICT (owner_id, event_seq) DO UPDATE SET
                 due_at = excluded.due_at, summarized = excluded.summarized",
                text(0),
                number(2),
                number(3),
                text(1)
            )),
            drop: sql(format!(
                "DELETE FROM held_events WHERE (owner_id, event_seq) IN (SELECT {}, {} FROM {rows})",
                text(0),
                number(1)
            )),
            put_reached: sql(format!(
                "UPDATE held_owners SET released_to = {} FROM {rows} WHERE held_owners.owner_id = {}",
                number(1),
                text(0)
            )),
            add_counts: sql(format!(
                "INSERT INTO held_counts (owner_id, event_type, events, due_at)
                 SELECT {}, {}, {}, {} FROM {rows} WHERE true
                 ON CONFLICT (owner_id, event_type) DO UPDATE SET
                 events = held_counts.events + excluded.events,
                 due_at = CASE WHEN excluded.due_at < held_counts.due_at
                     THEN excluded.due_at ELSE held_counts.due_at END",
                text(0),
                text(1),
                number(2),
                number(3)
            )),
            take_counts: sql(format!(
                "UPDATE held_counts SET events = events - {} FROM {rows}
                 WHERE held_counts.owner_id = {} AND held_counts.event_type = {}",
                number(2),
                text(0),
                text(1)
            )),
            drop_counts: sql(format!(
                "DELETE FROM held_counts
                 WHERE events <= 0 AND owner_id IN (SELECT {} FROM {rows})",
                text(0)
            )),
        }
    }
}
