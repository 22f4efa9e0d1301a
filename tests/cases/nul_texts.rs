//! The character U+0000, which no text of PostgreSQL can contain, in whatever a caller or a component gives: both
//! databases answer alike, and nobody else notices.

use crate::{
    cases::map_search::options_with,
    harness::{Agent, Host, component_sets::LISTINGS, hostile::with_script, join_all, postgres},
};
use serde_json::{Value, json};

/// The component that gives the character to each function of the host.
const NUL: &str = "nul";

/// The texts of a document, each with the character.
fn document() -> Value {
    json!({ "kind": "a\0b", "slug": "\0", "text": "quiet\0flat", "other": { "\0": ["\0"] } })
}

/// A component whose action `act` writes, and whose action `look` finds what was written.
fn script() -> Value {
    let put = |id: &str, body: Value| json!({ "op": "put", "collection": "things", "id": id, "body": body });
    let get = |id: &str| json!({ "op": "get", "collection": "things", "id": id });
    let find = |filter: Value| json!({ "op": "find", "collection": "things", "filter": filter, "limit": 10 });
    let words =
        |text: &str| json!({ "op": "find", "collection": "things", "words": text, "limit": 10 });
    let count =
        json!({ "op": "count", "collection": "things", "filter": { "kind": { "gt": "a\0" } } });
    let reads = [
        get("whole"),
        get("a\0"),
        find(json!({ "kind": { "eq": "a\0b" } })),
        find(json!({ "kind": { "in": ["\0", "ab"] } })),
        count,
        words("quiet\0flat"),
        words("\0"),
    ];
    let delete = json!({ "op": "delete", "collection": "things", "id": "a\0" });
    let publish = |to: &str, subject: &str| {
        let data = json!({ "text": "a\0b" });
        json!({ "op": "publish", "type": "nul.told", "to": to, "subject": subject, "data": data })
    };
    let timer = |name: &str| {
        let input = json!({ "text": "a\0b" });
        json!({ "op": "timer", "name": name, "after_ms": 0, "action": "due", "input": input })
    };
    let writes = [
        put("a\0", json!({})),
        put("whole", document()),
        put("second", json!({ "slug": "\0" })),
        delete,
        publish("capabilities", "a\0"),
        publish("agt_\0", "rain"),
        publish("capabilities", "rain"),
        timer("a\0"),
        timer("soon"),
    ];
    let due = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    let act: Vec<Value> = writes.into_iter().chain(reads.clone()).collect();
    let look: Vec<Value> = [get("due")].into_iter().chain(reads).collect();
    let index =
        |name: &str, unique: bool| json!({ "name": name, "paths": [name], "unique": unique });
    json!({
        "id": NUL,
        "collections": [{
            "name": "things",
            "indexes": [index("kind", false), index("slug", true)],
            "text": ["text"],
        }],
        "publishes": ["nul.told"],
        "actions": [
            { "name": "act", "operations": act },
            { "name": "look", "access": "read", "operations": look },
            {
                "name": "due",
                "access": "internal",
                "input": due,
                "operations": [put("due", json!({ "kind": "\0" }))],
            },
        ],
    })
}

/// Starts a host with the components on each database.
async fn hosts() -> [Host; 2] {
    let options = || {
        let names = [
            "herald",
            "ledger",
            "map_search",
            "notes",
            "saved_searches",
            "svc_events",
            "svc_webhooks",
        ];
        let mut options = options_with(&[&LISTINGS[..], &names].concat());
        options.components.push((format!("{NUL}.wasm"), with_script(&script())));
        options
    };
    let url = postgres::database().await;
    let other = Host::start(options().postgres(&url)).await;
    [Host::start(options()).await, other]
}

/// Calls an action of the component, and returns what each operation was answered or refused.
async fn operations(agent: &Agent<'_>, action: &str) -> Vec<(bool, String)> {
    let answer = agent.result(NUL, json!({ "action": action })).await;
    let report = |report: &Value| match report["refusal"].as_str() {
        Some(refusal) => (false, refusal.to_owned()),
        None => (true, report["last"].as_str().unwrap().to_owned()),
    };
    answer["operations"].as_array().unwrap().iter().map(report).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_component_gives_nul_to_every_function() {
    let mut answers = Vec::new();
    for host in hosts().await {
        let agent = host.claimed_agent().await;
        let written = operations(&agent, "act").await;
        host.wait_until_settled().await;
        let found = operations(&agent, "look").await;
        let texts: Vec<String> =
            [&written[..], &found].concat().into_iter().map(|(_, text)| text).collect();
        assert!(texts.iter().all(|text| !text.contains("Unavailable")), "{texts:#?}");
        let done = |operations: &[(bool, String)]| -> Vec<bool> {
            operations.iter().map(|(done, _)| *done).collect()
        };
        assert_eq!(
            done(&written[..9]),
            [false, true, false, true, false, false, true, false, true],
            "{written:#?}"
        );
        // The timer has run with its input.
        assert!(found[0].1.contains("\\\\u0000"), "{found:#?}");
        for reads in [&written[9..], &found[1..]] {
            assert_eq!(done(reads), [true, true, true, true, true, true, false], "{reads:#?}");
            assert!(reads[0].1.contains("quiet\\\\u0000flat"), "{reads:#?}");
            assert_eq!(reads[1].1, "None");
            assert_eq!(reads[2].1, "1");
            assert_eq!(reads[5].1, "1");
        }
        // The timer's document has the kind U+0000 alone.
        assert_eq!([&written[12].1, &found[4].1], ["0", "1"]);
        answers.push((written, found));
    }
    assert_eq!(answers[0], answers[1]);
}

/// Calls of callers with the status and the error code of each; no code for a success.
fn calls() -> Vec<(&'static str, Value, u16, &'static str)> {
    let note = json!({ "title": "\0", "body": "a\0b", "tags": ["\0"], "owner": "\0" });
    let owner = json!({ "owner": { "eq": "\0" } });
    vec![
        ("ledger", json!({ "action": "balance", "account": "\0" }), 404, "account_not_found"),
        ("ledger", json!({ "action": "balances", "accounts": ["\0", "a\0"] }), 200, ""),
        ("ledger", json!({ "action": "counter", "name": "\0" }), 200, ""),
        ("ledger", json!({ "action": "statement", "account": "\0" }), 200, ""),
        ("ledger", json!({ "action": "unschedule", "timer": "\0" }), 200, ""),
        ("notes", json!({ "action": "put", "id": "n", "note": note }), 200, ""),
        ("notes", json!({ "action": "get", "id": "n" }), 200, ""),
        ("notes", json!({ "action": "get", "id": "n\0" }), 404, "note_not_found"),
        ("notes", json!({ "action": "delete", "id": "n\0" }), 200, ""),
        ("notes", json!({ "action": "find", "filter": owner }), 200, ""),
        ("notes", json!({ "action": "count", "filter": owner }), 200, ""),
        ("notes", json!({ "action": "find", "text": "a\0b" }), 200, ""),
        ("notes", json!({ "action": "heard", "subject": "\0" }), 200, ""),
        ("notes", json!({ "action": "seal_open", "text": "\0" }), 200, ""),
        ("herald", json!({ "action": "proclaim", "subject": "towns/1", "texts": ["\0"] }), 200, ""),
        (
            "ledger",
            json!({ "action": "open", "account": "ada", "idempotency_key": "a\0b" }),
            400,
            "validation_failed",
        ),
        ("svc.events", json!({ "action": "ack", "ack_event_ids": ["evt_\0"] }), 200, ""),
    ]
}

/// Calls whose texts shipped capabilities judge; each is refused, or finds nothing.
fn judged_calls() -> [(&'static str, Value); 6] {
    [
        ("agent_listings", json!({ "action": "get", "listing_id": "\0" })),
        ("agent_listings", json!({ "action": "search", "q": "\0" })),
        ("map_search", json!({ "action": "search", "q": "a\0b" })),
        ("saved_searches", json!({ "action": "preview", "query": { "q": "a\0b" } })),
        ("social_org", json!({ "action": "search", "q": "a\0b" })),
        ("svc.webhooks", json!({ "action": "get", "webhook_id": "\0" })),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_caller_gives_nul_and_both_databases_answer_alike() {
    let mut answers = Vec::new();
    for host in hosts().await {
        let agent = host.claimed_agent().await;
        for (capability, body, status, code) in calls() {
            let reply = agent.call(capability, body.clone()).await;
            let found = reply.body["error_code"].as_str().unwrap_or_default();
            assert_eq!((reply.status.as_u16(), found), (status, code), "{body}: {}", reply.text);
            if code == "validation_failed" {
                let errors = &reply.body["conflict"]["errors"];
                assert_eq!(errors[0]["pointer"], "/idempotency_key", "{}", reply.text);
            }
        }
        let mut judged = Vec::new();
        for (capability, body) in judged_calls() {
            let reply = agent.call(capability, body).await;
            assert!(reply.status.as_u16() < 500, "{capability}: {}", reply.text);
            judged.push((capability, reply.status, reply.body["error_code"].clone()));
        }
        answers.push(judged);
        for path in ["agent_id", "owner_id", "capability", "action", "request_id", "outcome"] {
            let audited = host.operate(&format!("/audit?{path}=%00")).await;
            assert_eq!(
                (audited.status.as_u16(), &audited.body["entries"]),
                (200, &json!([])),
                "{path}"
            );
        }
    }
    assert_eq!(answers[0], answers[1]);
}

/// Reads an account again and again.
async fn read(agent: &Agent<'_>, account: &str, status: u16) {
    for _ in 0..20 {
        let reply = agent.call("ledger", json!({ "action": "balance", "account": account })).await;
        assert_eq!(reply.status.as_u16(), status, "{}", reply.text);
    }
}

/// Reads of many callers share a statement.
#[tokio::test(flavor = "multi_thread")]
async fn a_reader_beside_ids_with_nul_is_answered() {
    for host in hosts().await {
        let agent = host.claimed_agent().await;
        agent.result("ledger", json!({ "action": "open", "account": "bank" })).await;
        let reader = |number: usize| match number % 2 {
            0 => read(&agent, "bank", 200),
            _ => read(&agent, "\0", 404),
        };
        join_all((0..16).map(reader)).await;
    }
}
