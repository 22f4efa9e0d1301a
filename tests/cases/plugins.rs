//! The shipped capabilities: each is loaded, and imports only the contract.

use crate::harness::{Host, Options, feeds::city, guests};
use serde_json::{Value, json};

pub fn names() -> Vec<String> {
    let folder = std::fs::read_dir(guests().join("plugins")).unwrap();
    let mut names: Vec<_> = folder
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "wasm"))
        .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

pub async fn shipped() -> Host {
    let names = names();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let options = Options::with(&names)
        .configuration(&format!("feeds_dir = {:?}", city().join("feeds")))
        .add_configuration("reachable_networks = [\"127.0.0.0/8\"]")
        .add_configuration("lookups.dns_servers = [\"127.0.0.1:1\"]");
    Host::start(options).await
}

/// The capabilities that the description of the platform names.
const NAMED: [&str; 17] = [
    "agent_listings",
    "matching_sessions",
    "pairings",
    "thread_meetings",
    "calendar",
    "listing_taxonomy",
    "owners",
    "agent_credits",
    "conversations",
    "social_org",
    "social_permissions",
    "social_relationships",
    "faq_get",
    "faq_search",
    "content_get",
    "content_render",
    "svc.phone-binding",
];
/// The other shipped capabilities.
const MORE: [&str; 17] = [
    "applications",
    "approvals",
    "availability_finder",
    "data_rights",
    "handoff_resolve",
    "intros",
    "map_search",
    "media",
    "owner_verification",
    "references",
    "reports",
    "saved_searches",
    "signal_verification",
    "svc.events",
    "svc.status",
    "svc.webhooks",
    "svc.whoami",
];

#[tokio::test(flavor = "multi_thread")]
async fn the_catalog_lists_every_capability() {
    let host = shipped().await;
    assert_eq!(host.status().await["refused"], json!([]));
    let catalog = host.get("/v1/capabilities").await.body;
    let listed = catalog["capabilities"].as_array().unwrap().iter();
    let mut listed: Vec<_> = listed.map(|entry| entry["id"].as_str().unwrap()).collect();
    listed.sort_unstable();
    let mut expected = [&NAMED[..], &MORE].concat();
    expected.sort_unstable();
    assert_eq!(listed, expected);
    for id in listed {
        let schema = host.get(&format!("/v1/capabilities/{id}/schema")).await;
        assert_eq!(schema.status, 200, "{id}");
        assert!(schema.body["oneOf"].is_array(), "{id}: {}", schema.text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn shipped_components_import_the_contract_alone() {
    let host = shipped().await;
    for row in host.status().await["loaded"].as_array().unwrap() {
        for import in row["imports"].as_array().unwrap() {
            assert!(import.as_str().unwrap().starts_with("portolan:capability/"), "{row}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_faq_is_searched_and_read() {
    let host = shipped().await;
    let agent = host.agent().await;
    // A capability with one action needs no action in its body.
    let found = agent
        .result("faq_search", json!({ "query": "how does a person claim an agent by phone" }))
        .await;
    let slug = found["items"][0]["slug"].clone();
    let entry = agent.result("faq_get", json!({ "slug": slug })).await;
    assert!(entry["answer_md"].as_str().unwrap().contains("svc.phone-binding"), "{entry:#}");
    let reply = agent.call("faq_get", json!({ "slug": "no-such-entry" })).await;
    reply.assert_refused(404, "faq_not_found");
    let next = &reply.body["next"];
    let follow = agent.call(next["capability"].as_str().unwrap(), next["input"].clone()).await;
    assert_eq!(follow.status, 200, "the next step can be followed: {}", follow.text);
    agent.call("faq_search", json!({ "query": " " })).await.assert_refused(400, "query_empty");
}

#[tokio::test(flavor = "multi_thread")]
async fn pages_are_read_and_markdown_is_rendered_safely() {
    let host = shipped().await;
    let agent = host.agent().await;
    let page =
        agent.result("content_get", json!({ "slug": "getting-started", "format": "html" })).await;
    assert!(page["body"].as_str().unwrap().contains("<h"), "{page:#}");
    agent
        .call("content_get", json!({ "slug": "nothing" }))
        .await
        .assert_refused(404, "content_not_found");
    let hostile =
        "# Hi\n\n<script>alert(1)</script>\n\n[x](javascript:alert(1)) [ok](https://example.com)";
    let rendered =
        agent.result("content_render", json!({ "markdown": hostile, "format": "html" })).await;
    let html = rendered["html"].as_str().unwrap();
    assert!(html.contains("nofollow noopener ugc") && !html.contains("script"), "{html}");
    assert_ne!(rendered["removed"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_taxonomy_has_its_policies_and_crosswalk() {
    let host = shipped().await;
    let agent = host.agent().await;
    let job =
        agent.result("listing_taxonomy", json!({ "action": "get", "code": "work.job" })).await;
    let prohibited = job["policy"]["prohibited_criteria"].as_array().unwrap();
    assert!(prohibited.iter().any(|criterion| criterion == "age"), "{job:#}");
    let date =
        agent.result("listing_taxonomy", json!({ "action": "get", "code": "social.date" })).await;
    assert_eq!(
        (&date["policy"]["min_age"], &date["policy"]["proposal_cost"]),
        (&json!(18), &json!(2))
    );
    let fields = agent
        .result(
            "listing_taxonomy",
            json!({ "action": "fields", "code": "home.let", "side": "offer" }),
        )
        .await;
    assert!(fields["attributes"].is_object() || fields["schema"].is_object(), "{fields:#}");
    let crosswalk = agent
        .result("listing_taxonomy", json!({ "action": "crosswalk", "scheme": "isco08" }))
        .await;
    assert_ne!(crosswalk["items"], Value::Null);
    agent
        .call("listing_taxonomy", json!({ "action": "get", "code": "no.such" }))
        .await
        .assert_refused(404, "category_unknown");
}
