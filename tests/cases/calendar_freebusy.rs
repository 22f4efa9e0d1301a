//! Free/busy times under a secret address, which calendar programs read without a token.

use crate::{
    cases::{
        personal,
        signal_verification::{ADA, BEN, person},
    },
    harness::{
        Host, Options, Reply,
        calendars::{call_calendar, call_calendar_ok, events},
        inbox::Reader,
        time::DAY,
    },
};
use serde_json::{Value, json};
use std::time::Duration;

const NAMES: [&str; 5] =
    ["calendar", "owners", "social_permissions", "svc_events", "svc_phone_binding"];
const TITLE: &str = "Canarytitle";

async fn host() -> Host {
    let limits = "[limits]\ncall_wall_time_ms = 20000\n";
    Host::start(Options::with(&NAMES).configuration(limits)).await
}

/// Adds a block of a day from now on, from one minute to another.
async fn add_block(reader: &Reader<'_>, from: u64, to: u64) {
    let day = 24 * 60;
    let at =
        |minute: u64| reader.agent.host.instant_after(Duration::from_secs((day + minute) * 60));
    let body = json!({ "start": at(from), "end": at(to), "label": TITLE });
    call_calendar_ok(&reader.agent, "add_block", body).await;
}

async fn publish(reader: &Reader<'_>) -> String {
    let published = call_calendar_ok(&reader.agent, "publish_freebusy", json!({})).await;
    path(&published)
}

/// Returns the path of an address.
fn path(published: &Value) -> String {
    let address = published["address"].as_str().unwrap();
    address[address.find("/published/").unwrap()..].to_owned()
}

fn periods(reply: &Reply) -> Vec<&str> {
    reply.text.lines().filter_map(|line| line.strip_prefix("FREEBUSY:")).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_read_merged_busy_times_and_nothing_else() {
    let host = host().await;
    let (ada, ben) = (person(&host, ADA).await.0, person(&host, BEN).await.0);
    add_block(&ada, 0, 60).await;
    add_block(&ada, 30, 90).await;
    add_block(&ada, 120, 150).await;
    let path = publish(&ada).await;
    let found = host.get(&path).await;
    assert_eq!(found.status, 200, "{}", found.text);
    for (name, value) in [
        ("content-type", "text/calendar; charset=utf-8"),
        ("cache-control", "private, max-age=900"),
        ("x-content-type-options", "nosniff"),
        ("content-disposition", "attachment; filename=\"calendar.ics\""),
        ("referrer-policy", "no-referrer"),
    ] {
        assert_eq!(found.header(name), value, "{name}");
    }
    assert!(found.header("content-security-policy").starts_with("sandbox;"));
    assert_eq!(found.header("access-control-allow-origin"), "");
    assert_eq!(periods(&found).len(), 2, "{}", found.text);
    assert!(found.text.contains("METHOD:PUBLISH") && found.text.contains("BEGIN:VFREEBUSY"));
    for private in [TITLE, "own_", "blk_", "SUMMARY"] {
        assert!(!found.text.contains(private), "{private}: {}", found.text);
    }
    // Another person's calendar takes the file as busy times.
    let imported = call_calendar_ok(&ben.agent, "import_ics", json!({ "ics": found.text })).await;
    assert_eq!(imported["added"], 2, "{imported:#}");
    let (start, end) = (host.instant_after(Duration::ZERO), host.instant_after(3 * DAY));
    let taken = events(&ben.agent, &start, &end).await;
    assert_eq!(taken.len(), 2, "{taken:#?}");

    // What was read from such an address is not published again.
    let again = host.get(&publish(&ben).await).await;
    assert_eq!(periods(&again).len(), 0, "{}", again.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unchanged_calendar_is_not_sent_again() {
    let host = host().await;
    let ada = person(&host, ADA).await.0;
    add_block(&ada, 0, 60).await;
    let path = publish(&ada).await;
    let etag = host.get(&path).await.header("etag").to_owned();
    assert!(!etag.is_empty());
    let ask = async || {
        let url = format!("{}{path}", host.url);
        let request = host.client.get(url).header("if-none-match", &etag);
        Reply::read(request.send().await.unwrap()).await
    };
    let unchanged = ask().await;
    assert_eq!((unchanged.status.as_u16(), &*unchanged.text), (304, ""));
    add_block(&ada, 120, 180).await;
    let changed = ask().await;
    assert_eq!(changed.status, 200);
    assert_eq!(periods(&changed).len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_that_is_replaced_or_ended_is_like_one_that_never_was() {
    let host = host().await;
    let ada = person(&host, ADA).await.0;
    let none = call_calendar(&ada.agent, "rotate_freebusy", json!({})).await;
    none.assert_refused(404, "freebusy_not_published");
    let first = publish(&ada).await;
    assert_eq!(publish(&ada).await, first);
    let shown = call_calendar_ok(&ada.agent, "freebusy_address", json!({})).await;
    assert_eq!(path(&shown), first);
    let second = path(&call_calendar_ok(&ada.agent, "rotate_freebusy", json!({})).await);
    assert_ne!(first, second);
    assert_eq!(host.get(&second).await.status, 200);
    call_calendar_ok(&ada.agent, "unpublish_freebusy", json!({})).await;
    let unknown = format!("/published/calendar/{}", "0".repeat(48));
    let no_such_capability = unknown.replace("calendar", "nothing");
    let unpublished = unknown.replace("calendar", "owners");
    let short = "/published/calendar/0".to_owned();
    let test_mode = format!("/published/calendar/test-{}", "0".repeat(48));
    for path in [first, second, unknown, no_such_capability, unpublished, short, test_mode] {
        let url = format!("{}{path}", host.url);
        // A browser gets no page either.
        let request = host.client.get(url).header("accept", "text/html");
        let gone = Reply::read(request.send().await.unwrap()).await;
        assert_eq!((gone.status.as_u16(), &*gone.text), (404, ""), "{path}");
        assert_eq!(gone.header("cache-control"), "no-store", "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_address_is_stored_sealed_and_ends_with_the_erasure() {
    let host = host().await;
    let (ada, owner_id) = person(&host, ADA).await;
    let path = publish(&ada).await;
    let secret = path.rsplit('/').next().unwrap();
    assert_eq!(host.get(&path).await.status, 200);
    assert_eq!(host.database().texts_found(&[secret]), Vec::<String>::new());
    assert!(!host.log().contains(secret));
    let audited = host.operate("/audit?limit=100").await.text;
    assert!(!audited.contains(secret));
    let erased = personal::erase(&host, &owner_id).await;
    assert!(erased.status.is_success(), "{}", erased.text);
    host.wait_until_settled().await;
    assert_eq!(host.get(&path).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_of_an_address_are_bounded() {
    let limits = "rate_limits = \"on\"\n[limits]\nanonymous_calls_per_minute = 3\n";
    let options = Options::with(&NAMES).configuration(limits);
    let host = Host::start_at_fixed_time(options).await;
    let ada = person(&host, ADA).await.0;
    let path = publish(&ada).await;
    let mut statuses = Vec::new();
    for _ in 0..4 {
        statuses.push(host.get(&path).await.status.as_u16());
    }
    assert_eq!(statuses, [200, 200, 200, 429]);
    let refused = host.get(&path).await;
    assert_eq!(refused.text, "");
    assert!(!refused.header("retry-after").is_empty());
    // Unknown secrets count against the address of who tries them, which has ten times the limit.
    let mut tried = 0;
    while host.get(&format!("/published/calendar/{tried:048}")).await.status == 404 {
        tried += 1;
        assert!(tried < 40);
    }
    assert_eq!(host.get(&format!("/published/calendar/{tried:048}")).await.status, 429);
}

#[tokio::test(flavor = "multi_thread")]
async fn live_and_test_mode_have_addresses_of_their_own() {
    let host = host().await;
    let (live, test) = (Reader::claimed(&host).await, person(&host, ADA).await.0);
    add_block(&live, 0, 60).await;
    let paths = (publish(&live).await, publish(&test).await);
    assert!(!paths.0.contains("/test-") && paths.1.contains("/test-"), "{paths:?}");
    assert_eq!(periods(&host.get(&paths.0).await).len(), 1);
    assert_eq!(periods(&host.get(&paths.1).await).len(), 0);
}
