//! The tools that an endpoint lists: by default, by its path and query, and in pages.

use crate::{
    cases::plugins::shipped,
    harness::{
        Host, Options, Reply, component,
        mcp::{Mcp, message},
        patched, template_copies,
    },
};
use serde_json::json;

const ALL: &str = "svc.read svc.write svc.events";

/// Returns a host with this many capabilities of another publisher than the host's.
async fn with_copies(count: usize, configuration: &str) -> Host {
    let options = Options { components: template_copies(count), ..Options::default() };
    Host::start(options.configuration(configuration)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn all_tools_are_listed_in_pages_and_always_in_the_same_order() {
    let host = with_copies(120, "").await;
    let client = host.mcp(ALL).await.view("/all");
    let page = client.result("tools/list", json!({})).await;
    assert!(page["tools"].as_array().unwrap().len() < 240 && page["nextCursor"].is_string());
    let names = client.tool_names().await;
    assert_eq!(names.len(), 240);
    assert!(names.is_sorted());
    assert_eq!(names, client.tool_names().await);
}

#[tokio::test(flavor = "multi_thread")]
async fn no_component_takes_the_tool_of_another_one() {
    let host = Host::with(&["ledger"]).await;
    // Its own tool would have the name of a tool of `ledger`.
    let thief = patched(&component("template"), &[("template_000", "ledger_write")]);
    host.drop_in("thief.wasm", &thief);
    let refused = host.wait_for_refusal("thief.wasm").await;
    assert_eq!(refused["reason"], "duplicate_tool_name", "{refused}");
    let names = host.mcp(ALL).await.view("/all").tool_names().await;
    assert_eq!(names, ["ledger_read", "ledger_write"]);
}

const FINDER: [&str; 4] =
    ["find_capabilities", "describe_capability", "read_capability", "call_capability"];

#[tokio::test(flavor = "multi_thread")]
async fn ten_tools_of_any_publisher_are_listed_by_default() {
    let host = with_copies(24, "[mcp]\ntools = [\"template_020_read\"]").await;
    let client = host.mcp(ALL).await;
    let names = client.tool_names().await;
    let (listed, finder) = names.split_at(names.len() - FINDER.len());
    assert_eq!(finder, FINDER);
    let first = (0..4)
        .flat_map(|number| ["read", "write"].map(|kind| format!("template_{number:03}_{kind}")));
    let rest = ["template_004_read", "template_020_read"].map(str::to_owned);
    assert_eq!(listed, first.chain(rest).collect::<Vec<_>>());
    // The others are found and called.
    let found = client.tool("find_capabilities", json!({ "query": "template 015" })).await;
    let found = &found["structuredContent"]["items"][0];
    assert_eq!(found["capability"], "template_015", "{found:#}");
    let input = json!({ "action": "alpha", "customer": "Ada", "lines": [] });
    let call = json!({ "capability": "template_015", "input": input });
    let answer = client.tool("read_capability", call).await["structuredContent"].clone();
    assert_eq!(answer["error_code"], "order_empty", "{answer}");
    // A few tools are all listed.
    let host = with_copies(3, "").await;
    assert_eq!(host.mcp(ALL).await.tool_names().await.len(), 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_default_list_is_small_and_says_the_truth() {
    let host = shipped().await;
    let client = host.mcp(ALL).await;
    let listed = client.result("tools/list", json!({})).await;
    let tools = listed["tools"].as_array().unwrap();
    assert!(tools.len() - FINDER.len() <= 10, "{}", tools.len());
    // About four bytes are a token.
    let tokens = serde_json::to_string(tools).unwrap().len() / 4;
    assert!(tokens <= 8_000, "{tokens} tokens");
    assert!(tools.iter().all(|tool| tool.get("outputSchema").is_none()));
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    let declared = [
        "agent_listings_publish",
        "agent_listings_search",
        "listing_taxonomy_fields",
        "matching_sessions_match",
        "matching_sessions_review",
        "pairings_propose",
        "svc_events_inbox",
        "svc_phone-binding_claim",
    ];
    let missing: Vec<_> = declared.iter().filter(|name| !names.contains(name)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}

#[tokio::test]
async fn an_endpoint_lists_the_tools_that_its_path_names() {
    let host = Host::with(&["ledger", "calendar", "faq_search", "svc_whoami"]).await;
    let names = async |view: &str| host.mcp(ALL).await.view(view).tool_names().await;
    assert_eq!(names("/search").await, FINDER);
    assert_eq!(names("?tools=search&readonly=true").await, FINDER[..3]);
    let own = |names: &[String]| {
        names.iter().filter(|name| !FINDER.contains(&&***name)).cloned().collect::<Vec<_>>()
    };
    assert_eq!(own(&names("/x/faq_search").await), ["faq_search"]);
    assert_eq!(own(&names("/x/time,faq/readonly").await), ["calendar_read", "faq_search"]);
    assert_eq!(
        own(&names("/all/readonly").await),
        ["calendar_read", "faq_search", "ledger_read", "svc_whoami"]
    );

    let cursor = json!({ "cursor": "nothing" });
    let answer = host.mcp(ALL).await.view("/all").request("tools/list", cursor).await;
    assert_eq!(message(answer).await["error"]["code"], -32602);
    for unknown in ["/x/nothing", "/everything"] {
        let response = host.mcp(ALL).await.view(unknown).request("tools/list", json!({})).await;
        let reply = Reply::read(response).await;
        reply.assert_refused(404, "not_found");
        let message = reply.body["message"].as_str().unwrap();
        assert!(message.contains("faq") || message.contains("/mcp/all"), "{message}");
    }
    // Clients compare the address that they have asked with the one in the metadata.
    let resource = format!("{}/mcp/x/faq/readonly", host.url);
    let reply = host.client.post(&resource).json(&json!({})).send().await.unwrap();
    let challenge = reply.headers()["www-authenticate"].to_str().unwrap();
    let metadata = "/.well-known/oauth-protected-resource/mcp/x/faq/readonly";
    assert!(challenge.contains(&format!("{metadata}\"")), "{challenge}");
    assert!(challenge.contains("scope=\"svc.read\""), "{challenge}");
    assert_eq!(host.get(metadata).await.body["resource"], resource);
    host.get("/.well-known/oauth-protected-resource/mcp/every")
        .await
        .assert_refused(404, "not_found");
    // A token for one view is one for all.
    let agent = host.register().await;
    let form = [
        ("grant_type", "client_credentials"),
        ("client_id", agent["client_id"].as_str().unwrap()),
        ("client_secret", agent["client_secret"].as_str().unwrap()),
        ("resource", &resource),
    ];
    let reply = host.client.post(format!("{}/oauth/token", host.url)).form(&form).send().await;
    let token = Reply::read(reply.unwrap()).await.body["access_token"].clone();
    let client = Mcp::new(&host, token.as_str().unwrap().to_owned());
    assert!(own(&client.tool_names().await).contains(&"ledger_read".to_owned()));
}

#[tokio::test]
async fn a_tool_calls_only_what_its_hints_promise() {
    let host = Host::with(&["ledger"]).await;
    let agent = host.register().await;
    host.claim(agent["agent_id"].as_str().unwrap()).await;
    let token = host.mcp_token(&agent, ALL).await;
    let open = json!({ "action": "open", "account": "ada" });
    let client = Mcp::new(&host, token.clone());
    let capability_call = json!({ "capability": "ledger", "input": open });
    for (tool, arguments) in
        [("ledger_read", open.clone()), ("read_capability", capability_call.clone())]
    {
        let refused = client.tool(tool, arguments).await["structuredContent"].clone();
        assert_eq!(refused["error_code"], "unknown_action", "{refused}");
        let message = refused["message"].as_str().unwrap();
        assert!(message.ends_with("ledger_write has it."), "{message}");
        assert_eq!(refused["next"], json!({ "tool": "ledger_write", "arguments": open }));
    }
    // More scopes would not help, so the client is not told to ask for any.
    let narrow = Mcp::new(&host, host.mcp_token(&agent, "svc.read").await).view("/readonly");
    let refused = narrow.tool("ledger", open.clone()).await["structuredContent"].clone();
    assert_eq!(refused["error_code"], "not_permitted", "{refused}");
    let reader = Mcp::new(&host, token.clone()).view("/readonly");
    for (tool, arguments) in [
        ("ledger", open.clone()),
        ("ledger_write", open.clone()),
        ("call_capability", capability_call),
    ] {
        let refused = reader.tool(tool, arguments).await["structuredContent"].clone();
        assert_eq!(refused["error_code"], "not_permitted", "{refused}");
    }
    let balance = json!({ "action": "balance", "account": "ada" });
    let missing = reader.tool("ledger", balance.clone()).await["structuredContent"].clone();
    assert_eq!(missing["error_code"], "account_not_found");
    assert_eq!(client.tool("ledger_write", open).await["isError"], false);
    assert_eq!(reader.tool("ledger_read", balance).await["isError"], false);
}
