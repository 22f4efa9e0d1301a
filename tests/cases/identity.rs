//! Registration and tokens.

use crate::harness::{Host, Options, Process, Reply};
use base64::{
    Engine as _,
    engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD},
};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};

async fn token_request(host: &Host, form: &[(&str, &str)], basic: Option<&str>) -> Reply {
    let mut request = host.client.post(format!("{}/oauth/token", host.url)).form(form);
    if let Some(credentials) = basic {
        request =
            request.header("authorization", format!("Basic {}", STANDARD.encode(credentials)));
    }
    Reply::read(request.send().await.unwrap()).await
}

fn text<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap()
}

#[tokio::test]
async fn registration_gives_credentials_once() {
    let host = Host::with(&[]).await;
    let agent = host.register().await;
    for (field, prefix) in [
        ("registration_id", "reg_"),
        ("agent_id", "agt_"),
        ("client_id", "cli_"),
        ("client_key", "svc_ak_"),
    ] {
        assert!(text(&agent, field).starts_with(prefix), "{field}");
    }
    assert_eq!(
        (&agent["state"], &agent["identity_type"], &agent["mode"]),
        (&json!("anonymous"), &json!("anonymous"), &json!("live"))
    );
    assert_eq!(agent["scopes"], json!(["svc.read"]));
    assert_eq!(agent["claim"]["method"], "phone_otp");
    assert_ne!(host.register().await["client_secret"], agent["client_secret"]);
    let body = json!({ "type": "client", "mode": "test" });
    let reply = host
        .client
        .post(format!("{}/v1/agents/register", host.url))
        .json(&body)
        .send()
        .await
        .unwrap();
    let test = Reply::read(reply).await;
    assert!(text(&test.body, "client_key").starts_with("svc_ak_test_"));
    assert_eq!(test.header("cache-control"), "no-store");
    // The secret cannot be read from the database or its log.
    let database = std::fs::read(host.folder.path().join("data/portolan.db")).unwrap();
    let log = std::fs::read(host.folder.path().join("data/portolan.db-wal")).unwrap_or_default();
    for secret in ["client_secret", "client_key"] {
        let secret = text(&agent, secret).as_bytes();
        assert!(
            ![&database, &log]
                .iter()
                .any(|bytes| bytes.windows(secret.len()).any(|window| window == secret))
        );
    }
    assert!(!host.log().contains(text(&agent, "client_secret")));
}

#[tokio::test]
async fn invalid_registrations_are_refused() {
    let host = Host::with(&[]).await;
    for body in [
        json!({}),
        json!({ "type": "person" }),
        json!({ "type": "client", "extra": 1 }),
        json!({ "type": "client", "agent_name": "x".repeat(101) }),
    ] {
        let request = host.client.post(format!("{}/v1/agents/register", host.url)).json(&body);
        Reply::read(request.send().await.unwrap()).await.assert_refused(400, "validation_failed");
    }
}

#[tokio::test]
async fn names_of_agents_that_deceive_people_are_refused() {
    let host = Host::with(&[]).await;
    let register = async |name: &str| {
        let body = json!({ "type": "anonymous", "agent_name": name });
        let request = host.client.post(format!("{}/v1/agents/register", host.url)).json(&body);
        Reply::read(request.send().await.unwrap()).await
    };
    for (name, rule) in [
        ("\u{3164}", "no_invisible_characters"),
        ("Ada\u{200b}", "no_invisible_characters"),
        ("...", "letters"),
        ("\u{397}arbour Fund", "one_script_per_word"),
        ("Portolan Support", "no_privileged_words"),
        ("p0rtolan", "no_privileged_words"),
        ("Harbour Fund \u{2713}", "no_verification_mark"),
    ] {
        let reply = register(name).await;
        reply.assert_refused(400, "validation_failed");
        let fault = &reply.body["conflict"]["errors"][0];
        assert_eq!((&fault["pointer"], &fault["rule"]), (&json!("/agent_name"), &json!(rule)));
    }
    for name in ["Café Москва", "日本語かな", "Ada's editor 🌸"] {
        assert_eq!(register(name).await.status, 200, "{name}");
    }
}

#[tokio::test]
async fn a_token_is_given_for_the_secret_and_for_the_client_key() {
    let host = Host::with(&["greeter"]).await;
    let agent = host.register().await;
    let id = text(&agent, "client_id");
    let grant = ("grant_type", "client_credentials");
    for secret in ["client_secret", "client_key"] {
        let secret = text(&agent, secret);
        let in_form =
            token_request(&host, &[grant, ("client_id", id), ("client_secret", secret)], None)
                .await;
        let in_header = token_request(&host, &[grant], Some(&format!("{id}:{secret}"))).await;
        for reply in [in_form, in_header] {
            assert_eq!(reply.status, 200, "{}", reply.text);
            assert_eq!(
                (&reply.body["token_type"], &reply.body["expires_in"]),
                (&json!("Bearer"), &json!(3600))
            );
            assert_eq!(reply.body["scope"], "svc.read svc.write svc.events");
            assert_eq!(reply.header("cache-control"), "no-store");
            let parts: Vec<_> = text(&reply.body, "access_token").split('.').collect();
            let part = |index: usize| {
                serde_json::from_slice::<Value>(&URL_SAFE_NO_PAD.decode(parts[index]).unwrap())
                    .unwrap()
            };
            assert_eq!((&part(0)["typ"], &part(0)["alg"]), (&json!("at+jwt"), &json!("EdDSA")));
            let claims = part(1);
            assert_eq!((text(&claims, "iss"), text(&claims, "aud")), (&*host.url, &*host.url));
            assert_eq!(
                (&claims["sub"], &claims["client_id"]),
                (&agent["agent_id"], &agent["client_id"])
            );
        }
    }
}

#[tokio::test]
async fn the_token_endpoint_answers_as_rfc_6749() {
    let host = Host::with(&[]).await;
    let agent = host.register().await;
    let (id, secret) = (text(&agent, "client_id"), text(&agent, "client_secret"));
    let grant = ("grant_type", "client_credentials");
    let both = [("client_id", id), ("client_secret", secret)];
    let cases: [(&[(&str, &str)], _, _, _); 9] = [
        (&[], None, 400, "invalid_request"),
        (&[("grant_type", "password")], None, 400, "unsupported_grant_type"),
        (&[grant], None, 401, "invalid_client"),
        (&[grant, ("client_id", id), ("client_secret", "wrong")], None, 401, "invalid_client"),
        (
            &[grant, ("client_id", "cli_nobody"), ("client_secret", secret)],
            None,
            401,
            "invalid_client",
        ),
        (&[grant, grant, both[0], both[1]], None, 400, "invalid_request"),
        (&[grant, both[0], both[1]], Some(format!("{id}:{secret}")), 400, "invalid_request"),
        (&[grant, both[0], both[1], ("scope", "svc.read admin")], None, 400, "invalid_scope"),
        (
            &[grant, both[0], both[1], ("resource", "https://elsewhere.example")],
            None,
            400,
            "invalid_target",
        ),
    ];
    for (form, basic, status, error) in cases {
        let reply = token_request(&host, form, basic.as_deref()).await;
        assert_eq!(
            (reply.status.as_u16(), &reply.body["error"]),
            (status, &json!(error)),
            "{form:?}"
        );
        assert_eq!(reply.header("cache-control"), "no-store");
    }
    let reply = token_request(&host, &[grant], Some("cli_nobody:x")).await;
    assert!(reply.header("www-authenticate").starts_with("Basic"));
    assert_eq!(host.send(Method::GET, "/oauth/token", &[], None).await.status, 405);
    let narrowed =
        token_request(&host, &[grant, both[0], both[1], ("scope", "svc.read")], None).await;
    assert_eq!(narrowed.body["scope"], "svc.read");
}

#[tokio::test]
async fn an_invalid_token_is_refused() {
    let host = Host::with(&["greeter"]).await;
    let other = Host::with(&[]).await;
    let token = host.token("svc.read").await;
    let foreign = other.token("svc.read").await;
    let parts: Vec<&str> = token.split('.').collect();
    let header = |json: &str| format!("{}.{}.{}", URL_SAFE_NO_PAD.encode(json), parts[1], parts[2]);
    let claims = String::from_utf8(URL_SAFE_NO_PAD.decode(parts[1]).unwrap()).unwrap();
    let widened = URL_SAFE_NO_PAD.encode(claims.replace("svc.read", "svc.read svc.events"));
    let path = "/v1/capabilities/greeter/call";
    let send = async |headers: &[(&str, &str)]| {
        let headers = [headers, &[("content-type", "application/json")]].concat();
        host.send(Method::POST, path, &headers, Some("{\"action\":\"people\"}".into())).await
    };
    assert_eq!(send(&[("authorization", &format!("Bearer {token}"))]).await.status, 200);
    for wrong in [
        "nonsense".to_owned(),
        foreign,
        header("{\"typ\":\"at+jwt\",\"alg\":\"none\"}"),
        header("{\"typ\":\"JWT\",\"alg\":\"EdDSA\"}"),
        header("{\"typ\":\"at+jwt\",\"alg\":\"HS256\"}"),
        format!("{}.{widened}.{}", parts[0], parts[2]),
        format!("{}.{}.", parts[0], parts[1]),
        format!("{token} {token}"),
    ] {
        let reply = send(&[("authorization", &format!("Bearer {wrong}"))]).await;
        reply.assert_refused(401, "token_invalid");
        assert!(reply.header("www-authenticate").contains("error=\"invalid_token\""));
        assert!(!host.log().contains(&wrong));
    }
    let reply = send(&[]).await;
    reply.assert_refused(401, "authentication_required");
    assert!(reply.header("www-authenticate").starts_with("Bearer resource_metadata="));
    assert!(!reply.header("www-authenticate").contains("error="));
    let twice = format!("Bearer {token}");
    send(&[("authorization", &twice), ("authorization", &twice)])
        .await
        .assert_refused(401, "token_invalid");
    let in_query = format!("{path}?access_token={token}");
    let reply = host
        .send(Method::POST, &in_query, &[("content-type", "application/json")], Some("{}".into()))
        .await;
    reply.assert_refused(401, "authentication_required");
}

#[tokio::test]
async fn the_metadata_leads_to_the_endpoints() {
    let host = Host::with(&[]).await;
    let resource = host.get("/.well-known/oauth-protected-resource").await.body;
    assert_eq!(resource["resource"], host.url);
    assert_eq!(resource["authorization_servers"], json!([host.url]));
    let server = host.get("/.well-known/oauth-authorization-server").await.body;
    assert_eq!(server["issuer"], host.url);
    assert_eq!(server["agent_auth"]["register_uri"], format!("{}/v1/agents/register", host.url));
    assert_eq!(server["token_endpoint"], format!("{}/oauth/token", host.url));
}

#[tokio::test]
async fn an_agent_registered_with_an_earlier_version_is_still_known() {
    let folder = Options::default().folder();
    std::fs::create_dir(folder.path().join("data")).unwrap();
    let file = folder.path().join("data/portolan.db");
    let options = SqliteConnectOptions::new().filename(file).create_if_missing(true);
    let mut database = SqliteConnection::connect_with(&options).await.unwrap();
    let steps = sqlx::migrate!("../store/src/migrations/sqlite");
    steps.run_direct(Some(2), &mut database, false).await.unwrap();
    sqlx::raw_sql(
        "INSERT INTO agents VALUES ('agt_old', 'anonymous', 'Old', NULL, NULL, NULL, 0, NULL, 1);
         INSERT INTO clients VALUES ('cli_old', 'agt_old', x'2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b', x'00', 1);",
    )
    .execute(&mut database)
    .await
    .unwrap();
    database.close().await.unwrap();
    let host = Process::start_in(folder);
    // The stored hash is that of this secret.
    let form = [
        ("grant_type", "client_credentials"),
        ("client_id", "cli_old"),
        ("client_secret", "secret"),
    ];
    let reply = token_request(&host, &form, None).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    let agents = "SELECT body FROM documents WHERE id = 'agt_old'";
    let agent: Value = serde_json::from_str(&host.database().texts(agents).await[0]).unwrap();
    assert_eq!((&agent["name"], &agent["test_mode"]), (&json!("Old"), &json!(false)));
}
