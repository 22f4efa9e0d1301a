//! The device authorization grant (RFC 8628): codes, the page where a person enters one, and the tokens.

use crate::harness::{
    Host, Options, Reply,
    database::texts_found,
    oauth::*,
    person::Person,
    postgres,
    time::{HOUR, MINUTE, SECOND},
};
use serde_json::{Value, json};
use std::time::Duration;

const GRANT: &str = "urn:ietf:params:oauth:grant-type:device_code";
const WARNING: &str = "they could act in your name";

/// Registers a client without a secret, a browser or a redirect address, and returns its id.
async fn device_client(host: &Host) -> String {
    let metadata = json!({
        "client_name": "A <b>television</b>",
        "token_endpoint_auth_method": "none",
        "grant_types": [GRANT, "refresh_token"],
    });
    let reply = register(host, metadata).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    assert_eq!(reply.body["grant_types"], json!([GRANT, "refresh_token"]));
    text(&reply.body, "client_id").to_owned()
}

/// Returns the codes of a new request.
async fn start(host: &Host, client: &str) -> Value {
    let form = [("client_id", client), ("scope", "svc.read svc.write")];
    let reply = post(host, "/oauth/device_authorization", &form, None).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(reply.header("cache-control"), "no-store");
    reply.body
}

async fn poll(host: &Host, client: &str, codes: &Value) -> Reply {
    let form =
        [("grant_type", GRANT), ("client_id", client), ("device_code", text(codes, "device_code"))];
    post(host, "/oauth/token", &form, None).await
}

fn path(codes: &Value) -> String {
    format!("/device?user_code={}", text(codes, "user_code"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_device_acts_for_the_person_who_has_entered_its_code() {
    let on_postgres = postgres::database().await;
    for options in [
        Options::with(&["svc_phone_binding", "ledger"]),
        Options::with(&["svc_phone_binding", "ledger"]).postgres(&on_postgres),
    ] {
        walk(&Host::start(options).await).await;
    }
}

async fn walk(host: &Host) {
    let metadata = host.get("/.well-known/oauth-authorization-server").await.body;
    let endpoint = format!("{}/oauth/device_authorization", host.url);
    assert_eq!(metadata["device_authorization_endpoint"], endpoint);
    assert!(metadata["grant_types_supported"].as_array().unwrap().contains(&json!(GRANT)));

    let client = device_client(host).await;
    let codes = start(host, &client).await;
    let user_code = text(&codes, "user_code").to_owned();
    assert_eq!((&codes["expires_in"], &codes["interval"]), (&json!(600), &json!(5)));
    assert_eq!(codes["verification_uri"], format!("{}/device", host.url));
    let complete = format!("{}/device?user_code={user_code}", host.url);
    assert_eq!(codes["verification_uri_complete"], complete);
    // The database has the hashes of both codes.
    let letters = user_code.replace('-', "");
    let (_, secret) = text(&codes, "device_code").split_once('.').unwrap();
    let stored = host.database().texts("SELECT id || body FROM documents").await.concat();
    assert!(stored.contains("television"));
    assert!(texts_found(stored.as_bytes(), &[&user_code, &letters, secret]).is_empty());

    assert_oauth_error(&poll(host, &client, &codes).await, 400, "authorization_pending");
    assert_oauth_error(&poll(host, &client, &codes).await, 400, "slow_down");
    host.advance(6 * SECOND).await;
    // The interval is ten seconds now.
    assert_oauth_error(&poll(host, &client, &codes).await, 400, "slow_down");
    host.advance(16 * SECOND).await;
    assert_oauth_error(&poll(host, &client, &codes).await, 400, "authorization_pending");

    let mut person = Person::new(host);
    let page = person.open("/device").await;
    assert_eq!((page.heading.as_str(), page.reply.status.as_u16()), ("Connect a device", 200));
    assert!(page.reply.text.contains(WARNING.trim_start_matches("they ")), "{}", page.reply.text);
    assert!(page.reply.header("content-security-policy").contains("form-action 'self'"));
    let page = person.open("/device?user_code=BBBB-BBBB").await;
    assert_eq!(page.reply.status, 404);
    assert!(page.error_text().contains("No device waits"), "{}", page.reply.text);
    // In any case, and with any separator.
    let entered = letters.to_lowercase();
    let page = person.sign_in(&format!("/device?user_code=+{entered}+"), ADA).await;
    assert_eq!(page.heading, "Allow A <b>television</b> to act for you?");
    for shown in [&*user_code, WARNING, "in your name"] {
        assert!(page.reply.text.contains(shown), "{}", page.reply.text);
    }
    assert!(!page.reply.text.contains("<b>") && !page.reply.text.contains("Receive events"));
    assert!(page.reply.header("content-security-policy").contains("form-action 'self'"));
    let done = person.submit(&page, "allow", &[]).await;
    assert_eq!(done.heading, "The device is connected", "{}", done.reply.text);

    let token = poll(host, &client, &codes).await;
    assert_eq!(token.status, 200, "{}", token.text);
    assert_eq!(token.body["scope"], "svc.read svc.write");
    let access = text(&token.body, "access_token").to_owned();
    assert_eq!(call(host, &access, open("ada")).await.status, 200);
    let refresh = text(&token.body, "refresh_token");
    let form =
        [("grant_type", "refresh_token"), ("client_id", &*client), ("refresh_token", refresh)];
    assert_eq!(post(host, "/oauth/token", &form, None).await.status, 200);

    // The person has a session: the next device is one form away, and its agent is the same one.
    let next = start(host, &client).await;
    let page = person.open(&path(&next)).await;
    assert!(page.reply.text.contains(text(&next, "user_code")), "{}", page.reply.text);
    person.submit(&page, "allow", &[]).await;
    assert_eq!(poll(host, &client, &next).await.status, 200);
    let agents = "SELECT id FROM documents WHERE body LIKE '%television%' AND id LIKE 'agt_%' AND body LIKE '%\"revoked_at\":null%'";
    assert_eq!(host.database().texts(agents).await.len(), 1);

    // The second use of a code revokes the tokens that it was redeemed for, and its page has ended.
    assert_oauth_error(&poll(host, &client, &codes).await, 400, "invalid_grant");
    call(host, &access, open("eve")).await.assert_refused(401, "token_invalid");
    assert_eq!(person.open(&path(&codes)).await.reply.status, 404);
    let log = host.log();
    for secret in [secret, &*letters, &*user_code, &*access] {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_node_knows_the_code_of_a_device_and_its_last_request() {
    let url = postgres::database().await;
    let options = || Options::with(&["svc_phone_binding", "ledger"]).postgres(&url);
    let (one, other) = (Host::start(options()).await, Host::start(options()).await);
    let client = device_client(&one).await;
    let codes = start(&one, &client).await;
    assert_oauth_error(&poll(&one, &client, &codes).await, 400, "authorization_pending");
    assert_oauth_error(&poll(&other, &client, &codes).await, 400, "slow_down");
    let mut person = Person::new(&other);
    let page = person.open(&path(&codes)).await;
    assert_eq!(person.submit(&page, "refuse", &[]).await.heading, "Refused");
    assert_oauth_error(&poll(&one, &client, &codes).await, 400, "access_denied");
}

#[tokio::test]
async fn a_device_is_told_of_a_refusal_and_of_the_end_of_its_code() {
    let host = host().await;
    let client = device_client(&host).await;
    let (refused, late) = (start(&host, &client).await, start(&host, &client).await);
    let mut person = Person::new(&host);
    // Nobody has to sign in to refuse.
    let page = person.open(&path(&refused)).await;
    assert_eq!(person.submit(&page, "refuse", &[]).await.heading, "Refused");
    assert_oauth_error(&poll(&host, &client, &refused).await, 400, "access_denied");
    // A decision is final, also for a page that is still open.
    let again = person.submit(&page, "refuse", &[]).await;
    assert!(again.reply.status == 404 && again.reply.text.contains("No device waits"));

    let page = person.sign_in(&path(&late), ADA).await;
    host.advance(10 * MINUTE).await;
    assert_oauth_error(&poll(&host, &client, &late).await, 400, "expired_token");
    let expired = person.submit(&page, "allow", &[]).await;
    assert!(expired.reply.status == 404 && expired.reply.text.contains("No device waits"));
    assert_eq!(person.open(&path(&late)).await.reply.status, 404);
    // After an hour, nothing is left of it.
    host.advance(2 * HOUR).await;
    let left = "SELECT id FROM documents WHERE body LIKE '%\"secret_hash\"%' AND body LIKE '%\"interval_s\"%'";
    let started = std::time::Instant::now();
    while !host.database().texts(left).await.is_empty() {
        assert!(started.elapsed() < crate::harness::PATIENCE, "codes are not removed");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    assert_oauth_error(&poll(&host, &client, &late).await, 400, "invalid_grant");
}

#[tokio::test]
async fn a_device_that_polls_rarely_can_collect_a_late_approval() {
    let host = host().await;
    let client = device_client(&host).await;
    let (collected, left) = (start(&host, &client).await, start(&host, &client).await);
    let mut person = Person::new(&host);
    let page = person.sign_in(&path(&collected), ADA).await;
    host.advance(10 * MINUTE - 30 * SECOND).await;
    person.submit(&page, "allow", &[]).await;
    let page = person.open(&path(&left)).await;
    person.submit(&page, "allow", &[]).await;
    host.advance(MINUTE).await;
    assert_eq!(poll(&host, &client, &collected).await.status, 200);
    host.advance(MINUTE).await;
    assert_oauth_error(&poll(&host, &client, &left).await, 400, "expired_token");
}

#[tokio::test]
async fn a_device_code_is_valid_for_its_client_and_a_page_in_its_browser_only() {
    let host = host().await;
    let (client, other) = (device_client(&host).await, device_client(&host).await);
    let browser_client = public_client(&host).await;
    let agent = host.register().await;
    let codes = start(&host, &client).await;
    assert_oauth_error(&poll(&host, &other, &codes).await, 400, "invalid_grant");
    assert_oauth_error(&poll(&host, &browser_client, &codes).await, 400, "unauthorized_client");
    let basic = Some((text(&agent, "client_id"), text(&agent, "client_secret")));
    for (form, basic, status, error) in [
        (vec![("client_id", &*client), ("scope", "svc.read admin")], None, 400, "invalid_scope"),
        (
            vec![("client_id", &*client), ("resource", "https://elsewhere.example")],
            None,
            400,
            "invalid_target",
        ),
        (vec![("client_id", "cli_nobody")], None, 401, "invalid_client"),
        (vec![("client_id", &*browser_client)], None, 400, "unauthorized_client"),
        (vec![], basic, 400, "unauthorized_client"),
    ] {
        let reply = post(&host, "/oauth/device_authorization", &form, basic).await;
        assert_oauth_error(&reply, status, error);
    }
    let id = text(&codes, "device_code").split_once('.').unwrap().0;
    for device_code in ["x", "x.y", "a:b.c", &*format!("{id}.guess"), id] {
        let wrong = json!({ "device_code": device_code });
        assert_oauth_error(&poll(&host, &client, &wrong).await, 400, "invalid_grant");
    }

    // Ada's page does nothing in Eve's browser, nor a form without a page.
    let (mut ada, mut eve) = (Person::new(&host), Person::new(&host));
    let consent = ada.sign_in(&path(&codes), ADA).await;
    eve.sign_in(&path(&codes), BOB).await;
    for form in [&[("steps", consent.steps.as_str()), ("step", "allow")][..], &[("step", "allow")]]
    {
        assert_eq!(eve.post(form).await.status, 400);
    }
    assert_oauth_error(&poll(&host, &client, &codes).await, 400, "authorization_pending");
    // A person who signs out everywhere takes back what no device has redeemed.
    ada.submit(&consent, "allow", &[]).await;
    let account = ada.open("/account").await;
    let form = [("step", "sign_out_everywhere"), ("form_token", account.form_token.as_str())];
    ada.submit_to("/account", &form).await;
    assert_oauth_error(&poll(&host, &client, &codes).await, 400, "invalid_grant");
}

#[tokio::test]
async fn guesses_of_user_codes_have_to_wait_by_address_by_network_and_in_all() {
    let configuration = "rate_limits = \"on\"\ntrusted_proxies = [\"127.0.0.1/32\"]\n[limits]\ntoken_requests_per_minute = 2\n";
    let options = Options::with(&["svc_phone_binding", "ledger"]).configuration(configuration);
    let host = Host::start_at_fixed_time(options).await;
    let client = device_client(&host).await;
    let codes = start(&host, &client).await;
    let enter = async |address: &str, path: &str| {
        let request = host.client.get(format!("{}{path}", host.url));
        Reply::read(request.header("x-forwarded-for", address).send().await.unwrap()).await
    };
    let wrong = "/device?user_code=BBBB-BBBB";
    // The addresses of a network together have ten times the limit of a client, and all addresses a hundred times.
    let count_wrong = async |addresses: fn(u8) -> String| {
        let mut count = 0;
        while enter(&addresses(count), wrong).await.status == 404 {
            count += 1;
        }
        count
    };
    assert_eq!(count_wrong(|number| format!("198.51.100.{number}")).await, 20);
    assert_eq!(enter("198.51.101.1", &path(&codes)).await.status, 200);
    assert_eq!(count_wrong(|number| format!("198.52.{number}.1")).await, 200 - 20);
    let refused = enter("203.0.113.1", &path(&codes)).await;
    assert_eq!(refused.status, 429, "{}", refused.text);
    assert_eq!(enter("203.0.113.1", "/device").await.status, 200);
    host.clock.advance(MINUTE);
    for _ in 0..5 {
        assert_eq!(enter("192.0.2.1", wrong).await.status, 404);
    }
    // This address has to wait, also for a right code; others need not, and a right code ends no wait.
    assert_eq!(enter("192.0.2.1", &path(&codes)).await.status, 429);
    assert_eq!(enter("192.0.2.2", &path(&codes)).await.status, 200);
    host.clock.advance(SECOND);
    assert_eq!(enter("192.0.2.1", &path(&codes)).await.status, 200);
    assert_eq!(enter("192.0.2.1", wrong).await.status, 404);
    assert_eq!(enter("192.0.2.1", wrong).await.status, 429);
}
