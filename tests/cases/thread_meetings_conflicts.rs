//! Meetings: concurrent calls, blocks between participants, and timers.

use crate::harness::{
    Host,
    conversations::{open_thread, wait_until},
    join_all,
    meetings::{begins_in, due, host, minute, of, proposal, slot, timer_names},
    relationships::{OWNERS, Person},
};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_overlapping_simultaneous_acceptances_wins() {
    let host = host().await;
    let bo = Person::new(&host).await;
    let mut others = Vec::new();
    for _ in 0..6 {
        others.push(Person::new(&host).await);
    }
    for round in 0..4 {
        // All proposals overlap with each other, and no two are the same.
        let begin = round * 120;
        let mut meetings = Vec::new();
        for (number, other) in (0..).zip(&others) {
            let thread = open_thread(&host, &[other, &bo]).await;
            meetings.push(other.propose(&thread, &[begin + number * 5]).await);
        }
        let replies = join_all(meetings.iter().map(|meeting| bo.accept(meeting, 0))).await;
        let won = replies.iter().filter(|reply| reply.status == 200).count();
        assert_eq!(won, 1, "{:#?}", replies.iter().map(|reply| &reply.text).collect::<Vec<_>>());
        for reply in replies.iter().filter(|reply| reply.status != 200) {
            // A call that conflicts too often is refused as retryable, and has changed nothing.
            if reply.body["error_code"] != "version_conflict" {
                reply.assert_refused(409, "slot_taken");
            }
        }
        assert_eq!(bo.meeting_starts().await.len() as i64, round + 1);
        let mut confirmed = 0;
        for (meeting, other) in meetings.iter().zip(&others) {
            let seen = other.meeting(meeting).await;
            let has = other
                .meeting_starts()
                .await
                .contains(&meeting["slots"][0]["start"].as_str().unwrap().to_owned());
            assert_eq!(seen["state"] == "confirmed", has, "{seen:#}");
            confirmed += usize::from(has);
            if !has {
                bo.call_meeting_ok("cancel", of(meeting)).await;
            }
        }
        assert_eq!(confirmed, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_of_three_overlapping_meetings_in_a_ring_is_accepted() {
    let host = host().await;
    let people = [Person::new(&host).await, Person::new(&host).await, Person::new(&host).await];
    let mut meetings = Vec::new();
    for number in 0..3 {
        let (one, other) = (&people[number], &people[(number + 1) % 3]);
        let thread = open_thread(&host, &[one, other]).await;
        meetings.push(one.propose(&thread, &[0]).await);
    }
    // Each person accepts the meeting that the previous person has proposed.
    let accepts = (0..3).map(|number| people[(number + 1) % 3].accept(&meetings[number], 0));
    let won = join_all(accepts).await.iter().filter(|reply| reply.status == 200).count();
    assert_eq!(won, 1);
    let mut busy = 0;
    for person in &people {
        busy += person.meeting_starts().await.len();
    }
    assert_eq!(busy, 2, "only the two who meet are busy");
}

#[tokio::test(flavor = "multi_thread")]
async fn people_with_an_open_meeting_see_each_others_free_and_busy_times() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    ada.connect_with(&bo).await;
    let thread = open_thread(&host, &[&ada, &bo]).await;
    assert!(!ada.can_see_busy_time_of(&bo).await);
    let first = ada.propose(&thread, &[0]).await;
    let second = bo.propose(&thread, &[60]).await;
    assert!(ada.can_see_busy_time_of(&bo).await && bo.can_see_busy_time_of(&ada).await);
    bo.block_time(240, 300).await;
    ada.block_time(-2_880, 240).await;
    let offered = async || {
        let refused = ada.call_meeting("propose", proposal(&thread, &[180])).await;
        refused.assert_refused(409, "calendar_conflict");
        refused.body["conflict"]["free_alternatives"][0]["start"].clone()
    };
    // A person who may see the other's free and busy time is offered times at which both are free.
    assert_eq!(offered().await, json!(minute(300)));
    bo.call_meeting_ok("decline", of(&first)).await;
    assert!(ada.can_see_busy_time_of(&bo).await, "another meeting is open");
    ada.call_meeting_ok("cancel", of(&second)).await;
    assert!(!ada.can_see_busy_time_of(&bo).await && !bo.can_see_busy_time_of(&ada).await);
    assert_eq!(offered().await, json!(minute(240)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_cancels_a_meeting_without_disclosing_the_reason() {
    let host = host().await;
    let (ada, bo, cy) =
        (Person::new(&host).await, Person::new(&host).await, Person::new(&host).await);
    let (thread, other) =
        (open_thread(&host, &[&ada, &bo]).await, open_thread(&host, &[&ada, &cy]).await);
    let (blocked, away) = (ada.propose(&thread, &[0]).await, ada.propose(&other, &[60]).await);
    bo.accept_ok(&blocked, 0).await;
    cy.accept_ok(&away, 0).await;
    assert_eq!(ada.meeting_starts().await, [minute(0), minute(60)]);
    bo.call_ok("block", &ada.id).await;
    // The meeting is cancelled at once, before the event of the block is delivered.
    let seen = ada.meeting(&blocked).await;
    assert_eq!((&seen["state"], &seen["allowed_actions"]), (&json!("cancelled"), &json!([])));
    ada.call_meeting("cancel", of(&blocked)).await.assert_refused(409, "invalid_transition");
    cy.agent().result(OWNERS, json!({ "action": "deactivate" })).await;
    let by_block = ada.wait_for_meeting_event(&blocked, "meeting.cancelled").await;
    let by_absence = ada.wait_for_meeting_event(&away, "meeting.cancelled").await;
    assert_eq!(by_block["actor"], json!({ "kind": "system" }));
    assert_eq!(by_block["reason"], "not_possible");
    let bare = |data: &Value, meeting: &Value, thread: &str| {
        let id = meeting["meeting_id"].as_str().unwrap();
        data.to_string().replace(id, "MEETING").replace(thread, "THREAD")
    };
    assert_eq!(bare(&by_block, &blocked, &thread), bare(&by_absence, &away, &other));
    // The event has the version that was shown before it.
    assert_eq!(by_block["resource"]["version"], seen["version"]);
    let now = [ada.meeting(&blocked).await, ada.meeting(&away).await];
    assert_eq!(now[0], seen);
    for field in ["state", "reason", "reason_text", "late", "sequence", "version"] {
        assert_eq!(now[0][field], now[1][field], "{field}");
    }
    assert_eq!((ada.meeting_starts().await, bo.meeting_starts().await), (vec![], vec![]));
    let proposed =
        [&thread, &other].map(|thread| ada.call_meeting("propose", proposal(thread, &[0])));
    let [one, two] = proposed;
    let (one, two) = (one.await, two.await);
    one.assert_refused(409, "recipient_not_accepting");
    assert_eq!(one.body, two.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_cancels_every_meeting_that_both_people_are_in() {
    let host = host().await;
    let (ada, bo, cy) =
        (Person::new(&host).await, Person::new(&host).await, Person::new(&host).await);
    let all = open_thread(&host, &[&ada, &bo, &cy]).await;
    let of_all = cy.propose(&all, &[600]).await;
    let mut meetings = Vec::new();
    // These are more meetings than one run of the timer cancels.
    for thread in [open_thread(&host, &[&ada, &bo]).await, open_thread(&host, &[&ada, &bo]).await] {
        for number in 0..3 {
            meetings.push(ada.propose(&thread, &[number * 60]).await);
        }
    }
    ada.call_ok("block", &bo.id).await;
    for meeting in meetings.iter().chain([&of_all]) {
        bo.wait_for_meeting_event(meeting, "meeting.cancelled").await;
    }
    assert_eq!(cy.meeting(&of_all).await["state"], "cancelled");
    cy.call_meeting("propose", proposal(&all, &[600]))
        .await
        .assert_refused(409, "recipient_not_accepting");
    for meeting in &meetings {
        assert_eq!(timer_names(&host, meeting).await, Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_meeting_without_an_answer_in_time_expires() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread = open_thread(&host, &[&ada, &bo]).await;
    let mut asked = proposal(&thread, &[0]);
    asked["respond_by"] = json!(minute(-60));
    let (first, second) =
        (ada.call_meeting_ok("propose", asked).await, ada.propose(&thread, &[60]).await);
    // The timer finds that the meeting has not expired yet.
    due(&host, "expire/ID", &second).await;
    wait_until("the timer has run", async || timer_names(&host, &second).await.is_empty()).await;
    assert_eq!(ada.meeting(&second).await["state"], "proposed");
    answered_too_late(&host, &bo, &second).await;
    let sql = format!(
        "UPDATE documents SET body = json_replace(body, '$.respond_by', 1) WHERE id = {}",
        first["meeting_id"].to_string().replace('"', "'")
    );
    assert_eq!(host.database().execute(&sql).await, 1);
    due(&host, "expire/ID", &first).await;
    for person in [&ada, &bo] {
        let data = person.wait_for_meeting_event(&first, "meeting.expired").await;
        assert_eq!(data["reason"], "no_answer");
        assert_eq!(person.meeting(&first).await["state"], "expired");
    }
}

async fn answered_too_late(host: &Host, person: &Person<'_>, meeting: &Value) {
    begins_in(host, meeting, -60).await;
    let seen = person.meeting(meeting).await;
    assert_eq!(seen["slots"][0]["state"], "passed");
    person.accept(&seen, 0).await.assert_refused(400, "slot_in_past");
}

#[tokio::test(flavor = "multi_thread")]
async fn participants_are_reminded_and_a_meeting_completes_by_itself() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread = open_thread(&host, &[&ada, &bo]).await;
    let meeting = ada.propose(&thread, &[0]).await;
    bo.accept_ok(&meeting, 0).await;
    let names = timer_names(&host, &meeting).await;
    assert_eq!(names.len(), 3, "{names:?}");
    let report = |outcome: &str| json!({ "meeting_id": meeting["meeting_id"], "outcome": outcome });
    bo.call_meeting("report_outcome", report("no_show"))
        .await
        .assert_refused(409, "invalid_transition");
    // The meeting is not near yet, so the timer sends no reminder.
    due(&host, "remind/ID/24", &meeting).await;
    wait_until("the timer has run", async || timer_names(&host, &meeting).await.len() == 2).await;
    begins_in(&host, &meeting, 30).await;
    due(&host, "remind/ID/1", &meeting).await;
    for person in [&ada, &bo] {
        assert_eq!(person.wait_for_meeting_event(&meeting, "meeting.reminder").await["hours"], 1);
        let event_types = person.meeting_event_types(&meeting).await;
        assert_eq!(
            event_types.iter().filter(|event_type| *event_type == "meeting.reminder").count(),
            1
        );
    }
    begins_in(&host, &meeting, -10).await;
    let reported = bo.call_meeting_ok("report_outcome", report("other_no_show")).await;
    assert_eq!(
        (&reported["state"], &reported["your_report"]),
        (&json!("confirmed"), &json!("other_no_show"))
    );
    assert!(ada.meeting(&meeting).await["your_report"].is_null());
    begins_in(&host, &meeting, -60).await;
    due(&host, "finish/ID", &meeting).await;
    for person in [&ada, &bo] {
        let data = person.wait_for_meeting_event(&meeting, "meeting.completed").await;
        assert_eq!(
            (&data["resource"]["state"], &data["actor"]["kind"]),
            (&json!("no_show"), &json!("system"))
        );
    }
    // A report can be corrected.
    let corrected = bo.call_meeting_ok("report_outcome", report("completed")).await;
    assert_eq!(corrected["state"], "completed");
    let allowed = ada.meeting(&meeting).await["allowed_actions"].clone();
    assert_eq!(allowed, json!(["report_outcome"]));
    begins_in(&host, &meeting, -31 * 1_440).await;
    ada.call_meeting("report_outcome", report("no_show"))
        .await
        .assert_refused(409, "invalid_transition");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancellation_within_two_hours_of_the_start_is_late() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread = open_thread(&host, &[&ada, &bo]).await;
    for (minutes, late) in [(2_880, false), (180, false), (100, true), (-10, true)] {
        let meeting = ada.propose(&thread, &[0]).await;
        bo.accept_ok(&meeting, 0).await;
        begins_in(&host, &meeting, minutes).await;
        let reason = "Something came up.";
        let cancel = json!({ "meeting_id": meeting["meeting_id"], "reason": reason });
        let cancelled = bo.call_meeting_ok("cancel", cancel).await;
        assert_eq!((&cancelled["state"], &cancelled["late"]), (&json!("cancelled"), &json!(late)));
        let (event, data) = ada.meeting_events(&meeting).await.pop().unwrap();
        assert_eq!((event.as_str(), &data["late"]), ("meeting.cancelled", &json!(late)));
        assert_eq!(data["reason"], "by_participant");
        assert_eq!(ada.meeting(&meeting).await["reason_text"], reason);
        assert_eq!(bo.meeting_event_types(&meeting).await.last().unwrap(), "meeting.confirmed");
        assert_eq!((ada.meeting_starts().await, bo.meeting_starts().await), (vec![], vec![]));
        assert_eq!(timer_names(&host, &meeting).await, Vec::<String>::new());
    }
    // The cancellation of a meeting that is not confirmed is never late.
    let meeting = ada.propose(&thread, &[0]).await;
    let old =
        json!({ "meeting_id": meeting["meeting_id"], "slots": [slot(60)], "expected_version": 9 });
    let refused = bo.call_meeting("counter", old).await;
    refused.assert_refused(409, "version_conflict");
    assert_eq!(refused.body["conflict"]["current"]["state"], "proposed");
    assert_eq!(ada.call_meeting_ok("cancel", of(&meeting)).await["late"], false);
}
