//! The handoff manifest, from the contracts in `data/handoffs.toml`.

use crate::{
    identifier::stable,
    record::{Continuation, Fallback, From, Handoff, Intent, Requires, Roads, To},
    timestamp::Timestamp,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

const CONTRACTS: &str = include_str!("../data/handoffs.toml");
/// How many seconds a continuation can be opened.
const TTL_S: u64 = 900;
/// The longest value of an input field.
const MOST_CHARS: u32 = 120;

#[derive(Deserialize)]
struct File {
    never_carries: Vec<String>,
    contract: Vec<Contract>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Contract {
    id: String,
    intent: Intent,
    title: String,
    feed: String,
    record_kind: String,
    required_fields: Vec<String>,
    capability: String,
    action: String,
    claimed: bool,
    scopes: Vec<String>,
    carries: Vec<String>,
    consent_text: String,
    #[serde(default)]
    missing: Vec<String>,
    ask_user: Option<String>,
    input: Map<String, Value>,
}

/// Returns the identifier of an intent's contract, the same in every publication.
pub fn id_of(intent: Intent) -> String {
    let name = serde_json::to_value(intent).unwrap_or_default();
    stable("hof", &[name.as_str().unwrap_or_default()])
}

/// Returns all contracts, with these base addresses.
pub fn handoffs(roads: &Roads, now: Timestamp) -> Result<Vec<Handoff>, toml::de::Error> {
    let file: File = toml::from_str(CONTRACTS)?;
    let never = &file.never_carries;
    Ok(file.contract.into_iter().map(|contract| handoff(contract, never, roads, now)).collect())
}

/// Returns the identifiers of the contracts that start from records of these kinds.
pub fn from_records(all: &[Handoff], kinds: &[&str]) -> Vec<String> {
    let starts_from = |handoff: &&Handoff| kinds.contains(&handoff.from.record_kind.as_str());
    all.iter().filter(starts_from).map(|handoff| handoff.id.clone()).collect()
}

fn handoff(contract: Contract, never: &[String], roads: &Roads, now: Timestamp) -> Handoff {
    let mut input = contract.input;
    input.insert("action".to_owned(), contract.action.clone().into());
    let fields = input
        .keys()
        .map(|name| (name.clone(), json!({ "type": "string", "maxLength": MOST_CHARS })));
    let properties: Map<String, Value> = fields.collect();
    let required: Vec<&String> = input.keys().collect();
    let input_schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    let base = &roads.capabilities;
    Handoff {
        id: contract.id,
        title: contract.title,
        intent: contract.intent,
        from: From {
            feed: contract.feed,
            record_kind: contract.record_kind,
            required_fields: contract.required_fields,
        },
        to: To { capability: contract.capability, action: contract.action },
        requires: Requires { claimed: contract.claimed, scopes: contract.scopes },
        input_template: Value::Object(input),
        input_schema,
        missing: contract.missing,
        ask_user: contract.ask_user,
        carries: contract.carries,
        never_carries: never.to_vec(),
        consent_text: contract.consent_text,
        continuation: Continuation {
            kind: "url".to_owned(),
            url_template: format!("{base}/handoff/{{token}}"),
            method: "GET".to_owned(),
            ttl_s: TTL_S,
            single_use: true,
            allowed_origins: vec![base.clone()],
        },
        fallback: Fallback { url: format!("{base}/v1/capabilities") },
        sources: Vec::new(),
        first_seen_at: now,
        updated_at: now,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::FEEDS;

    #[test]
    fn nine_contracts_begin_at_feeds_that_are_there() {
        let roads = Roads {
            capabilities: "https://api.example".to_owned(),
            ..Roads::of_host("https://map.example", None)
        };
        let all = handoffs(&roads, Timestamp::default()).unwrap();
        assert_eq!(all.len(), 9);
        for handoff in &all {
            assert!(FEEDS.iter().any(|feed| feed.id == handoff.from.feed), "{}", handoff.title);
            assert_eq!(handoff.id, id_of(handoff.intent));
            assert_eq!(handoff.continuation.allowed_origins, ["https://api.example"]);
        }
    }
}
