//! Webhooks: what happened is sent to addresses that want it, signed, until it is taken.

use crate::harness::{
    Agent, Host, Options, PATIENCE, futures,
    inbox::{Reader, texts},
    postgres::Server as Postgres,
    server::{Server, response},
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
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    process::{Child, ChildStdin, ChildStdout, Command},
};

/// Tries that follow each other closely.
const HASTY: &str = "[webhooks]\nretry_seconds = [1, 1, 1, 1, 1, 1, 1, 1]\n";

fn options(more: &str) -> Options {
    Options::with(&["herald", "svc_events", "svc_webhooks"])
        .configuration_too(more)
        .configuration_too(
            "public_url = \"http://portolan.test\"\nreachable_networks = [\"127.0.0.0/8\"]\n",
        )
}

async fn host(more: &str) -> Host {
    Host::start(options(more)).await
}

/// What a request carries.
fn event(request: &str) -> Value {
    serde_json::from_str(request.split_once("\r\n\r\n").unwrap().1).unwrap()
}

/// The answer that a challenge wants; none to anything else.
fn echo(request: &str) -> Option<String> {
    let event = event(request);
    let challenge = event["data"]["challenge"].as_str()?;
    Some(response("200 OK", "", &json!({ "challenge": challenge }).to_string()))
}

/// A server that takes challenges, and answers everything else as a test says.
async fn receiver(answer: impl Fn(&str) -> Option<String> + Send + Sync + 'static) -> Server {
    Server::plain(move |request| echo(request).or_else(|| answer(request))).await
}

/// One that takes everything.
async fn willing() -> Server {
    receiver(|_| Some(response("204 No Content", "", ""))).await
}

/// The texts of what a server was sent, challenges left out.
fn told(server: &Server) -> Vec<String> {
    let requests = server.requests();
    let text = |request: &String| Some(event(request)["data"]["text"].as_str()?.to_owned());
    requests.iter().filter_map(text).collect()
}

impl Reader<'_> {
    async fn webhooks(&self, body: Value) -> Value {
        self.agent.result("svc.webhooks", body).await
    }

    /// A webhook that has answered its challenge: its id and secret.
    async fn subscribe(&self, port: u16) -> (String, String) {
        let url = format!("http://127.0.0.1:{port}/in");
        let created = self.webhooks(json!({ "action": "create", "url": url })).await;
        let id = created["webhook"]["webhook_id"].as_str().unwrap().to_owned();
        self.reaches(&id, "active").await;
        (id, created["secret"].as_str().unwrap().to_owned())
    }

    async fn webhook(&self, id: &str) -> Value {
        self.webhooks(json!({ "action": "get", "webhook_id": id })).await["webhook"].clone()
    }

    async fn reaches(&self, id: &str, state: &str) {
        until(async || self.webhook(id).await["state"] == state).await;
    }

    async fn deliveries(&self, id: &str, outcome: &str) -> Vec<Value> {
        let wanted = json!({ "action": "deliveries", "webhook_id": id, "outcome": outcome });
        self.webhooks(wanted).await["items"].as_array().unwrap().clone()
    }
}

async fn until(mut reached: impl AsyncFnMut() -> bool) {
    let started = Instant::now();
    while !reached().await {
        assert!(started.elapsed() < PATIENCE, "not reached in time");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// A receiver in another language, with the library of Standard Webhooks there.
struct Foreign {
    _child: Child,
    input: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    port: u16,
}

impl Foreign {
    async fn start(host: &Host, language: &str, program: &str) -> Self {
        let installed = crate::cases::clients::installed();
        let folder = host.folder.path().join(program);
        fs::create_dir(&folder).unwrap();
        symlink(installed.join("node_modules"), folder.join("node_modules")).unwrap();
        let programs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/clients");
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
        let mut foreign = Self { _child: child, input, lines, port: 0 };
        foreign.port = u16::try_from(foreign.line().await["listening"].as_u64().unwrap()).unwrap();
        foreign
    }

    async fn line(&mut self) -> Value {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await.unwrap();
        serde_json::from_str(&line.unwrap().unwrap()).unwrap()
    }

    async fn knows(&mut self, secret: &str) {
        let line = format!("{}\n", json!({ "secret": secret }));
        self.input.write_all(line.as_bytes()).await.unwrap();
        self.input.flush().await.unwrap();
    }

    /// The next event, which must be genuine.
    async fn takes(&mut self) -> Value {
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
    let mut receiver = Foreign::start(&host, language, program).await;
    let (id, secret) = reader.subscribe(receiver.port).await;
    assert_eq!(receiver.line().await["type"], "webhook.challenge");
    receiver.knows(&secret).await;
    let test = reader.webhooks(json!({ "action": "test", "webhook_id": id })).await;
    let event = receiver.takes().await;
    assert_eq!((&event["type"], &event["id"]), (&json!("webhook.test"), &test["event_id"]));
    reader.tell("towns/1", &["Grüße aus Zürich"]).await;
    assert_eq!(receiver.takes().await["data"]["text"], "Grüße aus Zürich");
    // While secrets are changed, either one verifies.
    let rotated = reader.webhooks(json!({ "action": "rotate_secret", "webhook_id": id })).await;
    reader.tell("towns/1", &["by the old secret"]).await;
    assert_eq!(receiver.takes().await["data"]["text"], "by the old secret");
    receiver.knows(rotated["secret"].as_str().unwrap()).await;
    reader.tell("towns/1", &["by the new secret"]).await;
    assert_eq!(receiver.takes().await["data"]["text"], "by the new secret");
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
    let server = willing().await;
    let (_, secret) = reader.subscribe(server.port).await;
    reader.tell("towns/1", &["hear"]).await;
    until(async || told(&server) == ["hear"]).await;
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
    // What was pushed and taken is acknowledged.
    until(async || texts(&reader.page("wait=0&cursor=0").await).is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_sent_before_the_challenge_is_answered() {
    let host = host(HASTY).await;
    let reader = Reader::claimed(&host).await;
    let answers = Arc::new(AtomicBool::new(false));
    let may = Arc::clone(&answers);
    let server = Server::plain(move |request| {
        let reply = echo(request).filter(|_| may.load(Ordering::SeqCst));
        reply.or_else(|| Some(response("200 OK", "", "welcome")))
    })
    .await;
    let url = format!("http://127.0.0.1:{}/in", server.port);
    let created =
        reader.agent.call("svc.webhooks", json!({ "action": "create", "url": url })).await;
    let id = created.body["result"]["webhook"]["webhook_id"].as_str().unwrap().to_owned();
    assert!(created.body["next"]["input"]["webhook_id"] == id.as_str(), "{:#}", created.body);
    until(async || server.requests().len() > 1).await;
    reader.tell("towns/1", &["not yet"]).await;
    let webhook = reader.webhook(&id).await;
    assert_eq!(webhook["state"], "unverified");
    let error = webhook["last_error"].as_str().unwrap();
    assert!(error.contains("does not have the challenge"), "{error}");
    let test = json!({ "action": "test", "webhook_id": id });
    reader.agent.call("svc.webhooks", test).await.refused(409, "webhook_unverified");
    answers.store(true, Ordering::SeqCst);
    reader.webhooks(json!({ "action": "verify", "webhook_id": id })).await;
    reader.reaches(&id, "active").await;
    reader.tell("towns/1", &["now"]).await;
    until(async || !told(&server).is_empty()).await;
    assert_eq!(told(&server), ["now"]);
    // Another address is asked anew.
    let elsewhere = format!("http://127.0.0.1:{}/elsewhere", server.port);
    answers.store(false, Ordering::SeqCst);
    let update = json!({ "action": "update", "webhook_id": id, "url": elsewhere });
    assert_eq!(reader.webhooks(update).await["webhook"]["state"], "unverified");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_taken_is_sent_again_and_what_follows_it_waits() {
    let host = host(HASTY).await;
    let reader = Reader::claimed(&host).await;
    let refusals = Arc::new(AtomicUsize::new(3));
    let left = Arc::clone(&refusals);
    let server = receiver(move |request| {
        let refused = event(request)["data"]["text"] == "one"
            && left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |it| it.checked_sub(1))
                .is_ok();
        Some(match refused {
            true => response("500 Internal Server Error", "", "no \u{1f4a5}"),
            false => response("204 No Content", "", ""),
        })
    })
    .await;
    let (id, _) = reader.subscribe(server.port).await;
    reader.tell("towns/1", &["one", "two"]).await;
    reader.tell("towns/2", &["other"]).await;
    until(async || told(&server).contains(&"two".to_owned())).await;
    let told = told(&server);
    let place = |text: &str| told.iter().rposition(|it| it == text).unwrap();
    assert_eq!(told.iter().filter(|it| *it == "one").count(), 4, "{told:?}");
    assert!(place("one") < place("two"), "{told:?}");
    assert!(place("other") < place("two"), "{told:?}");
    // Each attempt is signed anew, of the same event.
    let requests = server.requests();
    let header = |request: &str, name: &str| -> String {
        let mut lines = request.lines();
        lines.find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned()
    };
    let ones: Vec<_> = requests.iter().filter(|it| event(it)["data"]["text"] == "one").collect();
    assert_eq!(header(ones[0], "webhook-id:"), header(ones[3], "webhook-id:"));
    assert_ne!(header(ones[0], "webhook-timestamp:"), header(ones[3], "webhook-timestamp:"));
    until(async || reader.deliveries(&id, "pending").await.is_empty()).await;
    let log = reader.deliveries(&id, "delivered").await;
    let one = log.iter().find(|it| it["attempts"] == 4).unwrap();
    assert_eq!((&one["status"], &one["subject"]), (&json!(204), &json!("towns/1")));
    assert_eq!(reader.webhook(&id).await["failing_since"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_given_up_is_kept_and_sent_again_on_demand() {
    let host = host("[webhooks]\nretry_seconds = []\n").await;
    let reader = Reader::claimed(&host).await;
    let broken = Arc::new(AtomicBool::new(true));
    let is_broken = Arc::clone(&broken);
    let server = receiver(move |_| {
        Some(match is_broken.load(Ordering::SeqCst) {
            true => response("500 Internal Server Error", "", &"long ".repeat(1_000)),
            false => response("200 OK", "", "ok"),
        })
    })
    .await;
    let (id, _) = reader.subscribe(server.port).await;
    reader.tell("towns/1", &["one"]).await;
    until(async || reader.deliveries(&id, "dead").await.len() == 1).await;
    let dead = reader.deliveries(&id, "dead").await.pop().unwrap();
    assert_eq!((&dead["attempts"], &dead["status"]), (&json!(1), &json!(500)));
    let text = dead["response"]["text"].as_str().unwrap();
    assert!(text.starts_with("long long") && text.len() == 1024, "{}", text.len());
    assert_eq!(dead["response"]["trust"], "untrusted_user_content");
    // It is still in the inbox.
    assert_eq!(texts(&reader.page("wait=0").await), ["one"]);
    broken.store(false, Ordering::SeqCst);
    let again = json!({ "action": "redeliver", "delivery_id": dead["delivery_id"] });
    assert_eq!(reader.webhooks(again.clone()).await["delivery"]["outcome"], "pending");
    until(async || reader.deliveries(&id, "dead").await.is_empty()).await;
    until(async || texts(&reader.page("wait=0&cursor=0").await).is_empty()).await;
    // Nobody else may.
    let stranger = Reader::claimed(&host).await;
    stranger.agent.call("svc.webhooks", again).await.refused(404, "delivery_not_found");
    let get = json!({ "action": "get", "webhook_id": id });
    stranger.agent.call("svc.webhooks", get).await.refused(404, "webhook_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_asks_for_patience_gets_it_and_one_that_is_gone_gets_nothing_more() {
    let host = host(HASTY).await;
    let reader = Reader::claimed(&host).await;
    let busy =
        receiver(|_| Some(response("503 Service Unavailable", "retry-after: 3600\r\n", ""))).await;
    let gone = receiver(|_| Some(response("410 Gone", "", ""))).await;
    let (patient, _) = reader.subscribe(busy.port).await;
    let (ended, _) = reader.subscribe(gone.port).await;
    reader.tell("towns/1", &["one"]).await;
    reader.reaches(&ended, "disabled").await;
    let waiting = async || {
        let pending = reader.deliveries(&patient, "pending").await;
        pending.into_iter().find(|it| it["subject"] == "towns/1" && it["attempts"] == 1)
    };
    until(async || waiting().await.is_some()).await;
    let next = waiting().await.unwrap()["next_attempt_at"].clone();
    let next: jiff::Timestamp = next.as_str().unwrap().parse().unwrap();
    let wait = next.as_second() - jiff::Timestamp::now().as_second();
    assert!((3_500..=3_601).contains(&wait), "{wait}");
    let page = reader.page("wait=20&types=webhook.disabled").await;
    let data = &page["events"][0]["data"];
    assert_eq!(
        (&data["webhook_id"], &data["reason"]),
        (&json!(ended), &json!("the server answers 410"))
    );
    assert_eq!(data["next"]["input"]["action"], "verify");
    for action in ["test", "pause", "resume"] {
        let call = json!({ "action": action, "webhook_id": ended });
        reader.agent.call("svc.webhooks", call).await.refused(409, "webhook_disabled");
    }
    assert_eq!(reader.deliveries(&ended, "dead").await.len(), 1);
    reader.tell("towns/1", &["two"]).await;
    // Asked again, it gets what happens from then on, and the rest on demand.
    reader.webhooks(json!({ "action": "verify", "webhook_id": ended })).await;
    reader.reaches(&ended, "active").await;
    assert_eq!(told(&gone), ["one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_behind_a_failure_keeps_nobody_busy() {
    let host = host("").await;
    let reader = Reader::claimed(&host).await;
    let server = receiver(|_| Some(response("500 Internal Server Error", "", ""))).await;
    let (id, _) = reader.subscribe(server.port).await;
    reader.tell("towns/1", &["one", "two"]).await;
    // After the second failure the next attempt is minutes away, and `two` is due all the time.
    until(async || told(&server) == ["one", "one"]).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let ticks = async || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", host.process_id())).unwrap();
        let fields = stat.rsplit(')').next().unwrap().split_whitespace().skip(11).take(2);
        fields.map(|ticks| ticks.parse::<u64>().unwrap()).sum::<u64>()
    };
    let before = ticks().await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    // Of 200 or more that a busy host would have had.
    let spent = ticks().await - before;
    assert!(spent < 60, "{spent} ticks of 10 ms");
    // Neither does it keep a challenge from being sent.
    reader.webhooks(json!({ "action": "verify", "webhook_id": id })).await;
    let challenges =
        || server.requests().iter().filter(|it| event(it)["type"] == "webhook.challenge").count();
    until(async || challenges() == 2).await;
    assert_eq!(told(&server), ["one", "one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_challenge_that_failed_is_sent_anew_at_once() {
    // With the waits of the defaults: five seconds and then minutes.
    let host = host("").await;
    let reader = Reader::claimed(&host).await;
    let answers = Arc::new(AtomicBool::new(false));
    let may = Arc::clone(&answers);
    let server = Server::plain(move |request| {
        let reply = echo(request).filter(|_| may.load(Ordering::SeqCst));
        reply.or_else(|| Some(response("404 Not Found", "", "")))
    })
    .await;
    let url = format!("http://127.0.0.1:{}/in", server.port);
    let created = reader.webhooks(json!({ "action": "create", "url": url })).await;
    let id = created["webhook"]["webhook_id"].as_str().unwrap().to_owned();
    until(async || server.requests().len() == 2).await;
    answers.store(true, Ordering::SeqCst);
    reader.webhooks(json!({ "action": "verify", "webhook_id": id })).await;
    reader.reaches(&id, "active").await;
    assert_eq!(reader.deliveries(&id, "pending").await, [Value::Null; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_fails_for_days_is_disabled() {
    let host = host("").await;
    let reader = Reader::claimed(&host).await;
    let server = receiver(|_| Some(response("500 Internal Server Error", "", ""))).await;
    let (id, _) = reader.subscribe(server.port).await;
    reader.tell("towns/1", &["one"]).await;
    until(async || reader.webhook(&id).await["failing_since"].is_string()).await;
    assert_eq!(reader.webhook(&id).await["state"], "active");
    let days = |days: i64| jiff::Timestamp::now().as_millisecond() - days * 24 * 3600 * 1000;
    let since = |days_ago| format!("UPDATE webhooks SET failing_since = {}", days(days_ago));
    host.database().execute(&since(4)).await;
    reader.tell("towns/2", &["two"]).await;
    until(async || told(&server).contains(&"two".to_owned())).await;
    until(async || reader.deliveries(&id, "pending").await.iter().all(|it| it["attempts"] == 1))
        .await;
    assert_eq!(reader.webhook(&id).await["state"], "active");
    host.database().execute(&since(5)).await;
    reader.tell("towns/3", &["three"]).await;
    reader.reaches(&id, "disabled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_address_delays_nobody_else() {
    let host = host("").await;
    let (dead, living) = (receiver(|_| None).await, willing().await);
    let (one, other) = (Reader::claimed(&host).await, Reader::claimed(&host).await);
    one.subscribe(dead.port).await;
    other.subscribe(living.port).await;
    for number in 0..20 {
        one.tell(&format!("towns/{number}"), &["lost"]).await;
    }
    until(async || !told(&dead).is_empty()).await;
    let started = Instant::now();
    let all: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    for text in &all {
        other.tell("towns/1", &[text]).await;
    }
    until(async || told(&living).len() == all.len()).await;
    assert_eq!(told(&living), all);
    // Less than the dead one takes to fail once.
    assert!(started.elapsed() < Duration::from_secs(14), "{:?}", started.elapsed());
    // A few at a time, whatever waits.
    assert!(told(&dead).len() <= 8, "{}", told(&dead).len());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_while_it_is_paused_is_sent_when_it_goes_on() {
    let host = host("").await;
    let reader = Reader::claimed(&host).await;
    let server = willing().await;
    let (id, _) = reader.subscribe(server.port).await;
    let act = |action: &str| json!({ "action": action, "webhook_id": id });
    let paused = reader.webhooks(act("pause")).await["webhook"].clone();
    assert_eq!(paused["state"], "paused");
    assert!(paused["allowed_actions"].as_array().unwrap().contains(&json!("resume")));
    let refused = reader.agent.call("svc.webhooks", act("pause")).await;
    refused.refused(409, "invalid_transition");
    reader.tell("towns/1", &["one", "two"]).await;
    let stale = json!({ "action": "update", "webhook_id": id, "expected_version": 1, "types": [] });
    reader.agent.call("svc.webhooks", stale).await.refused(409, "version_conflict");
    let narrow = json!({ "action": "update", "webhook_id": id, "types": ["herald.told"] });
    reader.webhooks(narrow).await;
    assert_eq!(told(&server), [""; 0]);
    reader.webhooks(act("resume")).await;
    until(async || told(&server) == ["one", "two"]).await;
    let rumour = json!({
        "action": "proclaim", "agent": reader.id, "subject": "towns/1", "texts": ["psst"], "rumour": true,
    });
    reader.agent.result("herald", rumour).await;
    reader.tell("towns/1", &["three"]).await;
    until(async || told(&server).last().is_some_and(|it| it == "three")).await;
    assert_eq!(told(&server), ["one", "two", "three"]);
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
    let server = willing().await;
    let url = |number: u32| json!({ "url": format!("http://127.0.0.1:{}/{number}", server.port) });
    let anonymous = host.agent().await;
    let refused = send(&anonymous, Method::POST, path, Some(url(0))).await;
    refused.refused(403, "phone_binding_required");
    assert_eq!(refused.body["next"]["capability"], "svc.phone-binding");
    let reader = Reader::claimed(&host).await;
    // However many are asked for at once.
    let asked = (0..9).map(|number| send(&reader.agent, Method::POST, path, Some(url(number))));
    let mut made = Vec::new();
    for created in futures(asked).await {
        if created.status != 200 {
            created.refused(409, "webhook_limit_reached");
            continue;
        }
        assert!(created.body["result"]["secret"].as_str().unwrap().starts_with("whsec_"));
        made.push(created.body["result"]["webhook"]["webhook_id"].as_str().unwrap().to_owned());
    }
    made.sort();
    assert_eq!(made.len(), 5);
    let listed = send(&reader.agent, Method::GET, path, None).await.body["result"]["items"].clone();
    let listed: Vec<_> =
        listed.as_array().unwrap().iter().map(|it| it["webhook_id"].as_str().unwrap()).collect();
    assert_eq!(listed, made);
    assert!(!host.get(path).await.text.contains("whsec_"));
    let own = format!("{path}/{}", made[0]);
    let found = send(&reader.agent, Method::GET, &own, None).await;
    assert_eq!(found.body["result"]["webhook"]["webhook_id"], made[0].as_str());
    assert!(!found.text.contains("whsec_"), "a secret is shown once");
    let deleted = send(&reader.agent, Method::DELETE, &own, None).await;
    assert_eq!(deleted.body["result"], json!({ "deleted": true }));
    send(&reader.agent, Method::GET, &own, None).await.refused(404, "webhook_not_found");
    let wrong = send(&reader.agent, Method::POST, path, Some(json!({ "uri": "x" }))).await;
    wrong.refused(400, "validation_failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn addresses_that_are_not_public_are_never_connected_to() {
    let host = Host::with(&["herald", "svc_events", "svc_webhooks"]).await;
    let reader = Reader::claimed(&host).await;
    let server = willing().await;
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
        reply.refused(400, "url_not_allowed");
        assert!(!reply.text.contains(host), "{}", reply.text);
    }
    for url in
        ["http://hooks.example/", "https://user:secret@hooks.example/", "ftp://hooks.example/"]
    {
        let create = json!({ "action": "create", "url": url });
        reader.agent.call("svc.webhooks", create).await.refused(400, "url_not_allowed");
    }
    // A name is judged by what it means when it is connected to.
    let url = format!("https://localhost:{port}/");
    let created = reader.webhooks(json!({ "action": "create", "url": url })).await;
    let id = created["webhook"]["webhook_id"].as_str().unwrap();
    until(async || reader.webhook(id).await["last_error"] == "the address is not a public one")
        .await;
    assert_eq!(server.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn redirects_are_not_followed() {
    let host = host(HASTY).await;
    let reader = Reader::claimed(&host).await;
    let behind = willing().await;
    let location = format!("location: http://127.0.0.1:{}/\r\n", behind.port);
    let server = receiver(move |_| Some(response("307 Temporary Redirect", &location, ""))).await;
    let (id, _) = reader.subscribe(server.port).await;
    reader.tell("towns/1", &["one"]).await;
    until(async || reader.webhook(&id).await["last_error"] == "the server answers 307").await;
    assert_eq!(behind.connections(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_committed_is_sent_after_a_kill() {
    let host = host("").await;
    let reader = Reader::claimed(&host).await;
    let hangs = Arc::new(AtomicBool::new(true));
    let is_hanging = Arc::clone(&hangs);
    let server = receiver(move |_| {
        (!is_hanging.load(Ordering::SeqCst)).then(|| response("204 No Content", "", ""))
    })
    .await;
    reader.subscribe(server.port).await;
    // The first is on its way when the host dies; what follows on its subject was not even begun.
    reader.tell("towns/1", &["one", "two"]).await;
    until(async || told(&server) == ["one"]).await;
    let (token, id) = (reader.agent.token.clone(), reader.id.clone());
    host.signal("KILL");
    let (_, folder) = host.wait();
    hangs.store(false, Ordering::SeqCst);
    let host = Host::start_in(folder);
    let reader = Reader { agent: Agent { host: &host, token }, id };
    until(async || told(&server) == ["one", "one", "two"]).await;
    until(async || texts(&reader.page("wait=0&cursor=0").await).is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_share_the_work_and_one_takes_over_from_another_that_dies() {
    let postgres = Postgres::start(100);
    let url = postgres.database().await;
    let keys = "secret_keys = \"MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=\"\n";
    let start = async || Host::start(options(keys).postgres(&url)).await;
    let (one, other) = (start().await, start().await);
    let reader = Reader::claimed(&one).await;
    // How many requests of one delivery are open at once.
    let open: Arc<Mutex<Vec<String>>> = Arc::default();
    let twice = Arc::new(AtomicBool::new(false));
    let (noted, seen_twice) = (Arc::clone(&open), Arc::clone(&twice));
    let busy = receiver(move |request| {
        let id = event(request)["id"].as_str().unwrap().to_owned();
        let mut open = noted.lock().unwrap();
        seen_twice.fetch_or(open.contains(&id), Ordering::SeqCst);
        open.push(id.clone());
        drop(open);
        std::thread::sleep(Duration::from_millis(2));
        noted.lock().unwrap().retain(|it| *it != id);
        Some(response("204 No Content", "", ""))
    })
    .await;
    let (id, _) = reader.subscribe(busy.port).await;
    let there = reader.at(&other);
    let all: Vec<String> = (0..60).map(|number| number.to_string()).collect();
    for (number, text) in all.iter().enumerate() {
        let reader = if number % 2 == 0 { &reader } else { &there };
        reader.tell("towns/1", &[text]).await;
    }
    until(async || told(&busy).len() >= all.len()).await;
    assert_eq!(told(&busy), all, "once each, and in order");
    assert!(!twice.load(Ordering::SeqCst), "nothing was sent twice at once");
    reader.webhooks(json!({ "action": "delete", "webhook_id": id })).await;

    // A request that hangs is its node's as long as that lives.
    let hanging = receiver(|_| None).await;
    let survivor = Reader::claimed(&one).await;
    survivor.subscribe(hanging.port).await;
    other.signal("STOP");
    survivor.tell("towns/1", &["mine"]).await;
    until(async || told(&hanging) == ["mine"]).await;
    other.signal("CONT");
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(told(&hanging), ["mine"]);
    one.signal("KILL");
    let started = Instant::now();
    until(async || told(&hanging).len() == 2).await;
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}
