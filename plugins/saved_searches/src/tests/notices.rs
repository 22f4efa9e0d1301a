//! The notices to people, and their times.

use super::*;
use crate::types::*;

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
    // From now on, `agent_listings` returns only the cards of the listings that still exist.
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
