//! Meetings: concurrent calls, blocks between participants, and timers.

use crate::harness::{
    Host,
    conversations::{opened, until},
    futures,
    meetings::{begins_in, due, host, minute, of, proposal, slot, timers},
    ties::{OWNERS, Person},
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
            let thread = opened(&host, &[other, &bo]).await;
            meetings.push(other.proposes(&thread, &[begin + number * 5]).await);
        }
        let replies = futures(meetings.iter().map(|meeting| bo.accept(meeting, 0))).await;
        let won = replies.iter().filter(|reply| reply.status == 200).count();
        assert_eq!(won, 1, "{:#?}", replies.iter().map(|reply| &reply.text).collect::<Vec<_>>());
        for reply in replies.iter().filter(|reply| reply.status != 200) {
            // A call that conflicts too often is refused as retryable, and has changed nothing.
            if reply.body["error_code"] != "version_conflict" {
                reply.refused(409, "slot_taken");
            }
        }
        assert_eq!(bo.calendar().await.len() as i64, round + 1);
        let mut confirmed = 0;
        for (meeting, other) in meetings.iter().zip(&others) {
            let seen = other.looks(meeting).await;
            let has = other
                .calendar()
                .await
                .contains(&meeting["slots"][0]["start"].as_str().unwrap().to_owned());
            assert_eq!(seen["state"] == "confirmed", has, "{seen:#}");
            confirmed += usize::from(has);
            if !has {
                bo.met("cancel", of(meeting)).await;
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
        let thread = opened(&host, &[one, other]).await;
        meetings.push(one.proposes(&thread, &[0]).await);
    }
    // Each person accepts the meeting that the previous person has proposed.
    let accepts = (0..3).map(|number| people[(number + 1) % 3].accept(&meetings[number], 0));
    let won = futures(accepts).await.iter().filter(|reply| reply.status == 200).count();
    assert_eq!(won, 1);
    let mut busy = 0;
    for person in &people {
        busy += person.calendar().await.len();
    }
    assert_eq!(busy, 2, "only the two who meet are busy");
}

#[tokio::test(flavor = "multi_thread")]
async fn people_with_an_open_meeting_see_each_others_free_and_busy_times() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    ada.connects_with(&bo).await;
    let thread = opened(&host, &[&ada, &bo]).await;
    assert!(!ada.may_see_time_of(&bo).await);
    let first = ada.proposes(&thread, &[0]).await;
    let second = bo.proposes(&thread, &[60]).await;
    assert!(ada.may_see_time_of(&bo).await && bo.may_see_time_of(&ada).await);
    bo.is_busy(240, 300).await;
    ada.is_busy(-2_880, 240).await;
    let offered = async || {
        let refused = ada.meet("propose", proposal(&thread, &[180])).await;
        refused.refused(409, "calendar_conflict");
        refused.body["conflict"]["free_alternatives"][0]["start"].clone()
    };
    // A person who may see the other's free and busy time is offered times at which both are free.
    assert_eq!(offered().await, json!(minute(300)));
    bo.met("decline", of(&first)).await;
    assert!(ada.may_see_time_of(&bo).await, "another meeting is open");
    ada.met("cancel", of(&second)).await;
    assert!(!ada.may_see_time_of(&bo).await && !bo.may_see_time_of(&ada).await);
    assert_eq!(offered().await, json!(minute(240)));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_cancels_a_meeting_without_disclosing_the_reason() {
    let host = host().await;
    let (ada, bo, cy) =
        (Person::new(&host).await, Person::new(&host).await, Person::new(&host).await);
    let (thread, other) = (opened(&host, &[&ada, &bo]).await, opened(&host, &[&ada, &cy]).await);
    let (blocked, away) = (ada.proposes(&thread, &[0]).await, ada.proposes(&other, &[60]).await);
    bo.accepts(&blocked, 0).await;
    cy.accepts(&away, 0).await;
    assert_eq!(ada.calendar().await, [minute(0), minute(60)]);
    bo.done("block", &ada.id).await;
    // The meeting is cancelled at once, before the event of the block is delivered.
    let seen = ada.looks(&blocked).await;
    assert_eq!((&seen["state"], &seen["allowed_actions"]), (&json!("cancelled"), &json!([])));
    ada.meet("cancel", of(&blocked)).await.refused(409, "invalid_transition");
    cy.agent().result(OWNERS, json!({ "action": "deactivate" })).await;
    let by_block = ada.is_told(&blocked, "meeting.cancelled").await;
    let by_absence = ada.is_told(&away, "meeting.cancelled").await;
    assert_eq!(by_block["actor"], json!({ "kind": "system" }));
    assert_eq!(by_block["reason"], "not_possible");
    let bare = |data: &Value, meeting: &Value, thread: &str| {
        let id = meeting["meeting_id"].as_str().unwrap();
        data.to_string().replace(id, "MEETING").replace(thread, "THREAD")
    };
    assert_eq!(bare(&by_block, &blocked, &thread), bare(&by_absence, &away, &other));
    // The event has the version that was shown before it.
    assert_eq!(by_block["resource"]["version"], seen["version"]);
    let now = [ada.looks(&blocked).await, ada.looks(&away).await];
    assert_eq!(now[0], seen);
    for field in ["state", "reason", "reason_text", "late", "sequence", "version"] {
        assert_eq!(now[0][field], now[1][field], "{field}");
    }
    assert_eq!((ada.calendar().await, bo.calendar().await), (vec![], vec![]));
    let proposed = [&thread, &other].map(|thread| ada.meet("propose", proposal(thread, &[0])));
    let [one, two] = proposed;
    let (one, two) = (one.await, two.await);
    one.refused(409, "recipient_not_accepting");
    assert_eq!(one.body, two.body);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_cancels_every_meeting_that_both_people_are_in() {
    let host = host().await;
    let (ada, bo, cy) =
        (Person::new(&host).await, Person::new(&host).await, Person::new(&host).await);
    let all = opened(&host, &[&ada, &bo, &cy]).await;
    let of_all = cy.proposes(&all, &[600]).await;
    let mut meetings = Vec::new();
    // These are more meetings than one run of the timer cancels.
    for thread in [opened(&host, &[&ada, &bo]).await, opened(&host, &[&ada, &bo]).await] {
        for number in 0..3 {
            meetings.push(ada.proposes(&thread, &[number * 60]).await);
        }
    }
    ada.done("block", &bo.id).await;
    for meeting in meetings.iter().chain([&of_all]) {
        bo.is_told(meeting, "meeting.cancelled").await;
    }
    assert_eq!(cy.looks(&of_all).await["state"], "cancelled");
    cy.meet("propose", proposal(&all, &[600])).await.refused(409, "recipient_not_accepting");
    for meeting in &meetings {
        assert_eq!(timers(&host, meeting).await, Vec::<String>::new());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_meeting_without_an_answer_in_time_expires() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread = opened(&host, &[&ada, &bo]).await;
    let mut asked = proposal(&thread, &[0]);
    asked["respond_by"] = json!(minute(-60));
    let (first, second) = (ada.met("propose", asked).await, ada.proposes(&thread, &[60]).await);
    // The timer finds that the meeting has not expired yet.
    due(&host, "expire/ID", &second).await;
    until("the timer has run", async || timers(&host, &second).await.is_empty()).await;
    assert_eq!(ada.looks(&second).await["state"], "proposed");
    answered_too_late(&host, &bo, &second).await;
    let sql = format!(
        "UPDATE documents SET body = json_replace(body, '$.respond_by', 1) WHERE id = {}",
        first["meeting_id"].to_string().replace('"', "'")
    );
    assert_eq!(host.database().execute(&sql).await, 1);
    due(&host, "expire/ID", &first).await;
    for person in [&ada, &bo] {
        let data = person.is_told(&first, "meeting.expired").await;
        assert_eq!(data["reason"], "no_answer");
        assert_eq!(person.looks(&first).await["state"], "expired");
    }
}

async fn answered_too_late(host: &Host, person: &Person<'_>, meeting: &Value) {
    begins_in(host, meeting, -60).await;
    let seen = person.looks(meeting).await;
    assert_eq!(seen["slots"][0]["state"], "passed");
    person.accept(&seen, 0).await.refused(400, "slot_in_past");
}

#[tokio::test(flavor = "multi_thread")]
async fn participants_are_reminded_and_a_meeting_completes_by_itself() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread = opened(&host, &[&ada, &bo]).await;
    let meeting = ada.proposes(&thread, &[0]).await;
    bo.accepts(&meeting, 0).await;
    let names = timers(&host, &meeting).await;
    assert_eq!(names.len(), 3, "{names:?}");
    let report = |outcome: &str| json!({ "meeting_id": meeting["meeting_id"], "outcome": outcome });
    bo.meet("report_outcome", report("no_show")).await.refused(409, "invalid_transition");
    // The meeting is not near yet, so the timer sends no reminder.
    due(&host, "remind/ID/24", &meeting).await;
    until("the timer has run", async || timers(&host, &meeting).await.len() == 2).await;
    begins_in(&host, &meeting, 30).await;
    due(&host, "remind/ID/1", &meeting).await;
    for person in [&ada, &bo] {
        assert_eq!(person.is_told(&meeting, "meeting.reminder").await["hours"], 1);
        let told = person.told_types(&meeting).await;
        assert_eq!(told.iter().filter(|event_type| *event_type == "meeting.reminder").count(), 1);
    }
    begins_in(&host, &meeting, -10).await;
    let reported = bo.met("report_outcome", report("other_no_show")).await;
    assert_eq!(
        (&reported["state"], &reported["your_report"]),
        (&json!("confirmed"), &json!("other_no_show"))
    );
    assert!(ada.looks(&meeting).await["your_report"].is_null());
    begins_in(&host, &meeting, -60).await;
    due(&host, "finish/ID", &meeting).await;
    for person in [&ada, &bo] {
        let data = person.is_told(&meeting, "meeting.completed").await;
        assert_eq!(
            (&data["resource"]["state"], &data["actor"]["kind"]),
            (&json!("no_show"), &json!("system"))
        );
    }
    // A report can be corrected.
    let corrected = bo.met("report_outcome", report("completed")).await;
    assert_eq!(corrected["state"], "completed");
    let allowed = ada.looks(&meeting).await["allowed_actions"].clone();
    assert_eq!(allowed, json!(["report_outcome"]));
    begins_in(&host, &meeting, -31 * 1_440).await;
    ada.meet("report_outcome", report("no_show")).await.refused(409, "invalid_transition");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cancellation_within_two_hours_of_the_start_is_late() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread = opened(&host, &[&ada, &bo]).await;
    for (minutes, late) in [(2_880, false), (180, false), (100, true), (-10, true)] {
        let meeting = ada.proposes(&thread, &[0]).await;
        bo.accepts(&meeting, 0).await;
        begins_in(&host, &meeting, minutes).await;
        let reason = "Something came up.";
        let cancel = json!({ "meeting_id": meeting["meeting_id"], "reason": reason });
        let cancelled = bo.met("cancel", cancel).await;
        assert_eq!((&cancelled["state"], &cancelled["late"]), (&json!("cancelled"), &json!(late)));
        let (event, data) = ada.told_of(&meeting).await.pop().unwrap();
        assert_eq!((event.as_str(), &data["late"]), ("meeting.cancelled", &json!(late)));
        assert_eq!(data["reason"], "by_participant");
        assert_eq!(ada.looks(&meeting).await["reason_text"], reason);
        assert_eq!(bo.told_types(&meeting).await.last().unwrap(), "meeting.confirmed");
        assert_eq!((ada.calendar().await, bo.calendar().await), (vec![], vec![]));
        assert_eq!(timers(&host, &meeting).await, Vec::<String>::new());
    }
    // The cancellation of a meeting that is not confirmed is never late.
    let meeting = ada.proposes(&thread, &[0]).await;
    let old =
        json!({ "meeting_id": meeting["meeting_id"], "slots": [slot(60)], "expected_version": 9 });
    let refused = bo.meet("counter", old).await;
    refused.refused(409, "version_conflict");
    assert_eq!(refused.body["conflict"]["current"]["state"], "proposed");
    assert_eq!(ada.met("cancel", of(&meeting)).await["late"], false);
}
