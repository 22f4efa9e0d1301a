//! Reservations in calendars: no time is reserved twice, and others reserve
//! within a person's hours.

use crate::harness::{
    Reply,
    calendars::{call_calendar, call_calendar_ok, events, host, merged, reserve},
    join_all,
    relationships::Person,
};
use jiff::{Timestamp, ToSpan as _, tz::TimeZone};
use serde_json::{Value, json};

/// Returns midnight (UTC) in this number of days.
fn midnight(days: i64) -> Timestamp {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let day = today.checked_add(days.days()).unwrap();
    day.to_zoned(TimeZone::UTC).unwrap().timestamp()
}

/// Returns the instant at this hour (UTC) in this number of days, as text.
fn at(days: i64, hour: i64) -> String {
    format!("{:.3}", midnight(days) + hour.hours())
}

fn slot(reference: &str, owners: &[&str], day: i64, from: i64, to: i64) -> Value {
    json!({
        "ref": reference, "owner_ids": owners, "start": at(day, from), "end": at(day, to),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn firm_reservations_do_not_overlap() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let both = [ada.id.as_str(), bo.id.as_str()];
    let ok = |reply: Reply| assert_eq!(reply.status, 200, "{}", reply.text);
    let tentative = |body: Value| merged(body, json!({ "kind": "tentative" }));
    ok(reserve(&ada, slot("mtg_1", &both, 3, 9, 11)).await);
    let taken = reserve(&ada, slot("mtg_2", &both[1..], 3, 10, 12)).await;
    taken.assert_refused(409, "slot_taken");
    assert_eq!(taken.body["retryable"], true);
    // The conflict names only the busy time within the slot.
    let busy = json!({ "kind": "schedule", "busy": [{ "start": at(3, 10), "end": at(3, 11) }] });
    assert_eq!(taken.body["conflict"], busy);
    bo.call_next_step(&taken.body["next"]).await;
    // Slots that only touch do not conflict, and neither does a tentative reservation.
    ok(reserve(&ada, slot("mtg_2", &both[1..], 3, 11, 12)).await);
    ok(reserve(&ada, tentative(slot("mtg_3", &both, 3, 9, 12))).await);
    ok(reserve(&ada, slot("mtg_4", &both[..1], 3, 11, 12)).await);
    let kinds: Vec<_> = events(ada.agent(), &at(3, 0), &at(4, 0)).await;
    let kinds: Vec<_> =
        kinds.iter().map(|event| (event["kind"].as_str().unwrap(), &event["id"])).collect();
    assert_eq!(
        kinds,
        [("meeting", &json!("mtg_1")), ("hold", &json!("mtg_3")), ("meeting", &json!("mtg_4"))]
    );
    // A reservation with the same reference replaces the former one, also if the two overlap.
    ok(reserve(&ada, slot("mtg_1", &both, 3, 8, 10)).await);
    reserve(&ada, slot("mtg_1", &both, 3, 8, 12)).await.assert_refused(409, "slot_taken");
    let hours = ("T08:00", "T10:00");
    let first = &events(ada.agent(), &at(3, 0), &at(4, 0)).await[0];
    assert!(first["start"].as_str().unwrap().contains(hours.0), "{first:#}");
    assert!(first["end"].as_str().unwrap().contains(hours.1), "{first:#}");
    // A tentative reservation that is made firm can conflict.
    reserve(&ada, slot("mtg_3", &both, 3, 9, 12)).await.assert_refused(409, "slot_taken");
    ok(reserve(&ada, slot("mtg_3", &both, 3, 13, 14)).await);
    for _ in 0..2 {
        ada.agent().result("clerk", json!({ "action": "release", "ref": "mtg_3" })).await;
    }
    ok(reserve(&ada, slot("mtg_5", &both, 3, 13, 14)).await);
    // A block conflicts with a meeting of its owner, but not with other people's meetings.
    let block = json!({ "start": at(5, 9), "end": at(5, 10), "rrule": "FREQ=DAILY" });
    call_calendar_ok(bo.agent(), "add_block", block).await;
    reserve(&ada, slot("mtg_6", &both, 30, 9, 10)).await.assert_refused(409, "slot_taken");
    ok(reserve(&ada, slot("mtg_6", &both[..1], 30, 9, 10)).await);
    let wrong = reserve(&ada, slot("mtg_7", &both, 3, 10, 10)).await;
    wrong.assert_refused(400, "validation_failed");
    reserve(&ada, slot("mtg_7", &both, 3, 10, 40)).await.assert_refused(400, "validation_failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_simultaneous_reservations_wins() {
    let host = host().await;
    for round in 0..6 {
        let (ada, bo, cy) =
            (Person::new(&host).await, Person::new(&host).await, Person::new(&host).await);
        // All reservations share a person and overlap by at least an hour.
        let pairs = [[&ada, &bo], [&ada, &cy], [&bo, &ada], [&cy, &ada]];
        let calls = (0_i64..).zip(pairs).map(|(number, [one, other])| {
            let reference = format!("mtg_{round}_{number}");
            let body = slot(&reference, &[&one.id, &other.id], 3, 9 - number % 2, 11);
            reserve(one, body)
        });
        let replies = join_all(calls).await;
        let won = replies.iter().filter(|reply| reply.status == 200).count();
        assert_eq!(won, 1, "{replies:#?}");
        for lost in replies.iter().filter(|reply| reply.status != 200) {
            lost.assert_refused(409, "slot_taken");
        }
        assert_eq!(events(ada.agent(), &at(3, 0), &at(4, 0)).await.len(), 1);
    }
    // All accepted blocks of concurrent calls are in the calendar.
    let ada = Person::new(&host).await;
    let block = json!({ "start": at(3, 9), "end": at(3, 10) });
    let blocks =
        join_all((0..8).map(|_| call_calendar(ada.agent(), "add_block", block.clone()))).await;
    let added = blocks.iter().filter(|reply| reply.status == 200).count();
    assert_eq!(events(ada.agent(), &at(3, 0), &at(4, 0)).await.len(), added);
    reserve(&ada, slot("mtg_x", &[&ada.id], 3, 9, 11)).await.assert_refused(409, "slot_taken");
}

#[tokio::test(flavor = "multi_thread")]
async fn others_book_within_the_available_hours_only() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let hours = |more: Value| {
        let days = json!(["MO", "TU", "WE", "TH", "FR", "SA", "SU"]);
        let rules = json!([{ "days": days, "from": "09:00", "to": "12:00" }]);
        merged(json!({ "time_zone": "UTC", "rules": rules }), more)
    };
    call_calendar_ok(ada.agent(), "set_availability", hours(json!({}))).await;
    let both = [ada.id.as_str(), bo.id.as_str()];
    let free = async |by: &Person<'_>, slots: &[(i64, i64, i64)]| {
        let slots: Vec<_> = slots
            .iter()
            .map(|(day, from, to)| json!({ "start": at(*day, *from), "end": at(*day, *to) }))
            .collect();
        let body = json!({ "action": "free", "owner_ids": both, "slots": slots });
        by.agent().result("clerk", body).await["free"].clone()
    };
    let slots = [(3, 9, 10), (3, 8, 10), (3, 11, 13), (3, 20, 21), (100, 9, 10)];
    assert_eq!(free(&bo, &slots).await, json!([true, false, false, false, false]));
    // A person's hours limit only reservations by others.
    assert_eq!(free(&ada, &slots).await, json!([true, true, true, true, true]));
    let reserved = reserve(&bo, slot("mtg_1", &both, 3, 20, 21)).await;
    assert_eq!(reserved.status, 200, "only real conflicts are refused: {}", reserved.text);
    let strict = merged(slot("mtg_2", &both, 4, 20, 21), json!({ "within_availability": true }));
    reserve(&bo, strict).await.assert_refused(409, "slot_taken");
    assert_eq!(free(&ada, &slots).await, json!([true, true, true, false, true]));
    let own = json!({
        "action": "free", "owner_ids": both, "ref": "mtg_1",
        "slots": [{ "start": at(3, 20), "end": at(3, 21) }],
    });
    assert_eq!(ada.agent().result("clerk", own).await["free"], json!([true]));

    let alternatives = async |more: Value| {
        let body = json!({
            "action": "alternatives", "owner_ids": both, "duration_min": 60, "from": at(3, 0),
            "to": at(6, 0), "limit": 50,
        });
        let found = ada.agent().result("clerk", merged(body, more)).await;
        let slots = found["slots"].as_array().unwrap().clone();
        let hours = |slot: &Value| {
            let start: Timestamp = slot["start"].as_str().unwrap().parse().unwrap();
            (start.as_second() - midnight(0).as_second()) / 60
        };
        slots.iter().map(hours).map(|minutes| (minutes / 1440, minutes % 1440)).collect::<Vec<_>>()
    };
    assert_eq!(alternatives(json!({ "limit": 4 })).await, [(3, 540), (3, 600), (3, 660), (4, 540)]);
    let block = json!({ "start": at(3, 10), "end": at(3, 11) });
    call_calendar_ok(bo.agent(), "add_block", block).await;
    let one_day = json!({ "to": at(4, 0) });
    assert_eq!(alternatives(one_day.clone()).await, [(3, 540), (3, 660)]);
    // Bo wants ten minutes free around each meeting.
    let buffered = hours(json!({ "buffer_min": 10 }));
    call_calendar_ok(bo.agent(), "set_availability", buffered).await;
    assert_eq!(
        alternatives(json!({ "to": at(4, 0), "duration_min": 45 })).await,
        [(3, 540), (3, 675)]
    );
    assert_eq!(alternatives(one_day.clone()).await, []);
    call_calendar_ok(bo.agent(), "set_availability", hours(json!({}))).await;
    // With at most one meeting a day, a day with a meeting is full.
    call_calendar_ok(ada.agent(), "set_availability", hours(json!({ "max_per_day": 1 }))).await;
    assert_eq!(alternatives(one_day.clone()).await, []);
    assert_eq!(alternatives(json!({ "limit": 1 })).await, [(4, 540)]);
    let notice = hours(json!({ "min_notice_min": 4 * 1440 + 720 }));
    call_calendar_ok(ada.agent(), "set_availability", notice).await;
    assert!(alternatives(json!({})).await.iter().all(|(day, _)| *day >= 4));
    assert_eq!(alternatives(one_day).await, []);
    call_calendar_ok(ada.agent(), "set_availability", hours(json!({ "horizon_days": 2 }))).await;
    assert_eq!(alternatives(json!({})).await, []);
    call_calendar_ok(ada.agent(), "set_availability", json!({ "time_zone": "UTC", "rules": [] }))
        .await;
    assert_eq!(alternatives(json!({})).await, []);
}
