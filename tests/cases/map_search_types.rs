//! `map_search` over roles, people, signals and events, compared with the documents themselves.

use super::map_search::{host, ids, records, search_all};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const FILES: [(&str, &str); 4] = [
    ("role", "sf-job-roles.json"),
    ("person", "sf-people.json"),
    ("signal", "live-signal-feed.json"),
    ("event", "sf-events.json"),
];

#[tokio::test(flavor = "multi_thread")]
async fn every_record_of_a_type_is_listed_once() {
    let host = host().await;
    let agent = host.agent().await;
    for (name, file) in FILES {
        let found = search_all(&agent, json!({ "types": [name], "sort": "newest" })).await;
        assert_eq!(ids(&found), ids(&records(file)), "{name}");
        assert_eq!(found.len(), ids(&found).len(), "{name}");
        assert!(found.iter().all(|item| item["type"] == name), "{name}");
    }
    let types = ["organisation", "role", "person", "signal", "event"];
    let together = search_all(&agent, json!({ "types": types, "sort": "newest" })).await;
    let files = FILES.iter().map(|(_, file)| *file).chain(["sf-live-targets.json"]);
    let all: BTreeSet<String> = files.flat_map(|file| ids(&records(file))).collect();
    assert_eq!((together.len(), ids(&together)), (all.len(), all));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_title_finds_roles_and_a_name_finds_people() {
    let host = host().await;
    let agent = host.agent().await;
    let targets = records("sf-live-targets.json");
    let name_of = |id: &Value| {
        let target = targets.iter().find(|target| target["id"] == *id);
        target.map(|target| &target["properties"]["name"])
    };
    for person in records("sf-people.json").iter().step_by(5) {
        let query = json!({ "action": "search", "q": person["full_name"] });
        let first = agent.result("map_search", query).await["items"][0].take();
        assert_eq!(
            (&first["type"], &first["name"]),
            (&json!("person"), &person["full_name"]),
            "{first:#}"
        );
        let organisation = &first["organisation"];
        assert_eq!(Some(&organisation["name"]), name_of(&organisation["id"]), "{first:#}");
    }
    for role in records("sf-job-roles.json").iter().step_by(11) {
        let query = json!({ "action": "search", "q": role["title"], "limit": 10 });
        let found = agent.result("map_search", query).await;
        let mut items = found["items"].as_array().unwrap().iter();
        let first = items.find(|item| item["type"] == "role").unwrap();
        assert_eq!(first["trust"], "untrusted_user_content");
        assert!(!first["handoff_ids"].as_array().unwrap().is_empty(), "{first:#}");
        assert!(first["role"]["apply_url"].is_string(), "{first:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn filters_of_a_type_agree_with_a_scan_of_its_document() {
    let host = host().await;
    let agent = host.agent().await;
    let mut compared = 0;
    for (name, file, filter, path) in [
        ("role", "sf-job-roles.json", "function", "/function"),
        ("role", "sf-job-roles.json", "seniority", "/seniority"),
        ("role", "sf-job-roles.json", "employment_type", "/employment_type"),
        ("role", "sf-job-roles.json", "workplace", "/workplace_type"),
        ("person", "sf-people.json", "role_kind", "/role_kind"),
        ("signal", "live-signal-feed.json", "kind", "/kind"),
        ("event", "sf-events.json", "type", "/_map/type"),
    ] {
        let records = records(file);
        let values: BTreeSet<String> = records
            .iter()
            .filter_map(|record| record.pointer(path)?.as_str().map(str::to_owned))
            .collect();
        for value in values {
            let has = |record: &&Value| record.pointer(path) == Some(&json!(value));
            let wanted = ids(records.iter().filter(has));
            let found = search_all(&agent, json!({ name: { filter: [value] } })).await;
            assert_eq!(ids(&found), wanted, "{name} {filter} {value}");
            compared += 1;
        }
    }
    assert!(compared > 10, "{compared}");
}

#[tokio::test(flavor = "multi_thread")]
async fn roles_belong_to_the_organisations_that_fit() {
    let host = host().await;
    let agent = host.agent().await;
    let roles = records("sf-job-roles.json");
    let place = records("sf-live-targets.json")[0]["properties"]["geo"].clone();
    let near = json!({ "lat": place["lat"], "lng": place["lng"] });
    for filter in [
        json!({ "kind": ["startup", "fund"] }),
        json!({ "none_of": { "kind": "startup" } }),
        json!({ "open_roles": { "min": 3 } }),
        json!({ "near": near, "travel": { "mode": "walk", "max_minutes": 25 } }),
        json!({ "near": near, "travel": { "mode": "bike" } }),
    ] {
        let organisations = ids(&search_all(&agent, filter.clone()).await);
        let belongs = |role: &&Value| organisations.contains(role["target_id"].as_str().unwrap());
        let mut of_roles = filter.clone();
        of_roles["types"] = json!(["role"]);
        let found = search_all(&agent, of_roles).await;
        assert_eq!(ids(&found), ids(roles.iter().filter(belongs)), "{filter}");
        let has_minutes = |item: &Value| item["estimated_minutes"].is_u64();
        assert!(found.iter().all(|item| has_minutes(item) == filter.get("travel").is_some()));
        let most = filter["travel"]["max_minutes"].as_u64().unwrap_or(u64::MAX);
        let minutes = found.iter().filter_map(|item| item["estimated_minutes"].as_u64());
        assert!(minutes.max().is_none_or(|longest| longest <= most), "{filter}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn facets_count_what_a_search_lists() {
    let host = host().await;
    let agent = host.agent().await;
    let types = ["organisation", "role", "person", "signal", "event"];
    let counted = agent.result("map_search", json!({ "action": "facets", "types": types })).await;
    let counts: BTreeMap<&str, u64> = counted["types"]
        .as_array()
        .unwrap()
        .iter()
        .map(|facet| (facet["value"].as_str().unwrap(), facet["count"].as_u64().unwrap()))
        .collect();
    for (name, file) in FILES {
        assert_eq!(counts[name], records(file).len() as u64, "{name}");
    }
    let roles = counted["role"]["workplace"].as_array().unwrap().iter();
    assert_eq!(roles.map(|facet| facet["count"].as_u64().unwrap()).sum::<u64>(), counts["role"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn pay_ranges_find_what_the_employer_states() {
    let host = host().await;
    let agent = host.agent().await;
    let roles = records("sf-job-roles.json");
    let amount = |role: &Value, end: &str| role["base_salary"][end].as_f64();
    let pay =
        |role: &&Value| role["base_salary"]["unit"] == "YEAR" && amount(role, "max").is_some();
    let Some(paid) = roles.iter().find(pay) else { panic!("no role states its pay") };
    let (currency, most) = (&paid["base_salary"]["currency"], amount(paid, "max").unwrap());
    let reaches = |role: &&Value| {
        role["base_salary"]["currency"] == *currency
            && role["base_salary"]["unit"] == "YEAR"
            && ["min", "max"].iter().any(|end| amount(role, end).is_some_and(|pay| pay >= most))
    };
    let filter = json!({ "role": { "pay": { "currency": currency, "min": most } } });
    assert_eq!(ids(&search_all(&agent, filter).await), ids(roles.iter().filter(reaches)));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_searched_is_refused_with_a_next_step() {
    let host = host().await;
    let agent = host.agent().await;
    for q in ["😀", "---", "\u{301}", "\u{ff9e}"] {
        let reply = agent.call("map_search", json!({ "action": "search", "q": q })).await;
        reply.assert_refused(400, "query_empty");
        assert_eq!(reply.body["next"]["missing"], json!(["q"]));
        let reply = agent.call("map_search", json!({ "action": "facets", "q": q })).await;
        reply.assert_refused(400, "query_empty");
    }
    for (fields, pointer) in [
        (json!({ "sort": "relevance" }), "/q"),
        (json!({ "sort": "distance" }), "/near"),
        (json!({ "travel": { "mode": "car", "max_minutes": 20 } }), "/near"),
        (json!({ "types": ["role"], "sort": "name" }), "/sort"),
        (json!({ "types": ["person"], "role": {} }), "/types"),
        (json!({ "date": { "from": "last week" } }), "/date/from"),
    ] {
        let mut body = fields.clone();
        body["action"] = json!("search");
        let reply = agent.call("map_search", body).await;
        reply.assert_refused(400, "validation_failed");
        assert_eq!(reply.body["conflict"]["errors"][0]["pointer"], pointer, "{fields}");
    }
    let page = json!({ "action": "search", "q": "engineer", "limit": 3 });
    let cursor = agent.result("map_search", page.clone()).await["next_cursor"].take();
    let mut other = page.clone();
    other["q"] = json!("designer");
    other["cursor"] = cursor.clone();
    agent.call("map_search", other).await.assert_refused(400, "cursor_invalid");
    let mut forged = page;
    forged["cursor"] = json!(format!("{}0", cursor.as_str().unwrap()));
    agent.call("map_search", forged).await.assert_refused(400, "cursor_invalid");
}
