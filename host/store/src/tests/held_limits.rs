//! The limits of what is held for a person, and of the work that it makes.

use super::person::{HOUR, MINUTE, OWNER, Person, at, numbers, quiet};
use crate::connection::Backend;

/// The maximum number of events that are held for a person.
const MOST_HELD: usize = 10_000;
/// The number of events that are counted at once when there are more.
const COUNTED: usize = 500;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_events_beyond_the_limit_are_counted_for_a_digest() {
    let person = Person::new().await;
    person.hold(MOST_HELD, false, at(HOUR)).await.unwrap();
    person.is_told(&quiet(), &numbers(MOST_HELD, 1), at(MINUTE)).await;
    assert_eq!(person.held().await, MOST_HELD as u64 + 1, "nothing is lost");
    assert!(person.store.counted_events(OWNER, at(HOUR - 1)).await.unwrap().is_empty());
    let counted = [("herald.told".to_owned(), COUNTED as u64)];
    assert_eq!(person.store.counted_events(OWNER, at(HOUR)).await.unwrap(), counted);
    // There is room for more, so the next ones are only held.
    person.is_told(&quiet(), &numbers(MOST_HELD + 1, COUNTED - 1), at(MINUTE)).await;
    assert_eq!(person.store.counted_events(OWNER, at(HOUR)).await.unwrap(), counted);
    assert_eq!(person.release_all(&quiet(), at(HOUR)).await, 21);
    assert_eq!(person.inbox().await, numbers(COUNTED, MOST_HELD));
    assert_eq!(person.held().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_digest_would_summarize_is_counted_first() {
    let person = Person::new().await;
    person.is_told(&quiet(), &numbers(0, COUNTED), at(0)).await;
    person.hold(MOST_HELD - COUNTED, true, at(9 * HOUR)).await.unwrap();
    person.is_told(&quiet(), &numbers(COUNTED, 1), at(MINUTE)).await;
    assert!(person.store.counted_events(OWNER, at(HOUR)).await.unwrap().is_empty());
    let counted = person.store.counted_events(OWNER, at(9 * HOUR)).await.unwrap();
    assert_eq!(counted, [("herald.told".to_owned(), COUNTED as u64)]);
    assert_eq!(person.held().await, MOST_HELD as u64 + 1);
}

/// A statement that reads in the order of an index stops at its limit.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn statements_about_held_events_read_no_more_than_they_return() {
    let person = Person::new().await;
    let held = &person.store.inner.statements.held;
    let Backend::Sqlite(sqlite) = &*person.store.inner.backend else { panic!("SQLite") };
    for (statement, index) in [
        (&held.states, "held_events_due"),
        (&held.first, "held_events_due"),
        (&held.next, "held_events_due"),
        (&held.after, "PRIMARY KEY"),
    ] {
        let sql = format!("EXPLAIN QUERY PLAN {}", statement.as_str());
        let steps: Vec<(i64, i64, i64, String)> =
            sqlx::query_as(sqlx::AssertSqlSafe(sql)).fetch_all(&sqlite.readers).await.unwrap();
        let plan: Vec<&str> = steps.iter().map(|(.., step)| step.as_str()).collect();
        let is_scan =
            |step: &&str| ["SCAN h", "SCAN held"].iter().any(|scan| step.starts_with(scan));
        assert!(plan.iter().any(|step| step.contains(index)), "{plan:#?}");
        assert!(!plan.iter().any(is_scan), "{plan:#?}");
    }
}
