//! Capabilities as tools: their schemas, and that a call over MCP equals a call over HTTP.

use crate::{
    cases::plugins::shipped,
    harness::{Agent, Host, generated, inbox::Reader, mcp::Mcp},
};
use portolan_catalog::Schema;
use rand::{SeedableRng as _, rngs::StdRng};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The maximum number of bytes of a value that is validated.
const MAX_BYTES: u64 = 256 << 10;

const ALL: &str = "svc.read svc.write svc.events";
/// The number of generated inputs for each action.
const INPUTS: usize = 60;

#[tokio::test(flavor = "multi_thread")]
async fn a_tools_schema_accepts_the_inputs_of_its_actions() {
    let host = shipped().await;
    let tools = host.mcp(ALL).await.view("/all?output_schemas=true").tools().await;
    let catalog = host.get("/v1/capabilities").await.body;
    let mut random = StdRng::seed_from_u64(1);
    for entry in catalog["capabilities"].as_array().unwrap() {
        let strict = host.get(entry["schema_url"].as_str().unwrap()).await.body;
        let branches = strict["oneOf"].as_array().unwrap();
        let own = tools.iter().filter(|(_, tool)| tool["_meta"]["capability_id"] == entry["id"]);
        let mut actions = Vec::new();
        for (name, tool) in own {
            let named = tool["inputSchema"]["properties"]["action"]["enum"].as_array().unwrap();
            actions.extend(named.iter().map(|action| action.as_str().unwrap()));
            for schema in [&tool["inputSchema"], &tool["outputSchema"]] {
                let types = "\"type\":[";
                assert!(
                    !schema.to_string().contains(types),
                    "{name} has a list of types: {schema}"
                );
            }
            Schema::new(tool["outputSchema"].clone(), MAX_BYTES).unwrap();
            let branches = branches
                .iter()
                .filter(|branch| named.contains(&branch["properties"]["action"]["const"]));
            accepts_inputs((name, tool), &strict, branches, &mut random);
            hints_are_true(entry, tool);
        }
        // Each action is in one tool.
        let mut expected: Vec<_> = branches
            .iter()
            .map(|branch| branch["properties"]["action"]["const"].as_str().unwrap())
            .collect();
        actions.sort_unstable();
        expected.sort_unstable();
        assert_eq!(actions, expected, "{}", entry["id"]);
    }
}

/// Ensures that a tool accepts what its actions accept, and says which fields each of them has.
fn accepts_inputs<'a>(
    (name, tool): (&str, &Value),
    strict: &Value,
    branches: impl Iterator<Item = &'a Value>,
    random: &mut StdRng,
) {
    let flat = &tool["inputSchema"];
    for keyword in ["oneOf", "anyOf", "allOf", "not", "enum"] {
        assert!(flat.get(keyword).is_none(), "{name} has {keyword} at its root");
    }
    let strict_schema = Schema::new(strict.clone(), MAX_BYTES).unwrap();
    let schema = Schema::new(flat.clone(), MAX_BYTES).unwrap();
    let shown = flat["examples"].as_array().into_iter().flatten();
    assert!(shown.clone().all(|example| strict_schema.accepts(example)), "{name}");
    assert!(shown.count() > 0, "{name} has no example");
    for branch in branches {
        let action = &branch["properties"]["action"]["const"];
        let examples = branch["examples"].as_array().cloned().unwrap_or_default();
        let generated_inputs: Vec<Value> = (0..INPUTS)
            .map(|_| {
                let mut body = generated::value(branch, strict, random, 0);
                body["action"] = action.clone();
                without_nulls(body)
            })
            .collect();
        let mut accepted = 0;
        let bodies = examples.iter().chain(&generated_inputs);
        for body in bodies.filter(|body| strict_schema.accepts(body)) {
            accepted += 1;
            assert!(schema.accepts(body), "{name} does not take {body}");
        }
        assert!(accepted > 0, "{name} {action}: no input satisfies the schema");
        // The description of every field names the actions that have it.
        let fields = branch["properties"].as_object().unwrap().keys();
        for field in fields.filter(|name| *name != "action") {
            let description = flat["properties"][field]["description"].as_str().unwrap();
            let actions_sentence = description.split('.').next().unwrap();
            let listed = actions_sentence.split([' ', ',']).any(|word| action == word);
            let only = flat["properties"]["action"]["enum"].as_array().unwrap().len() == 1;
            assert!(
                only || listed || actions_sentence.starts_with("For every action"),
                "{name} {action} {field}: {description}"
            );
        }
        let line = format!("\n- {}: ", action.as_str().unwrap());
        let listed = flat["properties"]["action"]["description"].as_str().unwrap();
        assert!(listed.contains(&line), "{name} {action}");
    }
}

/// Leaves out the fields that are null: a tool takes none for a field that can be left out instead.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(members) => {
            let kept = members.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(name, value)| (name, without_nulls(value))).collect())
        }
        Value::Array(elements) => elements.into_iter().map(without_nulls).collect(),
        other => other,
    }
}

fn hints_are_true(entry: &Value, tool: &Value) {
    let named = tool["inputSchema"]["properties"]["action"]["enum"].as_array().unwrap();
    let actions: Vec<_> = entry["actions"].as_array().unwrap().iter().collect();
    let actions = || actions.iter().filter(|action| named.contains(&action["name"]));
    let hints = &tool["annotations"];
    if hints["readOnlyHint"] == true {
        let only_reads =
            |action: &&Value| ["read", "open"].iter().any(|access| action["access"] == *access);
        assert!(actions().all(only_reads), "{tool:#}");
    }
    let reads = actions().filter(|action| action["access"] == "read").count();
    assert!(reads == 0 || (hints["readOnlyHint"] == true && hints["destructiveHint"] == false));
    let destroys = actions().any(|action| action["destructive"] == true);
    assert_eq!(hints["destructiveHint"] == true, destroys, "{tool:#}");
    if hints["idempotentHint"] == true {
        let repeatable =
            |action: &Value| action["idempotent"] == true || action["access"] == "read";
        assert!(actions().all(|action| repeatable(action)), "{tool:#}");
    }
}

#[tokio::test]
async fn a_client_sees_what_its_token_permits() {
    let host = Host::with(&["ledger", "svc_whoami", "svc_phone_binding", "svc_events"]).await;
    let tools = async |scope: &str| -> BTreeMap<String, Value> {
        host.mcp(scope).await.view("/all").tools().await.into_iter().collect()
    };
    let reads = tools("svc.read").await;
    let names: Vec<_> = reads.keys().map(String::as_str).collect();
    // Any token may claim its agent.
    let expected = ["ledger_read", "svc_phone-binding_claim", "svc_whoami"];
    assert_eq!(names, expected);
    let actions = |tool: &Value| tool["inputSchema"]["properties"]["action"]["enum"].clone();
    let actions_of_ledger = actions(&reads["ledger_read"]);
    assert!(actions_of_ledger.as_array().unwrap().contains(&json!("balance")));
    let of_phone = actions(&reads["svc_phone-binding_claim"]);
    assert_eq!(of_phone, json!(["bind", "verify", "resend", "status"]));
    let all = tools(ALL).await;
    assert!(actions(&all["ledger_write"]).as_array().unwrap().contains(&json!("open")));
    assert!(all.contains_key("svc_events_inbox"));
    let text = all["ledger_write"]["description"].as_str().unwrap();
    assert!(text.ends_with("\nNeeds a person who has claimed this agent."), "{text}");
    // One of these only reads, because its component can change nothing.
    let read_only = |name: &str| reads[name]["annotations"]["readOnlyHint"].clone();
    assert_eq!(
        (read_only("svc_whoami"), read_only("svc_phone-binding_claim")),
        (json!(true), json!(false))
    );
}

/// A claimed agent with a token for HTTP and a client for each revision of MCP.
struct Transports<'a> {
    reader: Reader<'a>,
    mcp: [Mcp<'a>; 2],
    /// The name and the output schema of the tool of each action, such as `ledger.open`.
    tools: BTreeMap<String, (String, Schema)>,
}

impl<'a> Transports<'a> {
    async fn new(host: &'a Host) -> Self {
        let agent = host.register().await;
        let id = agent["agent_id"].as_str().unwrap().to_owned();
        host.claim(&id).await;
        let modern = Mcp::new(host, host.mcp_token(&agent, ALL).await);
        let legacy = Mcp::new(host, host.mcp_token(&agent, ALL).await).legacy().await;
        let token = host.token_of(&agent, ALL).await;
        let listing = Mcp::new(host, host.mcp_token(&agent, ALL).await);
        let mut tools = BTreeMap::new();
        for (name, tool) in listing.view("/all?output_schemas=true").tools().await {
            let id = tool["_meta"]["capability_id"].as_str().unwrap();
            for action in tool["inputSchema"]["properties"]["action"]["enum"].as_array().unwrap() {
                let schema = Schema::new(tool["outputSchema"].clone(), MAX_BYTES).unwrap();
                let action = format!("{id}.{}", action.as_str().unwrap());
                tools.insert(action, (name.clone(), schema));
            }
        }
        Self { reader: Reader { agent: Agent { host, token }, id }, mcp: [modern, legacy], tools }
    }

    /// Makes the same call over HTTP and both revisions of MCP. Returns whether each failed, and
    /// its body without the values that differ between any two calls, and without the next step, which names a
    /// capability over HTTP and a tool over MCP.
    async fn call_everywhere(
        &self,
        capability: &str,
        input: impl Fn(usize) -> Value,
    ) -> Vec<(bool, Value)> {
        let mut bodies = Vec::new();
        let reply = self.reader.agent.call(capability, input(0)).await;
        bodies.push((reply.status != 200, reply.body));
        for (number, mcp) in self.mcp.iter().enumerate() {
            let input = input(number + 1);
            let action = input["action"].as_str().unwrap_or_default();
            let tool = self.tools.get(&format!("{capability}.{action}"));
            // A call of no action, or of none that exists, names the capability.
            let name = tool.map_or(capability, |(name, _)| name);
            let result = mcp.tool(name, input.clone()).await;
            let body = result["structuredContent"].clone();
            let text = result["content"][0]["text"].as_str().unwrap();
            assert_eq!(serde_json::from_str::<Value>(text).unwrap(), body);
            if let Some((_, schema)) = tool {
                assert_eq!(schema.violations(&body), None, "{body:#}");
            }
            bodies.push((result["isError"].as_bool().unwrap(), body));
        }
        for (_, body) in &mut bodies {
            body.as_object_mut().unwrap().shift_remove("next");
            if let Some(meta) = body.get_mut("meta") {
                assert!(meta["request_id"].as_str().unwrap().starts_with("req_"));
                meta["request_id"] = Value::Null;
            }
        }
        bodies
    }

    async fn assert_same_answer(&self, capability: &str, input: Value) -> (bool, Value) {
        let bodies = self.call_everywhere(capability, |_| input.clone()).await;
        assert_eq!(bodies[0], bodies[1], "{input}");
        assert_eq!(bodies[0], bodies[2], "{input}");
        bodies[0].clone()
    }
}

async fn audit_rows(host: &Host, id: &str, action: &str) -> Vec<Value> {
    let url = format!("{}/audit?agent_id={id}&action={action}", host.admin_url);
    let audit: Value = host.operator.get(url).send().await.unwrap().json().await.unwrap();
    let rows = audit["entries"].as_array().unwrap().iter().cloned();
    let varying = ["at", "request_id", "duration_us", "seq", "id", "position", "salt"];
    rows.map(|mut row| {
        row.as_object_mut().unwrap().retain(|name, _| !varying.contains(&name.as_str()));
        row
    })
    .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_is_answered_alike_over_http_and_mcp() {
    let host = Host::with(&["ledger", "herald", "svc_events", "svc_whoami"]).await;
    let transports = Transports::new(&host).await;
    let id = &transports.reader.id;

    // Answers.
    transports.reader.agent.result("ledger", json!({ "action": "open", "account": "ada" })).await;
    let (failed, body) = transports
        .assert_same_answer("ledger", json!({ "action": "balance", "account": "ada" }))
        .await;
    assert!(!failed);
    assert_eq!(body["result"]["balance"], 0);
    let (failed, _) = transports.assert_same_answer("svc.whoami", json!({})).await;
    assert!(!failed);

    // Refusals: the component's, and the pipeline's at each of its steps.
    for (input, code) in [
        (json!({ "action": "balance", "account": "nobody" }), "account_not_found"),
        (json!({ "action": "open", "account": "ada" }), "account_exists"),
        (json!({ "action": "nonsense" }), "unknown_action"),
        (json!({}), "validation_failed"),
        (json!({ "action": "balance" }), "validation_failed"),
        (json!({ "action": "balance", "account": 7, "more": true }), "validation_failed"),
        (json!({ "action": "open", "account": "eve", "dry_run": "yes" }), "validation_failed"),
    ] {
        let (failed, body) = transports.assert_same_answer("ledger", input).await;
        assert_eq!((failed, &body["error_code"]), (true, &json!(code)));
    }
    // An idempotency key is the same over HTTP and MCP.
    let keyed = json!({ "action": "open", "account": "bob", "idempotency_key": "once" });
    let bodies = transports.call_everywhere("ledger", |_| keyed.clone()).await;
    let replayed: Vec<_> =
        bodies.iter().map(|(_, body)| body["meta"]["replayed"].clone()).collect();
    assert_eq!(replayed, [json!(false), json!(true), json!(true)]);

    // Audit: one row for each attempted write, the same except for the time.
    let dry_run = json!({ "action": "open", "account": "eve", "dry_run": true });
    transports.assert_same_answer("ledger", dry_run).await;
    let bodies = transports
        .call_everywhere(
            "ledger",
            |transport| json!({ "action": "open", "account": format!("door{transport}") }),
        )
        .await;
    assert!(bodies.iter().all(|(failed, _)| !failed), "{bodies:?}");
    let rows = audit_rows(&host, id, "open").await;
    // The rows are of the first call, the three refused ones, the one with a key, and these three.
    assert_eq!(rows.len(), 8, "{rows:#?}");
    let of =
        |outcome: &str| rows.iter().filter(|row| row["outcome"] == outcome).collect::<Vec<_>>();
    for alike in [of("ok"), of("account_exists")] {
        assert!(alike.windows(2).all(|two| two[0] == two[1]), "{rows:#?}");
    }

    // Events.
    let input = |transport: usize| json!({ "action": "proclaim", "agent": id, "subject": "news", "texts": [format!("by {transport}")] });
    transports.call_everywhere("herald", input).await;
    let page = transports.reader.page("wait=0&limit=100").await;
    let mut events: Vec<Value> = page["events"].as_array().unwrap().clone();
    events.retain(|event| event["subject"] == "news");
    assert_eq!(events.len(), 3, "{page:#}");
    for (transport, event) in events.iter_mut().enumerate() {
        assert!(event["data"].to_string().contains(&format!("by {transport}")), "{event:#}");
        for varying in ["id", "time", "sequence", "data"] {
            event.as_object_mut().unwrap().shift_remove(varying);
        }
    }
    assert!(events.windows(2).all(|two| two[0] == two[1]), "{events:#?}");
}

#[tokio::test]
async fn an_unknown_tool_name_is_refused() {
    let host = Host::with(&["svc_whoami"]).await;
    let client = host.mcp(ALL).await;
    for name in ["svc-whoami", "nobody", ""] {
        let call = json!({ "name": name, "arguments": {} });
        let answer = crate::harness::mcp::message(client.request("tools/call", call).await).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    // The id of the capability is a name of its tool.
    for name in ["svc_whoami", "svc.whoami"] {
        assert_eq!(client.tool(name, json!({})).await["isError"], false);
    }
}
