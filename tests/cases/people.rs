//! Agents and the people behind them: who an agent is told to be.

use crate::harness::{Agent, Host};
use serde_json::{Value, json};

const WHOAMI: &str = "svc.whoami";

fn purposes(me: &Value) -> Vec<&str> {
    let steps = me["next_steps"].as_array().unwrap().iter();
    steps.map(|step| step["purpose"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_told_who_it_is_and_can_follow_the_steps_as_they_stand() {
    let host = Host::with(&["svc_whoami", "svc_phone_binding", "faq_search"]).await;
    let agent = host.test_agent().await;
    // Nothing but the token is needed.
    let me = agent.result(WHOAMI, json!({})).await;
    assert_eq!((&me["state"], &me["test_mode"]), (&json!("anonymous"), &json!(true)), "{me:#}");
    assert_eq!(me["may_call"], json!(["open", "read", "events"]));
    assert!(me["agent_id"].as_str().unwrap().starts_with("agt_"), "{me:#}");
    assert!(me["client_id"].as_str().unwrap().starts_with("cli_"), "{me:#}");
    assert!(me.get("owner_id").is_none(), "{me:#}");
    assert!(me["limits"].as_array().unwrap().iter().any(|it| it["name"] == "call_wall_time_ms"));
    assert_eq!(purposes(&me), ["claim", "browse_catalog", "search_faq"]);

    let step = &me["next_steps"][0];
    let sent = agent.call(step["capability"].as_str().unwrap(), step["input"].clone()).await;
    let verify = &sent.body["next"];
    let mut input = verify["input"].clone();
    input["code"] = sent.body["result"]["test_code"].clone();
    let verified = agent.result(verify["capability"].as_str().unwrap(), input).await;
    let me = agent.result(WHOAMI, json!({ "action": "get" })).await;
    assert_eq!(
        (&me["state"], &me["owner_id"], &me["may_call"]),
        (&json!("claimed"), &verified["owner_id"], &json!(["open", "read", "write", "events"]))
    );
    assert_eq!(purposes(&me), ["browse_catalog", "search_faq"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_narrow_token_is_told_how_to_get_a_wider_one() {
    let host = Host::with(&["svc_whoami", "svc_phone_binding"]).await;
    let agent = Agent { host: &host, token: host.token("svc.events").await };
    let me = agent.result(WHOAMI, json!({})).await;
    assert_eq!(
        (&me["agent_name"], &me["scopes"], &me["may_call"]),
        (&json!("a test"), &json!(["svc.events"]), &json!(["open", "events"]))
    );
    assert_eq!(purposes(&me), ["claim", "get_scopes", "browse_catalog"]);
    let step = &me["next_steps"][1];
    assert_eq!(
        (&step["http"], &step["scope"]),
        (
            &json!({ "method": "POST", "url": "/oauth/token" }),
            &json!("svc.read svc.write svc.events")
        )
    );
    assert_eq!(
        me["next_steps"][0]["ask_user"], "Which mobile number may I send a code to?",
        "{me:#}"
    );
}
