//! Saved searches in a world without other capabilities.

use crate::{SavedSearches, documents::*, fixtures::*, states::State, types::*};
use listing_search::{CARDS_OF, FoundCards, StoredCard};
use people_kit::{people, relations, taxonomy};
use portolan_sdk::{
    prelude::*,
    test::{self, Logged, World},
};

const NOW: u64 = 1_800_000_000_000;
const SEARCH: &str = "sav_01JZX8Q4M2N6P7R8S9T0V1W2X3";

fn found(cards: impl IntoIterator<Item = StoredCard>) -> FoundCards {
    FoundCards { cards: cards.into_iter().collect() }
}

/// Returns a world that knows nobody's profile and in which nobody has blocked anybody.
fn world() -> World {
    test::world()
        .of::<SavedSearches>()
        .system()
        .at(NOW)
        .answer(people::PEOPLE, json!({ "people": [] }))
        .answer(relations::HIDDEN, json!({ "owner_ids": [] }))
}

fn arrive(world: &mut World) {
    arrive_by(world, "listing.published");
}

fn arrive_by(world: &mut World, event_type: &str) {
    let event = json!({
        "id": "evt_1", "event_type": event_type, "subject": "listings/x",
        "data": { "listing_id": LISTING, "category": "home.let.room" },
    });
    world.call("on_listing_active", &event).unwrap();
}

/// Returns the types of the events, each with the ids of its listings.
fn events(world: &World) -> Vec<(String, Value)> {
    let events = world.events().into_iter();
    events.map(|event| (event.event_type, event.data["listing_ids"].clone())).collect()
}

fn matched() -> (String, Value) {
    ("saved_search.matched".into(), json!([LISTING]))
}

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
fn a_digest_comes_at_its_time_and_only_with_what_is_still_there() {
    let since = NOW - HOUR;
    let daily = SavedSearch {
        frequency: Frequency::Daily,
        since,
        ..search("Daily", json!({ "category": "home" }))
    };
    for is_still_there in [true, false] {
        let later = is_still_there.then(|| stored(1, json!({})));
        let mut world = world()
            .document(SEARCHES, SEARCH, &daily)
            .answer(CARDS_OF, found([stored(1, json!({}))]))
            .answer(CARDS_OF, found(later));
        arrive(&mut world);
        assert!(events(&world).is_empty());
        let timers = world.timers();
        let notice = timers.iter().find(|timer| timer.action == "notify").unwrap();
        assert_eq!(notice.at, since + DAY);
        world.advance(23 * HOUR);
        world.call("notify", &notice.input).unwrap();
        let told = ("saved_search.digest".to_owned(), json!([LISTING]));
        assert_eq!(events(&world), if is_still_there { vec![told] } else { Vec::new() });
        world.call("notify", &notice.input).unwrap();
        assert_eq!(events(&world).len(), usize::from(is_still_there), "it is announced once");
    }
}

#[test]
fn listings_within_a_minute_are_announced_together() {
    let other =
        |listing_id: &str| StoredCard { listing_id: listing_id.into(), ..stored(1, json!({})) };
    let mut world = world()
        .document(SEARCHES, SEARCH, &search("Any", json!({ "category": "home" })))
        .answer(CARDS_OF, found([other("lst_1")]))
        .answer(CARDS_OF, found([other("lst_2")]))
        .answer(CARDS_OF, found([other("lst_3")]))
        .answer(CARDS_OF, found([other("lst_2"), other("lst_3")]));
    for _ in 0..3 {
        arrive(&mut world);
    }
    let told = |ids: &[&str]| ("saved_search.matched".to_owned(), json!(ids));
    assert_eq!(events(&world), [told(&["lst_1"])]);
    world.advance(MINUTE);
    world.call("notify", &json!({ "search_id": SEARCH })).unwrap();
    assert_eq!(events(&world), [told(&["lst_1"]), told(&["lst_3", "lst_2"])]);
}

/// Returns a hit of `SEARCH`.
fn hit() -> StoredHit {
    StoredHit {
        owner_id: SEEKER.into(),
        search_id: SEARCH.into(),
        listing_id: "lst_1".into(),
        number: 0,
        published_at: 0,
        until: 0,
    }
}

fn listing(number: usize) -> StoredCard {
    StoredCard { listing_id: format!("lst_{number:03}"), ..stored(1, json!({})) }
}

#[test]
fn a_digest_does_not_depend_on_the_newest_listings() {
    const FOUND: usize = 125;
    const STILL_THERE: usize = 101;
    let weekly = SavedSearch {
        frequency: Frequency::Weekly,
        ..search("Weekly", json!({ "category": "home" }))
    };
    let mut world = world().document(SEARCHES, SEARCH, &weekly);
    for number in 0..FOUND {
        world = world.answer(CARDS_OF, found([listing(number)]));
    }
    // Whoever calls gets the cards that are still there.
    let mut world = world.answer(CARDS_OF, found((1..=STILL_THERE).map(listing)));
    for _ in 0..FOUND {
        arrive(&mut world);
    }
    world.advance(7 * DAY);
    world.call("notify", &json!({ "search_id": SEARCH })).unwrap();
    let asked = world.asked().into_iter().filter(|asked| asked.action == "cards");
    let together = asked.map(|asked| asked.input["listing_ids"].as_array().unwrap().len());
    assert_eq!(together.filter(|count| *count > 1).collect::<Vec<_>>(), [99, FOUND - 99]);
    let event = &world.events()[0];
    assert_eq!(event.data["count"], STILL_THERE);
    let newest: Vec<_> = (1..=STILL_THERE).rev().take(MOST_NAMED).collect();
    let newest = newest.into_iter().map(|number| listing(number).listing_id);
    assert_eq!(event.data["listing_ids"], json!(newest.collect::<Vec<_>>()));
    assert_eq!(
        world.documents(HITS).len(),
        STILL_THERE,
        "what was not announced can be found again"
    );
    let news = world.get(NEWS, SEARCH).unwrap().value;
    assert_eq!((news.kept as usize, news.count), (STILL_THERE, 0));
}

#[test]
fn an_event_names_only_what_its_person_can_see() {
    let mut world = world()
        .document(SEARCHES, SEARCH, &search("Any", json!({ "category": "home" })))
        .answer(CARDS_OF, found([listing(1)]))
        .answer(CARDS_OF, found([listing(2)]))
        .answer(CARDS_OF, found([listing(3)]));
    arrive(&mut world);
    arrive(&mut world);
    let notices = |world: &World| {
        let timers = world.timers().into_iter().filter(|timer| timer.action == "notify");
        timers.map(|timer| timer.at).collect::<Vec<_>>()
    };
    assert_eq!(notices(&world), [NOW + MINUTE]);
    // `lst_002` has ended meanwhile, and its notice is late.
    world.advance(MINUTE + 1);
    arrive(&mut world);
    assert_eq!(events(&world).len(), 1);
    assert_eq!(notices(&world), [NOW + MINUTE], "it is not postponed");
    world.call("notify", &json!({ "search_id": SEARCH })).unwrap();
    assert_eq!(events(&world)[1].1, json!(["lst_003"]));
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
fn hits_are_bounded_and_forgotten() {
    let news = News { owner_id: SEEKER.into(), kept: MOST_HITS, ..News::default() };
    let hit = |until| StoredHit { until, published_at: until, ..hit() };
    let mut world = world()
        .document(SEARCHES, SEARCH, &search("Any", json!({ "category": "home" })))
        .document(NEWS, SEARCH, &news)
        .document(HITS, "first", &hit(NOW + 1))
        .document(HITS, "second", &hit(NOW + 2))
        .answer(CARDS_OF, found([stored(1, json!({}))]));
    arrive(&mut world);
    let ids =
        |world: &World| world.documents(HITS).into_iter().map(|hit| hit.id).collect::<Vec<_>>();
    assert_eq!(ids(&world), [hit_id(SEARCH, LISTING), "second".into()]);
    assert_eq!(world.get(NEWS, SEARCH).unwrap().value.kept, MOST_HITS);
    world.advance(DAY);
    world.call("sweep", &json!({})).unwrap();
    assert_eq!(ids(&world), [hit_id(SEARCH, LISTING)]);
    assert_eq!(world.get(NEWS, SEARCH).unwrap().value.kept, MOST_HITS - 1);
    world.advance(365 * DAY);
    world.call("sweep", &json!({})).unwrap();
    assert!(ids(&world).is_empty());
}

#[test]
fn what_made_room_for_newer_listings_is_not_announced_again() {
    let card = |number: usize, published_at: u64| StoredCard {
        card: card(json!({ "published_at": published_at })),
        ..listing(number)
    };
    let news = News { owner_id: SEEKER.into(), kept: MOST_HITS - 1, ..News::default() };
    let mut world = world()
        .document(SEARCHES, SEARCH, &search("Any", json!({ "category": "home" })))
        .document(NEWS, SEARCH, &news)
        .answer(CARDS_OF, found([card(1, NOW)]))
        .answer(CARDS_OF, found([card(2, NOW + HOUR)]))
        .answer(CARDS_OF, found([card(1, NOW)]))
        .answer(CARDS_OF, found([card(1, NOW)]))
        .answer(CARDS_OF, found([card(1, NOW + 2 * HOUR)]));
    let dropped = |world: &World| world.get(HITS, &hit_id(SEARCH, "lst_001")).is_none();
    for (event_type, is_announced) in [
        ("listing.published", true),
        ("listing.published", true),
        ("listing.updated", false),
        ("listing.resumed", false),
        ("listing.published", true),
    ] {
        world.advance(HOUR);
        let before = events(&world).len();
        arrive_by(&mut world, event_type);
        assert_eq!(events(&world).len() > before, is_announced, "{event_type}");
        assert!(before != 1 || dropped(&world));
    }
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

#[test]
fn a_listing_that_arrives_does_not_postpone_a_sweep() {
    const TODAY: u64 = NOW / DAY * DAY;
    let expired = StoredHit { until: TODAY, ..hit() };
    let mut world = world()
        .document(SEARCHES, SEARCH, &search("Any", json!({ "category": "home" })))
        .answer(CARDS_OF, found([stored(1, json!({}))]));
    arrive(&mut world);
    let sweeps = |world: &World| {
        let timers = world.timers().into_iter().filter(|timer| timer.action == "sweep");
        timers.map(|timer| timer.at).collect::<Vec<_>>()
    };
    assert_eq!(sweeps(&world), [TODAY + DAY]);
    for number in 0..1000 {
        world = world.document(HITS, &format!("expired_{number:03}"), &expired);
    }
    world.advance(DAY);
    let other = search("Other", json!({ "category": "home" }));
    let mut world = world.document(SEARCHES, "sav_2", &other);
    arrive(&mut world);
    assert!(sweeps(&world).contains(&(TODAY + DAY)), "the sweep that is due stays");
    world.call("sweep", &json!({})).unwrap();
    arrive(&mut world);
    assert!(sweeps(&world).contains(&(NOW + DAY)), "the sweep goes on at once");
    for _ in 0..4 {
        world.call("sweep", &json!({})).unwrap();
    }
    assert_eq!(world.documents(HITS).len(), 2);
    assert!(sweeps(&world).contains(&(TODAY + 2 * DAY)));
}

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
        let SavedSearch { prepared, indexed, .. } = &search.value;
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
