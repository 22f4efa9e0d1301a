//! The promises of every shipped capability's descriptor, checked by calls: its examples succeed,
//! bad input is refused with its place, next steps can be called, and all error codes are declared.

use crate::{
    cases::plugins::shipped,
    harness::{Agent, Host, Reply, next_steps::FollowedSteps},
};
use portolan_vocabulary::ErrorCode;
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// An address that the host must not connect to. A calendar's address needs a name, for which the host asks a DNS server
/// that is not there.
const NOWHERE: &str = "https://127.0.0.1:1/";

/// One action of a capability, as agents see it.
struct Action {
    capability: String,
    name: String,
    schema: Value,
    access: String,
    /// The error codes that the action declares.
    errors: BTreeSet<String>,
}

impl Action {
    fn examples(&self) -> impl Iterator<Item = Value> + '_ {
        let examples = self.schema["examples"].as_array().into_iter().flatten();
        examples.map(|example| {
            let mut body = example.clone();
            if body["url"].as_str().is_some_and(|url| url.starts_with("https:")) {
                body["url"] = json!(NOWHERE);
            }
            body
        })
    }

    fn title(&self) -> String {
        format!("{} {}", self.capability, self.name)
    }
}

/// Returns every action of every capability that agents may call.
async fn actions(host: &Host) -> Vec<Action> {
    let mut actions = Vec::new();
    for entry in host.get("/v1/capabilities").await.body["capabilities"].as_array().unwrap() {
        let schema = host.get(entry["schema_url"].as_str().unwrap()).await.body;
        for branch in schema["oneOf"].as_array().unwrap() {
            let name = branch["properties"]["action"]["const"].as_str().unwrap();
            let listed = entry["actions"].as_array().unwrap();
            let listed = listed.iter().find(|action| action["name"] == name).unwrap();
            let errors = listed["errors"].as_array().unwrap();
            actions.push(Action {
                capability: entry["id"].as_str().unwrap().to_owned(),
                name: name.to_owned(),
                access: branch["x-access"].as_str().unwrap().to_owned(),
                errors: errors.iter().map(|code| code.as_str().unwrap().to_owned()).collect(),
                schema: with_definitions(branch, &schema),
            });
        }
    }
    actions
}

/// Returns the branch as a schema of its own, with the definitions that it refers to.
fn with_definitions(branch: &Value, schema: &Value) -> Value {
    let mut branch = branch.clone();
    branch["$defs"] = schema.get("$defs").cloned().unwrap_or_else(|| json!({}));
    branch
}

/// Numbers of test mode, to which no message is sent. Agents that one number has claimed are one person's.
const ADA: &str = "+14155550100";
const BOB: &str = "+14155550101";

const CY: &str = "+14155550102";

/// The actions that end the claim of the calling agent or limit it, each with the person whose agent calls it instead.
const ENDS: [(&str, &str); 3] = [
    ("approvals tighten", CY),
    ("owners sign_out_everywhere", BOB),
    ("svc.phone-binding unbind", BOB),
];

/// Returns a new agent that the person with this number has claimed.
async fn agent_of<'a>(host: &'a Host, phone: &str) -> Agent<'a> {
    let agent = host.test_agent().await;
    agent.claim(phone).await;
    agent
}

#[tokio::test(flavor = "multi_thread")]
async fn every_example_passes_and_every_next_step_can_be_called() {
    let host = shipped().await;
    let person = agent_of(&host, ADA).await;
    let actions = actions(&host).await;
    let mut faults = Vec::new();
    let (mut tried, mut followed) = (0, 0);
    for action in &actions {
        let validator = jsonschema::draft202012::new(&action.schema).unwrap();
        if action.examples().next().is_none() {
            faults.push(format!("{} has no example", action.title()));
        }
        for (name, field) in action.schema["properties"].as_object().unwrap() {
            if name != "action" && !field["description"].is_string() {
                faults.push(format!("{}: {name} has no description", action.title()));
            }
        }
        let other = agent_of(&host, other_person(action).unwrap_or(BOB)).await;
        let person = if other_person(action).is_some() { &other } else { &person };
        for example in action.examples() {
            tried += 1;
            if !validator.is_valid(&example) {
                faults.push(format!("{}: {example} breaks its schema", action.title()));
            }
            let reply = person.call(&action.capability, example.clone()).await;
            // An example with an id may fail, because nothing with this id exists.
            let names = example.as_object().unwrap().keys();
            let named =
                names.into_iter().any(|field| field.ends_with("_id") || field.ends_with("_ids"));
            if reply.status != 200 && !named && !needs_an_earlier_call(action) {
                faults.push(format!("{}: {example}: {}", action.title(), reply.text));
            }
            if reply.status.is_server_error() {
                faults.push(format!("{}: {example}: {}", action.title(), reply.text));
            }
            check_answer(action, &reply, &mut faults);
            followed += follow(person, action, (&actions, &example), reply, &mut faults).await;
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(tried >= actions.len() && followed > 20, "{tried} tried, {followed} followed");
}

/// Returns the number of another person, who calls the action because it can end a claim or limit the agent.
fn other_person(action: &Action) -> Option<&'static str> {
    let title = action.title();
    let ends = ENDS.iter().find(|(name, _)| *name == title).map(|(_, phone)| *phone);
    ends.or((action.capability == "svc.phone-binding").then_some(BOB))
}

/// Returns whether the action's examples cannot succeed, because they need a code that was sent or
/// another call before.
fn needs_an_earlier_call(action: &Action) -> bool {
    let title = action.title();
    action.capability == "svc.phone-binding" || NEEDS_SOMEBODY.contains(&title.as_str())
}

const NEEDS_SOMEBODY: [&str; 4] = [
    "agent_credits redeem",
    "handoff_resolve preview",
    "handoff_resolve redeem",
    "owners reactivate",
];

/// Reports an error code that neither the action nor the host declares.
fn check_answer(action: &Action, reply: &Reply, faults: &mut Vec<String>) {
    let Some(code) = reply.body["error_code"].as_str() else { return };
    if !action.errors.contains(code) && ErrorCode::from_name(code).is_none() {
        faults.push(format!("{}: {code} is not declared", action.title()));
    }
}

/// Calls the next steps, one after the other and unchanged, until there is none, one that needs an answer of the
/// person, or a second one that is no read. Reports a step that fails, and one that leads back to an earlier call.
/// Returns the number of steps.
async fn follow(
    person: &Agent<'_>,
    action: &Action,
    (actions, example): (&[Action], &Value),
    mut reply: Reply,
    faults: &mut Vec<String>,
) -> usize {
    let mut taken = vec![(action.capability.clone(), example.clone())];
    loop {
        let next = reply.body["next"].clone();
        let Some(capability) = next["capability"].as_str() else { break };
        // A step with missing fields is not called; `Agent::call` checks it with every answer.
        if !next["missing"].is_null() || !next["after_s"].is_null() {
            break;
        }
        let input = next.get("input").cloned().unwrap_or_else(|| json!({}));
        let is_read = actions.iter().any(|action| {
            action.capability == capability
                && action.name == input["action"]
                && action.access == "read"
        });
        if taken.len() > 1 && !is_read {
            break;
        }
        let step = (capability.to_owned(), input.clone());
        if taken.contains(&step) {
            faults.push(format!("{}: the steps are a loop: {taken:?}", action.title()));
            break;
        }
        reply = person.call(capability, input).await;
        if reply.status != 200 {
            faults.push(format!("{}: next {next}: {}", action.title(), reply.text));
        }
        taken.push(step);
    }
    taken.len() - 1
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_input_is_refused_with_the_place_and_the_reason() {
    let host = shipped().await;
    let person = agent_of(&host, ADA).await;
    let mut faults = Vec::new();
    let (mut tried, mut followed) = (0, FollowedSteps::default());
    for action in actions(&host).await {
        let Some(base) = action.examples().next() else { continue };
        let validator = jsonschema::draft202012::new(&action.schema).unwrap();
        for (what, pointer, body) in invalid_bodies(&action.schema, &base) {
            tried += 1;
            let reply = person.call(&action.capability, body).await;
            let conflict = &reply.body["conflict"];
            let errors = conflict["errors"].as_array().cloned().unwrap_or_default();
            let is_explained = errors.iter().all(|error| !error["schema"].is_null())
                && validator.is_valid(&conflict["example"])
                && !conflict.to_string().contains("$ref");
            if !is_explained {
                faults.push(format!("{}: {what} is not explained: {conflict}", action.title()));
            }
            let names_pointer =
                errors.iter().any(|error| error["pointer"].as_str() == Some(pointer.as_str()));
            faults.extend(followed.follow(&person, &reply).await);
            if reply.status != 400
                || reply.body["error_code"] != "validation_failed"
                || !names_pointer
            {
                faults.push(format!("{}: {what} at {pointer}: {}", action.title(), reply.text));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(tried > 500, "{tried}");
}

/// Returns bodies that violate the schema, each in one place: the change, the place, and the body.
fn invalid_bodies(schema: &Value, base: &Value) -> Vec<(String, String, Value)> {
    let mut bodies = Vec::new();
    let mut add = |what: String, field: &str, body: Value| {
        bodies.push((what, format!("/{field}"), body));
    };
    let with = |field: &str, value: Value| {
        let mut body = base.clone();
        body[field] = value;
        body
    };
    add("an unknown field".to_owned(), "no_such_field", with("no_such_field", json!(1)));
    for field in schema["required"].as_array().unwrap() {
        let field = field.as_str().unwrap();
        if field != "action" {
            let mut body = base.clone();
            body.as_object_mut().unwrap().shift_remove(field);
            add("left out".to_owned(), field, body);
        }
    }
    for (field, rules) in schema["properties"].as_object().unwrap() {
        if field == "action" || field == "idempotency_key" {
            continue;
        }
        for (what, value) in invalid_value(rules) {
            add(what, field, with(field, value));
        }
    }
    bodies
}

/// Returns values that violate these rules, each with a description.
fn invalid_value(rules: &Value) -> Vec<(String, Value)> {
    let types = match &rules["type"] {
        Value::String(one) => vec![one.as_str()],
        Value::Array(many) => many.iter().map(|name| name.as_str().unwrap()).collect(),
        _ => Vec::new(),
    };
    let mut wrong = Vec::new();
    let values = [
        ("string", json!("text")),
        ("number", json!(1.5)),
        ("boolean", json!(true)),
        ("object", Value::Object(Map::new())),
        ("array", json!([])),
        ("null", Value::Null),
    ];
    for (name, value) in values {
        if !types.is_empty() && !types.contains(&name) {
            wrong.push((format!("a {name}"), value));
        }
    }
    if let Some(longest) = rules["maxLength"].as_u64()
        && types.contains(&"string")
    {
        wrong.push(("too long".to_owned(), json!("a".repeat(longest as usize + 1))));
    }
    if let Some(shortest) = rules["minLength"].as_u64()
        && shortest > 0
    {
        wrong.push(("too short".to_owned(), json!("")));
    }
    for (bound, beyond) in [("maximum", 1), ("minimum", -1)] {
        if let Some(bound) = rules[bound].as_i64() {
            wrong.push((format!("beyond {bound}"), json!(bound + beyond)));
        }
    }
    if rules["enum"].is_array() {
        wrong.push(("no such value".to_owned(), json!("no such value")));
    }
    wrong
}

#[tokio::test(flavor = "multi_thread")]
async fn writes_need_a_claim_and_an_idempotency_key_belongs_to_one_body() {
    let host = shipped().await;
    let (person, nobody) = (agent_of(&host, ADA).await, host.test_agent().await);
    let mut faults = Vec::new();
    let mut writes = 0;
    for action in actions(&host).await.iter().filter(|action| action.access == "write") {
        let Some(example) = action.examples().next() else { continue };
        writes += 1;
        let other = agent_of(&host, other_person(action).unwrap_or(BOB)).await;
        let person = if other_person(action).is_some() { &other } else { &person };
        let title = action.title();
        let refused = nobody.call(&action.capability, example.clone()).await;
        let next = &refused.body["next"];
        if refused.body["error_code"] != "phone_binding_required"
            || next["capability"] != "svc.phone-binding"
            || next["input"]["action"] != "bind"
        {
            faults.push(format!("{title} by nobody: {}", refused.text));
        }
        // The claim is checked before the input, so an empty input is refused with the same code.
        let bare = json!({ "action": action.name });
        let refused = nobody.call(&action.capability, bare).await;
        if refused.body["error_code"] != "phone_binding_required" {
            faults.push(format!("{title} by nobody, without a body: {}", refused.text));
        }
        if ENDS.iter().any(|(name, _)| *name == title) {
            continue;
        }
        let mut keyed = example.clone();
        keyed["idempotency_key"] = json!(title);
        let first = person.call(&action.capability, keyed.clone()).await;
        let again = person.call(&action.capability, keyed.clone()).await;
        if first.status == 200 {
            if again.body["result"] != first.body["result"]
                || again.body["meta"]["replayed"] != true
            {
                faults.push(format!("{title} with its key again: {}", again.text));
            }
            if let Some(other) = other_value(&action.schema, &keyed) {
                let reused = person.call(&action.capability, other).await;
                if reused.body["error_code"] != "idempotency_key_reused" {
                    faults.push(format!("{title} with its key for another body: {}", reused.text));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(writes > 30, "{writes}");
}

/// Returns another body that satisfies the schema; `None` if none is found.
fn other_value(schema: &Value, body: &Value) -> Option<Value> {
    let validator = jsonschema::draft202012::new(schema).unwrap();
    let fields = schema["properties"].as_object().unwrap().keys();
    let fields =
        fields.filter(|field| !["action", "idempotency_key", "dry_run"].contains(&field.as_str()));
    let values = [json!("en"), json!("other words"), json!(1), json!(true), json!([])];
    for field in fields {
        for value in &values {
            let mut other = body.clone();
            other[field] = value.clone();
            if other != *body && validator.is_valid(&other) {
                return Some(other);
            }
        }
    }
    None
}
