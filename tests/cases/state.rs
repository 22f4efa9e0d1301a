//! Every call is a transaction: black-box tests with the capabilities `ledger` and `notes`, on
//! SQLite and on PostgreSQL.

use crate::harness::{Agent, Host, Options, PATIENCE, Process, Reply, join_all, postgres};
use serde_json::{Value, json};

/// The database of a host of these tests.
enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    async fn options(&self, names: &[&str]) -> Options {
        let options = Options::with(names);
        match self {
            Self::Sqlite => options,
            Self::Postgres => options.postgres(&postgres::database().await),
        }
    }

    async fn host(&self, names: &[&str]) -> Host {
        Host::start(self.options(names).await).await
    }

    async fn process(&self, names: &[&str]) -> Process {
        Process::start(self.options(names).await)
    }
}

/// Makes each case a test on SQLite and a test on PostgreSQL.
macro_rules! on_both {
    ($($case:ident)*) => {
        mod on_sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case(super::Kind::Sqlite).await;
            })*
        }
        mod on_postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $case() {
                super::$case(super::Kind::Postgres).await;
            })*
        }
    };
}

on_both! {
    writes_of_a_call_are_kept_and_survive_a_restart
    a_call_that_fails_after_writing_leaves_nothing
    a_dry_run_answers_like_a_call_and_changes_nothing
    a_repeated_call_replays_the_first_answer_and_runs_once
    one_of_many_concurrent_calls_with_one_key_runs
    many_calls_on_one_account_all_go_through
    a_nested_call_is_part_of_its_callers_unit_of_work
    writes_kept_by_a_refused_nested_call_stay_when_its_caller_refuses
    nested_calls_are_in_the_audit_log_with_their_effects
    an_action_that_reads_cannot_write
    a_capability_seals_with_keys_of_its_own
    notes_are_found_over_rest
    a_timer_runs_when_it_is_due_and_once
    subscribers_get_committed_events_in_order
}

async fn open(agent: &Agent<'_>, accounts: &[&str]) {
    for account in accounts {
        agent.result("ledger", json!({ "action": "open", "account": account })).await;
    }
}

fn transfer_input(action: &str, from: &str, to: &str, amount: i64) -> Value {
    json!({ "action": action, "from": from, "to": to, "amount": amount })
}

async fn balance(agent: &Agent<'_>, account: &str) -> i64 {
    let balance = agent.result("ledger", json!({ "action": "balance", "account": account })).await;
    balance["balance"].as_i64().unwrap()
}

async fn writes_of_a_call_are_kept_and_survive_a_restart(kind: Kind) {
    let host = kind.process(&["ledger", "notes"]).await;
    let agent = host.claimed_agent().await;
    open(&agent, &["bank", "ada"]).await;
    let receipt = agent.result("ledger", transfer_input("transfer", "bank", "ada", 70)).await;
    assert_eq!((&receipt["from_balance"], &receipt["to_balance"]), (&json!(-70), &json!(70)));
    let again = agent.call("ledger", json!({ "action": "open", "account": "ada" })).await;
    assert_eq!(again.body["error_code"], "account_exists");

    host.signal("KILL");
    let (_, folder) = host.wait();
    let host = Process::start_in(folder);
    let agent = host.claimed_agent().await;
    assert_eq!(balance(&agent, "ada").await, 70);
}

async fn a_call_that_fails_after_writing_leaves_nothing(kind: Kind) {
    let host = kind.host(&["ledger", "notes"]).await;
    let agent = host.claimed_agent().await;
    open(&agent, &["bank", "ada"]).await;
    let trapped =
        agent.call("ledger", transfer_input("transfer_then_trap", "bank", "ada", 1)).await;
    assert_eq!(trapped.body["error_code"], "capability_trapped");
    let refused =
        agent.call("ledger", transfer_input("transfer_then_refuse", "bank", "ada", 1)).await;
    assert_eq!(refused.body["error_code"], "changed_mind");
    let poor = agent.call("ledger", transfer_input("transfer", "ada", "bank", 1)).await;
    assert_eq!(poor.body["error_code"], "insufficient_funds");
    assert_eq!((balance(&agent, "bank").await, balance(&agent, "ada").await), (0, 0));

    for count in 1..=2 {
        let counted =
            agent.call("ledger", json!({ "action": "refuse_but_keep", "name": "tries" })).await;
        assert_eq!(counted.body["error_code"], "attempt_counted");
        let counter = agent.result("ledger", json!({ "action": "counter", "name": "tries" })).await;
        assert_eq!(counter["count"], count);
    }
}

async fn a_dry_run_answers_like_a_call_and_changes_nothing(kind: Kind) {
    let host = kind.host(&["ledger"]).await;
    let agent = host.claimed_agent().await;
    open(&agent, &["bank", "ada"]).await;
    let mut body = transfer_input("transfer", "bank", "ada", 5);
    body["dry_run"] = json!(true);
    body["idempotency_key"] = json!("once");
    let reply = agent.call("ledger", body).await;
    assert_eq!(
        (&reply.body["result"]["to_balance"], &reply.body["meta"]["dry_run"]),
        (&json!(5), &json!(true))
    );
    assert_eq!(
        reply.body["meta"]["would_emit"],
        json!([
            { "event_type": "ledger.transferred", "subject": "accounts/bank" },
        ])
    );
    assert_eq!(balance(&agent, "ada").await, 0);
    let mut body = transfer_input("transfer", "bank", "ada", 5);
    body["idempotency_key"] = json!("once");
    assert_eq!(agent.call("ledger", body).await.body["meta"]["replayed"], false);
    assert_eq!(balance(&agent, "ada").await, 5);
}

async fn a_repeated_call_replays_the_first_answer_and_runs_once(kind: Kind) {
    let host = kind.host(&["ledger"]).await;
    let agent = host.claimed_agent().await;
    open(&agent, &["bank", "ada"]).await;
    let keyed = |amount: i64| {
        let mut body = transfer_input("transfer", "bank", "ada", amount);
        body["idempotency_key"] = json!("a key");
        body
    };
    let first = agent.call("ledger", keyed(5)).await;
    let second = agent.call("ledger", keyed(5)).await;
    assert_eq!(first.body["result"], second.body["result"]);
    assert_eq!(
        (&first.body["meta"]["replayed"], &second.body["meta"]["replayed"]),
        (&json!(false), &json!(true))
    );
    let reused = agent.call("ledger", keyed(6)).await;
    assert_eq!(
        (reused.status.as_u16(), &reused.body["error_code"]),
        (422, &json!("idempotency_key_reused"))
    );
    assert_eq!(balance(&agent, "ada").await, 5);

    // Idempotency keys of different agents are different.
    let other = host.claimed_agent().await;
    assert_eq!(other.call("ledger", keyed(7)).await.body["meta"]["replayed"], false);

    // A refused call that changed nothing is not stored: it may succeed later with the same key.
    let mut poor = transfer_input("transfer", "ada", "bank", 100);
    poor["idempotency_key"] = json!("poor");
    let refused = agent.call("ledger", poor.clone()).await;
    assert_eq!(refused.body["error_code"], "insufficient_funds");
    agent.result("ledger", transfer_input("transfer", "bank", "ada", 100)).await;
    assert_eq!(agent.call("ledger", poor).await.status, 200);

    let mut first = transfer_input("refuse_but_keep", "", "", 0);
    first = json!({ "action": first["action"], "name": "keyed", "idempotency_key": "count" });
    for _ in 0..2 {
        let counted = agent.call("ledger", first.clone()).await;
        assert_eq!(counted.body["error_code"], "attempt_counted");
    }
    let counter = agent.result("ledger", json!({ "action": "counter", "name": "keyed" })).await;
    assert_eq!(counter["count"], 1);
}

async fn one_of_many_concurrent_calls_with_one_key_runs(kind: Kind) {
    let host = kind.host(&["ledger"]).await;
    let agent = host.claimed_agent().await;
    open(&agent, &["bank", "ada"]).await;
    let mut body = transfer_input("transfer", "bank", "ada", 1);
    body["idempotency_key"] = json!("a key");
    let calls = (0..16).map(|_| agent.call("ledger", body.clone()));
    for reply in join_all(calls).await {
        let code = reply.body["error_code"].as_str();
        assert!(reply.status == 200 || code == Some("idempotency_in_progress"), "{}", reply.body);
    }
    assert_eq!(balance(&agent, "ada").await, 1);
}

async fn many_calls_on_one_account_all_go_through(kind: Kind) {
    let host = kind.host(&["ledger"]).await;
    let agent = host.claimed_agent().await;
    open(&agent, &["bank", "ada"]).await;
    let calls = (0..64).map(async |_| {
        loop {
            let reply = agent.call("ledger", transfer_input("transfer", "bank", "ada", 1)).await;
            // The call may have conflicted with others each time it was run again.
            if reply.body["error_code"] != "version_conflict" {
                return reply;
            }
        }
    });
    for reply in join_all(calls).await {
        assert_eq!(reply.status, 200, "{}", reply.body);
    }
    assert_eq!((balance(&agent, "bank").await, balance(&agent, "ada").await), (-64, 64));
}

async fn a_nested_call_is_part_of_its_callers_unit_of_work(kind: Kind) {
    let host = kind.host(&["ledger", "notes"]).await;
    let agent = host.claimed_agent().await;
    open(&agent, &["bank", "ada"]).await;
    let pay = |note: &str, then_refuse: bool| {
        json!({
            "action": "pay_through",
            "order": { "from": "bank", "to": "ada", "amount": 3 },
            "note": note,
            "then_refuse": then_refuse,
        })
    };
    let refused = agent.call("ledger", pay("n1", true)).await;
    assert_eq!(refused.body["error_code"], "changed_mind");
    let missing = agent.call("notes", json!({ "action": "get", "id": "n1" })).await;
    assert_eq!(missing.status, 404, "{}", missing.body);
    assert_eq!(balance(&agent, "ada").await, 0);

    agent.result("ledger", pay("n1", false)).await;
    agent.result("notes", json!({ "action": "get", "id": "n1" })).await;
    assert_eq!(balance(&agent, "ada").await, 3);

    // The callee's refusal is passed on, and the caller's writes are rolled back with it.
    let taken = agent.call("ledger", pay("n1", false)).await;
    assert_eq!(taken.body["error_code"], "note_exists");
    assert_eq!(balance(&agent, "ada").await, 3);

    let direct = agent
        .call("notes", json!({ "action": "add_internal", "id": "x", "title": "x", "body": "x" }))
        .await;
    assert_eq!(direct.body["error_code"], "unknown_action");
}

async fn writes_kept_by_a_refused_nested_call_stay_when_its_caller_refuses(kind: Kind) {
    let host = kind.host(&["ledger", "notes"]).await;
    let agent = host.claimed_agent().await;
    open(&agent, &["bank", "ada"]).await;
    let pay = |dry_run: bool| {
        let order = json!({ "from": "bank", "to": "ada", "amount": 3 });
        json!({ "action": "pay_with_guess", "order": order, "word": "secret", "dry_run": dry_run })
    };
    let guesses = json!({ "action": "guesses", "word": "secret" });
    for count in 1..=2 {
        // A dry run keeps nothing at all.
        for dry_run in [true, false] {
            let refused = agent.call("ledger", pay(dry_run)).await;
            assert_eq!(refused.body["error_code"], "wrong_guess", "{}", refused.body);
        }
        assert_eq!(agent.result("notes", guesses.clone()).await["count"], count);
    }
    // Writes are not kept if the component refuses with a code that it did not declare.
    let order = json!({ "from": "bank", "to": "ada", "amount": 3 });
    let broken = json!({ "action": "pay_with_guess", "order": order, "word": "undeclared" });
    let refused = agent.call("ledger", broken).await;
    assert_eq!(refused.body["error_code"], "capability_answer_invalid", "{}", refused.body);
    let guesses = json!({ "action": "guesses", "word": "undeclared" });
    assert_eq!(agent.result("notes", guesses).await["count"], 0);
    assert_eq!(balance(&agent, "ada").await, 0);
}

async fn nested_calls_are_in_the_audit_log_with_their_effects(kind: Kind) {
    let host = kind.host(&["ledger", "notes"]).await;
    let agent = host.claimed_agent().await;
    open(&agent, &["bank", "ada"]).await;
    let order = json!({ "from": "bank", "to": "ada", "amount": 3 });
    let pay = json!({ "action": "pay_through", "order": order, "note": "n1" });
    agent.result("ledger", pay.clone()).await;
    agent.call("ledger", pay).await.assert_refused(409, "note_exists");
    agent.call("ledger", json!({ "action": "pay_with_guess", "order": order, "word": "w" })).await;
    let endless = json!({ "action": "pay_with_guess", "order": order, "word": "forever" });
    agent.call("ledger", endless).await.assert_refused(504, "capability_timeout");
    let reply =
        host.operator.get(format!("{}/audit?limit=7", host.admin_url)).send().await.unwrap();
    let log = Reply::read(reply).await.body;
    // Nested calls that were rolled back with their caller have no rows; those whose
    // writes were kept do.
    let told: Vec<_> = log["entries"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["via"].clone(), row["action"].clone(), row["outcome"].clone()))
        .filter(|(_, action, _)| action != "open" && action != "on_transferred")
        .collect();
    let row = |via: Value, action: &str, outcome: &str| (via, json!(action), json!(outcome));
    assert_eq!(
        told,
        [
            row(json!([]), "pay_with_guess", "capability_timeout"),
            row(json!([]), "pay_with_guess", "wrong_guess"),
            row(json!(["ledger"]), "guess", "wrong_guess"),
            row(json!([]), "pay_through", "note_exists"),
            row(json!([]), "pay_through", "ok"),
            row(json!(["ledger"]), "add_internal", "ok"),
        ]
    );
}

async fn an_action_that_reads_cannot_write(kind: Kind) {
    let host = kind.host(&["notes"]).await;
    let agent = host.claimed_agent().await;
    let reply = agent.call("notes", json!({ "action": "write_unseen", "word": "secret" })).await;
    assert_ne!(reply.status, 200, "{}", reply.body);
    let guesses = agent.result("notes", json!({ "action": "guesses", "word": "secret" })).await;
    assert_eq!(guesses["count"], 0);
    assert!(host.log().contains("an action of access read changes nothing"), "{}", host.log());
}

async fn a_capability_seals_with_keys_of_its_own(kind: Kind) {
    let host = kind.host(&["notes"]).await;
    let agent = host.claimed_agent().await;
    let opened =
        agent.result("notes", json!({ "action": "seal_open", "text": "a phone number" })).await;
    assert_eq!(opened["mac_fits"], true);
    assert_eq!(opened["mac"].as_str().unwrap().len(), 64);
    let again =
        agent.result("notes", json!({ "action": "seal_open", "text": "a phone number" })).await;
    assert_eq!(again["mac"], opened["mac"]);
}

async fn notes_are_found_over_rest(kind: Kind) {
    let host = kind.host(&["ledger", "notes"]).await;
    let agent = host.claimed_agent().await;
    open(&agent, &["bank", "ada", "bob"]).await;
    for amount in 1..=5 {
        agent.result("ledger", transfer_input("transfer", "bank", "ada", amount)).await;
    }
    agent.result("ledger", transfer_input("transfer", "bank", "bob", 9)).await;
    let ask = |cursor: Option<&Value>| {
        let mut body = json!({ "action": "statement", "account": "ada", "limit": 3 });
        if let Some(cursor) = cursor {
            body["cursor"] = cursor.clone();
        }
        body
    };
    let first = agent.result("ledger", ask(None)).await;
    let second = agent.result("ledger", ask(Some(&first["next"]))).await;
    let amounts: Vec<i64> = [&first, &second]
        .iter()
        .flat_map(|page| page["items"].as_array().unwrap())
        .map(|item| item["amount"].as_i64().unwrap())
        .collect();
    assert_eq!((amounts.len(), amounts.iter().sum::<i64>()), (5, 15));
    let forged = agent.call("ledger", ask(Some(&json!("forged")))).await;
    assert_eq!(forged.body["error_code"], "cursor_invalid");
    assert_eq!(forged.body["next"], json!({ "capability": "ledger", "input": ask(None) }));
    let totals = agent.result("ledger", json!({ "action": "totals", "page_size": 2 })).await;
    assert_eq!((&totals["accounts"], &totals["sum"]), (&json!(3), &json!(0)));
}

/// Repeats a call until the answer satisfies the condition, and returns that answer.
async fn wait_until(
    agent: &Agent<'_>,
    capability: &str,
    ask: Value,
    wanted: impl Fn(&Value) -> bool,
) -> Value {
    let started = std::time::Instant::now();
    loop {
        let answer = agent.result(capability, ask.clone()).await;
        if wanted(&answer) {
            return answer;
        }
        assert!(started.elapsed() < PATIENCE, "{answer}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

async fn a_timer_runs_when_it_is_due_and_once(kind: Kind) {
    let host = kind.process(&["ledger"]).await;
    let agent = host.claimed_agent().await;
    open(&agent, &["bank", "ada"]).await;
    let schedule = |timer: &str, after_ms: u64, amount: i64| {
        json!({
            "action": "schedule",
            "timer": timer,
            "after_ms": after_ms,
            "order": { "from": "bank", "to": "ada", "amount": amount },
        })
    };
    let count = |name: &str| json!({ "action": "counter", "name": name });
    agent.result("ledger", schedule("replaced", 3_600_000, 1000)).await;
    agent.result("ledger", schedule("replaced", 0, 1)).await;
    agent.result("ledger", schedule("cancelled", 500, 100)).await;
    let cancelled =
        agent.result("ledger", json!({ "action": "unschedule", "timer": "cancelled" })).await;
    assert_eq!(cancelled["was_set"], true);
    wait_until(&agent, "ledger", count("replaced"), |counter| counter["count"] == 1).await;
    assert_eq!(balance(&agent, "ada").await, 1);

    // A timer is durable: it is set, the host is killed, and the next host runs it.
    agent.result("ledger", schedule("later", 1_500, 7)).await;
    host.signal("KILL");
    let (_, folder) = host.wait();
    let host = Process::start_in(folder);
    let agent = host.claimed_agent().await;
    wait_until(&agent, "ledger", count("later"), |counter| counter["count"] == 1).await;
    assert_eq!(balance(&agent, "ada").await, 8);
    assert_eq!(agent.result("ledger", count("cancelled")).await["count"], 0);
}

async fn subscribers_get_committed_events_in_order(kind: Kind) {
    let host = kind.host(&["ledger", "notes"]).await;
    let agent = host.claimed_agent().await;
    open(&agent, &["bank", "ada"]).await;
    agent.call("ledger", transfer_input("transfer_then_refuse", "bank", "ada", 1)).await;
    let mut transfers = Vec::new();
    for amount in 1..=5 {
        let receipt =
            agent.result("ledger", transfer_input("transfer", "bank", "ada", amount)).await;
        transfers.push(receipt["transfer"].clone());
    }
    let ask = json!({ "action": "heard", "subject": "accounts/bank" });
    let delivered = wait_until(&agent, "notes", ask, |delivered| {
        delivered["transfers"].as_array().is_some_and(|transfers| transfers.len() >= 5)
    });
    assert_eq!(delivered.await["transfers"], json!(transfers));
}
