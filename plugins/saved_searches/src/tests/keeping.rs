//! Searches from their creation to their deletion.

use super::*;
use crate::{states::State, types::*};
use people_kit::taxonomy;

/// Returns a world in which `SEEKER` calls, with a taxonomy that has these words and no comparisons.
fn own_world(q: &str) -> World {
    test::world()
        .of::<SavedSearches>()
        .at(NOW)
        .owner(SEEKER)
        .answer(taxonomy::NARROW, json!({ "facts": [], "ranks": [], "q": q }))
}

fn create(world: &mut World, query: Value) -> Result<Value, Refusal> {
    world.call("create", &json!({ "name": " Mine ", "query": query }))
}

#[test]
fn a_person_keeps_their_own_searches() {
    let mut world = own_world("quiet");
    let made = create(&mut world, json!({ "q": "quiet", "category": "home" })).unwrap();
    assert_eq!((&made["name"], &made["state"]), (&json!("Mine"), &json!("active")));
    assert_eq!(made["query"], json!({ "q": "quiet", "category": "home" }));
    let id = json!({ "search_id": made["search_id"] });
    let anchors = |world: &World| world.documents(SEARCHES)[0].value.indexed.anchors.clone();
    assert_eq!(anchors(&world), ["home|w:quiet"]);

    let change = json!({ "search_id": made["search_id"], "query": { "side": "offer" } });
    assert_eq!(world.call("update", &change).unwrap()["query"], json!({ "side": "offer" }));
    assert_eq!(anchors(&world), ["*|s:offer"]);
    assert_eq!(
        world.call("pause", &id).unwrap()["allowed_actions"],
        json!(["update", "resume", "delete"])
    );
    assert!(anchors(&world).is_empty());
    assert_eq!(world.call("pause", &id).unwrap_err().code, "invalid_transition");
    assert_eq!(world.call("resume", &id).unwrap()["state"], "active");
    assert_eq!(anchors(&world), ["*|s:offer"]);
    assert_eq!(world.call("list", &json!({ "limit": 5 })).unwrap()["items"][0]["name"], "Mine");

    let mut other = world.owner(LISTER);
    for action in ["get", "pause", "delete", "preview"] {
        let refusal = other.call(action, &merged(&id, json!({ "limit": 5 }))).unwrap_err();
        assert_eq!(refusal.code, "saved_search_not_found", "{action}");
    }
    let mut own = other.owner(SEEKER);
    assert_eq!(own.call("delete", &id).unwrap()["state"], "deleted");
    assert_eq!(own.call("get", &id).unwrap_err().code, "saved_search_not_found");
    assert!(own.documents(SEARCHES).is_empty() && own.documents(OWNER_SEARCHES).is_empty());
}

fn merged(one: &Value, other: Value) -> Value {
    let mut one = one.clone();
    one.as_object_mut().unwrap().extend(other.as_object().unwrap().clone());
    one
}

#[test]
fn what_is_there_before_counts_from_the_last_time_the_search_began() {
    let mut world = own_world("quiet");
    let made = create(&mut world, json!({ "q": "quiet" })).unwrap();
    let id = json!({ "search_id": made["search_id"] });
    let mut days = 0;
    for (action, fields, begins) in [
        ("update", json!({ "name": "Other" }), false),
        ("update", json!({ "query": { "q": "quiet" } }), false),
        ("update", json!({ "query": { "side": "offer" } }), true),
        ("pause", json!({}), false),
        ("resume", json!({}), true),
    ] {
        let before = world.documents(SEARCHES)[0].value.active_since;
        world.advance(DAY);
        days += 1;
        world.call(action, &merged(&id, fields)).unwrap();
        let expected = if begins { NOW + days * DAY } else { before };
        assert_eq!(world.documents(SEARCHES)[0].value.active_since, expected, "{action}");
    }
}

#[test]
fn a_person_has_a_limited_number_of_searches() {
    let mut world = own_world("quiet");
    let query = || json!({ "q": "quiet" });
    for _ in 0..MOST_SEARCHES {
        create(&mut world, query()).unwrap();
    }
    let refusal = create(&mut world, query()).unwrap_err();
    assert_eq!(refusal.code, "saved_search_limit_reached");
    assert!(refusal.next.is_some());
    let id = world.documents(SEARCHES)[0].id.clone();
    world.call("delete", &json!({ "search_id": id })).unwrap();
    create(&mut world, query()).unwrap();
}

#[test]
fn searches_are_prepared_again_when_the_taxonomy_has_changed() {
    const COUNT: usize = 60;
    let change = |id: &str| {
        let changed = json!([{ "id": id, "from": "1.0.0", "to": "1.1.0", "breaking": false }]);
        json!({
            "id": "evt_1", "event_type": "catalog.changed", "subject": "catalog",
            "data": {
                "v": 1, "catalog_version": 7, "added": [], "removed": [], "changed": changed,
            },
        })
    };
    let mut empty = world();
    empty.call("on_catalog_changed", &change("listing_taxonomy")).unwrap();
    assert!(empty.timers().is_empty());

    let unknown = Refusal::common(ErrorCode::NotFound, "There is no such category.");
    let mut world = own_world("calm|quiet")
        .system()
        .refuse(taxonomy::NARROW, unknown)
        .answer(taxonomy::NARROW, json!({ "facts": [], "ranks": [], "q": "calm|quiet" }));
    for number in 0..COUNT {
        let any = search("Any", json!({ "q": "quiet" }));
        world = world.document(SEARCHES, &format!("sav_{number:02}"), &any);
    }
    let paused = SavedSearch { state: State::Paused, ..search("Paused", json!({ "q": "quiet" })) };
    let paused = SavedSearch { indexed: Indexed::default(), ..paused };
    let mut world = world.document(SEARCHES, "sav_paused", &paused);
    world.call("on_catalog_changed", &change("calendar")).unwrap();
    assert!(world.timers().is_empty());
    world.call("on_catalog_changed", &change("listing_taxonomy")).unwrap();
    for _ in 0..2 {
        let timer = world.timers().pop().unwrap();
        world.call(&timer.action, &timer.input).unwrap();
    }
    let searches = world.documents(SEARCHES);
    let has = |search: &Stored<SavedSearch>, q: &str, anchors: &[&str]| {
        let SavedSearch { sought, indexed, .. } = &search.value;
        let prepared = sought.listings().unwrap();
        prepared.narrowed.q.as_deref() == Some(q) && indexed.anchors == anchors
    };
    assert!(has(&searches[1], "quiet", &["*|w:quiet"]), "its conditions are refused now");
    assert!(has(&searches[COUNT], "calm|quiet", &[]), "it is paused");
    let renewed =
        |search: &&Stored<SavedSearch>| has(search, "calm|quiet", &["*|w:calm", "*|w:quiet"]);
    assert_eq!(searches.iter().filter(renewed).count(), COUNT - 1);
}

#[test]
fn a_failure_of_the_taxonomy_changes_no_search() {
    let failure = Refusal::common(ErrorCode::DependencyUnavailable, "Try again.");
    let mut world = test::world()
        .of::<SavedSearches>()
        .system()
        .document(SEARCHES, SEARCH, &search("Any", json!({ "q": "quiet" })))
        .refuse(taxonomy::NARROW, failure);
    let refusal = world.call("refresh", &json!({})).unwrap_err();
    assert_eq!(refusal.code, "dependency_unavailable");
}

#[test]
fn what_no_search_could_answer_is_refused() {
    for (query, pointer) in [
        (json!({}), "/query"),
        (json!({ "bbox": { "south": 2.0, "west": 0.0, "north": 1.0, "east": 1.0 } }), "/query"),
        (json!({ "posted_since": "soon" }), "/query/posted_since"),
    ] {
        let refusal = create(&mut own_world("quiet"), query.clone()).unwrap_err();
        assert_eq!(refusal.code, "validation_failed", "{query}");
        let conflict = serde_json::to_value(&refusal.conflict).unwrap();
        assert_eq!(conflict["errors"][0]["pointer"], pointer, "{query} {conflict}");
    }
    let refusal = create(&mut own_world("quiet"), json!({ "q": "?!" })).unwrap_err();
    assert_eq!(refusal.code, "query_empty");
    let input = json!({ "name": "call +1 415 555 0100", "query": { "q": "quiet" } });
    let refusal = own_world("quiet").call("create", &input).unwrap_err();
    assert_eq!(refusal.code, "contact_in_text");
}

#[test]
fn a_pause_drops_what_was_found_and_a_deletion_forgets_it() {
    let daily = SavedSearch {
        frequency: Frequency::Daily,
        ..search("Daily", json!({ "category": "home" }))
    };
    let mut world =
        world().document(SEARCHES, SEARCH, &daily).answer(CARDS_OF, found([stored(1, json!({}))]));
    arrive(&mut world);
    let mut own = world.owner(SEEKER);
    let id = json!({ "search_id": SEARCH });
    assert_eq!(own.call("get", &id).unwrap()["waiting"], 1);
    assert_eq!(own.call("pause", &id).unwrap()["waiting"], 0);
    assert!(!own.timers().iter().any(|timer| timer.action == "notify"));
    own.call("resume", &id).unwrap();
    arrive(&mut own);
    assert_eq!(own.call("get", &id).unwrap()["waiting"], 0, "it was found before");
    own.call("delete", &id).unwrap();
    assert!(own.documents(HITS).is_empty() && own.documents(NEWS).is_empty());
    assert_eq!(own.get(SEARCHES, SEARCH).map(|search| search.value.state), None::<State>);
}
