//! The audience, expiry and revocation of tokens, and the keys that sign them.

use crate::{
    cases::store::{keys, sqlite},
    harness::{
        Host, Options, Reply,
        oauth::{self, *},
        person::Person,
        postgres,
    },
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use portolan_identity::{
    Credentials, Identity, RedirectHosts, Registration, Settings, TOKEN_CACHE_CAPACITY,
};
use portolan_outgoing::Outgoing;
use portolan_vocabulary::Clock;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[tokio::test]
async fn only_its_own_client_revokes_and_introspects_a_token() {
    let host = host().await;
    let (one, other) = (host.register().await, host.register().await);
    let basic = |agent: &Value| {
        (text(agent, "client_id").to_owned(), text(agent, "client_secret").to_owned())
    };
    let ((one, one_secret), (other, other_secret)) = (basic(&one), basic(&other));
    let token = post(
        &host,
        "/oauth/token",
        &[("grant_type", "client_credentials")],
        Some((&one, &one_secret)),
    )
    .await;
    let token = text(&token.body, "access_token").to_owned();
    let introspect = async |token: &str, id: &str, secret: &str| {
        post(&host, "/oauth/introspect", &[("token", token)], Some((id, secret))).await.body
    };
    let inactive = json!({ "active": false });
    let described = introspect(&token, &one, &one_secret).await;
    assert_eq!(
        (&described["active"], &described["client_id"], &described["scope"]),
        (&json!(true), &json!(one), &json!("svc.read svc.write svc.events"))
    );
    assert_eq!(introspect(&token, &other, &other_secret).await, inactive);
    assert_eq!(introspect("nonsense", &one, &one_secret).await, inactive);
    let revoke = async |token: &str, id: &str, secret: &str| {
        post(&host, "/oauth/revoke", &[("token", token)], Some((id, secret))).await.status.as_u16()
    };
    assert_eq!(revoke(&token, &other, &other_secret).await, 200);
    assert_eq!(revoke("nonsense", &one, &one_secret).await, 200);
    call(&host, &token, balance()).await.assert_refused(404, "account_not_found");
    assert_eq!(revoke(&token, &one, &one_secret).await, 200);
    call(&host, &token, balance()).await.assert_refused(401, "token_invalid");
    assert_eq!(introspect(&token, &one, &one_secret).await, inactive);

    // When a refresh token is revoked, the access tokens of its grant are too.
    let client = public_client(&host).await;
    let mut person = Person::new(&host);
    let code = code(&mut person, &client, ADA).await;
    let granted = post(&host, "/oauth/token", &redemption(&client, &code), None).await.body;
    let access = text(&granted, "access_token");
    assert_eq!(call(&host, access, open("ada")).await.status, 200);
    let form = [("token", text(&granted, "refresh_token")), ("client_id", &*client)];
    assert_eq!(post(&host, "/oauth/revoke", &form, None).await.status, 200);
    call(&host, access, open("bob")).await.assert_refused(401, "token_invalid");

    // A refresh token is inactive when its agent is revoked.
    let metadata = json!({
        "redirect_uris": [REDIRECT],
        "token_endpoint_auth_method": "client_secret_basic",
        "grant_types": ["authorization_code", "refresh_token"],
    });
    let client = register(&host, metadata).await.body;
    let (id, secret) = basic(&client);
    let code = oauth::code(&mut person, &id, ADA).await;
    let asked = redemption(&id, &code);
    let asked = with_parameter(&asked, "client_id", None);
    let granted = post(&host, "/oauth/token", &asked, Some((&id, &secret))).await.body;
    let refresh = text(&granted, "refresh_token");
    let described = introspect(refresh, &id, &secret).await;
    assert_eq!(described["active"], true, "{granted}");
    let agent_id = text(&described, "sub");
    let ended = format!(
        "UPDATE documents SET body = json_set(body, '$.revoked_at', 1) WHERE id = '{agent_id}'"
    );
    host.database().execute(&ended).await;
    assert_eq!(introspect(refresh, &id, &secret).await, inactive);
}

#[tokio::test]
async fn every_claim_of_a_token_is_checked() {
    let host = Host::with(&["ledger"]).await;
    let agent = host.register().await;
    let signed = signer(&host).await;
    let now = portolan_vocabulary::Timestamp::now().as_secs();
    let claims = json!({
        "iss": host.url, "aud": host.url, "sub": agent["agent_id"], "client_id": agent["client_id"],
        "scope": "svc.read", "iat": now, "exp": now + 60, "jti": "tok_made_by_hand",
    });
    call(&host, &signed("at+jwt", &claims), balance())
        .await
        .assert_refused(404, "account_not_found");
    // A token of another type is refused, also with a valid signature (RFC 9068, section 4).
    call(&host, &signed("JWT", &claims), balance()).await.assert_refused(401, "token_invalid");
    for (name, value, code) in [
        ("exp", json!(now - 1), "token_expired"),
        ("exp", Value::Null, "token_invalid"),
        ("nbf", json!(now + 3600), "token_invalid"),
        ("iss", json!("https://elsewhere.example"), "token_invalid"),
        ("aud", json!("https://elsewhere.example"), "audience_mismatch"),
        ("sub", json!("agt_nobody"), "identity_expired"),
    ] {
        let mut wrong = claims.clone();
        wrong[name] = value;
        call(&host, &signed("at+jwt", &wrong), balance()).await.assert_refused(401, code);
    }
}

#[tokio::test]
async fn a_token_is_valid_for_its_audience_only() {
    let host = Host::with(&["ledger"]).await;
    let agent = host.register().await;
    let (id, secret) = (text(&agent, "client_id"), text(&agent, "client_secret"));
    let mcp = format!("{}/mcp", host.url);
    let with_slash = format!("{}/", host.url);
    for (resource, audience) in [(&*mcp, &*mcp), (&*with_slash, &*host.url)] {
        let form = [("grant_type", "client_credentials"), ("resource", resource)];
        let token = post(&host, "/oauth/token", &form, Some((id, secret))).await;
        let token = text(&token.body, "access_token").to_owned();
        let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
        let claims: Value = serde_json::from_slice(&claims).unwrap();
        assert_eq!(text(&claims, "aud"), audience);
        match audience == mcp {
            true => call(&host, &token, balance()).await.assert_refused(401, "audience_mismatch"),
            false => call(&host, &token, balance()).await.assert_refused(404, "account_not_found"),
        }
    }
}

#[tokio::test]
async fn an_unused_agent_expires_and_a_used_one_does_not() {
    const HOUR: Duration = Duration::from_secs(3600);
    const DAY: Duration = Duration::from_secs(24 * 3600);
    let host = Host::with(&["ledger"]).await;
    let swept = host.register().await;
    host.advance(HOUR).await;
    let (calling, silent) = (host.register().await, host.register().await);
    let sign = signer(&host).await;
    // These tokens outlive their agents, unlike those that the host issues.
    let lasting = async |agent: &Value| {
        let token = host.token_of(agent, "svc.read").await;
        let claims = URL_SAFE_NO_PAD.decode(token.split('.').nth(1).unwrap()).unwrap();
        let mut claims: Value = serde_json::from_slice(&claims).unwrap();
        claims["exp"] = json!(claims["exp"].as_u64().unwrap() + 100 * DAY.as_secs());
        sign("at+jwt", &claims)
    };
    let (one, other) = (lasting(&calling).await, lasting(&silent).await);
    let gone = async |agent: &Value, client: &str| {
        let kept = format!(
            "SELECT id FROM documents WHERE body IS NOT NULL AND id IN ('{client}', '{}')",
            text(agent, "agent_id")
        );
        let started = Instant::now();
        while !host.database().texts(&kept).await.is_empty() {
            assert!(started.elapsed() < crate::harness::PATIENCE);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    host.advance(2 * DAY).await;
    call(&host, &one, balance()).await.assert_refused(404, "account_not_found");
    // Expired agents are swept every hour: the first one now, and the next ones only after they
    // expire in 45 minutes.
    host.advance(88 * DAY - HOUR * 3 / 4).await;
    gone(&swept, text(&swept, "client_id")).await;
    host.advance(HOUR * 5 / 6).await;
    call(&host, &one, balance()).await.assert_refused(404, "account_not_found");
    call(&host, &other, balance()).await.assert_refused(401, "identity_expired");
    // The next sweep removes the expired agent and its client.
    host.advance(HOUR).await;
    let (id, secret) = (text(&silent, "client_id"), text(&silent, "client_secret"));
    gone(&silent, id).await;
    let grant = [("grant_type", "client_credentials")];
    assert_oauth_error(
        &post(&host, "/oauth/token", &grant, Some((id, secret))).await,
        401,
        "invalid_client",
    );
}

#[tokio::test]
async fn tokens_of_the_old_key_stay_valid_after_a_rotation() {
    let url = postgres::database().await;
    let (one, other) = (
        Host::start(
            Options::with(&["ledger"])
                .postgres(&url)
                .add_configuration("public_url = \"https://portolan.example\""),
        )
        .await,
        Host::start(
            Options::with(&["ledger"])
                .postgres(&url)
                .add_configuration("public_url = \"https://portolan.example\""),
        )
        .await,
    );
    let old = one.token("svc.read").await;
    call(&other, &old, balance()).await.assert_refused(404, "account_not_found");
    let kid = |token: &str| {
        let header = URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap();
        serde_json::from_slice::<Value>(&header).unwrap()["kid"].clone()
    };
    let rotated = one.operator.post(format!("{}/keys/rotate", one.admin_url)).send().await.unwrap();
    let rotated = Reply::read(rotated).await.body;
    assert_eq!(rotated["keys"].as_array().unwrap().len(), 2, "{rotated}");
    let new = one.token("svc.read").await;
    assert_eq!(kid(&new), rotated["keys"][0]["kid"]);
    assert_eq!(kid(&old), rotated["keys"][1]["kid"]);
    // The other node has not loaded the key yet, and accepts its tokens all the same.
    for (node, token) in [(&other, &new), (&other, &old), (&one, &old), (&one, &new)] {
        call(node, token, balance()).await.assert_refused(404, "account_not_found");
    }
    let published = other.get("/.well-known/jwks.json").await.body;
    assert_eq!(published["keys"].as_array().unwrap().len(), 2);

    // Made-up keys are refused, and quickly.
    let parts: Vec<&str> = new.split('.').collect();
    for number in 0..20 {
        let header = format!("{{\"typ\":\"at+jwt\",\"alg\":\"EdDSA\",\"kid\":\"key_{number}\"}}");
        let token = format!("{}.{}.{}", URL_SAFE_NO_PAD.encode(header), parts[1], parts[2]);
        call(&one, &token, balance()).await.assert_refused(401, "token_invalid");
    }

    // A token that is revoked on one node is refused on the other within a second.
    let agent = one.register().await;
    let (id, secret) = (text(&agent, "client_id"), text(&agent, "client_secret"));
    let token =
        post(&one, "/oauth/token", &[("grant_type", "client_credentials")], Some((id, secret)))
            .await;
    let token = text(&token.body, "access_token").to_owned();
    call(&other, &token, balance()).await.assert_refused(404, "account_not_found");
    post(&one, "/oauth/revoke", &[("token", &token)], Some((id, secret))).await;
    tokio::time::sleep(Duration::from_millis(1_050)).await;
    call(&other, &token, balance()).await.assert_refused(401, "token_invalid");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_distinct_tokens_is_not_cached() {
    let opened = sqlite().await;
    let settings = Settings {
        test_mode: false,
        public_url: "https://portolan.example".to_owned(),
        access_seconds: 3600,
        refresh_days: 1,
        key_days: 0,
        redirects: RedirectHosts::default(),
        phone_verification: None,
    };
    let outgoing = Outgoing::new(&[], &[], 1).unwrap();
    let keys = keys();
    let clock = Clock::system();
    let identity =
        Identity::open(opened.store.clone(), &keys, settings, outgoing, clock).await.unwrap();
    let registration = Registration { identity_type: "anonymous", ..Registration::default() };
    let agent = identity.register(registration).await.unwrap();
    let credentials =
        Credentials::Secret { client_id: agent.client_id, secret: agent.client_secret };
    let client = identity.authenticate_client(&credentials, None).await.unwrap();
    for _ in 0..TOKEN_CACHE_CAPACITY + 2_000 {
        let token = identity.issue_for_client_credentials(&client, None, None).await.unwrap();
        identity.authenticate(&token.access_token, identity.audience()).await.unwrap();
    }
    let remembered = identity.cached_tokens();
    assert!((1_000..=TOKEN_CACHE_CAPACITY).contains(&remembered), "{remembered}");
}
