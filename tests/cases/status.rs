//! The public status page, and the incidents that operators write for it.

use crate::harness::{
    Host, Options, PATIENCE, Reply,
    feeds::Answer,
    operators::run,
    postgres::{self, Server},
};
use reqwest::Method;
use scraper::{Html, Selector};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const DAY: Duration = Duration::from_secs(24 * 3600);
const HOSTILE: &str = "<script>alert(1)</script> ]]> &amp; \"x\" 'y'";

fn text(answer: &Answer) -> String {
    String::from_utf8(answer.bytes.clone()).unwrap()
}

fn found(page: &str, selector: &str) -> Vec<String> {
    let selector = Selector::parse(selector).unwrap();
    let html = Html::parse_document(page);
    html.select(&selector).map(|element| element.text().collect()).collect()
}

async fn status(host: &Host) -> Value {
    let answer = host.fetch("/status", &[]).await;
    assert_eq!((answer.status.as_u16(), answer.header("content-type")), (200, "application/json"));
    answer.json()
}

async fn page(host: &Host) -> String {
    let answer = host.fetch("/status", &[("accept", "text/html")]).await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-security-policy").starts_with("default-src 'none'; style-src"));
    text(&answer)
}

async fn post(host: &Host, path: &str, body: Value) -> Reply {
    let request = host.operator.post(format!("{}{path}", host.admin_url)).json(&body);
    Reply::read(request.send().await.unwrap()).await
}

async fn open(host: &Host, body: Value) -> String {
    let reply = post(host, "/incidents", body).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    reply.body["id"].as_str().unwrap().to_owned()
}

/// Returns the state of a part of the host.
fn service<'a>(status: &'a Value, name: &str) -> &'a str {
    let services = status["services"].as_array().unwrap();
    let found = services.iter().find(|service| service["name"] == name);
    found.unwrap_or_else(|| panic!("{name}: {status:#}"))["status"].as_str().unwrap()
}

/// Waits until the database is in this state for the public.
async fn wait_for_database(host: &Host, wanted: &str) -> Value {
    let started = Instant::now();
    loop {
        let status = status(host).await;
        if service(&status, "Database") == wanted {
            return status;
        }
        assert!(started.elapsed() < PATIENCE + Duration::from_secs(20), "{status:#}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn follows_an_incident(host: &Host) {
    assert_eq!(status(host).await["incidents"], json!([]));
    let opened = json!({ "title": "Searches are slow", "text": "We look into it." });
    let id = open(host, opened).await;
    assert!(id.starts_with("inc_"), "{id}");
    let update = json!({ "state": "identified", "text": "An index is missing." });
    let reply = post(host, &format!("/incidents/{id}/update"), update.clone()).await;
    assert_eq!(reply.status, 200, "{}", reply.text);

    let shown = status(host).await;
    let incident = &shown["incidents"][0];
    assert_eq!((&incident["id"], &incident["state"]), (&json!(id), &json!("identified")));
    let states = [0, 1].map(|at| incident["updates"][at]["state"].as_str().unwrap());
    assert_eq!(states, ["identified", "investigating"], "the newest comes first");
    assert_eq!(host.operate("/incidents").await.body["incidents"], shown["incidents"]);
    let shown = page(host).await;
    assert_eq!(found(&shown, "#open article h3 a"), ["Searches are slow"]);
    assert_eq!(found(&shown, "h1"), ["An incident is open"]);

    let path = format!("/incidents/{id}/resolve");
    assert_eq!(post(host, &path, json!({ "text": "Done." })).await.status, 200);
    let shown = page(host).await;
    assert_eq!(found(&shown, "#open article").len(), 0);
    assert_eq!(found(&shown, "#past article h3 a"), ["Searches are slow"]);
    assert_eq!(found(&shown, "#past article li").len(), 3);
    // An incident that has ended stays as it is, and what was never opened cannot be updated.
    for path in [
        format!("/incidents/{id}/update"),
        "/incidents/inc_01JZX8Q4M2N6P7R8S9T0V1W2X3/update".to_owned(),
    ] {
        post(host, &path, update.clone()).await.assert_refused(404, "not_found");
    }
    let atom = host.fetch("/status.atom", &[]).await;
    assert_eq!(atom.header("content-type"), "application/atom+xml; charset=utf-8");
    let atom = text(&atom);
    assert!(atom.contains("<title>Resolved: Searches are slow</title>"), "{atom}");
    assert!(atom.contains(&format!("{}/status#{id}", host.url)), "{atom}");
    let negotiated = host.fetch("/status", &[("accept", "application/atom+xml")]).await;
    assert_eq!(text(&negotiated), atom);

    let rows = host.rows_of_operator("operator.token").await;
    let rows: Vec<_> = rows.iter().map(|row| row["action"].as_str().unwrap()).collect();
    assert_eq!(
        rows,
        ["operator:resolve_incident", "operator:update_incident", "operator:open_incident"]
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_incident_is_told_from_its_opening_to_its_end() {
    follows_an_incident(&Host::with(&["notes"]).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_incident_is_told_on_postgres_at_every_node() {
    let url = postgres::database().await;
    let one = Host::start(Options::with(&[]).postgres(&url)).await;
    let other = Host::start(Options::with(&[]).postgres(&url)).await;
    follows_an_incident(&one).await;
    let started = Instant::now();
    while status(&other).await["incidents"] != status(&one).await["incidents"] {
        assert!(started.elapsed() < PATIENCE, "the other node does not know");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_page_answers_while_postgres_is_away() {
    let mut server = Server::start(30);
    let host = Host::start(Options::with(&["notes"]).postgres(&server.database().await)).await;
    open(&host, json!({ "title": "Known before", "text": "Still known." })).await;
    assert_eq!(status(&host).await["status"], "operational");
    server.kill();
    let away = wait_for_database(&host, "outage").await;
    assert_eq!(away["status"], "outage");
    assert_eq!(away["incidents"][0]["title"], "Known before");
    let shown = page(&host).await;
    assert_eq!(found(&shown, "h1"), ["Something does not work"]);
    assert_eq!(found(&shown, ".condition.outage"), ["Does not work"]);
    server.start_again();
    server.ready().await;
    let back = wait_for_database(&host, "operational").await;
    let since = |status: &Value| status["services"][1]["since"].as_str().unwrap().to_owned();
    assert!(since(&back) > since(&away), "{back:#}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_fails_is_told_by_topic_until_nothing_fails() {
    let host = Host::start_at_fixed_time(Options::with(&["notes", "misbehaves"])).await;
    let agent = host.agent().await;
    let before = status(&host).await;
    assert_eq!(before["status"], "operational", "{before:#}");
    for _ in 0..3 {
        agent.call("misbehaves", json!({ "action": "traps" })).await;
    }
    let during = status(&host).await;
    assert_ne!(during["status"], "operational", "{during:#}");
    assert_eq!(service(&during, "Database"), "operational");
    host.advance(Duration::from_secs(301)).await;
    assert_eq!(status(&host).await["status"], "operational");
    // Faults of the caller are no disturbance.
    for _ in 0..5 {
        agent.call("notes", json!({ "action": "get" })).await;
    }
    assert_eq!(status(&host).await["status"], "operational");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn hostile_texts_stay_texts() {
    let host = Host::with(&[]).await;
    let text_of_two_lines = format!("{HOSTILE}\nsecond line");
    open(&host, json!({ "title": HOSTILE, "text": text_of_two_lines })).await;
    let shown = page(&host).await;
    assert_eq!(found(&shown, "script").len(), 0);
    assert_eq!(found(&shown, "article h3 a"), [HOSTILE]);
    assert_eq!(found(&shown, ".told"), [&*text_of_two_lines]);
    let atom = text(&host.fetch("/status.atom", &[]).await);
    assert!(!atom.contains("<script") && !atom.contains("]]>"), "{atom}");
    assert_eq!(status(&host).await["incidents"][0]["title"], HOSTILE);
    for (title, told) in [
        ("", "text"),
        (" ", "text"),
        ("a\nb", "text"),
        ("a\u{7}", "text"),
        ("title", ""),
        ("title", "\u{0}"),
        ("title", "\u{ffff}"),
        (&*"x".repeat(121), "text"),
        ("title", &*"x".repeat(2001)),
    ] {
        let reply = post(&host, "/incidents", json!({ "title": title, "text": told })).await;
        reply.assert_refused(400, "validation_failed");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn maintenance_has_a_time_and_old_incidents_are_left_out() {
    let host = Host::start_at_fixed_time(Options::with(&[])).await;
    let [start, end] = ["2031-05-01T22:00:00.000Z", "2031-05-01T23:00:00.000Z"];
    for wrong in [
        json!({ "state": "planned" }),
        json!({ "state": "planned", "starts_at": end, "ends_at": start }),
        json!({ "state": "planned", "starts_at": start }),
        json!({ "state": "identified", "starts_at": start, "ends_at": end }),
        json!({ "state": "resolved" }),
        json!({ "state": "over" }),
        json!({ "severity": 1 }),
    ] {
        let mut body = json!({ "title": "New disks", "text": "Short pauses." });
        body.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        let reply = post(&host, "/incidents", body).await;
        reply.assert_refused(400, "validation_failed");
    }
    let planned = json!({ "title": "New disks", "text": "Short pauses.", "state": "planned", "starts_at": start, "ends_at": end });
    let planned = open(&host, planned).await;
    let shown = page(&host).await;
    assert_eq!(found(&shown, "article .badge"), ["Planned maintenance"]);
    assert!(
        shown.contains("1 May 2031, 22:00 UTC") && shown.contains("1 May 2031, 23:00 UTC"),
        "{shown}"
    );
    let ended = open(&host, json!({ "title": "Short", "text": "It begins." })).await;
    post(&host, &format!("/incidents/{ended}/resolve"), json!({ "text": "It ends." })).await;
    host.advance(91 * DAY).await;
    // The next decision reads the incidents again at once.
    let update = json!({ "state": "planned", "text": "Still planned." });
    let reply = post(&host, &format!("/incidents/{planned}/update"), update).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    let left = status(&host).await;
    let ids: Vec<_> = left["incidents"].as_array().unwrap().iter().map(|one| &one["id"]).collect();
    assert_eq!(ids, [&json!(planned)], "an open one stays");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_learns_more_than_what_works() {
    let host = Host::with(&["notes", "svc_phone_binding"]).await;
    let shown = status(&host).await;
    let names: Vec<&str> = shown.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(names, ["status", "services", "incidents"]);
    for service in shown["services"].as_array().unwrap() {
        for name in service.as_object().unwrap().keys() {
            assert!(["name", "published_at", "since", "status"].contains(&&**name), "{service}");
        }
    }
    service(&shown, "Text messages");
    for all in [shown.to_string(), page(&host).await] {
        for secret in [env!("CARGO_PKG_VERSION"), "127.0.0.1", "sqlite", "postgres", "data/"] {
            assert!(!all.to_lowercase().contains(secret), "{secret}: {all}");
        }
    }
    // The operator's status is another one, and not on this address.
    assert_eq!(host.request(Method::GET, "/incidents", &[]).await.status, 404);
    assert_eq!(host.request(Method::POST, "/status", &[]).await.status, 405);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_command_tells_the_public() {
    let host = Host::with(&[]).await;
    let command = |arguments: &[&str]| run(&host, &[], &[&["incidents"], arguments].concat());
    let (_, shown, _) = command(&["list"]);
    assert!(shown.contains("no incident"), "{shown}");
    let (succeeded, id, error) = command(&["open", "Calls fail", "--text", "We look into it."]);
    assert!(succeeded, "{error}");
    let id = id.trim();
    let (succeeded, _, error) = command(&["update", id, "--text", "It works again."]);
    assert!(!succeeded && error.contains("--state"), "an update names its state: {error}");
    let update = ["update", id, "--state", "monitoring", "--text", "It works again."];
    let (succeeded, shown, error) = command(&update);
    assert!(succeeded && shown.contains("is monitoring"), "{shown}{error}");
    let (succeeded, shown, error) = command(&["resolve", id, "--text", "It stays so."]);
    assert!(succeeded && shown.contains("is resolved"), "{shown}{error}");
    let (_, shown, _) = command(&["list"]);
    assert!(shown.contains(id) && shown.contains("resolved") && shown.contains("Calls fail"));
    let (_, shown, _) = command(&["list", "--json"]);
    let shown: Value = serde_json::from_str(&shown).unwrap();
    assert_eq!(shown["incidents"][0]["updates"].as_array().unwrap().len(), 3);
    let (succeeded, _, error) = command(&update);
    assert!(!succeeded && error.contains("No incident with this id"), "{error}");
    let times = ["--from", "2031-05-01T22:00:00Z", "--until", "2031-05-01T23:00:00Z"];
    let planned = [&["open", "New disks", "--text", "Pauses.", "--state", "planned"], &times[..]];
    let (succeeded, _, error) = command(&planned.concat());
    assert!(succeeded, "{error}");
    assert_eq!(status(&host).await["incidents"][0]["state"], "planned");
}
