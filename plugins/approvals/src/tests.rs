//! Tests in a world: what waits, what is bounded, and what the host is told.

use crate::{Approvals, documents::*, policy::for_host, states::*, types::*};
use portolan_sdk::{CATEGORIES, States, prelude::*, test};

const OWNER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X5";
/// Two agents of the owner, which make calls in turn.
const AGENTS: [&str; 2] = ["agt_01JZX8Q4M2N6P7R8S9T0V1W2X6", "agt_01JZX8Q4M2N6P7R8S9T0V1W2X7"];

fn hold(number: usize, bytes: usize) -> Hold {
    Hold {
        owner_id: OWNER.into(),
        agent_id: AGENTS[number % AGENTS.len()].into(),
        agent_name: None,
        capability: "pay".into(),
        capability_title: "Pay".into(),
        action_name: "send".into(),
        action_title: "Send".into(),
        digest: format!("digest-{number}"),
        reason: Reason::Amount,
        category: Some("payment".into()),
        input: "x".repeat(bytes),
        covers: Vec::new(),
        people: Vec::new(),
        call: "{}".into(),
        after: None,
    }
}

#[test]
fn the_categories_are_those_of_the_host() {
    let own: Vec<_> = Category::ALL.iter().map(|category| json!(category)).collect();
    let names: Vec<_> = CATEGORIES.iter().map(|category| json!(category.name)).collect();
    assert_eq!(own, names);
}

#[test]
fn the_same_call_waits_once() {
    let mut world = test::world().of::<Approvals>();
    let first = world.run(|call| Approvals::hold(call, hold(1, 10))).unwrap();
    let again = world.run(|call| Approvals::hold(call, hold(1, 10))).unwrap();
    assert_eq!(first.approval_id, again.approval_id);
    let other = world.run(|call| Approvals::hold(call, hold(2, 10))).unwrap();
    assert_ne!(first.approval_id, other.approval_id);
    assert_eq!(world.documents(CALLS).len(), 2);
    assert_eq!(world.timers().len(), 2);
}

#[test]
fn what_waits_is_bounded_in_number_and_bytes() {
    let mut world = test::world().of::<Approvals>();
    let refusal = world.run(|call| Approvals::hold(call, hold(0, CALL_BYTES))).unwrap_err();
    assert_eq!(refusal.code, "quota_exceeded");
    for number in 0..MOST_WAITING {
        world.run(|call| Approvals::hold(call, hold(number, 10))).unwrap();
    }
    let refusal = world.run(|call| Approvals::hold(call, hold(99, 10))).unwrap_err();
    assert_eq!(refusal.code, "quota_exceeded");
    let mut world = test::world().of::<Approvals>();
    let fitting = WAITING_BYTES / (CALL_BYTES - 10);
    for number in 0..fitting {
        world.run(|call| Approvals::hold(call, hold(number, CALL_BYTES - 10))).unwrap();
    }
    let refusal = world.run(|call| Approvals::hold(call, hold(99, CALL_BYTES - 10))).unwrap_err();
    assert_eq!(refusal.code, "quota_exceeded");
}

#[test]
fn an_outcome_is_kept_once_and_forgotten_later() {
    let mut world = test::world().of::<Approvals>();
    let held = world.run(|call| Approvals::hold(call, hold(1, 10))).unwrap();
    let id = held.approval_id;
    let told = |code: Option<&str>| Executed {
        approval_id: id.clone(),
        state: if code.is_none() { Ending::Done } else { Ending::Failed },
        code: code.map(Into::into),
        message: None,
        output: Some("{}".into()),
        people: Vec::new(),
        waiting: None,
    };
    // Nobody has approved it.
    world.run(|call| Approvals::executed(call, told(None))).unwrap();
    let stored = |world: &test::World| world.get(CALLS, &id).unwrap().value;
    assert_eq!(stored(&world).state, State::Waiting);
    let mut approved = stored(&world);
    approved.state = State::Approved;
    let mut world = world.document(CALLS, &id, &approved);
    world.run(|call| Approvals::executed(call, told(None))).unwrap();
    world.run(|call| Approvals::executed(call, told(Some("not_found")))).unwrap();
    assert_eq!(stored(&world).state, State::Done);
    // The person sees what was made; the host needs it no more.
    assert_eq!((stored(&world).input.len(), &*stored(&world).call), (10, ""));
    assert_eq!(world.get(BOOKS, OWNER).unwrap().value.waiting.len(), 0);
    let due = ApprovalId { approval_id: serde_json::from_value(json!(id)).unwrap() };
    world.run(|call| Approvals::due(call, due)).unwrap();
    assert!(world.get(CALLS, &id).is_none());
}

#[test]
fn one_agent_leaves_room_to_the_others() {
    let mut world = test::world().of::<Approvals>();
    for number in 0..MOST_OF_AGENT {
        world.run(|call| Approvals::hold(call, hold(2 * number, 10))).unwrap();
    }
    let refusal = world.run(|call| Approvals::hold(call, hold(200, 10))).unwrap_err();
    assert_eq!(refusal.code, "quota_exceeded");
    world.run(|call| Approvals::hold(call, hold(201, 10))).unwrap();
}

#[test]
fn of_calls_that_are_cancelled_little_is_kept() {
    let mut world = test::world().of::<Approvals>().owner(OWNER);
    let who = |call: &Call| -> crate::refusals::Result<String> {
        Ok(call.require_agent()?.agent_id.clone())
    };
    let agent_id = world.run(who).unwrap();
    let mut ids = Vec::new();
    for number in 0..=MOST_UNDECIDED {
        let covered =
            Covered { capability: "pay".into(), action: "send".into(), input: "{}".into() };
        let made = Hold { agent_id: agent_id.clone(), covers: vec![covered], ..hold(number, 10) };
        let id = world.run(|call| Approvals::hold(call, made)).unwrap().approval_id;
        let approval_id = serde_json::from_value(json!(id)).unwrap();
        let cancel = Decide { approval_id, expected_version: None };
        let view = world.run(|call| Approvals::cancel(call, cancel)).unwrap();
        assert_eq!((view.state, &*view.input, view.also), (State::Cancelled, "", None));
        ids.push(id);
    }
    // The oldest one is forgotten, with its timer.
    assert!(world.get(CALLS, &ids[0]).is_none());
    assert_eq!(world.documents(CALLS).len(), MOST_UNDECIDED);
    assert_eq!(world.timers().len(), MOST_UNDECIDED);
    assert_eq!(world.get(CALLS, &ids[1]).unwrap().value.call, "");
    let due = ApprovalId { approval_id: serde_json::from_value(json!(ids[1])).unwrap() };
    world.run(|call| Approvals::due(call, due)).unwrap();
    assert!(world.get(CALLS, &ids[1]).is_none());
    assert_eq!(world.get(BOOKS, OWNER).unwrap().value.undecided, ids[2..]);
}

#[test]
fn of_a_call_that_expires_the_inputs_are_not_kept() {
    let mut world = test::world().of::<Approvals>();
    let id = world.run(|call| Approvals::hold(call, hold(1, 10))).unwrap().approval_id;
    world.advance(u64::from(WAITS_HOURS) * HOUR);
    let due = ApprovalId { approval_id: serde_json::from_value(json!(id)).unwrap() };
    world.run(|call| Approvals::due(call, due)).unwrap();
    let ended = world.get(CALLS, &id).unwrap().value;
    assert_eq!((ended.state, &*ended.input, &*ended.call), (State::Expired, "", ""));
}

#[test]
fn the_host_is_told_what_limits_and_nothing_else() {
    let told = |policy: &Policy| {
        for_host(policy).map(|text| serde_json::from_str::<Value>(&text).unwrap())
    };
    assert_eq!(told(&Policy::default()), None);
    let known = Policy { known: vec!["own_1".into()], ..Policy::default() };
    assert_eq!(told(&known), None, "a person who is known limits nothing");
    let hours = Hours { from: "08:30".into(), to: "20:00".into(), time_zone: "UTC".into() };
    let policy = Policy {
        alone: Some(vec![Category::Own]),
        max_amount: Some(5),
        hours: Some(hours),
        ..Policy::default()
    };
    assert_eq!(
        told(&policy).unwrap(),
        json!({
            "alone": ["own"], "ask_first_contact": false,
            "most": { "amount": 5, "currency": "credits" },
            "hours": { "from": 510, "to": 1200, "time_zone": "UTC" },
            "always_ask": [], "known": [],
        })
    );
}

#[test]
fn every_end_is_told_in_a_sentence() {
    for state in State::ALL {
        let is_end = APPROVAL.allowed(*state).is_empty() && *state != State::Approved;
        let has_sentence = crate::deciding::has_summary(*state);
        assert_eq!(is_end, has_sentence, "{state:?}");
    }
}

#[test]
fn a_call_that_needs_more_than_its_approval_waits_in_turn() {
    let mut world = test::world().of::<Approvals>();
    let first = world.run(|call| Approvals::hold(call, hold(1, 10))).unwrap();
    let in_turn = || Hold { after: Some(first.approval_id.clone()), ..hold(1, 10) };
    let second = world.run(|call| Approvals::hold(call, in_turn())).unwrap();
    assert_ne!(first.approval_id, second.approval_id);
    let again = world.run(|call| Approvals::hold(call, in_turn())).unwrap();
    assert_eq!(again.approval_id, second.approval_id);
}

#[test]
fn calls_that_are_gone_take_no_room() {
    let mut world = test::world().of::<Approvals>();
    let mut ids = Vec::new();
    for number in 0..MOST_WAITING {
        let held = world.run(|call| Approvals::hold(call, hold(number, 10))).unwrap();
        ids.push(held.approval_id);
    }
    // Such as one that named somebody who was erased.
    let gone =
        |_: &Call| -> crate::refusals::Result<()> { Ok(CALLS.delete(&ids[0], Expect::Any)?) };
    world.run(gone).unwrap();
    world.run(|call| Approvals::hold(call, hold(99, 10))).unwrap();
    assert_eq!(world.get(BOOKS, OWNER).unwrap().value.waiting.len(), MOST_WAITING);
}

#[test]
fn the_inputs_of_nested_calls_count_too() {
    let mut world = test::world().of::<Approvals>();
    let covered =
        Covered { capability: "pay".into(), action: "send".into(), input: "x".repeat(CALL_BYTES) };
    let large = Hold { covers: vec![covered], ..hold(1, 10) };
    let refusal = world.run(|call| Approvals::hold(call, large)).unwrap_err();
    assert_eq!(refusal.code, "quota_exceeded");
}

#[test]
fn an_outcome_that_is_never_told_is_unknown() {
    let mut world = test::world().of::<Approvals>();
    let id = world.run(|call| Approvals::hold(call, hold(1, 10))).unwrap().approval_id;
    let mut approved = world.get(CALLS, &id).unwrap().value;
    approved.state = State::Approved;
    let mut world = world.document(CALLS, &id, &approved);
    let due = ApprovalId { approval_id: serde_json::from_value(json!(id)).unwrap() };
    world.run(|call| Approvals::due(call, due)).unwrap();
    let ended = world.get(CALLS, &id).unwrap().value;
    assert_eq!(ended.state, State::Failed);
    let outcome = ended.outcome.unwrap();
    assert!(outcome.message.unwrap().contains("outcome is unknown"));
    assert_eq!(world.get(BOOKS, OWNER).unwrap().value.waiting.len(), 0);
}
