//! Erasures: their confirmation, the time in which they can be cancelled, and the request to the host.

use super::*;
use crate::documents::*;
use people_kit::people;
use portolan_sdk::test::PeopleRequest;

fn erase(world: &mut World) -> Value {
    world.call("erase", &json!({ "confirm": true })).unwrap()
}

fn erased(owner_id: &str) -> PeopleRequest {
    PeopleRequest::Erasure { owner_id: owner_id.to_owned() }
}

#[test]
fn without_confirmation_the_consequences_are_shown_and_nothing_is_scheduled() {
    let mut world = world();
    let refusal = world.call("erase", &json!({})).unwrap_err();
    assert_eq!(refusal.code, "confirm_required");
    let conflict = refusal.conflict.unwrap();
    let effects: Vec<_> =
        conflict["consequences"].as_array().unwrap().iter().map(|row| &row["effect"]).collect();
    for effect in ["deleted", "redacted", "kept"] {
        assert!(effects.contains(&&json!(effect)), "{effect}");
    }
    assert!(world.timers().is_empty() && world.events().is_empty());
}

#[test]
fn an_erasure_is_announced_and_carried_out_after_a_week() {
    let mut world = world();
    let scheduled = erase(&mut world);
    assert_eq!(
        (&scheduled["state"], &scheduled["requested_by"]),
        (&json!("scheduled"), &json!("person"))
    );
    assert_eq!(scheduled["erases_at"], rfc3339(NOW + 7 * DAY));
    assert_eq!(scheduled["allowed_actions"], json!(["cancel"]));
    let event = &world.events()[0];
    assert_eq!(event.event_type, "data_erasure.scheduled");
    assert_eq!(event.data["agent_id"], "agt_01JZX8Q4M2N6P7R8S9T0V1W2X3");
    assert!(matches!(&event.to, Audience::Owner(owner_id) if owner_id == ADA), "{event:?}");
    assert_eq!(event.data["next"]["input"], json!({ "action": "cancel" }));
    assert_eq!(world.asked()[0].input, json!({ "owner_id": ADA, "erases_at": NOW + 7 * DAY }));
    assert_eq!(timers(&world), [("carry_out".to_owned(), 7), ("remind".to_owned(), 6)]);

    let world = run_timer(world, "remind");
    assert_eq!(event_types(&world), ["data_erasure.scheduled", "data_erasure.reminder"]);
    assert!(world.people_requests().is_empty());
    let mut world = run_timer(world, "carry_out");
    assert_eq!(world.people_requests(), [erased(ADA)]);
    assert_eq!(world.call("cancel", &json!({})).unwrap_err().code, "invalid_transition");
}

#[test]
fn an_erasure_is_not_carried_out_before_its_time() {
    let mut world = world();
    let erasure_id = erase(&mut world)["erasure_id"].clone();
    let mut world = world.at(NOW + 7 * DAY - 1).system();
    world.call("carry_out", &json!({ "erasure_id": erasure_id })).unwrap();
    assert!(world.people_requests().is_empty());
}

#[test]
fn a_second_call_does_not_move_the_time() {
    let mut world = world();
    let first = erase(&mut world);
    world.advance(DAY);
    assert_eq!(erase(&mut world), first);
    assert_eq!(world.events().len(), 1);
}

#[test]
fn a_cancelled_erasure_is_not_carried_out_and_another_one_can_be_scheduled() {
    let mut world = world();
    let erasure_id = erase(&mut world)["erasure_id"].clone();
    let mut other = world.owner(BO);
    assert_eq!(other.call("cancel", &json!({})).unwrap_err().code, "erasure_not_found");
    let mut world = other.owner(ADA);
    assert_eq!(call(&mut world, "cancel")["state"], "cancelled");
    assert!(world.timers().is_empty());
    assert_eq!(event_types(&world), ["data_erasure.scheduled", "data_erasure.cancelled"]);
    assert_eq!(world.call("cancel", &json!({})).unwrap_err().code, "erasure_not_found");
    // A timer that was running already finds it cancelled.
    let mut late = world.at(NOW + 8 * DAY).system();
    for action in ["remind", "carry_out"] {
        late.call(action, &json!({ "erasure_id": erasure_id })).unwrap();
    }
    assert_eq!(late.events().len(), 2);
    assert!(late.people_requests().is_empty());

    let mut world = late.owner(ADA);
    let again = erase(&mut world);
    assert_ne!(again["erasure_id"], erasure_id);
    assert_eq!(world.documents(ERASURES).len(), 1);
    assert_eq!(call(&mut world, "status")["erasure"]["state"], "scheduled");
}

#[test]
fn the_operator_schedules_the_erasure_of_somebody_who_exists() {
    let nobody = world().system().answer(people::PEOPLE, json!({ "people": [] }));
    let mut nobody = nobody;
    let input = json!({ "owner_id": BO });
    let refusal = nobody.call("schedule_erasure", &input).unwrap_err();
    assert_eq!(refusal.code, "owner_not_found");
    let bo = json!({
        "owner_id": BO, "active": true, "contact_policy": "anyone_matching",
    });
    let mut world = world().system().answer(people::PEOPLE, json!({ "people": [bo] }));
    let scheduled = world.call("schedule_erasure", &input).unwrap();
    assert_eq!(scheduled["requested_by"], "operator");
    let mut world = world.owner(BO);
    assert_eq!(call(&mut world, "cancel")["state"], "cancelled");
}

#[test]
fn the_operator_schedules_an_erasure_only_in_the_mode_of_the_person() {
    let input = json!({ "owner_id": BO });
    for (is_of_test_mode, expected) in [(true, "owner_in_test_mode"), (false, "owner_in_live_mode")]
    {
        let bo = json!({
            "owner_id": BO, "test_mode": is_of_test_mode, "active": true,
            "contact_policy": "anyone_matching",
        });
        let system = || world().system().answer(people::PEOPLE, json!({ "people": [bo.clone()] }));
        let (live, test) = (system(), system().test_mode());
        let (mut wrong, mut right) = if is_of_test_mode { (live, test) } else { (test, live) };
        assert_eq!(wrong.call("schedule_erasure", &input).unwrap_err().code, expected);
        assert!(wrong.timers().is_empty() && wrong.events().is_empty());
        assert_eq!(right.call("schedule_erasure", &input).unwrap()["state"], "scheduled");
    }
}

#[test]
fn a_missing_message_stops_nothing() {
    let refused = Refusal::common(ErrorCode::DependencyUnavailable, "No messages today.");
    let world = test::world().of::<DataRights>().at(NOW).owner(ADA);
    let mut world = world.refuse(WARN_OF_ERASURE, refused);
    assert_eq!(erase(&mut world)["state"], "scheduled");
    assert_eq!(event_types(&world), ["data_erasure.scheduled"]);
    assert_eq!(world.logged().len(), 1);
}
