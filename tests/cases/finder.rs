//! The quality of `find_capabilities` for what people want. Each intent names the actions that are right for
//! it.

use crate::{
    cases::plugins::shipped,
    harness::{Host, Options, mcp::Mcp},
};
use serde_json::{Value, json};

/// How many percent of the intents have a right tool first, and among the first three.
#[derive(Debug, PartialEq, PartialOrd)]
struct Score {
    first: f64,
    in_three: f64,
}

/// Returns the place of the first tool with a right action among the found ones.
async fn place(client: &Mcp<'_>, intent: &Value) -> Option<usize> {
    let found = client.tool("find_capabilities", json!({ "query": intent["intent"] })).await;
    let items = found["structuredContent"]["items"].as_array().unwrap().clone();
    items.iter().position(|item| {
        let capability = item["capability"].as_str().unwrap();
        let actions = item["actions"].as_array().unwrap().iter();
        let name = |action: &Value| format!("{capability}.{}", action["action"].as_str().unwrap());
        actions.map(name).any(|name| intent["right"].as_array().unwrap().contains(&json!(name)))
    })
}

async fn score(client: &Mcp<'_>, set: &str) -> Score {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpora/intents");
    let text = std::fs::read_to_string(format!("{folder}/{set}")).unwrap();
    let intents: Vec<Value> = serde_json::from_str(&text).unwrap();
    let (mut first, mut in_three) = (0, 0);
    for intent in &intents {
        let place = place(client, intent).await;
        first += usize::from(place == Some(0));
        in_three += usize::from(place.is_some_and(|place| place < 3));
    }
    let percent = |count: usize| 100.0 * count as f64 / intents.len() as f64;
    Score { first: percent(first), in_three: percent(in_three) }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_right_tool_is_found_by_plain_words() {
    let host = shipped().await;
    let client = host.mcp("svc.read svc.write svc.events").await;
    // The percentages that were measured when the texts were written, less what one change of a text may
    // cost.
    for (set, first, in_three) in
        [("main.json", 88.0, 95.0), ("second.json", 85.0, 93.0), ("held_out.json", 86.0, 94.0)]
    {
        let score = score(&client, set).await;
        println!("{set}: {score:?}");
        assert!(score.first >= first && score.in_three >= in_three, "{set}: {score:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_search_costs_as_much_as_a_call() {
    let limits = "rate_limits = \"on\"\n[limits]\nanonymous_calls_per_minute = 2\n";
    let host = Host::start_at_fixed_time(Options::with(&["ledger"]).configuration(limits)).await;
    let client = host.mcp("svc.read").await;
    let [find, describe] = [
        ("find_capabilities", json!({ "query": "accounts" })),
        ("describe_capability", json!({ "capability": "ledger" })),
    ];
    for (tool, arguments) in [find.clone(), describe] {
        let answer = client.tool(tool, arguments).await;
        assert_eq!(answer["isError"], false, "{answer:#}");
    }
    let refused = client.tool(find.0, find.1).await["structuredContent"].clone();
    assert_eq!(refused["error_code"], "rate_limited", "{refused:#}");
    // A search without a token counts against the address, which has ten times the limit of an agent.
    let mut found = 0;
    let searches = [
        "/v1/capabilities?q=a",
        "/openapi.json?q=a",
        "/openapi.json?capability=ledger",
        "/docs?q=a",
    ];
    while host.get(searches[found % searches.len()]).await.status == 200 {
        found += 1;
    }
    assert_eq!(found, 20 - 2);
    assert_eq!(host.get("/v1/capabilities").await.status, 200);
}
