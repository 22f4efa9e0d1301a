//! The rows of the audit log about authentication, and the wait after wrong secrets.

use crate::harness::{Host, Options, PATIENCE, Reply, oauth::*, passkeys, person::Person};
use portolan_identity::AUTH_ACTIONS;
use reqwest::Method;
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

const BEHIND_A_PROXY: &str = "trusted_proxies = [\"127.0.0.1/32\"]\n";

/// Returns the rows of the audit log about authentication, the oldest first.
async fn rows(host: &Host) -> Vec<Value> {
    let entries = host.operate("/audit?limit=1000").await.body["entries"].clone();
    let is_ours = |row: &Value| row["action"].as_str().unwrap().starts_with("auth:");
    let mut rows: Vec<Value> =
        entries.as_array().unwrap().iter().filter(|row| is_ours(row)).cloned().collect();
    rows.reverse();
    rows
}

/// Waits until this many rows have this action, and returns them.
async fn wait_for(host: &Host, action: &str, count: usize) -> Vec<Value> {
    let started = Instant::now();
    loop {
        let mut found = rows(host).await;
        found.retain(|row| row["action"] == action);
        if found.len() >= count {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "{count} rows of {action}: {found:#?}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

async fn send_token(host: &Host, path: &str, token: &str) {
    let request = host.client.post(format!("{}{path}", host.url)).bearer_auth(token);
    let reply = Reply::read(request.json(&json!({ "action": "open" })).send().await.unwrap()).await;
    assert_eq!(reply.status, 401, "{}", reply.text);
}

async fn set(host: &Host, agent: &Value, assignment: &str) {
    let sql = format!(
        "UPDATE documents SET body = json_set(body, {assignment}) WHERE id = '{}'",
        text(agent, "agent_id")
    );
    assert_eq!(host.database().execute(&sql).await, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_row_about_authentication_is_written_and_names_who_it_was() {
    let host = host().await;
    let call = "/v1/capabilities/ledger/call";
    let agent = host.register().await;
    let (id, secret) = (text(&agent, "client_id"), text(&agent, "client_secret"));
    let grant = [("grant_type", "client_credentials")];

    for _ in 0..6 {
        post(&host, "/oauth/token", &grant, Some((id, "wrong"))).await;
    }
    let revoked = host.register().await;
    let revoked_token = host.token_of(&revoked, "svc.read").await;
    set(&host, &revoked, "'$.revoked_at', 1").await;
    let unused = host.register().await;
    let unused_token = host.token_of(&unused, "svc.read").await;
    set(&host, &unused, "'$.expires_at', 1").await;
    for token in [&*revoked_token, &*unused_token, "made.up.text"] {
        send_token(&host, call, token).await;
    }
    let other = host.register().await;
    let other_token = host.token_of(&other, "svc.read").await;
    send_token(&host, "/mcp", &other_token).await;

    let metadata = json!({
        "redirect_uris": [REDIRECT],
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
    });
    let client = register(&host, metadata.clone()).await.body;
    let managed = format!("{}/oauth/register/{}", host.url, text(&client, "client_id"));
    let token = text(&client, "registration_access_token");
    let update = host.client.put(&managed).bearer_auth(token).json(&metadata);
    assert_eq!(update.send().await.unwrap().status(), 200);

    let client_id = text(&client, "client_id").to_owned();
    let mut person = Person::new(&host);
    let code = code(&mut person, &client_id, ADA).await;
    let granted = post(&host, "/oauth/token", &redemption(&client_id, &code), None).await.body;
    post(&host, "/oauth/token", &redemption(&client_id, &code), None).await;
    let refresh = async |token: &str| {
        let form =
            [("grant_type", "refresh_token"), ("client_id", &*client_id), ("refresh_token", token)];
        post(&host, "/oauth/token", &form, None).await.body
    };
    refresh(text(&granted, "refresh_token")).await;
    let code = self::code(&mut person, &client_id, ADA).await;
    let granted = post(&host, "/oauth/token", &redemption(&client_id, &code), None).await.body;
    refresh(text(&granted, "refresh_token")).await;
    refresh(text(&granted, "refresh_token")).await;
    let code = self::code(&mut person, &client_id, ADA).await;
    let granted = post(&host, "/oauth/token", &redemption(&client_id, &code), None).await.body;
    let form = [("token", text(&granted, "refresh_token")), ("client_id", &*client_id)];
    post(&host, "/oauth/revoke", &form, None).await;
    let page = person.open(&query(&parameters(&client_id, &challenge()))).await;
    person.submit(&page, "refuse", &[]).await;
    let mut elsewhere = Person::new(&host);
    elsewhere.sign_in(&query(&parameters(&client_id, &challenge())), ADA).await;
    for (person, step) in [(&mut elsewhere, "sign_out"), (&mut person, "sign_out_everywhere")] {
        let page = person.open("/account").await;
        let form = [("step", step), ("form_token", page.form_token.as_str())];
        assert_eq!(person.submit_to("/account", &form).await.reply.status, 401);
    }
    decide_about_devices_and_claims(&host).await;
    let delete = host.client.delete(&managed).bearer_auth(token);
    assert_eq!(delete.send().await.unwrap().status(), 204);

    host.operator.post(format!("{}/keys/rotate", host.admin_url)).send().await.unwrap();
    let own = host.client.post(format!("{}/oauth/token", host.url)).form(&grant);
    let own = own.header("x-forwarded-for", "192.0.2.9").basic_auth(id, Some(secret));
    host.advance(Duration::from_secs(2)).await;
    let own = Reply::read(own.send().await.unwrap()).await.body;
    let form = [("token", text(&own, "access_token"))];
    post(&host, "/oauth/revoke", &form, Some((id, secret))).await;
    host.advance(Duration::from_secs(3700)).await;
    send_token(&host, call, &other_token).await;

    let operator = format!("{}/operators?name=ada&role=read&days=1", host.admin_url);
    let operator = Reply::read(host.operator.post(operator).send().await.unwrap()).await.body;
    host.advance(Duration::from_secs(25 * 3600)).await;
    let expired = host.send_as(Some(text(&operator, "token")), &Method::GET, "/status").await;
    assert_eq!(expired.body["error_code"], "token_expired", "{}", expired.text);
    for _ in 0..6 {
        host.send_as(Some("ptl_op_x"), &Method::GET, "/status").await;
    }
    host.advance(Duration::from_secs(2)).await;

    // A host whose address has a name can have passkeys.
    let named = passkeys::host().await;
    let mut person = Person::new(&named);
    let client_id = public_client(&named).await;
    person.sign_in(&query(&parameters(&client_id, &challenge())), ADA).await;
    passkeys::add(&mut person, "Laptop").await;
    let page = person.open("/account").await;
    let id = passkeys::passkey_id(&page);
    let fields = [("step", "remove_passkey"), ("passkey", &*id)];
    passkeys::submit(&mut person, "/account", &page, &fields).await;

    let expected: BTreeSet<(&str, &str)> = AUTH_ACTIONS
        .iter()
        .flat_map(|row| row.outcomes.iter().map(|outcome| (row.name, *outcome)))
        .collect();
    let started = Instant::now();
    let found = loop {
        let found = [rows(&host).await, rows(&named).await].concat();
        let pairs: BTreeSet<(&str, &str)> =
            found.iter().map(|row| (text(row, "action"), text(row, "outcome"))).collect();
        if pairs == expected {
            break found;
        }
        assert!(started.elapsed() < PATIENCE, "{pairs:#?} is not {expected:#?}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let fields = [
        ("agent", "agent_id"),
        ("client", "client_id"),
        ("person", "owner_id"),
        ("address", "address"),
    ];
    for row in &AUTH_ACTIONS {
        let found = found.iter().filter(|found| found["action"] == row.name);
        let named: BTreeSet<&str> = found
            .flat_map(|found| fields.iter().filter(|(_, field)| found[field].is_string()))
            .map(|(who, _)| *who)
            .collect();
        let mut who: BTreeSet<&str> = row.who.iter().copied().collect();
        if row.name.starts_with("auth:client_") && !named.contains("agent") {
            // This client has no agent of its own.
            who.remove("agent");
        }
        assert_eq!(named, who, "{}", row.name);
    }
}

/// Has a person enter a wrong code of a device, refuse one claim and confirm another.
async fn decide_about_devices_and_claims(host: &Host) {
    let mut person = Person::new(host);
    person.open("/device?user_code=BBBB-BBBB").await;
    for step in ["refuse", "allow"] {
        let pages = json!({ "elicitation": { "url": {} } });
        let client = host.mcp("svc.read svc.write").await.with_capabilities(pages);
        let asked = client.tool("ledger", json!({ "action": "open", "account": "x" })).await;
        let url = text(&asked["inputRequests"]["answers"]["params"], "url");
        let path = url.strip_prefix(&host.url).unwrap();
        let page = match step {
            "refuse" => person.sign_in(path, BOB).await,
            _ => person.open(path).await,
        };
        assert_eq!(person.submit(&page, step, &[]).await.reply.status, 200);
    }
}

#[test]
fn the_documentation_lists_each_row_about_authentication() {
    let folder = env!("CARGO_MANIFEST_DIR");
    let text = std::fs::read_to_string(format!("{folder}/../../docs/operations.md")).unwrap();
    for row in &AUTH_ACTIONS {
        let outcomes: Vec<String> =
            row.outcomes.iter().map(|outcome| format!("`{outcome}`")).collect();
        let line = format!(
            "| `{}` | {} | {} | {} |",
            row.name,
            outcomes.join(", "),
            row.who.join(", "),
            row.meaning
        );
        assert!(text.contains(&line), "docs/operations.md needs the line\n{line}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_refused_tokens_becomes_two_rows() {
    let host = host().await;
    for number in 0..300 {
        send_token(&host, "/v1/capabilities/ledger/call", &format!("made.up.{number}")).await;
    }
    let first = wait_for(&host, "auth:token_refused", 1).await;
    assert_eq!((first.len(), &first[0]["count"]), (1, &json!(1)));
    host.advance(Duration::from_secs(61)).await;
    let rows = wait_for(&host, "auth:token_refused", 2).await;
    assert_eq!((rows.len(), &rows[1]["count"]), (2, &json!(299)));
    assert_eq!(rows[1]["address"], "127.0.0.1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn wrong_secrets_have_to_wait_and_do_not_lock_the_client_out_elsewhere() {
    let host = Host::start(Options::with(&[]).configuration(BEHIND_A_PROXY)).await;
    let agent = host.register().await;
    let (id, secret) = (text(&agent, "client_id"), text(&agent, "client_secret"));
    let ask = async |address: &str, secret: &str| {
        let request = host.client.post(format!("{}/oauth/token", host.url));
        let request = request.form(&[("grant_type", "client_credentials")]);
        let request = request.header("x-forwarded-for", address).basic_auth(id, Some(secret));
        Reply::read(request.send().await.unwrap()).await
    };
    for _ in 0..5 {
        assert_oauth_error(&ask("192.0.2.1", "guess").await, 401, "invalid_client");
    }
    let refused = ask("192.0.2.1", secret).await;
    assert_oauth_error(&refused, 429, "slow_down");
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(ask("192.0.2.2", secret).await.status, 200);
    host.advance(Duration::from_secs(1)).await;
    assert_oauth_error(&ask("192.0.2.1", "guess").await, 401, "invalid_client");
    assert_eq!(ask("192.0.2.1", "guess").await.header("retry-after"), "2");
    host.advance(Duration::from_secs(2)).await;
    assert_eq!(ask("192.0.2.1", secret).await.status, 200);
    // The right secret ends the count.
    assert_oauth_error(&ask("192.0.2.1", "guess").await, 401, "invalid_client");
    assert_eq!(ask("192.0.2.1", secret).await.status, 200);
}
