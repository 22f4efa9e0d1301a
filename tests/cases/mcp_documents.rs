//! MCP beside tools: resources, prompts, and catalogs too large to be listed.

use crate::{
    cases::plugins::shipped,
    harness::{
        Host, Options,
        feeds::{DOCUMENTS, city},
        mcp::message,
        template_copies,
    },
};
use serde_json::{Value, json};

const ALL: &str = "svc.read svc.write svc.events";

#[tokio::test(flavor = "multi_thread")]
async fn every_document_that_is_listed_can_be_read() {
    let host = shipped().await;
    let client = host.mcp(ALL).await;
    let listed = client.result("resources/list", json!({})).await;
    assert!(listed["ttlMs"].is_u64() && listed["cacheScope"].is_string(), "{listed}");
    let resources = listed["resources"].as_array().unwrap();
    let there = |uri: &str| resources.iter().any(|resource| resource["uri"] == uri);
    let schema = format!("{}/v1/capabilities/faq_search/schema", host.url);
    assert!(there(&format!("{}/auth.md", host.url)) && there(&schema), "{resources:#?}");
    assert!(there("portolan://pages/getting-started"));
    for resource in resources {
        let read = client.result("resources/read", json!({ "uri": resource["uri"] })).await;
        assert!(read["ttlMs"].is_u64() && read["cacheScope"].is_string(), "{read}");
        let contents = &read["contents"][0];
        assert_eq!(
            (&contents["uri"], &contents["mimeType"]),
            (&resource["uri"], &resource["mimeType"])
        );
        let text = contents["text"].as_str().unwrap();
        assert!(!text.is_empty());
        if resource["mimeType"] == "application/schema+json" {
            assert_eq!(serde_json::from_str::<Value>(text).unwrap()["type"], "object");
        }
        // A resource with an address of the host has the same text there.
        if let Some(path) = resource["uri"].as_str().unwrap().strip_prefix(&host.url) {
            assert_eq!(host.get(path).await.text, text);
        }
    }
    let templates = client.result("resources/templates/list", json!({})).await;
    let template = templates["resourceTemplates"][0]["uriTemplate"].as_str().unwrap();
    assert_eq!(template.replace("{id}", "faq_search"), schema);
    let completed = json!({
        "ref": { "type": "ref/resource", "uri": template }, "argument": { "name": "id", "value": "faq_" },
    });
    let completed = client.result("completion/complete", completed).await;
    assert_eq!(completed["completion"]["values"], json!(["faq_get", "faq_search"]));
    for uri in ["portolan://pages/nothing", "file:///etc/passwd", &format!("{schema}x")] {
        let read = client.request("resources/read", json!({ "uri": uri })).await;
        assert_eq!(message(read).await["error"]["code"], -32602, "{uri}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_feeds_are_resources_as_they_are_served() {
    let configuration = format!("feeds_dir = {:?}", city().join("feeds"));
    let host = Host::start(Options::with(&["faq_search"]).configuration(&configuration)).await;
    let client = host.mcp(ALL).await;
    let listed = client.result("resources/list", json!({})).await;
    for (path, _, media_type) in DOCUMENTS {
        let uri = format!("{}{path}", host.url);
        let resource =
            listed["resources"].as_array().unwrap().iter().find(|resource| resource["uri"] == uri);
        assert_eq!(resource.unwrap()["mimeType"], media_type);
        let read = client.result("resources/read", json!({ "uri": uri })).await;
        assert_eq!(read["contents"][0]["text"], host.get(path).await.text, "{path}");
    }
    let schema = format!("{}/map/data/schemas/roles.json", host.url);
    let read = client.result("resources/read", json!({ "uri": schema })).await;
    assert_eq!(read["contents"][0]["mimeType"], "application/schema+json");
}

#[tokio::test(flavor = "multi_thread")]
async fn prompts_are_listed_only_with_the_capabilities_that_they_need() {
    let host = Host::with(&["faq_search"]).await;
    assert_eq!(host.mcp(ALL).await.result("prompts/list", json!({})).await["prompts"], json!([]));
    let host = shipped().await;
    let client = host.mcp(ALL).await;
    let prompts = client.result("prompts/list", json!({})).await["prompts"].clone();
    let names: Vec<_> =
        prompts.as_array().unwrap().iter().map(|prompt| prompt["name"].as_str().unwrap()).collect();
    let shipped = [
        "agent_listings.find_people",
        "agent_listings.publish_listing",
        "map_search.research_startups",
        "svc.events.catch_up",
        "thread_meetings.prepare_meeting",
    ];
    assert_eq!(names, shipped);
    let arguments = json!({ "looking_for": "a {about_me} carpenter" });
    let wanted = json!({ "name": "agent_listings.find_people", "arguments": arguments });
    let prompt = client.result("prompts/get", wanted).await;
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    assert!(text.contains("carpenter") && text.contains("(not given)"), "{text}");
    // The capabilities that a prompt names are loaded.
    let words =
        text.split('`').skip(1).step_by(2).filter(|word| word.contains('_') && *word != "dry_run");
    let catalog = host.get("/v1/capabilities").await.body;
    let capabilities = catalog["capabilities"].as_array().unwrap();
    for word in words {
        assert!(capabilities.iter().any(|entry| entry["id"] == word), "{word}");
    }
    for wrong in [json!({ "name": "agent_listings.find_people" }), json!({ "name": "nothing" })] {
        let answer = message(client.request("prompts/get", wrong).await).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_capability_is_described_with_the_actions_that_the_token_permits() {
    let host = Host::with(&["ledger"]).await;
    let described = async |scope: &str| -> (Vec<String>, Value) {
        let client = host.mcp(scope).await;
        let answer = client.tool("describe_capability", json!({ "capability": "ledger" })).await;
        let body = &answer["structuredContent"];
        let tools = body["tools"].as_array().unwrap().iter();
        let names = tools.map(|tool| tool["tool"].as_str().unwrap().to_owned()).collect();
        (names, body["input_schema"]["properties"]["action"]["enum"].clone())
    };
    let (tools, actions) = described("svc.read").await;
    assert_eq!(tools, ["ledger_read"]);
    assert!(actions.as_array().unwrap().contains(&json!("balance")), "{actions}");
    assert!(!actions.as_array().unwrap().contains(&json!("open")), "{actions}");
    let (tools, actions) = described("svc.read svc.write").await;
    assert_eq!(tools, ["ledger_read", "ledger_write"]);
    assert!(actions.as_array().unwrap().contains(&json!("open")), "{actions}");
    // A token that permits nothing of it may still read what there is.
    assert_eq!(described("svc.events").await.0, ["ledger_read", "ledger_write"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_not_listed_is_found_described_and_called() {
    let mut options = Options::with(&["ledger", "faq_search", "svc_phone_binding"])
        .configuration("[mcp]\nlisted_tools = 0");
    options.components.extend(template_copies(20));
    let host = Host::start(options).await;
    let client = host.mcp(ALL).await;
    let found =
        client.tool("find_capabilities", json!({ "query": "accounts and transfers" })).await;
    assert_eq!(found["structuredContent"]["items"][0]["capability"], "ledger", "{found:#}");
    let found = client.tool("find_capabilities", json!({})).await;
    assert!(found["structuredContent"]["total"].as_u64().unwrap() > 23);
    let described = client.tool("describe_capability", json!({ "capability": "ledger" })).await;
    let schema = &described["structuredContent"]["input_schema"];
    assert!(schema["properties"]["action"]["enum"].as_array().unwrap().contains(&json!("balance")));
    let unknown = client.tool("describe_capability", json!({ "capability": "nobody" })).await;
    assert_eq!(unknown["structuredContent"]["error_code"], "unknown_capability");
    let call = |input: Value| json!({ "capability": "ledger", "input": input });
    let missing =
        client.tool("read_capability", call(json!({ "action": "balance", "account": "x" }))).await;
    assert_eq!(missing["structuredContent"]["error_code"], "account_not_found");
    let unclaimed =
        client.tool("call_capability", call(json!({ "action": "open", "account": "x" }))).await;
    assert_eq!(unclaimed["structuredContent"]["error_code"], "phone_binding_required");
    let next = &unclaimed["structuredContent"]["next"];
    let bind = json!({ "capability": "svc.phone-binding", "input": { "action": "bind" } });
    assert_eq!((&next["tool"], &next["arguments"]), (&json!("call_capability"), &bind));
    let unknown =
        client.tool("call_capability", json!({ "capability": "nobody", "input": {} })).await;
    assert_eq!(unknown["structuredContent"]["error_code"], "unknown_capability");
    assert_eq!(unknown["structuredContent"]["next"]["tool"], "find_capabilities");
    // A missing scope has the same status, by which the client can ask for more.
    let agent = host.register().await;
    host.claim(agent["agent_id"].as_str().unwrap()).await;
    let reader = crate::harness::mcp::Mcp::new(&host, host.mcp_token(&agent, "svc.read").await);
    let wanted = json!({ "name": "call_capability", "arguments": call(json!({ "action": "open", "account": "x" })) });
    assert_eq!(reader.request("tools/call", wanted).await.status(), 403);
}
