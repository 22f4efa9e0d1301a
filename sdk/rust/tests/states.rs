//! The answers and faults of a table of states.

use portolan_sdk::prelude::*;

#[derive(Debug, Clone, Copy, PartialEq, States)]
enum State {
    Proposed,
    Clarifying,
    Accepted,
    Expired,
}

use State::{Accepted, Clarifying, Expired, Proposed};

const OPEN: &[State] = &[Proposed, Clarifying];

const PAIRING: Machine<State> = Machine::new(
    "pairing",
    &[
        Transition::new("propose", &[], &[Proposed]),
        Transition::new("reply", OPEN, &[Accepted, Clarifying]).by("recipient"),
        Transition::new("withdraw", OPEN, &[Expired]).by("proposer"),
        Transition::new("read", State::ALL, &[]),
        Transition::internal("expire", OPEN, &[Expired]),
    ],
)
.read_by("pairings", "get", "pairing_id");

#[test]
fn each_side_has_its_own_actions_and_nobody_those_of_timers() {
    assert_eq!(PAIRING.allowed(Proposed), ["reply", "withdraw", "read"]);
    assert_eq!(PAIRING.allowed_as("recipient", Proposed), ["reply", "read"]);
    assert_eq!(PAIRING.allowed_as("proposer", Proposed), ["withdraw", "read"]);
    assert_eq!(PAIRING.allowed(Accepted), ["read"]);
}

#[test]
fn a_step_leads_where_the_table_says() {
    assert_eq!(PAIRING.step("p", Proposed, "withdraw").unwrap(), Expired);
    assert_eq!(PAIRING.step("p", Accepted, "read").unwrap(), Accepted);
    assert_eq!(PAIRING.step_to("p", Proposed, "reply", Clarifying).unwrap(), Clarifying);
    assert_eq!(PAIRING.step_to("p", Accepted, "read", Accepted).unwrap(), Accepted);
    assert!(PAIRING.step_to("p", Proposed, "reply", Expired).is_err());
}

#[test]
fn what_is_not_in_the_table_is_refused_with_the_way_on() {
    let refusal = PAIRING.step("pair_1", Expired, "reply").unwrap_err();
    assert_eq!(refusal.code, "invalid_transition");
    assert_eq!(
        portolan_sdk::to_json(&refusal.conflict),
        r#"{"kind":"state","current":"expired","allowed_actions":["read"]}"#
    );
    assert_eq!(
        portolan_sdk::to_json(&refusal.next),
        r#"{"capability":"pairings","input":{"action":"get","pairing_id":"pair_1"}}"#
    );
}

#[test]
fn a_table_tells_its_faults() {
    assert_eq!(PAIRING.faults(), [""; 0]);
}

#[test]
fn a_broken_table_does_too() {
    const BROKEN: Machine<State> = Machine::new(
        "broken",
        &[
            Transition::new("begin", &[], &[Proposed, Clarifying, Accepted]),
            Transition::new("end", OPEN, &[]),
            Transition::new("end", &[Clarifying], &[Accepted]),
        ],
    );
    assert_eq!(
        BROKEN.faults(),
        ["broken: end is listed twice for clarifying", "broken: no transition leads to expired"]
    );
}
