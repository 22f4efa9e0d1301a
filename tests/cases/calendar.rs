//! Calendars: blocks and hours over changes of the clock, who sees what of them, and that nobody's time
//! is given away twice.

use crate::harness::{
    Reply,
    calendars::{and, ask, done, events, host, periods, reserve},
    futures,
    ties::Person,
};
use jiff::{Timestamp, ToSpan as _, tz::TimeZone};
use serde_json::{Value, json};

/// Well-formed, and nobody.
const NOBODY: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const LA: &str = "America/Los_Angeles";

fn starts(events: &[Value]) -> Vec<&str> {
    events.iter().map(|it| it["start"].as_str().unwrap()).collect()
}

/// Midnight in so many days, in UTC.
fn midnight(days: i64) -> Timestamp {
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let day = today.checked_add(days.days()).unwrap();
    day.to_zoned(TimeZone::UTC).unwrap().timestamp()
}

/// At this hour, so many days from now.
fn at(days: i64, hour: i64) -> String {
    format!("{:.3}", midnight(days) + hour.hours())
}

#[tokio::test(flavor = "multi_thread")]
async fn blocks_keep_their_wall_time_over_both_changes() {
    let host = host().await;
    let ada = Person::new(&host).await;
    let weekly = json!({
        "start": "2026-10-18T09:00", "end": "2026-10-18T10:00", "time_zone": LA,
        "rrule": "freq=weekly;byday=SU", "label": "Call +1 415 555 0100",
    });
    let block = done(ada.agent(), "add_block", weekly).await;
    assert_eq!(
        (&block["rrule"], &block["start"], &block["version"]),
        (&json!("FREQ=WEEKLY;BYDAY=SU"), &json!("2026-10-18T09:00:00"), &json!(1))
    );
    let autumn = events(ada.agent(), "2026-10-25T00:00:00Z", "2026-11-09T00:00:00Z").await;
    assert_eq!(
        starts(&autumn),
        ["2026-10-25T16:00:00.000Z", "2026-11-01T17:00:00.000Z", "2026-11-08T17:00:00.000Z"]
    );
    let spring = events(ada.agent(), "2027-03-07T00:00:00Z", "2027-03-22T00:00:00Z").await;
    assert_eq!(
        starts(&spring),
        ["2027-03-07T17:00:00.000Z", "2027-03-14T16:00:00.000Z", "2027-03-21T16:00:00.000Z"]
    );
    assert_eq!(
        (&spring[0]["title"], &spring[0]["id"], spring[0].get("trust")),
        (&json!("Call +1 415 555 0100"), &block["block_id"], None)
    );
    // In what the clock skips and what it shows twice; whole days have 23 and 25 hours.
    for (start, end, rrule) in [
        ("2027-03-14T02:30:00", "2027-03-14T02:45:00", None),
        ("2026-11-01T01:30:00", "2026-11-01T01:45:00", None),
        ("2026-11-02", "2026-11-03", None),
        ("2026-10-31T22:00", "2026-11-01T06:00", Some("FREQ=DAILY;COUNT=1")),
        ("2026-11-07", "2026-11-08", Some("FREQ=YEARLY;UNTIL=20281108")),
    ] {
        let mut body = json!({ "start": start, "end": end, "time_zone": LA });
        if let Some(rrule) = rrule {
            body["rrule"] = json!(rrule);
        }
        done(ada.agent(), "add_block", body).await;
    }
    assert_eq!(
        periods(ada.agent(), "me", "2026-11-01T00:00:00Z", "2026-11-03T12:00:00Z").await,
        [
            "11-01T00:00 11-01T05:00 FREE",
            "11-01T05:00 11-01T14:00 BUSY",
            "11-01T14:00 11-01T17:00 FREE",
            "11-01T17:00 11-01T18:00 BUSY",
            "11-01T18:00 11-02T08:00 FREE",
            "11-02T08:00 11-03T08:00 BUSY",
            "11-03T08:00 11-03T12:00 FREE",
        ]
    );
    assert_eq!(
        periods(ada.agent(), "me", "2027-03-14T09:00:00Z", "2027-03-14T11:00:00Z").await,
        [
            "03-14T09:00 03-14T10:30 FREE",
            "03-14T10:30 03-14T10:45 BUSY",
            "03-14T10:45 03-14T11:00 FREE",
        ]
    );
    let far = events(ada.agent(), "2028-11-06T00:00:00Z", "2028-11-10T00:00:00Z").await;
    assert_eq!(
        (starts(&far), &far[0]["all_day"]),
        (vec!["2028-11-07T08:00:00.000Z"], &json!(true))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn hours_follow_the_clock_and_are_told_apart_from_what_is_busy() {
    let host = host().await;
    let ada = Person::new(&host).await;
    let unset = done(ada.agent(), "get_availability", json!({})).await;
    assert_eq!(unset, json!({ "set": false, "version": 0, "hours": null }));
    let hours = json!({
        "time_zone": "america/los_angeles", "rules": [{ "days": ["SU"], "from": "09:00", "to": "12:00" }],
        "expected_version": 0,
    });
    let set = done(ada.agent(), "set_availability", hours.clone()).await;
    assert_eq!((&set["version"], &set["hours"]["time_zone"]), (&json!(1), &json!(LA)), "{set:#}");
    let stale = ask(ada.agent(), "set_availability", hours).await;
    stale.refused(409, "version_conflict");
    assert_eq!(stale.body["conflict"]["current"], set);
    assert_eq!(ada.follows(&stale.body["next"]).await, set);

    // Without a zone of its own, a block goes by the zone of the hours.
    for day in ["2026-11-01", "2027-03-14"] {
        let block = json!({ "start": format!("{day}T10:00"), "end": format!("{day}T11:00") });
        let block = done(ada.agent(), "add_block", block).await;
        assert_eq!(block["time_zone"], LA);
    }
    assert_eq!(
        periods(ada.agent(), "me", "2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z").await,
        [
            "11-01T00:00 11-01T17:00 BUSY-UNAVAILABLE",
            "11-01T17:00 11-01T18:00 FREE",
            "11-01T18:00 11-01T19:00 BUSY",
            "11-01T19:00 11-01T20:00 FREE",
            "11-01T20:00 11-02T00:00 BUSY-UNAVAILABLE",
        ]
    );
    assert_eq!(
        periods(ada.agent(), "me", "2027-03-14T16:00:00Z", "2027-03-14T19:00:00Z").await,
        [
            "03-14T16:00 03-14T17:00 FREE",
            "03-14T17:00 03-14T18:00 BUSY",
            "03-14T18:00 03-14T19:00 FREE",
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_is_said_and_where() {
    let host = host().await;
    let ada = Person::new(&host).await;
    let range = |start: &str, end: &str| json!({ "start": start, "end": end });
    for (start, end) in [
        ("2026-11-01T00:00:00Z", "2027-01-02T00:00:01Z"),
        ("2026-11-01T00:00:00Z", "2026-11-01T00:00:00Z"),
        ("2026-11-02T00:00:00Z", "2026-11-01T00:00:00Z"),
    ] {
        for action in ["get_freebusy", "list_events"] {
            let refused = ask(ada.agent(), action, range(start, end)).await;
            refused.refused(400, "range_too_large");
            ada.follows(&refused.body["next"]).await;
        }
    }
    ask(ada.agent(), "get_freebusy", range("1969-01-01T00:00:00Z", "1969-01-02T00:00:00Z"))
        .await
        .refused(400, "validation_failed");
    let whole = range("2026-11-01T00:00:00Z", "2027-01-02T00:00:00Z");
    done(ada.agent(), "get_freebusy", whole).await;

    let block = json!({ "start": "2026-11-02T09:00", "end": "2026-11-02T10:00" });
    let hours = json!({ "time_zone": "Mars/Olympus", "rules": [] });
    let mars = and(block.clone(), json!({ "time_zone": "Mars/Olympus" }));
    for (action, body) in [("set_availability", hours), ("add_block", mars)] {
        let refused = ask(ada.agent(), action, body).await;
        refused.refused(400, "time_zone_unknown");
        assert_eq!(refused.body["conflict"]["errors"][0]["pointer"], "/time_zone");
        ada.follows(&refused.body["next"]).await;
    }
    for (more, pointer) in [
        (json!({ "rrule": "FREQ=HOURLY" }), "/rrule"),
        (json!({ "rrule": "FREQ=WEEKLY;BYSETPOS=1" }), "/rrule"),
        (json!({ "rrule": "FREQ=MONTHLY;BYMONTHDAY=2" }), "/rrule"),
        (json!({ "rrule": "FREQ=WEEKLY;WKST=SU" }), "/rrule"),
        (json!({ "rrule": "FREQ=WEEKLY;COUNT=1000000000" }), "/rrule"),
        (json!({ "rrule": "FREQ=WEEKLY;COUNT=2;UNTIL=20271101" }), "/rrule"),
        (json!({ "rrule": "FREQ=WEEKLY;UNTIL=20251101" }), "/rrule"),
        (json!({ "rrule": "weekly" }), "/rrule"),
        (json!({ "rrule": "FREQ=WEEKLY;BYDAY=TU" }), "/start"),
        (json!({ "start": "2026-11-31T09:00" }), "/start"),
        (json!({ "end": "2026-11-02T09:00" }), "/end"),
        (json!({ "end": "2026-11-03" }), "/end"),
        (json!({ "end": "2027-11-30T09:00" }), "/end"),
        (json!({ "label": " " }), "/label"),
        (json!({ "label": "a\u{202e}b" }), "/label"),
    ] {
        let refused = ask(ada.agent(), "add_block", and(block.clone(), more.clone())).await;
        refused.refused(400, "validation_failed");
        assert_eq!(refused.body["conflict"]["errors"][0]["pointer"], pointer, "{more}");
    }
    let backwards = json!([{ "days": ["MO"], "from": "10:00", "to": "09:00" }]);
    let refused =
        ask(ada.agent(), "set_availability", json!({ "time_zone": "UTC", "rules": backwards }))
            .await;
    refused.refused(400, "validation_failed");
    assert_eq!(refused.body["conflict"]["errors"][0]["pointer"], "/rules/0/to");
    assert_eq!(events(ada.agent(), "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z").await.len(), 0);

    let added = done(ada.agent(), "add_block", block).await;
    let bo = Person::new(&host).await;
    let remove = json!({ "block_id": added["block_id"], "expected_version": 7 });
    ask(bo.agent(), "remove_block", remove.clone()).await.refused(404, "block_not_found");
    let stale = ask(ada.agent(), "remove_block", remove).await;
    stale.refused(409, "version_conflict");
    assert_eq!(stale.body["conflict"]["current"], added);
    let remove = json!({ "block_id": added["block_id"] });
    done(ada.agent(), "remove_block", remove.clone()).await;
    let gone = ask(ada.agent(), "remove_block", remove).await;
    gone.refused(404, "block_not_found");
    ada.follows(&gone.body["next"]).await;

    // An agent that nobody has claimed has no calendar, and is shown the way to one.
    let nobody = host.test_agent().await;
    for (action, body) in [
        ("list_events", json!({})),
        ("get_availability", json!({})),
        ("export_ics", json!({})),
        ("get_freebusy", range("2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z")),
    ] {
        let reply = ask(&nobody, action, body).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert_eq!(reply.body["next"]["capability"], "svc.phone-binding", "{}", reply.text);
    }
}

/// What somebody is told of another one's time, with that one's id taken out.
async fn seen(viewer: &Person<'_>, other: &str) -> String {
    let range = json!({
        "owner_id": other, "start": "2027-01-04T00:00:00Z", "end": "2027-01-05T00:00:00Z",
    });
    let reply = ask(viewer.agent(), "get_freebusy", range).await;
    let mut body = reply.body;
    if let Some(meta) = body.get_mut("meta") {
        *meta = Value::Null;
    }
    format!("{} {body}", reply.status).replace(other, "OTHER")
}

#[tokio::test(flavor = "multi_thread")]
async fn others_see_when_somebody_is_busy_only_where_they_may() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let secret = json!({
        "start": "2027-01-04T09:00:00Z", "end": "2027-01-04T10:00:00Z", "label": "Oncologist",
    });
    done(ada.agent(), "add_block", secret).await;
    let meeting = json!({
        "ref": "mtg_secret", "owner_ids": [ada.id], "title": "Divorce lawyer",
        "start": "2027-01-04T10:00:00Z", "end": "2027-01-04T11:00:00Z",
    });
    assert_eq!(reserve(&ada, meeting).await.status, 200);
    let stranger = seen(&bo, &ada.id).await;
    assert_eq!(stranger, seen(&bo, NOBODY).await);
    assert!(stranger.contains("not_permitted"), "{stranger}");
    let range = json!({
        "owner_id": ada.id, "start": "2027-01-04T00:00:00Z", "end": "2027-01-05T00:00:00Z",
    });
    let refused = ask(bo.agent(), "get_freebusy", range).await;
    refused.refused(403, "not_permitted");
    assert_eq!(bo.follows(&refused.body["next"]).await["allowed"], false);
    // Even a range that is too large tells nothing.
    let large = json!({
        "owner_id": ada.id, "start": "2027-01-04T00:00:00Z", "end": "2029-01-05T00:00:00Z",
    });
    ask(bo.agent(), "get_freebusy", large).await.refused(403, "not_permitted");

    let grant = |by: &Person<'_>, to: &Person<'_>, action: &str| {
        let (subject, token) = (format!("owner:{}", to.id), by.agent().token.clone());
        let body = json!({
            "action": action, "subject": subject, "relation": "freebusy_viewer", "object": "owner:me",
        });
        (body, token)
    };
    let (granted, _) = grant(&ada, &bo, "grant");
    ada.agent().result("social_permissions", granted).await;
    let told = seen(&bo, &ada.id).await;
    assert!(told.starts_with("200") && told.contains("\"BUSY\""), "{told}");
    for word in ["Oncologist", "Divorce", "lawyer", "mtg_", "blk_", "block", "meeting", "title"] {
        assert!(!told.contains(word), "{word}: {told}");
    }
    assert_eq!(
        periods(bo.agent(), &ada.id, "2027-01-04T08:00:00Z", "2027-01-04T12:00:00Z").await,
        [
            "01-04T08:00 01-04T09:00 FREE",
            "01-04T09:00 01-04T11:00 BUSY",
            "01-04T11:00 01-04T12:00 FREE",
        ]
    );
    // A block takes it away, in either direction, and looks like nobody.
    for (blocker, blocked) in [(&ada, &bo), (&bo, &ada)] {
        blocker.done("block", &blocked.id).await;
        assert_eq!(seen(&bo, &ada.id).await, stranger);
        blocker.done("unblock", &blocked.id).await;
        assert!(seen(&bo, &ada.id).await.starts_with("200"));
    }
    let (revoked, _) = grant(&ada, &bo, "revoke");
    ada.agent().result("social_permissions", revoked).await;
    assert_eq!(seen(&bo, &ada.id).await, stranger);

    // Who is connected sees it as long as there is a meeting to agree on.
    let cy = Person::new(&host).await;
    cy.connects_with(&ada).await;
    assert_eq!(seen(&cy, &ada.id).await, stranger);
    let open = json!([{
        "object": format!("owner:{}", ada.id), "relation": "open_meeting",
        "subject": format!("owner:{}", cy.id),
    }]);
    let state = |write: &Value, delete: &Value| json!({ "action": "state", "write": write, "delete": delete });
    ada.agent().result("clerk", state(&open, &json!([]))).await;
    assert!(seen(&cy, &ada.id).await.starts_with("200"));
    ada.done("block", &cy.id).await;
    assert_eq!(seen(&cy, &ada.id).await, stranger);
    ada.done("unblock", &cy.id).await;
    ada.agent().result("clerk", state(&json!([]), &open)).await;
    assert_eq!(seen(&cy, &ada.id).await, stranger);
}

fn slot(reference: &str, owners: &[&str], day: i64, from: i64, to: i64) -> Value {
    json!({
        "ref": reference, "owner_ids": owners, "start": at(day, from), "end": at(day, to),
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn firm_reservations_do_not_meet() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let both = [ada.id.as_str(), bo.id.as_str()];
    let ok = |reply: Reply| assert_eq!(reply.status, 200, "{}", reply.text);
    let tentative = |body: Value| and(body, json!({ "kind": "tentative" }));
    ok(reserve(&ada, slot("mtg_1", &both, 3, 9, 11)).await);
    let taken = reserve(&ada, slot("mtg_2", &both[1..], 3, 10, 12)).await;
    taken.refused(409, "slot_taken");
    assert_eq!(taken.body["retryable"], true);
    // No more than of the slot itself is told.
    let busy = json!({ "kind": "schedule", "busy": [{ "start": at(3, 10), "end": at(3, 11) }] });
    assert_eq!(taken.body["conflict"], busy);
    bo.follows(&taken.body["next"]).await;
    // What only touches does not meet; what may come is in nobody's way.
    ok(reserve(&ada, slot("mtg_2", &both[1..], 3, 11, 12)).await);
    ok(reserve(&ada, tentative(slot("mtg_3", &both, 3, 9, 12))).await);
    ok(reserve(&ada, slot("mtg_4", &both[..1], 3, 11, 12)).await);
    let kinds: Vec<_> = events(ada.agent(), &at(3, 0), &at(4, 0)).await;
    let kinds: Vec<_> = kinds.iter().map(|it| (it["kind"].as_str().unwrap(), &it["id"])).collect();
    assert_eq!(
        kinds,
        [("meeting", &json!("mtg_1")), ("hold", &json!("mtg_3")), ("meeting", &json!("mtg_4"))]
    );
    // The same again takes the place of what it was, also where it meets that.
    ok(reserve(&ada, slot("mtg_1", &both, 3, 8, 10)).await);
    reserve(&ada, slot("mtg_1", &both, 3, 8, 12)).await.refused(409, "slot_taken");
    let hours = ("T08:00", "T10:00");
    let first = &events(ada.agent(), &at(3, 0), &at(4, 0)).await[0];
    assert!(first["start"].as_str().unwrap().contains(hours.0), "{first:#}");
    assert!(first["end"].as_str().unwrap().contains(hours.1), "{first:#}");
    // Made firm, what may come is in the way.
    reserve(&ada, slot("mtg_3", &both, 3, 9, 12)).await.refused(409, "slot_taken");
    ok(reserve(&ada, slot("mtg_3", &both, 3, 13, 14)).await);
    for _ in 0..2 {
        ada.agent().result("clerk", json!({ "action": "release", "ref": "mtg_3" })).await;
    }
    ok(reserve(&ada, slot("mtg_5", &both, 3, 13, 14)).await);
    // A block is in the way, and a meeting in nobody's way who does not take part.
    let block = json!({ "start": at(5, 9), "end": at(5, 10), "rrule": "FREQ=DAILY" });
    done(bo.agent(), "add_block", block).await;
    reserve(&ada, slot("mtg_6", &both, 30, 9, 10)).await.refused(409, "slot_taken");
    ok(reserve(&ada, slot("mtg_6", &both[..1], 30, 9, 10)).await);
    let wrong = reserve(&ada, slot("mtg_7", &both, 3, 10, 10)).await;
    wrong.refused(400, "validation_failed");
    reserve(&ada, slot("mtg_7", &both, 3, 10, 40)).await.refused(400, "validation_failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_at_the_same_moment_exactly_one_has_the_time() {
    let host = host().await;
    for round in 0..6 {
        let (ada, bo, cy) =
            (Person::new(&host).await, Person::new(&host).await, Person::new(&host).await);
        // All share one of the people, and overlap in one hour at least.
        let pairs = [[&ada, &bo], [&ada, &cy], [&bo, &ada], [&cy, &ada]];
        let calls = (0_i64..).zip(pairs).map(|(number, [one, other])| {
            let reference = format!("mtg_{round}_{number}");
            let body = slot(&reference, &[&one.id, &other.id], 3, 9 - number % 2, 11);
            reserve(one, body)
        });
        let replies = futures(calls).await;
        let won = replies.iter().filter(|it| it.status == 200).count();
        assert_eq!(won, 1, "{replies:#?}");
        for lost in replies.iter().filter(|it| it.status != 200) {
            lost.refused(409, "slot_taken");
        }
        assert_eq!(events(ada.agent(), &at(3, 0), &at(4, 0)).await.len(), 1);
    }
    // A block at the same moment comes before, or after; both are there, and nothing is lost.
    let ada = Person::new(&host).await;
    let block = json!({ "start": at(3, 9), "end": at(3, 10) });
    let blocks = futures((0..8).map(|_| ask(ada.agent(), "add_block", block.clone()))).await;
    let added = blocks.iter().filter(|it| it.status == 200).count();
    assert_eq!(events(ada.agent(), &at(3, 0), &at(4, 0)).await.len(), added);
    reserve(&ada, slot("mtg_x", &[&ada.id], 3, 9, 11)).await.refused(409, "slot_taken");
}

#[tokio::test(flavor = "multi_thread")]
async fn others_book_within_the_hours_that_were_set() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let hours = |more: Value| {
        let days = json!(["MO", "TU", "WE", "TH", "FR", "SA", "SU"]);
        let rules = json!([{ "days": days, "from": "09:00", "to": "12:00" }]);
        and(json!({ "time_zone": "UTC", "rules": rules }), more)
    };
    done(ada.agent(), "set_availability", hours(json!({}))).await;
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
    // One's own hours are for others.
    assert_eq!(free(&ada, &slots).await, json!([true, true, true, true, true]));
    let reserved = reserve(&bo, slot("mtg_1", &both, 3, 20, 21)).await;
    assert_eq!(reserved.status, 200, "real conflicts alone: {}", reserved.text);
    let strict = and(slot("mtg_2", &both, 4, 20, 21), json!({ "within_availability": true }));
    reserve(&bo, strict).await.refused(409, "slot_taken");
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
        let found = ada.agent().result("clerk", and(body, more)).await;
        let slots = found["slots"].as_array().unwrap().clone();
        let hours = |it: &Value| {
            let start: Timestamp = it["start"].as_str().unwrap().parse().unwrap();
            (start.as_second() - midnight(0).as_second()) / 60
        };
        slots.iter().map(hours).map(|minutes| (minutes / 1440, minutes % 1440)).collect::<Vec<_>>()
    };
    assert_eq!(alternatives(json!({ "limit": 4 })).await, [(3, 540), (3, 600), (3, 660), (4, 540)]);
    let block = json!({ "start": at(3, 10), "end": at(3, 11) });
    done(bo.agent(), "add_block", block).await;
    let one_day = json!({ "to": at(4, 0) });
    assert_eq!(alternatives(one_day.clone()).await, [(3, 540), (3, 660)]);
    // Around what is in the way of whoever wants it so.
    let buffered = hours(json!({ "buffer_min": 10 }));
    done(bo.agent(), "set_availability", buffered).await;
    assert_eq!(
        alternatives(json!({ "to": at(4, 0), "duration_min": 45 })).await,
        [(3, 540), (3, 675)]
    );
    assert_eq!(alternatives(one_day.clone()).await, []);
    done(bo.agent(), "set_availability", hours(json!({}))).await;
    // A day is full with the meeting that is there already.
    done(ada.agent(), "set_availability", hours(json!({ "max_per_day": 1 }))).await;
    assert_eq!(alternatives(one_day.clone()).await, []);
    assert_eq!(alternatives(json!({ "limit": 1 })).await, [(4, 540)]);
    let notice = hours(json!({ "min_notice_min": 4 * 1440 + 720 }));
    done(ada.agent(), "set_availability", notice).await;
    assert!(alternatives(json!({})).await.iter().all(|(day, _)| *day >= 4));
    assert_eq!(alternatives(one_day).await, []);
    done(ada.agent(), "set_availability", hours(json!({ "horizon_days": 2 }))).await;
    assert_eq!(alternatives(json!({})).await, []);
    done(ada.agent(), "set_availability", json!({ "time_zone": "UTC", "rules": [] })).await;
    assert_eq!(alternatives(json!({})).await, []);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_calendar_is_read_page_by_page() {
    let host = host().await;
    let ada = Person::new(&host).await;
    for minute in 0..3 {
        let block = json!({
            "start": format!("2027-01-04T09:0{minute}:00Z"), "end": "2027-01-04T10:00:00Z",
            "rrule": "FREQ=DAILY;COUNT=5",
        });
        done(ada.agent(), "add_block", block).await;
    }
    let range =
        json!({ "start": "2027-01-01T00:00:00Z", "end": "2027-02-01T00:00:00Z", "limit": 4 });
    let mut body = range.clone();
    let (mut starts, mut pages) = (Vec::new(), 0);
    loop {
        let page = done(ada.agent(), "list_events", body.clone()).await;
        let items = page["items"].as_array().unwrap();
        starts.extend(items.iter().map(|it| it["start"].as_str().unwrap().to_owned()));
        pages += 1;
        if page["next_cursor"].is_null() {
            break;
        }
        body["cursor"] = page["next_cursor"].clone();
    }
    assert_eq!((starts.len(), pages), (15, 4));
    assert!(starts.is_sorted());
    let other = and(body.clone(), json!({ "end": "2027-01-31T00:00:00Z" }));
    ask(ada.agent(), "list_events", other).await.refused(400, "cursor_invalid");
    let bo = Person::new(&host).await;
    ask(bo.agent(), "list_events", body).await.refused(400, "cursor_invalid");
    let forged = and(range, json!({ "cursor": "0.1" }));
    ask(ada.agent(), "list_events", forged).await.refused(400, "cursor_invalid");
}
