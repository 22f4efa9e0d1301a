//! Nodes behind PgBouncer in transaction mode, with far fewer sessions than they have connections.

use crate::{
    cases::store::{Opened, keys, quotas},
    harness::{
        Agent, Host, Options, PATIENCE, Reply,
        database::Database,
        inbox::{Reader, texts},
        join_all,
        pooler::Pooler,
        postgres,
    },
};
use portolan_store::{DatabaseUrl, Store};
use portolan_vocabulary::Clock;
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};
use tempfile::TempDir;

/// The sessions for all nodes of a test.
const FIVE_SESSIONS: &str = "default_pool_size = 5";
/// The public address, so that tokens are valid at every node.
const ADDRESS: &str = "public_url = \"http://portolan.test\"\n";
const WRITERS: usize = 8;
/// The number of transfers of each writer.
const TRANSFERS: usize = 15;
const RESTARTS: usize = 3;

/// Opens a store behind a pooler. Its URL is that of PostgreSQL itself.
pub(super) async fn opened() -> (Opened, Pooler) {
    let direct = postgres::database().await;
    let pooler = Pooler::start(&direct, FIVE_SESSIONS);
    let url: DatabaseUrl = pooler.url.parse().unwrap();
    let store = Store::open(&url, &keys(), Clock::system(), quotas()).await.unwrap();
    let (url, _folder) = (direct.parse().unwrap(), TempDir::new().unwrap());
    (Opened { store, url, _folder }, pooler)
}

/// Makes each case a test on SQLite, a test on PostgreSQL, and a test on PostgreSQL behind a pooler.
#[macro_export]
macro_rules! on_all {
    ($($case:ident)*) => {
        $crate::on_both! { $($case)* }
        mod on_pooled {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                let (opened, _pooler) = $crate::cases::pooled::opened().await;
                super::$case(opened).await;
            })*
        }
    };
}

/// Starts two nodes behind a pooler, one of them with few connections.
async fn nodes(pooler: &Pooler, components: &[&str], settings: &str) -> [Host; 2] {
    let node = |more: &str| {
        let options = Options::with(components).postgres(&pooler.url);
        Host::start(options.add_configuration(&format!("{ADDRESS}{settings}\n{more}")))
    };
    [node("").await, node("database_connections = 12\ndatabase_pooler = \"transaction\"").await]
}

/// Repeats a call until the database is back. Every other answer is one that tells when to try again.
async fn repeat<F: Future<Output = Reply>>(call: impl Fn() -> F) -> Value {
    let started = Instant::now();
    loop {
        let reply = call().await;
        let code = reply.body["error_code"].as_str().unwrap_or_default();
        match (reply.status.as_u16(), code) {
            (200, _) => return reply.body["result"].clone(),
            (409, "version_conflict" | "idempotency_in_progress") => {}
            (503, "dependency_unavailable" | "capability_unavailable") => {
                assert!(!reply.header("retry-after").is_empty(), "{}", reply.text);
            }
            other => panic!("{other:?}: {}", reply.text),
        }
        assert!(started.elapsed() < PATIENCE, "{}", reply.text);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Transfers one from the bank to Ada under an idempotency key, which is also the memo.
async fn transfer(host: &Host, token: &str, key: &str) -> Reply {
    let body =
        json!({ "action": "transfer", "from": "bank", "to": "ada", "amount": 1, "memo": key });
    let (bearer, key) = (format!("Bearer {token}"), format!("\"{key}\""));
    let headers = [
        ("authorization", bearer.as_str()),
        ("content-type", "application/json"),
        ("idempotency-key", key.as_str()),
    ];
    let path = "/v1/capabilities/ledger/call";
    host.send(Method::POST, path, &headers, Some(body.to_string())).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn calls_conflicts_repeats_and_queries_work_at_both_nodes() {
    let pooler = Pooler::start(&postgres::database().await, FIVE_SESSIONS);
    let nodes = nodes(&pooler, &["ledger", "notes"], "").await;
    let agent = nodes[0].claimed_agent().await;
    for account in ["bank", "ada"] {
        agent.result("ledger", json!({ "action": "open", "account": account })).await;
    }
    let token = &agent.token;
    // All of them change the same two accounts, and each is sent to both nodes.
    let write = async |number: usize| {
        let key = format!("transfer {number}");
        let first = repeat(|| transfer(&nodes[number % 2], token, &key)).await;
        let second = repeat(|| transfer(&nodes[(number + 1) % 2], token, &key)).await;
        assert_eq!(first, second, "{key}");
    };
    join_all((0..30).map(write)).await;
    let there = Agent { host: &nodes[1], token: token.clone() };
    let balance = json!({ "action": "balance", "account": "ada" });
    assert_eq!(there.result("ledger", balance).await["balance"], 30);

    for number in 0..25 {
        let note = json!({ "title": format!("mountain {number}"), "priority": number });
        let put = json!({ "action": "put", "id": format!("note {number}"), "note": note });
        agent.result("notes", put).await;
    }
    let mut found = BTreeSet::new();
    let mut cursor = Value::Null;
    loop {
        let find = json!({
            "action": "find", "text": "mountain", "filter": { "priority": { "gte": 10 } },
            "limit": 4, "cursor": cursor,
        });
        let page = there.result("notes", find).await;
        found.extend(page["items"].as_array().unwrap().iter().map(|item| item["id"].to_string()));
        cursor = page["next"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(found.len(), 15, "{found:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_timer_and_a_subscription_run_once() {
    let pooler = Pooler::start(&postgres::database().await, FIVE_SESSIONS);
    let nodes = nodes(&pooler, &["ledger", "notes"], "").await;
    let agent = nodes[0].claimed_agent().await;
    for account in ["bank", "ada"] {
        agent.result("ledger", json!({ "action": "open", "account": account })).await;
    }
    let order = json!({ "from": "bank", "to": "ada", "amount": 7 });
    for number in 0..10 {
        let timer = json!({
            "action": "schedule", "timer": format!("timer {number}"), "after_ms": 0, "order": order,
        });
        agent.result("ledger", timer).await;
    }
    let heard = json!({ "action": "heard", "subject": "accounts/bank" });
    let started = Instant::now();
    loop {
        let transfers = agent.result("notes", heard.clone()).await["transfers"].clone();
        let count = transfers.as_array().unwrap().len();
        assert!(count <= 10, "{transfers}");
        if count == 10 {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "{transfers}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let balance = json!({ "action": "balance", "account": "ada" });
    assert_eq!(agent.result("ledger", balance).await["balance"], 70);
}

/// Lets a reader wait at one node for an event of the other.
async fn wake_a_reader_at_another_node(nodes: &[Host; 2]) {
    let [one, other] = nodes;
    let reader = Reader::new(one).await;
    let there = reader.at(other);
    let started = Instant::now();
    let (page, ()) = tokio::join!(there.page("wait=50"), async {
        while other.waiting_readers().await == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        reader.send_events("towns/1", &["over there"]).await;
    });
    assert_eq!(texts(&page), ["over there"]);
    assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_wakes_a_reader_at_another_node_without_listen() {
    let pooler = Pooler::start(&postgres::database().await, FIVE_SESSIONS);
    wake_a_reader_at_another_node(&nodes(&pooler, &["herald"], "").await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_direct_url_is_used_to_listen() {
    let url = postgres::database().await;
    let pooler = Pooler::start(&url, FIVE_SESSIONS);
    let direct = format!("database_direct_url = \"{url}\"");
    let nodes = nodes(&pooler, &["herald"], &direct).await;
    wake_a_reader_at_another_node(&nodes).await;
    let listening = "SELECT application_name FROM pg_stat_activity
        WHERE datname = current_database() AND query LIKE 'LISTEN %'";
    let (database, started) = (Database::Postgres(url), Instant::now());
    loop {
        let found = database.texts(listening).await;
        if found == ["portolan", "portolan"] {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "{found:?}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// Kills a pooler, and starts it again.
async fn restart(mut pooler: Pooler) -> Pooler {
    let restarted = tokio::task::spawn_blocking(move || {
        pooler.kill();
        pooler.start_again();
        pooler
    });
    restarted.await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_lost_or_done_twice_when_the_pooler_restarts() {
    let pooler = Pooler::start(&postgres::database().await, FIVE_SESSIONS);
    let nodes = nodes(&pooler, &["ledger"], "").await;
    let agent = nodes[0].claimed_agent().await;
    for account in ["bank", "ada"] {
        agent.result("ledger", json!({ "action": "open", "account": account })).await;
    }
    let (token, acknowledged) = (&agent.token, AtomicUsize::new(0));
    let write = async |writer: usize| {
        for number in 0..TRANSFERS {
            let key = format!("{writer}.{number}");
            repeat(|| transfer(&nodes[writer % 2], token, &key)).await;
            acknowledged.fetch_add(1, Ordering::Relaxed);
        }
    };
    let restarts = async {
        let mut pooler = pooler;
        for part in 1..=RESTARTS {
            // The writers are at work before and after each restart.
            let begun = part * WRITERS * TRANSFERS / (RESTARTS + 1);
            while acknowledged.load(Ordering::Relaxed) < begun {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            pooler = restart(pooler).await;
        }
        pooler
    };
    let (_written, _pooler) = tokio::join!(join_all((0..WRITERS).map(write)), restarts);
    let statement = json!({ "action": "statement", "account": "ada", "limit": 1000 });
    let found = repeat(|| agent.call("ledger", statement.clone())).await;
    let memos: Vec<_> =
        found["items"].as_array().unwrap().iter().map(|item| &item["memo"]).collect();
    let distinct: BTreeSet<_> = memos.iter().map(ToString::to_string).collect();
    assert_eq!((memos.len(), distinct.len()), (WRITERS * TRANSFERS, WRITERS * TRANSFERS));
    let balance = json!({ "action": "balance", "account": "ada" });
    let balance = repeat(|| agent.call("ledger", balance.clone())).await;
    assert_eq!(balance["balance"], json!(WRITERS * TRANSFERS));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_leaves_a_server_that_takes_no_writes_any_more() {
    let url = postgres::database().await;
    let (_, name) = url.rsplit_once('/').unwrap();
    let database = Database::Postgres(url.clone());
    let host = Host::start(Options::with(&["notes"]).postgres(&url)).await;
    let agent = host.claimed_agent().await;
    let put = |id: &str| json!({ "action": "put", "id": id, "note": { "title": id } });
    agent.result("notes", put("before")).await;
    // As when a primary becomes a standby: its sessions end, and the new ones take no writes.
    database
        .execute(&format!("ALTER DATABASE {name} SET default_transaction_read_only = on"))
        .await;
    database
        .execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE datname = current_database() AND pid <> pg_backend_pid()",
        )
        .await;
    for number in 0..5 {
        let reply = agent.call("notes", put(&format!("meanwhile {number}"))).await;
        reply.assert_refused(503, "dependency_unavailable");
        assert!(!reply.header("retry-after").is_empty(), "{}", reply.text);
    }
    let back = format!("ALTER DATABASE {name} RESET default_transaction_read_only");
    database.execute(&format!("BEGIN READ WRITE; {back}; COMMIT")).await;
    // No session of the time between is used again, neither for calls nor for the host's own work.
    repeat(|| agent.call("notes", put("after"))).await;
    let started = Instant::now();
    loop {
        let ready = host.operate("/readyz").await;
        if ready.status == 200 {
            break;
        }
        assert!(started.elapsed() < PATIENCE, "{}", ready.text);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    for number in 0..5 {
        let get = json!({ "action": "get", "id": format!("meanwhile {number}") });
        agent.call("notes", get).await.assert_refused(404, "note_not_found");
    }
}
