//! A new agent that knows only an address, and follows the next steps.

use crate::harness::{Host, Options, Reply, guests, person};
use serde_json::{Map, Value, json};

/// The person behind the program, who answers its questions and records them.
struct Asks<'a> {
    host: &'a Host,
    asked: Vec<String>,
}

impl Asks<'_> {
    async fn answer_question(&mut self, what: &str) -> Value {
        self.asked.push(what.to_owned());
        match what {
            "phone" => json!("+12015550123"),
            "code" => json!(person::code(self.host, 1).await),
            other => panic!("nobody knows {other}"),
        }
    }
}

async fn call(host: &Host, token: Option<&str>, url: &str, body: &Value) -> Reply {
    // Addresses may be relative to the one that the program knows.
    let url = url::Url::parse(&host.url).unwrap().join(url).unwrap();
    let mut request = host.client.post(url).json(body);
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    Reply::read(request.send().await.unwrap()).await
}

async fn fetch(host: &Host, url: &str) -> Value {
    Reply::read(host.client.get(url).send().await.unwrap()).await.body
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_agent_gets_from_the_start_page_to_a_claimed_write() {
    let host = Host::with(&["svc_phone_binding", "ledger", "faq_search"]).await;
    let catalog = fetch(&host, &format!("{}/v1/capabilities", host.url)).await;
    let call_url = |id: &str| {
        let mut listed = catalog["capabilities"].as_array().unwrap().iter();
        listed.find(|entry| entry["id"] == id).unwrap()["call_url"].as_str().unwrap().to_owned()
    };
    let wanted = (call_url("ledger"), json!({ "action": "open", "account": "mine" }));

    // Without a token, the refusal says where to get one.
    let reply = call(&host, None, &wanted.0, &wanted.1).await;
    reply.assert_refused(401, "authentication_required");
    let challenge = reply.header("www-authenticate");
    let metadata = challenge.split('"').nth(1).unwrap();
    let server = fetch(&host, metadata).await["authorization_servers"][0].clone();
    let server = format!("{}/.well-known/oauth-authorization-server", server.as_str().unwrap());
    let server = fetch(&host, &server).await;
    let register = server["agent_auth"]["register_uri"].as_str().unwrap();
    let kind = &server["agent_auth"]["identity_types_supported"][0];
    let agent = call(&host, None, register, &json!({ "type": kind })).await.body;
    let form = [
        ("grant_type", "client_credentials"),
        ("client_id", agent["client_id"].as_str().unwrap()),
        ("client_secret", agent["client_secret"].as_str().unwrap()),
    ];
    let token = host.client.post(server["token_endpoint"].as_str().unwrap()).form(&form);
    let token = Reply::read(token.send().await.unwrap()).await.body;
    let token = token["access_token"].as_str().unwrap();

    // With a token, each answer names the next step, until the call succeeds.
    let mut person = Asks { host: &host, asked: Vec::new() };
    let mut reply = call(&host, Some(token), &wanted.0, &wanted.1).await;
    let mut steps = 0;
    while let Some(step) = reply.body["next"].as_object().cloned() {
        steps += 1;
        assert!(steps < 5, "{reply:?}");
        let mut input: Map<String, Value> = step["input"].as_object().unwrap().clone();
        for missing in step["missing"].as_array().unwrap() {
            assert!(!step["ask_user"].as_str().unwrap().is_empty());
            let missing = missing.as_str().unwrap();
            input.insert(missing.to_owned(), person.answer_question(missing).await);
        }
        let url = call_url(step["capability"].as_str().unwrap());
        reply = call(&host, Some(token), &url, &Value::Object(input)).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
    }
    assert_eq!(person.asked, ["phone", "code"]);
    let written = call(&host, Some(token), &wanted.0, &wanted.1).await;
    assert_eq!(written.status, 200, "{}", written.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_write_of_any_capability_is_open_to_an_unclaimed_agent() {
    let plugins = std::fs::read_dir(guests().join("plugins")).unwrap();
    let names = plugins.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let names: Vec<_> =
        names.filter_map(|name| Some(name.strip_suffix(".wasm")?.to_owned())).collect();
    let mut all: Vec<&str> = names.iter().map(String::as_str).collect();
    all.extend(["ledger", "notes"]);
    let host = Host::start(Options::with(&all)).await;
    // With every scope and with only that of reading, the missing claim is the first refusal.
    for scope in ["svc.read svc.write svc.events", "svc.read"] {
        let token = host.token(scope).await;
        // `place` says which database the folder of people's files belongs to; the host writes it by itself.
        let kept = "SELECT collection || ' ' || id || ' ' || revision FROM documents WHERE id <> 'place' UNION ALL SELECT id FROM events UNION ALL SELECT name FROM timers";
        let before = host.database().texts(kept).await;
        let catalog = fetch(&host, &format!("{}/v1/capabilities", host.url)).await;
        let mut writes = 0;
        for capability in catalog["capabilities"].as_array().unwrap() {
            let url = capability["call_url"].as_str().unwrap();
            for action in capability["actions"].as_array().unwrap() {
                if action["access"] != "write" {
                    continue;
                }
                assert_eq!(action["requires_claim"], true, "{action}");
                writes += 1;
                for body in [
                    json!({ "action": action["name"] }),
                    json!({ "action": action["name"], "dry_run": true, "unknown": 1 }),
                ] {
                    let reply = call(&host, Some(&token), url, &body).await;
                    reply.assert_refused(403, "phone_binding_required");
                    let next = &reply.body["next"];
                    assert_eq!(
                        (&next["capability"], &next["input"]["action"], &next["missing"]),
                        (&json!("svc.phone-binding"), &json!("bind"), &json!(["phone"]))
                    );
                }
            }
        }
        assert!(writes > 10, "{writes}");
        assert_eq!(host.database().texts(kept).await, before);
    }
}
