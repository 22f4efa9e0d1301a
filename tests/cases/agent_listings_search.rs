//! Search and visibility of listings.

use crate::harness::listings::{
    LISTINGS, Lister, action_body, follow_next_step, host, instant_in_ms, search_ids,
};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn searches_filter_by_every_field_of_listings() {
    let host = host().await;
    let (ada, bea) = (Lister::new(&host).await, Lister::new(&host).await);
    let attributes = |flatmates: u8, from: &str| json!({ "flatmates": flatmates, "available_from": from, "household": ["quiet", "social"] });
    let small = ada.create_listing(json!({ "attributes": attributes(1, "2027-01-01") })).await;
    let large = ada
        .create_listing(json!({
            "attributes": attributes(7, "2027-06-01"), "title": "Large attic", "remote": true,
            "place": { "lat": 37.87, "lng": -122.27, "precision": "city" },
            "compensation": { "currency": "USD", "min": 2500, "unit": "MONTH" },
        }))
        .await;
    let job = bea
        .create_listing(json!({
            "category": "work.job.software", "title": "Rust engineer",
            "attributes": { "employment_type": "FULL_TIME", "skills": ["Rust", "Wasm"] },
            "compensation": { "currency": "USD", "min": 150_000, "max": 190_000, "unit": "YEAR" },
        }))
        .await;
    let nobody = host.test_agent().await;
    let near = |radius: f64| json!({ "lat": 37.76, "lng": -122.41, "radius_km": radius });
    let pay =
        |min: u32, max: u32| json!({ "currency": "USD", "min": min, "max": max, "unit": "MONTH" });
    let yearly =
        |min: u32, max: u32| json!({ "currency": "USD", "min": min, "max": max, "unit": "YEAR" });
    let bbox = json!({ "south": 37.6, "west": -122.6, "north": 37.82, "east": -122.3 });
    for (search, expected) in [
        (json!({}), vec![&job, &large, &small]),
        (json!({ "category": "home" }), vec![&large, &small]),
        (json!({ "category": "home.let.room" }), vec![&large, &small]),
        (json!({ "category": "home.rent" }), vec![]),
        (json!({ "category": "work.job" }), vec![&job]),
        (json!({ "side": "demand" }), vec![]),
        (json!({ "remote": true }), vec![&large]),
        (json!({ "q": "attic" }), vec![&large]),
        (json!({ "q": "programmer rust" }), vec![&job]),
        (json!({ "q": "flatshare", "category": "home", "sort": "newest" }), vec![&large, &small]),
        (json!({ "near": near(5.0), "category": "home" }), vec![&small]),
        (json!({ "near": near(50.0), "category": "home" }), vec![&small, &large]),
        (json!({ "near": near(50.0), "category": "home", "sort": "newest" }), vec![&large, &small]),
        (json!({ "bbox": bbox, "category": "home" }), vec![&small]),
        (json!({ "compensation": pay(1000, 1500) }), vec![&small]),
        (json!({ "compensation": pay(3000, 4000) }), vec![&large]),
        // Periods are converted: 1400 a month are 16,800 a year.
        (json!({ "category": "home", "compensation": yearly(16_000, 17_000) }), vec![&small]),
        (json!({ "compensation": pay(12_500, 16_000) }), vec![&job, &large]),
        (
            json!({ "category": "home", "compensation": pay(0, 9000), "sort": "cheapest" }),
            vec![&small, &large],
        ),
        (
            json!({ "category": "home", "compensation": yearly(0, 99_000), "sort": "dearest" }),
            vec![&large, &small],
        ),
        (json!({ "owner_id": bea.id }), vec![&job]),
        (json!({ "without": { "categories": ["work"] } }), vec![&large, &small]),
        (json!({ "without": { "owner_ids": [ada.id] } }), vec![&job]),
        (json!({ "filters": { "skills": { "not_in": ["wasm"] } } }), vec![&large, &small]),
        // Spanish for a room.
        (json!({ "q": "habitación", "category": "home", "sort": "newest" }), vec![&large, &small]),
        (json!({ "filters": { "skills": { "in": ["rust", "go"] } } }), vec![&job]),
        (
            json!({ "filters": { "household": { "eq": "quiet" }, "flatmates": { "eq": 7 } } }),
            vec![&large],
        ),
        (json!({ "filters": { "flatmates": { "gte": 1, "lte": 6 } } }), vec![&small]),
        (json!({ "filters": { "flatmates": { "gte": 2 } } }), vec![&large]),
        (json!({ "filters": { "available_from": { "lte": "2027-03-01" } } }), vec![&small]),
        (json!({ "posted_since": instant_in_ms(60_000) }), vec![]),
        (json!({ "posted_since": "2026-01-01T00:00:00Z", "category": "work" }), vec![&job]),
    ] {
        let ids = search_ids(&nobody, search.clone()).await;
        assert_eq!(ids.iter().collect::<Vec<_>>(), expected, "{search}");
    }
    let marked = json!({ "action": "search", "q": "habitación quiet", "highlight": true });
    let marked = nobody.result(LISTINGS, marked).await;
    let mut items = marked["items"].as_array().unwrap().iter();
    let item = items.find(|item| item["listing_id"] == json!(small)).unwrap();
    assert_eq!(
        item["highlights"],
        json!({
            "title": [{ "text": "room", "start": 6, "end": 10 }],
            "excerpt": [
                { "text": "quiet", "start": 2, "end": 7 }, { "text": "room", "start": 8, "end": 12 },
            ],
        })
    );
    let facets = nobody.result(LISTINGS, json!({ "action": "search", "facets": true })).await;
    assert_eq!(
        facets["facets"]["category"],
        json!([{ "value": "home.let.room", "count": 2 }, { "value": "work.job.software", "count": 1 }]),
        "{facets:#}"
    );
    for (search, status, code) in [
        (json!({ "category": "castles" }), 404, "category_unknown"),
        (json!({ "filters": { "Religion": { "eq": "any" } } }), 422, "filter_prohibited"),
        (json!({ "near": near(2.0), "category": "home" }), 422, "filter_prohibited"),
        (json!({ "near": near(2.0) }), 422, "filter_prohibited"),
        (json!({ "without": { "categories": ["castles"] } }), 404, "category_unknown"),
        (json!({ "sort": "relevance" }), 400, "validation_failed"),
        (json!({ "sort": "distance" }), 400, "validation_failed"),
        (json!({ "sort": "cheapest" }), 400, "validation_failed"),
        (
            json!({ "category": "home.let", "filters": { "flatmates": { "eq": "two" } } }),
            400,
            "attributes_invalid",
        ),
        (json!({ "filters": { "shoes": { "eq": 44 } } }), 400, "validation_failed"),
        (json!({ "posted_since": "yesterday" }), 400, "validation_failed"),
        (json!({ "cursor": "nonsense" }), 400, "cursor_invalid"),
    ] {
        let reply = nobody.call(LISTINGS, action_body("search", &search)).await;
        reply.assert_refused(status, code);
        follow_next_step(&nobody, &reply).await;
    }
    for q in ["😀", "---"] {
        let reply = nobody.call(LISTINGS, action_body("search", &json!({ "q": q }))).await;
        reply.assert_refused(400, "query_empty");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_filterable_attribute_of_the_taxonomy_can_be_filtered_by() {
    let host = host().await;
    let nobody = host.test_agent().await;
    let tree = nobody.result("listing_taxonomy", json!({ "action": "tree", "depth": 6 })).await;
    let mut filtered = 0;
    for node in tree["nodes"].as_array().unwrap() {
        let leaf =
            node["sides"].as_array().unwrap().first().filter(|_| node["code"] != "social.date");
        let social = node["code"].as_str().unwrap().starts_with("social");
        let Some(side) = leaf.filter(|_| !social) else { continue };
        let fields = json!({ "action": "fields", "code": node["code"], "side": side });
        let fields = nobody.result("listing_taxonomy", fields).await;
        for criterion in fields["criteria"].as_array().unwrap() {
            if criterion["source"] != "attributes" {
                continue;
            }
            let value = match criterion["value_type"].as_str().unwrap() {
                "boolean" => json!(true),
                "date" => json!("2027-01-01"),
                "string" => criterion["values"].get(0).cloned().unwrap_or(json!("x")),
                _ => json!(1),
            };
            let operators = criterion["operators"].as_array().unwrap().iter();
            let comparison = operators.map(|operator| match operator.as_str().unwrap() {
                "in" => ("in".to_owned(), json!([value])),
                operator => (operator.to_owned(), value.clone()),
            });
            let comparison: Value = comparison.collect::<serde_json::Map<_, _>>().into();
            let mut filters = json!({});
            filters[criterion["field"].as_str().unwrap()] = comparison;
            let search = json!({ "category": fields["counterpart"], "filters": filters });
            search_ids(&nobody, search).await;
            filtered += 1;
        }
        if filtered > 150 {
            break;
        }
    }
    assert!(filtered > 100);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_visibility_of_a_listing_decides_who_sees_it() {
    let host = host().await;
    let (ada, bea, cem) =
        (Lister::new(&host).await, Lister::new(&host).await, Lister::new(&host).await);
    let public = ada.create_listing(json!({})).await;
    let unlisted = ada.create_listing(json!({ "visibility": "unlisted" })).await;
    let network = ada.create_listing(json!({ "visibility": "network" })).await;
    let anonymous = host.test_agent().await;
    assert_eq!(search_ids(&anonymous, json!({})).await, [public.as_str()]);
    assert_eq!(bea.search(json!({})).await, [public.as_str()]);
    assert_eq!(ada.search(json!({})).await, [network.as_str(), public.as_str()]);
    assert_eq!(bea.call_on("get", &unlisted).await.status, 200);
    bea.call_on("get", &network).await.assert_refused(404, "listing_not_found");

    bea.relate("connect", &ada).await;
    ada.relate("accept", &bea).await;
    assert_eq!(bea.search(json!({})).await, [network.as_str(), public.as_str()]);
    assert_eq!(bea.call_on("get", &network).await.status, 200);
    assert_eq!(cem.search(json!({})).await, [public.as_str()]);
    // A page does not reveal that other results are not visible to the viewer.
    let search = action_body("search", &json!({ "limit": 1 }));
    let page = cem.agent().result(LISTINGS, search.clone()).await;
    assert_eq!(
        (&page["items"][0]["listing_id"], &page["next_cursor"]),
        (&json!(public), &Value::Null)
    );

    ada.relate("block", &cem).await;
    let hidden = cem.create_listing(json!({})).await;
    assert!(!ada.search(json!({})).await.contains(&hidden));
    ada.call_on("get", &hidden).await.assert_refused(404, "listing_not_found");
    for id in [&public, &unlisted] {
        cem.call_on("get", id).await.assert_refused(404, "listing_not_found");
        cem.call_on("stats", id).await.assert_refused(404, "listing_not_found");
        cem.call_on("pause", id).await.assert_refused(404, "listing_not_found");
    }
    assert_eq!(cem.search(json!({})).await, [hidden]);

    let patch = json!({ "listing_id": public, "patch": { "visibility": "network" } });
    ada.result("update", patch).await;
    assert!(!search_ids(&anonymous, json!({})).await.contains(&public));
    let get = json!({ "action": "get", "listing_id": public });
    anonymous.call(LISTINGS, get).await.assert_refused(404, "listing_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_show_each_listing_once_and_none_of_blocked_people() {
    let host = host().await;
    let (ada, bea, cem) =
        (Lister::new(&host).await, Lister::new(&host).await, Lister::new(&host).await);
    let mut expected = Vec::new();
    for _ in 0..9 {
        expected.push(ada.create_listing(json!({})).await);
        bea.create_listing(json!({})).await;
        bea.create_listing(json!({ "visibility": "network" })).await;
    }
    bea.relate("block", &cem).await;
    expected.reverse();
    for limit in [1, 2, 4, 9, 20] {
        let (mut seen, mut cursor) = (Vec::new(), Value::Null);
        loop {
            let mut search = json!({ "limit": limit, "action": "search" });
            if cursor.is_string() {
                search["cursor"] = cursor;
            }
            let page = cem.agent().result(LISTINGS, search).await;
            let items = page["items"].as_array().unwrap();
            seen.extend(
                items.iter().map(|listing| listing["listing_id"].as_str().unwrap().to_owned()),
            );
            cursor = page["next_cursor"].clone();
            if cursor.is_null() {
                break;
            }
            assert_eq!(items.len(), limit, "{page:#}");
        }
        assert_eq!(seen, expected, "{limit}");
    }
}
