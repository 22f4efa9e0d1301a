//! Saved searches: who is notified of which listing, when, and how often.

use crate::{
    cases::{
        personal::erase,
        states::{Table, texts},
    },
    harness::{
        Host, Reply,
        component_sets::LISTINGS,
        listings::{Lister, action_body, follow_next_step},
        time::{DAY, MINUTE},
    },
};
use serde_json::{Value, json};
use std::collections::BTreeSet;

const SEARCHES: &str = "saved_searches";

async fn host() -> Host {
    Host::with(&[&LISTINGS[..], &[SEARCHES]].concat()).await
}

impl Lister<'_> {
    async fn call_searches(&self, action: &str, fields: Value) -> Reply {
        self.agent().call(SEARCHES, action_body(action, &fields)).await
    }

    async fn searches_ok(&self, action: &str, fields: Value) -> Value {
        self.agent().result(SEARCHES, action_body(action, &fields)).await
    }

    /// Saves a search and returns its id.
    async fn save_search(&self, name: &str, query: Value, frequency: &str) -> Value {
        let search = json!({ "name": name, "query": query, "frequency": frequency });
        self.searches_ok("create", search).await["search_id"].clone()
    }

    /// Publishes a room and waits until the searches have been tried against it. Returns its id.
    async fn publish_room(&self) -> String {
        let listing_id = self.create_listing(json!({})).await;
        self.agent().host.wait_until_settled().await;
        listing_id
    }

    async fn preview_ids(&self, fields: Value) -> Vec<String> {
        let found = self.searches_ok("preview", fields).await;
        let items = found["items"].as_array().unwrap().iter();
        items.map(|listing| listing["listing_id"].as_str().unwrap().to_owned()).collect()
    }

    /// Returns the type and data of every event of the person's searches so far, when no work is
    /// left to do.
    async fn announced(&self) -> Vec<(String, Value)> {
        self.agent().host.wait_until_settled().await;
        let page = self.reader.page("wait=0&cursor=0&limit=100").await;
        let events = page["events"].as_array().unwrap().iter();
        let pair =
            |event: &Value| (event["type"].as_str().unwrap().to_owned(), event["data"].clone());
        events.map(pair).filter(|(name, _)| name.starts_with("saved_search.")).collect()
    }

    /// Returns the names of the searches of which something was announced, in the order of the events.
    async fn announced_names(&self) -> Vec<String> {
        let announced = self.announced().await.into_iter();
        announced.map(|(_, data)| data["name"].as_str().unwrap().to_owned()).collect()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_is_announced_to_exactly_the_searches_that_find_it() {
    let host = host().await;
    let (ada, bea) = (Lister::new(&host).await, Lister::new(&host).await);
    let near = |lat: f64, radius: f64| json!({ "lat": lat, "lng": -122.41, "radius_km": radius });
    let bbox = json!({ "south": 37.6, "west": -122.6, "north": 37.82, "east": -122.3 });
    let pay =
        |min: u32, max: u32| json!({ "currency": "USD", "min": min, "max": max, "unit": "MONTH" });
    let queries = [
        json!({ "q": "sunny rooms" }),
        json!({ "q": "sunny balcony" }),
        json!({ "q": "flatshare", "category": "home.let" }),
        json!({ "category": "home" }),
        json!({ "category": "work" }),
        json!({ "category": "home.rent" }),
        json!({ "side": "offer" }),
        json!({ "side": "demand" }),
        json!({ "remote": true }),
        json!({ "near": near(37.76, 5.0), "category": "home" }),
        json!({ "near": near(38.76, 50.0), "category": "home" }),
        json!({ "bbox": bbox, "side": "offer" }),
        json!({ "compensation": pay(1000, 1500) }),
        json!({ "compensation": pay(100, 200) }),
        json!({ "category": "home.let", "filters": { "pets": { "eq": "negotiable" } } }),
        json!({ "category": "home.let", "filters": { "pets": { "eq": "allowed" } } }),
        json!({ "category": "home.let", "filters": { "flatmates": { "gte": 2, "lte": 4 } } }),
        json!({ "category": "home.let", "filters": { "flatmates": { "gte": 3 } } }),
    ];
    for (number, query) in queries.iter().enumerate() {
        ada.save_search(&format!("Search {number}"), query.clone(), "instant").await;
    }
    let listing = bea.publish_room().await;
    let announced = ada.announced().await;
    let name = |(_, data): &(String, Value)| data["name"].as_str().unwrap().to_owned();
    let announced_names: BTreeSet<_> = announced.iter().map(name).collect();
    let mut expected = BTreeSet::new();
    for (number, query) in queries.iter().enumerate() {
        let found = ada.preview_ids(json!({ "query": query })).await;
        let mut search = query.clone();
        search["sort"] = json!("newest");
        let finds = ada.search(search).await;
        assert_eq!(found, finds, "{query}");
        if found.contains(&listing) {
            expected.insert(format!("Search {number}"));
        }
    }
    assert_eq!(announced_names, expected);
    assert!(expected.len() == 9 && announced.len() == 9, "{announced:#?}");
    let (name, data) = &announced[0];
    assert_eq!((name.as_str(), &data["listing_ids"]), ("saved_search.matched", &json!([listing])));
    let next = &data["next"];
    let shown = ada.agent().result("agent_listings", next["input"].clone()).await;
    assert_eq!(shown["listing_id"], json!(listing));
    assert!(bea.announced().await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listing_is_announced_once() {
    let host = host().await;
    let (ada, bea) = (Lister::new(&host).await, Lister::new(&host).await);
    ada.save_search("Rooms", json!({ "category": "home.let" }), "instant").await;
    let listing = bea.publish_room().await;
    assert_eq!(ada.announced_names().await, ["Rooms"]);
    let patch = json!({ "listing_id": listing, "patch": { "title": "Sunny room, cheaper" } });
    bea.result("update", patch).await;
    for action in ["pause", "resume", "renew"] {
        assert_eq!(bea.call_on(action, &listing).await.status, 200, "{action}");
        host.advance(2 * MINUTE).await;
    }
    host.advance(40 * DAY).await;
    assert_eq!(bea.call_on("renew", &listing).await.status, 200);
    // The inbox no longer has the first event.
    assert!(ada.announced().await.is_empty(), "changed, resumed, and published again");

    let first = bea.create_listing(json!({ "publish": false })).await;
    assert!(ada.announced().await.is_empty(), "a draft is not announced");
    bea.call_on("publish", &first).await;
    host.wait_until_settled().await;
    let others = [bea.publish_room().await, bea.publish_room().await];
    let announced = ada.announced().await;
    assert_eq!(announced[0].1["listing_ids"], json!([first]));
    assert_eq!(announced.len(), 1, "what follows within a minute waits");
    host.advance(MINUTE).await;
    let announced = ada.announced().await;
    assert_eq!(announced[1].1["listing_ids"], json!([others[1], others[0]]));
    assert_eq!((announced.len(), &announced[1].1["count"]), (2, &json!(2)));
}

#[tokio::test(flavor = "multi_thread")]
async fn digests_come_at_their_time_and_only_with_listings() {
    let host = host().await;
    let (ada, bea) = (Lister::new(&host).await, Lister::new(&host).await);
    let daily = ada.save_search("Daily", json!({ "q": "sunny" }), "daily").await;
    ada.save_search("Weekly", json!({ "q": "sunny" }), "weekly").await;
    host.advance(DAY).await;
    assert!(ada.announced().await.is_empty(), "nothing was found");
    let [first, gone, last] =
        [bea.publish_room().await, bea.publish_room().await, bea.publish_room().await];
    assert!(ada.announced().await.is_empty());
    let waiting = ada.searches_ok("get", json!({ "search_id": daily })).await;
    assert_eq!(waiting["waiting"], 3);
    assert!(waiting["next_event_at"].is_string(), "{waiting:#}");
    bea.call_on("withdraw", &gone).await;
    host.advance(DAY).await;
    let announced = ada.announced().await;
    let (name, data) = &announced[0];
    assert_eq!(
        (announced.len(), name.as_str(), &data["name"]),
        (1, "saved_search.digest", &json!("Daily"))
    );
    assert_eq!((&data["count"], &data["listing_ids"]), (&json!(2), &json!([last, first])));
    let preview = ada.agent().result(SEARCHES, data["next"]["input"].clone()).await;
    assert_eq!(preview["items"].as_array().unwrap().len(), 2);
    host.advance(7 * DAY).await;
    assert_eq!(ada.announced_names().await, ["Daily", "Weekly"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_changes_pauses_and_deletes_their_searches() {
    let host = host().await;
    let (ada, bea) = (Lister::new(&host).await, Lister::new(&host).await);
    let id = ada.save_search("Mine", json!({ "q": "attic" }), "instant").await;
    let step = json!({ "search_id": id });
    let old = bea.publish_room().await;
    assert!(ada.announced().await.is_empty());
    host.advance(MINUTE).await;

    let change = json!({ "search_id": id, "query": { "q": "sunny" }, "expected_version": 1 });
    let changed = ada.searches_ok("update", change.clone()).await;
    assert_eq!((&changed["query"], &changed["version"]), (&json!({ "q": "sunny" }), &json!(2)));
    ada.call_searches("update", change).await.assert_refused(409, "version_conflict");
    assert!(ada.announced().await.is_empty(), "what was published before is not announced");
    let typo = json!({ "listing_id": old, "patch": { "title": "Sunny room, corrected" } });
    bea.result("update", typo).await;
    assert!(ada.announced().await.is_empty(), "also if it is changed");
    bea.publish_room().await;
    assert_eq!(ada.announced().await.len(), 1);

    assert_eq!(ada.searches_ok("pause", step.clone()).await["state"], "paused");
    ada.call_searches("pause", step.clone()).await.assert_refused(409, "invalid_transition");
    bea.publish_room().await;
    ada.searches_ok("resume", step.clone()).await;
    host.advance(DAY).await;
    assert_eq!(ada.announced().await.len(), 1, "nothing is found during a pause");
    bea.publish_room().await;
    assert_eq!(ada.announced().await.len(), 2);

    for action in ["get", "update", "pause", "delete", "preview"] {
        let refused = bea.call_searches(action, step.clone()).await;
        refused.assert_refused(404, "saved_search_not_found");
        follow_next_step(bea.agent(), &refused).await;
    }
    assert_eq!(ada.searches_ok("delete", step.clone()).await["state"], "deleted");
    ada.call_searches("get", step).await.assert_refused(404, "saved_search_not_found");
    bea.publish_room().await;
    assert_eq!(ada.announced().await.len(), 2);
    let left = "SELECT id FROM documents WHERE id LIKE 'sav%' AND body IS NOT NULL";
    assert!(host.database().texts(left).await.is_empty(), "nothing is left of a deleted search");
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_in_every_state() {
    let host = host().await;
    let ada = Lister::new(&host).await;
    let table = Table::read(&host, SEARCHES, "saved_search").await;
    for state in ["active", "paused"] {
        for action in table.actions() {
            let id = ada.save_search("Mine", json!({ "q": "sunny" }), "daily").await;
            let step = json!({ "search_id": id });
            if state == "paused" {
                ada.searches_ok("pause", step.clone()).await;
            }
            let allowed = ada.searches_ok("get", step.clone()).await["allowed_actions"].clone();
            let reply = ada.call_searches(action, step).await;
            match table.leads(state, action, None) {
                Some(to) => {
                    assert_eq!(reply.status, 200, "{state} {action}: {}", reply.text);
                    let after = reply.body["result"]["state"].as_str().unwrap();
                    assert!(to.iter().any(|to| to == after), "{state} {action}: {after}");
                }
                None => reply.assert_refused(409, "invalid_transition"),
            }
            let is_allowed = texts(&allowed).iter().any(|allowed| allowed == action);
            assert_eq!(is_allowed, reply.status == 200, "{state} {action}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn people_are_notified_only_of_what_they_could_find() {
    let host = host().await;
    let [ada, bea, friend, away] = [
        Lister::new(&host).await,
        Lister::new(&host).await,
        Lister::new(&host).await,
        Lister::new(&host).await,
    ];
    for person in [&ada, &bea, &friend, &away] {
        person.save_search("Rooms", json!({ "category": "home.let" }), "instant").await;
    }
    bea.relate("connect", &friend).await;
    friend.relate("accept", &bea).await;
    away.agent().result("owners", json!({ "action": "deactivate" })).await;
    bea.create_listing(json!({ "visibility": "network" })).await;
    bea.create_listing(json!({ "visibility": "unlisted" })).await;
    host.wait_until_settled().await;
    assert_eq!(friend.announced().await.len(), 1, "the connected person is notified");
    for person in [&ada, &bea, &away] {
        assert!(person.announced().await.is_empty());
    }
    bea.relate("block", &ada).await;
    bea.publish_room().await;
    host.advance(MINUTE).await;
    assert_eq!(friend.announced().await.len(), 2);
    for person in [&ada, &bea, &away] {
        assert!(person.announced().await.is_empty());
    }
    assert!(ada.preview_ids(json!({ "query": { "category": "home.let" } })).await.is_empty());
    assert!(bea.preview_ids(json!({ "query": { "category": "home.let" } })).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_has_at_most_fifty_searches() {
    let host = host().await;
    let ada = Lister::new(&host).await;
    let mut last = Value::Null;
    for number in 0..50 {
        last = ada.save_search(&format!("Search {number}"), json!({ "q": "sunny" }), "daily").await;
    }
    let one_more = json!({ "name": "One more", "query": { "q": "sunny" } });
    let refused = ada.call_searches("create", one_more.clone()).await;
    refused.assert_refused(409, "saved_search_limit_reached");
    assert_eq!(refused.body["conflict"]["limit"], 50);
    follow_next_step(ada.agent(), &refused).await;
    ada.searches_ok("delete", json!({ "search_id": last })).await;
    ada.searches_ok("create", one_more).await;
    let listed = ada.searches_ok("list", json!({ "limit": 100 })).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 50);
    let others = Lister::new(&host).await.searches_ok("list", json!({})).await;
    assert_eq!(others["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_search_cannot_have_is_refused() {
    let host = host().await;
    let ada = Lister::new(&host).await;
    for (query, code) in [
        (json!({}), "validation_failed"),
        (json!({ "sort": "newest" }), "validation_failed"),
        (json!({ "q": "?!" }), "query_empty"),
        (json!({ "category": "nowhere" }), "category_unknown"),
        (
            json!({ "category": "home.let", "filters": { "wings": { "eq": 1 } } }),
            "attributes_invalid",
        ),
        (json!({ "category": "social.date" }), "age_restricted"),
    ] {
        let refused = ada.call_searches("create", json!({ "name": "A", "query": query })).await;
        assert_eq!(refused.body["error_code"], code, "{query} {}", refused.text);
    }
    let filters = json!({ "name": "A", "query": { "category": "home", "filters": { "wings": { "eq": 1 } } } });
    let refused = ada.call_searches("create", filters).await;
    assert_eq!(refused.body["conflict"]["errors"][0]["pointer"], "/query/filters/wings");
    let anonymous = host.test_agent().await;
    let preview = json!({ "action": "preview", "query": { "category": "home" } });
    assert_eq!(anonymous.result(SEARCHES, preview).await["items"], json!([]));
    let body = json!({ "action": "create", "name": "A", "query": { "q": "sunny" } });
    anonymous.call(SEARCHES, body).await.assert_refused(403, "phone_binding_required");
}

#[tokio::test(flavor = "multi_thread")]
async fn conditions_may_name_people_and_outlive_them() {
    let host = host().await;
    let (ada, bea, cyd) =
        (Lister::new(&host).await, Lister::new(&host).await, Lister::new(&host).await);
    let of_bea = ada.save_search("Of Bea", json!({ "owner_id": bea.id }), "instant").await;
    let others = json!({ "q": "room", "without": { "owner_ids": [bea.id, cyd.id] } });
    let of_others = ada.save_search("Of others", others, "instant").await;
    let update =
        json!({ "search_id": of_others, "query": { "without": { "owner_ids": [bea.id] } } });
    ada.searches_ok("update", update).await;
    let room = bea.publish_room().await;
    assert_eq!(ada.announced_names().await, ["Of Bea"]);

    assert_eq!(erase(&host, &bea.id).await.status, 200);
    for search_id in [of_bea, of_others] {
        let left = ada.searches_ok("get", json!({ "search_id": search_id })).await;
        assert!(!left.to_string().contains(&bea.id), "{left}");
    }
    let with_room = format!(
        "SELECT id FROM documents WHERE body LIKE '%{room}%' OR (id LIKE '%{room}%' AND body IS NOT NULL)"
    );
    assert_eq!(host.database().texts(&with_room).await, [""; 0]);
}
