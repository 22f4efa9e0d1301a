//! Deliveries to webhooks, however the receiver answers: again until they are accepted, in order,
//! and by one node at a time.

use crate::harness::time::{DAY, HOUR};
use crate::harness::{
    Agent, Process,
    inbox::{Reader, texts},
    postgres::Server as Postgres,
    server::response,
    webhooks::{
        FAST_RETRIES, accepting_receiver, event, host, options, received_texts, receiver,
        wait_until,
    },
};
use serde_json::{Value, json};
use std::{
    fs,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_delivery_is_retried_and_later_ones_of_its_subject_wait() {
    let host = host(FAST_RETRIES).await;
    let reader = Reader::claimed(&host).await;
    let refusals = Arc::new(AtomicUsize::new(3));
    let left = Arc::clone(&refusals);
    let server = receiver(move |request| {
        let refused = event(request)["data"]["text"] == "one"
            && left
                .fetch_update(Ordering::SeqCst, Ordering::SeqCst, |count| count.checked_sub(1))
                .is_ok();
        Some(match refused {
            true => response("500 Internal Server Error", "", "no \u{1f4a5}"),
            false => response("204 No Content", "", ""),
        })
    })
    .await;
    let (id, _) = reader.subscribe(server.port).await;
    reader.send_events("towns/1", &["one", "two"]).await;
    reader.send_events("towns/2", &["other"]).await;
    wait_until(async || received_texts(&server).contains(&"two".to_owned())).await;
    let received = received_texts(&server);
    let place = |text: &str| received.iter().rposition(|received| received == text).unwrap();
    assert_eq!(received.iter().filter(|text| *text == "one").count(), 4, "{received:?}");
    assert!(place("one") < place("two"), "{received:?}");
    assert!(place("other") < place("two"), "{received:?}");
    // Each attempt has the same event id and a new signature.
    let requests = server.requests();
    let header = |request: &str, name: &str| -> String {
        let mut lines = request.lines();
        lines.find_map(|line| line.strip_prefix(name)).unwrap().trim().to_owned()
    };
    let ones: Vec<_> =
        requests.iter().filter(|request| event(request)["data"]["text"] == "one").collect();
    assert_eq!(header(ones[0], "webhook-id:"), header(ones[3], "webhook-id:"));
    assert_ne!(header(ones[0], "webhook-timestamp:"), header(ones[3], "webhook-timestamp:"));
    wait_until(async || reader.deliveries(&id, "pending").await.is_empty()).await;
    let log = reader.deliveries(&id, "delivered").await;
    let one = log.iter().find(|delivery| delivery["attempts"] == 4).unwrap();
    assert_eq!((&one["status"], &one["subject"]), (&json!(204), &json!("towns/1")));
    assert_eq!(reader.webhook(&id).await["failing_since"], Value::Null);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_delivery_is_kept_and_sent_again_on_demand() {
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
    reader.send_events("towns/1", &["one"]).await;
    wait_until(async || reader.deliveries(&id, "dead").await.len() == 1).await;
    let dead = reader.deliveries(&id, "dead").await.pop().unwrap();
    assert_eq!((&dead["attempts"], &dead["status"]), (&json!(1), &json!(500)));
    let text = dead["response"]["text"].as_str().unwrap();
    assert!(text.starts_with("long long") && text.len() == 1024, "{}", text.len());
    assert_eq!(dead["response"]["trust"], "untrusted_user_content");
    // The event of the dead delivery is still in the inbox.
    assert_eq!(texts(&reader.page("wait=0").await), ["one"]);
    broken.store(false, Ordering::SeqCst);
    let again = json!({ "action": "redeliver", "delivery_id": dead["delivery_id"] });
    assert_eq!(reader.webhooks(again.clone()).await["delivery"]["outcome"], "pending");
    wait_until(async || reader.deliveries(&id, "dead").await.is_empty()).await;
    wait_until(async || texts(&reader.page("wait=0&cursor=0").await).is_empty()).await;
    // No other agent may send it again or read the webhook.
    let stranger = Reader::claimed(&host).await;
    stranger.agent.call("svc.webhooks", again).await.assert_refused(404, "delivery_not_found");
    let get = json!({ "action": "get", "webhook_id": id });
    stranger.agent.call("svc.webhooks", get).await.assert_refused(404, "webhook_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn retry_after_delays_a_delivery_and_410_disables_the_webhook() {
    let host = host(FAST_RETRIES).await;
    let reader = Reader::claimed(&host).await;
    let busy =
        receiver(|_| Some(response("503 Service Unavailable", "retry-after: 3600\r\n", ""))).await;
    let gone = receiver(|_| Some(response("410 Gone", "", ""))).await;
    let (patient, _) = reader.subscribe(busy.port).await;
    let (ended, _) = reader.subscribe(gone.port).await;
    reader.send_events("towns/1", &["one"]).await;
    reader.wait_for_webhook_state(&ended, "disabled").await;
    let waiting = async || {
        let pending = reader.deliveries(&patient, "pending").await;
        pending
            .into_iter()
            .find(|delivery| delivery["subject"] == "towns/1" && delivery["attempts"] == 1)
    };
    wait_until(async || waiting().await.is_some()).await;
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
        reader.agent.call("svc.webhooks", call).await.assert_refused(409, "webhook_disabled");
    }
    assert_eq!(reader.deliveries(&ended, "dead").await.len(), 1);
    reader.send_events("towns/1", &["two"]).await;
    // After a new challenge, the webhook gets only later events; earlier ones are sent on demand.
    reader.webhooks(json!({ "action": "verify", "webhook_id": ended })).await;
    reader.wait_for_webhook_state(&ended, "active").await;
    assert_eq!(received_texts(&gone), ["one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn waiting_deliveries_cost_no_processor_time() {
    let host = Process::start(options(""));
    let reader = Reader::claimed(&host).await;
    let server = receiver(|_| Some(response("500 Internal Server Error", "", ""))).await;
    let (id, _) = reader.subscribe(server.port).await;
    reader.send_events("towns/1", &["one", "two"]).await;
    // After the second failure the next attempt is minutes away, and `two` is due all the time.
    wait_until(async || received_texts(&server) == ["one", "one"]).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    let ticks = async || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", host.process_id())).unwrap();
        let fields = stat.rsplit(')').next().unwrap().split_whitespace().skip(11).take(2);
        fields.map(|ticks| ticks.parse::<u64>().unwrap()).sum::<u64>()
    };
    let before = ticks().await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    // A host that looked for due deliveries without a pause would spend 200 ticks or more.
    let spent = ticks().await - before;
    assert!(spent < 60, "{spent} ticks of 10 ms");
    // The waiting deliveries do not delay a challenge.
    reader.webhooks(json!({ "action": "verify", "webhook_id": id })).await;
    let challenges = || {
        server
            .requests()
            .iter()
            .filter(|request| event(request)["type"] == "webhook.challenge")
            .count()
    };
    wait_until(async || challenges() == 2).await;
    assert_eq!(received_texts(&server), ["one", "one"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_fails_for_days_is_disabled() {
    let host = host("").await;
    let reader = Reader::claimed(&host).await;
    let server = receiver(|_| Some(response("500 Internal Server Error", "", ""))).await;
    let (id, _) = reader.subscribe(server.port).await;
    reader.send_events("towns/1", &["one"]).await;
    wait_until(async || reader.webhook(&id).await["failing_since"].is_string()).await;
    // The delivery is attempted again whenever it is due, until it is dead.
    let mut waited = 0;
    while !reader.deliveries(&id, "pending").await.is_empty() {
        host.advance(HOUR).await;
        waited += 1;
    }
    assert!(waited < 5 * 24, "{waited}");
    assert_eq!(reader.webhook(&id).await["state"], "active");
    // After days without an attempt, the next failure counts as the first.
    host.advance(3 * DAY).await;
    for day in 0..5 {
        assert_eq!(reader.webhook(&id).await["state"], "active", "{day}");
        reader.send_events(&format!("towns/{day}"), &["two"]).await;
        host.advance(DAY).await;
    }
    reader.wait_for_webhook_state(&id, "disabled").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_dead_endpoint_does_not_delay_other_webhooks() {
    let host = host("").await;
    let (dead, living) = (receiver(|_| None).await, accepting_receiver().await);
    let (one, other) = (Reader::claimed(&host).await, Reader::claimed(&host).await);
    one.subscribe(dead.port).await;
    other.subscribe(living.port).await;
    for number in 0..20 {
        one.send_events(&format!("towns/{number}"), &["lost"]).await;
    }
    wait_until(async || !received_texts(&dead).is_empty()).await;
    let all: Vec<String> = (0..20).map(|number| number.to_string()).collect();
    for text in &all {
        other.send_events("towns/1", &[text]).await;
    }
    wait_until(async || received_texts(&living).len() == all.len()).await;
    assert_eq!(received_texts(&living), all);
    // At most eight deliveries are sent at once, however many wait.
    assert!(received_texts(&dead).len() <= 8, "{}", received_texts(&dead).len());
}

#[tokio::test(flavor = "multi_thread")]
async fn committed_events_are_delivered_after_a_kill() {
    let host = Process::start(options(""));
    let reader = Reader::claimed(&host).await;
    let hangs = Arc::new(AtomicBool::new(true));
    let is_hanging = Arc::clone(&hangs);
    let server = receiver(move |_| {
        (!is_hanging.load(Ordering::SeqCst)).then(|| response("204 No Content", "", ""))
    })
    .await;
    reader.subscribe(server.port).await;
    // The first delivery is being sent when the host is killed; the next one of its
    // subject has not begun.
    reader.send_events("towns/1", &["one", "two"]).await;
    wait_until(async || received_texts(&server) == ["one"]).await;
    let (token, id) = (reader.agent.token.clone(), reader.id.clone());
    host.signal("KILL");
    let (_, folder) = host.wait();
    hangs.store(false, Ordering::SeqCst);
    let host = Process::start_in(folder);
    let reader = Reader { agent: Agent { host: &host, token }, id };
    wait_until(async || received_texts(&server) == ["one", "one", "two"]).await;
    wait_until(async || texts(&reader.page("wait=0&cursor=0").await).is_empty()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn nodes_share_deliveries_and_take_over_from_a_node_that_dies() {
    let postgres = Postgres::start(100);
    let url = postgres.database().await;
    let start = || Process::start(options("").postgres(&url));
    let (one, other) = (start(), start());
    let reader = Reader::claimed(&one).await;
    // The event ids of the open requests, to notice two requests of one delivery at once.
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
        noted.lock().unwrap().retain(|other| *other != id);
        Some(response("204 No Content", "", ""))
    })
    .await;
    let (id, _) = reader.subscribe(busy.port).await;
    let there = reader.at(&other);
    let all: Vec<String> = (0..60).map(|number| number.to_string()).collect();
    for (number, text) in all.iter().enumerate() {
        let reader = if number % 2 == 0 { &reader } else { &there };
        reader.send_events("towns/1", &[text]).await;
    }
    wait_until(async || received_texts(&busy).len() >= all.len()).await;
    assert_eq!(received_texts(&busy), all, "once each, and in order");
    assert!(!twice.load(Ordering::SeqCst), "nothing was sent twice at once");
    reader.webhooks(json!({ "action": "delete", "webhook_id": id })).await;

    // While a node waits for an answer, no other node sends the delivery.
    let hanging = receiver(|_| None).await;
    let survivor = Reader::claimed(&one).await;
    survivor.subscribe(hanging.port).await;
    other.signal("STOP");
    survivor.send_events("towns/1", &["mine"]).await;
    wait_until(async || received_texts(&hanging) == ["mine"]).await;
    other.signal("CONT");
    tokio::time::sleep(Duration::from_secs(3)).await;
    assert_eq!(received_texts(&hanging), ["mine"]);
    one.signal("KILL");
    let started = Instant::now();
    wait_until(async || received_texts(&hanging).len() == 2).await;
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
}
