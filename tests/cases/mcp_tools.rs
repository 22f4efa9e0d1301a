//! Capabilities as tools: their schemas, and that a call over MCP equals a call over HTTP.

use crate::{
    cases::plugins::shipped,
    harness::{Agent, Host, Options, component, generated, inbox::Reader, mcp::Mcp, patched},
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
    let tools = host.mcp(ALL).await.tools().await;
    let catalog = host.get("/v1/capabilities").await.body;
    let entries = catalog["capabilities"].as_array().unwrap();
    let names: Vec<_> = entries.iter().map(|entry| entry["mcp_tool"].as_str().unwrap()).collect();
    assert_eq!(tools.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>(), names);
    let mut random = StdRng::seed_from_u64(1);
    for (entry, (name, tool)) in entries.iter().zip(tools) {
        let strict = host.get(entry["schema_url"].as_str().unwrap()).await.body;
        let flat = &tool["inputSchema"];
        for keyword in ["oneOf", "anyOf", "allOf", "not", "enum"] {
            assert!(flat.get(keyword).is_none(), "{name} has {keyword} at its root");
        }
        let (strict_schema, schema) = (
            Schema::new(strict.clone(), MAX_BYTES).unwrap(),
            Schema::new(flat.clone(), MAX_BYTES).unwrap(),
        );
        Schema::new(tool["outputSchema"].clone(), MAX_BYTES).unwrap();
        for schema in [flat, &tool["outputSchema"]] {
            assert!(
                !schema.to_string().contains("\"type\":["),
                "{name} has a list of types: {schema}"
            );
        }
        for branch in strict["oneOf"].as_array().unwrap() {
            let action = &branch["properties"]["action"]["const"];
            let examples = branch["examples"].as_array().cloned().unwrap_or_default();
            let generated_inputs: Vec<Value> = (0..INPUTS)
                .map(|_| {
                    let mut body = generated::value(branch, &strict, &mut random, 0);
                    body["action"] = action.clone();
                    without_nulls(body)
                })
                .collect();
            let mut accepted = 0;
            for body in
                examples.iter().chain(&generated_inputs).filter(|body| strict_schema.accepts(body))
            {
                accepted += 1;
                assert!(schema.accepts(body), "{name} does not take {body}");
            }
            assert!(accepted > 0, "{name} {action}: no input satisfies the schema");
            // The description of every field names the actions that have it.
            for field in
                branch["properties"].as_object().unwrap().keys().filter(|name| *name != "action")
            {
                let description = flat["properties"][field]["description"].as_str().unwrap();
                let actions_sentence = description.split('.').next().unwrap();
                let listed = actions_sentence.split([' ', ',']).any(|word| action == word);
                assert!(
                    listed || actions_sentence.starts_with("For every action"),
                    "{name} {action} {field}: {description}"
                );
            }
        }
        let actions: Vec<_> = strict["oneOf"]
            .as_array()
            .unwrap()
            .iter()
            .map(|branch| &branch["properties"]["action"]["const"])
            .collect();
        assert_eq!(json!(actions), flat["properties"]["action"]["enum"], "{name}");
        for action in actions {
            let line = format!("\n- {} (", action.as_str().unwrap());
            assert!(tool["description"].as_str().unwrap().contains(&line), "{name} {action}");
        }
        assert_eq!(tool["_meta"]["capability_id"], entry["id"]);
        hints_are_true(entry, &tool);
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
    let actions = entry["actions"].as_array().unwrap();
    let all = |is: fn(&Value) -> bool| actions.iter().all(is);
    let hints = &tool["annotations"];
    if hints["readOnlyHint"] == true {
        let only_reads =
            |action: &Value| ["read", "open"].iter().any(|access| action["access"] == *access);
        assert!(actions.iter().all(only_reads), "{entry:#}");
    }
    if hints["destructiveHint"] == false {
        assert!(all(|action| action["destructive"] == false), "{entry:#}");
    }
    if hints["idempotentHint"] == true {
        assert!(
            all(|action| action["idempotent"] == true || action["access"] == "read"),
            "{entry:#}"
        );
    }
}

#[tokio::test]
async fn a_tool_has_the_actions_that_the_token_permits() {
    let host = Host::with(&["ledger", "svc_whoami", "svc_phone_binding", "svc_events"]).await;
    let tool = async |scope: &str, name: &str| {
        let tools = host.mcp(scope).await.tools().await;
        tools.into_iter().find(|(listed, _)| listed == name).map(|(_, tool)| tool)
    };
    let reads = tool("svc.read", "ledger").await.unwrap();
    let actions = reads["inputSchema"]["properties"]["action"]["enum"].as_array().unwrap();
    assert!(actions.contains(&json!("balance")) && !actions.contains(&json!("open")), "{reads}");
    assert!(reads["inputSchema"]["properties"].get("idempotency_key").is_none());
    let text = reads["description"].as_str().unwrap();
    assert!(text.contains("\n- balance (reads)") && !text.contains("\n- open ("), "{text}");
    assert!(text.ends_with("\nA token with svc.write has more actions."), "{text}");
    assert_eq!(
        (&reads["annotations"]["readOnlyHint"], &reads["annotations"]["destructiveHint"]),
        (&json!(true), &json!(false))
    );
    let all = tool("svc.read svc.write", "ledger").await.unwrap();
    let actions = all["inputSchema"]["properties"]["action"]["enum"].as_array().unwrap();
    assert!(actions.contains(&json!("balance")) && actions.contains(&json!("open")), "{all}");
    assert!(!all["description"].as_str().unwrap().contains("has more actions"));
    assert_eq!(all["annotations"]["readOnlyHint"], false);
    // A tool without such an action is not listed.
    assert_eq!(tool("svc.read", "svc_events").await, None);
    // Any token permits these, of which one only reads: its component can change nothing.
    let read_only = async |name: &str| {
        tool("svc.read", name).await.unwrap()["annotations"]["readOnlyHint"].clone()
    };
    assert_eq!(
        (read_only("svc_whoami").await, read_only("svc_phone-binding").await),
        (json!(true), json!(false))
    );
}

/// A claimed agent with a token for HTTP and a client for each revision of MCP.
struct Transports<'a> {
    reader: Reader<'a>,
    mcp: [Mcp<'a>; 2],
    /// The output schema of each tool.
    outputs: BTreeMap<String, Schema>,
}

impl<'a> Transports<'a> {
    async fn new(host: &'a Host) -> Self {
        let agent = host.register().await;
        let id = agent["agent_id"].as_str().unwrap().to_owned();
        host.claim(&id).await;
        let modern = Mcp::new(host, host.mcp_token(&agent, ALL).await);
        let legacy = Mcp::new(host, host.mcp_token(&agent, ALL).await).legacy().await;
        let token = host.token_of(&agent, ALL).await;
        let tools = modern.tools().await.into_iter();
        let outputs = tools.map(|(name, tool)| {
            (name, Schema::new(tool["outputSchema"].clone(), MAX_BYTES).unwrap())
        });
        let outputs = outputs.collect();
        Self { reader: Reader { agent: Agent { host, token }, id }, mcp: [modern, legacy], outputs }
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
            let name = capability.replace('.', "_");
            let result = mcp.tool(&name, input(number + 1)).await;
            let body = result["structuredContent"].clone();
            let text = result["content"][0]["text"].as_str().unwrap();
            assert_eq!(serde_json::from_str::<Value>(text).unwrap(), body);
            assert_eq!(self.outputs[&name].violations(&body), None, "{body:#}");
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

#[tokio::test(flavor = "multi_thread")]
async fn the_order_of_tools_is_always_the_same() {
    let template = component("template");
    let components = (0..40).rev().map(|number| {
        let id = format!("template_{number:03}");
        (format!("{id}.wasm"), patched(&template, &[("template_000", &id)]))
    });
    let host =
        Host::start(Options { components: components.collect(), ..Options::default() }).await;
    let client = host.mcp(ALL).await;
    let names = client.tool_names().await;
    assert_eq!(names.len(), 40);
    assert!(names.is_sorted());
    assert_eq!(names, client.tool_names().await);
}
