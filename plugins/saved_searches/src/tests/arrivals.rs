//! The searches that a listing finds.

use super::*;
use portolan_sdk::test::Logged;

#[test]
fn a_listing_is_notified_at_once_and_never_again() {
    let quiet = search("Quiet", json!({ "q": "quiet rooms", "category": "home.let" }));
    let mut world =
        world().document(SEARCHES, SEARCH, &quiet).answer(CARDS_OF, found([stored(1, json!({}))]));
    arrive(&mut world);
    assert_eq!(events(&world), [matched()]);
    let event = &world.events()[0];
    assert_eq!(event.data["name"], "Quiet");
    assert_eq!(event.data["next"]["input"]["listing_id"], LISTING);
    for _ in 0..2 {
        world.advance(DAY);
        arrive(&mut world);
    }
    assert_eq!(events(&world), [matched()]);
}

#[test]
fn a_search_finds_nothing_that_it_would_not_show() {
    let network = json!({ "visibility": "network" });
    let inactive = |owner_id: &str| json!({ "people": [{ "owner_id": owner_id, "active": false, "contact_policy": "paused" }] });
    let paused = |owner_id: &str| json!({ "people": [{ "owner_id": owner_id, "active": true, "contact_policy": "paused" }] });
    let aged = |seeker: u8, lister: u8| {
        let person = |owner_id: &str, age: u8| {
            json!({
                "owner_id": owner_id, "active": true, "contact_policy": "network",
                "age_at_least": age,
            })
        };
        json!({ "people": [person(SEEKER, seeker), person(LISTER, lister)] })
    };
    let nobody = json!({ "people": [] });
    for (what, query, card, people, hidden, verdict, is_announced) in [
        ("fits", json!({ "q": "desk" }), json!({}), &nobody, json!([]), false, true),
        ("other word", json!({ "q": "desk garden" }), json!({}), &nobody, json!([]), false, false),
        ("blocked", json!({ "q": "desk" }), json!({}), &nobody, json!([SEEKER]), false, false),
        (
            "no lister",
            json!({ "q": "desk" }),
            json!({}),
            &inactive(LISTER),
            json!([]),
            false,
            false,
        ),
        (
            "paused lister",
            json!({ "q": "desk" }),
            json!({}),
            &paused(LISTER),
            json!([]),
            false,
            false,
        ),
        (
            "paused seeker",
            json!({ "q": "desk" }),
            json!({}),
            &paused(SEEKER),
            json!([]),
            false,
            true,
        ),
        (
            "no seeker",
            json!({ "q": "desk" }),
            json!({}),
            &inactive(SEEKER),
            json!([]),
            false,
            false,
        ),
        (
            "own",
            json!({ "q": "desk" }),
            json!({ "owner_id": SEEKER }),
            &nobody,
            json!([]),
            false,
            false,
        ),
        ("stranger", json!({ "q": "desk" }), network.clone(), &nobody, json!([]), false, false),
        ("friend", json!({ "q": "desk" }), network, &nobody, json!([]), true, true),
        (
            "too young",
            json!({ "q": "desk" }),
            json!({ "min_age": 18 }),
            &nobody,
            json!([]),
            false,
            false,
        ),
        (
            "adult",
            json!({ "q": "desk" }),
            json!({ "min_age": 18 }),
            &aged(20, 20),
            json!([]),
            false,
            true,
        ),
        (
            "of somebody too young",
            json!({ "q": "desk" }),
            json!({ "min_age": 18 }),
            &aged(20, 17),
            json!([]),
            false,
            false,
        ),
    ] {
        let mut world = test::world()
            .of::<SavedSearches>()
            .system()
            .at(NOW)
            .document(SEARCHES, SEARCH, &search("Any", query))
            .answer(CARDS_OF, found([stored(1, card)]))
            .answer(people::PEOPLE, people)
            .answer(relations::HIDDEN, json!({ "owner_ids": hidden }))
            .answer(relations::ALLOWED, json!({ "allowed": verdict }));
        arrive(&mut world);
        let told = events(&world);
        assert_eq!(told, if is_announced { vec![matched()] } else { Vec::new() }, "{what}");
        assert_eq!(world.documents(HITS).len(), usize::from(is_announced), "{what}");
    }
}

#[test]
fn what_one_call_cannot_announce_is_announced_by_those_that_follow() {
    const COUNT: usize = 95;
    let any = search("Any", json!({ "category": "home" }));
    let mut world = world().answer(CARDS_OF, found([stored(7, json!({}))]));
    for number in 0..COUNT {
        world = world.document(SEARCHES, &format!("sav_{number:03}"), &any);
    }
    arrive(&mut world);
    let told = events(&world).len();
    assert!((1..COUNT).contains(&told), "{told}");
    let rest = |world: &World| {
        let timers = world.timers().into_iter();
        timers.filter(|timer| timer.action == "arrive").map(|timer| timer.input).next().unwrap()
    };
    let mut other_version = rest(&world);
    other_version["version"] = json!(6);
    world.call("arrive", &other_version).unwrap();
    assert_eq!(events(&world).len(), told, "a later version has its own event");
    let input = rest(&world);
    world.call("arrive", &input).unwrap();
    assert_eq!(events(&world).len(), COUNT);
    let subjects: std::collections::BTreeSet<_> =
        world.events().into_iter().map(|event| event.subject).collect();
    assert_eq!(subjects.len(), COUNT);
}

#[test]
fn a_search_that_the_index_refuses_does_not_stop_the_others() {
    const REFUSED: &str = "sav_0";
    let refused = search(
        "Refused",
        json!({ "bbox": { "south": 2.0, "west": 0.0, "north": 1.0, "east": 1.0 } }),
    );
    let mut world = world()
        .document(SEARCHES, REFUSED, &refused)
        .document(SEARCHES, SEARCH, &search("Any", json!({ "category": "home" })))
        .answer(CARDS_OF, found([stored(1, json!({}))]));
    arrive(&mut world);
    assert_eq!(events(&world), [matched()]);
    let waiting = News { count: 1, last: 1, ..News::default() };
    let hit = StoredHit { search_id: REFUSED.into(), number: 1, ..hit() };
    let mut world = world.document(NEWS, REFUSED, &waiting).document(HITS, "refused", &hit);
    world.call("notify", &json!({ "search_id": REFUSED })).unwrap();
    assert_eq!(events(&world).len(), 1);
    let is_named = |logged: &Logged| logged.message.contains(REFUSED);
    assert!(world.logged().iter().any(is_named), "{:?}", world.logged());
}

#[test]
fn a_listing_from_before_the_search_is_not_announced_by_an_update() {
    for (active_since, event_type, is_announced) in [
        (NOW, "listing.updated", true),
        (NOW + 1, "listing.updated", false),
        (NOW + 1, "listing.resumed", true),
        (NOW + 1, "listing.published", true),
    ] {
        let any = SavedSearch { active_since, ..search("Any", json!({ "category": "home" })) };
        let mut world = world()
            .document(SEARCHES, SEARCH, &any)
            .answer(CARDS_OF, found([stored(1, json!({ "published_at": NOW }))]));
        arrive_by(&mut world, event_type);
        assert_eq!(!events(&world).is_empty(), is_announced, "{active_since} {event_type}");
    }
}
