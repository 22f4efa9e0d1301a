//! Deleted rows leave no copy in the file of SQLite.

use super::person::Person;
use crate::connection::Backend;
use sqlx::SqlitePool;

/// A text that no row has.
const COPY: &[u8] = b"forgotten";

fn has(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|window| window == text)
}

/// Writes a text into the unused space of a page with rows, where SQLite leaves copies of rows that it has moved.
async fn leave_copy(pool: &SqlitePool) {
    for sql in ["CREATE TABLE notes (body TEXT)", "INSERT INTO notes VALUES ('remembered')"] {
        sqlx::query(sql).execute(pool).await.unwrap();
    }
    let pages = sqlx::query_as("SELECT pgno, data FROM sqlite_dbpage");
    let pages: Vec<(i64, Vec<u8>)> = pages.fetch_all(pool).await.unwrap();
    let mut pages = pages.into_iter();
    let (number, mut page) = pages.find(|(_, page)| has(page, b"remembered")).unwrap();
    let zeros = |window: &[u8]| window.iter().all(|byte| *byte == 0);
    let at = page.windows(COPY.len()).position(zeros).unwrap();
    page[at..at + COPY.len()].copy_from_slice(COPY);
    let update = sqlx::query("UPDATE sqlite_dbpage SET data = $1 WHERE pgno = $2");
    update.bind(page).bind(number).execute(pool).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scrub_removes_copies_of_rows_and_nothing_else() {
    let person = Person::new().await;
    let Backend::Sqlite(sqlite) = &*person.store.inner.backend else { panic!("SQLite") };
    leave_copy(&sqlite.write_pool).await;
    let log = "PRAGMA wal_checkpoint(TRUNCATE)";
    sqlx::query(log).execute(&sqlite.write_pool).await.unwrap();
    let file = || std::fs::read(&sqlite.path).unwrap();
    assert!(has(&file(), COPY));

    person.store.scrub().await.unwrap();
    assert!(!has(&file(), COPY) && has(&file(), b"remembered"));
    let body: String =
        sqlx::query_scalar("SELECT body FROM notes").fetch_one(&sqlite.readers).await.unwrap();
    assert_eq!(body, "remembered");
    let fault = "PRAGMA integrity_check";
    let fault: String = sqlx::query_scalar(fault).fetch_one(&sqlite.readers).await.unwrap();
    assert_eq!(fault, "ok");
}
