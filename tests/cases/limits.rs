//! Limits on calls, registrations and messages.

use crate::harness::{Agent, Host, Options, Reply};
use reqwest::Method;
use serde_json::{Value, json};

/// Small limits, so that few calls reach them.
const LIMITS: &str = "rate_limits = \"on\"
trusted_proxies = [\"127.0.0.0/8\"]
[limits]
anonymous_calls_per_minute = 4
claimed_calls_per_minute = 8
writes_per_minute = 2
registrations_per_hour = 3
messages_per_hour = 2
";

async fn host() -> Host {
    Host::start(Options::with(&["svc_phone_binding", "ledger"]).configuration(LIMITS)).await
}

/// Sends a registration as a proxy forwards it for this address.
async fn register(host: &Host, path: &str, address: &str) -> Reply {
    let headers = [("content-type", "application/json"), ("x-forwarded-for", address)];
    let body = json!({ "type": "anonymous", "redirect_uris": ["http://127.0.0.1/cb"] });
    let body = match path {
        "/v1/agents/register" => json!({ "type": "anonymous" }),
        _ => body,
    };
    host.send(Method::POST, path, &headers, Some(body.to_string())).await
}

async fn agent<'a>(host: &'a Host, address: &str) -> Agent<'a> {
    let agent = register(host, "/v1/agents/register", address).await.body;
    Agent { host, token: host.token_of(&agent, "svc.read svc.write svc.events").await }
}

fn balance() -> Value {
    json!({ "action": "balance", "account": "nobody" })
}

#[tokio::test]
async fn calls_are_counted_and_the_answer_says_what_is_left() {
    let host = host().await;
    let (one, other) = (agent(&host, "192.0.2.1").await, agent(&host, "192.0.2.2").await);
    for left in [3, 2, 1, 0] {
        let reply = one.call("ledger", balance()).await;
        reply.assert_refused(404, "account_not_found");
        assert_eq!(reply.header("ratelimit-policy"), "\"default\";q=4;w=60");
        let state = reply.header("ratelimit");
        assert!(state.starts_with(&format!("\"default\";r={left};t=")), "{state}");
    }
    let reply = one.call("ledger", balance()).await;
    reply.assert_refused(429, "rate_limited");
    let wait: u64 = reply.header("retry-after").parse().unwrap();
    assert!((1..=15).contains(&wait), "{wait}");
    assert_eq!(
        (&reply.body["conflict"]["limit"], &reply.body["next"]["after_s"]),
        (&json!(4), &json!(wait))
    );
    // A call that is not permitted is refused before the rate is checked, and does not count.
    one.call("ledger", json!({ "action": "open", "account": "x" }))
        .await
        .assert_refused(403, "phone_binding_required");
    other.call("ledger", balance()).await.assert_refused(404, "account_not_found");
}

#[tokio::test]
async fn writes_have_a_limit_of_their_own() {
    let host = host().await;
    let agent = host.claimed_agent().await;
    for account in ["a", "b"] {
        agent.result("ledger", json!({ "action": "open", "account": account })).await;
    }
    let reply = agent.call("ledger", json!({ "action": "open", "account": "c" })).await;
    reply.assert_refused(429, "rate_limited");
    assert_eq!(reply.body["conflict"]["name"], "writes_per_minute");
    let reply = agent.call("ledger", json!({ "action": "balance", "account": "a" })).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(reply.header("ratelimit-policy"), "\"default\";q=8;w=60");
}

#[tokio::test]
async fn registrations_from_an_address_are_limited() {
    let host = host().await;
    for path in ["/v1/agents/register", "/oauth/register", "/v1/agents/register"] {
        assert!(register(&host, path, "2001:db8::1").await.status.is_success(), "{path}");
    }
    // The next registration is from the same network.
    let reply = register(&host, "/v1/agents/register", "2001:db8::2").await;
    reply.assert_refused(429, "rate_limited");
    assert!(!reply.header("retry-after").is_empty());
    let reply = register(&host, "/oauth/register", "2001:db8::3").await;
    assert_eq!(
        (reply.status.as_u16(), &reply.body["error"]),
        (429, &json!("temporarily_unavailable"))
    );
    assert!(!reply.header("retry-after").is_empty());
    // An address in the header that the client itself sent is ignored: only the one that the proxy
    // added counts.
    let reply = register(&host, "/v1/agents/register", "192.0.2.9, 2001:db8::4").await;
    reply.assert_refused(429, "rate_limited");
    assert_eq!(register(&host, "/v1/agents/register", "192.0.2.9").await.status, 200);
}

#[tokio::test]
async fn text_messages_requested_by_an_address_are_limited() {
    let host = host().await;
    for (number, code) in [("0123", 200), ("0124", 200), ("0125", 429)] {
        // The agents were registered at different addresses, and all call from the same one.
        let agent = agent(&host, &format!("192.0.2.{number}", number = &number[2..])).await;
        let body = json!({ "action": "bind", "phone": format!("+1201555{number}") });
        let reply = agent.call("svc.phone-binding", body).await;
        assert_eq!(reply.status, code, "{}", reply.text);
        if code == 429 {
            reply.assert_refused(429, "sms_rate_limited");
        }
    }
}
