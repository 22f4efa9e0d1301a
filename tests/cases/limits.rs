//! Limits on calls, registrations and messages.

use crate::harness::{
    Agent, Host, Options, Process, Reply,
    oauth::{self, ADA, code, post, public_client, redemption},
    person::Person,
    postgres::Server as Postgres,
    time::{DAY, HOUR},
    webhooks::wait_until,
};
use reqwest::Method;
use serde_json::{Value, json};
use std::{collections::BTreeSet, time::Duration};

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

/// An input of an action with 20,000 fields that it does not have.
fn wide_input(action: &str) -> Value {
    let mut body = json!({ "action": action });
    for number in 0..20_000 {
        body[format!("f{number}")] = json!(1);
    }
    body
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reading_and_the_check_of_large_inputs_count_as_run_time() {
    let limits = "rate_limits = \"on\"\n[limits]\nanonymous_run_ms_per_hour = 40\n";
    let host = Host::start(Options::with(&["faq_search"]).configuration(limits)).await;
    let mut admitted = Vec::new();
    // Only the input of an action that exists is checked.
    for (action, code) in [("no_such", "unknown_action"), ("search", "validation_failed")] {
        let agent = host.agent().await;
        let body = wide_input(action);
        let mut number = 0;
        let refused = loop {
            let reply = agent.call("faq_search", body.clone()).await;
            if reply.status == 429 {
                break reply;
            }
            reply.assert_refused(400, code);
            number += 1;
            assert!(number < 50, "50 large inputs were read");
        };
        assert_eq!(refused.body["conflict"]["name"], "anonymous_run_ms_per_hour");
        // A small body is read, and its call is refused when its rate is counted.
        let small = agent.call("faq_search", json!({ "action": "no_such" })).await;
        small.assert_refused(400, "unknown_action");
        admitted.push(number);
        // The address has twice the run time of an agent.
        host.advance(2 * HOUR).await;
    }
    assert!(admitted[1] < admitted[0], "{admitted:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_reading_of_large_messages_counts_as_run_time() {
    let limits = "rate_limits = \"on\"\n[limits]\nanonymous_run_ms_per_hour = 40\n";
    let host = Host::start(Options::with(&["faq_search"]).configuration(limits)).await;
    let client = host.mcp("svc.read svc.write svc.events").await;
    for _ in 0..50 {
        // There is no such tool, so nothing is checked.
        let call = json!({ "name": "no_such", "arguments": wide_input("search") });
        let reply = Reply::read(client.request("tools/call", call).await).await;
        if reply.status == 429 {
            return assert_eq!(reply.body["conflict"]["name"], "anonymous_run_ms_per_hour");
        }
    }
    panic!("50 large messages were read");
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

#[tokio::test(flavor = "multi_thread")]
async fn what_an_address_has_used_survives_a_restart() {
    let host = Process::start(Options::with(&[]).configuration(LIMITS));
    for _ in 0..3 {
        assert_eq!(register(&host, "/v1/agents/register", "192.0.2.1").await.status, 200);
    }
    host.signal("TERM");
    let (_status, folder) = host.wait();
    let host = Process::start_in(folder);
    let refused = register(&host, "/v1/agents/register", "192.0.2.1").await;
    refused.assert_refused(429, "rate_limited");
    assert_eq!(refused.body["conflict"]["of"], "address");
    assert_eq!(register(&host, "/v1/agents/register", "192.0.2.2").await.status, 200);
    let stored = host.database().texts("SELECT account FROM rates").await;
    assert!(!stored.is_empty() && !stored.concat().contains("192.0.2"), "{stored:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_work_of_an_address_is_bounded_over_all_endpoints_and_restarts() {
    let limits = format!("{LIMITS}page_work_ms_per_hour = 10\n");
    let host = Process::start(Options::with(&[]).configuration(&limits));
    let read = async |host: &Host, path: &str, address: &str| {
        host.send(Method::GET, path, &[("x-forwarded-for", address)], None).await
    };
    assert_eq!(read(&host, "/healthz", "192.0.2.1").await.status, 200);
    let mut answered = 0;
    loop {
        let headers = [
            ("content-type", "application/x-www-form-urlencoded"),
            ("x-forwarded-for", "192.0.2.1"),
        ];
        let body = Some("x".repeat(100 << 10));
        if host.send(Method::POST, "/oauth/token", &headers, body).await.status == 429 {
            break;
        }
        answered += 1;
    }
    // The last one takes more than is left.
    assert_eq!(answered, 4);
    for path in ["/healthz", "/v1/capabilities", "/no/such/path"] {
        let refused = read(&host, path, "192.0.2.1").await;
        refused.assert_refused(429, "rate_limited");
        assert_eq!(refused.body["conflict"]["name"], "page_work_ms_per_hour");
        assert!(refused.header("retry-after").parse::<u64>().unwrap() > 60, "{path}");
    }
    assert_eq!(read(&host, "/healthz", "198.51.100.1").await.status, 200);
    host.signal("TERM");
    let (_status, folder) = host.wait();
    let host = Process::start_in(folder);
    read(&host, "/healthz", "192.0.2.1").await.assert_refused(429, "rate_limited");
    assert_eq!(read(&host, "/healthz", "198.51.100.1").await.status, 200);
}

#[tokio::test]
async fn the_work_of_claimed_agents_counts_for_no_address() {
    let limits = format!("{LIMITS}work_ms_per_hour = 20\n");
    let host = Host::start(Options::with(&["ledger"]).configuration(&limits)).await;
    let (claimed, other) = (host.claimed_agent().await, host.agent().await);
    other.call("ledger", balance()).await.assert_refused(404, "account_not_found");
    // Somebody else at the address uses up its work.
    let forged = [("authorization", "Bearer forged")];
    let path = "/v1/capabilities/ledger/call";
    let mut requests = 0;
    while host.send(Method::POST, path, &forged, None).await.status == 401 {
        requests += 1;
    }
    assert!((40..90).contains(&requests), "{requests}");
    for _ in 0..6 {
        claimed.call("ledger", balance()).await.assert_refused(404, "account_not_found");
    }
    let refused = other.call("ledger", balance()).await;
    refused.assert_refused(429, "rate_limited");
    assert_eq!(refused.body["conflict"]["name"], "work_ms_per_hour");
    // The pages of people have a budget of their own.
    assert_eq!(host.send(Method::GET, "/docs", &[], None).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_share_what_an_address_has_used() {
    let postgres = Postgres::start(100);
    let url = postgres.database().await;
    let start = async || Host::start(Options::with(&[]).configuration(LIMITS).postgres(&url)).await;
    let (one, other) = (start().await, start().await);
    for node in [&one, &other, &one] {
        assert_eq!(register(node, "/v1/agents/register", "192.0.2.1").await.status, 200);
    }
    let is_refused = async || {
        let reply = register(&other, "/v1/agents/register", "192.0.2.1").await;
        assert!([200, 429].contains(&reply.status.as_u16()), "{}", reply.text);
        // A registration that this node itself permits is permitted at most once more.
        reply.status == 429
    };
    for node in [&one, &other] {
        node.clock.advance(Duration::from_secs(2));
    }
    wait_until(is_refused).await;
}

#[tokio::test]
async fn requests_for_tokens_are_counted_by_address_until_the_client_is_known() {
    let limits = "token_requests_per_minute = 2\nrequests_per_minute = 40\n";
    let host = Host::start(Options::with(&[]).configuration(&format!("{LIMITS}{limits}"))).await;
    let agent = register(&host, "/v1/agents/register", "192.0.2.1").await.body;
    let client = agent["client_id"].as_str().unwrap();
    let request = async |client: &str, secret: &str, address: &str| {
        let body =
            format!("grant_type=client_credentials&client_id={client}&client_secret={secret}");
        let form = ("content-type", "application/x-www-form-urlencoded");
        let headers = [form, ("x-forwarded-for", address)];
        host.send(Method::POST, "/oauth/token", &headers, Some(body)).await.status.as_u16()
    };
    let wrong = crate::harness::join_all(
        (0..12).map(async |number| request(&format!("cli_{number}"), "x", "192.0.2.9").await),
    )
    .await;
    let count = |status: u16| wrong.iter().filter(|other| **other == status).count();
    assert_eq!((count(401), count(429)), (10, 2), "{wrong:?}");
    // Nobody can use up the limit of a client without its secret.
    let secret = agent["client_secret"].as_str().unwrap();
    for status in [200, 200, 429] {
        assert_eq!(request(client, secret, "192.0.2.1").await, status);
    }
    // Every request counts towards the address.
    let mut statuses = Vec::new();
    for _ in 0..40 {
        let headers = [("x-forwarded-for", "192.0.2.9")];
        statuses.push(host.send(Method::GET, "/llms.txt", &headers, None).await.status.as_u16());
    }
    assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 28, "{statuses:?}");
    assert_eq!(host.send(Method::GET, "/llms.txt", &[], None).await.status, 200);
}

#[tokio::test]
async fn a_client_that_no_person_uses_expires() {
    let host = Host::with(&["svc_phone_binding"]).await;
    let (unused, used) = (public_client(&host).await, public_client(&host).await);
    let exists = async |client: &str| {
        let sql = format!("SELECT id FROM documents WHERE id = '{client}' AND body IS NOT NULL");
        !host.database().texts(&sql).await.is_empty()
    };
    host.advance(60 * DAY).await;
    let code = code(&mut Person::new(&host), &used, ADA).await;
    let redeemed = post(&host, "/oauth/token", &redemption(&used, &code), None).await;
    assert_eq!(redeemed.status, 200, "{}", redeemed.text);
    host.advance(31 * DAY).await;
    wait_until(async || !exists(&unused).await).await;
    assert!(exists(&used).await);
}

#[tokio::test]
async fn concurrent_changes_of_a_registration_are_refused_without_a_fault() {
    let host = oauth::host().await;
    let metadata =
        json!({ "redirect_uris": [oauth::REDIRECT], "token_endpoint_auth_method": "none" });
    let client = oauth::register(&host, metadata.clone()).await.body;
    let token = format!("Bearer {}", oauth::text(&client, "registration_access_token"));
    let path = format!("/oauth/register/{}", oauth::text(&client, "client_id"));
    let headers = [("authorization", token.as_str()), ("content-type", "application/json")];
    let change = || host.send(Method::PUT, &path, &headers, Some(metadata.to_string()));
    let statuses: BTreeSet<u16> = crate::harness::join_all((0..40).map(|_| change()))
        .await
        .iter()
        .map(|reply| reply.status.as_u16())
        .collect();
    assert!(statuses.contains(&200) && statuses.is_subset(&[200, 503].into()), "{statuses:?}");
}
