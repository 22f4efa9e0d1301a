//! Roles: a capability does something for the host only if it declares that role and the operator has
//! assigned it.

use crate::harness::{Host, Options, find_row, hostile::with_script};
use serde_json::{Value, json};

async fn host(configuration: &str) -> Host {
    let names = ["svc_phone_binding", "content_get", "faq_get", "ledger"];
    Host::start(Options::with(&names).configuration(configuration)).await
}

fn vacant(status: &Value, role: &str) -> String {
    let row = find_row(status, "roles", "role", role).unwrap();
    row["vacant"].as_str().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_shipped_capabilities_have_their_roles() {
    let host = host("").await;
    let status = host.status().await;
    assert_eq!(vacant(&status, "pages"), "");
    assert_eq!(vacant(&status, "phone_verification"), "");
    assert!(vacant(&status, "handoffs").contains("handoff_resolve is not loaded"));
    let agent = host.register().await;
    assert_eq!(agent["claim"]["capability"], "svc.phone-binding");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_operator_assigns_roles() {
    let host = host("[roles]\nphone_verification = \"\"\npages = \"faq_get\"").await;
    let status = host.status().await;
    assert!(vacant(&status, "phone_verification").contains("assigned to no capability"));
    assert!(vacant(&status, "pages").contains("faq_get does not declare it"));

    let registered = host.register().await;
    assert_eq!(registered["claim"], Value::Null);
    let metadata = host.get("/.well-known/oauth-authorization-server").await.body;
    assert_eq!(metadata["agent_auth"]["claim_uri"], Value::Null);
    let write = json!({ "action": "transfer", "from": "a", "to": "b", "amount": 1 });
    let refused = host.agent().await.call("ledger", write).await;
    refused.assert_refused(403, "phone_binding_required");
    assert_eq!(refused.body.get("next"), None);
    host.get("/handoff/something").await.assert_refused(404, "unknown_capability");

    let resources = host.mcp("svc.read").await.result("resources/list", json!({})).await;
    assert!(!resources.to_string().contains("portolan://pages/"), "{resources:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unknown_role_is_an_error_of_the_configuration() {
    let folder = Options::with(&[]).configuration("[roles]\nkingship = \"ledger\"").folder();
    let output = crate::harness::command(folder.path()).arg("serve").output().unwrap();
    assert!(!output.status.success());
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(log.contains("kingship") && log.contains("phone_verification"), "{log}");
}

/// Returns an unsigned component that declares the role `agent_management`.
fn stranger(id: &str) -> Vec<u8> {
    let action = |name: &str| json!({ "name": name, "access": "open", "operations": [] });
    let actions = ["act", "revoke_agent"].map(action);
    with_script(&json!({ "id": id, "roles": ["agent_management"], "actions": actions }))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sensitive_role_does_not_change_hands_with_an_id() {
    let mut options = Options::with(&[]);
    options.components.push(("stranger.wasm".into(), stranger("owners")));
    let host =
        Host::start(options.configuration("reserved_ids = []\nreserved_namespaces = []")).await;
    let row = host.wait_for_refusal("stranger.wasm").await;
    assert_eq!(row["reason"], "pending_approval", "{row:#}");
    assert!(row["message"].as_str().unwrap().contains("role:agent_management"), "{row:#}");
    assert!(row["fix"].as_str().unwrap().contains("catalog approve owners"), "{row:#}");
    assert!(vacant(&host.status().await, "agent_management").contains("not loaded"));
    let permitted = host.decide("owners", "approve").await;
    assert_eq!(permitted["permitted"], json!(["role:agent_management"]));
    host.wait_for_version("owners", "1.0.0").await;
    assert_eq!(vacant(&host.status().await, "agent_management"), "");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_assignment_in_the_configuration_permits_a_sensitive_role() {
    let mut options = Options::with(&[]);
    options.components.push(("stranger.wasm".into(), stranger("stranger")));
    let assigned = "[roles]\nagent_management = \"stranger\"";
    let host = Host::start(options.configuration(assigned)).await;
    host.wait_for_version("stranger", "1.0.0").await;
    assert_eq!(vacant(&host.status().await, "agent_management"), "");
}
