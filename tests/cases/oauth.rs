//! The authorization server as clients and browsers meet it, by the rows of the RFCs.

use crate::cases::store::{keys, sqlite};
use crate::harness::{
    Host, Options, Reply,
    database::Database,
    person::{Page, Person},
    postgres,
    server::{Server, response},
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
use sha2::{Digest as _, Sha256};
use std::time::{Duration, Instant};

const ADA: &str = "+12015550123";
const BOB: &str = "+12015550145";
const VERIFIER: &str = "a-verifier-of-forty-three-characters-or-more-0123";
const REDIRECT: &str = "http://127.0.0.1:7777/callback?kept=1";

async fn host() -> Host {
    Host::with(&["svc_phone_binding", "ledger"]).await
}

fn challenge() -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(VERIFIER))
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap_or_else(|| panic!("no {name} in {value}"))
}

async fn register(host: &Host, metadata: Value) -> Reply {
    let request = host.client.post(format!("{}/oauth/register", host.url)).json(&metadata);
    Reply::read(request.send().await.unwrap()).await
}

/// A client without a secret, as desktop applications are.
async fn public_client(host: &Host) -> String {
    let metadata = json!({
        "client_name": "A <b>desktop</b> application",
        "redirect_uris": [REDIRECT],
        "token_endpoint_auth_method": "none",
        "grant_types": ["authorization_code", "refresh_token"],
    });
    let reply = register(host, metadata).await;
    assert_eq!(reply.status, 201, "{}", reply.text);
    assert!(reply.body["client_secret"].is_null());
    text(&reply.body, "client_id").to_owned()
}

async fn post(
    host: &Host,
    path: &str,
    form: &[(&str, &str)],
    basic: Option<(&str, &str)>,
) -> Reply {
    let mut request = host.client.post(format!("{}{path}", host.url)).form(form);
    if let Some((id, secret)) = basic {
        request = request.basic_auth(id, Some(secret));
    }
    Reply::read(request.send().await.unwrap()).await
}

fn query(parameters: &[(&str, &str)]) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    format!("/oauth/authorize?{}", query.extend_pairs(parameters).finish())
}

/// The parameters of a request that is as it should be.
fn parameters<'a>(client: &'a str, challenge: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("response_type", "code"),
        ("client_id", client),
        ("redirect_uri", REDIRECT),
        ("scope", "svc.read svc.write"),
        ("state", "odd &=+ 状態"),
        ("code_challenge", challenge),
        ("code_challenge_method", "S256"),
    ]
}

fn with<'a>(
    parameters: &[(&'a str, &'a str)],
    name: &'a str,
    value: Option<&'a str>,
) -> Vec<(&'a str, &'a str)> {
    let others = parameters.iter().copied().filter(|(it, _)| *it != name);
    others.chain(value.map(|value| (name, value))).collect()
}

/// A code that a person has let the client have.
async fn code(person: &mut Person<'_>, client: &str, phone: &str) -> String {
    let path = query(&parameters(client, &challenge()));
    let page = match person.cookies.contains_key("portolan_session") {
        true => person.open(&path).await,
        false => person.sign_in(&path, phone).await,
    };
    allowed(person, &page).await
}

async fn allowed(person: &mut Person<'_>, page: &Page) -> String {
    let told = person.submit(page, "allow", &[]).await.told();
    assert_eq!(told["state"], "odd &=+ 状態");
    assert_eq!((&told["iss"], &*told["kept"]), (&person.host.url, "1"));
    told["code"].clone()
}

fn redemption<'a>(client: &'a str, code: &'a str) -> Vec<(&'a str, &'a str)> {
    vec![
        ("grant_type", "authorization_code"),
        ("client_id", client),
        ("code", code),
        ("redirect_uri", REDIRECT),
        ("code_verifier", VERIFIER),
    ]
}

fn oauth_error(reply: &Reply, status: u16, error: &str) {
    assert_eq!(
        (reply.status.as_u16(), &reply.body["error"]),
        (status, &json!(error)),
        "{}",
        reply.text
    );
    assert_eq!(reply.header("cache-control"), "no-store");
}

async fn call(host: &Host, token: &str, body: Value) -> Reply {
    let url = format!("{}/v1/capabilities/ledger/call", host.url);
    Reply::read(host.client.post(url).bearer_auth(token).json(&body).send().await.unwrap()).await
}

fn open(account: &str) -> Value {
    json!({ "action": "open", "account": account })
}

fn balance() -> Value {
    json!({ "action": "balance", "account": "nobody" })
}

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
    ] {
        oauth_error(&register(&host, metadata).await, 400, error);
    }
}

#[tokio::test]
async fn a_person_lets_a_client_and_its_tokens_write_at_once() {
    let host = host().await;
    let client = public_client(&host).await;
    let mut person = Person::new(&host);
    let page = person.open(&query(&parameters(&client, &challenge()))).await;
    for (name, part) in [
        ("content-security-policy", "frame-ancestors 'none'"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cache-control", "no-store"),
    ] {
        assert!(page.reply.header(name).contains(part), "{name}");
    }
    // Wrong numbers and codes are told on the page, and the way goes on.
    let page = person.submit(&page, "phone", &[("phone", "12")]).await;
    assert!(page.problem().contains("international"), "{}", page.reply.text);
    let page = person.submit(&page, "phone", &[("phone", "+1 (201) 555-0123")]).await;
    assert!(page.reply.text.contains("+1•••••0123"), "{}", page.reply.text);
    let code = crate::harness::person::code(&host, 1).await;
    let wrong = if code == "111111" { "222222" } else { "111111" };
    let page = person.submit(&page, "code", &[("code", wrong)]).await;
    assert!(page.problem().contains("not the code"), "{}", page.reply.text);
    let spaced = format!(" {} {} ", &code[..3], &code[3..]);
    let page = person.submit(&page, "code", &[("code", &spaced)]).await;
    assert_eq!(page.heading, "Allow A <b>desktop</b> application to act for you?");
    assert!(page.reply.text.contains("this computer") && !page.reply.text.contains("<b>"));
    assert!(page.reply.text.contains("in your name") && !page.reply.text.contains("Hear of"));
    let code = allowed(&mut person, &page).await;

    let token = post(&host, "/oauth/token", &redemption(&client, &code), None).await;
    assert_eq!(token.status, 200, "{}", token.text);
    assert_eq!(token.body["scope"], "svc.read svc.write");
    let access = text(&token.body, "access_token").to_owned();
    assert_eq!(call(&host, &access, open("ada")).await.status, 200);
    let claims: Value =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(access.split('.').nth(1).unwrap()).unwrap())
            .unwrap();

    // The same person and the same client are the same agent, and nobody is asked for a phone again.
    let code = self::code(&mut person, &client, ADA).await;
    let again = post(&host, "/oauth/token", &redemption(&client, &code), None).await;
    let again = text(&again.body, "access_token").to_owned();
    let other: Value =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(again.split('.').nth(1).unwrap()).unwrap())
            .unwrap();
    assert_eq!((&claims["sub"], &claims["client_id"]), (&other["sub"], &json!(client)));

    // No is an answer too; and who signs out is asked again.
    let page = person.open(&query(&parameters(&client, &challenge()))).await;
    let told = person.submit(&page, "refuse", &[]).await.told();
    assert_eq!((&*told["error"], &told["iss"]), ("access_denied", &host.url));
    assert_eq!(told["state"], "odd &=+ 状態");
    let page = person.submit(&page, "sign_out", &[]).await;
    assert_eq!(page.heading, "Sign in with your phone");
    let log = host.log();
    for secret in
        [&*code, &*access, &*again, ADA, "2015550123", &*person.cookies["portolan_browser"]]
    {
        assert!(!log.contains(secret), "{secret} is in the log");
    }
}

#[tokio::test]
async fn a_page_is_good_in_its_own_browser_only() {
    let host = host().await;
    let client = public_client(&host).await;
    let (mut ada, mut eve) = (Person::new(&host), Person::new(&host));
    let consent = ada.sign_in(&query(&parameters(&client, &challenge())), ADA).await;
    let own = eve.open(&query(&parameters(&client, &challenge()))).await;
    // Eve's page in Ada's browser: what a forged form would send.
    for steps in [&*own.steps, "", "forged", &*format!("{}x", consent.steps)] {
        let reply = ada.post(&[("steps", steps), ("step", "allow")]).await;
        assert_eq!((reply.status.as_u16(), reply.header("location")), (400, ""), "{steps}");
    }
    // And Ada's in Eve's.
    assert_eq!(eve.post(&[("steps", &consent.steps), ("step", "allow")]).await.status, 400);
    // Eve has not proved a phone: her own page does not let anybody.
    let page = eve.submit(&own, "allow", &[]).await;
    assert_eq!(page.heading, "Sign in with your phone");
    assert_eq!(ada.post(&[("step", "allow")]).await.status, 400);
}

#[tokio::test]
async fn requests_that_do_not_hold_are_told_where_it_is_safe() {
    let host = Host::with(&["ledger"]).await;
    let client = public_client(&host).await;
    let challenge = challenge();
    let good = parameters(&client, &challenge);
    let mut person = Person::new(&host);
    for (name, value) in [
        ("client_id", None),
        ("client_id", Some("cli_nobody")),
        ("client_id", Some("https://127.0.0.1/client.json")),
        ("client_id", Some("<script>alert(1)</script>")),
        ("redirect_uri", Some("http://127.0.0.1:7777/callback")),
        ("redirect_uri", Some("http://127.0.0.1:7777/callback?kept=1&more")),
        ("redirect_uri", Some("http://127.0.0.1:7777/../callback?kept=1")),
        ("redirect_uri", Some("http://127.0.0.1:7777@evil.example/callback?kept=1")),
        ("redirect_uri", Some("https://evil.example/callback")),
    ] {
        let page = person.open(&query(&with(&good, name, value))).await;
        let seen = (page.reply.status.as_u16(), page.reply.header("location"));
        assert_eq!(seen, (400, ""), "{name} {value:?}");
        assert!(!page.reply.text.contains("<script"), "{}", page.reply.text);
    }
    let twice = [&*good, &[("state", "again")]].concat();
    assert_eq!(person.open(&query(&twice)).await.reply.status, 400);
    for (name, value, error) in [
        ("response_type", None, "invalid_request"),
        ("response_type", Some("token"), "unsupported_response_type"),
        ("code_challenge", None, "invalid_request"),
        ("code_challenge", Some("short"), "invalid_request"),
        ("code_challenge_method", None, "invalid_request"),
        ("code_challenge_method", Some("plain"), "invalid_request"),
        ("scope", Some("svc.read admin"), "invalid_scope"),
        ("resource", Some("https://elsewhere.example"), "invalid_target"),
        ("resource", Some("#x"), "invalid_target"),
    ] {
        let told = person.open(&query(&with(&good, name, value))).await.told();
        assert_eq!((&*told["error"], &told["iss"]), (error, &host.url), "{name} {value:?}");
        assert_eq!((&*told["state"], &*told["kept"]), ("odd &=+ 状態", "1"));
    }
    // Another port of a loopback address is as good (RFC 8252).
    let port = with(&good, "redirect_uri", Some("http://127.0.0.1:1/callback?kept=1"));
    assert_eq!(person.open(&query(&port)).await.reply.status, 200);
    // The address of a page leads nowhere else.
    let page = person.open("/oauth/authorize/continue?steps=x&next=https://evil.example").await;
    assert_eq!((page.reply.status.as_u16(), page.reply.header("location")), (400, ""));
}

#[tokio::test]
async fn a_code_is_good_once_for_its_client_and_its_verifier() {
    let host = host().await;
    let (client, other) = (public_client(&host).await, public_client(&host).await);
    let mut person = Person::new(&host);
    let code = code(&mut person, &client, ADA).await;
    let good = redemption(&client, &code);
    let short = "a".repeat(42);
    let long = "a".repeat(129);
    let odd = format!("{VERIFIER} ");
    for (name, value, error) in [
        ("code", Some("wrong"), "invalid_grant"),
        ("code", None, "invalid_request"),
        ("client_id", Some(&*other), "invalid_grant"),
        ("code_verifier", None, "invalid_grant"),
        ("code_verifier", Some("another-verifier-that-is-long-enough-0123456789"), "invalid_grant"),
        ("code_verifier", Some(&*short), "invalid_grant"),
        ("code_verifier", Some(&*long), "invalid_grant"),
        ("code_verifier", Some(&*odd), "invalid_grant"),
        ("redirect_uri", Some("http://127.0.0.1:7777/other"), "invalid_grant"),
        ("resource", Some("https://elsewhere.example"), "invalid_target"),
    ] {
        let reply = post(&host, "/oauth/token", &with(&good, name, value), None).await;
        oauth_error(&reply, 400, error);
    }
    let mcp = format!("{}/mcp", host.url);
    let reply = post(&host, "/oauth/token", &with(&good, "resource", Some(&mcp)), None).await;
    oauth_error(&reply, 400, "invalid_target");
    let token = post(&host, "/oauth/token", &good, None).await;
    let access = text(&token.body, "access_token").to_owned();
    let refresh = text(&token.body, "refresh_token").to_owned();
    assert_eq!(call(&host, &access, open("ada")).await.status, 200);
    // The second use ends what the first one gave.
    oauth_error(&post(&host, "/oauth/token", &good, None).await, 400, "invalid_grant");
    call(&host, &access, open("eve")).await.refused(401, "token_invalid");
    let form =
        [("grant_type", "refresh_token"), ("client_id", &client), ("refresh_token", &refresh)];
    oauth_error(&post(&host, "/oauth/token", &form, None).await, 400, "invalid_grant");

    // A code that was not used in its minute.
    let late = self::code(&mut person, &client, ADA).await;
    let sql = "UPDATE documents SET body = json_set(body, '$.good_until', 1) WHERE json_extract(body, '$.code_challenge') IS NOT NULL";
    host.database().execute(sql).await;
    let reply = post(&host, "/oauth/token", &redemption(&client, &late), None).await;
    oauth_error(&reply, 400, "invalid_grant");
}

#[tokio::test]
async fn refresh_tokens_are_good_once_each_and_never_widen() {
    let host = host().await;
    let (client, other) = (public_client(&host).await, public_client(&host).await);
    let mut person = Person::new(&host);
    let code = code(&mut person, &client, ADA).await;
    let first = post(&host, "/oauth/token", &redemption(&client, &code), None).await.body;
    let refresh = async |token: &str, more: &[(&str, &str)]| {
        let form =
            [("grant_type", "refresh_token"), ("client_id", &*client), ("refresh_token", token)];
        post(&host, "/oauth/token", &[&form, more].concat(), None).await
    };
    let old = text(&first, "refresh_token");
    let stolen = [("grant_type", "refresh_token"), ("client_id", &*other), ("refresh_token", old)];
    oauth_error(&post(&host, "/oauth/token", &stolen, None).await, 400, "invalid_grant");
    oauth_error(&refresh(old, &[("scope", "svc.events")]).await, 400, "invalid_scope");
    oauth_error(&refresh(&format!("{old}x"), &[]).await, 400, "invalid_grant");
    let second = refresh(old, &[("scope", "svc.read")]).await.body;
    assert_eq!(second["scope"], "svc.read");
    let access = text(&second, "access_token");
    call(&host, access, balance()).await.refused(404, "account_not_found");
    call(&host, access, open("ada")).await.refused(403, "insufficient_scope");
    // What was left out once is not lost.
    let third = refresh(text(&second, "refresh_token"), &[]).await.body;
    assert_eq!(third["scope"], "svc.read svc.write");
    oauth_error(&refresh(old, &[]).await, 400, "invalid_grant");
    oauth_error(&refresh(text(&third, "refresh_token"), &[]).await, 400, "invalid_grant");
    call(&host, text(&third, "access_token"), balance()).await.refused(401, "token_invalid");
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

#[tokio::test]
async fn two_people_and_one_client_are_two_agents() {
    let host = host().await;
    let client = public_client(&host).await;
    let mut subjects = Vec::new();
    for phone in [ADA, BOB] {
        let mut person = Person::new(&host);
        let code = code(&mut person, &client, phone).await;
        let token = post(&host, "/oauth/token", &redemption(&client, &code), None).await.body;
        let claims = text(&token, "access_token").split('.').nth(1).unwrap().to_owned();
        let claims: Value =
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap();
        subjects.push(text(&claims, "sub").to_owned());
    }
    assert_ne!(subjects[0], subjects[1]);
    // The agents that carried the codes are over.
    let living = "SELECT id FROM documents WHERE json_extract(body, '$.identity_type') = 'client' AND json_extract(body, '$.revoked_at') IS NULL";
    let mut living = host.database().texts(living).await;
    living.sort();
    subjects.sort();
    assert_eq!(living, subjects);
}

/// A server of documents about clients, and where they are.
async fn documents() -> Server {
    Server::with_tls(|request| {
        let path = request.split(' ').nth(1).unwrap().to_owned();
        let host = request.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned();
        let document = |id: &str| {
            json!({
                "client_id": id,
                "client_name": "Known by its document",
                "redirect_uris": [REDIRECT],
                "token_endpoint_auth_method": "none",
            })
            .to_string()
        };
        let json = "content-type: application/json\r\n";
        match path.as_str() {
            "/good.json" => {
                Some(response("200 OK", json, &document(&format!("https://{host}{path}"))))
            }
            "/moved.json" => Some(response("302 Found", "location: /good.json\r\n", "")),
            "/large.json" => {
                let padded = format!("{}{}", " ".repeat(100_000), document("x"));
                Some(response("200 OK", json, &padded))
            }
            "/silent.json" => None,
            _ => Some(response("200 OK", json, &document("https://elsewhere.example/client.json"))),
        }
    })
    .await
}

#[tokio::test]
async fn a_client_is_known_by_the_address_of_its_document() {
    let server = documents().await;
    let host = Host::start(
        Options::with(&["svc_phone_binding", "ledger"])
            .configuration("reachable_networks = [\"127.0.0.0/8\"]")
            .environment("SSL_CERT_FILE", server.certificate.to_str().unwrap()),
    )
    .await;
    let at = |path: &str| format!("https://localhost:{}/{path}.json", server.port);
    let (client, challenge) = (at("good"), challenge());
    let mut person = Person::new(&host);
    let page = person.sign_in(&query(&parameters(&client, &challenge)), ADA).await;
    assert_eq!(page.heading, "Allow Known by its document to act for you?");
    let code = allowed(&mut person, &page).await;
    let token = post(&host, "/oauth/token", &redemption(&client, &code), None).await;
    assert_eq!(token.status, 200, "{}", token.text);
    let written = call(&host, text(&token.body, "access_token"), open("ada")).await;
    assert_eq!(written.status, 200, "{}", written.text);
    // It was read once for all of this.
    assert_eq!(server.requests().len(), 1);
    for path in ["moved", "large", "silent", "other"] {
        let (id, begun) = (at(path), Instant::now());
        let reply = person.open(&query(&parameters(&id, &challenge))).await.reply;
        assert_eq!((reply.status.as_u16(), reply.header("location")), (400, ""), "{path}");
        assert!(begun.elapsed() < Duration::from_secs(30), "{path}");
    }
}

#[tokio::test]
async fn documents_are_read_from_public_addresses_only() {
    let server = documents().await;
    let host = Host::start(
        Options::with(&["ledger"])
            .environment("SSL_CERT_FILE", server.certificate.to_str().unwrap()),
    )
    .await;
    let (challenge, port) = (challenge(), server.port);
    let mut person = Person::new(&host);
    for name in ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"] {
        let client = format!("https://{name}:{port}/good.json");
        let reply = person.open(&query(&parameters(&client, &challenge))).await.reply;
        assert_eq!((reply.status.as_u16(), reply.header("location")), (400, ""), "{name}");
        assert!(!reply.text.contains("does not answer"), "{name}: {}", reply.text);
    }
    assert_eq!(server.connections(), 0);
}
