//! The quotas of capabilities, as their callers and the operator see them.

use crate::harness::{Agent, Host, Options, PATIENCE, postgres};
use serde_json::{Value, json};

/// Small quotas, which few calls use up. Opening an account writes a document; so does counting.
const QUOTAS: &str = "
[quotas.ledger]
documents = 4
timers = 2

[quotas.notes]
documents = 1
";

async fn sqlite_host() -> Host {
    Host::start(Options::with(&["ledger", "notes"]).configuration(QUOTAS)).await
}

async fn postgres_host() -> Host {
    let url = postgres::database().await;
    let options = Options::with(&["ledger", "notes"]).configuration(QUOTAS);
    Host::start(options.postgres(&url)).await
}

/// Makes each case a test on SQLite and a test on PostgreSQL.
macro_rules! on_both {
    ($($case:ident)*) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case(super::sqlite_host().await).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case(super::postgres_host().await).await;
            })*
        }
    };
}

on_both! {
    a_call_over_a_quota_is_refused_and_others_do_not_notice
    timers_over_the_quota_are_refused
    a_nested_call_over_its_quota_undoes_the_whole_call
    what_a_callee_counts_is_kept_when_the_caller_is_over_its_quota
    a_timer_over_the_quota_writes_nothing_and_runs_later
}

async fn open(agent: &Agent<'_>, accounts: &[&str]) {
    for account in accounts {
        agent.result("ledger", json!({ "action": "open", "account": account })).await;
    }
}

fn transfer_input(to: &str) -> Value {
    json!({ "from": "bank", "to": to, "amount": 1 })
}

fn put_note(id: &str) -> Value {
    json!({ "action": "put", "id": id, "note": { "title": "t", "body": "" } })
}

/// Returns the outcomes of an action in the audit log, the newest first.
async fn outcomes(host: &Host, action: &str) -> Vec<Value> {
    let audit = host.operate(&format!("/audit?action={action}")).await.body;
    audit["entries"].as_array().unwrap().iter().map(|entry| entry["outcome"].clone()).collect()
}

async fn a_call_over_a_quota_is_refused_and_others_do_not_notice(host: Host) {
    let agent = host.claimed_agent().await;
    open(&agent, &["bank", "ada", "ben", "cid"]).await;
    let refused = agent.call("ledger", json!({ "action": "open", "account": "dan" })).await;
    refused.assert_refused(429, "quota_exceeded");
    let conflict =
        json!({ "kind": "limit", "name": "documents", "limit": 4, "capability": "ledger" });
    assert_eq!(refused.body["conflict"], conflict);
    let balance = json!({ "action": "balance", "account": "dan" });
    agent.call("ledger", balance).await.assert_refused(404, "account_not_found");
    assert_eq!(outcomes(&host, "open").await[0], "quota_exceeded");
    // Changing a document does not count as another one, and another capability has its own quota.
    agent.result("notes", put_note("one")).await;
    agent.call("notes", put_note("two")).await.assert_refused(429, "quota_exceeded");
    agent.result("notes", put_note("one")).await;
    // A deleted document no longer counts.
    agent.result("notes", json!({ "action": "delete", "id": "one" })).await;
    agent.result("notes", put_note("two")).await;
}

async fn timers_over_the_quota_are_refused(host: Host) {
    let agent = host.claimed_agent().await;
    let schedule = async |timer: &str| {
        let (hour, order) = (3_600_000, transfer_input("ada"));
        let body =
            json!({ "action": "schedule", "timer": timer, "after_ms": hour, "order": order });
        agent.call("ledger", body).await
    };
    for timer in ["one", "two", "one"] {
        assert_eq!(schedule(timer).await.status, 200);
    }
    let refused = schedule("three").await;
    refused.assert_refused(429, "quota_exceeded");
    assert_eq!(refused.body["conflict"]["name"], "timers");
    agent.result("ledger", json!({ "action": "unschedule", "timer": "one" })).await;
    assert_eq!(schedule("three").await.status, 200);
}

async fn a_nested_call_over_its_quota_undoes_the_whole_call(host: Host) {
    let agent = host.claimed_agent().await;
    open(&agent, &["bank", "ada"]).await;
    agent.result("notes", put_note("one")).await;
    let body = json!({ "action": "pay_through", "order": transfer_input("ada"), "note": "two" });
    let refused = agent.call("ledger", body).await;
    refused.assert_refused(429, "quota_exceeded");
    assert_eq!(refused.body["conflict"]["capability"], "notes");
    let balance = agent.result("ledger", json!({ "action": "balance", "account": "ada" })).await;
    assert_eq!(balance["balance"], 0);
    let statement = json!({ "action": "statement", "account": "ada", "limit": 9 });
    assert_eq!(agent.result("ledger", statement).await["items"], json!([]));
}

async fn what_a_callee_counts_is_kept_when_the_caller_is_over_its_quota(host: Host) {
    let agent = host.claimed_agent().await;
    open(&agent, &["bank", "ada", "ben", "cid"]).await;
    // The wrong guess is counted although the call is refused: otherwise a caller at its quota
    // could guess without limit.
    let body =
        json!({ "action": "pay_despite_guess", "order": transfer_input("ada"), "word": "wrong" });
    agent.call("ledger", body).await.assert_refused(429, "quota_exceeded");
    let guesses = agent.result("notes", json!({ "action": "guesses", "word": "wrong" })).await;
    assert_eq!(guesses["count"], 1);
    assert_eq!(outcomes(&host, "guess").await, ["wrong_guess"]);
}

async fn a_timer_over_the_quota_writes_nothing_and_runs_later(host: Host) {
    let agent = host.claimed_agent().await;
    open(&agent, &["bank", "ada", "ben"]).await;
    // The timer's action needs two documents more: a counter and a transfer.
    let body = json!({ "action": "schedule", "timer": "late", "after_ms": 0, "order": transfer_input("ada") });
    agent.result("ledger", body).await;
    let run = async { while outcomes(&host, "due").await.is_empty() {} };
    tokio::time::timeout(PATIENCE, run).await.unwrap();
    assert_eq!(outcomes(&host, "due").await[0], "quota_exceeded");
    let counter = agent.result("ledger", json!({ "action": "counter", "name": "late" })).await;
    assert_eq!(counter["count"], 0);
    let timers = host.operate("/timers").await.body;
    assert_eq!(timers["timers"][0]["pending"], 1);
}
