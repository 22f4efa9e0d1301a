//! Meetings: how they are proposed, answered and rescheduled, and what each participant sees.

use crate::harness::{
    conversations::{NO_THREAD, open_thread, operate_ok},
    meetings::{NO_MEETING, NO_SLOT, host, minute, of, proposal, slot, slot_id},
    relationships::Person,
};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn a_time_that_both_agree_on_is_in_both_calendars() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread = open_thread(&host, &[&ada, &bo]).await;
    let meeting = ada.propose(&thread, &[0, 60]).await;
    assert_eq!(meeting["state"], "proposed");
    assert_eq!(meeting["allowed_actions"], json!(["cancel"]));
    assert_eq!((&meeting["sequence"], &meeting["organizer"]), (&json!(0), &json!(ada.id)));
    let uid = format!("{}@portolan", meeting["meeting_id"].as_str().unwrap());
    assert_eq!(meeting["uid"], json!(uid));
    assert_eq!(meeting["trust"], "untrusted_user_content");
    let (event, data) = bo.meeting_events(&meeting).await.remove(0);
    assert_eq!(event, "meeting.proposed");
    assert_eq!((&data["slots"], &data["sequence"]), (&meeting["slots"], &json!(0)));
    assert_eq!((ada.meeting_starts().await, bo.meeting_starts().await), (vec![], vec![]));

    let seen = bo.call_next_step(&data["next"]).await;
    let answers = json!(["accept", "tentative", "decline", "counter", "cancel"]);
    assert_eq!(seen["allowed_actions"], answers);
    let agreed = bo.accept_ok(&seen, 1).await;
    assert_eq!((&agreed["state"], &agreed["sequence"]), (&json!("confirmed"), &json!(0)));
    assert_eq!(agreed["chosen_slot"]["start"], json!(minute(60)));
    let states: Vec<_> = [0, 1].map(|number| agreed["slots"][number]["state"].clone()).into();
    assert_eq!(states, ["dropped", "chosen"]);
    for person in [&ada, &bo] {
        assert_eq!(person.meeting_starts().await, [minute(60)]);
        let (event, data) = person.meeting_events(&meeting).await.pop().unwrap();
        assert_eq!((event.as_str(), &data["start"]), ("meeting.confirmed", &json!(minute(60))));
        assert_eq!(data["time_zone"], "America/Los_Angeles");
        let file = person.call_next_step(&data["next"]).await;
        assert!(file["ics"].as_str().unwrap().contains("METHOD:REQUEST"), "{file:#}");
    }
    // The person who acts gets an event only if it concerns all participants.
    assert_eq!(ada.meeting_event_types(&meeting).await, ["meeting.confirmed"]);
    assert_eq!(bo.meeting_event_types(&meeting).await, ["meeting.proposed", "meeting.confirmed"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_meeting_is_not_found_by_people_outside_it() {
    let host = host().await;
    let people = [Person::new(&host).await, Person::new(&host).await, Person::new(&host).await];
    let [ada, bo, cy] = &people;
    let thread = open_thread(&host, &[ada, bo]).await;
    let meeting = ada.propose(&thread, &[0]).await;
    for action in ["get", "ics", "cancel", "decline", "tentative"] {
        let known = cy.call_meeting(action, of(&meeting)).await;
        known.assert_refused(404, "meeting_not_found");
        let unknown = cy.call_meeting(action, json!({ "meeting_id": NO_MEETING })).await;
        assert_eq!(known.body, unknown.body, "{action}");
    }
    cy.call_meeting("propose", proposal(&thread, &[0]))
        .await
        .assert_refused(404, "thread_not_found");
    assert_eq!(cy.call_meeting_ok("list", json!({})).await["items"], json!([]));
    let listed =
        bo.call_meeting_ok("list", json!({ "thread_id": thread, "state": ["proposed"] })).await;
    assert_eq!(listed["items"][0]["meeting_id"], meeting["meeting_id"]);
    let other = json!({ "thread_id": NO_THREAD });
    assert_eq!(bo.call_meeting_ok("list", other).await["items"], json!([]));
    let nobody = host.test_agent().await;
    let listed = nobody.call("thread_meetings", json!({ "action": "list" })).await;
    assert_eq!(listed.body["result"]["items"], json!([]));
    assert_eq!(listed.body["next"]["capability"], "svc.phone-binding");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_a_meeting_declines_it_or_leaves_it_open() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread = open_thread(&host, &[&ada, &bo]).await;
    let meeting = ada.propose(&thread, &[0]).await;
    let said = json!({ "meeting_id": meeting["meeting_id"], "reason": "I may be away." });
    let unsure = bo.call_meeting_ok("tentative", said).await;
    assert_eq!(unsure["state"], "proposed");
    let seen = ada.meeting(&meeting).await;
    assert_eq!(seen["participants"][1]["participation_status"], "tentative");
    assert_eq!(seen["participants"][1]["participation_comment"], "I may be away.");
    // Only the other participant can answer.
    ada.call_meeting("decline", of(&meeting)).await.assert_refused(403, "not_permitted");
    let said = json!({ "meeting_id": meeting["meeting_id"], "reason": "Call +1 415 555 0123" });
    bo.call_meeting("decline", said).await.assert_refused(422, "contact_in_text");
    let said = json!({ "meeting_id": meeting["meeting_id"], "reason": "Another week." });
    let declined = bo.call_meeting_ok("decline", said).await;
    assert_eq!(
        (&declined["state"], &declined["allowed_actions"]),
        (&json!("declined"), &json!([]))
    );
    let (event, data) = ada.meeting_events(&meeting).await.remove(0);
    assert_eq!(event, "meeting.declined");
    let comment = ada.meeting(&meeting).await["participants"][1]["participation_comment"].clone();
    assert_eq!(comment, "Another week.");
    assert_eq!(data["actor"]["owner_id"], json!(bo.id));
    assert_eq!(bo.meeting_event_types(&meeting).await, ["meeting.proposed"]);
    let late = bo.accept(&meeting, 0).await;
    late.assert_refused(409, "invalid_transition");
    assert_eq!(late.body["conflict"]["current"], "declined");
}

#[tokio::test(flavor = "multi_thread")]
async fn counter_proposals_are_limited_to_three() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread = open_thread(&host, &[&ada, &bo]).await;
    let meeting = ada.propose(&thread, &[0, 30]).await;
    ada.counter(&meeting, &[90]).await.assert_refused(403, "not_permitted");
    let first = bo.counter(&meeting, &[120, 180]).await.body["result"].clone();
    assert_eq!(first["counter"]["owner_id"], json!(bo.id));
    assert_eq!(first["slots"][0]["state"], "waiting");
    assert_eq!(first["allowed_actions"], json!(["cancel"]));
    let (event, data) = ada.meeting_events(&meeting).await.remove(0);
    assert_eq!((event.as_str(), &data["slots"]), ("meeting.countered", &first["counter"]["slots"]));
    bo.accept(&first, 0).await.assert_refused(409, "invalid_transition");

    // After the counter is declined, the former slots are offered again.
    let said = json!({ "meeting_id": meeting["meeting_id"], "reason": "Too late." });
    let again = ada.call_meeting_ok("decline_counter", said).await;
    let comment = bo.meeting(&meeting).await["participants"][0]["participation_comment"].clone();
    assert_eq!(comment, "Too late.");
    assert_eq!((&again["state"], &again["counter"]), (&json!("proposed"), &Value::Null));
    assert_eq!(again["slots"][0]["state"], "offered");
    let (event, data) = bo.meeting_events(&meeting).await.pop().unwrap();
    assert_eq!((event.as_str(), &data["declined"]), ("meeting.declined", &json!("counter")));

    bo.counter(&meeting, &[240]).await;
    let third = ada.counter(&meeting, &[300]).await.body["result"].clone();
    assert_eq!(third["counters_left"], 0);
    let seen = bo.meeting(&meeting).await;
    let left = json!(["accept_counter", "decline_counter", "cancel"]);
    assert_eq!(seen["allowed_actions"], left);
    bo.counter(&meeting, &[360]).await.assert_refused(409, "counter_limit");
    let accept =
        |slot_id: Value| json!({ "meeting_id": meeting["meeting_id"], "slot_id": slot_id });
    // Neither a slot that is no longer offered nor one that does not exist can be accepted.
    for slot_id in [slot_id(&meeting, 0), json!(NO_SLOT)] {
        bo.call_meeting("accept_counter", accept(slot_id))
            .await
            .assert_refused(404, "slot_not_found");
    }
    let agreed = bo
        .call_meeting_ok("accept_counter", accept(seen["counter"]["slots"][0]["slot_id"].clone()));
    let agreed = agreed.await;
    assert_eq!((&agreed["state"], &agreed["sequence"]), (&json!("confirmed"), &json!(1)));
    assert_eq!(agreed["slots"][0]["state"], "chosen");
    assert_eq!(
        (ada.meeting_starts().await, bo.meeting_starts().await),
        (vec![minute(300)], vec![minute(300)])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_meeting_keeps_its_time_until_a_new_one_is_accepted() {
    let host = host().await;
    let people = [Person::new(&host).await, Person::new(&host).await, Person::new(&host).await];
    let [ada, bo, cy] = &people;
    let thread = open_thread(&host, &[ada, bo]).await;
    let meeting = ada.propose(&thread, &[0]).await;
    let agreed = bo.accept_ok(&meeting, 0).await;
    let reschedule = json!({ "meeting_id": meeting["meeting_id"], "slots": [slot(60), slot(120)] });
    let moved = bo.call_meeting_ok("reschedule", reschedule.clone()).await;
    assert_eq!((&moved["state"], &moved["sequence"]), (&json!("proposed"), &json!(1)));
    assert_eq!(moved["chosen_slot"]["state"], "held");
    for participant in moved["participants"].as_array().unwrap() {
        assert_eq!(participant["participation_status"], "needs-action");
    }
    assert_eq!(
        ada.meeting_event_types(&meeting).await,
        ["meeting.confirmed", "meeting.rescheduled"]
    );
    assert_eq!(ada.meeting_starts().await, [minute(0)]);

    // An answer to the former proposal is refused.
    let stale = ada.accept(&agreed, 0).await;
    stale.assert_refused(409, "sequence_stale");
    assert_eq!(stale.body["conflict"]["current"]["sequence"], 1);
    let current = ada.call_next_step(&stale.body["next"]).await;
    let another = open_thread(&host, &[ada, cy]).await;
    let other = cy.propose(&another, &[0]).await;
    ada.accept(&other, 0).await.assert_refused(409, "slot_taken");
    let agreed = ada.accept_ok(&current, 1).await;
    assert_eq!((&agreed["state"], &agreed["sequence"]), (&json!("confirmed"), &json!(1)));
    assert_eq!(
        (ada.meeting_starts().await, bo.meeting_starts().await),
        (vec![minute(120)], vec![minute(120)])
    );
    // The slot that was held is free again. If the new times are declined, all slots are free.
    ada.accept_ok(&other, 0).await;
    ada.call_meeting_ok("cancel", of(&other)).await;
    let moved = json!({ "meeting_id": meeting["meeting_id"], "slots": [slot(120), slot(240)] });
    ada.call_meeting_ok("reschedule", moved).await;
    bo.call_meeting_ok("decline", of(&meeting)).await;
    assert_eq!((ada.meeting_starts().await, bo.meeting_starts().await), (vec![], vec![]));
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_meeting_proposals_are_refused_with_the_reason() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread = open_thread(&host, &[&ada, &bo]).await;
    let proposal = proposal(&thread, &[0, 60]);
    let place = json!({ "kind": "phone", "text": "+1 (415) 555-0123" });
    for (field, value, status, code, pointer) in [
        ("slots", json!([slot(0), slot(-3_000)]), 400, "slot_in_past", "/slots/1/start"),
        ("slots", json!([slot(0), slot(0)]), 400, "validation_failed", "/slots/1/start"),
        ("slots", json!([slot(600_000)]), 400, "validation_failed", "/slots/0/start"),
        ("duration_min", json!(45), 400, "validation_failed", "/slots/0/end"),
        ("time_zone", json!("Mars/Olympus"), 400, "time_zone_unknown", "/time_zone"),
        ("respond_by", json!(minute(-3_000)), 400, "validation_failed", "/respond_by"),
        ("title", json!("Write to ada@example.com"), 422, "contact_in_text", "/title"),
        ("location", place, 422, "contact_in_text", "/location/text"),
    ] {
        let mut wrong = proposal.clone();
        wrong[field] = value;
        let refused = ada.call_meeting("propose", wrong).await;
        refused.assert_refused(status, code);
        assert_eq!(refused.body["conflict"]["errors"][0]["pointer"], pointer, "{}", refused.text);
    }
    let mut dry = proposal.clone();
    dry["dry_run"] = json!(true);
    assert_eq!(ada.call_meeting("propose", dry).await.status, 200);
    assert_eq!(bo.call_meeting_ok("list", json!({})).await["items"], json!([]));
    for number in 0..5 {
        ada.propose(&thread, &[number * 60]).await;
    }
    let sixth = ada.call_meeting("propose", proposal.clone()).await;
    sixth.assert_refused(409, "meeting_limit_reached");
    let open = ada.call_next_step(&sixth.body["next"]).await["items"].as_array().unwrap().clone();
    assert_eq!(open.len(), 5);
    bo.call_meeting_ok("decline", of(&open[0])).await;
    ada.call_meeting_ok("propose", proposal.clone()).await;
    operate_ok(&host, "end", json!({ "thread_id": thread, "reason": "other" })).await;
    let closed = ada.call_meeting("propose", proposal).await;
    closed.assert_refused(409, "thread_closed");
    assert_eq!(ada.call_next_step(&closed.body["next"]).await["state"], "closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_busy_person_is_offered_other_times_and_learns_no_times_of_others() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread = open_thread(&host, &[&ada, &bo]).await;
    ada.block_time(0, 60).await;
    bo.block_time(60, 120).await;
    let refused = ada.call_meeting("propose", proposal(&thread, &[0, 60])).await;
    refused.assert_refused(409, "calendar_conflict");
    let conflict = &refused.body["conflict"];
    assert_eq!((&conflict["kind"], &conflict["busy"]), (&json!("schedule"), &json!([slot(0)])));
    let starts = |reply: &Value| -> Vec<String> {
        let free = reply["conflict"]["free_alternatives"].as_array().unwrap().iter();
        free.map(|slot| slot["start"].as_str().unwrap().to_owned()).collect()
    };
    assert!(!starts(&refused.body).is_empty() && !starts(&refused.body).contains(&minute(0)));
    let own = ada.call_next_step(&refused.body["next"]).await;
    assert_eq!(own["periods"][0]["fbtype"], "BUSY");

    // A proposal does not reveal that the other person is busy; only they see it when they answer.
    let meeting = ada.propose(&thread, &[60, 120]).await;
    let taken = bo.accept(&meeting, 0).await;
    taken.assert_refused(409, "slot_taken");
    assert_eq!(taken.body["conflict"]["busy"], json!([slot(60)]));
    let free = starts(&taken.body);
    assert!(free.len() == 3 && !free.contains(&minute(60)), "{free:?}");
    let still = bo.call_next_step(&taken.body["next"]).await;
    assert_eq!((&still["state"], &still["version"]), (&json!("proposed"), &json!(1)));
    assert_eq!(ada.meeting_event_types(&meeting).await, Vec::<String>::new());
    bo.accept_ok(&still, 1).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn all_participants_have_to_accept_the_same_slot() {
    let host = host().await;
    let people = [Person::new(&host).await, Person::new(&host).await, Person::new(&host).await];
    let [ada, bo, cy] = &people;
    let thread = open_thread(&host, &[ada, bo, cy]).await;
    let meeting = ada.propose(&thread, &[0, 60]).await;
    assert_eq!(bo.accept_ok(&meeting, 0).await["state"], "proposed");
    assert_eq!(cy.accept_ok(&meeting, 1).await["state"], "proposed");
    assert_eq!(ada.meeting_starts().await, Vec::<String>::new());
    let agreed = bo.accept_ok(&meeting, 1).await;
    assert_eq!(
        (&agreed["state"], &agreed["chosen_slot"]["start"]),
        (&json!("confirmed"), &json!(minute(60)))
    );
    for person in &people {
        assert_eq!(person.meeting_starts().await, [minute(60)]);
        assert_eq!(person.meeting_event_types(&meeting).await.last().unwrap(), "meeting.confirmed");
    }
    let other = ada.propose(&thread, &[120]).await;
    bo.accept_ok(&other, 0).await;
    let counter = cy.counter(&other, &[180]).await.body["result"].clone();
    let accept = json!({
        "meeting_id": other["meeting_id"], "slot_id": counter["counter"]["slots"][0]["slot_id"],
    });
    assert_eq!(ada.call_meeting_ok("accept_counter", accept.clone()).await["state"], "countered");
    // The answers to the former slots count again too.
    let back = bo.call_meeting_ok("decline_counter", of(&other)).await;
    let said = |meeting: &Value| -> Vec<Value> {
        let all = meeting["participants"].as_array().unwrap().iter();
        all.map(|participant| participant["participation_status"].clone()).collect()
    };
    assert_eq!(said(&back), ["accepted", "accepted", "needs-action"]);
    assert_eq!(cy.accept_ok(&other, 0).await["state"], "confirmed");
}
