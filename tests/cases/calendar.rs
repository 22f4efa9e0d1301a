//! Calendars: blocks and hours across clock changes, and who sees what of them.

use crate::harness::{
    calendars::{call_calendar, call_calendar_ok, events, host, merged, periods, reserve},
    relationships::Person,
};
use serde_json::{Value, json};

/// The well-formed id of a person who does not exist.
const NOBODY: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const LA: &str = "America/Los_Angeles";

fn starts(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["start"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn blocks_keep_their_wall_time_across_daylight_saving_changes() {
    let host = host().await;
    let ada = Person::new(&host).await;
    let weekly = json!({
        "start": "2026-10-18T09:00", "end": "2026-10-18T10:00", "time_zone": LA,
        "rrule": "freq=weekly;byday=SU", "label": "Call +1 415 555 0100",
    });
    let block = call_calendar_ok(ada.agent(), "add_block", weekly).await;
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
    // Blocks in the hours that clock changes skip and repeat, and whole days of 23 and 25 hours.
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
        call_calendar_ok(ada.agent(), "add_block", body).await;
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
async fn availability_follows_its_time_zone_and_differs_from_busy_times() {
    let host = host().await;
    let ada = Person::new(&host).await;
    let unset = call_calendar_ok(ada.agent(), "get_availability", json!({})).await;
    assert_eq!(unset, json!({ "set": false, "version": 0, "hours": null }));
    let hours = json!({
        "time_zone": "america/los_angeles", "rules": [{ "days": ["SU"], "from": "09:00", "to": "12:00" }],
        "expected_version": 0,
    });
    let set = call_calendar_ok(ada.agent(), "set_availability", hours.clone()).await;
    assert_eq!((&set["version"], &set["hours"]["time_zone"]), (&json!(1), &json!(LA)), "{set:#}");
    let stale = call_calendar(ada.agent(), "set_availability", hours).await;
    stale.assert_refused(409, "version_conflict");
    assert_eq!(stale.body["conflict"]["current"], set);
    assert_eq!(ada.call_next_step(&stale.body["next"]).await, set);

    // A block without a time zone has the time zone of the hours.
    for day in ["2026-11-01", "2027-03-14"] {
        let block = json!({ "start": format!("{day}T10:00"), "end": format!("{day}T11:00") });
        let block = call_calendar_ok(ada.agent(), "add_block", block).await;
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
async fn invalid_calendar_input_is_refused_with_its_place() {
    let host = host().await;
    let ada = Person::new(&host).await;
    let range = |start: &str, end: &str| json!({ "start": start, "end": end });
    for (start, end) in [
        ("2026-11-01T00:00:00Z", "2027-01-02T00:00:01Z"),
        ("2026-11-01T00:00:00Z", "2026-11-01T00:00:00Z"),
        ("2026-11-02T00:00:00Z", "2026-11-01T00:00:00Z"),
    ] {
        for action in ["get_freebusy", "list_events"] {
            let refused = call_calendar(ada.agent(), action, range(start, end)).await;
            refused.assert_refused(400, "range_too_large");
            ada.call_next_step(&refused.body["next"]).await;
        }
    }
    call_calendar(
        ada.agent(),
        "get_freebusy",
        range("1969-01-01T00:00:00Z", "1969-01-02T00:00:00Z"),
    )
    .await
    .assert_refused(400, "validation_failed");
    let whole = range("2026-11-01T00:00:00Z", "2027-01-02T00:00:00Z");
    call_calendar_ok(ada.agent(), "get_freebusy", whole).await;

    let block = json!({ "start": "2026-11-02T09:00", "end": "2026-11-02T10:00" });
    let hours = json!({ "time_zone": "Mars/Olympus", "rules": [] });
    let mars = merged(block.clone(), json!({ "time_zone": "Mars/Olympus" }));
    for (action, body) in [("set_availability", hours), ("add_block", mars)] {
        let refused = call_calendar(ada.agent(), action, body).await;
        refused.assert_refused(400, "time_zone_unknown");
        assert_eq!(refused.body["conflict"]["errors"][0]["pointer"], "/time_zone");
        ada.call_next_step(&refused.body["next"]).await;
    }
    for (more, pointer) in [
        (json!({ "rrule": "FREQ=HOURLY" }), "/rrule"),
        (json!({ "rrule": "FREQ=WEEKLY;BYSETPOS=1" }), "/rrule"),
        (json!({ "rrule": "FREQ=WEEKLY;BYMONTHDAY=2" }), "/rrule"),
        (json!({ "rrule": "FREQ=DAILY;BYHOUR=9,10" }), "/rrule"),
        (json!({ "rrule": "FREQ=MONTHLY;BYMONTHDAY=3" }), "/start"),
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
        let refused =
            call_calendar(ada.agent(), "add_block", merged(block.clone(), more.clone())).await;
        refused.assert_refused(400, "validation_failed");
        assert_eq!(refused.body["conflict"]["errors"][0]["pointer"], pointer, "{more}");
    }
    let backwards = json!([{ "days": ["MO"], "from": "10:00", "to": "09:00" }]);
    let refused = call_calendar(
        ada.agent(),
        "set_availability",
        json!({ "time_zone": "UTC", "rules": backwards }),
    )
    .await;
    refused.assert_refused(400, "validation_failed");
    assert_eq!(refused.body["conflict"]["errors"][0]["pointer"], "/rules/0/to");
    assert_eq!(events(ada.agent(), "2026-11-01T00:00:00Z", "2026-12-01T00:00:00Z").await.len(), 0);

    let added = call_calendar_ok(ada.agent(), "add_block", block).await;
    let bo = Person::new(&host).await;
    let remove = json!({ "block_id": added["block_id"], "expected_version": 7 });
    call_calendar(bo.agent(), "remove_block", remove.clone())
        .await
        .assert_refused(404, "block_not_found");
    let stale = call_calendar(ada.agent(), "remove_block", remove).await;
    stale.assert_refused(409, "version_conflict");
    assert_eq!(stale.body["conflict"]["current"], added);
    let remove = json!({ "block_id": added["block_id"] });
    call_calendar_ok(ada.agent(), "remove_block", remove.clone()).await;
    let gone = call_calendar(ada.agent(), "remove_block", remove).await;
    gone.assert_refused(404, "block_not_found");
    ada.call_next_step(&gone.body["next"]).await;

    // An unclaimed agent has no calendar, and its next step is the claim.
    let nobody = host.test_agent().await;
    for (action, body) in [
        ("list_events", json!({})),
        ("get_availability", json!({})),
        ("export_ics", json!({})),
        ("get_freebusy", range("2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z")),
    ] {
        let reply = call_calendar(&nobody, action, body).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert_eq!(reply.body["next"]["capability"], "svc.phone-binding", "{}", reply.text);
    }
}

/// Returns the answer that a person gets about another person's free and busy time, without that
/// person's id.
async fn freebusy_answer(viewer: &Person<'_>, other: &str) -> String {
    let range = json!({
        "owner_id": other, "start": "2027-01-04T00:00:00Z", "end": "2027-01-05T00:00:00Z",
    });
    let reply = call_calendar(viewer.agent(), "get_freebusy", range).await;
    let mut body = reply.body;
    if let Some(meta) = body.get_mut("meta") {
        *meta = Value::Null;
    }
    format!("{} {body}", reply.status).replace(other, "OTHER")
}

#[tokio::test(flavor = "multi_thread")]
async fn busy_times_of_others_need_a_permission() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let secret = json!({
        "start": "2027-01-04T09:00:00Z", "end": "2027-01-04T10:00:00Z", "label": "Oncologist",
    });
    call_calendar_ok(ada.agent(), "add_block", secret).await;
    let meeting = json!({
        "ref": "mtg_secret", "owner_ids": [ada.id], "title": "Divorce lawyer",
        "start": "2027-01-04T10:00:00Z", "end": "2027-01-04T11:00:00Z",
    });
    assert_eq!(reserve(&ada, meeting).await.status, 200);
    let stranger = freebusy_answer(&bo, &ada.id).await;
    assert_eq!(stranger, freebusy_answer(&bo, NOBODY).await);
    assert!(stranger.contains("not_permitted"), "{stranger}");
    let range = json!({
        "owner_id": ada.id, "start": "2027-01-04T00:00:00Z", "end": "2027-01-05T00:00:00Z",
    });
    let refused = call_calendar(bo.agent(), "get_freebusy", range).await;
    refused.assert_refused(403, "not_permitted");
    assert_eq!(bo.call_next_step(&refused.body["next"]).await["allowed"], false);
    // For a range that is too large, the refusal is the same and not about the range.
    let large = json!({
        "owner_id": ada.id, "start": "2027-01-04T00:00:00Z", "end": "2029-01-05T00:00:00Z",
    });
    call_calendar(bo.agent(), "get_freebusy", large).await.assert_refused(403, "not_permitted");

    let grant = |by: &Person<'_>, to: &Person<'_>, action: &str| {
        let (subject, token) = (format!("owner:{}", to.id), by.agent().token.clone());
        let body = json!({
            "action": action, "subject": subject, "relation": "freebusy_viewer", "object": "owner:me",
        });
        (body, token)
    };
    let (granted, _) = grant(&ada, &bo, "grant");
    ada.agent().result("social_permissions", granted).await;
    let answer = freebusy_answer(&bo, &ada.id).await;
    assert!(answer.starts_with("200") && answer.contains("\"BUSY\""), "{answer}");
    for word in ["Oncologist", "Divorce", "lawyer", "mtg_", "blk_", "block", "meeting", "title"] {
        assert!(!answer.contains(word), "{word}: {answer}");
    }
    assert_eq!(
        periods(bo.agent(), &ada.id, "2027-01-04T08:00:00Z", "2027-01-04T12:00:00Z").await,
        [
            "01-04T08:00 01-04T09:00 FREE",
            "01-04T09:00 01-04T11:00 BUSY",
            "01-04T11:00 01-04T12:00 FREE",
        ]
    );
    // A block in either direction makes the answer that for a person who does not exist.
    for (blocker, blocked) in [(&ada, &bo), (&bo, &ada)] {
        blocker.call_ok("block", &blocked.id).await;
        assert_eq!(freebusy_answer(&bo, &ada.id).await, stranger);
        blocker.call_ok("unblock", &blocked.id).await;
        assert!(freebusy_answer(&bo, &ada.id).await.starts_with("200"));
    }
    let (revoked, _) = grant(&ada, &bo, "revoke");
    ada.agent().result("social_permissions", revoked).await;
    assert_eq!(freebusy_answer(&bo, &ada.id).await, stranger);

    // A connected person sees the time while the two have an open meeting.
    let cy = Person::new(&host).await;
    cy.connect_with(&ada).await;
    assert_eq!(freebusy_answer(&cy, &ada.id).await, stranger);
    let open = json!([{
        "object": format!("owner:{}", ada.id), "relation": "open_meeting",
        "subject": format!("owner:{}", cy.id),
    }]);
    let state = |write: &Value, delete: &Value| json!({ "action": "state", "write": write, "delete": delete });
    ada.agent().result("clerk", state(&open, &json!([]))).await;
    assert!(freebusy_answer(&cy, &ada.id).await.starts_with("200"));
    ada.call_ok("block", &cy.id).await;
    assert_eq!(freebusy_answer(&cy, &ada.id).await, stranger);
    ada.call_ok("unblock", &cy.id).await;
    ada.agent().result("clerk", state(&json!([]), &open)).await;
    assert_eq!(freebusy_answer(&cy, &ada.id).await, stranger);
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
        call_calendar_ok(ada.agent(), "add_block", block).await;
    }
    let range =
        json!({ "start": "2027-01-01T00:00:00Z", "end": "2027-02-01T00:00:00Z", "limit": 4 });
    let mut body = range.clone();
    let (mut starts, mut pages) = (Vec::new(), 0);
    loop {
        let page = call_calendar_ok(ada.agent(), "list_events", body.clone()).await;
        let items = page["items"].as_array().unwrap();
        starts.extend(items.iter().map(|event| event["start"].as_str().unwrap().to_owned()));
        pages += 1;
        if page["next_cursor"].is_null() {
            break;
        }
        body["cursor"] = page["next_cursor"].clone();
    }
    assert_eq!((starts.len(), pages), (15, 4));
    assert!(starts.is_sorted());
    let other = merged(body.clone(), json!({ "end": "2027-01-31T00:00:00Z" }));
    call_calendar(ada.agent(), "list_events", other).await.assert_refused(400, "cursor_invalid");
    let bo = Person::new(&host).await;
    call_calendar(bo.agent(), "list_events", body).await.assert_refused(400, "cursor_invalid");
    let forged = merged(range, json!({ "cursor": "0.1" }));
    call_calendar(ada.agent(), "list_events", forged).await.assert_refused(400, "cursor_invalid");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scheduler_sees_busy_times_and_sets_time_aside_for_the_person() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let (start, end) = ("2036-11-24T09:00:00Z", "2036-11-24T10:00:00Z");
    let block = json!({ "owner_id": ada.id, "start": start, "end": end });
    let seen = json!({ "owner_id": ada.id, "start": start, "end": end });
    let scheduler = |action: &str| {
        json!({
            "action": action, "object": "calendar:me", "relation": "scheduler",
            "subject": format!("owner:{}", bo.id),
        })
    };
    let is_refused = async || {
        call_calendar(bo.agent(), "add_block", block.clone())
            .await
            .assert_refused(403, "not_permitted");
        call_calendar(bo.agent(), "get_freebusy", seen.clone())
            .await
            .assert_refused(403, "not_permitted");
    };
    is_refused().await;
    ada.agent().result("social_permissions", scheduler("grant")).await;
    call_calendar_ok(bo.agent(), "add_block", block.clone()).await;
    assert_eq!(periods(bo.agent(), &ada.id, start, end).await, ["11-24T09:00 11-24T10:00 BUSY"]);
    let labelled = merged(block.clone(), json!({ "label": "Lunch" }));
    call_calendar(bo.agent(), "add_block", labelled).await.assert_refused(400, "validation_failed");
    // It is the person's own block, and not the scheduler's.
    let added = events(ada.agent(), start, end).await;
    let remove = json!({ "block_id": added[0]["id"] });
    call_calendar(bo.agent(), "remove_block", remove.clone())
        .await
        .assert_refused(404, "block_not_found");
    call_calendar_ok(ada.agent(), "remove_block", remove).await;
    ada.agent().result("social_permissions", scheduler("revoke")).await;
    is_refused().await;
}
