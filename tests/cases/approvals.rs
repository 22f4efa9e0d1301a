//! Calls that agents make alone, calls that wait for the person, and the outcome of a decision.

use crate::{
    cases::account_pages::{form, forms, shown},
    harness::{
        Host, Options,
        approvals::{APPROVALS, Limited},
        oauth::text,
        time::{DAY, HOUR},
    },
};
use serde_json::{Value, json};

const LEDGER: &str = "ledger";

fn options() -> Options {
    let names = [
        "approvals",
        "agent_credits",
        "ledger",
        "social_permissions",
        "social_relationships",
        "svc_events",
        "svc_phone_binding",
        "svc_whoami",
    ];
    Options::with(&names)
}

pub async fn host() -> Host {
    Host::start(options()).await
}

fn open(account: &str) -> Value {
    json!({ "action": "open", "account": account })
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_policy_nothing_waits() {
    let host = host().await;
    let mut ada = Limited::new(&host).await;
    ada.agent().result(LEDGER, open("first")).await;
    ada.allow_alone(&["own"]).await;
    ada.waits(LEDGER, open("second")).await;
    ada.end_limits().await;
    ada.agent().result(LEDGER, open("second")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approved_call_is_made_once_and_its_answer_is_kept() {
    let host = host().await;
    let mut ada = Limited::new(&host).await;
    ada.allow_alone(&["own", "message"]).await;
    let id = ada.waits(LEDGER, open("savings")).await;
    let balance = json!({ "action": "balance", "account": "savings" });
    ada.agent().call(LEDGER, balance.clone()).await.assert_refused(404, "account_not_found");
    // The same call waits once, whatever its key is; what another key would do is not decided twice.
    assert_eq!(ada.waits(LEDGER, open("savings")).await, id);
    let mut keyed = open("savings");
    keyed["idempotency_key"] = json!("k1");
    assert_eq!(ada.waits(LEDGER, keyed).await, id);

    let page = ada.page().await;
    assert!(page.reply.text.contains("savings"), "{}", page.reply.text);
    assert_eq!(forms(&page, "Approve").len(), 1);
    let overview = ada.browser.open("/account").await;
    let facts = shown(&overview, "dl.facts div");
    assert!(facts.iter().any(|fact| fact.contains("wait")), "{facts:?}");
    ada.approve().await;

    let approval = ada.ended(&id).await;
    assert_eq!((&approval["state"], &approval["outcome"]["code"]), (&json!("done"), &Value::Null));
    let output: Value = serde_json::from_str(text(&approval["outcome"], "output")).unwrap();
    assert_eq!(output["account"], "savings");
    assert_eq!(ada.agent().result(LEDGER, balance).await["balance"], 0);
    let events = ada.events().await;
    let expected = [("approval.requested", "waiting"), ("approval.decided", "done")];
    let expected: Vec<_> = expected
        .map(|(event_type, state)| (event_type.to_owned(), id.clone(), state.to_owned()))
        .into();
    assert_eq!(events, expected);
    // It is decided: the page has no form for it any more.
    assert!(forms(&ada.page().await, "Approve").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_repeated_key_gets_the_answer_of_the_approved_call() {
    let host = host().await;
    let mut ada = Limited::new(&host).await;
    ada.allow_alone(&[]).await;
    let mut keyed = open("savings");
    keyed["idempotency_key"] = json!("k1");
    let id = ada.waits(LEDGER, keyed.clone()).await;
    ada.approve().await;
    ada.ended(&id).await;
    let reply = ada.agent().call(LEDGER, keyed).await;
    assert_eq!((reply.status.as_u16(), &reply.body["meta"]["replayed"]), (200, &json!(true)));
    assert_eq!(reply.body["result"]["account"], "savings");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_denied_call_is_not_made_and_not_asked_again_for_a_day() {
    let host = Host::start_at_fixed_time(options()).await;
    let mut ada = Limited::new(&host).await;
    ada.allow_alone(&[]).await;
    let id = ada.waits(LEDGER, open("savings")).await;
    ada.deny().await;
    assert_eq!(ada.get(&id).await["state"], "denied");
    let reply = ada.agent().call(LEDGER, open("savings")).await;
    reply.assert_refused(403, "approval_denied");
    assert_eq!(reply.body["conflict"]["approval_id"], json!(id));
    assert!(forms(&ada.page().await, "Approve").is_empty());
    assert_eq!(ada.events().await.last().unwrap().2, "denied");
    host.advance(DAY + HOUR).await;
    ada.renew().await;
    assert_ne!(ada.waits(LEDGER, open("savings")).await, id);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dry_run_says_that_the_call_would_wait() {
    let host = host().await;
    let mut ada = Limited::new(&host).await;
    let dry = json!({ "action": "open", "account": "savings", "dry_run": true });
    let reply = ada.agent().call(LEDGER, dry.clone()).await;
    assert_eq!(reply.body["meta"].get("needs_approval"), None, "{}", reply.text);
    ada.allow_alone(&["own"]).await;
    let reply = ada.agent().call(LEDGER, dry).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(reply.body["meta"]["needs_approval"], "undeclared");
    let list = ada.agent().result(APPROVALS, json!({ "action": "list" })).await;
    assert_eq!(list["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_limit_lets_the_right_calls_wait() {
    let host = Host::start_at_fixed_time(options()).await;
    let mut ada = Limited::new(&host).await;
    // Agents act alone from an hour on.
    let (from, to) = (&host.instant_after(HOUR)[11..16], &host.instant_after(2 * HOUR)[11..16]);
    let nobody = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
    let note = json!({ "action": "note", "owner_id": nobody, "text": "x" });
    let follow = json!({ "action": "follow", "owner_id": nobody });
    let transfer = |amount: u64| {
        json!({
            "action": "transfer", "to_agent_id": "agt_01JZX8Q4M2N6P7R8S9T0V1W2X3", "amount": amount,
        })
    };
    let mut outcomes = Vec::new();
    for limits in [
        &[("ask_first_contact", "on")][..],
        &[("max_amount", "5"), ("currency", "")],
        &[("from", from), ("to", to), ("time_zone", "UTC")],
    ] {
        ada.limit(|form| {
            limits
                .iter()
                .fold(form, |form, (name, value)| form.with(&format!("field.{name}"), value))
        })
        .await;
        let mut reasons = Vec::new();
        for (capability, body) in [
            ("social_relationships", note.clone()),
            ("social_relationships", follow.clone()),
            ("agent_credits", transfer(5)),
            ("agent_credits", transfer(6)),
        ] {
            let reply = ada.agent().call(capability, body).await;
            let reason = match reply.body["error_code"] == "approval_required" {
                true => text(&reply.body["conflict"], "reason").to_owned(),
                false => String::new(),
            };
            reasons.push(reason);
        }
        outcomes.push(reasons);
        ada.end_limits().await;
    }
    assert_eq!(outcomes[0], ["", "first_contact", "", ""]);
    assert_eq!(outcomes[1], ["", "", "", "amount"]);
    assert_eq!(outcomes[2], ["", "hours", "hours", "hours"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_person_permits_more() {
    let host = host().await;
    let mut ada = Limited::new(&host).await;
    ada.allow_alone(&["own"]).await;
    let id = ada.waits(LEDGER, open("savings")).await;
    for body in [
        json!({ "action": "set_policy", "alone": ["payment"] }),
        json!({ "action": "end_policy" }),
        json!({ "action": "set_counterpart", "counterpart_id": "x", "rule": "known" }),
        json!({ "action": "approve", "approval_id": id }),
        json!({ "action": "deny", "approval_id": id }),
    ] {
        let reply = ada.agent().call(APPROVALS, body).await;
        reply.assert_refused(403, "not_permitted");
        assert_eq!(reply.body["next"]["http"]["url"], "/account", "{}", reply.text);
    }
    // The actions of the person alone are not among those of agents.
    let schema = host.get("/v1/capabilities/approvals/schema").await.text;
    assert!(schema.contains("tighten") && !schema.contains("set_policy"), "{schema}");
    // An agent limits itself further, and cannot undo it.
    let tighten = |fields: Value| {
        let mut body = fields;
        body["action"] = json!("tighten");
        body
    };
    let policy = ada.agent().result(APPROVALS, tighten(json!({ "max_amount": 5 }))).await;
    assert_eq!((&policy["max_amount"], &policy["alone"]), (&json!(5), &json!(["own"])));
    let more = tighten(json!({ "max_amount": 500, "alone": ["own", "payment"] }));
    let policy = ada.agent().result(APPROVALS, more).await;
    assert_eq!((&policy["max_amount"], &policy["alone"]), (&json!(5), &json!(["own"])));
    // The agent takes its own call back.
    let cancel = json!({ "action": "cancel", "approval_id": id });
    assert_eq!(ada.agent().result(APPROVALS, cancel).await["state"], "cancelled");
    assert!(forms(&ada.page().await, "Approve").is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_decides_about_their_own_calls_alone() {
    let host = host().await;
    let mut ada = Limited::new(&host).await;
    ada.allow_alone(&[]).await;
    let id = ada.waits(LEDGER, open("savings")).await;
    let stranger = host.claimed_agent().await;
    let get = json!({ "action": "get", "approval_id": id });
    stranger.call(APPROVALS, get).await.assert_refused(404, "approval_not_found");
    let cancel = json!({ "action": "cancel", "approval_id": id });
    stranger.call(APPROVALS, cancel).await.assert_refused(404, "approval_not_found");
    // An action of the person on their pages does not wait.
    let page = ada.browser.open("/account/social_relationships").await;
    let block = form(&page, "Block a person").with("agreed", "on");
    let block = block.with("field.owner_id", "own_01JZX8Q4M2N6P7R8S9T0V1W2X3");
    let page = block.submit(&mut ada.browser, "/account/social_relationships").await;
    assert_ne!(page.reply.status, 403, "{}", page.reply.text);
}

#[test]
fn every_shipped_capability_says_what_its_writes_bring_about() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../plugins");
    let mut checked = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path().join("src/lib.rs");
        let Ok(text) = std::fs::read_to_string(&path) else { continue };
        if !text.contains("access = write") {
            continue;
        }
        let attribute = text.split_once("#[capability(").unwrap().1.split_once(")]").unwrap().0;
        assert!(attribute.contains("consequence = "), "{}", path.display());
        checked += 1;
    }
    assert!(checked > 20, "{checked}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_made_once_although_its_outcome_is_told_late() {
    let host = Host::start_at_fixed_time(options()).await;
    let mut ada = Limited::new(&host).await;
    ada.allow_alone(&[]).await;
    let id = ada.waits(LEDGER, open("savings")).await;
    let database = host.database();
    let body = format!("SELECT body FROM documents WHERE id = '{id}'");
    let body: Value = serde_json::from_str(&database.texts(&body).await.remove(0)).unwrap();
    ada.approve().await;
    ada.ended(&id).await;
    // As after a crash between the call's commit and the telling of its outcome.
    let call: Value = serde_json::from_str(text(&body, "call")).unwrap();
    let input = json!({ "approval_id": id, "call": call }).to_string().replace('\'', "''");
    let approved = format!(
        "UPDATE documents SET body = replace(body, '\"state\":\"done\"', '\"state\":\"approved\"')
         WHERE id = '{id}'"
    );
    assert_eq!(database.execute(&approved).await, 1);
    assert_eq!(ada.get(&id).await["state"], "approved");
    let at = host.clock.now().as_millis() + 2 * DAY.as_millis() as u64;
    let again = format!(
        "INSERT INTO timers (capability, name, test_mode, setting, action, input, at, due_at, attempts)
         SELECT ':approved/approvals', '{id}', test_mode, 'set_again', 'executed', '{input}', {at}, {at}, 0
         FROM timers WHERE name = 'due/{id}'"
    );
    assert_eq!(database.execute(&again).await, 1);
    host.advance(2 * DAY + HOUR).await;
    ada.renew().await;
    let approval = ada.ended(&id).await;
    // A second call would be refused, because there is such an account.
    assert_eq!(approval["state"], "done", "{approval:#}");
    assert!(text(&approval["outcome"], "output").contains("savings"), "{approval:#}");
}
