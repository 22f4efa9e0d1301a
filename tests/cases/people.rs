//! Agents and the people behind them: what `svc.whoami` answers, profiles and preferences, and the
//! agents of a person.

use crate::harness::{Agent, Host};
use serde_json::{Value, json};

const OWNERS: &str = "owners";
const WHOAMI: &str = "svc.whoami";
/// Phone numbers of test mode: with the first each agent gets its own owner, with the second all
/// share one.
const OWN_NUMBER: &str = "+14155550100";
const SHARED_NUMBER: &str = "+14155550115";

fn purposes(me: &Value) -> Vec<&str> {
    let steps = me["next_steps"].as_array().unwrap().iter();
    steps.map(|step| step["purpose"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_learns_its_identity_and_can_call_the_next_steps_unchanged() {
    let host = Host::with(&["svc_whoami", "svc_phone_binding", "faq_search"]).await;
    let agent = host.test_agent().await;
    // The call needs only a token.
    let me = agent.result(WHOAMI, json!({})).await;
    assert_eq!((&me["state"], &me["test_mode"]), (&json!("anonymous"), &json!(true)), "{me:#}");
    assert_eq!(me["may_call"], json!(["open", "read", "events"]));
    assert!(me["agent_id"].as_str().unwrap().starts_with("agt_"), "{me:#}");
    assert!(me["client_id"].as_str().unwrap().starts_with("cli_"), "{me:#}");
    assert!(me.get("owner_id").is_none(), "{me:#}");
    assert!(
        me["limits"].as_array().unwrap().iter().any(|limit| limit["name"] == "call_wall_time_ms")
    );
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
async fn a_narrow_token_gets_a_next_step_to_a_wider_one() {
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

async fn owners_host() -> Host {
    Host::with(&["owners", "social_permissions", "social_relationships", "svc_phone_binding"]).await
}

fn action(name: &str) -> Value {
    json!({ "action": name })
}

fn get_action(owner_id: &Value) -> Value {
    json!({ "action": "get", "owner_id": owner_id })
}

fn pointers(refused: &Value) -> Vec<&str> {
    let errors = refused["conflict"]["errors"].as_array().unwrap().iter();
    errors.map(|error| error["pointer"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_without_a_profile_has_a_card() {
    let host = owners_host().await;
    let agent = host.test_agent().await;
    let owner_id = agent.claim(OWN_NUMBER).await;
    let me = agent.result(OWNERS, action("me")).await;
    assert_eq!(
        (&me["owner"]["owner_id"], &me["owner"]["state"], &me["owner"]["version"]),
        (&owner_id, &json!("active"), &json!(0)),
        "{me:#}"
    );
    assert_eq!(me["owner"]["preferences"]["contact_policy"], "anyone_matching");
    assert_eq!(me["agents"][0]["this_agent"], true, "{me:#}");

    let other = host.test_agent().await;
    let card = other.result(OWNERS, get_action(&owner_id)).await;
    assert_eq!(
        (&card["display_name"], &card["agents_count"], &card["trust"]),
        (&Value::Null, &json!(1), &json!("untrusted_user_content")),
        "{card:#}"
    );
    assert_eq!(card["member_since"], me["owner"]["member_since"]);
    other
        .call(OWNERS, get_action(&json!("own_nobody")))
        .await
        .assert_refused(404, "owner_not_found");
    // People of test mode are not found in live mode.
    host.agent()
        .await
        .call(OWNERS, get_action(&owner_id))
        .await
        .assert_refused(404, "owner_not_found");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_anonymous_agent_has_no_person_and_gets_a_next_step_to_one() {
    let host = owners_host().await;
    let agent = host.agent().await;
    let me = agent.call(OWNERS, action("me")).await;
    assert_eq!(me.body["result"], json!({ "owner": null, "agents": [] }));
    assert_eq!(me.body["next"]["capability"], "svc.phone-binding", "{:#}", me.body);
    let agents = agent.result(OWNERS, action("list_agents")).await;
    assert_eq!(agents, json!({ "items": [] }));
    for write in ["update_profile", "set_preferences", "deactivate", "reactivate"] {
        agent.call(OWNERS, action(write)).await.assert_refused(403, "phone_binding_required");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_profile_is_changed_field_by_field_and_keeps_private_fields_private() {
    let host = owners_host().await;
    let agent = host.test_agent().await;
    let owner_id = agent.claim(OWN_NUMBER).await;
    let profile = json!({
        "action": "update_profile", "display_name": " Ada L. ", "headline": "Engineer, 2010-2024",
        "bio_md": "I like *numbers*.\n\nAnd engines.", "languages": ["EN", "pt-br", "en"],
        "city": "Lisbon", "links": ["https://example.com/ada"], "birth_year": 1990,
    });
    let mut rehearsal = profile.clone();
    rehearsal["dry_run"] = json!(true);
    let rehearsed = agent.call(OWNERS, rehearsal).await.body;
    assert_eq!(
        rehearsed["meta"]["would_emit"],
        json!([{ "event_type": "owner.updated", "subject": format!("owners/{}", owner_id.as_str().unwrap()) }])
    );
    let owner = agent.result(OWNERS, profile.clone()).await;
    assert_eq!(owner["version"], 1, "the dry run has changed nothing: {owner:#}");
    assert_eq!(
        owner["profile"],
        json!({
            "display_name": "Ada L.", "headline": "Engineer, 2010-2024",
            "bio_md": "I like *numbers*.\n\nAnd engines.", "languages": ["en", "pt-BR"],
            "city": "Lisbon", "links": ["https://example.com/ada"], "birth_year": 1990,
        })
    );
    // The same values again are no change; null clears a field.
    assert_eq!(agent.result(OWNERS, profile).await["version"], 1);
    let cleared = json!({ "action": "update_profile", "headline": null, "expected_version": 1 });
    let owner = agent.result(OWNERS, cleared.clone()).await;
    assert_eq!((&owner["version"], &owner["profile"]["headline"]), (&json!(2), &Value::Null));
    let refused = agent.call(OWNERS, cleared).await;
    refused.assert_refused(409, "version_conflict");
    assert_eq!(
        (&refused.body["conflict"]["current_version"], &refused.body["conflict"]["current"]),
        (&json!(2), &owner)
    );
    let preferred = json!({
        "action": "set_preferences", "contact_policy": "paused", "notify": ["match_update"],
        "quiet_hours": { "from": "22:00", "to": "07:00", "time_zone": "Europe/Lisbon" },
        "auto_decline_rules": [{ "category": "work.job" }],
    });
    let owner = agent.result(OWNERS, preferred).await;
    assert_eq!(
        owner["preferences"],
        json!({
            "contact_policy": "paused", "notify": ["match_update"],
            "quiet_hours": { "from": "22:00", "to": "07:00", "time_zone": "Europe/Lisbon" },
            "disabled_events": [], "event_caps": [], "event_digest": null,
            "auto_decline_rules": [{ "category": "work.job" }],
        })
    );

    let card = host.test_agent().await.result(OWNERS, get_action(&owner_id)).await;
    let mut fields: Vec<_> = card.as_object().unwrap().keys().map(String::as_str).collect();
    fields.sort_unstable();
    assert_eq!(
        fields,
        [
            "agents_count",
            "bio_md",
            "city",
            "display_name",
            "headline",
            "languages",
            "member_since",
            "owner_id",
            "state",
            "trust"
        ]
    );
    assert_eq!(card["display_name"], "Ada L.");
    for private in ["1990", "example.com", "paused", "415"] {
        assert!(!card.to_string().contains(private), "{private}: {card:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_fields_of_a_profile_are_named() {
    let host = owners_host().await;
    let agent = host.test_agent().await;
    agent.claim(OWN_NUMBER).await;
    let refused = agent
        .call(
            OWNERS,
            json!({
                "action": "update_profile", "display_name": "Ada +1 415 555 0123",
                "headline": "\u{202e}adA", "bio_md": "ada (at) example.com",
                "languages": ["en", "nonsense"], "links": ["http://example.com", "https://10.0.0.1/"],
                "birth_year": 2199,
            }),
        )
        .await;
    refused.assert_refused(400, "profile_field_invalid");
    assert_eq!(
        pointers(&refused.body),
        [
            "/display_name",
            "/headline",
            "/bio_md",
            "/languages/1",
            "/links/0",
            "/links/1",
            "/birth_year"
        ]
    );
    assert!(!refused.text.contains("415"), "the input is not repeated: {}", refused.text);
    let named = json!({ "action": "update_profile", "display_name": "Portolan Support \u{2713}" });
    let refused = agent.call(OWNERS, named).await;
    refused.assert_refused(400, "profile_field_invalid");
    assert_eq!(pointers(&refused.body), ["/display_name"]);
    let zone = json!({
        "action": "set_preferences",
        "quiet_hours": { "from": "22:00", "to": "22:00", "time_zone": "Europe/Atlantis" },
    });
    let refused = agent.call(OWNERS, zone).await;
    refused.assert_refused(400, "profile_field_invalid");
    assert_eq!(pointers(&refused.body), ["/quiet_hours/to", "/quiet_hours/time_zone"]);
    // Input that violates the schema is refused by the host.
    for body in [
        json!({ "action": "update_profile", "display_name": "a".repeat(61) }),
        json!({ "action": "update_profile", "birth_year": 1899 }),
        json!({ "action": "set_preferences", "contact_policy": "nobody" }),
        json!({ "action": "update_profile", "phone": "+12015550123" }),
    ] {
        agent.call(OWNERS, body).await.assert_refused(400, "validation_failed");
    }
    assert_eq!(agent.result(OWNERS, action("me")).await["owner"]["version"], 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_renames_and_revokes_their_agents() {
    let host = owners_host().await;
    let (one, other) = (host.test_agent().await, host.test_agent().await);
    assert_eq!(one.claim(SHARED_NUMBER).await, other.claim(SHARED_NUMBER).await);
    let agents = one.result(OWNERS, action("list_agents")).await;
    let items = agents["items"].as_array().unwrap();
    assert_eq!(items.len(), 2, "{agents:#}");
    let (own_id, other_id) = (&items[0]["agent_id"], &items[1]["agent_id"]);

    let rename = |agent_id: &Value, name: &str| json!({ "action": "rename_agent", "agent_id": agent_id, "name": name });
    one.call(OWNERS, rename(own_id, "\u{7}")).await.assert_refused(400, "profile_field_invalid");
    let renamed = one.result(OWNERS, rename(other_id, " The other ")).await;
    assert_eq!(renamed["name"], "The other");
    let agents = other.result(OWNERS, action("list_agents")).await;
    assert_eq!(
        (&agents["items"][1]["name"], &agents["items"][1]["this_agent"]),
        (&json!("The other"), &json!(true))
    );

    // Nobody can rename or revoke another person's agent.
    let stranger = host.test_agent().await;
    stranger.claim(OWN_NUMBER).await;
    let revoke = |agent_id: &Value| json!({ "action": "revoke_agent", "agent_id": agent_id });
    stranger.call(OWNERS, rename(other_id, "Mine")).await.assert_refused(404, "not_found");
    stranger.call(OWNERS, revoke(other_id)).await.assert_refused(404, "not_found");

    let revoked = one.result(OWNERS, revoke(other_id)).await;
    assert_eq!((&revoked["state"], &revoked["allowed_actions"]), (&json!("revoked"), &json!([])));
    other.call(OWNERS, action("me")).await.assert_refused(401, "client_revoked");
    one.call(OWNERS, revoke(other_id)).await.assert_refused(404, "not_found");

    let refused = one.call(OWNERS, revoke(own_id)).await;
    refused.assert_refused(409, "last_agent");
    one.result(OWNERS, action("me")).await;
    // The next step of the refusal revokes nothing: the confirmation must be added.
    let listed = one.result(OWNERS, refused.body["next"]["input"].clone()).await;
    assert_eq!(listed["items"].as_array().unwrap().len(), 1, "{listed:#}");
    let mut confirmed = revoke(own_id);
    confirmed["confirm"] = json!(true);
    let mut rehearsal = confirmed.clone();
    rehearsal["dry_run"] = json!(true);
    let rehearsed = one.call(OWNERS, rehearsal).await.body;
    assert_eq!(rehearsed["meta"]["would_emit"][0]["event_type"], "identity.revoked");
    one.result(OWNERS, confirmed).await;
    one.call(OWNERS, action("me")).await.assert_refused(401, "client_revoked");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_deactivates_and_reactivates() {
    let host = owners_host().await;
    let agent = host.test_agent().await;
    let owner_id = agent.claim(OWN_NUMBER).await;
    let named = json!({ "action": "update_profile", "display_name": "Ada L." });
    agent.result(OWNERS, named).await;
    agent.call(OWNERS, action("reactivate")).await.assert_refused(409, "invalid_transition");
    let gone = json!({ "action": "deactivate", "reason": "On holiday." });
    let owner = agent.result(OWNERS, gone.clone()).await;
    assert_eq!((&owner["state"], &owner["reason"]), (&json!("deactivated"), &json!("On holiday.")));
    let refused = agent.call(OWNERS, gone).await;
    refused.assert_refused(409, "invalid_transition");
    assert_eq!(refused.body["conflict"]["allowed_actions"], owner["allowed_actions"]);

    let card = agent.result(OWNERS, get_action(&owner_id)).await;
    assert_eq!((&card["state"], &card["display_name"]), (&json!("deactivated"), &Value::Null));
    assert!(!card.to_string().contains("holiday"), "{card:#}");
    let owner = agent.result(OWNERS, action("reactivate")).await;
    assert_eq!((&owner["state"], &owner["version"]), (&json!("active"), &json!(3)));
    assert!(owner.get("reason").is_none(), "{owner:#}");
    let card = agent.result(OWNERS, get_action(&owner_id)).await;
    assert_eq!(card["display_name"], "Ada L.");
}
