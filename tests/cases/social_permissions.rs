//! Relations: written by capabilities, checked by one model, and visible only to the
//! people they concern.

use crate::harness::{Agent, Host, Options, PATIENCE, time::SECOND, visibility::UNKNOWN_OWNER};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

pub const PERMISSIONS: &str = "social_permissions";
/// The number of test mode with which every agent is claimed for the same person.
const SHARED_NUMBER: &str = "+14155550115";

/// A long time limit of calls, because the machine may be busy.
const LIMITS: &str = "[limits]\ncall_wall_time_ms = 20000\n";

async fn host_with(names: &[&str]) -> Host {
    Host::start(Options::with(names).configuration(LIMITS)).await
}

pub async fn host() -> Host {
    host_with(&["social_permissions", "clerk"]).await
}

/// Starts a host with the capability of people, so that nobody may write to a
/// person who does not exist.
async fn host_of_people() -> Host {
    let names =
        ["clerk", "owners", "social_permissions", "social_relationships", "svc_phone_binding"];
    host_with(&names).await
}

async fn claimed(host: &Host) -> (Agent<'_>, String) {
    let agent = host.test_agent().await;
    let owner_id = agent.claim("+14155550100").await.as_str().unwrap().to_owned();
    (agent, owner_id)
}

/// Registers an agent, writes into the database that a person has claimed it, and returns it with
/// the person's id.
pub async fn person(host: &Host) -> (Agent<'_>, String) {
    let registered = host.register().await;
    let agent_id = registered["agent_id"].as_str().unwrap();
    let owner_id = agent_id.replace("agt_", "own_");
    host.claim_for(agent_id, &owner_id).await;
    let token = host.token_of(&registered, "svc.read svc.write svc.events").await;
    (Agent { host, token }, owner_id)
}

fn parse_relation(text: &str) -> Value {
    let (object, rest) = text.split_once('#').unwrap();
    let (relation, subject) = rest.split_once('@').unwrap();
    json!({ "object": object, "relation": relation, "subject": subject })
}

pub async fn write_relations(agent: &Agent<'_>, write: &[&str], delete: &[&str]) {
    let tuples = |texts: &[&str]| texts.iter().map(|text| parse_relation(text)).collect::<Vec<_>>();
    let body = json!({ "action": "state", "write": tuples(write), "delete": tuples(delete) });
    agent.result("clerk", body).await;
}

/// Returns whether a relation is allowed, as checked by another capability.
async fn is_allowed_for_clerk(agent: &Agent<'_>, text: &str) -> bool {
    let mut body = parse_relation(text);
    body["action"] = json!("ask");
    agent.result("clerk", body).await["allowed"] == true
}

pub fn check_action(relation: &str, object: &str) -> Value {
    json!({ "action": "check", "relation": relation, "object": object })
}

pub fn with_field(mut body: Value, field: &str, value: &str) -> Value {
    body[field] = json!(value);
    body
}

/// Runs a check, and returns its result without the instant.
pub async fn check_result(agent: &Agent<'_>, body: Value) -> Value {
    let mut result = agent.result(PERMISSIONS, body).await;
    let token = result.as_object_mut().unwrap().remove("consistency_token").unwrap();
    assert!(token.as_str().unwrap().ends_with('Z'), "{token}");
    result
}

pub async fn is_allowed(agent: &Agent<'_>, relation: &str, object: &str) -> bool {
    check_result(agent, check_action(relation, object)).await["allowed"] == true
}

/// Calls the next step of a refusal unchanged, and returns its result.
pub async fn call_next_step(agent: &Agent<'_>, refused: &Value) -> Value {
    let next = &refused["next"];
    agent.result(next["capability"].as_str().unwrap(), next["input"].clone()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_permission_to_message_follows_from_the_stated_relations() {
    let host = host_of_people().await;
    let ((ada, a), (bob, b)) = (claimed(&host).await, claimed(&host).await);
    let (to_ada, stranger) = (format!("owner:{a}"), host.test_agent().await);
    assert!(
        is_allowed(&bob, "can_message", &to_ada).await
            && is_allowed(&stranger, "can_message", &to_ada).await
    );

    write_relations(&ada, &[&format!("{to_ada}#network_only@*")], &[]).await;
    assert!(!is_allowed(&bob, "can_message", &to_ada).await);
    let connected = format!("{to_ada}#connected@owner:{b}");
    write_relations(&ada, &[&connected], &[]).await;
    // To write a relation twice is no error, and neither is to delete one that does not exist.
    write_relations(&ada, &[&connected], &[&format!("{to_ada}#connected@owner:nobody")]).await;
    let why = check_result(&bob, check_action("can_message", &to_ada)).await;
    assert_eq!(
        why["reason_path"],
        json!([
            { "object": to_ada, "relation": "can_message" },
            { "object": to_ada, "relation": "connected", "subject": format!("owner:{b}") },
        ])
    );
    assert!(is_allowed_for_clerk(&bob, &format!("{to_ada}#can_message@owner:{b}")).await);
    write_relations(&ada, &[&format!("{to_ada}#closed@*")], &[]).await;
    let closed = check_result(&bob, check_action("can_message", &to_ada)).await;
    assert_eq!(closed, json!({ "allowed": false, "reason_path": [] }));

    // With a block in either direction, the answer is the same.
    write_relations(
        &ada,
        &[&format!("owner:{b}#blocked@{to_ada}")],
        &[&format!("{to_ada}#closed@*")],
    )
    .await;
    assert_eq!(check_result(&bob, check_action("can_message", &to_ada)).await, closed);
    assert_eq!(
        check_result(&ada, check_action("can_message", &format!("owner:{b}"))).await,
        closed
    );
    assert_eq!(
        check_result(&bob, check_action("can_message", &format!("owner:{UNKNOWN_OWNER}"))).await,
        closed
    );
    assert!(!is_allowed_for_clerk(&bob, &format!("{to_ada}#can_message@owner:{b}")).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_check_permissions_of_themselves_and_of_what_they_govern() {
    let host = host().await;
    let ((ada, a), (bob, b)) = (person(&host).await, person(&host).await);
    let (to_ada, to_bob) = (format!("owner:{a}"), format!("owner:{b}"));
    write_relations(
        &ada,
        &[
            &format!("{to_ada}#freebusy_viewer@{to_bob}"),
            &format!("listing:l1#owner@{to_ada}"),
            "listing:l1#viewer@*",
        ],
        &[],
    )
    .await;
    for (relation, object, subject) in [
        ("can_message", &to_ada, "owner:own_x"),
        ("closed", &to_ada, "me"),
        ("blocked", &to_ada, "me"),
        ("apart", &to_ada, "me"),
        ("can_view", &"listing:l1".to_owned(), "*"),
        ("can_view", &"listing:l9".to_owned(), "owner:own_x"),
    ] {
        let refused = bob
            .call(PERMISSIONS, with_field(check_action(relation, object), "subject", subject))
            .await;
        refused.assert_refused(403, "not_permitted");
        assert!(call_next_step(&bob, &refused.body).await.to_string().contains("freebusy_viewer"));
    }
    let as_bob = |relation: &str| with_field(check_action(relation, &to_ada), "subject", &to_bob);
    assert_eq!(check_result(&ada, as_bob("can_see_freebusy")).await["allowed"], true);

    // Ada cannot tell that Bob has blocked her, and Bob's own view has no relation to Ada at once.
    write_relations(&bob, &[&format!("{to_bob}#blocked@{to_ada}")], &[]).await;
    assert_eq!(check_result(&ada, as_bob("can_see_freebusy")).await["allowed"], true);
    assert_eq!(check_result(&ada, as_bob("blocked")).await["allowed"], false);
    let subjects =
        json!({ "action": "list_subjects", "object": "owner:me", "relation": "can_see_freebusy" });
    let listed = ada.result(PERMISSIONS, subjects.clone()).await;
    assert_eq!(
        listed["items"],
        json!([to_ada.clone(), to_bob.clone()].iter().collect::<std::collections::BTreeSet<_>>())
    );
    assert!(!is_allowed(&bob, "can_see_freebusy", &to_ada).await);
    assert!(!is_allowed(&bob, "freebusy_viewer", &to_ada).await);
    assert!(!is_allowed(&bob, "can_view", "listing:l1").await);
    let mine = |relation: &str| json!({ "action": "list_grants", "relation": relation });
    assert_eq!(bob.result(PERMISSIONS, mine("freebusy_viewer")).await["items"], json!([]));
    // Only the person who has blocked reads the block.
    let blocks = json!({ "action": "list_grants", "object": "owner:me", "relation": "blocked" });
    assert_eq!(
        bob.result(PERMISSIONS, blocks.clone()).await["items"][0]["subject"],
        to_ada.as_str()
    );
    assert_eq!(ada.result(PERMISSIONS, blocks).await["items"], json!([]));
    assert_eq!(ada.result(PERMISSIONS, mine("owner")).await["items"][0]["object"], "listing:l1");
    let tree = json!({ "action": "expand", "object": "owner:me", "relation": "can_see_freebusy" });
    let tree = ada.result(PERMISSIONS, tree).await;
    assert!(!tree.to_string().contains("\"blocked\",\"subjects\""), "{tree:#}");

    // When Ada has blocked Bob, Ada sees the consequences too.
    write_relations(
        &bob,
        &[&format!("{to_ada}#blocked@{to_bob}")],
        &[&format!("{to_bob}#blocked@{to_ada}")],
    )
    .await;
    assert_eq!(check_result(&ada, as_bob("can_see_freebusy")).await["allowed"], false);
    assert_eq!(ada.result(PERMISSIONS, subjects).await["items"], json!([to_ada]));
    assert!(!is_allowed(&bob, "can_see_freebusy", &to_ada).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_without_a_person_reads_and_is_shown_the_way() {
    let host = host().await;
    let agent = host.test_agent().await;
    for body in [
        json!({ "action": "list_grants", "object": "owner:me" }),
        json!({ "action": "list_subjects", "object": "owner:me", "relation": "can_message" }),
        json!({ "action": "expand", "object": "calendar:me", "relation": "scheduler" }),
    ] {
        let reply = agent.call(PERMISSIONS, body).await;
        assert_eq!(reply.status, 200, "{}", reply.text);
        assert_eq!(reply.body["next"]["capability"], "svc.phone-binding", "{:#}", reply.body);
    }
    let refused = agent.call(PERMISSIONS, check_action("scheduler", "calendar:me")).await;
    refused.assert_refused(403, "phone_binding_required");
    let grant = json!({ "action": "grant", "object": "owner:me", "relation": "freebusy_viewer", "subject": "owner:own_x" });
    agent.call(PERMISSIONS, grant).await.assert_refused(403, "phone_binding_required");
    let model = agent.result(PERMISSIONS, json!({ "action": "model" })).await;
    let types: Vec<_> =
        model["types"].as_array().unwrap().iter().map(|object_type| &object_type["type"]).collect();
    assert_eq!(types, ["owner", "org", "listing", "thread", "calendar"]);
    assert_eq!(
        model["types"][2]["relations"][4]["define"], "editor or (viewer but not apart)",
        "{model:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn objects_are_listed_by_relation_page_by_page() {
    let host = host().await;
    let ((ada, a), (bob, b)) = (person(&host).await, person(&host).await);
    let (to_ada, to_bob) = (format!("owner:{a}"), format!("owner:{b}"));
    let stated = [
        format!("org:o1#recruiter@{to_bob}"),
        format!("listing:l1#owner@{to_ada}"),
        "listing:l1#org@org:o1".into(),
        format!("listing:l2#owner@{to_ada}"),
        format!("listing:l2#viewer@{to_ada}#connected"),
        format!("listing:l3#owner@{to_ada}"),
        "listing:l3#viewer@*".into(),
        format!("listing:l4#owner@{to_bob}"),
        format!("{to_ada}#connected@{to_bob}"),
    ];
    write_relations(&ada, &stated.iter().map(String::as_str).collect::<Vec<_>>(), &[]).await;
    let mine = |relation: &str| json!({ "action": "list_objects", "object_type": "listing", "relation": relation });
    assert_eq!(
        bob.result(PERMISSIONS, mine("editor")).await["items"],
        json!(["listing:l1", "listing:l4"])
    );
    // Objects that everybody may see are not listed.
    let seen = bob.result(PERMISSIONS, mine("can_view")).await;
    assert_eq!(
        seen,
        json!({ "items": ["listing:l1", "listing:l2", "listing:l4"], "next_cursor": null })
    );
    let mut page = mine("can_view");
    page["limit"] = json!(2);
    let first = bob.result(PERMISSIONS, page.clone()).await;
    assert_eq!(first["items"], json!(["listing:l1", "listing:l2"]));
    page["cursor"] = first["next_cursor"].clone();
    assert_eq!(bob.result(PERMISSIONS, page.clone()).await["items"], json!(["listing:l4"]));
    page["relation"] = json!("editor");
    bob.call(PERMISSIONS, page.clone()).await.assert_refused(400, "cursor_invalid");
    ada.call(PERMISSIONS, page).await.assert_refused(400, "cursor_invalid");
    let calendars =
        json!({ "action": "list_objects", "object_type": "calendar", "relation": "scheduler" });
    assert_eq!(bob.result(PERMISSIONS, calendars).await["items"], json!([format!("calendar:{b}")]));

    let subjects =
        json!({ "action": "list_subjects", "object": "listing:l2", "relation": "can_view" });
    let mut people = [to_ada.clone(), to_bob.clone()];
    people.sort();
    assert_eq!(ada.result(PERMISSIONS, subjects.clone()).await["items"], json!(people));
    bob.call(PERMISSIONS, subjects).await.assert_refused(403, "not_permitted");
    // The members of an organisation are not listed, only the organisation's role.
    let subjects =
        json!({ "action": "list_subjects", "object": "listing:l1", "relation": "editor" });
    assert_eq!(
        ada.result(PERMISSIONS, subjects).await["items"],
        json!(["org:o1#recruiter", to_ada])
    );
    let tree = json!({ "action": "expand", "object": "listing:l2", "relation": "can_view" });
    let tree = ada.result(PERMISSIONS, tree).await;
    let operations: Vec<_> = tree["nodes"]
        .as_array()
        .unwrap()
        .iter()
        .map(|node| node["operation"].as_str().unwrap())
        .collect();
    assert_eq!(operations[..3], ["relation", "any", "relation"], "{tree:#}");
    let stated =
        tree["nodes"].as_array().unwrap().iter().filter(|node| node["operation"] == "stated");
    let subjects: Vec<_> = stated.map(|node| &node["subjects"]).collect();
    assert!(subjects.contains(&&json!([format!("{to_ada}#connected")])), "{tree:#}");
    assert!(subjects.contains(&&json!([to_bob])), "{tree:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_acts_for_the_person_who_claimed_it_last() {
    let host = host_with(&["social_permissions", "svc_phone_binding", "svc_whoami", "clerk"]).await;
    let (one, other) = (host.test_agent().await, host.test_agent().await);
    let owner_id = one.claim(SHARED_NUMBER).await;
    assert_eq!(other.claim(SHARED_NUMBER).await, owner_id);
    let calendar = format!("calendar:{}", owner_id.as_str().unwrap());
    let other_id = other.result("svc.whoami", json!({})).await["agent_id"].clone();
    let by_agent = format!("{calendar}#scheduler@agent:{}", other_id.as_str().unwrap());
    let becomes = async |wanted: bool| {
        let started = Instant::now();
        while is_allowed_for_clerk(&one, &by_agent).await != wanted {
            assert!(started.elapsed() < PATIENCE);
            tokio::time::sleep(Duration::from_millis(30)).await;
        }
    };
    becomes(true).await;
    assert!(is_allowed(&other, "scheduler", &calendar).await);
    other.result("svc.phone-binding", json!({ "action": "unbind", "confirm": true })).await;
    // The agent's own answers change at once, before the event of the unclaim is delivered.
    assert!(!is_allowed(&other, "scheduler", &calendar).await);
    becomes(false).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_to_an_agent_ends_with_its_claim() {
    let host = host_with(&["social_permissions", "svc_phone_binding", "svc_whoami", "clerk"]).await;
    let (one, other) = (host.test_agent().await, host.test_agent().await);
    let owner_id = one.claim("+14155550100").await;
    other.claim("+14155550101").await;
    let other_id = other.result("svc.whoami", json!({})).await["agent_id"].clone();
    let grant = json!({
        "action": "grant", "object": "calendar:me", "relation": "scheduler",
        "subject": format!("agent:{}", other_id.as_str().unwrap()),
    });
    one.result(PERMISSIONS, grant).await;
    let calendar = format!("calendar:{}", owner_id.as_str().unwrap());
    assert!(is_allowed(&other, "scheduler", &calendar).await);
    other.result("svc.phone-binding", json!({ "action": "unbind", "confirm": true })).await;
    host.advance(31 * SECOND).await;
    other.claim("+14155550102").await;
    host.wait_until_settled().await;
    assert!(!is_allowed(&other, "scheduler", &calendar).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn many_checks_are_answered_in_one_call() {
    let host = host_of_people().await;
    let ((ada, a), (bob, _)) = (claimed(&host).await, claimed(&host).await);
    let to_ada = format!("owner:{a}");
    let question = |relation: &str| json!({ "relation": relation, "object": to_ada });
    let body = json!({
        "action": "batch_check",
        "questions": [question("can_message"), question("closed"), question("nothing"), question("can_see_contact")],
    });
    let items = bob.result(PERMISSIONS, body.clone()).await["items"].clone();
    let codes: Vec<_> = items
        .as_array()
        .unwrap()
        .iter()
        .map(|item| (&item["allowed"], &item["error_code"]))
        .collect();
    let (yes, no) = (json!(true), json!(false));
    assert_eq!(
        codes,
        [
            (&yes, &Value::Null),
            (&no, &json!("not_permitted")),
            (&no, &json!("relation_unknown")),
            (&no, &Value::Null)
        ]
    );
    assert_eq!(ada.result(PERMISSIONS, body).await["items"][3]["allowed"], true);
    let many = vec![question("can_message"); 51];
    let many = json!({ "action": "batch_check", "questions": many });
    bob.call(PERMISSIONS, many).await.assert_refused(400, "validation_failed");
}

#[tokio::test(flavor = "multi_thread")]
async fn relations_outside_the_model_are_refused() {
    let host = host().await;
    let (ada, a) = person(&host).await;
    for text in [
        "owner:x#can_message@owner:y",
        "owner:x#blocked@*",
        "owner:x#closed@owner:y",
        "listing:x#owner@org:o",
        "listing:x#viewer@listing:y#viewer",
        "nothing:x#owner@owner:y",
        "owner:x y#connected@owner:y",
    ] {
        let sound = format!("owner:{a}#closed@*");
        let body =
            json!({ "action": "state", "write": [parse_relation(&sound), parse_relation(text)] });
        ada.call("clerk", body).await.assert_refused(400, "relation_unknown");
    }
    assert!(
        is_allowed(&ada, "can_message", &format!("owner:{a}")).await,
        "the whole write is refused"
    );
    ada.call(PERMISSIONS, json!({ "action": "relate", "write": [] }))
        .await
        .assert_refused(400, "unknown_action");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hostile_number_of_relations_is_refused() {
    let host = host().await;
    let (ada, a) = person(&host).await;
    for hundred in 0..45 {
        let object = |number: usize| format!("listing:l{hundred}-{number}#owner@owner:{a}");
        let texts: Vec<String> = (0..100).map(object).collect();
        write_relations(&ada, &texts.iter().map(String::as_str).collect::<Vec<_>>(), &[]).await;
    }
    let all = json!({ "action": "list_objects", "object_type": "listing", "relation": "owner" });
    let refused = ada.call(PERMISSIONS, all).await;
    refused.assert_refused(409, "tuple_limit");
    call_next_step(&ada, &refused.body).await;
    assert!(is_allowed(&ada, "editor", "listing:l44-99").await);
}
