//! The notices to each side about the other one, in a world without other capabilities.

mod organisations;

use crate::{Pairings, changes, credits, documents::*, limits::*, states::*};
use people_kit::listings::{self, Profile, Profiles, Visibility};
use people_kit::pairings::Origin;
use people_kit::taxonomy::{Criteria, Side};
use people_kit::{people, relations, threads};
use portolan_sdk::{
    prelude::*,
    test::{self, World},
};

const NOW: u64 = 1_800_000_000_000;
const SEEKER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const LANDLORD: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X4";
const WANTED: &str = "lst_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const ROOM: &str = "lst_01JZX8Q4M2N6P7R8S9T0V1W2X4";
const PAIRING: &str = "pair_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const THREAD: &str = "thr_01JZX8Q4M2N6P7R8S9T0V1W2X3";

fn world() -> World {
    test::world()
        .of::<Pairings>()
        .system()
        .at(NOW)
        .answer(relations::HIDDEN, json!({ "owner_ids": [] }))
        .answer(credits::RELEASE, json!({}))
        .answer(credits::CAPTURE, json!({}))
}

fn listing(listing_id: &str, owner_id: &str) -> Profile {
    Profile {
        listing_id: listing_id.into(),
        owner_id: owner_id.into(),
        org_id: None,
        category: "home.let.room".into(),
        label: "Room".into(),
        side: Side::Offer,
        counterpart: "home.rent.room".into(),
        counterpart_side: Side::Demand,
        state: "active".into(),
        visibility: Visibility::Public,
        min_age: 0,
        title: "Quiet room".into(),
        excerpt: String::new(),
        attributes: from(json!({ "available_from": "2027-01-01" })),
        said: from(json!({})),
        gist: Vec::new(),
        age_at_least: None,
        unreachable: false,
        facts: Vec::new(),
        criteria: Criteria::default(),
        place: None,
        remote: false,
        compensation: from(json!({ "currency": "USD", "max": 900.0, "unit": "MONTH" })),
        published_at: 1,
        ended_at: None,
    }
}

fn from<T: serde::de::DeserializeOwned>(value: Value) -> T {
    serde_json::from_value(value).unwrap()
}

fn room() -> Profile {
    listing(ROOM, LANDLORD)
}

fn found(profile: Profile) -> Profiles {
    Profiles { profiles: vec![profile] }
}

/// Returns a pairing of the seeker with the landlord, whose room was shown as it is here.
fn pairing(state: State) -> Pairing {
    let mut pairing = Pairing::new(&listing(WANTED, SEEKER), &room(), Origin::Proposal, NOW);
    pairing.state = state;
    pairing.due_at = Some(NOW + SILENCE);
    pairing.hold_id = Some("hold_1".into());
    pairing.thread_id = (state == State::Connected).then(|| THREAD.to_owned());
    pairing.proposed_to = changes::material(&room());
    pairing
}

fn person(owner_id: &str, has_agent: bool) -> Value {
    json!({
        "owner_id": owner_id, "display_name": null, "active": true, "has_agent": has_agent,
        "contact_policy": "anyone_matching", "age_at_least": null,
    })
}

fn event(event_type: &str, data: Value) -> Value {
    json!({ "id": "evt_1", "event_type": event_type, "subject": "x/y", "data": data })
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

fn tells(event_type: &str, owner_id: &str) -> (String, String) {
    (event_type.to_owned(), owner_id.to_owned())
}

fn stored(world: &World) -> Pairing {
    world.get(PAIRINGS, PAIRING).unwrap().value
}

#[test]
fn the_other_side_is_told_once_that_the_last_agent_is_gone_and_once_that_one_is_back() {
    let people = |has_agent| json!({ "people": [person(LANDLORD, has_agent)] });
    let mut world = world()
        .answer(people::PEOPLE, people(false))
        .answer(people::PEOPLE, people(false))
        .answer(people::PEOPLE, people(true))
        .document(PAIRINGS, PAIRING, &pairing(State::Connected));
    let gone = event("identity.revoked", json!({ "owner_id": LANDLORD, "agents_left": 0 }));
    for _ in 0..2 {
        world.call("on_agent_changed", &gone).unwrap();
        assert_eq!(told(&world), [tells("pairing.counterpart_changed", SEEKER)]);
    }
    let back = event("identity.claimed", json!({ "owner_id": LANDLORD, "agent_id": "agt_1" }));
    world.call("on_agent_changed", &back).unwrap();
    let reachable: Vec<_> =
        world.events().iter().map(|event| event.data["counterpart_reachable"].clone()).collect();
    assert_eq!(reachable, [false, true]);
}

#[test]
fn a_waiting_proposal_has_no_event_about_agents_because_it_ends_with_its_listing() {
    let mut world = world()
        .answer(people::PEOPLE, json!({ "people": [person(LANDLORD, false)] }))
        .document(PAIRINGS, PAIRING, &pairing(State::Proposed));
    let gone = event("identity.revoked", json!({ "owner_id": LANDLORD }));
    world.call("on_agent_changed", &gone).unwrap();
    assert!(told(&world).is_empty());
}

#[test]
fn each_end_of_a_listing_has_its_reason_and_others_have_none() {
    for (state, reason) in [
        ("filled", "listing_filled"),
        ("withdrawn", "listing_withdrawn"),
        ("expired", "listing_expired"),
        ("paused", "listing_inactive"),
        ("in_review", "listing_inactive"),
    ] {
        let ended = Profile { state: state.into(), ..room() };
        let mut world = world().answer(listings::PROFILES, found(ended)).document(
            PAIRINGS,
            PAIRING,
            &pairing(State::Proposed),
        );
        world
            .call("on_listing_left", &event("listing.left", json!({ "listing_id": ROOM })))
            .unwrap();
        let ends = [tells("pairing.expired", SEEKER), tells("pairing.expired", LANDLORD)];
        assert_eq!(told(&world), ends, "{state}");
        assert!(world.events().iter().all(|event| event.data["reason"] == reason), "{state}");
        assert_eq!(stored(&world).reason.as_deref(), Some(reason));
        assert!(world.asked().iter().any(|asked| asked.action == "release"), "{state}");
    }
}

#[test]
fn a_pause_of_the_own_listing_cancels_without_a_reason() {
    for (state, reason) in [("filled", json!("listing_filled")), ("paused", Value::Null)] {
        let ended = Profile { state: state.into(), ..listing(WANTED, SEEKER) };
        let mut world = world().answer(listings::PROFILES, found(ended)).document(
            PAIRINGS,
            PAIRING,
            &pairing(State::Proposed),
        );
        let left = event("listing.left", json!({ "listing_id": WANTED }));
        world.call("on_listing_left", &left).unwrap();
        let ends = [tells("pairing.cancelled", SEEKER), tells("pairing.cancelled", LANDLORD)];
        assert_eq!(told(&world), ends);
        assert!(world.events().iter().all(|event| event.data["reason"] == reason), "{state}");
    }
}

#[test]
fn a_connection_goes_on_and_the_other_side_is_told_once_of_the_end_of_a_listing() {
    let ended = Profile { state: "filled".into(), ..room() };
    let mut world = world().answer(listings::PROFILES, found(ended)).document(
        PAIRINGS,
        PAIRING,
        &pairing(State::Connected),
    );
    for _ in 0..2 {
        let left = event("listing.filled", json!({ "listing_id": ROOM }));
        world.call("on_listing_left", &left).unwrap();
        assert_eq!(told(&world), [tells("pairing.listing_ended", SEEKER)]);
    }
    assert_eq!(stored(&world).state, State::Connected);
}

/// Returns a world in which the room now costs more and is free later.
fn changed(pairing: &Pairing) -> World {
    let now = Profile {
        compensation: from(json!({ "currency": "USD", "max": 950.0, "unit": "MONTH" })),
        attributes: from(json!({ "available_from": "2027-02-01", "flatmates": 2 })),
        ..room()
    };
    world()
        .answer(listings::PROFILES, found(now))
        .answer(people::PEOPLE, json!({ "people": [] }))
        .document(PAIRINGS, PAIRING, pairing)
}

fn update() -> Value {
    let changed = json!(["compensation", "attributes"]);
    event("listing.updated", json!({ "listing_id": ROOM, "changed": changed }))
}

#[test]
fn the_proposer_is_told_once_of_a_material_change_and_reads_both_values() {
    let mut world = changed(&pairing(State::Proposed));
    for _ in 0..2 {
        world.call("on_listing_updated", &update()).unwrap();
        assert_eq!(told(&world), [tells("pairing.listing_changed", SEEKER)]);
    }
    let data = &world.events()[0].data;
    assert_eq!(data["changed"], json!(["attributes.available_from", "compensation"]));
    assert!(!data.to_string().contains("2027-02-01"), "{data}");
    let changes = stored(&world).changes;
    let dates = changes.iter().find(|change| change.field == "attributes.available_from").unwrap();
    assert_eq!((&dates.before, &dates.after), (&json!("2027-01-01"), &json!("2027-02-01")));
}

#[test]
fn an_update_of_other_parts_is_not_announced() {
    let mut world = changed(&pairing(State::Proposed));
    let other = json!({ "listing_id": ROOM, "changed": ["description", "criteria"] });
    world.call("on_listing_updated", &event("listing.updated", other)).unwrap();
    assert_eq!((told(&world), world.asked().len()), (Vec::new(), 0));
}

#[test]
fn a_proposal_to_a_changed_listing_is_withdrawn_without_a_cost_for_a_week() {
    for (waited, settled) in [(FREE_WITHDRAWAL - 1, "release"), (FREE_WITHDRAWAL, "capture")] {
        let mut seen = pairing(State::Proposed);
        seen.messages.push(ProposalMessage {
            by: Role::Received,
            owner_id: None,
            kind: MessageKind::Question,
            text: "How long?".into(),
            at: NOW,
        });
        let mut world = changed(&seen);
        world.call("on_listing_updated", &update()).unwrap();
        world.advance(waited);
        let mut world = world.owner(SEEKER);
        let view = world.call("withdraw", &json!({ "pairing_id": PAIRING })).unwrap();
        assert_eq!((&view["state"], &view["listing_changes"]), (&json!("withdrawn"), &json!([])));
        let settles = ["release", "capture"];
        let asked: Vec<_> = world.asked().into_iter().map(|asked| asked.action).collect();
        let asked: Vec<_> = asked.iter().filter(|action| settles.contains(&&***action)).collect();
        assert_eq!(asked, [settled]);
        let left = stored(&world);
        assert!(left.proposed_to.is_empty() && left.changes.is_empty());
    }
}

#[test]
fn whoever_waits_for_an_erased_person_is_told_without_a_reason() {
    for (left, state, released) in [
        (SEEKER, State::Proposed, true),
        (LANDLORD, State::Proposed, false),
        (SEEKER, State::Connected, true),
    ] {
        let mut world = world()
            .answer(people::PEOPLE, json!({ "people": [person(left, true)] }))
            .document(PAIRINGS, PAIRING, &pairing(state));
        world.call("check", &json!({ "pairing_id": PAIRING })).unwrap();
        assert_eq!(told(&world), [tells("pairing.cancelled", left)]);
        assert_eq!(world.events()[0].data["reason"], Value::Null);
        assert_eq!(stored(&world).state, State::Cancelled);
        assert_eq!(world.asked().iter().any(|asked| asked.action == "release"), released);
        assert!(world.timers().is_empty());
    }
}

#[test]
fn an_open_pairing_is_checked_again_the_next_day() {
    let people = [person(SEEKER, true), person(LANDLORD, true)];
    let mut world = world().answer(people::PEOPLE, json!({ "people": people })).document(
        PAIRINGS,
        PAIRING,
        &pairing(State::Connected),
    );
    world.call("check", &json!({ "pairing_id": PAIRING })).unwrap();
    let timers: Vec<_> = world.timers().into_iter().map(|timer| (timer.action, timer.at)).collect();
    assert_eq!(timers, [("check".to_owned(), NOW + CHECK_INTERVAL)]);
    assert!(told(&world).is_empty());
}

#[test]
fn a_closed_conversation_takes_no_messages_and_the_connection_goes_on() {
    let people = [person(SEEKER, true), person(LANDLORD, true)];
    let mut world = world()
        .answer(people::PEOPLE, json!({ "people": people }))
        .answer(listings::PROFILES, found(room()))
        .document(PAIRINGS, PAIRING, &pairing(State::Connected));
    let closed = json!({ "thread_id": THREAD, "pairing_id": PAIRING });
    world.call("on_thread_closed", &event("conversation.closed", closed)).unwrap();
    let mut world = world.owner(SEEKER);
    let view = world.call("get", &json!({ "pairing_id": PAIRING })).unwrap();
    assert_eq!(view["allowed_actions"], json!(["disclose", "close"]));
    assert_eq!(view["counterpart_reachable"], true);
    let message = json!({ "pairing_id": PAIRING, "message": "Are you there?" });
    assert_eq!(world.call("message", &message).unwrap_err().code, "thread_closed");
}

#[test]
fn the_view_says_that_the_other_side_has_no_agent() {
    let mut world = world()
        .answer(people::PEOPLE, json!({ "people": [person(LANDLORD, false)] }))
        .answer(listings::PROFILES, found(Profile { state: "filled".into(), ..room() }))
        .document(PAIRINGS, PAIRING, &pairing(State::Connected))
        .owner(SEEKER);
    let view = world.call("get", &json!({ "pairing_id": PAIRING })).unwrap();
    assert_eq!(view["counterpart_reachable"], false);
    assert_eq!(view["other"]["listing_active"], false);
}

#[test]
fn a_connection_ends_once_before_a_person_is_erased() {
    let mut world = world()
        .answer(people::PEOPLE, json!({ "people": [person(SEEKER, true)] }))
        .document(PAIRINGS, PAIRING, &pairing(State::Connected));
    let left = event("identity.owner_left", json!({ "owner_id": LANDLORD }));
    let mut deactivated = event("owner.deactivated", json!({}));
    deactivated["subject"] = json!(format!("owners/{LANDLORD}"));
    for _ in 0..2 {
        world.call("on_owner_left", &left).unwrap();
        world.call("on_person_changed", &deactivated).unwrap();
        assert_eq!(told(&world), [tells("pairing.cancelled", SEEKER)]);
    }
    deactivated["event_type"] = json!("owner.reactivated");
    world.call("on_person_changed", &deactivated).unwrap();
    assert_eq!(stored(&world).state, State::Cancelled);
    assert!(world.timers().is_empty());
}

#[test]
fn the_listings_of_a_person_are_forgotten_with_them() {
    let mut old = pairing(State::Declined);
    old.from.lister_id = None;
    old.to.lister_id = None;
    let (wanted, room) = (old.from.listing_id.clone(), old.to.listing_id.clone());
    let declined = Declined { pairing_id: PAIRING.into(), listing_id: wanted.clone(), at: NOW };
    let pair = Pair { open: None, declined: Some(declined) };
    let mut world = world()
        .answer(people::PEOPLE, json!({ "people": [person(SEEKER, true)] }))
        .document(PAIRINGS, PAIRING, &old)
        .document(PAIRS, &both(&wanted, &room), &pair);
    let left = event("identity.owner_left", json!({ "owner_id": LANDLORD }));
    world.call("on_owner_left", &left).unwrap();
    assert_eq!(stored(&world).to.lister_id.as_deref(), Some(LANDLORD));
    assert!(world.get(PAIRS, &both(&wanted, &room)).is_none());

    // The erasure has emptied the id of the listing.
    let mut erased = stored(&world);
    erased.to.listing_id = String::new();
    let mut world = world.document(PAIRINGS, PAIRING, &erased).owner(SEEKER);
    world = world
        .answer(relations::HIDDEN, json!({ "owner_ids": [] }))
        .answer(listings::PROFILES, json!({ "profiles": [] }));
    let view = world.call("get", &json!({ "pairing_id": PAIRING })).unwrap();
    assert_eq!((&view["to_listing_id"], &view["from_listing_id"]), (&json!(""), &json!(wanted)));
}

#[test]
fn a_person_can_leave_with_more_connections_than_one_call_ends() {
    let mut world = world().answer(people::PEOPLE, json!({ "people": [person(SEEKER, true)] }));
    for number in 100..190 {
        world = world.document(PAIRINGS, &format!("pair_{number}"), &pairing(State::Connected));
    }
    let left = event("identity.owner_left", json!({ "owner_id": LANDLORD }));
    world.call("on_owner_left", &left).unwrap();
    assert_eq!(told(&world).len(), MOST_TOLD);
    let checks = world.timers().into_iter().filter(|timer| timer.action == "check");
    assert_eq!(checks.map(|timer| timer.at).collect::<Vec<_>>(), [NOW + CHECK_OF_DEPARTED; 10]);
}

#[test]
fn contact_data_is_allowed_in_the_conversation_as_soon_as_it_is_exchanged() {
    let mut disclosed = pairing(State::Connected);
    disclosed.from.disclosed.insert(Kind::Email, Some("00".into()));
    let mut world = world()
        .answer(people::PEOPLE, json!({ "people": [person(SEEKER, true)] }))
        .answer(listings::PROFILES, found(room()))
        .answer(relations::RELATE, json!({}))
        .answer(threads::ALLOW_CONTACT_DATA, Value::Null)
        .document(PAIRINGS, PAIRING, &disclosed)
        .owner(LANDLORD);
    let email = json!({
        "pairing_id": PAIRING, "fields": ["email"], "details": { "email": "b@mail.example" },
    });
    assert_eq!(world.call("disclose", &email).unwrap()["disclosure"], "exchanged");
    let asked = world.asked().into_iter().find(|asked| asked.action == "allow_contact_data");
    assert_eq!(asked.unwrap().input["thread_id"], THREAD);
}

#[test]
fn a_second_question_waits_for_the_answer_to_the_first() {
    let mut world =
        world().document(PAIRINGS, PAIRING, &pairing(State::Clarifying)).owner(LANDLORD);
    let ask = json!({ "pairing_id": PAIRING, "decision": "ask", "message": "And pets?" });
    let refusal = world.call("reply", &ask).unwrap_err();
    assert_eq!(refusal.code, "invalid_transition");
    assert!(refusal.message.starts_with("Your question waits"), "{}", refusal.message);
}

#[test]
fn the_end_of_a_listing_is_not_called_a_lack_of_an_answer() {
    let paused = Profile { state: "paused".into(), ..room() };
    let mut world = world().answer(listings::PROFILES, found(paused)).document(
        PAIRINGS,
        PAIRING,
        &pairing(State::Proposed),
    );
    let left = event("listing.paused", json!({ "listing_id": ROOM }));
    world.call("on_listing_left", &left).unwrap();
    assert!(world.events().iter().all(|event| {
        event.data["summary"].as_str().is_some_and(|summary| summary.contains("listing"))
    }));
}

#[test]
fn messages_of_version_1_get_their_authors() {
    let mut old = pairing(State::Connected);
    for by in [Role::Sent, Role::Received] {
        let (kind, text) = (MessageKind::Answer, String::new());
        old.messages.push(ProposalMessage { by, owner_id: None, kind, text, at: 0 });
    }
    let authors = old.with_authors().messages.into_iter().map(|message| message.owner_id);
    assert_eq!(authors.collect::<Vec<_>>(), [SEEKER, LANDLORD].map(|author| Some(author.into())));
}
