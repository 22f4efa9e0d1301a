//! The actions' outputs satisfy their schemas, and their next steps can be called.
use super::*;
use portolan_sdk::{
    Outcome,
    contract::{Caller, Failure, description::Access},
};
use serde_json::{Value, json};

/// Runs an action as the host does: it validates input and output against the declared schemas.
fn run<I, O, E>(
    input: Value,
    action: impl FnOnce(&Call, I) -> Result<O, E>,
) -> Result<(Value, Option<Value>), Failure>
where
    I: serde::de::DeserializeOwned + JsonSchema,
    O: Outcome,
    E: Refusals,
{
    let declared = portolan_sdk::declare::<I, O, E>("", "", "", Access::Read, Vec::new());
    let accepts = |schema: &str, value: &Value| {
        let schema = serde_json::from_str(schema).unwrap();
        let validator = jsonschema::validator_for(&schema).unwrap();
        let errors: Vec<_> = validator.iter_errors(value).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{value}: {errors:?}");
    };
    accepts(&declared.input, &input);
    let call = Call::new(Caller::System);
    let success = portolan_sdk::run(&input.to_string(), |input| action(&call, input))?;
    let output = serde_json::from_str(&success.output).unwrap();
    accepts(&declared.output, &output);
    Ok((output, success.next.map(|next| serde_json::from_str(&next).unwrap())))
}

fn codes(items: &Value) -> Vec<&str> {
    items.as_array().unwrap().iter().map(|item| item["code"].as_str().unwrap()).collect()
}

fn detail(text: Option<String>) -> Value {
    serde_json::from_str(&text.unwrap()).unwrap()
}

#[test]
fn tree_lists_as_deep_as_asked() {
    let (tree, _) = run(json!({}), ListingTaxonomy::tree).unwrap();
    let nodes = codes(&tree["nodes"]);
    assert!(nodes.contains(&"work.candidate") && !nodes.contains(&"work.candidate.data"));
    let (tree, _) = run(json!({"depth": 0, "locale": "fr"}), ListingTaxonomy::tree).unwrap();
    assert_eq!(codes(&tree["nodes"]), ["work", "home", "social", "venture", "pro", "lead"]);
    assert_eq!(tree["locale"], "en");
    let (tree, _) = run(json!({"root": "pro.client", "depth": 1}), ListingTaxonomy::tree).unwrap();
    let nodes = codes(&tree["nodes"]);
    assert_eq!(nodes, ["pro.client", "pro.client.lawyer", "pro.client.service"]);
    let (tree, _) = run(json!({"depth": 6}), ListingTaxonomy::tree).unwrap();
    assert_eq!(codes(&tree["nodes"]).len(), taxonomy::NODES.len());
}

#[test]
fn unknown_categories_are_refused_with_the_nearest_tree() {
    let code = json!({"code": "home.let.castle"});
    let failure = run(code, ListingTaxonomy::get).unwrap_err();
    assert_eq!(failure.code, "category_unknown");
    let input = &detail(failure.next)["input"];
    assert_eq!(*input, json!({"action": "tree", "root": "home.let"}));
    let failure = run(json!({"root": "castle"}), ListingTaxonomy::tree).unwrap_err();
    assert_eq!(detail(failure.next)["input"], json!({"action": "tree"}));
    let failure = run(json!({"code": "7777"}), ListingTaxonomy::crosswalk).unwrap_err();
    assert_eq!(failure.code, "category_unknown");
}

#[test]
fn get_answers_node_and_policy_and_leads_to_the_fields() {
    let (category, next) = run(json!({"code": "social.date"}), ListingTaxonomy::get).unwrap();
    assert_eq!(category["counterpart"], "social.date");
    assert_eq!(category["policy"]["min_age"], 18);
    assert_eq!(category["policy"]["proposal_cost"], 2);
    let input = &next.unwrap()["input"];
    assert_eq!(*input, json!({"action": "fields", "code": "social.date", "side": "demand"}));
    let (_, next) = run(json!({"code": "pro.client"}), ListingTaxonomy::get).unwrap();
    assert_eq!(next.unwrap()["input"], json!({"action": "tree", "root": "pro.client"}));
}

#[test]
fn search_and_suggest_answer_by_score() {
    let (found, _) = run(json!({"q": "nurses"}), ListingTaxonomy::search).unwrap();
    assert_eq!(codes(&found["items"])[..2], ["work.job.healthcare", "work.candidate.healthcare"]);
    let text = json!({"text": "two bedroom flat near the park, no pets", "side": "demand"});
    let (suggested, next) = run(text, ListingTaxonomy::suggest).unwrap();
    let best = &suggested["items"][0];
    assert_eq!(best["code"], "home.rent.apartment");
    assert_eq!(best["matched_terms"], json!(["two", "bedroom", "flat", "pets"]));
    assert_eq!(next.unwrap()["input"]["side"], "demand");
    let (nothing, next) = run(json!({"text": "?!"}), ListingTaxonomy::suggest).unwrap();
    assert_eq!(nothing["items"], json!([]));
    assert_eq!(next.unwrap()["input"]["action"], "tree");
}

#[test]
fn fields_describe_the_listing_and_select_its_counterparts() {
    let input = json!({"code": "home.rent.room", "side": "demand"});
    let (fields, _) = run(input, ListingTaxonomy::fields).unwrap();
    assert_eq!(fields["counterpart"], "home.let.room");
    assert_eq!(fields["counterpart_side"], "offer");
    assert!(fields["attributes"]["properties"]["move_in_from"].is_object());
    let criteria = fields["criteria"].as_array().unwrap();
    assert!(criteria.iter().any(|criterion| criterion["field"] == "private_bathroom"));
    let input = json!({"code": "lead.general", "side": "offer"});
    let (fields, _) = run(input, ListingTaxonomy::fields).unwrap();
    assert_eq!(fields["counterpart_side"], "demand");
    let input = json!({"code": "social.friend", "side": "demand"});
    let (fields, _) = run(input, ListingTaxonomy::fields).unwrap();
    assert_eq!(fields["counterpart_side"], "demand");
}

#[test]
fn every_category_has_fields_for_each_of_its_sides() {
    for node in &taxonomy::NODES {
        for side in node.sides {
            let input = json!({"code": node.code, "side": side});
            let (fields, _) = run(input, ListingTaxonomy::fields).unwrap();
            assert_eq!(fields["counterpart"], node.counterpart.unwrap());
        }
    }
}

#[test]
fn fields_refuse_a_side_the_category_does_not_have() {
    let input = json!({"code": "work.job", "side": "demand"});
    let failure = run(input, ListingTaxonomy::fields).unwrap_err();
    assert_eq!(failure.code, "validation_failed");
    let error = &detail(failure.conflict)["errors"][0];
    assert_eq!((&error["pointer"], &error["expected"]), (&json!("/side"), &json!(["offer"])));
    let input = json!({"code": "pro.client", "side": "demand"});
    let failure = run(input, ListingTaxonomy::fields).unwrap_err();
    let error = &detail(failure.conflict)["errors"][0];
    assert_eq!(error["pointer"], "/code");
    assert!(error["expected"].as_array().unwrap().contains(&json!("pro.client.lawyer.ip")));
}

#[test]
fn crosswalk_answers_statements() {
    let input = json!({"scheme": "isco08", "code": "2512"});
    let (found, _) = run(input, ListingTaxonomy::crosswalk).unwrap();
    assert_eq!(
        found["items"][0],
        json!({
            "from": "2512", "to": "work.job.software", "relation": "broadMatch",
            "scheme": "isco08", "label": "Software developers",
        })
    );
    let input = json!({"scheme": "schema_org", "code": "work.job"});
    let (found, _) = run(input, ListingTaxonomy::crosswalk).unwrap();
    assert_eq!(found["items"][0]["relation"], "exactMatch");
    let (all, _) = run(json!({}), ListingTaxonomy::crosswalk).unwrap();
    assert_eq!(all["items"].as_array().unwrap().len(), taxonomy::MAPPINGS.len());
}
