//! A person is not found by those whom they have blocked or who have blocked them: random walks of
//! a few people, compared with a model of who may see whom.

use crate::harness::{
    Agent, Host, Options, join_all,
    listings::{CAPABILITIES, LISTINGS, action_body, search_ids},
    relationships::Person,
    visibility::{
        PEOPLE, Pair, Probe, UNKNOWN_LISTING, UNKNOWN_OWNER, World, about_listing, about_person,
        answer_text, pairs, unused_word,
    },
};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Returns whether to run the long form (`cargo xtask test --full`): more and longer walks, and
/// every question each time.
fn is_full() -> bool {
    std::env::var_os("PORTOLAN_TEST_FULL").is_some()
}

fn walks() -> (u64, usize) {
    if is_full() { (4, 140) } else { (2, 21) }
}

/// Returns a random part of the questions; in the long form, all of them.
fn sample<T>(mut questions: Vec<T>, random: &mut StdRng, count: usize) -> Vec<T> {
    while questions.len() > count && !is_full() {
        questions.swap_remove(random.random_range(0..questions.len()));
    }
    questions
}

/// The number of steps between two checks of everything.
const STEPS_PER_CHECK: usize = 7;

/// Prints the seed of the walk when the test fails.
struct Seed(u64);

impl Drop for Seed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("the seed of the walk is {}", self.0);
        }
    }
}

/// Starts a host. The time limit of calls is long, because the machine may be busy.
async fn host() -> Host {
    let options = Options::with(&CAPABILITIES);
    Host::start(options.configuration("[limits]\ncall_wall_time_ms = 20000\n")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn blocked_people_are_not_found_on_any_surface() {
    let (seeds, steps) = walks();
    let mut hidden = 0;
    for seed in 1..=seeds {
        let _seed = Seed(seed);
        // Each walk has its own host, because searches would find the listings of earlier walks.
        let host = host().await;
        let mut random = StdRng::seed_from_u64(seed);
        let mut world = World::new(&host).await;
        for step in 1..=steps {
            world.step(&mut random).await;
            if step % STEPS_PER_CHECK == 0 {
                hidden += check(&host, &world, &mut random).await;
            }
        }
    }
    assert!(hidden > 12, "only {hidden} pairs were blocked in the walks");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_is_followed_and_connected_is_listed_as_both() {
    let host = host().await;
    let (one, other) = (Person::new(&host).await, Person::new(&host).await);
    one.call_ok("follow", &other.id).await;
    one.connect_with(&other).await;
    for person in [&one, &other] {
        assert_eq!(person.list(json!({})).await.len(), 2);
    }
}

/// Compares every surface with the model; returns how many pairs are blocked.
async fn check(host: &Host, world: &World<'_>, random: &mut StdRng) -> usize {
    let nobody = host.test_agent().await;
    let shown = world.listings.iter().filter(|listing| listing.is_found_by_all());
    let shown: BTreeSet<&str> = shown.map(|listing| listing.id.as_str()).collect();
    let found = search_ids(&nobody, json!({ "limit": 100 })).await;
    assert_eq!(found.iter().map(String::as_str).collect::<BTreeSet<_>>(), shown);
    let facets = facets(&nobody).await;
    assert_eq!(facets["side"], facet("offer", shown.len()), "{facets:#}");

    join_all((0..PEOPLE).map(|viewer| check_lists(world, viewer, &facets))).await;
    let mut chance = || StdRng::seed_from_u64(random.random());
    let chances: Vec<_> = (0..PEOPLE).map(|_| chance()).collect();
    join_all(
        chances
            .into_iter()
            .enumerate()
            .map(|(viewer, random)| check_searches(world, viewer, random)),
    )
    .await;
    let chances: Vec<_> = (0..PEOPLE).map(|_| chance()).collect();
    join_all(
        chances
            .into_iter()
            .enumerate()
            .map(|(viewer, random)| check_listings(world, viewer, random)),
    )
    .await;
    let pairs = pairs();
    let chances: Vec<_> = pairs.iter().map(|_| chance()).collect();
    join_all(pairs.iter().zip(chances).map(|(pair, random)| check_cards(world, *pair, random)))
        .await;
    pairs.iter().filter(|pair| world.is_blocked(**pair)).count()
}

async fn facets(agent: &Agent<'_>) -> Value {
    let search = json!({ "action": "search", "facets": true, "limit": 1 });
    agent.result(LISTINGS, search).await["facets"].clone()
}

fn facet(value: &str, count: usize) -> Value {
    if count == 0 { json!([]) } else { json!([{ "value": value, "count": count }]) }
}

/// Asserts that a person's searches find what is visible to them, on pages of any size and in any
/// order, and that no page names a person from whom they are blocked.
async fn check_searches(world: &World<'_>, viewer: usize, mut random: StdRng) {
    let limit = random.random_range(1..7);
    let near = json!({ "lat": 37.76, "lng": -122.41, "radius_km": 50 });
    let bbox = json!({ "south": 37.0, "west": -123.0, "north": 38.0, "east": -122.0 });
    // Each search, and whether it finds only remote listings.
    let searches = vec![
        (json!({}), false),
        (json!({ "category": "home.let", "facets": true }), false),
        (json!({ "near": near, "category": "home" }), false),
        (json!({ "near": near, "bbox": bbox, "category": "home", "sort": "newest" }), false),
        (json!({ "q": "quiet" }), false),
        (json!({ "remote": true, "side": "offer" }), true),
    ];
    for (mut search, remote) in sample(searches, &mut random, 3) {
        search["limit"] = json!(limit);
        let listings = world.listings.iter().filter(|listing| world.can_find(viewer, listing));
        let listings = listings.filter(|listing| listing.remote || !remote);
        let expected: BTreeSet<_> = listings.map(|listing| listing.id.clone()).collect();
        let mut seen = Vec::new();
        loop {
            let body = action_body("search", &search);
            let reply = world.agent(viewer).call(LISTINGS, body).await;
            assert_eq!(reply.status, 200, "{}", reply.text);
            world.assert_names_nobody_blocked(viewer, &reply.text);
            let page = &reply.body["result"];
            let items = page["items"].as_array().unwrap();
            seen.extend(
                items.iter().map(|listing| listing["listing_id"].as_str().unwrap().to_owned()),
            );
            search["cursor"] = page["next_cursor"].clone();
            if search["cursor"].is_null() {
                break;
            }
            assert_eq!(items.len(), limit, "a short page reveals hidden listings: {page:#}");
        }
        let distinct: BTreeSet<_> = seen.iter().cloned().collect();
        assert_eq!((distinct.len(), &distinct), (seen.len(), &expected), "{search} by {viewer}");
    }
}

/// Asserts that a person's own lists name nobody from whom they are blocked, except in what they
/// have written themselves.
async fn check_lists(world: &World<'_>, viewer: usize, facets: &Value) {
    let agent = world.agent(viewer);
    assert_eq!(self::facets(agent).await, *facets, "facets are the same for everybody");
    let body = json!({ "action": "list", "limit": 100 });
    let listed = agent.result("social_relationships", body).await;
    let listed = listed["items"].as_array().unwrap().iter();
    let text = |relationship: &Value, field: &str| relationship[field].as_str().unwrap().to_owned();
    let listed: BTreeSet<_> = listed
        .map(|relationship| {
            ["kind", "subject_id", "object_id", "state"].map(|field| text(relationship, field))
        })
        .collect();
    assert_eq!(listed, world.relationships_of(viewer), "the relationships of {viewer}");

    let person = |other: usize| format!("owner:{}", world.id(other));
    let connected = (0..PEOPLE).filter(|other| world.are_connected(viewer, *other)).map(person);
    let granted = (0..PEOPLE).filter(|other| world.granted.contains(&(*other, viewer)));
    let granted = granted.filter(|other| !world.is_blocked((viewer, *other))).map(person);
    let viewed = world.listings.iter();
    let viewed = viewed
        .filter(|listing| listing.owner == viewer || world.is_shown_to_network(viewer, listing));
    let viewed = viewed.map(|listing| format!("listing:{}", listing.id));
    for (kind, relation, expected) in [
        ("owner", "connected", connected.collect::<BTreeSet<_>>()),
        ("owner", "freebusy_viewer", granted.collect()),
        ("listing", "can_view", viewed.collect()),
    ] {
        let body = json!({
            "action": "list_objects", "object_type": kind, "relation": relation, "limit": 100,
        });
        let listed = agent.result("social_permissions", body).await["items"].clone();
        let listed: BTreeSet<String> = serde_json::from_value(listed).unwrap();
        assert_eq!(listed, expected, "{kind} {relation} of {viewer}");
    }
    let grants = agent.call("social_permissions", json!({ "action": "list_grants" })).await;
    world.assert_names_nobody_blocked(viewer, &grants.text);

    let body = json!({ "action": "members", "org_id": world.org_id });
    let members = agent.result("social_org", body).await;
    for member in members["items"].as_array().unwrap() {
        let other = world.index_of(member["owner_id"].as_str().unwrap());
        let shown = other == viewer || !world.is_blocked((viewer, other));
        let name = if shown { json!(world.name(other)) } else { Value::Null };
        assert_eq!(member["display_name"], name, "{other} for {viewer}");
    }
}

/// Asserts that the answers about a person from whom the viewer is blocked are exactly those about
/// a person who does not exist.
async fn check_cards(world: &World<'_>, pair: Pair, mut random: StdRng) {
    let (viewer, other) = pair;
    let (agent, owner_id) = (world.agent(viewer), world.id(other));
    let card = agent.call("owners", json!({ "action": "get", "owner_id": owner_id })).await;
    if !world.is_blocked(pair) {
        assert_eq!(card.body["result"]["display_name"], world.name(other), "{}", card.text);
        return;
    }
    card.assert_refused(404, "owner_not_found");
    let has = |kind| world.has_relationship(kind, viewer, other);
    for Probe { capability, body, if_related } in sample(about_person(owner_id), &mut random, 9) {
        if if_related || !(has("block") || has("mute")) {
            let answer = answer_text(agent, &capability, body.clone(), owner_id).await;
            assert_eq!(
                answer,
                world
                    .answer_about_unknown(viewer, &capability, &body, owner_id, UNKNOWN_OWNER)
                    .await
            );
        }
    }
    // The viewer reads their own blocks and mutes, and nothing of the other person's.
    let body = json!({ "action": "get", "owner_id": owner_id });
    let view = agent.result("social_relationships", body).await;
    for relationship in view["relationships"].as_array().unwrap() {
        let own = ["block", "mute"].iter().any(|kind| relationship["kind"] == *kind);
        assert!(own && relationship["direction"] == "outgoing", "{view:#}");
    }
    let object = format!("owner:{owner_id}");
    let body = json!({ "action": "check", "relation": "can_message", "object": object });
    let permission = agent.result("social_permissions", body).await;
    assert_eq!((&permission["allowed"], &permission["reason_path"]), (&json!(false), &json!([])));
}

/// Asserts that the answers about a listing that is not visible to the viewer, for whatever reason,
/// are exactly those about a listing that does not exist.
async fn check_listings(world: &World<'_>, viewer: usize, mut random: StdRng) {
    let agent = world.agent(viewer);
    for listing in world.listings.iter().filter(|listing| listing.owner != viewer) {
        let is_found = world.can_find(viewer, listing);
        let ids = search_ids(agent, json!({ "q": listing.word })).await;
        assert_eq!(ids == [listing.id.as_str()], is_found, "{viewer} looks for {}", listing.word);
        if world.can_see(viewer, listing) {
            let get = json!({ "action": "get", "listing_id": listing.id });
            let view = agent.result(LISTINGS, get).await;
            assert_eq!(view["owner"]["display_name"], world.name(listing.owner));
            let stats = json!({ "action": "stats", "listing_id": listing.id });
            agent.call(LISTINGS, stats).await.assert_refused(403, "not_owner");
            continue;
        }
        for Probe { capability, body, .. } in sample(about_listing(&listing.id), &mut random, 4) {
            let answer = answer_text(agent, &capability, body.clone(), &listing.id).await;
            let expected = world.answer_about_unknown(
                viewer,
                &capability,
                &body,
                &listing.id,
                UNKNOWN_LISTING,
            );
            assert_eq!(answer, expected.await, "{viewer} asks about {}", listing.id);
        }
        if !is_found {
            let search = |word: &str| action_body("search", &json!({ "q": word }));
            let answer = answer_text(agent, LISTINGS, search(&listing.word), &listing.id).await;
            let unmatched = answer_text(agent, LISTINGS, search(unused_word()), &listing.id).await;
            assert_eq!(answer, unmatched, "{viewer} looks for {}", listing.word);
        }
    }
}
