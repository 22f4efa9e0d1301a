//! What the file of SQLite has of deleted rows.

use super::person::Person;
use crate::connection::Backend;
use sqlx::SqlitePool;
use std::path::Path;

/// The number of rows; every tenth is deleted.
const ROWS: u32 = 4_000;

fn count_texts(file: &Path, text: &str) -> usize {
    let bytes = std::fs::read(file).unwrap();
    bytes.windows(text.len()).filter(|window| *window == text.as_bytes()).count()
}

async fn write_and_delete(pool: &SqlitePool) {
    let run = async |sql| sqlx::query(sql).execute(pool).await.unwrap();
    run("CREATE TABLE notes (id INTEGER PRIMARY KEY, body TEXT)").await;
    // In this order, pages are split in the middle, and their rows are moved.
    for part in 0..4 {
        let mut transaction = pool.begin().await.unwrap();
        for row in (0..ROWS).filter(|row| row * 7 % 4 == part) {
            let word = if row % 10 == 0 { "forgotten" } else { "remembered" };
            let insert = sqlx::query("INSERT INTO notes VALUES ($1, $2)");
            let insert = insert.bind(row).bind(word.repeat(1 + row as usize % 13));
            insert.execute(&mut *transaction).await.unwrap();
        }
        transaction.commit().await.unwrap();
    }
    run("DELETE FROM notes WHERE id % 10 = 0").await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scrub_removes_copies_of_deleted_rows_and_nothing_else() {
    let person = Person::new().await;
    let Backend::Sqlite(sqlite) = &*person.store.inner.backend else { panic!("SQLite") };
    write_and_delete(&sqlite.write_pool).await;
    let log = "PRAGMA wal_checkpoint(TRUNCATE)";
    sqlx::query(log).execute(&sqlite.write_pool).await.unwrap();
    assert!(count_texts(&sqlite.path, "forgotten") > 0, "SQLite has left none");
    let kept = "SELECT count(*), sum(length(body)) FROM notes";
    let before: (i64, i64) = sqlx::query_as(kept).fetch_one(&sqlite.readers).await.unwrap();

    person.store.scrub().await.unwrap();
    assert_eq!(count_texts(&sqlite.path, "forgotten"), 0);
    let after: (i64, i64) = sqlx::query_as(kept).fetch_one(&sqlite.readers).await.unwrap();
    assert_eq!(after, before);
    let fault = "PRAGMA integrity_check";
    let fault: String = sqlx::query_scalar(fault).fetch_one(&sqlite.readers).await.unwrap();
    assert_eq!(fault, "ok");
}
