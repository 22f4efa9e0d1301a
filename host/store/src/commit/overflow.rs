//! Held events beyond the limit of a person: they become numbers that a digest names.

use crate::{
    connection::{Statements, Transaction},
    effects::HELD_AT_ONCE,
    error::DbError,
    integers::{signed, unsigned},
};
use portolan_vocabulary::{MINUTE, Timestamp};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The maximum number of events that are held for a person.
const MOST_HELD: i64 = 10_000;

/// A held event: its sequence, due time and type.
type Row = (i64, i64, String);

/// Counts the first held events of each person who has too many, `HELD_AT_ONCE` of each, and holds them no
/// longer. First come those that a digest would summarize, then those that wait. `owners` are rows with an
/// owner's id. Returns when the numbers of each person are due.
pub(super) async fn count_overflow(
    transaction: &mut Transaction,
    statements: &Statements,
    owners: Vec<Value>,
    now: Timestamp,
) -> Result<Vec<(String, Timestamp)>, DbError> {
    let numbers: Vec<(String, i64)> = transaction.find(&statements.held.numbers, owners).await?;
    let (mut counted, mut ended) = (BTreeMap::new(), Vec::new());
    for (owner_id, _) in numbers.into_iter().filter(|(_, events)| *events > MOST_HELD) {
        // An event that is summarized within a minute may be in a digest that is being made.
        let soon = signed(now.plus(MINUTE).as_millis());
        let summarized = vec![json!([owner_id, 1, soon])];
        let mut rows: Vec<Row> = transaction.find(&statements.held.first, summarized).await?;
        if rows.len() < HELD_AT_ONCE {
            let waiting = vec![json!([owner_id, 0, -1])];
            rows.extend(transaction.find::<Row>(&statements.held.first, waiting).await?);
            rows.truncate(HELD_AT_ONCE);
        }
        for (seq, due_at, event_type) in rows {
            ended.push(json!([owner_id, seq]));
            let count = counted.entry((owner_id.clone(), event_type)).or_insert((0, due_at));
            *count = (count.0 + 1, count.1.min(due_at));
        }
    }
    let due = counted.iter().map(|((owner_id, _), (_, due_at))| {
        (owner_id.clone(), Timestamp::from_millis(unsigned(*due_at)))
    });
    let due = due.collect();
    let rows = counted.into_iter().map(|((owner_id, event_type), (events, due_at))| {
        json!([owner_id, event_type, events, due_at])
    });
    let rows = rows.collect();
    transaction.run(&statements.held.drop, ended).await?;
    transaction.run(&statements.held.add_counts, rows).await?;
    Ok(due)
}
