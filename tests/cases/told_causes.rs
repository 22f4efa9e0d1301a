//! The cause that a caller is told when the host refused a request of a component: the field that it is in, or
//! the setting that is missing.

use crate::harness::{
    Host, Options, Reply,
    calendars::{CALENDAR, call_calendar, merged, reserve},
    component_sets::LISTINGS,
    relationships::{OWNERS, Person},
};
use serde_json::{Value, json};

/// Starts a host with listings and these capabilities. The time limit is long, because many components
/// start at once.
async fn host(more: &[&str]) -> Host {
    let names = [&LISTINGS[..], more].concat();
    let patient = "[limits]\ncall_wall_time_ms = 20000\n";
    Host::start(Options::with(&names).configuration(patient)).await
}

fn assert_field(reply: &Reply, pointer: &str) {
    reply.assert_refused(400, "validation_failed");
    let error = &reply.body["conflict"]["errors"][0];
    assert_eq!((&error["pointer"], &error["rule"]), (&json!(pointer), &json!("person_id")));
    let message = reply.body["message"].as_str().unwrap();
    assert!(message.contains("Leave the id out"), "{message}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_text_that_is_the_id_of_a_person_is_refused_with_its_field() {
    let more = ["saved_searches", CALENDAR, "clerk"];
    let host = host(&more).await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let id = &bo.id;
    let agents = ada.agent().result(OWNERS, json!({ "action": "list_agents" })).await;
    let agent_id = &agents["items"][0]["agent_id"];
    for (capability, body, pointer) in [
        (OWNERS, json!({ "action": "update_profile", "display_name": id }), "/display_name"),
        (OWNERS, json!({ "action": "rename_agent", "name": id }), "/name"),
        ("social_org", json!({ "action": "create", "name": id, "kind": "landlord" }), "/name"),
        (
            "saved_searches",
            json!({ "action": "create", "name": "A search", "query": { "q": id } }),
            "/query/q",
        ),
    ] {
        let body = match body["action"] == "rename_agent" {
            true => merged(body, json!({ "agent_id": agent_id })),
            false => body,
        };
        assert_field(&ada.agent().call(capability, body).await, pointer);
    }
    // The capability that stores the text is called by another one.
    let slot = json!({
        "ref": id, "owner_ids": [ada.id], "start": "2031-03-03T09:00:00Z", "end": "2031-03-03T10:00:00Z",
    });
    assert_field(&reserve(&ada, slot).await, "/ref");
    // Within a sentence, the id is a text.
    let profile = json!({ "action": "update_profile", "bio_md": format!("I know {id} well.") });
    ada.agent().result(OWNERS, profile).await;
    // A field that takes ids takes this one.
    let busy =
        json!({ "owner_id": id, "start": "2031-03-03T09:00:00Z", "end": "2031-03-03T10:00:00Z" });
    let reply = call_calendar(ada.agent(), "get_freebusy", busy).await;
    assert_ne!(reply.status, 500, "{}", reply.text);
}

#[tokio::test]
async fn an_agent_that_registers_with_an_id_as_its_name_is_told_so() {
    let host = Host::with(&[]).await;
    let id = host.register().await["agent_id"].clone();
    for field in ["agent_name", "software_id", "install_id"] {
        let mut body = json!({ "type": "anonymous" });
        body[field] = id.clone();
        let request = host.client.post(format!("{}/v1/agents/register", host.url)).json(&body);
        let reply = Reply::read(request.send().await.unwrap()).await;
        assert_field(&reply, &format!("/{field}"));
    }
    let form = json!({ "client_name": id, "grant_types": ["client_credentials"] });
    let request = host.client.post(format!("{}/oauth/register", host.url)).json(&form);
    let reply = Reply::read(request.send().await.unwrap()).await;
    assert_eq!((reply.status.as_u16(), &reply.body["error"]), (400, &json!("invalid_request")));
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_that_need_the_map_say_what_is_missing_where_no_feeds_are_published() {
    let names = ["handoff_resolve", "map_search", "reports", "signal_verification"];
    let host = host(&names).await;
    let ada = Person::new(&host).await;
    let target = "tgt_0000000000000000000000000A";
    let handoff = "hof_0000000000000000000000000A";
    for (capability, body) in [
        ("map_search", json!({ "action": "search", "q": "robots" })),
        (
            "signal_verification",
            json!({ "action": "get", "signal_id": "sig_0000000000000000000000000A" }),
        ),
        (
            "reports",
            json!({ "action": "create", "subject_id": target, "reason": "incorrect_data", "text": "It moved." }),
        ),
        (
            "handoff_resolve",
            json!({ "action": "resolve", "handoff_id": handoff, "record_id": target }),
        ),
    ] {
        let reply = ada.agent().call(capability, body).await;
        reply.assert_refused(503, "dependency_unavailable");
        let message = reply.body["message"].as_str().unwrap();
        assert!(message.contains("`feeds_dir`"), "{capability}: {message}");
        assert_eq!(reply.body["next"]["after_s"], 60, "{capability}");
    }
    // The contracts are the same on every host.
    let listed = ada.agent().result("handoff_resolve", json!({ "action": "list" })).await;
    let items: &Vec<Value> = listed["items"].as_array().unwrap();
    assert_eq!(items.len(), 9);
    let report = items.iter().find(|contract| contract["intent"] == "correct_data").unwrap();
    assert_eq!(report["available"], true);
}
