//! Webhooks: how an agent registers them, and how a receiver verifies deliveries.

use crate::harness::{
    Agent, Host, PATIENCE, Reply,
    inbox::{Reader, texts},
    join_all,
    server::{Server, response},
    webhooks::{
        FAST_RETRIES, accepting_receiver, answer_challenge, event, host, received_texts, receiver,
        wait_until,
    },
};
use reqwest::{
    Method,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use serde_json::{Value, json};
use std::{
    fs,
    os::unix::fs::symlink,
    path::Path,
    process::Stdio,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

/// A receiver in another language, which uses the Standard Webhooks library of that language.
struct LibraryReceiver {
    _child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    port: u16,
}

impl LibraryReceiver {
    async fn start(host: &Host, language: &str, program: &str) -> Self {
        let installed = crate::cases::clients::clients_folder();
        let folder = host.folder.path().join(program);
        fs::create_dir(&folder).unwrap();
        symlink(installed.join("node_modules"), folder.join("node_modules")).unwrap();
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/clients");
        fs::copy(programs.join(program), folder.join(program)).unwrap();
        let mut child = Command::new(language)
            .arg(folder.join(program))
            .env("PYTHONPATH", installed.join("python"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap();
        let input = child.stdin.take().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut receiver = Self { _child: child, input, lines, port: 0 };
        receiver.port =
            u16::try_from(receiver.line().await["listening"].as_u64().unwrap()).unwrap();
        receiver
    }

    async fn line(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await.unwrap();
        serde_json::from_str(&line.unwrap().unwrap()).unwrap()
    }

    async fn set_secret(&mut self, secret: &str) {
        let line = format!("{}\n", json!({ "secret": secret }));
        self.input.write_all(line.as_bytes()).await.unwrap();
        self.input.flush().await.unwrap();
    }

    /// Waits for the next delivery, which the receiver must have verified, and returns its event.
    async fn next_verified_event(&mut self) -> Value {
        let line = self.line().await;
        assert_eq!((&line["verified"], &line["refused"]), (&json!(true), &Value::Null), "{line}");
        let refused = json!({ "body": true, "timestamp": true, "secret": true });
        assert_eq!(line["tampering_refused"], refused, "{line}");
        assert_eq!(line["id"], line["body"]["id"]);
        line["body"].clone()
    }
}

async fn a_library_verifies(language: &str, program: &str) {
    let host = host("").await;
    let reader = Reader::claimed(&host).await;
    let mut receiver = LibraryReceiver::start(&host, language, program).await;
    let (id, secret) = reader.subscribe(receiver.port).await;
    assert_eq!(receiver.line().await["type"], "webhook.challenge");
    receiver.set_secret(&secret).await;
    let test = reader.webhooks(json!({ "action": "test", "webhook_id": id })).await;
    let event = receiver.next_verified_event().await;
    assert_eq!((&event["type"], &event["id"]), (&json!("webhook.test"), &test["event_id"]));
    reader.send_events("towns/1", &["Grüße aus Zürich"]).await;
    assert_eq!(receiver.next_verified_event().await["data"]["text"], "Grüße aus Zürich");
    // After a rotation, both the old and the new secret verify deliveries.
    let rotated = reader.webhooks(json!({ "action": "rotate_secret", "webhook_id": id })).await;
    reader.send_events("towns/1", &["by the old secret"]).await;
    assert_eq!(receiver.next_verified_event().await["data"]["text"], "by the old secret");
    receiver.set_secret(rotated["secret"].as_str().unwrap()).await;
    reader.send_events("towns/1", &["by the new secret"]).await;
    assert_eq!(receiver.next_verified_event().await["data"]["text"], "by the new secret");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_standards_library_for_javascript_verifies() {
    a_library_verifies("node", "receiver.mjs").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_standards_library_for_python_verifies() {
    a_library_verifies("python3", "receiver.py").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_standards_library_for_rust_verifies() {
    let host = host("").await;
    let reader = Reader::claimed(&host).await;
    let server = accepting_receiver().await;
    let (_, secret) = reader.subscribe(server.port).await;
    reader.send_events("towns/1", &["hear"]).await;
    wait_until(async || received_texts(&server) == ["hear"]).await;
    let request = server.requests().pop().unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let headers: HeaderMap = head
        .lines()
        .skip(1)
        .map(|line| {
            let (name, value) = line.split_once(':').unwrap();
            (name.parse::<HeaderName>().unwrap(), HeaderValue::from_str(value.trim()).unwrap())
        })
        .collect();
    assert_eq!(headers["content-type"], "application/cloudevents+json");
    assert_eq!(headers["webhook-id"], event(&request)["id"].as_str().unwrap());
    let verifies = |secret: &str, body: &str| {
        let webhook = standardwebhooks::Webhook::new(secret).unwrap();
        webhook.verify(body.as_bytes(), &headers).is_ok()
    };
    assert!(verifies(&secret, body));
    assert!(!verifies(&secret, &body.replace("hear", "hare")));
    assert!(!verifies("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", body));
    // A delivered event is acknowledged in the inbox.
    wait_until(async || texts(&reader.page("wait=0&cursor=0").await).is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_before_the_challenge_is_answered() {
    let host = host(FAST_RETRIES).await;
    let reader = Reader::claimed(&host).await;
    let answers = Arc::new(AtomicBool::new(false));
    let may = Arc::clone(&answers);
    let server = Server::plain(move |request| {
        let reply = answer_challenge(request).filter(|_| may.load(Ordering::SeqCst));
        reply.or_else(|| Some(response("200 OK", "", "welcome")))
    })
    .await;
    let url = format!("http://127.0.0.1:{}/in", server.port);
    let created =
        reader.agent.call("svc.webhooks", json!({ "action": "create", "url": url })).await;
    let id = created.body["result"]["webhook"]["webhook_id"].as_str().unwrap().to_owned();
    assert!(created.body["next"]["input"]["webhook_id"] == id.as_str(), "{:#}", created.body);
    wait_until(async || server.requests().len() > 1).await;
    reader.send_events("towns/1", &["not yet"]).await;
    let webhook = reader.webhook(&id).await;
    assert_eq!(webhook["state"], "unverified");
    let error = webhook["last_error"].as_str().unwrap();
    assert!(error.contains("does not have the challenge"), "{error}");
    let test = json!({ "action": "test", "webhook_id": id });
    reader.agent.call("svc.webhooks", test).await.assert_refused(409, "webhook_unverified");
    answers.store(true, Ordering::SeqCst);
    reader.webhooks(json!({ "action": "verify", "webhook_id": id })).await;
    reader.wait_for_webhook_state(&id, "active").await;
    reader.send_events("towns/1", &["now"]).await;
    wait_until(async || !received_texts(&server).is_empty()).await;
    assert_eq!(received_texts(&server), ["now"]);
    // A changed address gets a new challenge.
    let elsewhere = format!("http://127.0.0.1:{}/elsewhere", server.port);
    answers.store(false, Ordering::SeqCst);
    let update = json!({ "action": "update", "webhook_id": id, "url": elsewhere });
    assert_eq!(reader.webhooks(update).await["webhook"]["state"], "unverified");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_challenge_is_sent_again_at_once() {
    // The default waits apply: five seconds, then minutes.
    let host = host("").await;
    let reader = Reader::claimed(&host).await;
    let answers = Arc::new(AtomicBool::new(false));
    let may = Arc::clone(&answers);
    let server = Server::plain(move |request| {
        let reply = answer_challenge(request).filter(|_| may.load(Ordering::SeqCst));
        reply.or_else(|| Some(response("404 Not Found", "", "")))
    })
    .await;
    let url = format!("http://127.0.0.1:{}/in", server.port);
    let created = reader.webhooks(json!({ "action": "create", "url": url })).await;
    let id = created["webhook"]["webhook_id"].as_str().unwrap().to_owned();
    wait_until(async || server.requests().len() == 2).await;
    answers.store(true, Ordering::SeqCst);
    reader.webhooks(json!({ "action": "verify", "webhook_id": id })).await;
    reader.wait_for_webhook_state(&id, "active").await;
    assert_eq!(reader.deliveries(&id, "pending").await, [Value::Null; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_a_paused_webhook_are_delivered_when_it_resumes() {
    let host = host("").await;
    let reader = Reader::claimed(&host).await;
    let server = accepting_receiver().await;
    let (id, _) = reader.subscribe(server.port).await;
    let act = |action: &str| json!({ "action": action, "webhook_id": id });
    let paused = reader.webhooks(act("pause")).await["webhook"].clone();
    assert_eq!(paused["state"], "paused");
    assert!(paused["allowed_actions"].as_array().unwrap().contains(&json!("resume")));
    let refused = reader.agent.call("svc.webhooks", act("pause")).await;
    refused.assert_refused(409, "invalid_transition");
    reader.send_events("towns/1", &["one", "two"]).await;
    let stale = json!({ "action": "update", "webhook_id": id, "expected_version": 1, "types": [] });
    reader.agent.call("svc.webhooks", stale).await.assert_refused(409, "version_conflict");
    let narrow = json!({ "action": "update", "webhook_id": id, "types": ["herald.told"] });
    reader.webhooks(narrow).await;
    assert_eq!(received_texts(&server), [""; 0]);
    reader.webhooks(act("resume")).await;
    wait_until(async || received_texts(&server) == ["one", "two"]).await;
    let rumour = json!({
        "action": "proclaim", "agent": reader.id, "subject": "towns/1", "texts": ["psst"], "rumour": true,
    });
    reader.agent.result("herald", rumour).await;
    reader.send_events("towns/1", &["three"]).await;
    wait_until(async || received_texts(&server).last().is_some_and(|text| text == "three")).await;
    assert_eq!(received_texts(&server), ["one", "two", "three"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_paths_of_webhooks_are_the_actions_of_the_capability() {
    let host = host("").await;
    let path = "/v1/agent-events/webhooks";
    let send = async |agent: &Agent<'_>, method: Method, path: &str, body: Option<Value>| {
        let bearer = format!("Bearer {}", agent.token);
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        agent.host.send(method, path, &headers, body.map(|body| body.to_string())).await
    };
    let server = accepting_receiver().await;
    let url = |number: u32| json!({ "url": format!("http://127.0.0.1:{}/{number}", server.port) });
    let anonymous = host.agent().await;
    let refused = send(&anonymous, Method::POST, path, Some(url(0))).await;
    refused.assert_refused(403, "phone_binding_required");
    assert_eq!(refused.body["next"]["capability"], "svc.phone-binding");
    let reader = Reader::claimed(&host).await;
    // Concurrent requests do not exceed the limit either.
    let asked = (0..9).map(|number| send(&reader.agent, Method::POST, path, Some(url(number))));
    let mut made = Vec::new();
    for created in join_all(asked).await {
        if created.status != 200 {
            created.assert_refused(409, "webhook_limit_reached");
            continue;
        }
        assert!(created.body["result"]["secret"].as_str().unwrap().starts_with("whsec_"));
        made.push(created.body["result"]["webhook"]["webhook_id"].as_str().unwrap().to_owned());
    }
    made.sort();
    assert_eq!(made.len(), 5);
    let listed = send(&reader.agent, Method::GET, path, None).await.body["result"]["items"].clone();
    let listed: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|webhook| webhook["webhook_id"].as_str().unwrap())
        .collect();
    assert_eq!(listed, made);
    assert!(!host.get(path).await.text.contains("whsec_"));
    let own = format!("{path}/{}", made[0]);
    let found = send(&reader.agent, Method::GET, &own, None).await;
    assert_eq!(found.body["result"]["webhook"]["webhook_id"], made[0].as_str());
    assert!(!found.text.contains("whsec_"), "a secret is shown once");
    let deleted = send(&reader.agent, Method::DELETE, &own, None).await;
    assert_eq!(deleted.body["result"], json!({ "deleted": true }));
    send(&reader.agent, Method::GET, &own, None).await.assert_refused(404, "webhook_not_found");
    let wrong = send(&reader.agent, Method::POST, path, Some(json!({ "uri": "x" }))).await;
    wrong.assert_refused(400, "validation_failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn private_addresses_are_never_connected_to() {
    let host = Host::with(&["herald", "svc_events", "svc_webhooks"]).await;
    let reader = Reader::claimed(&host).await;
    let server = accepting_receiver().await;
    let port = server.port;
    for host in [
        "127.0.0.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "127.1",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "10.0.0.1",
        "169.254.169.254",
        "100.100.100.200",
        "[fd00::1]",
        "0.0.0.0",
    ] {
        let create = json!({ "action": "create", "url": format!("https://{host}:{port}/") });
        let reply = reader.agent.call("svc.webhooks", create).await;
        reply.assert_refused(400, "url_not_allowed");
        assert!(!reply.text.contains(host), "{}", reply.text);
    }
    for url in
        ["http://hooks.example/", "https://user:secret@hooks.example/", "ftp://hooks.example/"]
    {
        let create = json!({ "action": "create", "url": url });
        reader.agent.call("svc.webhooks", create).await.assert_refused(400, "url_not_allowed");
    }
    // A name is checked by the addresses that it resolves to when the host connects.
    let url = format!("https://localhost:{port}/");
    let created = reader.webhooks(json!({ "action": "create", "url": url })).await;
    let id = created["webhook"]["webhook_id"].as_str().unwrap();
    wait_until(async || {
        reader.webhook(id).await["last_error"] == "the address is not a public one"
    })
    .await;
    assert_eq!(server.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_not_followed() {
    let host = host(FAST_RETRIES).await;
    let reader = Reader::claimed(&host).await;
    let behind = accepting_receiver().await;
    let location = format!("location: http://127.0.0.1:{}/\r\n", behind.port);
    let server = receiver(move |_| Some(response("307 Temporary Redirect", &location, ""))).await;
    let (id, _) = reader.subscribe(server.port).await;
    reader.send_events("towns/1", &["one"]).await;
    wait_until(async || reader.webhook(&id).await["last_error"] == "the server answers 307").await;
    assert_eq!(behind.connections(), 0);
}

/// Makes the agent cause challenges at the receiver until one is refused; returns their number and the
/// refusal.
async fn challenge_until_refused(reader: &Reader<'_>, url: &str) -> (usize, Reply) {
    let create = json!({ "action": "create", "url": url });
    let created = reader.agent.result("svc.webhooks", create).await;
    let verify = json!({ "action": "verify", "webhook_id": created["webhook"]["webhook_id"] });
    let mut challenges = 1;
    loop {
        let reply = reader.agent.call("svc.webhooks", verify.clone()).await;
        match reply.status.as_u16() {
            200 => challenges += 1,
            _ => return (challenges, reply),
        }
        assert!(challenges <= 121, "no challenge is refused");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn challenges_are_limited_for_an_agent_and_for_a_host() {
    let host = host("").await;
    let receiver = accepting_receiver().await;
    let url = format!("http://127.0.0.1:{}/", receiver.port);
    let reader = Reader::claimed(&host).await;
    let (challenges, refused) = challenge_until_refused(&reader, &url).await;
    assert_eq!(challenges, 20);
    refused.assert_refused(429, "rate_limited");
    assert_eq!(refused.body["next"]["after_s"], 180, "{:#}", refused.body);

    // One more can be sent after a twentieth of an hour.
    host.advance(Duration::from_secs(181)).await;
    let again = refused.body["next"]["input"].clone();
    let listed = reader.agent.result("svc.webhooks", again).await;
    let verify = json!({ "action": "verify", "webhook_id": listed["items"][0]["webhook_id"] });
    reader.agent.result("svc.webhooks", verify.clone()).await;
    reader.agent.call("svc.webhooks", verify).await.assert_refused(429, "rate_limited");

    // Five other agents use up what the host gets; it has refilled by six meanwhile.
    let mut sent = 21 - 6;
    for _ in 0..5 {
        sent += challenge_until_refused(&Reader::claimed(&host).await, &url).await.0;
    }
    assert_eq!(sent, 115);
    let last = Reader::claimed(&host).await;
    let (challenges, refused) = challenge_until_refused(&last, &url).await;
    assert!((5..20).contains(&challenges), "{challenges}");
    assert!(refused.body["message"].as_str().unwrap().contains("this host"), "{}", refused.text);
}
