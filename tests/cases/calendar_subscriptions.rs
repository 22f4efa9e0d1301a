//! Calendars elsewhere, which the host reads again and again by their secret addresses.

use crate::{
    cases::{
        personal,
        signal_verification::{ADA, BEN, person},
    },
    harness::{
        Host,
        calendar_server::{CALENDARS, CalendarServer, MOVED, SECRET, calendar},
        calendars::{call_calendar, call_calendar_ok, event, events, file},
        inbox::Reader,
        postgres,
        server::response,
        time::{DAY, HOUR, MINUTE},
    },
};
use serde_json::{Value, json};
use std::time::Duration;

const FROM: &str = "2099-01-01T00:00:00Z";
const TO: &str = "2099-02-01T00:00:00Z";

fn yoga() -> Vec<&'static str> {
    event("UID:yoga", &["DTSTART:20990105T090000Z", "DTEND:20990105T100000Z", "SUMMARY:Canaryyoga"])
}

fn dentist() -> Vec<&'static str> {
    event("UID:dentist", &["DTSTART:20990106T090000Z", "DTEND:20990106T100000Z", "SUMMARY:Dentist"])
}

fn both() -> String {
    file(&[yoga(), dentist()].concat())
}

/// Subscribes, waits for the first reading, and returns the subscription's id.
async fn subscribe(reader: &Reader<'_>, url: &str) -> String {
    let body = json!({ "url": url, "label": "Work" });
    let made = call_calendar_ok(&reader.agent, "subscribe", body).await;
    reader.agent.host.wait_until_settled().await;
    made["subscription_id"].as_str().unwrap().to_owned()
}

async fn listed(reader: &Reader<'_>) -> Value {
    let list = call_calendar_ok(&reader.agent, "list_subscriptions", json!({})).await;
    list["items"][0].clone()
}

async fn titles(reader: &Reader<'_>) -> Vec<String> {
    let found = events(&reader.agent, FROM, TO).await;
    found.iter().map(|event| event["title"].as_str().unwrap().to_owned()).collect()
}

/// Moves the time to the next reading.
async fn next_reading(host: &Host, id: &str) {
    host.reach_timer(&format!("poll/{id}")).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_calendar_is_read_again_and_its_events_follow() {
    let server = CalendarServer::new().await;
    let host = server.host().await;
    let ada = person(&host, ADA).await.0;
    server.answer(calendar(&both(), "etag: \"one\"\r\n"));
    let id = subscribe(&ada, &server.url()).await;
    let first = listed(&ada).await;
    assert_eq!((&first["state"], &first["blocks"]), (&json!("active"), &json!(2)), "{first:#}");
    assert_eq!(first["address"], format!("{CALENDARS}/….ics"));
    assert_eq!(titles(&ada).await, ["Canaryyoga", "Dentist"]);

    server.answer(response("304 Not Modified", "etag: \"one\"\r\n", ""));
    server.server.forget_requests();
    next_reading(&host, &id).await;
    let asked = server.server.requests();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert!(asked[0].to_ascii_lowercase().contains("if-none-match: \"one\""), "{asked:?}");
    assert_eq!(listed(&ada).await["state"], "active");
    assert_eq!(titles(&ada).await.len(), 2);

    server.answer(calendar(&file(&dentist()), "etag: \"two\"\r\n"));
    next_reading(&host, &id).await;
    assert_eq!(titles(&ada).await, ["Dentist"]);
    assert_eq!(listed(&ada).await["blocks"], 1);

    // Nothing is read before its time.
    server.server.forget_requests();
    host.advance(5 * HOUR).await;
    assert!(server.server.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn blocks_of_a_subscription_are_read_only_and_end_with_it() {
    let server = CalendarServer::new().await;
    let host = server.host().await;
    let (ada, ben) = (person(&host, ADA).await.0, person(&host, BEN).await.0);
    let own =
        json!({ "start": "2099-01-07T09:00:00Z", "end": "2099-01-07T10:00:00Z", "label": "Own" });
    call_calendar_ok(&ada.agent, "add_block", own).await;
    let imported = json!({ "ics": file(&yoga()) });
    call_calendar_ok(&ada.agent, "import_ics", imported).await;
    server.answer(calendar(&both(), ""));
    let id = subscribe(&ada, &server.url()).await;
    assert_eq!(titles(&ada).await.len(), 4);

    let all = events(&ada.agent, FROM, TO).await;
    let block = all.iter().find(|event| event["source"] == "subscribed").unwrap();
    let body = json!({ "block_id": block["block_id"] });
    let refused = call_calendar(&ada.agent, "remove_block", body).await;
    refused.assert_refused(409, "block_is_subscribed");
    assert_eq!(refused.body["conflict"]["subscription_id"], *id);
    // An import replaces what imports have added, and nothing of a subscription.
    let body = json!({ "ics": file(&[]), "replace_all": true });
    let nothing = call_calendar(&ada.agent, "import_ics", body).await;
    assert_eq!(nothing.body["result"]["removed"], 1, "{}", nothing.text);
    assert_eq!(titles(&ada).await.len(), 3);

    let again = call_calendar(&ada.agent, "subscribe", json!({ "url": server.url() })).await;
    again.assert_refused(409, "already_subscribed");
    let body = json!({ "subscription_id": id });
    let foreign = call_calendar(&ben.agent, "unsubscribe", body.clone()).await;
    foreign.assert_refused(404, "subscription_not_found");
    let ended = call_calendar_ok(&ada.agent, "unsubscribe", body).await;
    assert_eq!(ended["removed"], 2);
    assert_eq!(titles(&ada).await, ["Own"]);
    server.server.forget_requests();
    host.advance(DAY).await;
    assert!(server.server.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_are_tried_again_less_and_less_often_until_the_subscription_fails() {
    let server = CalendarServer::new().await;
    let host = server.host().await;
    let ada = person(&host, ADA).await.0;
    server.answer(calendar(&both(), ""));
    let id = subscribe(&ada, &server.url()).await;
    server.answer(response("500 Internal Server Error", "", ""));
    next_reading(&host, &id).await;
    let failing = listed(&ada).await;
    assert_eq!(failing["state"], "failing", "{failing:#}");
    assert!(failing["problem"].as_str().unwrap().contains("500"), "{failing:#}");
    assert_eq!(titles(&ada).await.len(), 2);

    server.server.forget_requests();
    host.advance(29 * MINUTE).await;
    assert!(server.server.requests().is_empty());
    host.advance(5 * MINUTE).await;
    assert_eq!(server.server.requests().len(), 1);
    host.advance(55 * MINUTE).await;
    assert_eq!(server.server.requests().len(), 1);

    // The server's own wish is respected.
    server.answer(response("503 Service Unavailable", "retry-after: 36000\r\n", ""));
    next_reading(&host, &id).await;
    server.server.forget_requests();
    host.advance(9 * HOUR).await;
    assert!(server.server.requests().is_empty());

    server.answer(calendar(&file(&dentist()), ""));
    next_reading(&host, &id).await;
    let recovered = listed(&ada).await;
    assert_eq!((&recovered["state"], &recovered["problem"]), (&json!("active"), &Value::Null));

    server.answer(response("404 Not Found", "", ""));
    next_reading(&host, &id).await;
    for _ in 0..13 {
        host.advance(Duration::from_secs(27 * 3600)).await;
    }
    let failed = listed(&ada).await;
    assert_eq!(
        (&failed["state"], &failed["next_at"]),
        (&json!("failed"), &Value::Null),
        "{failed:#}"
    );
    assert_eq!(titles(&ada).await, ["Dentist"]);
    let page = ada.page("wait=0&cursor=0&types=calendar.subscription_failed").await;
    assert_eq!(page["events"].as_array().unwrap().len(), 1, "{page:#}");
    server.server.forget_requests();
    host.advance(3 * DAY).await;
    assert!(server.server.requests().is_empty());

    // The person can have it read again.
    server.answer(calendar(&both(), ""));
    let body = json!({ "subscription_id": id });
    call_calendar_ok(&ada.agent, "refresh_subscription", body.clone()).await;
    host.wait_until_settled().await;
    assert_eq!(listed(&ada).await["state"], "active");
    let refused = call_calendar(&ada.agent, "refresh_subscription", body).await;
    refused.assert_refused(429, "quota_exceeded");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_gone_for_good_is_not_asked_for_again() {
    let server = CalendarServer::new().await;
    let host = server.host().await;
    let ada = person(&host, ADA).await.0;
    server.answer(calendar(&both(), ""));
    let id = subscribe(&ada, &server.url()).await;
    server.answer(response("410 Gone", "", ""));
    next_reading(&host, &id).await;
    let failed = listed(&ada).await;
    assert_eq!(failed["state"], "failed", "{failed:#}");
    let page = ada.page("wait=0&cursor=0&types=calendar.subscription_failed").await;
    let events = page["events"].as_array().unwrap();
    assert_eq!(events[0]["data"]["resource"]["id"], *id, "{page:#}");
    assert!(!page.to_string().contains(SECRET), "{page:#}");
    server.server.forget_requests();
    host.advance(2 * DAY).await;
    assert!(server.server.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_calendar_that_has_moved_is_read_at_its_new_address() {
    let server = CalendarServer::new().await;
    let host = server.host().await;
    let ada = person(&host, ADA).await.0;
    server.answer(calendar(&both(), ""));
    let id = subscribe(&ada, &format!("https://{CALENDARS}/redirected/{SECRET}.ics")).await;
    let moved = listed(&ada).await;
    assert_eq!(moved["address"], format!("{MOVED}/….ics"), "{moved:#}");
    server.server.forget_requests();
    next_reading(&host, &id).await;
    let asked = server.server.requests();
    assert!(
        asked.len() == 1 && asked[0].starts_with(&format!("GET /{SECRET}moved.ics")),
        "{asked:?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_no_calendar_changes_nothing() {
    let server = CalendarServer::new().await;
    let host = server.host().await;
    let ada = person(&host, ADA).await.0;
    server.answer(calendar(&both(), ""));
    let id = subscribe(&ada, &server.url()).await;
    let html = "content-type: text/html\r\n";
    let too_large = format!("{}{}", both(), "X-LONG:x\r\n".repeat(30_000));
    for (answer, problem) in [
        (response("200 OK", html, &both()), "Copy the address in iCal format"),
        (calendar("<html></html>", ""), "not a calendar"),
        (calendar(&too_large, ""), "bytes. Publish a calendar with fewer past events."),
        (response("302 Found", "location: http://plain.example/\r\n", ""), "redirects"),
        (response("302 Found", "location: https://127.0.0.1/\r\n", ""), "redirects"),
    ] {
        server.answer(answer);
        next_reading(&host, &id).await;
        let failing = listed(&ada).await;
        assert!(failing["problem"].as_str().unwrap().contains(problem), "{problem}: {failing:#}");
        assert_eq!(titles(&ada).await.len(), 2, "{problem}");
    }
    // A server that does not know the type of its file is believed.
    server.answer(response("200 OK", "content-type: text/plain\r\n", &file(&dentist())));
    next_reading(&host, &id).await;
    assert_eq!(titles(&ada).await, ["Dentist"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_cannot_make_later_requests_invalid() {
    let server = CalendarServer::new().await;
    let host = server.host().await;
    let ada = person(&host, ADA).await.0;
    server.answer(calendar(&both(), "etag: one\ttwo\r\n"));
    let id = subscribe(&ada, &server.url()).await;
    server.server.forget_requests();
    next_reading(&host, &id).await;
    let asked = server.server.requests();
    assert!(
        asked.len() == 1 && !asked[0].to_ascii_lowercase().contains("if-none-match"),
        "{asked:?}"
    );
    let long = format!("location: https://{MOVED}/{}.ics\r\n", "a".repeat(2048));
    server.answer(response("301 Moved Permanently", &long, ""));
    next_reading(&host, &id).await;
    let failing = listed(&ada).await;
    assert!(failing["problem"].as_str().unwrap().contains("redirects"), "{failing:#}");
    server.answer(calendar(&both(), "etag: one\r\n"));
    next_reading(&host, &id).await;
    assert_eq!(listed(&ada).await["state"], "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stored_request_that_the_host_refuses_is_told_and_mended() {
    let server = CalendarServer::new().await;
    let host = server.host().await;
    let ada = person(&host, ADA).await.0;
    server.answer(calendar(&both(), "etag: one\r\n"));
    let id = subscribe(&ada, &server.url()).await;
    let damage = format!(
        r#"UPDATE documents SET body = replace(body, '"etag":"one"', '"etag":"o\tne"') WHERE id = '{id}'"#
    );
    assert_eq!(host.database().execute(&damage).await, 1);
    next_reading(&host, &id).await;
    let failing = listed(&ada).await;
    let problem = "The stored address is refused. Subscribe again.";
    assert_eq!((&failing["state"], &failing["problem"]), (&json!("failing"), &json!(problem)));
    next_reading(&host, &id).await;
    assert_eq!(listed(&ada).await["state"], "active");
}

#[tokio::test(flavor = "multi_thread")]
async fn only_public_https_addresses_are_read() {
    let server = CalendarServer::new().await;
    let host = Host::start(server.options("")).await;
    let ada = person(&host, ADA).await.0;
    for url in [
        "http://calendars.example/a.ics",
        "https://127.0.0.1/a.ics",
        "https://[::1]/a.ics",
        "https://localhost/a.ics",
        "https://calendars.example:8443/a.ics",
        "https://ada@calendars.example/a.ics",
        "file:///etc/passwd",
    ] {
        let refused = call_calendar(&ada.agent, "subscribe", json!({ "url": url })).await;
        refused.assert_refused(400, "validation_failed");
    }
    // The name leads to a private address, which this host may not reach.
    server.answer(calendar(&both(), ""));
    subscribe(&ada, &server.url()).await;
    let failing = listed(&ada).await;
    assert_eq!(failing["problem"], "The server's address is not public.", "{failing:#}");
    assert!(server.server.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn at_most_five_calendars_are_read_for_a_person() {
    let server = CalendarServer::new().await;
    let host = server.host().await;
    let ada = person(&host, ADA).await.0;
    server.answer(calendar(&file(&[]), ""));
    for number in 0..5 {
        let url = format!("https://{CALENDARS}/{number}.ics");
        call_calendar_ok(&ada.agent, "subscribe", json!({ "url": url })).await;
    }
    let url = format!("https://{CALENDARS}/5.ics");
    let refused = call_calendar(&ada.agent, "subscribe", json!({ "url": url })).await;
    refused.assert_refused(409, "subscription_limit_reached");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_address_is_nowhere_in_the_clear() {
    let server = CalendarServer::new().await;
    let host = server.host().await;
    let (ada, owner_id) = person(&host, ADA).await;
    // While the look-up waits, and when it is answered.
    server.answer(response("503 Service Unavailable", "", ""));
    let id = subscribe(&ada, &server.url()).await;
    server.answer(calendar(&both(), ""));
    next_reading(&host, &id).await;
    assert_eq!(titles(&ada).await.len(), 2);
    assert_eq!(host.database().texts_found(&[SECRET]), Vec::<String>::new());
    assert!(!host.log().contains(SECRET));
    let list = call_calendar_ok(&ada.agent, "list_subscriptions", json!({})).await;
    assert!(!list.to_string().contains(SECRET), "{list:#}");
    let exported = personal::export(&host, &owner_id).await;
    // An export has what the person gave, opened.
    assert!(exported.text.contains(SECRET) && exported.text.contains("Canaryyoga"));
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_ends_the_subscriptions() {
    let server = CalendarServer::new().await;
    let host = server.host().await;
    let (ada, owner_id) = person(&host, ADA).await;
    server.answer(calendar(&both(), ""));
    subscribe(&ada, &server.url()).await;
    let erased = personal::erase(&host, &owner_id).await;
    assert!(erased.status.is_success(), "{}", erased.text);
    host.wait_until_settled().await;
    assert_eq!(host.database().texts_found(&["canaryyoga"]), Vec::<String>::new());
    server.server.forget_requests();
    host.advance(DAY).await;
    assert!(server.server.requests().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn several_nodes_read_a_calendar_once() {
    let server = CalendarServer::new().await;
    let url = postgres::database().await;
    let start = || {
        let options = server.options("reachable_networks = [\"127.0.0.0/8\"]").postgres(&url);
        Host::start(options)
    };
    let (one, other) = (start().await, start().await);
    let ada = person(&one, ADA).await.0;
    server.answer(calendar(&both(), ""));
    let id = subscribe(&ada, &server.url()).await;
    server.server.forget_requests();
    let due = format!("SELECT CAST(due_at AS TEXT) FROM timers WHERE name = 'poll/{id}'");
    let due: u64 = one.database().texts(&due).await[0].parse().unwrap();
    let wait = Duration::from_millis(due + 1 - one.clock.now().as_millis());
    other.clock.advance(wait);
    one.advance(wait).await;
    other.wait_until_settled().await;
    assert_eq!(server.server.requests().len(), 1);
    assert_eq!(titles(&ada).await.len(), 2);
}
