//! Authorization by a person, as the RFCs define it: the page, codes, refresh tokens, and clients
//! with a metadata document.

use crate::harness::time::SECOND;
use crate::harness::{
    Host, Options,
    oauth::{self, *},
    person::Person,
    server::{Server, response},
};
use base64::{Engine as _, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};

#[tokio::test]
async fn after_consent_a_client_can_write_at_once() {
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
    // Wrong numbers and codes are reported on the page, and the sign-in continues.
    let page = person.submit(&page, "phone", &[("phone", "12")]).await;
    assert!(page.error_text().contains("international"), "{}", page.reply.text);
    let page = person.submit(&page, "phone", &[("phone", "+1 (201) 555-0123")]).await;
    assert!(page.reply.text.contains("+1•••••0123"), "{}", page.reply.text);
    let code = crate::harness::person::code(&host, 1).await;
    let wrong = if code == "111111" { "222222" } else { "111111" };
    let page = person.submit(&page, "code", &[("code", wrong)]).await;
    assert!(page.error_text().contains("not the code"), "{}", page.reply.text);
    let spaced = format!(" {} {} ", &code[..3], &code[3..]);
    let page = person.submit(&page, "code", &[("code", &spaced)]).await;
    assert_eq!(page.heading, "Allow A <b>desktop</b> application to act for you?");
    assert!(page.reply.text.contains("this computer") && !page.reply.text.contains("<b>"));
    assert!(
        page.reply.text.contains("in your name") && !page.reply.text.contains("Receive events")
    );
    let code = allow(&mut person, &page).await;

    let token = post(&host, "/oauth/token", &redemption(&client, &code), None).await;
    assert_eq!(token.status, 200, "{}", token.text);
    assert_eq!(token.body["scope"], "svc.read svc.write");
    let access = text(&token.body, "access_token").to_owned();
    assert_eq!(call(&host, &access, open("ada")).await.status, 200);
    let claims: Value =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(access.split('.').nth(1).unwrap()).unwrap())
            .unwrap();

    // The same person and client have the same agent, and the person is not asked
    // for the phone again.
    let code = oauth::code(&mut person, &client, ADA).await;
    let again = post(&host, "/oauth/token", &redemption(&client, &code), None).await;
    let again = text(&again.body, "access_token").to_owned();
    let other: Value =
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(again.split('.').nth(1).unwrap()).unwrap())
            .unwrap();
    assert_eq!((&claims["sub"], &claims["client_id"]), (&other["sub"], &json!(client)));

    // The client is told of a refusal, and after a sign-out the person must sign in again.
    let page = person.open(&query(&parameters(&client, &challenge()))).await;
    let callback = person.submit(&page, "refuse", &[]).await.redirect_parameters();
    assert_eq!((&*callback["error"], &callback["iss"]), ("access_denied", &host.url));
    assert_eq!(callback["state"], "odd &=+ 状態");
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
async fn a_page_is_valid_in_its_own_browser_only() {
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
    // Ada's page in Eve's browser.
    assert_eq!(eve.post(&[("steps", &consent.steps), ("step", "allow")]).await.status, 400);
    // Eve has not verified a phone, so her own page cannot allow the client.
    let page = eve.submit(&own, "allow", &[]).await;
    assert_eq!(page.heading, "Sign in with your phone");
    assert_eq!(ada.post(&[("step", "allow")]).await.status, 400);
}

#[tokio::test]
async fn invalid_requests_are_redirected_only_to_a_registered_address() {
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
        let page = person.open(&query(&with_parameter(&good, name, value))).await;
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
        let callback =
            person.open(&query(&with_parameter(&good, name, value))).await.redirect_parameters();
        assert_eq!((&*callback["error"], &callback["iss"]), (error, &host.url), "{name} {value:?}");
        assert_eq!((&*callback["state"], &*callback["kept"]), ("odd &=+ 状態", "1"));
    }
    // Another port of a loopback address is allowed (RFC 8252).
    let port = with_parameter(&good, "redirect_uri", Some("http://127.0.0.1:1/callback?kept=1"));
    assert_eq!(person.open(&query(&port)).await.reply.status, 200);
    // The address of a page cannot redirect to another site.
    let page = person.open("/oauth/authorize/continue?steps=x&next=https://evil.example").await;
    assert_eq!((page.reply.status.as_u16(), page.reply.header("location")), (400, ""));
}

#[tokio::test]
async fn a_code_is_valid_once_for_its_client_and_its_verifier() {
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
        let reply = post(&host, "/oauth/token", &with_parameter(&good, name, value), None).await;
        assert_oauth_error(&reply, 400, error);
    }
    let mcp = format!("{}/mcp", host.url);
    let reply =
        post(&host, "/oauth/token", &with_parameter(&good, "resource", Some(&mcp)), None).await;
    assert_oauth_error(&reply, 400, "invalid_target");
    let token = post(&host, "/oauth/token", &good, None).await;
    let access = text(&token.body, "access_token").to_owned();
    let refresh = text(&token.body, "refresh_token").to_owned();
    assert_eq!(call(&host, &access, open("ada")).await.status, 200);
    // The second use of a code revokes the tokens of the first.
    assert_oauth_error(&post(&host, "/oauth/token", &good, None).await, 400, "invalid_grant");
    call(&host, &access, open("eve")).await.assert_refused(401, "token_invalid");
    let form =
        [("grant_type", "refresh_token"), ("client_id", &client), ("refresh_token", &refresh)];
    assert_oauth_error(&post(&host, "/oauth/token", &form, None).await, 400, "invalid_grant");

    // A code expires after a minute.
    let late = oauth::code(&mut person, &client, ADA).await;
    host.advance(61 * SECOND).await;
    let reply = post(&host, "/oauth/token", &redemption(&client, &late), None).await;
    assert_oauth_error(&reply, 400, "invalid_grant");
}

#[tokio::test]
async fn a_refresh_token_is_valid_once_and_its_scope_never_grows() {
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
    assert_oauth_error(&post(&host, "/oauth/token", &stolen, None).await, 400, "invalid_grant");
    assert_oauth_error(&refresh(old, &[("scope", "svc.events")]).await, 400, "invalid_scope");
    assert_oauth_error(&refresh(&format!("{old}x"), &[]).await, 400, "invalid_grant");
    let second = refresh(old, &[("scope", "svc.read")]).await.body;
    assert_eq!(second["scope"], "svc.read");
    let access = text(&second, "access_token");
    call(&host, access, balance()).await.assert_refused(404, "account_not_found");
    call(&host, access, open("ada")).await.assert_refused(403, "insufficient_scope");
    // A refresh with fewer scopes does not narrow the grant.
    let third = refresh(text(&second, "refresh_token"), &[]).await.body;
    assert_eq!(third["scope"], "svc.read svc.write");
    assert_oauth_error(&refresh(old, &[]).await, 400, "invalid_grant");
    assert_oauth_error(&refresh(text(&third, "refresh_token"), &[]).await, 400, "invalid_grant");
    call(&host, text(&third, "access_token"), balance()).await.assert_refused(401, "token_invalid");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reused_refresh_token_revokes_its_family_even_during_a_refresh() {
    let host = host().await;
    let client = public_client(&host).await;
    let mut person = Person::new(&host);
    for _ in 0..15 {
        let code = oauth::code(&mut person, &client, ADA).await;
        let first = post(&host, "/oauth/token", &redemption(&client, &code), None).await.body;
        let refresh = async |token: &str| {
            let form = [
                ("grant_type", "refresh_token"),
                ("client_id", &*client),
                ("refresh_token", token),
            ];
            post(&host, "/oauth/token", &form, None).await
        };
        let old = text(&first, "refresh_token");
        let second = refresh(old).await.body;
        let second = text(&second, "refresh_token");
        let (stolen, third) = tokio::join!(refresh(old), refresh(second));
        assert_oauth_error(&stolen, 400, "invalid_grant");
        if third.status == 200 {
            let third = text(&third.body, "refresh_token");
            assert_oauth_error(&refresh(third).await, 400, "invalid_grant");
        }
    }
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
    // The agents that existed only for the sign-ins are revoked.
    let living = "SELECT id FROM documents WHERE json_extract(body, '$.identity_type') = 'client' AND json_extract(body, '$.revoked_at') IS NULL";
    let mut living = host.database().texts(living).await;
    living.sort();
    subjects.sort();
    assert_eq!(living, subjects);
}

/// Starts a server of client metadata documents.
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
            .trusting(&server.certificate),
    )
    .await;
    let at = |path: &str| format!("https://localhost:{}/{path}.json", server.port);
    let (client, challenge) = (at("good"), challenge());
    let mut person = Person::new(&host);
    let page = person.sign_in(&query(&parameters(&client, &challenge)), ADA).await;
    assert_eq!(page.heading, "Allow Known by its document to act for you?");
    let code = allow(&mut person, &page).await;
    let token = post(&host, "/oauth/token", &redemption(&client, &code), None).await;
    assert_eq!(token.status, 200, "{}", token.text);
    let written = call(&host, text(&token.body, "access_token"), open("ada")).await;
    assert_eq!(written.status, 200, "{}", written.text);
    // The client's document was read once for all these requests.
    assert_eq!(server.requests().len(), 1);
    for path in ["moved", "large", "silent", "other"] {
        let id = at(path);
        let reply = person.open(&query(&parameters(&id, &challenge))).await.reply;
        assert_eq!((reply.status.as_u16(), reply.header("location")), (400, ""), "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_of_client_documents_are_limited_and_shared() {
    let server = documents().await;
    let limits = "rate_limits = \"on\"\nreachable_networks = [\"127.0.0.0/8\"]\n[limits]\nregistrations_per_hour = 6\n";
    let host =
        Host::start(Options::with(&["ledger"]).configuration(limits).trusting(&server.certificate))
            .await;
    let challenge = challenge();
    let open = async |path: &str| {
        let client = format!("https://localhost:{}/{path}", server.port);
        let page = Person::new(&host).open(&query(&parameters(&client, &challenge))).await;
        page.reply.status.as_u16()
    };
    // Concurrent requests for the same client document share one read (single-flight).
    let at_once = crate::harness::join_all((0..5).map(|_| open("good.json"))).await;
    assert_eq!(at_once, [200; 5]);
    assert_eq!(server.requests().len(), 1);
    // Cached documents are not limited; reads of other documents are refused after a few.
    let mut statuses = Vec::new();
    for at in 0..6 {
        statuses.push(open(&format!("other.json?{at}")).await);
        assert_eq!(open("good.json").await, 200);
    }
    assert_eq!(statuses[5], 429, "{statuses:?}");
    let form = |at: u32| {
        let id = format!("https://localhost:{}/other.json?more={at}", server.port);
        [("grant_type", "refresh_token".to_owned()), ("client_id", id)]
    };
    for at in 0..3 {
        let fields = form(at);
        let fields: Vec<_> = fields.iter().map(|(name, value)| (*name, value.as_str())).collect();
        let reply = post(&host, "/oauth/token", &fields, None).await;
        assert_eq!(reply.status, 429, "{}", reply.text);
        assert_ne!(reply.header("retry-after"), "");
    }
    assert!(server.requests().len() <= 6, "{:?}", server.requests());
}

#[tokio::test]
async fn documents_are_read_from_public_addresses_only() {
    let server = documents().await;
    let host = Host::start(Options::with(&["ledger"]).trusting(&server.certificate)).await;
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
