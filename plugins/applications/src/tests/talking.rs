//! The conversation of an application: when it is replaced, and what follows from an erasure.

use super::*;

/// Returns a world in which Ben has invited Ada, and the application.
fn invited(acting: &[&str]) -> (World, Value) {
    let mut applicant = world(acting);
    let sent = apply(&mut applicant).unwrap();
    let mut recipient = applicant.owner(BEN);
    recipient.call("decide", &of(&sent, json!({ "decision": "invite" }))).unwrap();
    (recipient, sent)
}

fn happened(event_type: &str, data: Value) -> Value {
    json!({ "id": "evt_1", "event_type": event_type, "subject": "x", "data": data })
}

/// Returns the inputs of the calls that opened conversations.
fn opened(world: &World) -> Vec<Value> {
    let asked = world.asked().into_iter().filter(|asked| asked.action == "open");
    asked.map(|asked| asked.input).collect()
}

/// Runs the comparison with the people of the application.
fn check(world: &mut World) {
    let timer = world.timers().into_iter().find(|timer| timer.action == "check").unwrap();
    world.call("check", &timer.input).unwrap();
}

#[test]
fn a_closed_conversation_is_replaced_by_a_recipient() {
    let (mut recipient, sent) = invited(&[BEN]);
    let reopen = of(&sent, json!({}));
    assert_eq!(recipient.call("reopen_conversation", &reopen).unwrap_err().code, "thread_open");
    let allow = of(&sent, json!({ "allow": true }));
    recipient.call("exchange_contact", &allow).unwrap();

    let closed = json!({ "thread_id": "thr_1", "pairing_id": sent["application_id"] });
    let mut world = carry(&recipient, world_talking(&[BEN], &[], &thread("closed", NOW))).system();
    world.call("on_thread_closed", &happened("conversation.closed", closed)).unwrap();
    let mut applicant = world.owner(ADA);
    let read = applicant.call("get", &reopen).unwrap();
    assert_eq!(
        (&read["conversation_closed"], &read["allowed_actions"]),
        (&json!(true), &json!(["withdraw"]))
    );
    assert_eq!(applicant.call("reopen_conversation", &reopen).unwrap_err().code, "not_permitted");
    assert_eq!(applicant.call("exchange_contact", &allow).unwrap_err().code, "thread_closed");

    let mut recipient = applicant.owner(BEN);
    let read = recipient.call("get", &reopen).unwrap();
    assert_eq!(read["allowed_actions"], json!(["decide", "reopen_conversation"]));
    let again = recipient.call("reopen_conversation", &reopen).unwrap();
    assert_eq!(
        (&again["conversation_closed"], &again["contact"]),
        (&json!(false), &json!({ "mine": false, "theirs": false }))
    );
    assert_eq!(opened(&recipient)[0]["replace_closed"], true);
    assert_eq!(events(&recipient), [event("conversation_reopened", ADA)]);
}

#[test]
fn whoever_decides_after_a_member_left_talks_in_a_new_conversation() {
    let (recipient, sent) = invited(&[BEN, CLEO]);
    let mut world = carry(&recipient, world(&[CLEO])).system();
    let left = json!({ "org_id": "org_1", "owner_id": BEN });
    world.call("on_member_changed", &happened("org.member_changed", left)).unwrap();
    check(&mut world);
    let ended = world.asked().into_iter().find(|asked| asked.action == "end").unwrap();
    assert_eq!(ended.input["reason"], "member_left");

    let mut colleague = world.owner(CLEO);
    let read = colleague.call("get", &of(&sent, json!({}))).unwrap();
    assert_eq!(read["conversation_closed"], true);
    let offered = colleague.call("decide", &of(&sent, json!({ "decision": "offer" }))).unwrap();
    assert_eq!(
        (&offered["state"], &offered["conversation_closed"]),
        (&json!("offered"), &json!(false))
    );
    let people = opened(&colleague)[0]["participants"].clone();
    assert_eq!((&people[0]["owner_id"], &people[1]["owner_id"]), (&json!(ADA), &json!(CLEO)));
}

#[test]
fn a_colleague_who_takes_part_becomes_the_contact() {
    let (recipient, _) = invited(&[BEN, CLEO]);
    let mut talking = thread("open", NOW);
    talking["participants"] = json!([ADA, CLEO]);
    let next = world_talking(&[CLEO], &[], &talking);
    let mut application = recipient.documents(APPLICATIONS).remove(0);
    application.value.contact.recipient = true;
    let mut world = next.document(APPLICATIONS, &application.id, &application.value).system();
    let input = json!({ "application_id": application.id, "thread_id": "thr_1" });
    for _ in 0..2 {
        world.call("check", &input).unwrap();
    }
    let checked = world.documents(APPLICATIONS).remove(0);
    assert_eq!(checked.value.contact_id.as_deref(), Some(CLEO));
    assert!(!checked.value.contact.recipient && !checked.value.thread_closed);
    assert_eq!(checked.revision, application.revision.min(1) + 1, "only a change is saved");
}

/// Returns the conversations of which other capabilities are told that a person is gone.
fn gone(world: &World) -> Vec<Value> {
    let gone = world.events().into_iter().filter(|event| {
        event.event_type == "application.person_gone" && matches!(event.to, Audience::Capabilities)
    });
    gone.map(|event| event.data["thread_id"].clone()).collect()
}

#[test]
fn other_capabilities_are_told_that_a_person_of_the_conversation_is_gone() {
    let (recipient, sent) = invited(&[BEN]);
    let input = json!({ "application_id": sent["application_id"], "thread_id": "thr_1" });
    // An erased applicant's application is deleted.
    let mut without_applicant = world(&[BEN]).system();
    without_applicant.call("check", &input).unwrap();
    assert_eq!(gone(&without_applicant), ["thr_1"]);
    assert!(without_applicant.timers().is_empty());

    let mut unchanged = carry(&recipient, world(&[BEN])).system();
    unchanged.call("check", &input).unwrap();
    assert!(unchanged.events().is_empty());
    assert_eq!(unchanged.timers().len(), 1);

    let without_ben = world_of_people(&[BEN], &[], &thread("open", NOW), &[ADA]);
    let mut without_ben = carry(&recipient, without_ben).system();
    without_ben.call("check", &input).unwrap();
    assert_eq!(gone(&without_ben), ["thr_1"]);
    assert_eq!(events(&without_ben).last(), Some(&event("cancelled", ADA)));
    assert_eq!(without_ben.documents(APPLICATIONS)[0].value.state.name(), "cancelled");
}
