//! A listing is accepted if it is valid; otherwise all faults are reported.
use super::*;
use crate::{narrow, taxonomy::node};
use people_kit::taxonomy::{CheckInput, NarrowInput};
use portolan_sdk::Refusal;

const TODAY: &str = "2026-11-24T09:00:00Z";

fn checked(code: &str, attributes: Value, criteria: Value) -> Result<Checked, Refusal> {
    let side = node(code).unwrap().sides[0];
    let input = json!({
        "code": code, "side": side, "attributes": attributes, "criteria": criteria,
    });
    let input: CheckInput = serde_json::from_value(input).unwrap();
    listing(node(code).unwrap(), input, TODAY).map_err(Refusal::from)
}

fn narrowed(code: Option<&str>, filters: Value, radius_km: Option<f64>) -> Result<Value, Refusal> {
    let filters = serde_json::from_value(filters).unwrap();
    let input =
        NarrowInput { code: code.map(str::to_owned), filters, radius_km, ..NarrowInput::default() };
    let found = narrow::search(code.and_then(node), &input).map_err(Refusal::from)?;
    Ok(portolan_sdk::to_value(&found))
}

fn job() -> Value {
    json!({"employment_type": "FULL_TIME", "skills": ["Rust", "Rust"], "languages": []})
}

#[test]
fn what_the_text_says_has_facts_where_no_attribute_does() {
    let input = json!({
        "code": "home.let.apartment", "side": "offer",
        "attributes": { "bedrooms": 1, "available_from": "2027-01-01" },
        "text": "Two bedrooms, cats welcome.",
    });
    let input: CheckInput = serde_json::from_value(input).unwrap();
    let checked = listing(node("home.let.apartment").unwrap(), input, TODAY).unwrap();
    assert_eq!(checked.said["pets"], "allowed");
    let facts = checked.keys.facts;
    assert!(facts.contains(&"pets=allowed".into()) && facts.contains(&"bedrooms=1".into()));
    assert!(!facts.contains(&"bedrooms=2".into()), "{facts:?}");
    assert!(checked.gist.contains(&"#cat".into()), "{:?}", checked.gist);
}

#[test]
fn sentences_from_which_nothing_is_read_are_kept_and_not_searched() {
    let input = json!({
        "code": "home.let.apartment", "side": "offer",
        "attributes": { "bedrooms": 1, "available_from": "2027-01-01" },
        "text": "Two bedrooms, cats welcome. Only for zitherists.",
    });
    let input: CheckInput = serde_json::from_value(input).unwrap();
    let checked = listing(node("home.let.apartment").unwrap(), input, TODAY).unwrap();
    assert_eq!(checked.said["to_check"], json!(["Only for zitherists."]));
    assert!(!checked.words.contains("zitherists"), "{}", checked.words);
}

fn places(refusal: &Refusal) -> Vec<String> {
    let errors = refusal.conflict.as_ref().unwrap()["errors"].as_array().unwrap();
    errors.iter().map(|error| error["pointer"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_listing_comes_back_in_its_normal_form_with_its_category() {
    let checked = checked("work.job.software", job(), json!({})).unwrap();
    assert_eq!(
        Value::from(checked.attributes),
        json!({"employment_type": "FULL_TIME", "skills": ["Rust"]})
    );
    let mut facts = checked.keys.facts;
    facts.sort();
    assert_eq!(facts, ["employment_type=full_time", "skills=rust"]);
    assert_eq!(checked.category.counterpart, "work.candidate.software");
    assert_eq!(checked.category.schema_org_type, "JobPosting");
    assert!(checked.category.synonyms.iter().any(|word| word == "programmer"));
    assert_eq!((checked.policy.default_ttl_days, checked.policy.min_radius_km), (30, Some(5)));
}

#[test]
fn all_faults_are_reported_together() {
    let criteria = json!({
        "must": [{"field": "shoe_size", "op": "eq", "value": 44},
                 {"field": "skills", "op": "gte", "value": "Rust"}],
        "want": [{"field": "years_experience", "op": "gte", "value": "many"}],
    });
    let refusal = checked("work.job.software", json!({"rent": 1}), criteria).unwrap_err();
    assert_eq!(refusal.code, "attributes_invalid");
    assert_eq!(
        places(&refusal),
        [
            "/attributes/employment_type",
            "/attributes/rent",
            "/criteria/must/0/field",
            "/criteria/must/1",
            "/criteria/want/0/value",
        ]
    );
    let next = portolan_sdk::to_value(&refusal.next);
    assert_eq!(
        next["input"],
        json!({"action": "fields", "code": "work.job.software", "side": "offer"})
    );
}

#[test]
fn nobody_selects_by_what_the_law_protects() {
    for (field, value) in [
        ("rаcе", json!("any")),
        ("maxAge", json!(40)),
        ("zip", json!("94110")),
        ("skills", json!("Christian")),
        ("distance_km", json!(1)),
    ] {
        let op = if field == "distance_km" { "lte" } else { "eq" };
        let criteria = json!({"must": [{"field": field, "op": op, "value": value}]});
        let refusal = checked("work.job.software", job(), criteria).unwrap_err();
        assert_eq!(refusal.code, "criteria_prohibited", "{field}");
        let conflict = refusal.conflict.unwrap();
        assert_eq!(conflict["kind"], "policy");
        assert!(conflict["pointers"][0].as_str().unwrap().starts_with("/criteria/must/0"));
        let next = portolan_sdk::to_value(&refusal.next);
        assert_eq!(next["input"], json!({"action": "get", "code": "work.job.software"}));
    }
    let date = json!({"aims": ["open"], "gender": "man", "seeking": ["woman"], "age": 30});
    let criteria = json!({"must": [{"field": "age", "op": "gte", "value": 25}]});
    checked("social.date", date, criteria).unwrap();
}

#[test]
fn filters_become_comparisons_of_keys() {
    let filters = json!({
        "bedrooms": {"gte": 2, "lte": 3}, "pets": {"in": ["allowed", "negotiable"]},
        "available_from": {"lte": "2027-03-01"},
    });
    let found = narrowed(Some("home.let"), filters, Some(10.0)).unwrap();
    assert_eq!(found["facts"], json!([["pets=allowed", "pets=negotiable"]]));
    assert_eq!(
        found["ranks"],
        json!([
            ["available_from=", "available_from=2027-03-01"],
            ["bedrooms=c000000000000000", "bedrooms=c008000000000000"],
        ])
    );
    let everywhere = narrowed(None, json!({"skills": {"eq": "Rust"}}), None).unwrap();
    assert_eq!(everywhere["facts"], json!([["skills=rust"]]));
    assert_eq!(narrowed(Some("social.date"), json!({}), None).unwrap()["min_age"], 18);
}

#[test]
fn filters_that_do_not_fit_or_are_prohibited_are_refused() {
    for (code, filters, radius, expected) in [
        (Some("home.let"), json!({"religion": {"eq": "any"}}), None, "filter_prohibited"),
        (Some("home.let"), json!({"features": {"eq": "no kids"}}), None, "filter_prohibited"),
        (Some("home.let"), json!({"bedrooms": {"eq": 1}}), Some(2.0), "filter_prohibited"),
        (None, json!({"skin_color": {"eq": "any"}}), None, "filter_prohibited"),
        (None, json!({}), Some(1.0), "filter_prohibited"),
        (Some("home.let"), json!({"occupants": {"lte": 2}}), None, "filter_prohibited"),
        (Some("home.let"), json!({"bedrooms": {"eq": "two"}}), None, "attributes_invalid"),
        (Some("home.let"), json!({"bedrooms": {}}), None, "attributes_invalid"),
        (Some("home.let"), json!({"pets": {"gte": "allowed"}}), None, "attributes_invalid"),
        (Some("home"), json!({"shoe": {"eq": 1}}), None, "validation_failed"),
    ] {
        let refusal = narrowed(code, filters.clone(), radius).unwrap_err();
        assert_eq!(refusal.code, expected, "{filters}");
        assert!(refusal.next.is_some());
    }
    narrowed(Some("social.friend"), json!({}), Some(1.0)).unwrap();
}
