//! The data that remains of a person whom the host erases, and the matching of others afterwards.

use crate::{MatchingSessions, documents::*, score::examples::profile, states::*, types::*};
use people_kit::listings::{self, FittingPage, Profile, Profiles};
use people_kit::{pairings, relations};
use portolan_sdk::{
    contract::description::Erasure,
    documents::Expect,
    migration::Migration,
    prelude::*,
    test::{self, World},
};
use serde::de::DeserializeOwned;

const ADA: &str = "own_ada";
const BO: &str = "own_bo";
const ROUND_ID: &str = "rnd_1";

fn world() -> World {
    test::world()
        .of::<MatchingSessions>()
        .owner(BO)
        .answer(relations::HIDDEN, json!({ "owner_ids": [] }))
        .answer(pairings::COOLING, json!({ "listing_ids": [] }))
}

fn profiles(names: &[&str]) -> Vec<Profile> {
    names.iter().map(|name| profile(name)).collect()
}

/// Answers the next question about listings with these.
fn knows(world: World, names: &[&str]) -> World {
    world.answer(listings::PROFILES, Profiles { profiles: profiles(names) })
}

/// Returns a world in which Bo has a session with one candidate, Ada or Cy, and the other in the
/// queue.
fn world_with_session() -> (World, String) {
    let page = FittingPage { profiles: profiles(&["ada", "cy"]), next_cursor: None };
    let world = knows(knows(world(), &["bo"]), &["bo"]).answer(listings::FITTING, page);
    let mut world = knows(world, &["ada", "cy"]);
    let create = json!({ "listing_id": "lst_bo", "batch_size": 1 });
    let session = world.call("create", &create).unwrap();
    assert_eq!(session["state"], "ready");
    (world, session["session_id"].as_str().unwrap().to_owned())
}

fn one<T: DeserializeOwned>(world: &World, collection: Collection<T>) -> Stored<T> {
    let mut documents = world.documents(collection);
    assert_eq!(documents.len(), 1);
    documents.remove(0)
}

/// Whether a value names the person at a path.
fn names(value: &Value, path: &[&str], person: &str) -> bool {
    let Some((step, rest)) = path.split_first() else { return value == person };
    if let Some(name) = step.strip_suffix("[]") {
        let elements = value[name].as_array().into_iter().flatten();
        return elements.into_iter().any(|element| names(element, rest, person));
    }
    if let Some(name) = step.strip_suffix("{}") {
        let mut entries = value[name].as_object().into_iter().flatten();
        return entries.any(|(_, entry)| names(entry, rest, person));
    }
    names(&value[*step], rest, person)
}

/// Removes the elements that name the person at a path.
fn remove(value: &mut Value, path: &[&str], person: &str) {
    let Some((step, rest)) = path.split_first() else { return };
    if let Some(name) = step.strip_suffix("[]") {
        if let Some(Value::Array(elements)) = value.get_mut(name) {
            elements.retain(|element| !names(element, rest, person));
        }
    } else if let Some(name) = step.strip_suffix("{}") {
        if let Some(Value::Object(entries)) = value.get_mut(name) {
            entries.retain(|_, entry| !names(entry, rest, person));
        }
    } else if let Some(value) = value.get_mut(*step) {
        remove(value, rest, person);
    }
}

/// Erases a person from a collection as it declares.
fn erase_from<T: Serialize + DeserializeOwned>(
    world: &mut World,
    collection: Collection<T>,
    person: &str,
) {
    let declared = collection.declaration().people.unwrap();
    for stored in world.documents(collection) {
        let mut value = portolan_sdk::to_value(&stored.value);
        let mut is_deleted = false;
        for named in &declared {
            let path: Vec<&str> = named.path.split('.').collect();
            match named.erasure {
                Erasure::DeleteDocument => is_deleted |= names(&value, &path, person),
                Erasure::RemoveElement => remove(&mut value, &path, person),
                Erasure::Redact => panic!("{}: nothing is redacted here", named.path),
            }
        }
        let change = |_: &Call| match is_deleted {
            true => collection.delete(&stored.id, Expect::Any),
            false => {
                let value: T = serde_json::from_value(value.clone()).unwrap();
                collection.put(&stored.id, &value, Expect::Any).map(drop)
            }
        };
        world.run(|call| change(call).map_err(Refusal::from)).unwrap();
    }
}

fn erase(world: &mut World, person: &str) {
    erase_from(world, SESSIONS, person);
    erase_from(world, CANDIDATES, person);
    erase_from(world, QUEUES, person);
    erase_from(world, OPINIONS, person);
    erase_from(world, BOOKS, person);
    erase_from(world, ROUNDS, person);
}

fn texts<T: Serialize + DeserializeOwned>(world: &World, collection: Collection<T>) -> String {
    let text = |stored: Stored<T>| {
        format!("{} {} {}\n", collection.name(), stored.id, portolan_sdk::to_value(&stored.value))
    };
    world.documents(collection).into_iter().map(text).collect()
}

/// Returns all documents, each as a line.
fn everything(world: &World) -> String {
    [
        texts(world, SESSIONS),
        texts(world, CANDIDATES),
        texts(world, QUEUES),
        texts(world, OPINIONS),
        texts(world, BOOKS),
        texts(world, ROUNDS),
    ]
    .concat()
}

#[test]
fn an_erased_person_leaves_no_listing_in_the_sessions_of_others() {
    for decision in ["interested", "pass", "later"] {
        let (mut world, session_id) = world_with_session();
        let candidate = one(&world, CANDIDATES).id;
        let decide = json!({
            "session_id": session_id, "candidate_id": candidate, "decision": decision,
        });
        world.call("decide", &decide).unwrap();
        let before = everything(&world);
        for listing in ["lst_ada", "lst_cy"] {
            assert!(before.contains(listing), "{listing}: {before}");
        }
        erase(&mut world, ADA);
        let left = everything(&world);
        assert!(!left.contains("ada"), "{decision}: {left}");
        assert!(left.contains("lst_cy") && left.contains("lst_bo"), "{decision}: {left}");
    }
}

#[test]
fn an_erased_person_leaves_no_session() {
    let (mut world, session_id) = world_with_session();
    let candidate = one(&world, CANDIDATES).id;
    let decide = json!({
        "session_id": session_id, "candidate_id": candidate, "decision": "interested",
    });
    world.call("decide", &decide).unwrap();
    let timers = world.timers();
    let actions: Vec<&str> = timers.iter().map(|timer| timer.action.as_str()).collect();
    assert_eq!(actions, ["check", "expire"]);
    // The host removes the timers whose names have the person's id.
    assert!(timers.iter().all(|timer| timer.name.contains(BO)), "{timers:?}");
    erase(&mut world, BO);
    assert_eq!(everything(&world), "");
}

#[test]
fn an_arrived_listing_goes_with_its_person_and_the_session_searches_again() {
    let (world, session_id) = world_with_session();
    let mut session = one(&world, SESSIONS).value;
    session.watch.clear();
    for name in ["ada", "cy"] {
        let queued = Queued { score: 0.5, owner_id: format!("own_{name}") };
        session.come.insert(format!("lst_{name}"), queued);
    }
    let mut world = world.document(SESSIONS, &session_id, &session).system();
    erase(&mut world, ADA);
    let session = one(&world, SESSIONS).value;
    assert_eq!(session.come.keys().collect::<Vec<_>>(), ["lst_cy"]);
    world.call("tell", &json!({ "session_id": session_id })).unwrap();
    let session = one(&world, SESSIONS).value;
    assert!(session.come.is_empty() && !session.watch.is_empty(), "{session:?}");
}

#[test]
fn a_session_whose_candidates_are_erased_gets_the_next_batch_within_a_day() {
    let (world, session_id) = world_with_session();
    let mut world = world.system();
    let shown = one(&world, CANDIDATES).value;
    let about = json!({ "session_id": session_id });
    let due = |world: &World, action: &str| {
        let timers = world.timers().into_iter();
        timers.filter(|timer| timer.action == action).map(|timer| timer.at).collect::<Vec<_>>()
    };
    let first = due(&world, "check");
    world.advance(DAY);
    world.call("check", &about).unwrap();
    assert_eq!(due(&world, "check"), [first[0] + DAY], "the candidate is there");
    assert!(due(&world, "look").is_empty());

    erase(&mut world, &shown.owner_id);
    world.advance(DAY);
    world.call("check", &about).unwrap();
    assert_eq!(due(&world, "look"), [first[0] + DAY]);
    world.call("look", &about).unwrap();
    let next = one(&world, CANDIDATES).value;
    assert_ne!(next.listing_id, shown.listing_id);
    let told: Vec<String> = world.events().into_iter().map(|event| event.event_type).collect();
    assert_eq!(told, ["match.updated"]);
}

fn participant(name: &str, state: State) -> Session {
    Session {
        owner_id: format!("own_{name}"),
        listing_id: format!("lst_{name}"),
        category: "venture.cofounder".into(),
        mode: Mode::Round,
        state,
        round_id: Some(ROUND_ID.into()),
        expires_at: u64::MAX,
        capacity: 1,
        ..Session::default()
    }
}

/// Returns a world with a round in which these take part.
fn world_with_round(state: RoundState, sessions: &[(&str, &Session)]) -> World {
    let round = Round {
        category: "venture.cofounder".into(),
        title: "Cofounders".into(),
        state,
        deadline: 4_000_000_000_000,
        participants: sessions.len(),
    };
    let world = world().document(ROUNDS, ROUND_ID, &round);
    sessions.iter().fold(world, |world, (id, session)| world.document(SESSIONS, id, session))
}

#[test]
fn an_erased_participant_leaves_the_rankings_of_others() {
    let (bo, ada) = (participant("bo", State::Collecting), participant("ada", State::Collecting));
    let world = world_with_round(RoundState::Open, &[("mse_bo", &bo), ("mse_ada", &ada)]);
    let mut world = knows(world, &["ada", "bo"]);
    let rank = json!({ "session_id": "mse_bo", "ordered_candidate_ids": ["cand_ada"] });
    world.call("rank", &rank).unwrap();
    assert!(everything(&world).contains(r#""ranking":[{"#));
    erase(&mut world, ADA);
    let left = everything(&world);
    assert!(!left.contains("ada"), "{left}");
}

#[test]
fn an_erased_participant_takes_no_place_in_a_round() {
    let (bo, ada) = (participant("bo", State::Collecting), participant("ada", State::Collecting));
    let world = world_with_round(RoundState::Open, &[("mse_bo", &bo), ("mse_ada", &ada)]);
    let mut world = knows(world, &["cy"]).owner("own_cy");
    erase(&mut world, ADA);
    let join = json!({ "listing_id": "lst_cy", "mode": "round", "round_id": ROUND_ID });
    world.call("create", &join).unwrap();
    assert_eq!(one(&world, ROUNDS).value.participants, 2);
}

#[test]
fn a_partner_of_a_round_who_is_erased_cannot_be_confirmed_and_the_result_ends() {
    let mut bo = participant("bo", State::Proposed);
    let partner = json!({
        "session_id": "mse_ada", "owner_id": ADA, "listing_id": "lst_ada", "rank": 1,
        "fit": { "score": 1.0, "mine": 1.0, "theirs": 1.0 }, "state": "new", "pairing_id": null,
    });
    bo.outcome = Some(Outcome {
        partners: vec![serde_json::from_value(partner).unwrap()],
        stable: true,
        blocking_pairs: 0,
        participants: 2,
    });
    let mut world = knows(world_with_round(RoundState::Done, &[("mse_bo", &bo)]), &["bo"]);
    erase(&mut world, ADA);
    let left = everything(&world);
    assert!(!left.contains("ada"), "{left}");
    let refused = world.call("confirm", &json!({ "session_id": "mse_bo", "accept": true }));
    assert_eq!(refused.unwrap_err().code, "recipient_not_accepting");
    let mut world = world.system();
    world.call("end_round", &json!({ "session_id": "mse_bo" })).unwrap();
    assert_eq!(one(&world, SESSIONS).value.state, State::Unpaired);
}

#[test]
fn documents_of_an_earlier_form_get_owners_or_are_searched_again() {
    let migrated = |collection: &str, document: Value| -> Value {
        let migration = json!({
            "collection": collection, "from": 1, "to": 2,
            "documents": [{ "id": "x", "document": document }],
        });
        let migration: Migration = serde_json::from_value(migration).unwrap();
        crate::migrations::migrate(migration).documents.remove(0).document.unwrap()
    };
    let queue = json!({ "cursor": null, "looked": true, "waiting": { "lst_ada": 0.5 } });
    let queue: Queue = serde_json::from_value(migrated("queues", queue)).unwrap();
    assert!(!queue.looked && queue.waiting.is_empty());
    let book: Book =
        serde_json::from_value(migrated("books", json!({ "open": ["mse_bo"] }))).unwrap();
    assert_eq!(book.open.keys().collect::<Vec<_>>(), ["mse_bo"]);
    let mut session = portolan_sdk::to_value(&participant("bo", State::Collecting));
    session["come"] = json!({ "lst_ada": 0.5 });
    session["watch"] = json!(["Demand|in:venture"]);
    session["ranking"] = json!(["mse_ada"]);
    let session: Session = serde_json::from_value(migrated("sessions", session)).unwrap();
    assert!(session.come.is_empty() && session.watch.is_empty());
    assert_eq!(session.ranking[0].session_id, "mse_ada");
}
