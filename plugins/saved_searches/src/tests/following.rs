//! Searches of the map, tried against changes of the feeds.

use super::*;
use crate::following::FOLLOWING;
use portolan_sdk::feeds::Operation::{self, Added, Changed, Removed};

const ROLES: Collection<Value> = Collection::new("roles")
    .index("id", &["id"])
    .index("function", &["function"])
    .index("date_posted", &["date_posted"])
    .text(&["title"]);

fn role(id: &str, title: &str) -> Value {
    json!({
        "id": id, "target_id": "tgt_1", "title": title, "function": "engineering", "seniority": null,
        "employment_type": "FULL_TIME", "workplace_type": "remote", "base_salary": null, "locations": [],
        "date_posted": "2026-03-01T12:00:00.000Z", "apply_url": "https://boards.example/1",
        "maturity": "verified", "updated_at": "2026-03-01T12:00:00.000Z",
    })
}

/// Adds a role, and its change, to the feeds.
fn with_role(world: World, id: &str, title: &str, operation: Operation) -> World {
    world.record(ROLES, id, &role(id, title)).change("roles", id, operation)
}

/// Returns a world with a role, in which the person has saved these searches of the map.
fn saving(queries: &[Value]) -> World {
    let mut world = world().record(ROLES, "rol_0", &role("rol_0", "Rust engineer")).owner(SEEKER);
    for query in queries {
        let search = json!({ "name": "Roles", "map_query": query });
        world.call("create", &search).unwrap();
    }
    world.system()
}

fn engineers() -> Value {
    json!({ "q": "rust engineer", "role": { "function": "engineering" } })
}

fn publish(world: &mut World, cursor: &str) {
    let data = json!({ "publication": "test", "cursor": cursor, "feeds": ["roles"] });
    let event =
        json!({ "id": "evt_1", "event_type": "feeds.published", "subject": "feeds", "data": data });
    world.call("on_feeds_published", &event).unwrap();
}

/// Runs the timers that continue, and returns how many there were.
fn finish(world: &mut World) -> usize {
    let mut runs = 0;
    loop {
        let following = world.documents(FOLLOWING).pop().unwrap().value;
        if following.changes.is_empty() && !following.has_more {
            return runs;
        }
        assert!(world.timers().iter().any(|timer| timer.action == "follow"));
        world.call("follow", &json!({})).unwrap();
        runs += 1;
    }
}

/// Returns the records of each event, with what has happened to them.
fn announced(world: &World) -> Vec<Vec<(String, String)>> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let record = |record: &Value| (text(&record["id"]), text(&record["change"]));
    let events = world.events().into_iter();
    events
        .map(|event| event.data["records"].as_array().unwrap().iter().map(record).collect())
        .collect()
}

fn pair(id: &str, change: &str) -> (String, String) {
    (id.to_owned(), change.to_owned())
}

#[test]
fn a_search_is_told_once_of_each_record_that_is_new_or_has_changed_and_fits() {
    let world = saving(&[engineers(), json!({ "q": "gardener", "types": ["role"] })]);
    let world = with_role(world, "rol_1", "Senior Rust engineer", Added);
    let world = with_role(world, "rol_2", "Python engineer", Added);
    let mut world = world.change("roles", "rol_0", Changed).change("roles", "rol_3", Removed);
    publish(&mut world, "4");
    assert_eq!(finish(&mut world), 0);
    assert_eq!(announced(&world), [[pair("rol_0", "changed"), pair("rol_1", "added")]]);
    let event = &world.events()[0];
    assert_eq!(
        (event.event_type.as_str(), &event.data["count"]),
        ("saved_search.matched", &json!(2))
    );
    let expected = json!({
        "id": "rol_1", "feed": "roles", "title": "Senior Rust engineer",
        "url": "https://host.example/map/roles/rol_1", "change": "added",
    });
    assert_eq!(event.data["records"][1], expected);
    assert_eq!(event.data["listing_ids"], json!([]));

    // The event again, and another change of the same record.
    publish(&mut world, "4");
    let mut world = world.change("roles", "rol_1", Changed);
    world.advance(HOUR);
    publish(&mut world, "5");
    assert_eq!(announced(&world).len(), 1);
}

#[test]
fn many_changes_and_searches_are_tried_in_steps() {
    const CHANGES: usize = 250;
    const SEARCHES_EACH: usize = 45;
    let mut world = saving(&vec![engineers(); SEARCHES_EACH]);
    for number in 0..CHANGES {
        let title = if number % 100 == 0 { "Rust engineer" } else { "Gardener" };
        world = with_role(world, &format!("rol_{number:04}"), title, Added);
    }
    publish(&mut world, &CHANGES.to_string());
    // Three pages of changes, each in three pages of searches; the first is the event's.
    assert_eq!(finish(&mut world), 8);
    assert_eq!(announced(&world).len(), SEARCHES_EACH);
    assert_eq!(world.documents(HITS).len(), 3 * SEARCHES_EACH);
    world.advance(MINUTE);
    for search in world.documents(SEARCHES) {
        world.call("notify", &json!({ "search_id": search.id })).unwrap();
    }
    let events = announced(&world);
    assert_eq!(events.len(), 2 * SEARCHES_EACH);
    let later = [pair("rol_0200", "added"), pair("rol_0100", "added")];
    assert!(events[SEARCHES_EACH..].iter().all(|records| *records == later));
}

#[test]
fn a_digest_leaves_out_what_no_longer_fits() {
    let mut world = world().record(ROLES, "rol_0", &role("rol_0", "Gardener")).owner(SEEKER);
    let search = json!({ "name": "Roles", "map_query": engineers(), "frequency": "daily" });
    let made = world.call("create", &search).unwrap();
    assert_eq!((&made["map_query"], &made["query"]), (&engineers(), &Value::Null));
    let world = with_role(world.system(), "rol_1", "Rust engineer", Added);
    let mut world = with_role(world, "rol_2", "Rust engineer", Added);
    publish(&mut world, "2");
    assert!(world.events().is_empty());
    // The conditions are narrower now.
    let mut world = world.owner(SEEKER);
    let id = &made["search_id"];
    let narrower = json!({ "role": { "function": "engineering" }, "q": "gardener" });
    world.call("update", &json!({ "search_id": id, "map_query": narrower })).unwrap();
    let mut world = with_role(world.system(), "rol_3", "Gardener", Added);
    publish(&mut world, "3");
    world.advance(DAY);
    world.call("notify", &json!({ "search_id": id })).unwrap();
    assert_eq!(announced(&world), [[pair("rol_3", "added")]]);
    assert_eq!(world.events()[0].event_type, "saved_search.digest");
}

#[test]
fn a_node_without_the_publication_waits_for_it() {
    let mut world = saving(&[engineers()]);
    publish(&mut world, "1");
    assert!(world.events().is_empty());
    let timer = world.timers().pop().unwrap();
    assert_eq!((timer.action.as_str(), timer.at), ("follow", NOW + 5_000));
    world.call("follow", &json!({})).unwrap();
    assert!(world.events().is_empty());
    let mut world = with_role(world, "rol_1", "Rust engineer", Added);
    world.call("follow", &json!({})).unwrap();
    assert_eq!(announced(&world), [[pair("rol_1", "added")]]);
}

#[test]
fn a_log_that_does_not_continue_is_followed_from_the_current_publication() {
    let world = with_role(saving(&[engineers()]), "rol_1", "Rust engineer", Added);
    let mut lost = world.documents(FOLLOWING).pop().unwrap().value;
    lost.cursor = "77".into();
    let mut world = world.document(FOLLOWING, "feeds", &lost);
    publish(&mut world, "1");
    assert!(world.events().is_empty());
    let mut world = with_role(world, "rol_2", "Rust engineer", Added);
    publish(&mut world, "2");
    assert_eq!(announced(&world), [[pair("rol_2", "added")]]);
}

#[test]
fn paused_searches_and_changes_before_a_search_are_not_announced() {
    let mut world = saving(&[engineers()]);
    let id = json!({ "search_id": world.documents(SEARCHES)[0].id });
    let step = |world: World, action: &str| {
        let mut world = world.owner(SEEKER);
        world.call(action, &id).unwrap();
        world.system()
    };
    world = with_role(step(world, "pause"), "rol_1", "Rust engineer", Added);
    publish(&mut world, "1");
    let mut world = with_role(step(world, "resume"), "rol_2", "Rust engineer", Added);
    publish(&mut world, "2");
    assert_eq!(announced(&world), [[pair("rol_2", "added")]]);
}

#[test]
fn a_search_is_either_of_listings_or_of_the_map() {
    let mut world = saving(&[engineers()]).owner(SEEKER);
    let id = world.documents(SEARCHES)[0].id.clone();
    for (action, input) in [
        ("create", json!({ "name": "Both", "query": { "q": "x" }, "map_query": { "q": "x" } })),
        ("create", json!({ "name": "None" })),
        ("create", json!({ "name": "No words", "map_query": { "q": "!" } })),
        ("create", json!({ "name": "No words", "map_query": { "role": {}, "types": ["person"] } })),
        ("update", json!({ "search_id": id, "query": { "q": "x" } })),
        ("preview", json!({ "search_id": id, "map_query": { "q": "x" }, "limit": 5 })),
    ] {
        let refusal = world.call(action, &input).unwrap_err();
        assert!(["validation_failed", "query_empty"].contains(&refusal.code.as_str()), "{input}");
    }
}
