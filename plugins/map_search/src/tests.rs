//! Searches in a world. Its relevances are all 0, and it finds only records with all words.

use crate::MapSearch;
use portolan_sdk::{
    prelude::*,
    test::{World, world},
};
use record_search::Mode;

const TARGETS: Collection<Value> = Collection::new("targets")
    .index("id", &["id"])
    .index("name", &["properties.name"])
    .index("kind", &["properties.kind"])
    .index("ask", &["properties.ask[].type"])
    .index("maturity", &["properties.ask[].maturity"])
    .index("stage", &["properties.stage"])
    .index("industries", &["properties.industries[]"])
    .index("neighbourhood", &["properties.geo.neighbourhood"])
    .index("roles", &["properties.open_roles_count"])
    .index("updated_at", &["properties.updated_at"])
    .text(&["properties.name", "properties.tagline"])
    .geo("properties.geo.lat", "properties.geo.lng");
const ROLES: Collection<Value> = Collection::new("roles")
    .index("target_id", &["target_id"])
    .index("function", &["function"])
    .index("seniority", &["seniority"])
    .index("employment_type", &["employment_type"])
    .index("workplace_type", &["workplace_type"])
    .index("currency", &["base_salary.currency"])
    .index("unit", &["base_salary.unit"])
    .index("min", &["base_salary.min"])
    .index("max", &["base_salary.max"])
    .index("date_posted", &["date_posted"])
    .text(&["title", "description_text"]);
const PEOPLE: Collection<Value> = Collection::new("people")
    .index("target_id", &["target_id"])
    .index("role_kind", &["role_kind"])
    .index("expertise", &["expertise[]"])
    .index("full_name", &["full_name"])
    .index("updated_at", &["updated_at"])
    .text(&["full_name", "title", "public_bio"]);
const SIGNALS: Collection<Value> = Collection::new("signals")
    .index("target_id", &["target_id"])
    .index("kind", &["kind"])
    .index("maturity", &["maturity"])
    .index("occurred_at", &["occurred_at"])
    .text(&["headline", "summary"]);
const EVENTS: Collection<Value> = Collection::new("events")
    .index("type", &["_map.type"])
    .index("target_ids", &["_map.target_ids[]"])
    .index("date_published", &["date_published"])
    .text(&["title", "summary"]);

const KEEL: &str = "tgt_keel";
const LOOM: &str = "tgt_loom";

/// A kilometre to the north, in degrees.
const KM: f64 = 1.0 / 111.2;

fn target(name: &str, industry: &str, north_km: f64, open_roles: u32) -> Value {
    json!({ "properties": {
        "name": name, "kind": "startup", "tagline": format!("{name} builds engines"),
        "ask": [{
            "type": "hiring", "text": "Engineers", "since": "2026-01-01T00:00:00.000Z", "maturity": "lead",
        }],
        "industries": [industry], "stage": "seed", "status": "active",
        "geo": {
            "lat": north_km * KM, "lng": 0.0, "precision": "street", "neighbourhood": "Docks",
        },
        "open_roles_count": open_roles, "verified_owner": false, "handoff_ids": ["hof_contact"],
        "updated_at": "2026-02-01T00:00:00.000Z",
    }})
}

fn role(title: &str, target_id: &str, posted: &str, pay: &Value) -> Value {
    json!({
        "target_id": target_id, "title": title, "function": "engineering", "seniority": "senior",
        "employment_type": "FULL_TIME", "workplace_type": "remote", "base_salary": pay,
        "locations": [{ "label": "San Francisco", "primary": true }],
        "description_text": "We look for a careful engineer.",
        "date_posted": format!("{posted}T12:00:00.000Z"), "apply_url": "https://boards.example/1",
        "maturity": "verified", "handoff_ids": ["hof_apply"],
        "updated_at": format!("{posted}T12:00:00.000Z"),
    })
}

fn dollars(min: u32, max: u32) -> Value {
    json!({ "currency": "USD", "min": min, "max": max, "unit": "YEAR" })
}

fn person(name: &str, target_id: &str) -> Value {
    json!({
        "target_id": target_id, "full_name": name, "title": "Founder and engineer",
        "role_kind": "founder", "public_bio": "", "expertise": ["robots"],
        "public_figure_basis": "a public directory", "opt_out_url": "https://map.example/opt-out",
        "handoff_ids": ["hof_meet"], "updated_at": "2026-02-02T00:00:00.000Z",
    })
}

fn city() -> World {
    let signal = json!({
        "target_id": KEEL, "kind": "funding", "headline": "Keel raises a round", "summary": "An engine round",
        "occurred_at": "2026-02-10T00:00:00.000Z", "maturity": "source_backed", "label": "Reported",
        "sources": [{ "publisher": "Bay Ledger", "url": "https://ledger.example/1" }],
        "handoff_ids": ["hof_verify"], "updated_at": "2026-02-10T00:00:00.000Z",
    });
    let event = |title: &str, day: &str, targets: &[&str]| {
        json!({
            "title": title, "summary": "", "date_published": format!("{day}T18:00:00.000Z"),
            "_map": {
                "type": "meetup", "target_ids": targets, "maturity": "source_backed", "sources": [],
                "updated_at": format!("{day}T18:00:00.000Z"),
            },
        })
    };
    world()
        .record(TARGETS, KEEL, &with_id(KEEL, target("Keel", "robotics", 0.0, 2)))
        .record(TARGETS, LOOM, &with_id(LOOM, target("Loom", "textiles", 5.0, 1)))
        .record(
            ROLES,
            "rol_1",
            &role("Machine Learning Engineer", KEEL, "2026-03-01", &dollars(100, 150)),
        )
        .record(ROLES, "rol_2", &role("Sales Engineer", KEEL, "2026-03-05", &dollars(160, 200)))
        .record(ROLES, "rol_3", &role("Data Engineer", LOOM, "2026-03-03", &Value::Null))
        .record(PEOPLE, "per_1", &person("Ada Example", KEEL))
        .record(SIGNALS, "sig_1", &signal)
        .record(EVENTS, "evn_1", &event("Engine night", "2026-03-10", &[KEEL, LOOM]))
        .record(EVENTS, "evn_2", &event("Loom opens", "2026-03-20", &[LOOM]))
        .of::<MapSearch>()
}

fn with_id(id: &str, mut record: Value) -> Value {
    record["id"] = id.into();
    record
}

fn search(input: &Value) -> Value {
    city().call("search", input).unwrap()
}

fn ids(found: &Value) -> Vec<&str> {
    found["items"].as_array().unwrap().iter().map(|item| item["id"].as_str().unwrap()).collect()
}

fn found(input: Value) -> Vec<String> {
    ids(&search(&input)).into_iter().map(str::to_owned).collect()
}

fn refused(input: &Value) -> (String, Value) {
    let refusal = city().call("search", input).unwrap_err();
    let pointer = refusal.conflict.map(|conflict| conflict["errors"][0]["pointer"].clone());
    (refusal.code, pointer.unwrap_or_default())
}

#[test]
fn words_find_records_of_all_types_those_named_by_them_first() {
    assert_eq!(found(json!({ "q": "machine learning engineer" })), ["rol_1"]);
    assert_eq!(found(json!({ "q": "Ada Example" })), ["per_1"]);
    let all = ["rol_1", "rol_2", "rol_3", KEEL, "per_1", "sig_1", "evn_1", LOOM];
    let engines = found(json!({ "q": "engine" }));
    assert_eq!(engines.len(), all.len(), "{engines:?}");
    assert!(all.iter().all(|id| engines.contains(&(*id).to_owned())), "{engines:?}");
    assert!(engines.iter().position(|id| id == "evn_1") < engines.iter().position(|id| id == KEEL));
}

#[test]
fn without_words_organisations_are_listed_or_what_is_filtered() {
    assert_eq!(found(json!({})), [KEEL, LOOM]);
    assert_eq!(found(json!({ "role": {} })), ["rol_2", "rol_3", "rol_1"]);
    assert_eq!(found(json!({ "types": ["person", "organisation"] })).len(), 3);
    assert_eq!(found(json!({ "sort": "event_date" })), ["evn_1", "evn_2"]);
    assert_eq!(found(json!({ "q": "keel", "sort": "open_roles" })), [KEEL]);
}

#[test]
fn every_record_is_listed_once_whatever_the_length_of_a_page() {
    for (input, count) in [
        (json!({ "q": "engine" }), 8),
        (
            json!({ "types": ["organisation", "role", "person", "signal", "event"], "sort": "newest" }),
            9,
        ),
        (json!({ "types": ["organisation", "person"], "sort": "name" }), 3),
    ] {
        let whole = found(input.clone());
        assert_eq!(whole.len(), count, "{input}");
        for limit in 1..=10 {
            let mut world = city();
            let mut page = input.clone();
            page["limit"] = limit.into();
            let mut listed: Vec<String> = Vec::new();
            loop {
                let answer = world.call("search", &page).unwrap();
                listed.extend(ids(&answer).into_iter().map(str::to_owned));
                match &answer["next_cursor"] {
                    Value::Null => break,
                    cursor => page["cursor"] = cursor.clone(),
                }
            }
            assert_eq!(listed, whole, "{input} in pages of {limit}");
        }
    }
}

#[test]
fn a_cursor_belongs_to_its_search() {
    let mut world = city();
    let first = world.call("search", &json!({ "q": "engine", "limit": 3 })).unwrap();
    let cursor = first["next_cursor"].as_str().unwrap();
    let mut refused = |input: Value| world.call("search", &input).unwrap_err().code;
    let forged = cursor.replacen(":1:", ":0:", 1);
    assert_ne!(forged, cursor);
    for (q, cursor) in [("engine", forged.as_str()), ("keel", cursor), ("engine", "x")] {
        assert_eq!(refused(json!({ "q": q, "limit": 3, "cursor": cursor })), "cursor_invalid");
    }
    assert!(world.call("search", &json!({ "q": "engine", "limit": 4, "cursor": cursor })).is_ok());
}

#[test]
fn records_name_their_organisation_and_their_handoffs() {
    let answer = search(&json!({ "q": "machine learning engineer" }));
    let role = &answer["items"][0];
    assert_eq!(role["type"], "role");
    assert_eq!(
        role["organisation"],
        json!({ "id": KEEL, "name": "Keel", "neighbourhood": "Docks" })
    );
    assert_eq!(role["handoff_ids"], json!(["hof_apply"]));
    assert_eq!(role["url"], "https://host.example/map/#target=tgt_keel");
    assert_eq!(role["trust"], "untrusted_user_content");
    assert_eq!(role["role"]["pay"]["max"], 150.0);
    assert!(role.get("kind").is_none() && role.get("person").is_none());
    let events = search(&json!({ "sort": "event_date" }));
    assert_eq!(events["items"][0]["event"]["organisations"].as_array().unwrap().len(), 2);
    assert_eq!(events["items"][0]["event"]["type"], "meetup");
    assert_eq!(search(&json!({ "signal": {} }))["items"][0]["handoff_ids"], json!(["hof_verify"]));
}

#[test]
fn filters_restrict_organisations_and_what_belongs_to_them() {
    for (filter, organisations, roles) in [
        (json!({ "industry": "robotics" }), vec![KEEL], vec!["rol_2", "rol_1"]),
        (
            json!({ "industry": ["robotics", "textiles"] }),
            vec![KEEL, LOOM],
            vec!["rol_2", "rol_3", "rol_1"],
        ),
        (json!({ "none_of": { "industry": "robotics" } }), vec![LOOM], vec!["rol_3"]),
        (json!({ "none_of": { "stage": ["seed", "growth"] } }), vec![], vec![]),
        (json!({ "open_roles": { "min": 2 } }), vec![KEEL], vec!["rol_2", "rol_1"]),
        (json!({ "open_roles": { "max": 1 } }), vec![LOOM], vec!["rol_3"]),
        (
            json!({ "near": { "lat": 0.0, "lng": 0.0, "radius_km": 1.0 } }),
            vec![KEEL],
            vec!["rol_2", "rol_1"],
        ),
    ] {
        assert_eq!(found(filter.clone()), organisations, "{filter}");
        let mut of_roles = filter.clone();
        of_roles["types"] = json!(["role"]);
        assert_eq!(found(of_roles), roles, "{filter}");
    }
}

#[test]
fn types_have_filters_of_their_own() {
    let pay = |min: Option<u32>, max: Option<u32>| {
        let mut pay = json!({ "currency": "USD" });
        let ends = [("min", min), ("max", max)];
        ends.into_iter().for_each(|(end, value)| {
            if let Some(value) = value {
                pay[end] = value.into();
            }
        });
        found(json!({ "role": { "pay": pay } }))
    };
    assert_eq!(pay(Some(155), None), ["rol_2"]);
    assert_eq!(pay(None, Some(150)), ["rol_1"]);
    assert_eq!(pay(Some(120), Some(170)), ["rol_2", "rol_1"]);
    for (filter, count) in [
        (
            json!({ "role": { "workplace": "remote", "employment_type": ["FULL_TIME", "INTERN"] } }),
            3,
        ),
        (json!({ "role": { "seniority": "junior" } }), 0),
        (json!({ "person": { "role_kind": "founder", "expertise": "robots" } }), 1),
        (json!({ "person": { "role_kind": "cto" } }), 0),
        (json!({ "signal": { "kind": "funding", "maturity": ["source_backed"] } }), 1),
        (json!({ "signal": { "maturity": "confirmed" } }), 0),
        (json!({ "event": { "type": "meetup" }, "date": { "to": "2026-03-10" } }), 1),
        (json!({ "event": {}, "date": { "from": "2026-03-11T00:00:00Z" } }), 1),
        (json!({ "role": {}, "date": { "from": "2026-03-03", "to": "2026-03-03" } }), 1),
    ] {
        assert_eq!(found(filter.clone()).len(), count, "{filter}");
    }
}

#[test]
fn travel_limits_the_radius_and_is_told_as_an_estimate() {
    let near = json!({ "lat": 0.0, "lng": 0.0 });
    let walk = search(&json!({ "near": near, "travel": { "mode": "walk", "max_minutes": 30 } }));
    assert_eq!(ids(&walk), [KEEL]);
    assert_eq!(walk["travel"]["estimate"], true);
    let car = json!({ "near": near, "travel": { "mode": "car", "max_minutes": 30 } });
    let car = search(&car);
    assert_eq!(ids(&car), [KEEL, LOOM]);
    let minutes = car["items"].as_array().unwrap().iter().map(|item| &item["estimated_minutes"]);
    assert_eq!(minutes.collect::<Vec<_>>(), [5, 23]);
    let roles =
        json!({ "role": {}, "near": near, "travel": { "mode": "bike", "max_minutes": 60 } });
    let roles = search(&roles);
    let role =
        roles["items"].as_array().unwrap().iter().find(|item| item["id"] == "rol_3").unwrap();
    assert_eq!(role["estimated_minutes"], Mode::Bike.minutes(role["distance_m"].as_f64().unwrap()));
}

#[test]
fn facets_count_each_type() {
    let counted = city().call("facets", &json!({ "q": "engine" })).unwrap();
    let count = |value: &str, count: u64| json!({ "value": value, "count": count });
    let types = [("organisation", 2), ("role", 3), ("person", 1), ("signal", 1), ("event", 1)];
    let types: Vec<Value> = types.map(|(value, number)| count(value, number)).into();
    assert_eq!(counted["types"], json!(types));
    assert_eq!(counted["industry"], json!([count("robotics", 1), count("textiles", 1)]));
    assert_eq!(counted["role"]["workplace"], json!([count("remote", 3)]));
    let searched = search(&json!({ "kind": "startup", "facets": true, "limit": 1 }));
    assert_eq!(searched["facets"]["types"], json!([count("organisation", 2)]));
    assert!(searched["facets"].get("role").is_none());
}

#[test]
fn what_cannot_be_searched_is_refused() {
    for q in ["😀", "---", "\u{301}"] {
        assert_eq!(refused(&json!({ "q": q })).0, "query_empty", "{q}");
        assert_eq!(city().call("facets", &json!({ "q": q })).unwrap_err().code, "query_empty");
    }
    for (input, pointer) in [
        (json!({ "sort": "relevance" }), "/q"),
        (json!({ "sort": "distance" }), "/near"),
        (json!({ "travel": { "mode": "walk" } }), "/near"),
        (json!({ "types": ["role"], "sort": "name" }), "/sort"),
        (json!({ "role": {}, "sort": "open_roles" }), "/sort"),
        (json!({ "types": ["person"], "role": {} }), "/types"),
        (json!({ "date": { "from": "yesterday!" } }), "/date/from"),
        (json!({ "date": { "from": "2026-03-02", "to": "2026-03-01" } }), "/date"),
        (json!({ "open_roles": { "min": 3, "max": 2 } }), "/open_roles"),
        (json!({ "role": { "pay": { "currency": "USD", "min": 3, "max": 2 } } }), "/role/pay"),
    ] {
        assert_eq!(refused(&input), ("validation_failed".to_owned(), json!(pointer)), "{input}");
    }
}
