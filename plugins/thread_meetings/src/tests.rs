//! Meetings of organisations whose members leave, in a world without other capabilities.

use crate::{ThreadMeetings, documents::*, states::*};
use people_kit::{calendar, organisations, people, relations};
use portolan_sdk::{
    prelude::*,
    test::{self, World},
};

const NOW: u64 = 1_800_000_000_000;
const ENO: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X1";
const ABE: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X2";
const ORLA: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const RUTH: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X4";
const OFFICE: &str = "org_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const MEETING_ID: &str = "mtg_01JZX8Q4M2N6P7R8S9T0V1W2X3";

/// Returns a meeting of Eno with Abe, who represents an organisation.
fn meeting(state: State) -> Meeting {
    let slot = Slot { slot_id: "slot_1".into(), start: NOW + DAY, end: NOW + DAY + HOUR };
    let participant = |owner_id: &str| Participant::new(owner_id.into(), Participation::Accepted);
    let of_office = Participant { org_id: Some(OFFICE.into()), ..participant(ABE) };
    Meeting {
        thread_id: "thr_01JZX8Q4M2N6P7R8S9T0V1W2X3".into(),
        organizer: ENO.into(),
        proposed_by: ENO.into(),
        time_zone: "Europe/Berlin".into(),
        state,
        participants: vec![participant(ENO), of_office],
        chosen: (state == State::Confirmed).then(|| slot.clone()),
        slots: vec![slot],
        ..Meeting::default()
    }
}

/// Returns a world in which these people act for the organisation, and all are active.
fn world(acting: &[&str], meeting: &Meeting) -> World {
    let person = |owner_id: &str| json!({ "owner_id": owner_id, "active": owner_id != ABE, "contact_policy": "anyone_matching" });
    let people = [ENO, ABE, ORLA, RUTH].map(person);
    test::world()
        .of::<ThreadMeetings>()
        .system()
        .at(NOW)
        .answer(organisations::ACTING_MEMBERS, json!({ "org_id": OFFICE, "owner_ids": acting }))
        .answer(people::PEOPLE, json!({ "people": people }))
        .answer(relations::HIDDEN, json!({ "owner_ids": [] }))
        .answer(relations::RELATE, json!({}))
        .answer(calendar::RELEASE, json!({}))
        .answer(calendar::ALTERNATIVES, json!({ "slots": [] }))
        .document(MEETINGS, MEETING_ID, meeting)
}

fn taken() -> Refusal {
    Refusal { code: "slot_taken".into(), ..Refusal::common(ErrorCode::InvalidTransition, "Taken.") }
}

fn left() -> Value {
    let data = json!({ "org_id": OFFICE, "owner_id": ABE });
    json!({ "id": "evt_1", "event_type": "org.member_changed", "subject": "x/y", "data": data })
}

/// Returns the types of the events, each with the person who gets it.
fn told(world: &World) -> Vec<(String, String)> {
    let events = world.events().into_iter();
    events
        .map(|event| match event.to {
            Audience::Owner(owner_id) => (event.event_type, owner_id),
            other => panic!("{other:?}"),
        })
        .collect()
}

fn tell(event_type: &str, people: &[&str]) -> Vec<(String, String)> {
    people.iter().map(|owner_id| (event_type.to_owned(), (*owner_id).to_owned())).collect()
}

fn stored(world: &World) -> Meeting {
    world.get(MEETINGS, MEETING_ID).unwrap().value
}

#[test]
fn the_member_who_takes_over_is_told_and_has_not_accepted() {
    for state in [State::Proposed, State::Confirmed] {
        let mut world = world(&[ORLA, RUTH], &meeting(state)).answer(calendar::RESERVE, json!({}));
        world.call("on_member_changed", &left()).unwrap();
        let after = stored(&world);
        assert_eq!(after.state, state);
        let heir = after.participant(ORLA).unwrap();
        assert_eq!(heir.status, Participation::NeedsAction);
        assert_eq!(after.participant(ENO).unwrap().status, Participation::Accepted);
        assert_eq!(told(&world), tell("meeting.participant_changed", &[ORLA, ENO, RUTH]));
        assert_eq!(world.events()[1].data["attends"], ORLA);
        world.call("on_member_changed", &left()).unwrap();
        assert_eq!(told(&world).len(), 3, "everybody is told once");
    }
}

#[test]
fn a_meeting_that_no_other_member_can_attend_is_cancelled() {
    let busy = meeting(State::Confirmed);
    let mut world = world(&[ORLA, RUTH], &busy).refuse(calendar::RESERVE, taken());
    world.call("on_member_changed", &left()).unwrap();
    let after = stored(&world);
    assert_eq!((after.state, after.reason), (State::Cancelled, Some(Reason::NotPossible)));
    assert!(told(&world).iter().all(|(event_type, _)| event_type == "meeting.cancelled"));
    assert!(world.asked().iter().any(|asked| asked.action == "release"));

    let mut world = self::world(&[], &meeting(State::Proposed));
    world.call("on_member_changed", &left()).unwrap();
    assert_eq!(stored(&world).state, State::Cancelled);
}

#[test]
fn a_meeting_of_an_organisation_outlives_the_deactivation_of_its_member() {
    let mut world =
        world(&[ABE, ORLA], &meeting(State::Confirmed)).answer(calendar::RESERVE, json!({}));
    let subject = format!("owners/{ABE}");
    let gone =
        json!({ "id": "evt_1", "event_type": "owner.deactivated", "subject": subject, "data": {} });
    world.call("on_owner_deactivated", &gone).unwrap();
    assert!(stored(&world).participant(ORLA).is_some());
    assert!(told(&world).contains(&("meeting.participant_changed".into(), ENO.into())));
}

#[test]
fn the_meetings_of_a_person_who_is_deactivated_end_and_stay_ended() {
    let mut private = meeting(State::Confirmed);
    private.participants[1].org_id = None;
    let mut world = world(&[], &private);
    let subject = format!("owners/{ABE}");
    let gone =
        json!({ "id": "evt_1", "event_type": "owner.deactivated", "subject": subject, "data": {} });
    for _ in 0..2 {
        world.call("on_owner_deactivated", &gone).unwrap();
        assert_eq!(told(&world), tell("meeting.cancelled", &[ENO, ABE]));
        assert_eq!(stored(&world).state, State::Cancelled);
    }
}

#[test]
fn the_meetings_of_an_archived_organisation_are_cancelled() {
    let mut world = world(&[], &meeting(State::Confirmed));
    let archived = json!({ "id": "evt_1", "event_type": "org.archived", "subject": "x/y", "data": { "org_id": OFFICE } });
    world.call("on_org_archived", &archived).unwrap();
    assert_eq!(stored(&world).state, State::Cancelled);
    assert!(told(&world).contains(&("meeting.cancelled".into(), ENO.into())));
}
