//! Pairings of organisations.

use super::*;
use people_kit::organisations;

const OFFICE: &str = "org_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const COLLEAGUE: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X5";

/// Returns a world in which the room is listed by an organisation, for which two people act, and in
/// which these people exist; the landlord stands for it.
fn office(people: &[Value]) -> World {
    office_of(&[LANDLORD, COLLEAGUE], people)
}

/// Returns the same world, in which these people act for the organisation.
fn office_of(owner_ids: &[&str], people: &[Value]) -> World {
    let mut connected = pairing(State::Connected);
    connected.to.org_id = Some(OFFICE.into());
    let acting = json!({ "org_id": OFFICE, "owner_ids": owner_ids });
    let orgs: Vec<_> = owner_ids.iter().map(|_| json!({ "org_id": OFFICE })).collect();
    world()
        .answer(people::PEOPLE, json!({ "people": people }))
        .answer(organisations::ACTING_MEMBERS, acting)
        .answer(organisations::ACTING_FOR, json!({ "orgs": orgs }))
        .answer(listings::PROFILES, found(room()))
        .document(PAIRINGS, PAIRING, &connected)
}

#[test]
fn a_connection_with_an_archived_organisation_is_closed_for_both() {
    let mut world = office_of(&[], &[person(SEEKER, true)]).answer(threads::END, json!({}));
    world.call("on_org_archived", &event("org.archived", json!({ "org_id": OFFICE }))).unwrap();
    assert_eq!(told(&world), [tells("pairing.closed", SEEKER)]);
    assert_eq!(world.events()[0].data["reason"], "org_archived");
    let mut world = world.owner(SEEKER);
    let view = world.call("get", &json!({ "pairing_id": PAIRING })).unwrap();
    assert_eq!((&view["state"], &view["allowed_actions"]), (&json!("closed"), &json!([])));
}

#[test]
fn a_pairing_with_an_organisation_for_which_nobody_acts_any_more_is_cancelled() {
    let mut world = office_of(&[], &[person(SEEKER, true)]);
    let left = json!({ "org_id": OFFICE, "owner_id": LANDLORD });
    world.call("on_member_changed", &event("org.member_changed", left)).unwrap();
    assert_eq!(told(&world), [tells("pairing.cancelled", SEEKER)]);
}

#[test]
fn whoever_answers_for_an_organisation_reads_that_it_is_them() {
    let mut world = office(&[person(LANDLORD, true), person(COLLEAGUE, true)]).owner(COLLEAGUE);
    world.call("take_over", &json!({ "pairing_id": PAIRING })).unwrap();
    let summaries = world.events().into_iter().map(|event| event.data["summary"].clone());
    let other_side = tells("pairing.counterpart_changed", SEEKER);
    let [own, colleague] = [COLLEAGUE, LANDLORD].map(|to| tells("pairing.assigned", to));
    assert_eq!(told(&world), [own, colleague, other_side]);
    assert_eq!(
        summaries.take(2).collect::<Vec<_>>(),
        [
            "You answer for the organisation now.",
            "Another member answers for the organisation now."
        ]
    );
}

#[test]
fn an_organisations_proposal_ends_although_the_credits_were_erased_with_a_member() {
    let mut sent = pairing(State::Proposed);
    sent.from.org_id = Some(OFFICE.into());
    let gone = Refusal::common(ErrorCode::NotFound, "There is no such hold.");
    let mut world = test::world()
        .of::<Pairings>()
        .at(NOW)
        .owner(LANDLORD)
        .answer(relations::HIDDEN, json!({ "owner_ids": [] }))
        .answer(organisations::ACTING_MEMBERS, json!({ "org_id": OFFICE, "owner_ids": [] }))
        .answer(organisations::ACTING_FOR, json!({ "orgs": [] }))
        .answer(people::PEOPLE, json!({ "people": [person(LANDLORD, true)] }))
        .answer(listings::PROFILES, found(room()))
        .refuse(credits::CAPTURE, gone)
        .document(PAIRINGS, PAIRING, &sent);
    let decline = json!({ "pairing_id": PAIRING, "decision": "decline" });
    assert_eq!(world.call("reply", &decline).unwrap()["state"], "declined");
}

#[test]
fn an_organisation_is_reached_through_any_of_its_people() {
    for (colleague, expected) in [(true, true), (false, false)] {
        let people = [person(SEEKER, true), person(LANDLORD, false), person(COLLEAGUE, colleague)];
        let mut world = office(&people);
        world.call("check", &json!({ "pairing_id": PAIRING })).unwrap();
        assert_eq!(told(&world).is_empty(), expected);
        let mut world = world.owner(SEEKER);
        let view = world.call("get", &json!({ "pairing_id": PAIRING })).unwrap();
        assert_eq!(view["counterpart_reachable"], expected);
    }
}

#[test]
fn a_connection_with_an_organisation_outlives_the_person_who_stood_for_it() {
    let mut world = office(&[person(SEEKER, true), person(COLLEAGUE, true)]);
    world.call("check", &json!({ "pairing_id": PAIRING })).unwrap();
    let left = stored(&world);
    assert_eq!((left.state, left.to.owner_id.as_str()), (State::Connected, COLLEAGUE));
    let told = told(&world);
    let (last, others) = told.split_last().unwrap();
    assert_eq!(*last, tells("pairing.counterpart_changed", SEEKER));
    assert!(others.iter().all(|(event_type, _)| event_type == "pairing.assigned"), "{told:?}");
}

#[test]
fn whoever_takes_over_discloses_their_own_contact_data_in_place_of_the_formers() {
    let people = [(SEEKER, "Sea"), (LANDLORD, "Lou"), (COLLEAGUE, "Col")].map(|(id, name)| {
        let mut person = person(id, true);
        person["display_name"] = json!(name);
        person
    });
    let disclose = |kind: &str, text: &str| json!({ "pairing_id": PAIRING, "fields": [kind], "details": { kind: text } });
    let read = |world: &mut World| {
        world.call("get", &json!({ "pairing_id": PAIRING })).unwrap()["contact"].clone()
    };
    let mut world = office(&people)
        .answer(relations::RELATE, json!({}))
        .answer(threads::ALLOW_CONTACT_DATA, Value::Null)
        .owner(SEEKER);
    world.call("disclose", &disclose("email", "sea@mail.example")).unwrap();
    let mut world = world.owner(LANDLORD);
    world.call("disclose", &disclose("email", "lou@mail.example")).unwrap();

    let mut world = world.owner(COLLEAGUE);
    let view = world.call("take_over", &json!({ "pairing_id": PAIRING })).unwrap();
    assert!(view["allowed_actions"].as_array().unwrap().contains(&json!("disclose")));
    let mut world = world.owner(SEEKER);
    let former = read(&mut world);
    assert_eq!(
        (&former["email"], &former["owner_id"], &former["display_name"]),
        (&json!("lou@mail.example"), &json!(LANDLORD), &json!("Lou"))
    );

    let mut world = world.owner(COLLEAGUE);
    let begun = world.call("disclose", &disclose("email", "col@mail.example")).unwrap();
    assert_eq!(begun["disclosure"], "pending", "the seeker has disclosed to the former member");
    let mut world = world.owner(SEEKER);
    assert_eq!(read(&mut world), Value::Null);
    world.call("disclose", &disclose("email", "sea@mail.example")).unwrap();
    let present = read(&mut world);
    assert_eq!(
        (&present["email"], &present["owner_id"]),
        (&json!("col@mail.example"), &json!(COLLEAGUE))
    );
}

#[test]
fn what_was_not_exchanged_is_taken_back_when_another_member_takes_over() {
    let people = [SEEKER, LANDLORD, COLLEAGUE].map(|id| person(id, true));
    let disclose = |kind: &str, text: &str| json!({ "pairing_id": PAIRING, "fields": [kind], "details": { kind: text } });
    let mut world = office(&people).owner(SEEKER);
    world.call("disclose", &disclose("email", "sea@mail.example")).unwrap();
    let mut world = world.owner(LANDLORD);
    world.call("disclose", &disclose("full_name", "Lou Landlord")).unwrap();
    let mut world = world.owner(COLLEAGUE);
    world.call("take_over", &json!({ "pairing_id": PAIRING })).unwrap();
    let left = stored(&world);
    assert!(left.from.disclosed.is_empty() && left.to.disclosed.is_empty());
    let told = told(&world);
    assert!(told.contains(&tells("pairing.counterpart_changed", SEEKER)), "{told:?}");

    // The data that is disclosed to the new member is theirs.
    let mut world = world
        .answer(relations::RELATE, json!({}))
        .answer(threads::ALLOW_CONTACT_DATA, Value::Null)
        .owner(SEEKER);
    world.call("disclose", &disclose("email", "sea@mail.example")).unwrap();
    let mut world = world.owner(COLLEAGUE);
    let exchanged = world.call("disclose", &disclose("email", "col@mail.example")).unwrap();
    assert_eq!(exchanged["disclosure"], "exchanged");
}

#[test]
fn a_connection_passes_to_another_member_when_the_one_who_stands_for_it_is_hidden() {
    let mut people = [SEEKER, LANDLORD, COLLEAGUE].map(|id| person(id, true));
    people[1]["active"] = json!(false);
    let mut world = office(&people);
    let hidden = json!({
        "id": "evt_1", "event_type": "owner.deactivated",
        "subject": format!("owners/{LANDLORD}"), "data": {},
    });
    world.call("on_person_changed", &hidden).unwrap();
    assert_eq!(stored(&world).to.owner_id, COLLEAGUE);
    assert!(told(&world).contains(&tells("pairing.assigned", COLLEAGUE)), "{:?}", told(&world));
}
