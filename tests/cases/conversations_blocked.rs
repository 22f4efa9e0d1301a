//! Refused messages: the sender cannot tell a block from another reason, and strangers see nothing.

use crate::harness::{
    Host,
    conversations::*,
    listings::follow_next_step,
    relationships::{OWNERS, Person},
};
use serde_json::{Value, json};

/// Two people who have written to each other.
async fn open_pair(host: &Host) -> (Person<'_>, Person<'_>, String, [Value; 2]) {
    let (ada, bo) = (Person::new(host).await, Person::new(host).await);
    let thread_id = open_thread(host, &[&ada, &bo]).await;
    let messages =
        [ada.send_message(&thread_id, "Hello.").await, bo.send_message(&thread_id, "Hello!").await];
    (ada, bo, thread_id, messages)
}

/// An answer without the values that differ between pairs of people and between runs.
fn with_placeholders(answer: &Value, names: &[(String, &str)]) -> Value {
    match answer {
        Value::Object(fields) => fields
            .iter()
            .filter(|(name, _)| {
                !name.ends_with("_at") && !["since", "request_id"].contains(&name.as_str())
            })
            .map(|(name, value)| (name.clone(), with_placeholders(value, names)))
            .collect(),
        Value::Array(items) => items.iter().map(|item| with_placeholders(item, names)).collect(),
        Value::String(text) => {
            let replaced =
                names.iter().fold(text.clone(), |text, (id, name)| text.replace(id, name));
            replaced.into()
        }
        other => other.clone(),
    }
}

/// The answers to every call that a person can make about a conversation.
async fn all_answers(
    viewer: &Person<'_>,
    other: &Person<'_>,
    thread_id: &str,
    messages: &[Value; 2],
) -> Vec<String> {
    let (theirs, own) = (&messages[0]["message_id"], &messages[1]["message_id"]);
    let thread = json!({ "thread_id": thread_id });
    let text = json!({ "thread_id": thread_id, "text": "Are you there?" });
    let invite = json!({ "thread_id": thread_id, "owner_id": viewer.id });
    let mark = json!({ "thread_id": thread_id, "up_to_message_id": theirs });
    let calls = [
        ("get", thread.clone()),
        ("list", json!({})),
        ("list", json!({ "state": "open" })),
        ("list", json!({ "state": "frozen" })),
        ("messages", thread.clone()),
        ("send", text),
        ("edit", json!({ "message_id": own, "text": "Hello?" })),
        ("invite", invite),
        ("mark_delivered", mark.clone()),
        ("mark_read", mark),
        ("mute", thread.clone()),
        ("unmute", thread.clone()),
        ("retract", json!({ "message_id": own })),
        ("get", thread),
    ];
    let mut names = vec![
        (viewer.id.clone(), "VIEWER"),
        (other.id.clone(), "OTHER"),
        (thread_id.to_owned(), "THREAD"),
    ];
    for (message, name) in messages.iter().zip(["THEIRS", "OWN"]) {
        names.push((message["message_id"].as_str().unwrap().to_owned(), name));
        let agent_id = message["sender"]["agent_id"].as_str().unwrap().to_owned();
        names.push((agent_id, if name == "OWN" { "AGENT" } else { "OTHER'S AGENT" }));
    }
    let pairing = viewer.thread(thread_id).await["pairing_id"].as_str().unwrap().to_owned();
    names.push((pairing, "PAIRING"));
    let mut answers = Vec::new();
    for (action, input) in calls {
        let reply = viewer.call_thread(action, input).await;
        answers.push(format!(
            "{action} {} {}",
            reply.status,
            with_placeholders(&reply.body, &names)
        ));
    }
    answers.push(format!("{}", viewer.can_send(thread_id).await));
    for (name, data) in viewer.conversation_events().await {
        answers.push(format!("{name} {}", with_placeholders(&data, &names)));
    }
    answers
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_is_indistinguishable_from_another_reason_for_a_refusal() {
    let host = host().await;
    let mut answers = Vec::new();
    for reason in ["block", "paused", "deactivate"] {
        let (ada, bo, thread_id, messages) = open_pair(&host).await;
        assert!(bo.can_send(&thread_id).await);
        match reason {
            "block" => drop(ada.call_ok("block", &bo.id).await),
            "paused" => ada.set_contact_policy("paused").await,
            _ => drop(ada.agent().result(OWNERS, json!({ "action": "deactivate" })).await),
        }
        // Messages are refused at once, before the event of the change is delivered.
        let refused =
            bo.call_thread("send", json!({ "thread_id": thread_id, "text": "Now?" })).await;
        refused.assert_refused(409, "recipient_not_accepting");
        follow_next_step(bo.agent(), &refused).await;
        wait_until("`can_send` is revoked", async || !bo.can_send(&thread_id).await).await;
        answers.push(all_answers(&bo, &ada, &thread_id, &messages).await);
        let them = ada.thread(&thread_id).await["participants"].clone();
        let them = them
            .as_array()
            .unwrap()
            .iter()
            .find(|participant| participant["owner_id"] == json!(bo.id));
        assert_eq!(them.unwrap()["read_seq"], 0, "a person who cannot write sends no receipts");
        let event_types = ada.conversation_event_types().await;
        assert_eq!(event_types, ["conversation.message"; 2], "a message and its retraction");

        // The change is undone.
        match reason {
            "block" => drop(ada.call_ok("unblock", &bo.id).await),
            "paused" => ada.set_contact_policy("anyone_matching").await,
            _ => drop(ada.agent().result(OWNERS, json!({ "action": "reactivate" })).await),
        }
        assert_eq!(bo.thread(&thread_id).await["state"], "open");
        bo.send_message(&thread_id, "There you are.").await;
        wait_until("it is stated", async || bo.can_send(&thread_id).await).await;
    }
    assert!(answers[0][0].contains("frozen"), "{}", answers[0][0]);
    assert_eq!(answers[0], answers[1]);
    assert_eq!(answers[0], answers[2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_freezes_a_thread_for_the_two_people_alone() {
    let host = host().await;
    let (ada, bo, cy) =
        (Person::new(&host).await, Person::new(&host).await, Person::new(&host).await);
    let thread_id = open_thread(&host, &[&ada, &bo, &cy]).await;
    ada.call_ok("block", &bo.id).await;
    let text = json!({ "thread_id": thread_id, "text": "Hello." });
    for person in [&ada, &bo] {
        person
            .call_thread("send", text.clone())
            .await
            .assert_refused(409, "recipient_not_accepting");
        assert_eq!(person.thread(&thread_id).await["state"], "frozen");
        wait_until("`can_send` is revoked", async || !person.can_send(&thread_id).await).await;
    }
    assert_eq!(cy.thread(&thread_id).await["state"], "open");
    cy.send_message(&thread_id, "Hello, you two.").await;
    assert!(cy.can_send(&thread_id).await);
    // A person who has paused contact may still write; a deactivated one may not.
    let (dee, eve, other_id, _) = open_pair(&host).await;
    dee.set_contact_policy("paused").await;
    dee.send_message(&other_id, "I am busy for a while.").await;
    eve.call_thread("send", json!({ "thread_id": other_id, "text": "When?" }))
        .await
        .assert_refused(409, "recipient_not_accepting");
    dee.agent().result(OWNERS, json!({ "action": "deactivate" })).await;
    let refused = dee.call_thread("send", json!({ "thread_id": other_id, "text": "Soon." })).await;
    refused.assert_refused(403, "not_permitted");
    follow_next_step(dee.agent(), &refused).await;
    dee.send_message(&other_id, "Soon.").await;

    // A conversation that is opened while one has blocked the other begins frozen.
    let late = open_thread(&host, &[&bo, &ada]).await;
    assert_eq!(bo.thread(&late).await["state"], "frozen");
    assert!(!bo.can_send(&late).await);
    let seen = json!({ "thread_id": late, "owner_id": bo.id });
    assert_eq!(operate_ok(&host, "thread", seen).await["state"], "frozen");
    // A conversation that the operator has suspended looks the same.
    let (fay, gus, stopped, _) = open_pair(&host).await;
    operate_ok(&host, "suspend", json!({ "thread_id": stopped })).await;
    for person in [&fay, &gus] {
        let text = json!({ "thread_id": stopped, "text": "Hello." });
        person.call_thread("send", text).await.assert_refused(409, "recipient_not_accepting");
        assert!(!person.can_send(&stopped).await);
    }
    operate_ok(&host, "reinstate", json!({ "thread_id": stopped })).await;
    fay.send_message(&stopped, "Again.").await;
    assert!(gus.can_send(&stopped).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_of_others_is_not_found() {
    let host = host().await;
    let (ada, bo, thread_id, messages) = open_pair(&host).await;
    let stranger = Person::new(&host).await;
    let nobody = host.test_agent().await;
    let message_id = &messages[0]["message_id"];
    let calls = |thread_id: &str, message_id: &Value| {
        let thread = json!({ "thread_id": thread_id });
        let mut calls = Vec::new();
        for action in ["get", "messages", "mute", "unmute", "archive", "unarchive"] {
            calls.push((action, thread.clone()));
        }
        for action in ["accept", "decline", "leave", "close"] {
            calls.push((action, json!({ "thread_id": thread_id, "expected_version": 1 })));
        }
        for action in ["invite", "remove"] {
            calls.push((action, json!({ "thread_id": thread_id, "owner_id": ada.id })));
        }
        let consent = json!({ "thread_id": thread_id, "owner_id": ada.id, "agree": true });
        calls.push(("consent", consent));
        calls.push(("send", json!({ "thread_id": thread_id, "text": "Let me in." })));
        for action in ["mark_read", "mark_delivered"] {
            let mark = json!({ "thread_id": thread_id, "up_to_message_id": message_id });
            calls.push((action, mark));
        }
        calls.push(("edit", json!({ "message_id": message_id, "text": "Mine." })));
        calls.push(("retract", json!({ "message_id": message_id })));
        calls
    };
    let there = calls(&thread_id, message_id);
    let not_there = calls(NO_THREAD, &json!(NO_MESSAGE));
    for ((action, real), (_, unreal)) in there.into_iter().zip(not_there) {
        let (real, unreal) =
            (stranger.call_thread(action, real).await, stranger.call_thread(action, unreal).await);
        assert_eq!((real.status, &real.body), (unreal.status, &unreal.body), "{action}");
        let code = if ["edit", "retract"].contains(&action) {
            "message_not_found"
        } else {
            "thread_not_found"
        };
        real.assert_refused(404, code);
        follow_next_step(stranger.agent(), &real).await;
    }
    assert_eq!(stranger.call_thread_ok("list", json!({})).await["items"], json!([]));
    assert!(!stranger.can_send(&thread_id).await);
    for owner_id in [&stranger.id, "own_01JZX8Q4M2N6P7R8S9T0V1W2X3"] {
        let thread_of_owner = json!({ "thread_id": thread_id, "owner_id": owner_id });
        operate(&host, "thread", thread_of_owner).await.assert_refused(404, "thread_not_found");
        let post = json!({ "thread_id": thread_id, "owner_id": owner_id, "text": "Mine." });
        operate(&host, "post", post).await.assert_refused(404, "thread_not_found");
    }
    // A message of another conversation is not found in this one.
    let (_, _, _, others) = open_pair(&host).await;
    let mark = json!({ "thread_id": thread_id, "up_to_message_id": others[0]["message_id"] });
    bo.call_thread("mark_read", mark).await.assert_refused(404, "message_not_found");
    let reply = json!({
        "thread_id": thread_id, "text": "Yes.", "reply_to": others[0]["message_id"],
    });
    bo.call_thread("send", reply).await.assert_refused(404, "message_not_found");

    let list = nobody.call(CONVERSATIONS, json!({ "action": "list" })).await;
    assert_eq!(
        (&list.body["result"]["items"], &list.body["next"]["capability"]),
        (&json!([]), &json!("svc.phone-binding"))
    );
    let get = json!({ "action": "get", "thread_id": thread_id });
    nobody.call(CONVERSATIONS, get).await.assert_refused(404, "thread_not_found");
    // An agent cannot open a conversation itself.
    let open = json!({ "action": "open", "pairing_id": "pair_9", "participants": [] });
    ada.agent().call(CONVERSATIONS, open).await.assert_refused(400, "unknown_action");
    let twice = json!({
        "pairing_id": "pair_9",
        "participants": [{ "owner_id": ada.id }, { "owner_id": ada.id }],
    });
    operate(&host, "open", twice).await.assert_refused(400, "validation_failed");
}
