//! The providers and the costs of text messages.

use crate::harness::{
    Agent, Host, Options, Process, Reply,
    oauth::ADA,
    person::{code, messages},
    time::{DAY, HOUR},
};
use serde_json::json;

const BINDING: &str = "svc.phone-binding";

fn options(configuration: &str) -> Options {
    Options::with(&["svc_phone_binding"]).configuration(configuration)
}

async fn host(configuration: &str) -> Host {
    Host::start(options(configuration)).await
}

/// Kills a host, and returns the next one on its folder.
async fn next(host: Process) -> Host {
    host.signal("KILL");
    let (_, folder) = host.wait();
    Host::start_in(folder).await
}

/// Asks for a code of a number as a new agent.
async fn ask(host: &Host, phone: &str) -> Reply {
    host.agent().await.call(BINDING, json!({ "action": "bind", "phone": phone })).await
}

/// Returns a number that nobody else has, in the block of all these numbers.
fn number(last: usize) -> String {
    format!("+120155501{last:02}")
}

async fn claim<'a>(host: &'a Host, phone: &str, message: usize) -> Agent<'a> {
    let agent = host.agent().await;
    agent.result(BINDING, json!({ "action": "bind", "phone": phone })).await;
    let code = code(host, message).await;
    agent.result(BINDING, json!({ "action": "verify", "code": code })).await;
    agent
}

async fn metric(host: &Host, name: &str) -> f64 {
    let metrics = host.operate("/metrics").await.text;
    let line = metrics.lines().find(|line| line.starts_with(name));
    let line = line.unwrap_or_else(|| panic!("no {name} in {metrics}"));
    line.rsplit(' ').next().unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn messages_go_only_where_the_operator_sends_them() {
    let host = host(
        "[text_messages]\nallowed_prefixes = [\"+1\", \"+44\"]\nrefused_prefixes = [\"+1876\"]\n",
    )
    .await;
    for phone in ["+33612345678", "+18762101234", "+881612345678", "+8823421234", "+19002345678"] {
        ask(&host, phone).await.assert_refused(422, "phone_not_allowed");
    }
    assert_eq!(messages(&host, 0).await.len(), 0);
    for phone in [ADA, "+447400123456"] {
        assert_eq!(ask(&host, phone).await.status, 200, "{phone}");
    }
    let refused = "portolan_text_messages_total{recipient=\"unknown\",outcome=\"destination\"}";
    assert_eq!(metric(&host, refused).await, 2.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn when_the_budget_is_spent_people_with_an_account_still_get_messages() {
    let settings = "[text_messages]\ndefault_price = 1\ndaily_budget = 10\nreserved_percent = 30\n";
    let host = Process::start(options(settings));
    claim(&host, ADA, 1).await;
    for last in 30..36 {
        assert_eq!(ask(&host, &number(last)).await.status, 200);
    }
    assert_eq!(metric(&host, "portolan_text_message_budget_exhausted").await, 1.0);
    let refused = ask(&host, &number(36)).await;
    refused.assert_refused(429, "sms_rate_limited");
    let wait = refused.body["next"]["after_s"].as_u64().unwrap();
    assert!((1..=86_400).contains(&wait), "{wait}");
    assert!(host.log().contains("budget of text messages is spent"), "{}", host.log());

    // The count outlives the node.
    let host = next(host).await;
    ask(&host, &number(37)).await.assert_refused(429, "sms_rate_limited");
    // One of the seven numbers has an account: three messages are left for it.
    for _ in 0..3 {
        assert_eq!(ask(&host, ADA).await.body["result"]["channel"], "sms");
    }
    assert!(host.log().contains("80 % of the day's budget"), "{}", host.log());
    let spent = "portolan_text_message_spending{recipient=\"known\"}";
    assert_eq!(metric(&host, spent).await, 3.0);
    assert_eq!(ask(&host, ADA).await.body["result"]["channel"], "link");
    assert_eq!(messages(&host, 10).await.len(), 10);

    host.advance(DAY).await;
    assert_eq!(ask(&host, &number(38)).await.status, 200);
    assert_eq!(metric(&host, "portolan_text_message_budget_exhausted").await, 0.0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_prefix_whose_codes_nobody_enters_gets_no_more_messages_for_a_while() {
    let host = host("").await;
    claim(&host, ADA, 1).await;
    let mut last = 30;
    let refused = loop {
        let reply = ask(&host, &number(last)).await;
        if reply.status != 200 {
            break reply;
        }
        last += 1;
        assert!(last < 60);
    };
    refused.assert_refused(429, "sms_rate_limited");
    let wait = refused.body["next"]["after_s"].as_u64().unwrap();
    assert!((1..=3600).contains(&wait), "{wait}");
    assert_eq!(messages(&host, 20).await.len(), 20);
    // Other prefixes, and a number of this one that somebody has proved, get theirs.
    for phone in ["+447400123456", ADA] {
        let reply = ask(&host, phone).await;
        assert_eq!(reply.body["result"]["channel"], "sms", "{}", reply.text);
    }
    host.advance(HOUR).await;
    assert_eq!(ask(&host, &number(last)).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_restart_does_not_forget_how_many_messages_an_address_has_caused() {
    let settings = "rate_limits = \"on\"\n[limits]\nmessages_per_hour = 2\n";
    let host = Process::start(options(settings));
    for last in [30, 31] {
        assert_eq!(ask(&host, &number(last)).await.status, 200);
    }
    let host = next(host).await;
    let refused = ask(&host, &number(32)).await;
    refused.assert_refused(429, "sms_rate_limited");
    let wait = refused.body["next"]["after_s"].as_u64().unwrap();
    assert!((1..=1800).contains(&wait), "{wait}");
    let names = host.database().texts("SELECT name FROM counters").await;
    assert!(names.iter().all(|name| !name.contains("127.0.0.1")), "{names:?}");
    host.advance(HOUR).await;
    assert_eq!(ask(&host, &number(33)).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_sends_nothing_spends_nothing() {
    let host = host("").await;
    let agent = host.agent().await;
    let wrong = json!({ "action": "bind", "phone": "+1415" });
    agent.call(BINDING, wrong).await.assert_refused(400, "phone_invalid");
    assert_eq!(host.database().texts("SELECT name FROM counters").await, Vec::<String>::new());
    assert_eq!(metric(&host, "portolan_text_message_spending{recipient=\"unknown\"}").await, 0.0);
}
