//! Relationships: follows, connections, blocks and mutes, and that nobody can tell
//! that they are blocked.

use crate::harness::{
    Host, Options, join_all,
    relationships::{OWNERS, Person, RELATIONSHIPS},
};
use serde_json::{Value, json};

/// The well-formed id of a person who does not exist.
const NOBODY: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";

async fn host() -> Host {
    let names = ["owners", "social_permissions", "social_relationships", "svc_phone_binding"];
    // The tests make many calls, and none of them is about the time limit.
    Host::start(Options::with(&names).configuration("[limits]\ncall_wall_time_ms = 30000\n")).await
}

fn types(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn following_needs_approval_where_the_other_person_wants_it() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let followed = ada.call_ok("follow", &bo.id).await;
    assert_eq!(
        (&followed["kind"], &followed["state"], &followed["direction"]),
        (&json!("follow"), &json!("active"), &json!("outgoing")),
        "{followed:#}"
    );
    assert_eq!(followed["allowed_actions"], json!(["unfollow", "block"]));
    let again = ada.call("follow", &bo.id).await;
    again.assert_refused(409, "relationship_exists");
    assert_eq!(again.body["conflict"]["existing_id"], followed["relationship_id"]);
    let relationships = ada.call_next_step(&again.body["next"]).await;
    let mut listed = followed.clone();
    assert_eq!(listed.as_object_mut().unwrap().remove("counterpart_reachable"), Some(json!(true)));
    assert_eq!(relationships["relationships"], json!([listed]), "{relationships:#}");
    assert_eq!(
        relationships["allowed_actions"],
        json!(["unfollow", "block", "connect", "mute", "note"]),
        "{relationships:#}"
    );
    let followers = bo.list(json!({ "direction": "incoming" })).await;
    assert_eq!(
        (&followers[0]["owner_id"], &followers[0]["allowed_actions"]),
        (&json!(ada.id), &json!(["reject", "block"])),
        "{followers:#?}"
    );
    assert_eq!(ada.call_ok("unfollow", &bo.id).await["state"], "none");
    let gone = ada.call("unfollow", &bo.id).await;
    gone.assert_refused(404, "relationship_not_found");
    ada.call_next_step(&gone.body["next"]).await;

    bo.set_contact_policy("network").await;
    let asked = ada.call_ok("follow", &bo.id).await;
    assert_eq!(asked["state"], "requested", "{asked:#}");
    let events = bo.relationship_events().await;
    assert_eq!(types(&events), ["relationship.requested"]);
    assert_eq!(
        (&events[0]["data"]["resource"]["id"], &events[0]["data"]["owner_id"]),
        (&asked["relationship_id"], &json!(ada.id)),
        "{events:#?}"
    );
    let relationships = bo.call_next_step(&events[0]["data"]["next"]).await;
    assert!(
        relationships["allowed_actions"].as_array().unwrap().contains(&json!("accept")),
        "{relationships:#}"
    );
    let accepted = bo.call_kind_ok("accept", "follow", &ada.id).await;
    assert_eq!(accepted["state"], "active");
    assert_eq!(types(&ada.relationship_events().await), ["relationship.accepted"]);
    let twice = bo.call_kind("accept", "follow", &ada.id).await;
    twice.assert_refused(409, "invalid_transition");
    bo.call_next_step(&twice.body["next"]).await;
    // After the follow is rejected, it cannot be requested again.
    bo.call_kind_ok("reject", "follow", &ada.id).await;
    ada.call("follow", &bo.id).await.assert_refused(409, "recipient_not_accepting");
    assert_eq!(ada.list(json!({})).await, Vec::<Value>::new());

    for action in ["follow", "connect"] {
        ada.call(action, &ada.id).await.assert_refused(409, "self_relationship");
        ada.call(action, NOBODY).await.assert_refused(404, "owner_not_found");
        for policy in ["paused", "anyone_matching"] {
            let cy = Person::new(&host).await;
            cy.set_contact_policy(policy).await;
            if policy != "paused" {
                cy.agent().result(OWNERS, json!({ "action": "deactivate" })).await;
            }
            let refused = ada.call(action, &cy.id).await;
            refused.assert_refused(409, "recipient_not_accepting");
            ada.call_next_step(&refused.body["next"]).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_needs_both_people() {
    let host = host().await;
    let (ada, bo, cy) =
        (Person::new(&host).await, Person::new(&host).await, Person::new(&host).await);
    let named = json!({ "action": "update_profile", "display_name": "Cy" });
    cy.agent().result(OWNERS, named).await;
    let asked = ada.call_ok("connect", &bo.id).await;
    assert_eq!(
        (&asked["state"], &asked["allowed_actions"]),
        (&json!("requested"), &json!(["disconnect", "block"]))
    );
    ada.call_kind("accept", "connect", &bo.id).await.assert_refused(403, "not_permitted");
    bo.call("connect", &ada.id).await.assert_refused(409, "relationship_exists");
    let stale = json!({
        "action": "accept", "kind": "connect", "owner_id": ada.id, "expected_version": 7,
    });
    let refused = bo.agent().call(RELATIONSHIPS, stale).await;
    refused.assert_refused(409, "version_conflict");
    assert_eq!(refused.body["conflict"]["current"]["state"], "requested");
    let accepted = bo.call_kind_ok("accept", "connect", &ada.id).await;
    assert_eq!(
        (&accepted["state"], &accepted["direction"], &accepted["relationship_id"]),
        (&json!("active"), &json!("incoming"), &asked["relationship_id"])
    );
    for (one, other) in [(&ada, &bo), (&bo, &ada)] {
        let known = one.list(json!({ "kind": "connect", "state": "active" })).await;
        assert_eq!(known[0]["owner_id"], json!(other.id), "{known:#?}");
    }
    // `mutuals` lists the people with whom both are connected.
    assert_eq!(ada.call_ok("mutuals", &bo.id).await["items"], json!([]));
    ada.connect_with(&cy).await;
    cy.connect_with(&bo).await;
    let mutuals = ada.call_ok("mutuals", &bo.id).await;
    assert_eq!(
        (&mutuals["items"][0]["owner_id"], &mutuals["items"][0]["display_name"]),
        (&json!(cy.id), &json!("Cy")),
        "{mutuals:#}"
    );
    let first = ada
        .agent()
        .result(RELATIONSHIPS, json!({ "action": "list", "kind": "connect", "limit": 1 }))
        .await;
    assert_eq!(first["items"][0]["display_name"], "Cy", "{first:#}");
    let more = json!({
        "action": "list", "kind": "connect", "limit": 1, "cursor": first["next_cursor"],
    });
    assert_eq!(ada.agent().result(RELATIONSHIPS, more).await["items"][0]["owner_id"], json!(bo.id));

    bo.call_ok("disconnect", &ada.id).await;
    assert_eq!(ada.list(json!({ "kind": "connect" })).await.len(), 1);
    ada.call("connect", &bo.id).await.assert_refused(409, "recipient_not_accepting");
    // Only the one who ended the connection may request it again.
    assert_eq!(bo.call_ok("connect", &ada.id).await["direction"], "outgoing");
    let requests = |events: Vec<Value>| {
        types(&events).iter().filter(|event_type| **event_type == "relationship.requested").count()
    };
    assert_eq!(requests(ada.relationship_events().await), 1);
    // Repeated requests that are withdrawn in between send only one event.
    bo.call_ok("disconnect", &ada.id).await;
    bo.call_ok("connect", &ada.id).await;
    assert_eq!(requests(ada.relationship_events().await), 1);
}

/// Returns the answers and events that a person gets about another person,
/// without that person's id.
async fn seen(viewer: &Person<'_>, other: &str) -> Vec<String> {
    let mut calls = vec![
        (OWNERS, json!({ "action": "get", "owner_id": other })),
        (RELATIONSHIPS, json!({ "action": "list" })),
        (RELATIONSHIPS, json!({ "action": "blocked" })),
    ];
    for action in
        ["get", "mutuals", "unfollow", "disconnect", "unblock", "unmute", "follow", "connect"]
    {
        calls.push((RELATIONSHIPS, json!({ "action": action, "owner_id": other })));
    }
    for (action, kind) in
        [("accept", "follow"), ("reject", "follow"), ("accept", "connect"), ("reject", "connect")]
    {
        calls.push((RELATIONSHIPS, json!({ "action": action, "kind": kind, "owner_id": other })));
    }
    for action in ["follow", "connect", "block", "mute"] {
        calls
            .push((RELATIONSHIPS, json!({ "action": action, "owner_id": other, "dry_run": true })));
    }
    let mut seen = Vec::new();
    for (capability, body) in calls {
        let reply = viewer.agent().call(capability, body.clone()).await;
        let mut answer = reply.body;
        if let Some(meta) = answer.get_mut("meta") {
            meta["request_id"] = Value::Null;
        }
        if let Some(result) =
            answer.get_mut("result").filter(|result| result.get("since").is_some())
        {
            result["since"] = Value::Null;
        }
        seen.push(format!("{body} {} {answer}", reply.status));
    }
    for event in viewer.relationship_events().await {
        seen.push(format!("{} {}", event["type"], event["data"]));
    }
    seen.iter().map(|line| line.replace(other, "OTHER").replace(&viewer.id, "VIEWER")).collect()
}

/// Creates two people who follow each other and are connected.
async fn close(host: &Host) -> (Person<'_>, Person<'_>) {
    let (one, other) = (Person::new(host).await, Person::new(host).await);
    one.call_ok("follow", &other.id).await;
    other.call_ok("follow", &one.id).await;
    other.connect_with(&one).await;
    (one, other)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_blocked_person_cannot_detect_the_block() {
    let host = host().await;
    let (blocker, blocked) = close(&host).await;
    let (leaver, left) = close(&host).await;
    blocker.call_ok("block", &blocked.id).await;
    for action in ["unfollow", "disconnect"] {
        leaver.call_ok(action, &left.id).await;
    }
    leaver.call_kind_ok("reject", "follow", &left.id).await;

    // The answers are those about a person who does not exist; the events and lists are those after
    // an ordinary end of the relationships.
    let about_blocker = seen(&blocked, &blocker.id).await;
    let about_nobody = seen(&blocked, NOBODY).await;
    let events = blocked.relationship_events().await.len();
    let answers = about_blocker.len() - events;
    assert_eq!(about_blocker[..answers], about_nobody[..answers]);
    assert!(about_blocker[0].contains("owner_not_found"), "{}", about_blocker[0]);
    assert_eq!(
        types(&blocked.relationship_events().await),
        types(&left.relationship_events().await)
    );
    assert_eq!(
        blocked.list(json!({})).await,
        left.list(json!({})).await,
        "relationships that a block has ended are gone as after an ordinary end"
    );

    // The blocker does not find the blocked person either, but reads the block.
    let card = json!({ "action": "get", "owner_id": blocked.id });
    blocker.agent().call(OWNERS, card).await.assert_refused(404, "owner_not_found");
    let follow = blocker.call("follow", &blocked.id).await;
    follow.assert_refused(409, "relationship_exists");
    let relationships = blocker.call_next_step(&follow.body["next"]).await;
    assert_eq!(
        relationships["allowed_actions"],
        json!(["unblock", "mute", "note"]),
        "{relationships:#}"
    );
    assert_eq!(relationships["relationships"].as_array().unwrap().len(), 1, "{relationships:#}");
    blocker.call("block", &blocked.id).await.assert_refused(409, "relationship_exists");
    let listed = blocker.agent().result(RELATIONSHIPS, json!({ "action": "blocked" })).await;
    assert_eq!(listed["items"][0]["owner_id"], json!(blocked.id));
    assert!(listed["items"][0].get("display_name").is_none(), "{listed:#}");

    // After the block is removed, the answers are those after an ordinary end.
    assert_eq!(blocker.call_ok("unblock", &blocked.id).await["state"], "none");
    let gone = blocker.call("unblock", &blocked.id).await;
    gone.assert_refused(404, "relationship_not_found");
    blocker.call_next_step(&gone.body["next"]).await;
    let plain = |seen: Vec<String>| {
        let cards = |line: &String| !line.contains("member_since");
        seen.into_iter().filter(cards).collect::<Vec<_>>()
    };
    assert_eq!(
        plain(seen(&blocked, &blocker.id).await),
        plain(seen(&left, &leaver.id).await),
        "the answers after the block is removed"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn versions_do_not_disclose_a_block() {
    let host = host().await;
    let (blocker, blocked) = (Person::new(&host).await, Person::new(&host).await);
    let followed = blocked.call_ok("follow", &blocker.id).await;
    blocked.call_ok("unfollow", &blocker.id).await;
    blocker.call_ok("block", &blocked.id).await;
    // Both can block each other, and no answer reveals who was first.
    blocked.call_ok("block", &blocker.id).await;
    blocked.call_ok("unblock", &blocker.id).await;
    blocked.call("follow", &blocker.id).await.assert_refused(404, "owner_not_found");
    blocker.call_ok("unblock", &blocked.id).await;
    let again = blocked.call_ok("follow", &blocker.id).await;
    assert_eq!(
        again["version"].as_u64().unwrap(),
        followed["version"].as_u64().unwrap() + 2,
        "{again:#}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn simultaneous_requests_of_two_people_make_one_connection() {
    let host = host().await;
    for _ in 0..4 {
        let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
        let replies = join_all(
            [(&ada, &bo), (&bo, &ada)].map(|(one, to)| one.call("connect", &to.id)).into_iter(),
        )
        .await;
        let done = replies.iter().filter(|reply| reply.status == 200).count();
        assert_eq!(done, 1, "{replies:#?}");
        let refused = replies.iter().find(|reply| reply.status != 200).unwrap();
        refused.assert_refused(409, "relationship_exists");
        assert_eq!(ada.list(json!({})).await.len(), 1);
        assert_eq!(bo.relationship_events().await.len() + ada.relationship_events().await.len(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn mutes_and_notes_are_private() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let muted = ada.call_ok("mute", &bo.id).await;
    assert_eq!(muted["allowed_actions"], json!(["unmute"]));
    ada.call("mute", &bo.id).await.assert_refused(409, "relationship_exists");
    bo.call_ok("connect", &ada.id).await;
    assert_eq!(ada.relationship_events().await, Vec::<Value>::new());
    assert_eq!(ada.list(json!({ "state": "requested" })).await.len(), 1, "the request is listed");
    assert_eq!(bo.list(json!({ "direction": "incoming" })).await, Vec::<Value>::new());
    ada.call_ok("unmute", &bo.id).await;
    ada.call("unmute", &bo.id).await.assert_refused(404, "relationship_not_found");

    let note = |text: Value, version: u64| {
        json!({
            "action": "note", "owner_id": bo.id, "text": text, "expected_version": version,
        })
    };
    let text = " Call +1 415 555 0100.\nBring tea. ";
    let noted = ada.agent().result(RELATIONSHIPS, note(json!(text), 0)).await;
    assert_eq!(
        (&noted["note"]["text"], &noted["note"]["version"]),
        (&json!(text.trim()), &json!(1))
    );
    let stale = ada.agent().call(RELATIONSHIPS, note(json!("Something else"), 0)).await;
    stale.assert_refused(409, "version_conflict");
    assert_eq!(stale.body["conflict"]["current"], noted["note"]);
    let relationships = ada.call_next_step(&stale.body["next"]).await;
    assert_eq!(relationships["note"], noted["note"], "{relationships:#}");
    assert_eq!(bo.call_ok("get", &ada.id).await["note"], Value::Null);
    ada.agent()
        .call(RELATIONSHIPS, note(json!("\u{202e}"), 1))
        .await
        .assert_refused(400, "validation_failed");
    let struck = ada.agent().result(RELATIONSHIPS, note(Value::Null, 1)).await;
    assert_eq!(struck["note"], Value::Null);

    // An unclaimed agent has no relationships and may not change any.
    let stranger = host.test_agent().await;
    let relationships =
        stranger.call(RELATIONSHIPS, json!({ "action": "get", "owner_id": ada.id })).await;
    assert_eq!(
        (&relationships.body["result"]["relationships"], &relationships.body["next"]["capability"]),
        (&json!([]), &json!("svc.phone-binding"))
    );
    let follow = json!({ "action": "follow", "owner_id": ada.id });
    stranger.call(RELATIONSHIPS, follow).await.assert_refused(403, "phone_binding_required");
}

#[tokio::test(flavor = "multi_thread")]
async fn connection_requests_a_day_are_limited() {
    let host = host().await;
    let ada = Person::new(&host).await;
    let mut people = Vec::new();
    for _ in 0..101 {
        people.push(Person::new(&host).await);
    }
    for person in &people[..100] {
        ada.call_ok("connect", &person.id).await;
    }
    let refused = ada.call("connect", &people[100].id).await;
    refused.assert_refused(429, "quota_exceeded");
    let conflict = &refused.body["conflict"];
    assert_eq!((&conflict["limit"], &conflict["remaining"]), (&json!(100), &json!(0)));
    assert_eq!(
        (&conflict["window_s"], &conflict["retry_after_s"]),
        (&json!(86_400), &refused.body["next"]["after_s"])
    );
    let wait_s = conflict["retry_after_s"].as_u64().unwrap();
    assert!((1..=86_400).contains(&wait_s), "{}", refused.text);
    ada.call_next_step(&refused.body["next"]).await;
    // A follow that needs no acceptance does not count as a request.
    ada.call_ok("follow", &people[100].id).await;
}
