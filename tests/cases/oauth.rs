//! The authorization server as the RFCs define it for clients: discovery, registration, and the
//! authentication of clients.

use crate::harness::{
    Host, Options,
    oauth::*,
    server::{Server, response},
};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use jsonwebtoken::{Algorithm, EncodingKey, Header};
use reqwest::Method;
use serde_json::{Value, json};

#[tokio::test]
async fn everything_that_the_metadata_advertises_exists() {
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
    let mcp = format!("{}/mcp", host.url);
    assert_eq!(text(&catalog.body["linkset"][1], "anchor"), mcp);
    assert_eq!(host.get("/openapi.json").await.body["x-mcp"]["url"], mcp);
    for path in ["/auth.md", "/llms.txt"] {
        assert!(host.get(path).await.text.contains(&mcp), "{path}");
    }
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
async fn clients_register_read_change_and_delete_their_registration() {
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
    call(&host, &token, balance()).await.assert_refused(404, "account_not_found");
    let more = [grant[0], ("scope", "svc.write")];
    assert_oauth_error(
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
    assert_oauth_error(&host.send(Method::GET, &uri, &foreign, None).await, 401, "invalid_token");
    assert_oauth_error(&host.send(Method::DELETE, &uri, &[], None).await, 401, "invalid_token");
    let mut changed = read.body.clone();
    changed["client_name"] = json!("Renamed");
    changed["redirect_uris"] = json!([REDIRECT]);
    let reply = host.send(Method::PUT, &uri, &managing, Some(changed.to_string())).await;
    assert_eq!(reply.body["client_name"], "Renamed", "{}", reply.text);
    let mut deceptive = changed.clone();
    deceptive["client_name"] = json!("Portolan Support");
    let reply = host.send(Method::PUT, &uri, &managing, Some(deceptive.to_string())).await;
    assert_oauth_error(&reply, 400, "invalid_client_metadata");
    changed["token_endpoint_auth_method"] = json!("none");
    let reply = host.send(Method::PUT, &uri, &managing, Some(changed.to_string())).await;
    assert_oauth_error(&reply, 400, "invalid_client_metadata");

    assert_eq!(host.send(Method::DELETE, &uri, &managing, None).await.status, 204);
    call(&host, &token, balance()).await.assert_refused(401, "token_invalid");
    assert_oauth_error(
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
        assert_oauth_error(&register(&host, metadata).await, 400, error);
    }
}

#[tokio::test]
async fn a_client_authenticates_with_its_registered_method_only() {
    let host = Host::with(&["ledger"]).await;
    let grant = ("grant_type", "client_credentials");
    let public = public_client(&host).await;
    let reply = post(&host, "/oauth/token", &[grant, ("client_id", &public)], None).await;
    assert_oauth_error(&reply, 400, "unauthorized_client");
    let reply = post(&host, "/oauth/token", &[grant], Some((&public, "x"))).await;
    assert_oauth_error(&reply, 401, "invalid_client");
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
    assert_oauth_error(&reply, 400, "invalid_request");
    for (path, basic) in [("/oauth/revoke", None), ("/oauth/introspect", Some((id, "wrong")))] {
        let reply = post(&host, path, &[("token", "x")], basic).await;
        assert_oauth_error(&reply, 401, "invalid_client");
    }
}

#[tokio::test]
async fn a_client_assertion_is_valid_once() {
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
            .trusting(&server.certificate),
    )
    .await;
    let keys = format!("https://localhost:{}/keys", server.port);
    for (member, value) in [("jwks", jwks), ("jwks_uri", json!(keys))] {
        let mut metadata = json!({
            "grant_types": ["client_credentials"],
            "token_endpoint_auth_method": "private_key_jwt",
        });
        assert_oauth_error(
            &register(&host, metadata.clone()).await,
            400,
            "invalid_client_metadata",
        );
        metadata[member] = value;
        let client = register(&host, metadata).await;
        assert_eq!(client.status, 201, "{}", client.text);
        prove(&host, text(&client.body, "client_id"), &key).await;
    }
    assert_eq!(server.requests().len(), 1);
}

/// Checks valid and invalid assertions of one client with this key.
async fn prove(host: &Host, id: &str, key: &ed25519_dalek::SigningKey) {
    let public = URL_SAFE_NO_PAD.encode(key.verifying_key().as_bytes());
    let pkcs8 = ed25519_dalek::pkcs8::EncodePrivateKey::to_pkcs8_der(key).unwrap();
    let pem = EncodingKey::from_ed_der(pkcs8.as_bytes());
    let now = portolan_vocabulary::Timestamp::now().as_secs();
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
        .assert_refused(404, "account_not_found");
    assert_oauth_error(&send(&good).await, 401, "invalid_client");
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
        assert_oauth_error(&send(&signed(&wrong)).await, 401, "invalid_client");
    }
    let forged = EncodingKey::from_secret(public.as_bytes());
    let forged =
        jsonwebtoken::encode(&Header::new(Algorithm::HS256), &claims("2"), &forged).unwrap();
    assert_oauth_error(&send(&forged).await, 401, "invalid_client");
    // An access token is not accepted as an assertion, nor an assertion as a token.
    assert_oauth_error(&send(text(&token.body, "access_token")).await, 401, "invalid_client");
    call(host, &signed(&claims("3")), balance()).await.assert_refused(401, "token_invalid");
}
