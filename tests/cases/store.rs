//! The store at its own interface: one suite, on SQLite and on PostgreSQL.

use crate::harness::postgres;
use portolan_store::{
    Attachments, Collection, DatabaseUrl, Expectation, StateError, Store, Unit, Verdict,
};
use portolan_vocabulary::{self as vocabulary, Clock, Keyring, Quotas, Timestamp};
use serde_json::{Value, json};
use sqlx::{
    ConnectOptions as _, Connection as _, PgConnection, SqliteConnection,
    sqlite::SqliteConnectOptions,
};
use std::{
    future::Future,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicBool, Ordering},
    },
};
use tempfile::TempDir;

/// An open store, with its database and the folder of that.
pub(super) struct Opened {
    pub(super) store: Store,
    pub(super) url: DatabaseUrl,
    pub(super) _folder: TempDir,
}

/// Returns the keys that all nodes of a database share.
pub(super) fn keys() -> Keyring {
    static KEYS: LazyLock<String> = LazyLock::new(|| Keyring::generate().unwrap());
    Keyring::parse(&KEYS).unwrap()
}

/// Returns quotas: the capability `small` has small ones, and the queries of `hurried` may take a
/// millisecond. Queries of others may take long, because the machine may be busy.
pub(super) fn quotas() -> Quotas {
    let small =
        json!({ "documents": 3, "documents_and_tombstones": 20, "bytes": 1000, "timers": 2 });
    let hurried = json!({ "query_ms": 1 });
    let quotas = json!({ "query_ms": 60_000, "small": small, "hurried": hurried });
    serde_json::from_value(quotas).unwrap()
}

pub(super) async fn sqlite() -> Opened {
    let folder = TempDir::new().unwrap();
    let url = DatabaseUrl::from(folder.path().join("data/portolan.db"));
    Opened {
        store: Store::open(&url, &keys(), Clock::system(), quotas()).await.unwrap(),
        url,
        _folder: folder,
    }
}

pub(super) async fn postgres() -> Opened {
    let url: DatabaseUrl = postgres::database().await.parse().unwrap();
    let folder = TempDir::new().unwrap();
    Opened {
        store: Store::open(&url, &keys(), Clock::system(), quotas()).await.unwrap(),
        url,
        _folder: folder,
    }
}

/// Makes each case a test on SQLite and a test on PostgreSQL.
#[macro_export]
macro_rules! on_both {
    ($($case:ident)*) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case($crate::cases::store::sqlite().await).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case($crate::cases::store::postgres().await).await;
            })*
        }
    };
}

crate::on_all! {
    documents_are_stored_with_their_revisions
    a_call_sees_its_own_writes_and_can_roll_them_back
    a_document_changed_since_its_read_is_a_conflict
    reads_do_not_wait_for_commits
    write_skew_is_a_conflict
    documents_read_together_are_of_one_snapshot
    unique_values_have_one_holder
    one_of_many_concurrent_claims_wins
    transfers_never_create_or_lose_money
    collections_of_others_are_out_of_reach
}

pub(super) async fn collection(
    store: &Store,
    capability: &str,
    unique: &[&str],
) -> Arc<Collection> {
    let index = |path: &&str| vocabulary::Index {
        name: (*path).to_owned(),
        paths: vec![(*path).to_owned()],
        unique: true,
    };
    let declaration = vocabulary::Collection {
        name: "accounts".to_owned(),
        indexes: unique.iter().map(index).collect(),
        text: Vec::new(),
        geo: None,
        version: 1,
        people: None,
    };
    let declared = [declaration];
    Arc::new(store.declare(capability, &declared).await.unwrap().remove("accounts").unwrap())
}

pub(super) fn unit(store: &Store) -> Unit {
    Unit::new(store.clone(), Timestamp::from_millis(1_700_000_000_000))
}

async fn commit(unit: Unit) -> Verdict {
    unit.commit(Attachments::default()).await.unwrap()
}

/// Writes a document in a unit of work of its own.
pub(super) async fn put(store: &Store, collection: &Collection, id: &str, body: Value) {
    let mut unit = unit(store);
    unit.put(collection, id, body.to_string(), Expectation::Any).await.unwrap();
    assert_eq!(commit(unit).await, Verdict::Committed);
}

pub(super) async fn body(store: &Store, collection: &Collection, id: &str) -> Option<Value> {
    let document = unit(store).get(collection, id).await.unwrap()?;
    Some(serde_json::from_str(&document.body).unwrap())
}

async fn documents_are_stored_with_their_revisions(opened: Opened) {
    let store = &opened.store;
    let accounts = collection(store, "ledger", &[]).await;
    let mut first = unit(store);
    assert_eq!(first.get(&accounts, "a").await.unwrap(), None);
    let text = json!({ "text": "naïve \u{0} \u{1F980}", "n": 1.5 }).to_string();
    assert_eq!(first.put(&accounts, "a", text.clone(), Expectation::Absent).await.unwrap(), 1);
    assert_eq!(commit(first).await, Verdict::Committed);

    let mut second = unit(store);
    let document = second.get(&accounts, "a").await.unwrap().unwrap();
    assert_eq!((document.revision, document.body), (1, text));
    let taken = second.put(&accounts, "a", "{}".to_owned(), Expectation::Absent).await;
    assert!(matches!(taken, Err(StateError::Conflict)));
    let stale = second.put(&accounts, "a", "{}".to_owned(), Expectation::Revision(7)).await;
    assert!(matches!(stale, Err(StateError::Conflict)));
    let next = second.put(&accounts, "a", "{}".to_owned(), Expectation::Revision(1)).await;
    assert_eq!(next.unwrap(), 2);
    second.delete(&accounts, "a", Expectation::Revision(2)).await.unwrap();
    assert_eq!(second.get(&accounts, "a").await.unwrap(), None);
    assert_eq!(commit(second).await, Verdict::Committed);

    // A document that is created again continues the revisions of the deleted one.
    let mut third = unit(store);
    assert_eq!(third.get(&accounts, "a").await.unwrap(), None);
    let back = third.put(&accounts, "a", "{}".to_owned(), Expectation::Absent).await.unwrap();
    assert_eq!(back, 4);
    for (id, body) in [("", "{}"), ("a\nb", "{}"), ("a", "[]"), ("a", "{"), ("a", "7")] {
        let refused = third.put(&accounts, id, body.to_owned(), Expectation::Any).await;
        assert!(matches!(refused, Err(StateError::Invalid(_))), "{id} {body}");
    }
    let large = json!({ "x": "x".repeat(300_000) }).to_string();
    let refused = third.put(&accounts, "large", large, Expectation::Any).await;
    assert!(matches!(refused, Err(StateError::Limit(_))));
}

async fn a_call_sees_its_own_writes_and_can_roll_them_back(opened: Opened) {
    let store = &opened.store;
    let accounts = collection(store, "ledger", &["number"]).await;
    let mut unit = unit(store);
    unit.put(&accounts, "a", r#"{"number":1}"#.to_owned(), Expectation::Any).await.unwrap();
    unit.savepoint();
    unit.put(&accounts, "a", r#"{"number":2}"#.to_owned(), Expectation::Any).await.unwrap();
    unit.put(&accounts, "b", r#"{"number":1}"#.to_owned(), Expectation::Any).await.unwrap();
    let both = unit.get_many(&accounts, &["b", "none", "a"]).await.unwrap();
    let bodies: Vec<_> =
        both.iter().map(|found| found.as_ref().map(|document| document.body.as_str())).collect();
    assert_eq!(bodies, [Some(r#"{"number":1}"#), None, Some(r#"{"number":2}"#)]);
    unit.rollback();
    assert_eq!(unit.get(&accounts, "b").await.unwrap(), None);
    unit.savepoint();
    unit.put(&accounts, "c", r#"{"number":3}"#.to_owned(), Expectation::Any).await.unwrap();
    unit.release();
    assert_eq!(commit(unit).await, Verdict::Committed);
    assert_eq!(body(store, &accounts, "a").await, Some(json!({ "number": 1 })));
    assert_eq!(body(store, &accounts, "b").await, None);
    assert_eq!(body(store, &accounts, "c").await, Some(json!({ "number": 3 })));
}

async fn a_document_changed_since_its_read_is_a_conflict(opened: Opened) {
    let store = &opened.store;
    let accounts = collection(store, "ledger", &[]).await;
    put(store, &accounts, "a", json!({ "n": 1 })).await;
    let (mut one, mut other) = (unit(store), unit(store));
    for unit in [&mut one, &mut other] {
        unit.get(&accounts, "a").await.unwrap();
        unit.put(&accounts, "a", r#"{"n":2}"#.to_owned(), Expectation::Any).await.unwrap();
    }
    assert_eq!(commit(one).await, Verdict::Committed);
    assert!(matches!(commit(other).await, Verdict::Conflict(_)));

    // The absence of a document is in the read set too.
    let (mut one, mut other) = (unit(store), unit(store));
    for unit in [&mut one, &mut other] {
        unit.put(&accounts, "new", "{}".to_owned(), Expectation::Absent).await.unwrap();
    }
    let (one, other) = tokio::join!(commit(one), commit(other));
    let committed = [one, other].iter().filter(|verdict| **verdict == Verdict::Committed).count();
    assert_eq!(committed, 1);

    // A unit that only reads conflicts if a document it has read was changed.
    let mut reader = unit(store);
    reader.get(&accounts, "a").await.unwrap();
    put(store, &accounts, "a", json!({ "n": 3 })).await;
    reader.get(&accounts, "new").await.unwrap();
    assert!(reader.needs_validation());
    assert!(matches!(commit(reader).await, Verdict::Conflict(_)));

    // A document that is read twice and unchanged is no conflict.
    let mut reader = unit(store);
    let twice = reader.get_many(&accounts, &["a", "a"]).await.unwrap();
    assert_eq!((twice[0].is_some(), &twice[0]), (true, &twice[1]));
    assert_eq!(commit(reader).await, Verdict::Committed);
}

async fn reads_do_not_wait_for_commits(opened: Opened) {
    let store = &opened.store;
    let accounts = collection(store, "ledger", &["name"]).await;
    put(store, &accounts, "a", json!({ "n": 1, "name": "first" })).await;
    let lock = Lock::writers(&opened.url).await;
    let mut writer = unit(store);
    writer.put(&accounts, "a", r#"{"n":2}"#.to_owned(), Expectation::Any).await.unwrap();
    let writing = tokio::spawn(commit(writer));

    let mut reader = unit(store);
    for id in ["a", "b"] {
        reader.get(&accounts, id).await.unwrap();
    }
    assert!(reader.needs_validation());
    assert_eq!(commit(reader).await, Verdict::Committed);
    assert!(!writing.is_finished(), "the lock was held meanwhile");

    let mut reader = unit(store);
    reader.get(&accounts, "a").await.unwrap();
    lock.release().await;
    assert_eq!(writing.await.unwrap(), Verdict::Committed);
    reader.get(&accounts, "b").await.unwrap();
    assert!(matches!(commit(reader).await, Verdict::Conflict(_)));
}

/// A transaction of another process, for which all writers wait.
enum Lock {
    Sqlite(SqliteConnection),
    Postgres(PgConnection),
}

impl Lock {
    async fn writers(url: &DatabaseUrl) -> Self {
        match url {
            DatabaseUrl::Sqlite(path) => {
                let options = SqliteConnectOptions::new().filename(path);
                let mut connection = options.connect().await.unwrap();
                sqlx::raw_sql("BEGIN IMMEDIATE").execute(&mut connection).await.unwrap();
                Self::Sqlite(connection)
            }
            DatabaseUrl::Postgres(url) => {
                let mut connection = PgConnection::connect(url).await.unwrap();
                let lock = "BEGIN; LOCK TABLE documents IN SHARE ROW EXCLUSIVE MODE";
                sqlx::raw_sql(lock).execute(&mut connection).await.unwrap();
                Self::Postgres(connection)
            }
        }
    }

    async fn release(self) {
        match self {
            Self::Sqlite(connection) => connection.close().await.unwrap(),
            Self::Postgres(connection) => connection.close().await.unwrap(),
        }
    }
}

async fn write_skew_is_a_conflict(opened: Opened) {
    let store = &opened.store;
    let accounts = collection(store, "ledger", &[]).await;
    put(store, &accounts, "a", json!({ "n": 50 })).await;
    put(store, &accounts, "b", json!({ "n": 50 })).await;
    let (mut one, mut other) = (unit(store), unit(store));
    for (unit, target) in [(&mut one, "a"), (&mut other, "b")] {
        unit.get_many(&accounts, &["a", "b"]).await.unwrap();
        unit.put(&accounts, target, r#"{"n":-30}"#.to_owned(), Expectation::Any).await.unwrap();
    }
    let (one, other) = tokio::join!(commit(one), commit(other));
    let committed = [one, other].iter().filter(|verdict| **verdict == Verdict::Committed).count();
    assert_eq!(committed, 1);
}

async fn documents_read_together_are_of_one_snapshot(opened: Opened) {
    const DOCUMENTS: [&str; 4] = ["a", "b", "c", "d"];
    let accounts = collection(&opened.store, "ledger", &[]).await;
    let done = Arc::new(AtomicBool::new(false));
    let write_all = async |value: u64| {
        let mut unit = unit(&opened.store);
        for id in DOCUMENTS {
            let body = json!({ "value": value }).to_string();
            unit.put(&accounts, id, body, Expectation::Any).await.unwrap();
        }
        assert_eq!(commit(unit).await, Verdict::Committed);
    };
    write_all(0).await;
    let readers: Vec<_> = (0..4)
        .map(|_| {
            let (store, accounts, done) =
                (opened.store.clone(), Arc::clone(&accounts), Arc::clone(&done));
            tokio::spawn(async move {
                while !done.load(Ordering::Relaxed) {
                    let found = unit(&store).get_many(&accounts, &DOCUMENTS).await.unwrap();
                    let revisions: Vec<_> =
                        found.into_iter().map(|document| document.unwrap().revision).collect();
                    assert!(revisions.windows(2).all(|two| two[0] == two[1]), "{revisions:?}");
                }
            })
        })
        .collect();
    for value in 1..=500 {
        write_all(value).await;
    }
    done.store(true, Ordering::Relaxed);
    for reader in readers {
        reader.await.unwrap();
    }
}

async fn unique_values_have_one_holder(opened: Opened) {
    let store = &opened.store;
    let accounts = collection(store, "ledger", &["number"]).await;
    put(store, &accounts, "a", json!({ "number": "one" })).await;
    put(store, &accounts, "nameless", json!({})).await;
    put(store, &accounts, "nameless too", json!({ "number": null })).await;
    let one = || r#"{"number":"one"}"#.to_owned();

    let mut taken = unit(store);
    let refused = taken.put(&accounts, "b", one(), Expectation::Any).await;
    assert!(matches!(refused, Err(StateError::Duplicate(holder)) if holder == "a"));
    taken.put(&accounts, "a", one(), Expectation::Any).await.unwrap();

    // A unique value is released by one document and used by another within one unit.
    let mut swap = unit(store);
    swap.put(&accounts, "a", r#"{"number":"two"}"#.to_owned(), Expectation::Any).await.unwrap();
    swap.put(&accounts, "b", one(), Expectation::Any).await.unwrap();
    let refused = swap.put(&accounts, "c", one(), Expectation::Any).await;
    assert!(matches!(refused, Err(StateError::Duplicate(holder)) if holder == "b"));
    assert_eq!(commit(swap).await, Verdict::Committed);

    let mut freed = unit(store);
    freed.delete(&accounts, "b", Expectation::Any).await.unwrap();
    freed.put(&accounts, "c", one(), Expectation::Any).await.unwrap();
    assert_eq!(commit(freed).await, Verdict::Committed);
    let mut late = unit(store);
    let refused = late.put(&accounts, "d", one(), Expectation::Any).await;
    assert!(matches!(refused, Err(StateError::Duplicate(holder)) if holder == "c"));
}

async fn one_of_many_concurrent_claims_wins(opened: Opened) {
    let store = &opened.store;
    let accounts = collection(store, "ledger", &["number"]).await;
    let mut units = Vec::new();
    for id in 0..20 {
        let mut unit = unit(store);
        let body = r#"{"number":7}"#.to_owned();
        unit.put(&accounts, &format!("id {id}"), body, Expectation::Any).await.unwrap();
        units.push(unit);
    }
    let commits: Vec<_> = units.into_iter().map(|unit| tokio::spawn(commit(unit))).collect();
    let mut committed = 0;
    for verdict in commits {
        committed += u32::from(verdict.await.unwrap() == Verdict::Committed);
    }
    assert_eq!(committed, 1);
}

/// Repeats a unit of work until it commits, as the host does with a call.
async fn retry<F>(store: &Store, mut run: impl FnMut(Unit) -> F)
where
    F: Future<Output = Unit>,
{
    while matches!(commit(run(unit(store)).await).await, Verdict::Conflict(_)) {}
}

async fn transfers_never_create_or_lose_money(opened: Opened) {
    const ACCOUNTS: usize = 6;
    let store = &opened.store;
    let accounts = collection(store, "ledger", &[]).await;
    for id in 0..ACCOUNTS {
        put(store, &accounts, &id.to_string(), json!({ "n": 100 })).await;
    }
    let mut tasks = Vec::new();
    for task in 0..16_usize {
        let (store, accounts) = (store.clone(), Arc::clone(&accounts));
        tasks.push(tokio::spawn(async move {
            for round in 0..25_usize {
                let (from, to) = ((task + round) % ACCOUNTS, (task * 7 + round * 3 + 1) % ACCOUNTS);
                if from == to {
                    continue;
                }
                let move_one = |mut unit: Unit| {
                    let accounts = Arc::clone(&accounts);
                    async move {
                        for (id, change) in [(from, -1), (to, 1)] {
                            let id = id.to_string();
                            let document = unit.get(&accounts, &id).await.unwrap().unwrap();
                            let body: Value = serde_json::from_str(&document.body).unwrap();
                            let body = json!({ "n": body["n"].as_i64().unwrap() + change });
                            let expect = Expectation::Revision(document.revision);
                            unit.put(&accounts, &id, body.to_string(), expect).await.unwrap();
                        }
                        unit
                    }
                };
                retry(&store, move_one).await;
            }
        }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    let mut sum = 0;
    for id in 0..ACCOUNTS {
        sum += body(store, &accounts, &id.to_string()).await.unwrap()["n"].as_i64().unwrap();
    }
    assert_eq!(sum, 100 * i64::try_from(ACCOUNTS).unwrap());
}

async fn collections_of_others_are_out_of_reach(opened: Opened) {
    let store = &opened.store;
    let ours = collection(store, "ours", &["number"]).await;
    let theirs = collection(store, "theirs", &["number"]).await;
    put(store, &ours, "a", json!({ "number": 1 })).await;
    assert_eq!(body(store, &theirs, "a").await, None);
    put(store, &theirs, "b", json!({ "number": 1 })).await;
    assert_eq!(body(store, &ours, "b").await, None);
    let again = collection(store, "ours", &[]).await;
    assert_eq!(again.id(), ours.id());
}
