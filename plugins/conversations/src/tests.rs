//! The information that senders get about the others, and the rest of a retracted message, in a
//! world without other capabilities.

use crate::{Conversations, documents::*, states::Membership};
use people_kit::{delivery, people, relations, threads::ThreadState};
use portolan_sdk::{
    prelude::*,
    test::{self, World},
};

const NOW: u64 = 1_800_000_000_000;
const ADA: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const BO: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X4";
const THREAD: &str = "thr_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const PAIRING: &str = "pair_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const TEXT: &str = "A secret that is taken back.";

/// Returns a world in which two people talk; Bo has an agent or not, and accepts messages or not.
fn world(has_agent: bool, contact_policy: &str) -> World {
    let person = |owner_id: &str, has_agent: bool, contact_policy: &str| {
        json!({
            "owner_id": owner_id, "display_name": null, "active": true, "has_agent": has_agent,
            "contact_policy": contact_policy, "age_at_least": null,
        })
    };
    let people = [person(ADA, true, "anyone_matching"), person(BO, has_agent, contact_policy)];
    let member = |owner_id: &str| Member {
        owner_id: owner_id.into(),
        membership: Membership::Joined,
        ..Member::default()
    };
    let thread = Thread {
        pairing_id: PAIRING.into(),
        generation: 0,
        category: None,
        state: ThreadState::Open,
        members: vec![member(ADA), member(BO)],
        last_seq: 0,
        last_message_id: None,
        contact_exchanged: false,
        active_at: NOW,
        close_reason: None,
    };
    let seat = |owner_id: &str| Seat::new(THREAD, owner_id, NOW);
    test::world()
        .of::<Conversations>()
        .at(NOW)
        .answer(people::PEOPLE, json!({ "people": people }))
        .answer(relations::HIDDEN, json!({ "owner_ids": [] }))
        .answer(relations::RELATE, ())
        .answer(delivery::MUTE, ())
        .document(THREADS, THREAD, &thread)
        .document(SEATS, &seat_id(THREAD, ADA), &seat(ADA))
        .document(SEATS, &seat_id(THREAD, BO), &seat(BO))
        .owner(ADA)
}

fn send() -> Value {
    json!({ "thread_id": THREAD, "text": TEXT })
}

#[test]
fn a_message_to_somebody_without_an_agent_is_stored_and_its_answer_says_so() {
    for has_agent in [true, false] {
        let mut world = world(has_agent, "anyone_matching");
        let sent = world.call("send", &send()).unwrap();
        assert_eq!((&sent["counterpart_reachable"], &sent["seq"]), (&json!(has_agent), &json!(1)));
        let thread = world.call("get", &json!({ "thread_id": THREAD })).unwrap();
        assert_eq!(thread["counterpart_reachable"], has_agent);
        assert_eq!(world.documents(MESSAGES).len(), 1);
    }
}

#[test]
fn a_frozen_conversation_does_not_say_whether_the_others_have_an_agent() {
    for has_agent in [true, false] {
        let mut world = world(has_agent, "paused");
        let thread = world.call("get", &json!({ "thread_id": THREAD })).unwrap();
        assert_eq!(
            (&thread["state"], &thread["counterpart_reachable"]),
            (&json!("frozen"), &json!(false))
        );
    }
}

#[test]
fn a_retracted_text_is_in_no_event_and_no_document() {
    let mut world = world(true, "anyone_matching");
    let sent = world.call("send", &send()).unwrap();
    world.call("retract", &json!({ "message_id": sent["message_id"] })).unwrap();
    let mut world = world.owner(BO);
    let read = world.call("messages", &json!({ "thread_id": THREAD })).unwrap();
    assert_eq!(
        (&read["items"][0]["text"], &read["items"][0]["state"]),
        (&Value::Null, &json!("retracted"))
    );
    assert_eq!(world.events().len(), 2);
    assert!(world.events().iter().all(|event| !event.data.to_string().contains(TEXT)));
    assert!(world.documents(MESSAGES).iter().all(|message| message.value.text.is_none()));
}

#[test]
fn a_message_whose_sender_was_erased_has_no_text() {
    let erased = Message {
        thread_id: THREAD.into(),
        seq: 1,
        owner_id: BO.into(),
        text: Some(String::new()),
        ..Message::default()
    };
    let mut world = world(true, "anyone_matching").document(
        MESSAGES,
        "msg_01JZX8Q4M2N6P7R8S9T0V1W2X3",
        &erased,
    );
    let read = world.call("messages", &json!({ "thread_id": THREAD })).unwrap();
    assert_eq!(read["items"][0]["text"], Value::Null);
}

#[test]
fn messages_may_contain_contact_data_once_it_is_allowed() {
    let text = json!({ "thread_id": THREAD, "text": "Mail me: a@mail.example" });
    let mut world = world(true, "anyone_matching");
    assert_eq!(world.call("send", &text).unwrap_err().code, "contact_in_text");
    let mut world = world.system();
    world.call("allow_contact_data", &json!({ "thread_id": THREAD })).unwrap();
    let mut world = world.owner(ADA);
    world.call("send", &text).unwrap();
}

#[test]
fn capabilities_get_the_end_of_a_muted_conversation() {
    let mut world = world(true, "anyone_matching");
    world.call("mute", &json!({ "thread_id": THREAD })).unwrap();
    let mut world = world.owner(BO);
    world.call("close", &json!({ "thread_id": THREAD })).unwrap();
    let mut events = world.events();
    events.retain(|event| matches!(event.to, Audience::Capabilities));
    let [event] = events.as_slice() else { panic!("{events:#?}") };
    assert_eq!(event.data["pairing_id"], PAIRING);
}

#[test]
fn a_closed_conversation_is_replaced_only_on_request() {
    let open = |replace_closed: bool| {
        let participants = [ADA, BO].map(|owner_id| json!({ "owner_id": owner_id }));
        json!({
            "pairing_id": PAIRING, "participants": participants, "replace_closed": replace_closed,
        })
    };
    let mut world = world(true, "anyone_matching");
    assert_eq!(world.call("open", &open(true)).unwrap()["thread_id"], THREAD);
    world.call("close", &json!({ "thread_id": THREAD })).unwrap();
    assert_eq!(world.call("open", &open(false)).unwrap()["thread_id"], THREAD);
    let replaced = world.call("open", &open(true)).unwrap()["thread_id"].clone();
    assert_ne!(replaced, THREAD);
    assert_eq!(world.call("open", &open(true)).unwrap()["thread_id"], replaced);
    let thread = world.call("get", &json!({ "thread_id": replaced })).unwrap();
    assert_eq!((&thread["state"], &thread["pairing_id"]), (&json!("open"), &json!(PAIRING)));
}
