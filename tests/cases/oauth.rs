//! The authorization server as clients meet it, by the rows of the RFCs: discovery, registration,
//! proofs of clients, tokens and their end, keys.

use crate::{
    cases::store::{keys, sqlite},
    harness::{
        Host, Options, Reply,
        database::Database,
        oauth::*,
        person::Person,
        postgres,
        server::{Server, response},
    },
};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use portolan::{
    identity::{Credentials, Identity, RedirectHosts, Registration, Settings, VERIFIED_TOKENS},
    outgoing::Outgoing,
};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

#[tokio::test]
async fn everything_that_is_advertised_is_there() {
    let host = Host::with(&["faq_search"]).await;
    for (path, resource) in [("", ""), ("/mcp", "/mcp")] {
        let metadata = host.get(&format!("/.well-known/oauth-protected-resource{path}")).await;
        assert_eq!(text(&metadata.body, "resource"), format!("{}{resource}", host.url));
        assert_eq!(metadata.body["authorization_servers"], json!([host.url]));
        assert!(!metadata.text.contains("offline_access"));
    }
    let server = host.get("/.well-known/oauth-authorization-server").await;
    assert!(server.header("content-type").starts_with("application/json"));
    let server = server.body;
    assert_eq!(text(&server, "issuer"), host.url);
    assert_eq!(server["code_challenge_methods_supported"], json!(["S256"]));
    assert_eq!(server["authorization_response_iss_parameter_supported"], true);
    let mut addresses: Vec<&str> = server
        .as_object()
        .unwrap()
        .iter()
        .chain(server["agent_auth"].as_object().unwrap())
        .filter(|(name, _)| *name != "issuer")
        .filter_map(|(_, value)| value.as_str())
        .filter(|text| text.starts_with("http"))
        .collect();
    assert!(addresses.len() >= 12, "{addresses:?}");
    addresses.dedup();
    for address in addresses {
        let path = address.strip_prefix(&host.url).unwrap();
        assert_ne!(host.get(path).await.status, 404, "{address}");
    }
    let keys = host.get("/.well-known/jwks.json").await.body["keys"].clone();
    assert_eq!((&keys[0]["kty"], &keys[0]["crv"]), (&json!("OKP"), &json!("Ed25519")));
    assert!(keys[0]["d"].is_null());
    let catalog = host.get("/.well-known/api-catalog").await;
    assert!(catalog.header("content-type").starts_with("application/linkset+json"));
    assert_eq!(
        text(&catalog.body["linkset"][0], "anchor"),
        format!("{}/v1/capabilities", host.url)
    );
    for (path, part) in [("/auth.md", "svc.phone-binding"), ("/llms.txt", "faq_search")] {
        let page = host.get(path).await;
        assert!(page.text.contains(part) && page.text.contains(&host.url), "{}", page.text);
    }
    let from = [("origin", "https://elsewhere.example")];
    for (path, any) in [
        ("/.well-known/oauth-authorization-server", "*"),
        ("/.well-known/jwks.json", "*"),
        ("/oauth/authorize", ""),
    ] {
        let reply = host.send(Method::GET, path, &from, None).await;
        assert_eq!(reply.header("access-control-allow-origin"), any, "{path}");
    }
}

#[tokio::test]
async fn clients_register_read_change_and_end_their_registration() {
    let host = Host::with(&["ledger"]).await;
    let registered = register(
        &host,
        json!({
            "client_name": "As the brief has it",
            "grant_types": ["authorization_code", "client_credentials"],
            "token_endpoint_auth_method": "client_secret_basic",
            "scope": "svc.read svc.events",
            "unknown_member": { "is": "ignored" },
        }),
    )
    .await;
    assert_eq!(registered.status, 201, "{}", registered.text);
    assert_eq!(registered.header("cache-control"), "no-store");
    let client = registered.body;
    assert_eq!(client["client_secret_expires_at"], 0);
    assert!(client["unknown_member"].is_null());
    let (id, secret) = (text(&client, "client_id"), text(&client, "client_secret"));
    let grant = [("grant_type", "client_credentials")];
    let token = post(&host, "/oauth/token", &grant, Some((id, secret))).await;
    assert_eq!(token.body["scope"], "svc.read svc.events", "{}", token.text);
    assert!(token.body["refresh_token"].is_null());
    let token = text(&token.body, "access_token").to_owned();
    call(&host, &token, balance()).await.refused(404, "account_not_found");
    let more = [grant[0], ("scope", "svc.write")];
    oauth_error(
        &post(&host, "/oauth/token", &more, Some((id, secret))).await,
        400,
        "invalid_scope",
    );

    let uri = text(&client, "registration_client_uri").strip_prefix(&host.url).unwrap().to_owned();
    let managing = format!("Bearer {}", text(&client, "registration_access_token"));
    let managing = [("authorization", managing.as_str()), ("content-type", "application/json")];
    let read = host.send(Method::GET, &uri, &managing, None).await;
    assert_eq!(read.body["client_name"], "As the brief has it");
    assert!(read.body["client_secret"].is_null());
    let foreign = [("authorization", "Bearer svc_rat_wrong")];
    oauth_error(&host.send(Method::GET, &uri, &foreign, None).await, 401, "invalid_token");
    oauth_error(&host.send(Method::DELETE, &uri, &[], None).await, 401, "invalid_token");
    let mut changed = read.body.clone();
    changed["client_name"] = json!("Renamed");
    changed["redirect_uris"] = json!([REDIRECT]);
    let reply = host.send(Method::PUT, &uri, &managing, Some(changed.to_string())).await;
    assert_eq!(reply.body["client_name"], "Renamed", "{}", reply.text);
    changed["token_endpoint_auth_method"] = json!("none");
    let reply = host.send(Method::PUT, &uri, &managing, Some(changed.to_string())).await;
    oauth_error(&reply, 400, "invalid_client_metadata");

    assert_eq!(host.send(Method::DELETE, &uri, &managing, None).await.status, 204);
    call(&host, &token, balance()).await.refused(401, "token_invalid");
    oauth_error(
        &post(&host, "/oauth/token", &grant, Some((id, secret))).await,
        401,
        "invalid_client",
    );
    for (metadata, error) in [
        (json!({ "redirect_uris": ["javascript:alert(1)"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["https://elsewhere.example/cb"] }), "invalid_redirect_uri"),
        (json!({ "redirect_uris": ["http://127.0.0.1/cb#x"] }), "invalid_redirect_uri"),
        (
            json!({ "redirect_uris": [REDIRECT], "grant_types": ["implicit"] }),
            "invalid_client_metadata",
        ),
        (json!({ "redirect_uris": 7 }), "invalid_client_metadata"),
        (
            json!({ "redirect_uris": [REDIRECT], "x": "y".repeat(70_000) }),
            "invalid_client_metadata",
        ),
    ] {
        oauth_error(&register(&host, metadata).await, 400, error);
    }
}

#[tokio::test]
async fn clients_authenticate_in_one_way_and_in_their_own() {
    let host = Host::with(&["ledger"]).await;
    let grant = ("grant_type", "client_credentials");
    let public = public_client(&host).await;
    let reply = post(&host, "/oauth/token", &[grant, ("client_id", &public)], None).await;
    oauth_error(&reply, 400, "unauthorized_client");
    let reply = post(&host, "/oauth/token", &[grant], Some((&public, "x"))).await;
    oauth_error(&reply, 401, "invalid_client");
    assert!(reply.header("www-authenticate").starts_with("Basic"));
    // Both parts of HTTP Basic are form-encoded (RFC 6749, section 2.3.1).
    let agent = host.register().await;
    let (id, secret) = (text(&agent, "client_id"), text(&agent, "client_secret"));
    let encoded: String = secret.bytes().map(|byte| format!("%{byte:02X}")).collect();
    let header = format!("Basic {}", STANDARD.encode(format!("{id}:{encoded}")));
    let headers = [
        ("authorization", header.as_str()),
        ("content-type", "application/x-www-form-urlencoded;charset=UTF-8"),
    ];
    let body = Some("grant_type=client_credentials&unknown=1".to_owned());
    let reply = host.send(Method::POST, "/oauth/token", &headers, body.clone()).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let json = [headers[0], ("content-type", "application/json")];
    let reply = host.send(Method::POST, "/oauth/token", &json, body).await;
    oauth_error(&reply, 400, "invalid_request");
    for (path, basic) in [("/oauth/revoke", None), ("/oauth/introspect", Some((id, "wrong")))] {
        let reply = post(&host, path, &[("token", "x")], basic).await;
        oauth_error(&reply, 401, "invalid_client");
    }
}

#[tokio::test]
async fn a_client_proves_itself_with_a_key_and_each_proof_counts_once() {
    let key = ed25519_dalek::SigningKey::from_bytes(&[7; 32]);
    let public = URL_SAFE_NO_PAD.encode(key.verifying_key().as_bytes());
    let jwks = json!({ "keys": [{ "kty": "OKP", "crv": "Ed25519", "kid": "one", "x": public }] });
    let published = jwks.to_string();
    let server = Server::with_tls(move |_| {
        Some(response("200 OK", "content-type: application/jwk-set+json\r\n", &published))
    })
    .await;
    let host = Host::start(
        Options::with(&["ledger"])
            .configuration("reachable_networks = [\"127.0.0.0/8\"]")
            .environment("SSL_CERT_FILE", server.certificate.to_str().unwrap()),
    )
    .await;
    let keys = format!("https://localhost:{}/keys", server.port);
    for (member, value) in [("jwks", jwks), ("jwks_uri", json!(keys))] {
        let mut metadata = json!({
            "grant_types": ["client_credentials"],
            "token_endpoint_auth_method": "private_key_jwt",
        });
        oauth_error(&register(&host, metadata.clone()).await, 400, "invalid_client_metadata");
        metadata[member] = value;
        let client = register(&host, metadata).await;
        assert_eq!(client.status, 201, "{}", client.text);
        prove(&host, text(&client.body, "client_id"), &key).await;
    }
    assert_eq!(server.requests().len(), 1);
}

/// Everything about the assertions of one client with this key.
async fn prove(host: &Host, id: &str, key: &ed25519_dalek::SigningKey) {
    let public = URL_SAFE_NO_PAD.encode(key.verifying_key().as_bytes());
    let pkcs8 = ed25519_dalek::pkcs8::EncodePrivateKey::to_pkcs8_der(key).unwrap();
    let pem = EncodingKey::from_ed_der(pkcs8.as_bytes());
    let now = portolan::vocabulary::Timestamp::now().as_secs();
    let claims = |jti: &str| json!({ "iss": id, "sub": id, "aud": host.url, "exp": now + 60, "iat": now, "jti": jti });
    let signed = |claims: &Value| {
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some("one".to_owned());
        jsonwebtoken::encode(&header, claims, &pem).unwrap()
    };
    let send = async |assertion: &str| {
        let form = [
            ("grant_type", "client_credentials"),
            ("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"),
            ("client_assertion", assertion),
        ];
        post(host, "/oauth/token", &form, None).await
    };
    let good = signed(&claims("1"));
    let token = send(&good).await;
    assert_eq!(token.status, 200, "{}", token.text);
    call(host, text(&token.body, "access_token"), balance())
        .await
        .refused(404, "account_not_found");
    oauth_error(&send(&good).await, 401, "invalid_client");
    for (name, value) in [
        ("aud", json!("https://elsewhere.example")),
        ("iss", json!("cli_other")),
        ("exp", json!(now - 100)),
        ("exp", json!(now + 100_000)),
        ("nbf", json!(now + 1_000)),
        ("jti", Value::Null),
    ] {
        let mut wrong = claims(&format!("wrong {name}"));
        wrong[name] = value;
        oauth_error(&send(&signed(&wrong)).await, 401, "invalid_client");
    }
    let forged = EncodingKey::from_secret(public.as_bytes());
    let forged =
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims("2"), &forged).unwrap();
    oauth_error(&send(&forged).await, 401, "invalid_client");
    // The token is no assertion, and the assertion no token.
    oauth_error(&send(text(&token.body, "access_token")).await, 401, "invalid_client");
    call(host, &signed(&claims("3")), balance()).await.refused(401, "token_invalid");
}

#[tokio::test]
async fn tokens_are_ended_and_described_for_their_own_client_only() {
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
    call(&host, &token, balance()).await.refused(404, "account_not_found");
    assert_eq!(revoke(&token, &one, &one_secret).await, 200);
    call(&host, &token, balance()).await.refused(401, "token_invalid");
    assert_eq!(introspect(&token, &one, &one_secret).await, inactive);

    // With a refresh token ends all that came of it.
    let client = public_client(&host).await;
    let mut person = Person::new(&host);
    let code = code(&mut person, &client, ADA).await;
    let granted = post(&host, "/oauth/token", &redemption(&client, &code), None).await.body;
    let access = text(&granted, "access_token");
    assert_eq!(call(&host, access, open("ada")).await.status, 200);
    let form = [("token", text(&granted, "refresh_token")), ("client_id", &*client)];
    assert_eq!(post(&host, "/oauth/revoke", &form, None).await.status, 200);
    call(&host, access, open("bob")).await.refused(401, "token_invalid");
}

#[tokio::test]
async fn every_claim_of_a_token_counts() {
    let host = Host::with(&["ledger"]).await;
    let agent = host.register().await;
    let key = host.database().texts("SELECT id || ' ' || hex(private_key) FROM signing_keys").await;
    let (kid, key) = key[0].split_once(' ').unwrap();
    let bytes = (0..key.len()).step_by(2).map(|at| u8::from_str_radix(&key[at..at + 2], 16));
    let key = EncodingKey::from_ed_der(&bytes.collect::<Result<Vec<_>, _>>().unwrap());
    let now = portolan::vocabulary::Timestamp::now().as_secs();
    let claims = json!({
        "iss": host.url, "aud": host.url, "sub": agent["agent_id"], "client_id": agent["client_id"],
        "scope": "svc.read", "iat": now, "exp": now + 60, "jti": "tok_made_by_hand",
    });
    let signed = |kind: &str, claims: &Value| {
        let mut header = Header::new(Algorithm::EdDSA);
        header.kid = Some(kid.to_owned());
        header.typ = Some(kind.to_owned());
        jsonwebtoken::encode(&header, claims, &key).unwrap()
    };
    call(&host, &signed("at+jwt", &claims), balance()).await.refused(404, "account_not_found");
    // A token of another kind is none, whoever signed it (RFC 9068, section 4).
    call(&host, &signed("JWT", &claims), balance()).await.refused(401, "token_invalid");
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
        call(&host, &signed("at+jwt", &wrong), balance()).await.refused(401, code);
    }
}

#[tokio::test]
async fn a_token_opens_the_surface_that_it_is_for() {
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
            true => call(&host, &token, balance()).await.refused(401, "audience_mismatch"),
            false => call(&host, &token, balance()).await.refused(404, "account_not_found"),
        }
    }
}

#[tokio::test]
async fn an_agent_that_does_not_call_expires_and_one_that_does_lives_on() {
    let host = Host::with(&["ledger"]).await;
    let agents = [host.register().await, host.register().await];
    let mut tokens = Vec::new();
    for (agent, days) in agents.iter().zip([2, 91]) {
        let (id, secret) = (text(agent, "client_id"), text(agent, "client_secret"));
        let grant = [("grant_type", "client_credentials")];
        let token = post(&host, "/oauth/token", &grant, Some((id, secret))).await;
        tokens.push(text(&token.body, "access_token").to_owned());
        let days = days * 24 * 3_600_000_u64;
        let sql = format!(
            "UPDATE documents SET body = json_set(body, '$.last_call_at', json_extract(body, '$.last_call_at') - {days}, '$.expires_at', json_extract(body, '$.expires_at') - {days}) WHERE id = '{}'",
            text(agent, "agent_id")
        );
        host.database().execute(&sql).await;
    }
    let expiry =
        format!("SELECT body FROM documents WHERE id = '{}'", text(&agents[0], "agent_id"));
    let before: Value = serde_json::from_str(&host.database().texts(&expiry).await[0]).unwrap();
    call(&host, &tokens[0], balance()).await.refused(404, "account_not_found");
    let after: Value = serde_json::from_str(&host.database().texts(&expiry).await[0]).unwrap();
    assert!(after["expires_at"].as_u64() > before["expires_at"].as_u64());
    call(&host, &tokens[1], balance()).await.refused(401, "identity_expired");
    // What is over is removed at the next start, and its client with it.
    let (id, secret) = (text(&agents[1], "client_id"), text(&agents[1], "client_secret"));
    host.signal("TERM");
    let (_, folder) = host.wait();
    // What was changed behind the host's back is not in its indexes: they are to be made again.
    let indexes = "UPDATE collections SET shape = '' WHERE capability = ':host'";
    Database::of(folder.path()).execute(indexes).await;
    let host = Host::start_in(folder);
    let gone = format!(
        "SELECT id FROM documents WHERE body IS NOT NULL AND id IN ('{id}', '{}')",
        text(&agents[1], "agent_id")
    );
    let started = Instant::now();
    while !host.database().texts(&gone).await.is_empty() {
        assert!(started.elapsed() < crate::harness::PATIENCE);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let grant = [("grant_type", "client_credentials")];
    oauth_error(
        &post(&host, "/oauth/token", &grant, Some((id, secret))).await,
        401,
        "invalid_client",
    );
}

#[tokio::test]
async fn keys_are_rotated_and_tokens_of_the_old_one_stay_good() {
    let url = postgres::database().await;
    let (one, other) = (
        Host::start(
            Options::with(&["ledger"])
                .postgres(&url)
                .configuration_too("public_url = \"https://portolan.example\""),
        )
        .await,
        Host::start(
            Options::with(&["ledger"])
                .postgres(&url)
                .configuration_too("public_url = \"https://portolan.example\""),
        )
        .await,
    );
    let old = one.token("svc.read").await;
    call(&other, &old, balance()).await.refused(404, "account_not_found");
    let kid = |token: &str| {
        let header = URL_SAFE_NO_PAD.decode(token.split('.').next().unwrap()).unwrap();
        serde_json::from_slice::<Value>(&header).unwrap()["kid"].clone()
    };
    let rotated = one.client.post(format!("{}/keys/rotate", one.admin_url)).send().await.unwrap();
    let rotated = Reply::read(rotated).await.body;
    assert_eq!(rotated["keys"].as_array().unwrap().len(), 2, "{rotated}");
    let new = one.token("svc.read").await;
    assert_eq!(kid(&new), rotated["keys"][0]["kid"]);
    assert_eq!(kid(&old), rotated["keys"][1]["kid"]);
    // The other node has not heard of the key yet, and takes its tokens all the same.
    for (node, token) in [(&other, &new), (&other, &old), (&one, &old), (&one, &new)] {
        call(node, token, balance()).await.refused(404, "account_not_found");
    }
    let published = other.get("/.well-known/jwks.json").await.body;
    assert_eq!(published["keys"].as_array().unwrap().len(), 2);

    // Made-up keys are refused, and quickly.
    let parts: Vec<&str> = new.split('.').collect();
    for number in 0..20 {
        let header = format!("{{\"typ\":\"at+jwt\",\"alg\":\"EdDSA\",\"kid\":\"key_{number}\"}}");
        let token = format!("{}.{}.{}", URL_SAFE_NO_PAD.encode(header), parts[1], parts[2]);
        call(&one, &token, balance()).await.refused(401, "token_invalid");
    }

    // A token that is revoked on one node is refused on the other within a second.
    let agent = one.register().await;
    let (id, secret) = (text(&agent, "client_id"), text(&agent, "client_secret"));
    let token =
        post(&one, "/oauth/token", &[("grant_type", "client_credentials")], Some((id, secret)))
            .await;
    let token = text(&token.body, "access_token").to_owned();
    call(&other, &token, balance()).await.refused(404, "account_not_found");
    post(&one, "/oauth/revoke", &[("token", &token)], Some((id, secret))).await;
    tokio::time::sleep(Duration::from_millis(1_050)).await;
    call(&other, &token, balance()).await.refused(401, "token_invalid");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_of_distinct_tokens_is_not_remembered() {
    let opened = sqlite().await;
    let settings = Settings {
        public_url: "https://portolan.example".to_owned(),
        access_seconds: 3600,
        refresh_days: 1,
        redirects: RedirectHosts::default(),
    };
    let outgoing = Outgoing::new(&[]).unwrap();
    let keys = keys();
    let identity = Identity::open(opened.store.clone(), &keys, settings, outgoing).await.unwrap();
    let registration = Registration { identity_type: "anonymous", ..Registration::default() };
    let agent = identity.register(registration).await.unwrap();
    let credentials =
        Credentials::Secret { client_id: agent.client_id, secret: agent.client_secret };
    let client = identity.authenticate_client(&credentials).await.unwrap();
    for _ in 0..VERIFIED_TOKENS + 2_000 {
        let token = identity.grant_client_credentials(&client, None, None).await.unwrap();
        identity.authenticate(&token.access_token, identity.audience()).await.unwrap();
    }
    let remembered = identity.remembered_tokens();
    assert!((1_000..=VERIFIED_TOKENS).contains(&remembered), "{remembered}");
}
