//! Inboxes: events are delivered to their agents at least once and in order.

use crate::harness::{
    Agent, Host, Options, PATIENCE, Process,
    inbox::{Reader, event_host as host, ids, texts},
    join_all,
    person::code,
    postgres::Server,
};
use reqwest::Method;
use serde_json::{Value, json};
use std::time::{Duration, Instant};

/// A time much shorter than a long poll.
const SOON: Duration = Duration::from_secs(10);
const DAY: Duration = Duration::from_secs(24 * 3600);

/// The public address, so that tokens stay valid after a restart on another port.
const ADDRESS: &str = "public_url = \"http://portolan.test\"\n";

#[tokio::test(flavor = "multi_thread")]
async fn an_event_has_the_shape_of_a_cloud_event() {
    let host = host().await;
    let reader = Reader::new(&host).await;
    reader.send_events("towns/1", &["first", "second"]).await;
    let page = reader.page("wait=0").await;
    assert_eq!(texts(&page), ["first", "second"]);
    let event = &page["events"][1];
    let id = event["id"].as_str().unwrap();
    assert!(id.starts_with("evt_") && id.len() == 30, "{id}");
    let time = event["time"].as_str().unwrap();
    assert!(time.ends_with('Z') && time.len() == "2026-11-21T18:00:00.000Z".len(), "{time}");
    assert_eq!(
        *event,
        json!({
            "specversion": "1.0",
            "id": id,
            "source": format!("{}/v1", host.url),
            "type": "herald.told",
            "subject": "towns/1",
            "time": time,
            "datacontenttype": "application/json",
            "agentid": reader.id,
            "testmode": false,
            "sequence": "00000000000000000002",
            "data": { "text": "second" },
        })
    );
    assert_eq!(
        (&page["has_more"], &page["acked"], &page["unknown_ack_ids"]),
        (&json!(false), &json!([]), &json!([]))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn sequences_have_no_gaps_despite_refusals() {
    let host = host().await;
    let reader = Reader::new(&host).await;
    let tell = async |number: usize| {
        let subject = format!("towns/{}", number % 5);
        let long = "x".repeat(21_000);
        match number % 3 {
            // This call is refused after its first event, so that none of its events is committed.
            0 => {
                let body = json!({
                    "action": "proclaim", "agent": reader.id, "subject": subject,
                    "texts": ["never", long],
                });
                assert_ne!(reader.agent.call("herald", body).await.status, 200);
            }
            _ => reader.send_events(&subject, &[&number.to_string()]).await,
        }
    };
    join_all((0..60).map(tell)).await;
    let page = reader.page("wait=0&limit=100").await;
    let sequences: Vec<u64> = page["events"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["sequence"].as_str().unwrap().parse().unwrap())
        .collect();
    assert_eq!(sequences, (1..=40).collect::<Vec<_>>());
    assert!(!texts(&page).contains(&"never"));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_continues_at_its_cursor() {
    let host = host().await;
    let reader = Reader::new(&host).await;
    let all: Vec<String> = (0..25).map(|number| number.to_string()).collect();
    for (number, text) in all.iter().enumerate() {
        reader.send_events(&format!("towns/{}", number % 3), &[text]).await;
    }
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = reader.page(&format!("wait=0&limit=10&cursor={cursor}")).await;
        found.extend(texts(&page).into_iter().map(str::to_owned));
        cursor = page["cursor"].as_str().unwrap().to_owned();
        if page["has_more"] == false {
            break;
        }
    }
    assert_eq!(found, all);
    // With the earlier cursor, a lost answer is delivered again at once.
    let again = reader.page("wait=0&limit=3&cursor=10").await;
    assert_eq!(texts(&again), ["10", "11", "12"]);
    for wrong in ["26", "x", "-1", "9999999999999999999999"] {
        reader.poll(&format!("wait=0&cursor={wrong}")).await.assert_refused(400, "cursor_invalid");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn acknowledged_events_are_not_delivered_again_and_later_ones_wait_for_earlier_ones() {
    let host = host().await;
    let reader = Reader::new(&host).await;
    reader.send_events("towns/1", &["one", "two"]).await;
    reader.send_events("towns/2", &["other"]).await;
    let page = reader.page("wait=0&limit=1").await;
    assert_eq!(texts(&page), ["one"]);
    // Until `one` is acknowledged, the next event of its subject is held back.
    let rest = reader.page("wait=0").await;
    assert_eq!(texts(&rest), ["other"]);
    assert_eq!(texts(&reader.page("wait=0").await), [""; 0]);
    let done = reader.acknowledge(&[ids(&page)[0], "evt_unknown"]).await;
    assert_eq!(done, json!({ "acked": [ids(&page)[0]], "unknown_ack_ids": ["evt_unknown"] }));
    assert_eq!(reader.acknowledge(&[ids(&page)[0]]).await["acked"], json!([ids(&page)[0]]));
    let next = reader.page("wait=0").await;
    assert_eq!(texts(&next), ["two"]);
    // A poll can acknowledge the events of earlier polls.
    let query = format!("wait=0&cursor=0&ack_event_ids={},{}", ids(&rest)[0], ids(&next)[0]);
    let nothing = reader.page(&query).await;
    assert_eq!(texts(&nothing), [""; 0]);
    assert_eq!(nothing["acked"].as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_that_has_lost_everything_sees_each_subject_in_its_order() {
    let host = host().await;
    let reader = Reader::new(&host).await;
    reader.send_events("towns/1", &["one", "two"]).await;
    // The reader loses the answer, and polls again without a cursor.
    reader.page("wait=0").await;
    let page = reader.page("wait=0").await;
    assert_eq!(texts(&page), [""; 0]);
    reader.send_events("towns/1", &["three"]).await;
    let query = format!("wait=0&cursor={}", page["cursor"].as_str().unwrap());
    assert_eq!(texts(&reader.page(&query).await), ["one", "two", "three"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn every_one_of_many_events_is_delivered_page_by_page() {
    let host = host().await;
    let reader = Reader::new(&host).await;
    let all: Vec<String> = (0..1_300).map(|number| number.to_string()).collect();
    for texts in all.chunks(100) {
        reader.send_events("towns/1", &texts.iter().map(String::as_str).collect::<Vec<_>>()).await;
    }
    let mut found = Vec::new();
    loop {
        let page = reader.page("wait=0&limit=100").await;
        if ids(&page).is_empty() {
            break;
        }
        found.extend(texts(&page).into_iter().map(str::to_owned));
        reader.acknowledge(&ids(&page)).await;
    }
    assert_eq!(found, all);
}

#[tokio::test(flavor = "multi_thread")]
async fn another_agents_events_are_neither_seen_nor_acknowledged() {
    let host = host().await;
    let (one, other) = (Reader::new(&host).await, Reader::new(&host).await);
    one.send_events("towns/1", &["secret"]).await;
    let page = one.page("wait=0").await;
    assert_eq!(texts(&other.page("wait=0").await), [""; 0]);
    let id = ids(&page)[0];
    assert_eq!(other.acknowledge(&[id]).await, json!({ "acked": [], "unknown_ack_ids": [id] }));
    assert_eq!(texts(&one.page("wait=0&cursor=0").await), ["secret"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_for_a_person_reaches_each_of_the_persons_agents() {
    let host = host().await;
    let (one, other) = (host.agent().await, host.agent().await);
    let mut owner = Value::Null;
    for (agent, count) in [(&one, 1), (&other, 2)] {
        let bind = json!({ "action": "bind", "phone": "+12015550123" });
        agent.result("svc.phone-binding", bind).await;
        let verify = json!({ "action": "verify", "code": code(&host, count).await });
        owner = agent.result("svc.phone-binding", verify).await["owner_id"].clone();
    }
    let body =
        json!({ "action": "proclaim", "owner": owner, "subject": "towns/1", "texts": ["hear"] });
    one.result("herald", body).await;
    for agent in [one, other] {
        let reader = Reader { id: String::new(), agent };
        let page = reader.page("wait=0&types=herald.told").await;
        assert_eq!(texts(&page), ["hear"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_requested_types_are_delivered() {
    let host = host().await;
    let reader = Reader::new(&host).await;
    let rumour = json!({
        "action": "proclaim", "agent": reader.id, "subject": "towns/1", "texts": ["psst"],
        "rumour": true,
    });
    reader.send_events("towns/1", &["hear"]).await;
    reader.agent.result("herald", rumour).await;
    assert_eq!(texts(&reader.page("wait=0&types=herald.rumoured,other.type").await), ["psst"]);
    assert_eq!(texts(&reader.page("wait=0&types=other.type").await), [""; 0]);
    assert_eq!(texts(&reader.page("wait=0").await), ["hear"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_waits_until_something_happens() {
    let host = host().await;
    let reader = Reader::new(&host).await;
    let started = Instant::now();
    let (page, ()) = tokio::join!(reader.page("wait=50"), async {
        while host.waiting_readers().await == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        reader.send_events("towns/1", &["now"]).await;
    });
    assert_eq!(texts(&page), ["now"]);
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
    // A poll without events returns a cursor too.
    let page = reader.page(&format!("wait=1&cursor={}", page["cursor"].as_str().unwrap())).await;
    assert_eq!((texts(&page), &page["cursor"]), (vec![], &json!("1")));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_poll_supersedes_the_first() {
    let host = host().await;
    let reader = Reader::new(&host).await;
    let started = Instant::now();
    let (first, second) = tokio::join!(reader.page("wait=50"), async {
        while host.waiting_readers().await == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        let second = reader.page("wait=50");
        let (second, ()) = tokio::join!(second, async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            reader.send_events("towns/1", &["for the second"]).await;
        });
        second
    });
    assert_eq!((texts(&first), &first["superseded"]), (vec![], &json!(true)));
    assert_eq!((texts(&second), &second["superseded"]), (vec!["for the second"], &Value::Null));
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_readers_are_answered_when_the_host_stops() {
    let host = Process::with(&["herald", "svc_events", "svc_phone_binding"]);
    let reader = Reader::new(&host).await;
    let (page, ()) = tokio::join!(reader.page("wait=50"), async {
        while host.waiting_readers().await == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        host.signal("TERM");
    });
    assert_eq!((texts(&page), &page["has_more"]), (vec![], &json!(false)));
    drop(reader);
    assert!(host.wait().0.success());
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_requests_of_a_reader_are_refused_with_the_reason() {
    let host = host().await;
    let reader = Reader::new(&host).await;
    for (query, pointer) in [
        ("wait=56", "/wait"),
        ("wait=soon", "/wait"),
        ("limit=0", "/limit"),
        ("limit=101", "/limit"),
        ("cursr=1", "/cursr"),
    ] {
        let reply = reader.poll(query).await;
        reply.assert_refused(400, "validation_failed");
        assert_eq!(reply.body["conflict"]["errors"][0]["pointer"], pointer, "{query}");
    }
    let many = vec!["evt_x"; 501].join(",");
    reader
        .poll(&format!("wait=0&ack_event_ids={many}"))
        .await
        .assert_refused(400, "validation_failed");
    let read_only = Agent { host: &host, token: host.token("svc.read").await };
    let read_only = Reader { agent: read_only, id: String::new() };
    read_only.poll("wait=0").await.assert_refused(403, "insufficient_scope");
    host.get("/v1/agent-events/stream").await.assert_refused(401, "authentication_required");
    for body in ["{}", r#"{"ack_event_ids":"evt_1"}"#, r#"{"ack_event_ids":[],"a":1}"#, "[]"] {
        let bearer = format!("Bearer {}", reader.agent.token);
        let headers = [("authorization", bearer.as_str()), ("content-type", "application/json")];
        let body = Some(body.to_owned());
        let reply = host.send(Method::POST, "/v1/agent-events/ack", &headers, body).await;
        assert_eq!(reply.status, 400, "{}", reply.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_that_were_delivered_and_not_acknowledged_survive_a_kill() {
    let host = Process::start(Options::with(&["herald"]).add_configuration(ADDRESS));
    let reader = Reader::new(&host).await;
    reader.send_events("towns/1", &["one", "two"]).await;
    let page = reader.page("wait=0").await;
    assert_eq!(texts(&page), ["one", "two"]);
    reader.acknowledge(&[ids(&page)[0]]).await;
    let (token, id) = (reader.agent.token.clone(), reader.id.clone());
    host.signal("KILL");
    let (_, folder) = host.wait();
    let host = Process::start_in(folder);
    let reader = Reader { agent: Agent { host: &host, token }, id };
    assert_eq!(texts(&reader.page("wait=0").await), ["two"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_capability_pulls_acknowledges_and_replays() {
    let host = host().await;
    let reader = Reader::new(&host).await;
    let before = "2000-01-01T00:00:00Z";
    let replay = |since: &str| json!({ "action": "replay", "since": since });
    reader.agent.call("svc.events", replay(before)).await.assert_refused(400, "validation_failed");
    let now = jiff::Timestamp::now().to_string();
    reader.send_events("towns/1", &["one", "two"]).await;
    let page = reader.agent.result("svc.events", json!({ "action": "pull" })).await;
    assert_eq!(texts(&page), ["one", "two"]);
    let ack = json!({ "action": "ack", "ack_event_ids": [ids(&page)[0], "evt_unknown"] });
    let acked = reader.agent.result("svc.events", ack).await;
    assert_eq!(acked["unknown_ack_ids"], json!(["evt_unknown"]));
    assert_eq!(texts(&reader.page("wait=0&cursor=0").await), ["two"]);
    let again = reader.agent.result("svc.events", replay(&now)).await;
    assert_eq!(again, json!({ "events": 1 }));
    assert_eq!(texts(&reader.page("wait=0&cursor=0").await), ["one", "two"]);
    let forged = reader.agent.call("svc.events", json!({ "action": "pull", "cursor": "77" })).await;
    forged.assert_refused(400, "cursor_invalid");
    let types = reader.agent.result("svc.events", json!({ "action": "types" })).await;
    let types: Vec<_> = types["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["type"].as_str().unwrap())
        .collect();
    for wanted in ["catalog.changed", "herald.rumoured", "herald.told", "stream.gap"] {
        assert!(types.contains(&wanted), "{types:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn readers_who_ask_for_it_get_an_event_of_a_changed_catalog() {
    let host = Host::with(&["herald"]).await;
    let (listener, silent) = (Reader::new(&host).await, Reader::new(&host).await);
    let (page, ()) = tokio::join!(listener.page("wait=50"), async {
        while host.waiting_readers().await == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        host.drop_in("notes.wasm", &crate::harness::component("notes"));
    });
    let event = &page["events"][0];
    assert_eq!((&event["type"], &event["subject"]), (&json!("catalog.changed"), &json!("catalog")));
    let data = &event["data"];
    assert_eq!(
        (&data["added"], &data["removed"], &data["changed"]),
        (&json!(["notes"]), &json!([]), &json!([]))
    );
    assert_eq!(data["catalog_version"], host.get("/v1/capabilities").await.body["catalog_version"]);
    assert_eq!(silent.page("wait=0").await["events"], json!([]));
    std::fs::remove_file(host.catalog().join("notes.wasm")).unwrap();
    let query = format!("wait=50&cursor={}", page["cursor"].as_str().unwrap());
    assert_eq!(listener.page(&query).await["events"][0]["data"]["removed"], json!(["notes"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn events_removed_unread_are_reported_as_a_gap() {
    let host = Host::with(&["herald"]).await;
    let reader = Reader::new(&host).await;
    reader.send_events("towns/1", &["old and read", "old", "old too"]).await;
    let page = reader.page("wait=0").await;
    reader.acknowledge(&ids(&page)[..1]).await;
    host.clock.advance(29 * DAY);
    reader.send_events("towns/1", &["new"]).await;
    // This is longer than the retention of events and the hour until the next sweep.
    host.clock.advance(DAY + DAY / 12);
    let gap = reader.page("wait=20&types=stream.gap").await;
    let (from, to) = ("00000000000000000002", "00000000000000000003");
    assert_eq!(gap["events"][0]["data"], json!({ "v": 1, "from": from, "to": to }));
    // The gap is announced before the events are removed.
    let started = Instant::now();
    while texts(&reader.page("wait=0&types=herald.told&cursor=0").await) != ["new"] {
        assert!(started.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_of_one_node_wakes_a_reader_at_another() {
    let server = Server::start(100);
    let url = server.database().await;
    let options = || Options::with(&["herald"]).postgres(&url);
    let one = Host::start(options().add_configuration(ADDRESS)).await;
    let other = Host::start(options().add_configuration(ADDRESS)).await;
    let reader = Reader::new(&one).await;
    let there = reader.at(&other);
    let started = Instant::now();
    let (page, ()) = tokio::join!(there.page("wait=50"), async {
        while other.waiting_readers().await == 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        reader.send_events("towns/1", &["over there"]).await;
    });
    assert_eq!(texts(&page), ["over there"]);
    assert!(started.elapsed() < SOON, "{:?}", started.elapsed());
}
