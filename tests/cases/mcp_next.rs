//! The next steps of answers over MCP: each names what the client can do.

use crate::{
    cases::plugins::shipped,
    harness::{Host, mcp::Mcp},
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const ALL: &str = "svc.read svc.write svc.events";

/// The fields that a client knows, of each tool that it sees and of each action that it finds.
struct Known {
    tools: BTreeMap<String, Map<String, Value>>,
    actions: BTreeMap<String, Map<String, Value>>,
    /// The capability of each listed tool.
    owners: BTreeMap<String, String>,
}

impl Known {
    /// Returns the listed tool with an action.
    fn tool_of(&self, id: &str, action: &str) -> Option<&str> {
        let mut tools = self.owners.iter().filter(|(_, owner)| *owner == id).map(|(tool, _)| tool);
        let has = |tool: &&String| {
            let actions = &self.tools[*tool]["action"]["enum"];
            actions.as_array().is_some_and(|actions| actions.contains(&json!(action)))
        };
        tools.find(has).map(String::as_str)
    }

    async fn of(client: &Mcp<'_>, all: &Mcp<'_>) -> Self {
        let fields = |tool: &Value| tool["inputSchema"]["properties"].as_object().unwrap().clone();
        let listed = client.tools().await;
        let owner = |tool: &Value| Some(tool["_meta"]["capability_id"].as_str()?.to_owned());
        let owners = listed.iter().filter_map(|(name, tool)| Some((name.clone(), owner(tool)?)));
        let owners = owners.collect();
        let tools = listed.into_iter().map(|(name, tool)| (name, fields(&tool))).collect();
        let mut actions = BTreeMap::new();
        for (_, tool) in all.tools().await {
            let id = tool["_meta"]["capability_id"].as_str().unwrap();
            for action in tool["inputSchema"]["properties"]["action"]["enum"].as_array().unwrap() {
                actions.insert(format!("{id}.{}", action.as_str().unwrap()), fields(&tool));
            }
        }
        Self { tools, actions, owners }
    }

    /// Returns why a client cannot take a step; `None` if it can.
    fn fault(&self, step: &Value) -> Option<String> {
        if step["method"] == "tools/list" {
            return None;
        }
        if step.get("tool").is_none() {
            let is_wait = step["after_s"].is_u64() && step["then"] == "retry_original";
            return (!is_wait).then(|| "it is neither a call nor a wait".to_owned());
        }
        let tool = step["tool"].as_str()?;
        let Some(mut fields) = self.tools.get(tool) else {
            return Some(format!("there is no tool {tool}"));
        };
        let mut given = &step["arguments"];
        if ["read_capability", "call_capability"].contains(&tool) {
            let (id, input) = (given["capability"].as_str()?, &given["input"]);
            // A call of no action is refused with the right ones.
            if let Some(action) = input["action"].as_str() {
                let Some(found) = self.actions.get(&format!("{id}.{action}")) else {
                    return Some(format!("there is no action {id}.{action}"));
                };
                (fields, given) = (found, input);
            }
        }
        let given = given.as_object().unwrap().keys().map(String::as_str);
        let missing =
            step["missing"].as_array().into_iter().flatten().map(|name| name.as_str().unwrap());
        let is_call = fields.contains_key("capability") && fields.contains_key("input");
        let missing = missing.filter(|_| !is_call);
        let unknown: Vec<_> =
            given.chain(missing).filter(|name| !fields.contains_key(*name)).collect();
        (!unknown.is_empty()).then(|| format!("the tool has no {unknown:?}"))
    }
}

/// Returns the actions of a capability with an example of each.
async fn examples(host: &Host, entry: &Value) -> Vec<Value> {
    let schema = host.get(entry["schema_url"].as_str().unwrap()).await.body;
    let branches = schema["oneOf"].as_array().unwrap().iter();
    branches.filter_map(|branch| branch["examples"].get(0).cloned()).collect()
}

/// Returns bodies like this one, each with a fault.
fn invalid_bodies(example: &Value) -> Vec<Value> {
    let body = example.as_object().unwrap();
    let with = |name: &str, value: Value| {
        let mut body = body.clone();
        body.insert(name.to_owned(), value);
        Value::Object(body)
    };
    let fields = body.keys().filter(|name| *name != "action");
    let of_wrong_type = fields.map(|name| with(name, json!({ "no_such": [7] })));
    let more = [with("no_such_field", json!(1)), with("action", json!("no_such_action"))];
    of_wrong_type.chain(more).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn every_step_can_be_taken() {
    let host = shipped().await;
    let agent = host.register().await;
    host.claim(agent["agent_id"].as_str().unwrap()).await;
    let catalog = host.get("/v1/capabilities").await.body;
    for view in ["", "/all"] {
        let claimed = Mcp::new(&host, host.mcp_token(&agent, ALL).await).view(view);
        let unclaimed = host.mcp(ALL).await.view(view);
        let known = Known::of(&claimed, &host.mcp(ALL).await.view("/all")).await;
        let (mut faults, mut invalid, mut refused) = (Vec::new(), 0, 0);
        for entry in catalog["capabilities"].as_array().unwrap() {
            let tool = entry["mcp_tool"].as_str().unwrap();
            for example in examples(&host, entry).await {
                let answer =
                    unclaimed.tool(tool, example.clone()).await["structuredContent"].clone();
                refused += usize::from(answer["error_code"] == "phone_binding_required");
                let fault_of =
                    |answer: &Value| Some((known.fault(answer.get("next")?)?, answer.clone()));
                faults.extend(fault_of(&answer));
                let action = example["action"].as_str().unwrap();
                let listed = known.tool_of(entry["id"].as_str().unwrap(), action).unwrap_or(tool);
                for body in invalid_bodies(&example) {
                    let answer = claimed.tool(listed, body).await["structuredContent"].clone();
                    let is_invalid = answer["conflict"]["kind"] == "validation";
                    invalid += usize::from(is_invalid);
                    if is_invalid && answer.get("next").is_none() {
                        faults.push(("there is no step".to_owned(), answer.clone()));
                    }
                    faults.extend(fault_of(&answer));
                }
            }
        }
        assert!(faults.is_empty(), "{view}: {faults:#?}");
        assert!(invalid > 300 && refused > 50, "{invalid} invalid, {refused} refused");
    }
}

#[tokio::test]
async fn a_corrected_call_is_the_next_step_of_an_invalid_one() {
    let host = Host::with(&["ledger"]).await;
    let client = host.mcp(ALL).await;
    let next = async |arguments: Value| {
        client.tool("ledger_read", arguments).await["structuredContent"]["next"].clone()
    };
    assert_eq!(
        next(json!({ "action": "balance", "account": 7 })).await,
        json!({ "tool": "ledger_read", "arguments": { "action": "balance" }, "missing": ["account"] })
    );
    let step = next(json!({ "action": "balance", "account": "nobody", "more": 1 })).await;
    assert_eq!(step["arguments"], json!({ "action": "balance", "account": "nobody" }));
    assert_eq!(
        next(json!({ "account": "nobody" })).await,
        json!({ "tool": "ledger_read", "arguments": { "account": "nobody" }, "missing": ["action"] })
    );
    // The binding that a write needs is not loaded here, so there is nothing to call.
    let open = json!({ "action": "open", "account": "ada" });
    let answer = client.tool("ledger_write", open).await;
    assert_eq!(answer["structuredContent"].get("next"), None);
}
