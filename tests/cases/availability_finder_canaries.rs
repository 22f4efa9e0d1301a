//! Words that people leave in their calendars and with those who book them: titles, places, labels and guests. Nobody
//! who asks for times with a person reads them, and nothing of them is left after an erasure.

use crate::{
    cases::personal::{erase, export},
    harness::{
        Host, Options, Reply,
        calendars::{call_calendar, call_calendar_ok, event, events, file, merged},
        join_all,
        relationships::Person,
    },
};
use jiff::{Timestamp, ToSpan as _, tz::TimeZone};
use serde_json::{Value, json};

const FINDER: &str = "availability_finder";

async fn host() -> Host {
    let names = [
        FINDER,
        "calendar",
        "owners",
        "social_permissions",
        "social_relationships",
        "svc_phone_binding",
    ];
    // The tests make many calls, and none of them is about the time limit.
    Host::start(Options::with(&names).configuration("[limits]\ncall_wall_time_ms = 30000\n")).await
}

/// Returns this hour (UTC) of the day after this number of days.
fn at(days: i64, hour: i64) -> String {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let day = today.checked_add(days.days()).unwrap().to_zoned(TimeZone::UTC).unwrap();
    format!("{:.3}", day.timestamp().checked_add(hour.hours()).unwrap())
}

/// Returns the same instant as calendar files write it.
fn in_file(days: i64, hour: i64) -> String {
    format!("{}Z", at(days, hour)[..19].replace(['-', ':'], ""))
}

async fn call(person: &Person<'_>, action: &str, more: Value) -> Reply {
    person.agent().call(FINDER, merged(json!({ "action": action }), more)).await
}

async fn result(person: &Person<'_>, action: &str, more: Value) -> Value {
    person.agent().result(FINDER, merged(json!({ "action": action }), more)).await
}

/// Begins a group with this title, in which all accept, and returns its id.
async fn begin(organizer: &Person<'_>, others: &[&Person<'_>], title: &str) -> Value {
    let people: Vec<_> = others.iter().map(|other| &other.id).collect();
    let invite = json!({ "owner_ids": people, "title": title, "may_book": true });
    let group_id = result(organizer, "invite", invite).await["group_id"].clone();
    for other in others {
        result(other, "accept", json!({ "group_id": group_id })).await;
    }
    group_id
}

/// Fills three hours of a person's calendar: an event of a file, a block, and a meeting that a guest has booked.
async fn fill(person: &Person<'_>, guest: &Person<'_>) {
    let (start, end) = (format!("DTSTART:{}", in_file(3, 0)), format!("DTEND:{}", in_file(3, 1)));
    let lines = event(
        "UID:canaryuid@calendar.example",
        &[
            &start,
            &end,
            "SUMMARY:A canarytitle",
            "LOCATION:The canaryplace",
            "DESCRIPTION:Some canarywords",
            "ORGANIZER;CN=Canaryhost:mailto:canaryhost@mail.example",
            "ATTENDEE;CN=Canaryguest:mailto:canaryguest@mail.example",
        ],
    );
    call_calendar_ok(person.agent(), "import_ics", json!({ "ics": file(&lines) })).await;
    let block = json!({ "start": at(3, 1), "end": at(3, 2), "label": "A canarylabel" });
    call_calendar_ok(person.agent(), "add_block", block).await;
    let link = json!({ "title": "A canarylink", "duration_min": 60 });
    let link_id = result(person, "create_link", link).await["link_id"].clone();
    result(guest, "book_link", json!({ "link_id": link_id, "start": at(3, 2) })).await;
    let own = events(person.agent(), &at(3, 0), &at(3, 3)).await;
    assert_eq!(own.len(), 3, "{own:#?}");
    let own = json!(own).to_string();
    for seen in ["canarytitle", "canarylabel", "canarylink"] {
        assert!(own.contains(seen), "{seen}: {own}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_asks_for_times_reads_no_title_place_or_guest_of_a_calendar() {
    let host = host().await;
    let people = join_all((0..5).map(|_| Person::new(&host))).await;
    let [ada, bo, cy, dee, eve] = &people[..] else { unreachable!() };
    fill(cy, dee).await;
    let group_id = begin(ada, &[bo, cy], "The plan").await;
    let hour =
        |start: i64| json!({ "group_id": group_id, "start": at(3, start), "duration_min": 60 });
    let link = json!({ "title": "A panel", "group_id": group_id, "duration_min": 60 });
    let link_id = result(ada, "create_link", link).await["link_id"].clone();
    let starts = json!([at(3, 0), at(3, 1), at(3, 2)]);
    let poll = json!({
        "group_id": group_id, "starts": starts, "duration_min": 60, "closes_at": at(2, 0),
    });
    let poll_id = result(ada, "open_poll", poll).await["poll_id"].clone();
    let window = json!({ "from": at(3, 0), "to": at(4, 0), "limit": 10 });
    let find = merged(json!({ "group_id": group_id, "duration_min": 60 }), window.clone());
    let found = result(ada, "find", find.clone()).await;
    assert_eq!(found["items"][0]["start"], json!(at(3, 3)), "the three hours are closed");
    let mut seen = vec![found.to_string()];
    for (person, action, input) in [
        (ada, "hold", hour(0)),
        (ada, "book", hour(0)),
        (ada, "book", hour(1)),
        (ada, "book", hour(2)),
        (ada, "get", json!({ "group_id": group_id })),
        (bo, "get", json!({ "group_id": group_id })),
        (ada, "vote", json!({ "poll_id": poll_id, "answers": ["yes", "yes", "no"] })),
        (cy, "vote", json!({ "poll_id": poll_id, "answers": ["no", "no", "no"] })),
        (ada, "close_poll", json!({ "poll_id": poll_id })),
        (ada, "get_poll", json!({ "poll_id": poll_id })),
        (bo, "get_poll", json!({ "poll_id": poll_id })),
        (ada, "list", json!({})),
        (ada, "list_polls", json!({})),
        (ada, "list_bookings", json!({})),
        (bo, "list_bookings", json!({})),
        (ada, "list_links", json!({})),
        (eve, "link_times", merged(json!({ "link_id": link_id }), window)),
        (eve, "book_link", json!({ "link_id": link_id, "start": at(3, 2) })),
    ] {
        let is_of_cy = person.id == cy.id;
        let reply = call(person, action, input).await;
        let is_asked_in_vain = action == "hold" || action.starts_with("book");
        assert_eq!(reply.status != 200, is_asked_in_vain, "{action}: {}", reply.text);
        if !is_of_cy {
            seen.push(reply.text);
        }
    }
    let range = json!({ "owner_id": cy.id, "start": at(3, 0), "end": at(4, 0) });
    seen.push(call_calendar(ada.agent(), "get_freebusy", range).await.text);
    for person in [ada, bo, eve] {
        host.wait_until_settled().await;
        seen.push(person.reader.page("wait=0&cursor=0&limit=100").await.to_string());
        seen.push(export(&host, &person.id).await.text);
    }
    for text in &seen {
        let text = text.to_lowercase();
        assert!(!text.contains("canary") && !text.contains(&dee.id.to_lowercase()), "{text}");
    }
}

/// Returns the documents of the finder and of the calendars.
async fn stored(host: &Host) -> String {
    let documents = "SELECT d.id || ' ' || d.body FROM documents d \
        JOIN collections c ON c.id = d.collection \
        WHERE c.capability LIKE 'availability_finder%' OR c.capability LIKE 'calendar%'";
    host.database().texts(documents).await.join("\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_erasure_of_a_guest_and_of_an_organizer_leaves_nothing_of_them() {
    let host = host().await;
    let people = join_all((0..4).map(|_| Person::new(&host))).await;
    let [ada, bo, cy, dee] = &people[..] else { unreachable!() };
    let group_id = begin(ada, &[bo, cy], "The canarygroup").await;
    let poll = json!({
        "group_id": group_id, "starts": [at(4, 9), at(4, 10)], "duration_min": 30,
        "closes_at": at(3, 9),
    });
    result(ada, "open_poll", poll).await;
    let link = json!({ "title": "The canarypanel", "group_id": group_id, "duration_min": 30 });
    let link_id = result(ada, "create_link", link).await["link_id"].clone();
    let times = json!({ "link_id": link_id, "from": at(2, 9), "to": at(2, 12) });
    result(dee, "link_times", times).await;
    result(dee, "book_link", json!({ "link_id": link_id, "start": at(2, 9) })).await;
    let of_ada = ["canarygroup", "canarypanel", &ada.id];
    let before = stored(&host).await;
    for text in of_ada.iter().chain([&dee.id.as_str()]) {
        assert!(before.contains(*text), "{text}: {before}");
    }
    let calendar = json!(events(bo.agent(), &at(2, 9), &at(2, 10)).await).to_string();
    assert!(calendar.contains("canarypanel"), "{calendar}");

    for (erased, texts) in [(dee, &[&*dee.id][..]), (ada, &of_ada[..])] {
        let reply = erase(&host, &erased.id).await;
        assert!(reply.status.is_success(), "{}", reply.text);
        host.wait_until_settled().await;
        let mut left = vec![stored(&host).await];
        for person in [bo, cy] {
            left.push(result(person, "list_bookings", json!({})).await.to_string());
            left.push(result(person, "list_polls", json!({})).await.to_string());
            left.push(json!(events(person.agent(), &at(2, 0), &at(5, 0)).await).to_string());
        }
        for text in texts {
            assert!(left.iter().all(|left| !left.contains(text)), "{text}: {left:#?}");
        }
    }
}
