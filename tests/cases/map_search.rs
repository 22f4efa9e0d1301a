//! `map_search`, compared with the documents themselves.

use crate::harness::{
    Agent, Host, Options,
    feeds::{PUBLIC_URL, city, edition, publish},
};
use portolan_feeds::publish::documents;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

const DETAILS: [(&str, &str, &str); 5] = [
    ("roles", "sf-job-roles.json", "/target_id"),
    ("signals", "live-signal-feed.json", "/target_id"),
    ("people", "sf-people.json", "/target_id"),
    ("social", "public-social-signals.json", "/target_id"),
    ("events", "sf-events.json", "/_map/target_ids"),
];
/// The maximum number of entries of each list in the answer to `get`.
const MOST: usize = 50;

pub(super) async fn host() -> Host {
    host_with(&["map_search"]).await
}

/// Starts a host with these components and the feeds of the invented city.
pub(super) async fn host_with(guests: &[&str]) -> Host {
    Host::start(options_with(guests)).await
}

/// Returns the options of a host with these components and the feeds of the invented city.
pub(super) fn options_with(guests: &[&str]) -> Options {
    let configuration =
        format!("public_url = {PUBLIC_URL:?}\nfeeds_dir = {:?}", city().join("feeds"));
    Options::with(guests).configuration(&configuration)
}

/// The records of a document of the invented city.
pub(super) fn records(file: &str) -> Vec<Value> {
    let files = documents(&city().join("feeds")).unwrap();
    let mut document: Value = serde_json::from_slice(&files[file]).unwrap();
    let list = if file == "sf-live-targets.json" { "features" } else { "items" };
    serde_json::from_value(document[list].take()).unwrap()
}

fn targets() -> Vec<Value> {
    records("sf-live-targets.json")
}

pub(super) fn ids<'v>(records: impl IntoIterator<Item = &'v Value>) -> BTreeSet<String> {
    records.into_iter().map(|record| record["id"].as_str().unwrap().to_owned()).collect()
}

/// Returns everything that a search finds, read page by page, in its order.
pub(super) async fn search_all(agent: &Agent<'_>, filters: Value) -> Vec<Value> {
    let mut body = filters;
    body["action"] = json!("search");
    body["limit"] = json!(50);
    let mut found = Vec::new();
    loop {
        let mut page = agent.result("map_search", body.clone()).await;
        found.extend(page["items"].as_array().unwrap().iter().cloned());
        match page["next_cursor"].take() {
            Value::Null => return found,
            cursor => body["cursor"] = cursor,
        }
    }
}

fn target_asks(target: &Value) -> impl Iterator<Item = &Value> {
    target["properties"]["ask"].as_array().unwrap().iter()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_filter_agrees_with_a_scan_of_the_document() {
    let host = host().await;
    let agent = host.agent().await;
    let targets = targets();
    let everything = search_all(&agent, json!({})).await;
    assert_eq!(everything.len(), targets.len());
    assert_eq!(ids(&everything), ids(&targets));
    let names: Vec<&str> =
        everything.iter().map(|target| target["name"].as_str().unwrap()).collect();
    assert!(names.is_sorted(), "{names:?}");

    let text = |target: &Value, path: &str| target.pointer(path).cloned().unwrap_or_default();
    let mut filters: Vec<(Value, BTreeSet<String>)> = Vec::new();
    for (field, path) in [
        ("kind", "/properties/kind"),
        ("stage", "/properties/stage"),
        ("neighbourhood", "/properties/geo/neighbourhood"),
    ] {
        let values: BTreeSet<String> = targets
            .iter()
            .filter_map(|target| target.pointer(path)?.as_str().map(str::to_owned))
            .collect();
        assert!(values.len() > 2, "{field}");
        for value in values {
            let fits = targets.iter().filter(|target| text(target, path) == json!(value));
            filters.push((json!({ field: value }), ids(fits)));
        }
    }
    for industry in
        targets.iter().flat_map(|target| target["properties"]["industries"].as_array().unwrap())
    {
        let has = |target: &&Value| {
            target["properties"]["industries"].as_array().unwrap().contains(industry)
        };
        filters.push((json!({ "industry": industry }), ids(targets.iter().filter(has))));
    }
    for kind in ["hiring", "raising", "customers", "partners", "cofounder", "space", "advice"] {
        let fits =
            targets.iter().filter(|target| target_asks(target).any(|ask| ask["type"] == kind));
        filters.push((json!({ "ask": kind }), ids(fits)));
    }
    let sure = |hiring: &'static [&'static str]| {
        let is = move |target: &&Value| {
            target_asks(target).any(|ask| {
                ask["type"] == "hiring" && hiring.iter().any(|word| ask["maturity"] == *word)
            })
        };
        ids(targets.iter().filter(is))
    };
    filters.push((json!({ "hiring": "verified" }), sure(&["verified"])));
    filters.push((json!({ "hiring": "lead" }), sure(&["lead", "corroborated"])));
    filters.dedup_by(|one, other| one.0 == other.0);
    assert!(filters.iter().filter(|(_, wanted)| !wanted.is_empty()).count() > 20);
    for (filter, wanted) in filters {
        assert_eq!(ids(&search_all(&agent, filter.clone()).await), wanted, "{filter}");
    }
    let together = json!({ "kind": "startup", "hiring": "verified", "facets": true });
    let found = search_all(&agent, together).await;
    assert!(!found.is_empty());
    for card in &found {
        assert_eq!(card["kind"], "startup");
        assert_eq!(card["trust"], "untrusted_user_content");
        assert_eq!(
            card["url"],
            format!("{PUBLIC_URL}/map/#target={}", card["id"].as_str().unwrap())
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn facets_count_the_targets_found() {
    let host = host().await;
    let agent = host.agent().await;
    let targets = targets();
    let startups: Vec<&Value> =
        targets.iter().filter(|target| target["properties"]["kind"] == "startup").collect();
    let counted =
        agent.result("map_search", json!({ "action": "facets", "kind": "startup" })).await;
    let searched = json!({ "action": "search", "kind": "startup", "facets": true, "limit": 1 });
    assert_eq!(agent.result("map_search", searched).await["facets"], counted);
    let count = |values: Vec<&Value>| {
        let mut counts = BTreeMap::<String, u64>::new();
        for value in values {
            *counts.entry(value.as_str().unwrap().to_owned()).or_default() += 1;
        }
        counts
    };
    let reported = |name: &str| {
        let items = counted[name].as_array().unwrap().iter();
        let reported =
            |facet: &Value| Some((facet["value"].as_str()?.to_owned(), facet["count"].as_u64()?));
        items.filter_map(reported).collect::<BTreeMap<_, _>>()
    };
    let of =
        |path: &str| count(startups.iter().filter_map(|startup| startup.pointer(path)).collect());
    assert_eq!(reported("kind"), of("/properties/kind"));
    assert_eq!(reported("stage"), of("/properties/stage"));
    assert_eq!(reported("neighbourhood"), of("/properties/geo/neighbourhood"));
    let asks =
        startups.iter().flat_map(|startup| target_asks(startup)).map(|ask| &ask["type"]).collect();
    assert_eq!(reported("ask"), count(asks));
}

/// Returns the metres between two places along a great circle of a sphere.
fn distance(one: &Value, other: &Value) -> f64 {
    let radians = |place: &Value, name: &str| place[name].as_f64().unwrap().to_radians();
    let (south, north) = (radians(one, "lat"), radians(other, "lat"));
    let east = (radians(other, "lng") - radians(one, "lng")) / 2.0;
    let up = (north - south) / 2.0;
    let chord = up.sin().powi(2) + south.cos() * north.cos() * east.sin().powi(2);
    2.0 * 6_371_000.0 * chord.sqrt().asin()
}

#[tokio::test(flavor = "multi_thread")]
async fn targets_are_found_by_position() {
    let host = host().await;
    let agent = host.agent().await;
    let targets = targets();
    let middle = &targets[0];
    let at = &middle["properties"]["geo"];
    let near = json!({ "lat": at["lat"], "lng": at["lng"], "radius_km": 1.5 });
    let found = search_all(&agent, json!({ "near": near })).await;
    let metres: Vec<f64> =
        found.iter().map(|target| target["distance_m"].as_f64().unwrap()).collect();
    assert!(metres.is_sorted(), "{metres:?}");
    for target in &targets {
        let far = distance(at, &target["properties"]["geo"]);
        // The earth is not a sphere: within one hundredth of the radius, both results are right.
        if (far - 1500.0).abs() > 15.0 {
            assert_eq!(
                found.iter().any(|item| item["id"] == target["id"]),
                far < 1500.0,
                "{far} m"
            );
        }
    }
    let around =
        json!({ "action": "nearby", "target_id": middle["id"], "radius_km": 1.5, "limit": 100 });
    let around = agent.result("map_search", around).await;
    let mut others = ids(around["items"].as_array().unwrap());
    assert!(!others.contains(middle["id"].as_str().unwrap()));
    others.insert(middle["id"].as_str().unwrap().to_owned());
    assert_eq!(others, ids(&found));

    let (lat, lng) = (at["lat"].as_f64().unwrap(), at["lng"].as_f64().unwrap());
    let (south, north, west, east) = (lat - 0.01, lat + 0.01, lng - 0.01, lng + 0.01);
    let bbox = json!({ "south": south, "north": north, "west": west, "east": east });
    let inside = |target: &&Value| {
        let geo = &target["properties"]["geo"];
        let (lat, lng) = (geo["lat"].as_f64().unwrap(), geo["lng"].as_f64().unwrap());
        (south..=north).contains(&lat) && (west..=east).contains(&lng)
    };
    let wanted = ids(targets.iter().filter(inside));
    assert_eq!(ids(&search_all(&agent, json!({ "bbox": bbox })).await), wanted);
}

#[tokio::test(flavor = "multi_thread")]
async fn targets_are_found_by_the_words_of_their_names() {
    let host = host().await;
    let agent = host.agent().await;
    for target in targets().iter().step_by(17) {
        let found = search_all(&agent, json!({ "q": target["properties"]["name"] })).await;
        assert_eq!(found[0]["name"], target["properties"]["name"]);
    }
    assert!(search_all(&agent, json!({ "q": "xylophonist" })).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_target_comes_with_all_records_that_name_it() {
    let host = host().await;
    let agent = host.agent().await;
    let lists: BTreeMap<&str, (Vec<Value>, &str)> =
        DETAILS.iter().map(|(list, file, path)| (*list, (records(file), *path))).collect();
    for target in targets().iter().step_by(7) {
        let id = &target["id"];
        let whole = agent.result("map_search", json!({ "action": "get", "target_id": id })).await;
        assert_eq!(&whole["target"], target);
        for (list, (records, path)) in &lists {
            let names = |record: &&Value| match record.pointer(path) {
                Some(Value::Array(ids)) => ids.contains(id),
                named => named == Some(id),
            };
            let wanted = ids(records.iter().filter(names));
            let listed = ids(whole[list].as_array().unwrap());
            assert_eq!(listed.len(), wanted.len().min(MOST), "{list} of {id}");
            assert!(listed.is_subset(&wanted), "{list} of {id}");
        }
        assert!(
            whole["roles"]
                .as_array()
                .unwrap()
                .iter()
                .all(|role| role["description_html"].is_null())
        );
        let handoffs = whole["handoffs"].as_array().unwrap();
        let named = target["properties"]["handoff_ids"].as_array().unwrap();
        assert_eq!(handoffs.len(), named.len());
    }
    let nobody = json!({ "action": "get", "target_id": "tgt_0000000000000000000000000Z" });
    agent.call("map_search", nobody).await.assert_refused(404, "target_not_found");
}

/// Returns whether a record satisfies a condition of a question; an independent implementation.
fn satisfies(condition: &Value, record: &Value) -> bool {
    condition.as_object().unwrap().iter().all(|(path, comparison)| {
        let values = values(record, path);
        comparison.as_object().unwrap().iter().all(|(operator, wanted)| {
            values.iter().any(|value| match operator.as_str() {
                "eq" => value == wanted,
                "in" => wanted.as_array().unwrap().contains(value),
                "exists" => true,
                "gte" => match (value.as_f64(), wanted.as_f64()) {
                    (Some(value), Some(wanted)) => value >= wanted,
                    _ => value.as_str() >= wanted.as_str(),
                },
                other => panic!("{other}"),
            })
        })
    })
}

fn values(record: &Value, path: &str) -> Vec<Value> {
    let mut here = vec![record.clone()];
    for name in path.split('.') {
        let (name, each) = (name.trim_end_matches("[]"), name.ends_with("[]"));
        here = here.into_iter().filter_map(|value| value.get(name).cloned()).collect();
        if each {
            here = here
                .into_iter()
                .flat_map(|value| value.as_array().cloned().unwrap_or_default())
                .collect();
        }
    }
    here
}

#[tokio::test(flavor = "multi_thread")]
async fn every_question_of_the_map_is_answered_with_its_records() {
    let host = host().await;
    let agent = host.agent().await;
    let listed = agent.result("map_search", json!({ "action": "questions" })).await;
    let questions = records("agent-readable-signals.json");
    assert_eq!(ids(listed["items"].as_array().unwrap()), ids(&questions));
    let files: BTreeMap<&str, Vec<Value>> = DETAILS
        .iter()
        .map(|(feed, file, _)| (*feed, records(file)))
        .chain([("targets", targets())])
        .collect();
    let target = targets()[0]["id"].clone();
    let mut answered = 0;
    for question in &questions {
        let about =
            listed["items"].as_array().unwrap().iter().find(|entry| entry["id"] == question["id"]);
        let needs_a_target = about.unwrap()["about_a_target"] == true;
        let mut body = json!({ "action": "ask", "question_id": question["id"], "limit": 50 });
        if needs_a_target {
            let refused = agent.call("map_search", body.clone()).await;
            refused.assert_refused(400, "validation_failed");
            assert_eq!(refused.body["conflict"]["errors"][0]["pointer"], "/target_id");
            body["target_id"] = target.clone();
        }
        let material = agent.result("map_search", body).await;
        assert_eq!(material["output_schema"], question["output_schema"]);
        assert_eq!(material["answer_policy"], question["answer_policy"]);
        let uses =
            question["uses"].as_array().unwrap().iter().filter(|used| !used["where"].is_null());
        let answers = material["records"].as_array().unwrap();
        for (used, answer) in uses.zip(answers) {
            let condition =
                used["where"].to_string().replace("{{target_id}}", target.as_str().unwrap());
            if condition.contains("{{days_ago.") {
                assert!(
                    answer["items"]
                        .as_array()
                        .unwrap()
                        .iter()
                        .all(|record| record["id"].is_string())
                );
                continue;
            }
            let condition: Value = serde_json::from_str(&condition).unwrap();
            let all = &files[used["feed"].as_str().unwrap()];
            let wanted = ids(all.iter().filter(|record| satisfies(&condition, record)));
            let items = ids(answer["items"].as_array().unwrap());
            assert_eq!(items.len(), wanted.len().min(50), "{}", question["question"]);
            assert!(items.is_subset(&wanted), "{}", question["question"]);
            assert_eq!(answer["more"], wanted.len() > 50, "{}", question["question"]);
            answered += usize::from(!items.is_empty());
        }
        for record in answers.iter().flat_map(|answer| answer["items"].as_array().unwrap()) {
            if let Some(id) = record["target_id"].as_str() {
                assert!(ids(material["targets"].as_array().unwrap()).contains(id));
            }
        }
    }
    assert!(answered > 15, "{answered}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_map_is_searchable_once_feeds_are_published() {
    let host = Host::start(Options::with(&["map_search"])).await;
    let agent = host.agent().await;
    agent
        .call("map_search", json!({ "action": "search" }))
        .await
        .assert_refused(503, "dependency_unavailable");
    let folder = host.folder.path().join("data/feeds");
    std::fs::create_dir_all(&folder).unwrap();
    publish(&folder, &edition("one"), 21);
    host.wait_for_feeds("feeds in force", |status| !status["in_force"].is_null()).await;
    let found = search_all(&agent, json!({})).await;
    assert_eq!(found.len(), targets().len());
    // A cursor from one publication continues in the next one.
    let page = agent.result("map_search", json!({ "action": "search", "limit": 5 })).await;
    let before = host.feeds_status().await;
    publish(&folder, &edition("two"), 22);
    host.wait_for_feeds("the next feeds", |status| status["in_force"] != before["in_force"]).await;
    let rest = json!({ "action": "search", "limit": 5, "cursor": page["next_cursor"] });
    let rest = agent.result("map_search", rest).await;
    assert_eq!(rest["items"][0]["id"], found[5]["id"]);
}
