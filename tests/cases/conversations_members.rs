//! The members of a conversation: invitations that everybody consents to, and how people leave.

use crate::harness::{
    Host, Reply, conversations::*, listings::follow_next_step, relationships::Person,
};
use serde_json::{Value, json};

async fn people(host: &Host) -> [Person<'_>; 4] {
    [
        Person::new(host).await,
        Person::new(host).await,
        Person::new(host).await,
        Person::new(host).await,
    ]
}

fn member_input(thread_id: &str, person: &Person<'_>) -> Value {
    json!({ "thread_id": thread_id, "owner_id": person.id })
}

async fn call_consent(
    person: &Person<'_>,
    thread_id: &str,
    other: &Person<'_>,
    agree: bool,
) -> Value {
    let mut input = member_input(thread_id, other);
    input["agree"] = json!(agree);
    person.call_thread_ok("consent", input).await
}

/// Returns the owner and the membership in a person's last event, which must be about
/// a changed membership.
async fn last_member_event(person: &Person<'_>) -> (Value, Value) {
    let (name, data) = person.conversation_events().await.pop().unwrap();
    assert_eq!(name, "conversation.member_changed");
    (data["owner_id"].clone(), data["membership"].clone())
}

fn membership(thread: &Value, person: &Person<'_>) -> Value {
    let them = thread["participants"].as_array().unwrap().iter();
    let mut them = them.filter(|participant| participant["owner_id"] == json!(person.id));
    them.next().map_or(Value::Null, |participant| participant["membership"].clone())
}

fn allows(thread: &Value, action: &str) -> bool {
    thread["allowed_actions"].as_array().unwrap().iter().any(|allowed| allowed == action)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_member_consents_before_a_person_is_invited() {
    let host = host().await;
    let [ada, bo, cy, dee] = people(&host).await;
    let thread_id = open_thread(&host, &[&ada, &bo]).await;
    let thread = json!({ "thread_id": thread_id });
    let secret = ada.send_message(&thread_id, "Between us.").await;

    let proposed = ada.call_thread_ok("invite", member_input(&thread_id, &cy)).await;
    assert_eq!(membership(&proposed, &cy), "proposed");
    assert!(!allows(&proposed, "consent") && allows(&proposed, "remove"), "{proposed:#}");
    let again = bo.call_thread("invite", member_input(&thread_id, &cy)).await;
    again.assert_refused(409, "already_member");
    follow_next_step(bo.agent(), &again).await;
    // A proposed person does not see the conversation or get an event.
    cy.call_thread("get", thread.clone()).await.assert_refused(404, "thread_not_found");
    cy.call_thread("accept", thread.clone()).await.assert_refused(404, "thread_not_found");
    assert_eq!(cy.conversation_events().await.len(), 0);
    assert_eq!(last_member_event(&bo).await, (json!(cy.id), json!("proposed")));
    let event_data = bo.conversation_events().await.pop().unwrap().1;
    assert!(allows(&bo.call_next_step(&event_data["next"]).await, "consent"));

    let invited = call_consent(&bo, &thread_id, &cy, true).await;
    assert_eq!(membership(&invited, &cy), "invited");
    for person in [&ada, &cy] {
        assert_eq!(last_member_event(person).await, (json!(cy.id), json!("invited")));
    }
    let seen = cy.thread(&thread_id).await;
    assert_eq!(
        (&seen["last_message"], &seen["allowed_actions"]),
        (&Value::Null, &json!(["accept", "decline"]))
    );
    let refused = cy.call_thread("messages", thread.clone()).await;
    refused.assert_refused(403, "not_participant");
    follow_next_step(cy.agent(), &refused).await;
    assert!(!cy.can_send(&thread_id).await);
    // An invited person gets no messages before they accept.
    bo.send_message(&thread_id, "Shall we?").await;
    assert_eq!(cy.conversation_events().await.len(), 1);

    let joined = cy.call_thread_ok("accept", thread.clone()).await;
    assert_eq!((membership(&joined, &cy), &joined["unread"]), (json!("joined"), &json!(0)));
    assert!(cy.can_send(&thread_id).await);
    for person in [&ada, &bo] {
        assert_eq!(last_member_event(person).await, (json!(cy.id), json!("joined")));
    }
    assert_eq!(cy.call_thread_ok("messages", thread.clone()).await["items"], json!([]));
    let mut mark = thread.clone();
    mark["up_to_message_id"] = secret["message_id"].clone();
    cy.call_thread("mark_read", mark).await.assert_refused(404, "message_not_found");
    let secret = json!({ "message_id": secret["message_id"] });
    cy.call_thread("message", secret.clone()).await.assert_refused(404, "message_not_found");
    assert_eq!(bo.call_thread_ok("message", secret.clone()).await["text"], "Between us.");
    ada.call_thread_ok("retract", secret).await;
    assert_eq!(
        cy.conversation_event_types().await.len(),
        1,
        "no event about messages before they joined"
    );
    let hello = cy.send_message(&thread_id, "Hello, you two.").await;
    assert_eq!(hello["seq"], 3);
    ada.mark_up_to("mark_read", &hello).await;
    assert_eq!(cy.message(&hello).await["state"], "accepted", "not everybody has read it");
    bo.mark_up_to("mark_read", &hello).await;
    assert_eq!(cy.message(&hello).await["state"], "read");

    // Everybody must consent, members who joined later too, and one refusal is enough.
    ada.call_thread_ok("invite", member_input(&thread_id, &dee)).await;
    assert_eq!(membership(&call_consent(&bo, &thread_id, &dee, true).await, &dee), "proposed");
    let refused = call_consent(&cy, &thread_id, &dee, false).await;
    assert_eq!(membership(&refused, &dee), Value::Null, "{refused:#}");
    assert_eq!(last_member_event(&ada).await, (json!(dee.id), json!("removed")));
    assert_eq!(dee.conversation_events().await.len(), 0);
    // When the last member who has not consented leaves, the person is invited.
    bo.call_thread_ok("invite", member_input(&thread_id, &dee)).await;
    call_consent(&ada, &thread_id, &dee, true).await;
    cy.call_thread_ok("leave", thread.clone()).await;
    assert_eq!(membership(&ada.thread(&thread_id).await, &dee), "invited");
    assert_eq!(last_member_event(&dee).await, (json!(dee.id), json!("invited")));
}

#[tokio::test(flavor = "multi_thread")]
async fn people_decline_leave_and_are_removed() {
    let host = host().await;
    let [ada, bo, cy, dee] = people(&host).await;
    let thread_id = open_thread(&host, &[&ada, &bo]).await;
    let thread = json!({ "thread_id": thread_id });
    let invite = async |person: &Person<'_>| {
        ada.call_thread_ok("invite", member_input(&thread_id, person)).await;
        call_consent(&bo, &thread_id, person, true).await;
    };
    invite(&cy).await;
    assert_eq!(cy.call_thread_ok("decline", thread.clone()).await["membership"], "declined");
    assert_eq!(last_member_event(&ada).await, (json!(cy.id), json!("declined")));
    cy.call_thread("get", thread.clone()).await.assert_refused(404, "thread_not_found");
    assert_eq!(cy.call_thread_ok("list", json!({})).await["items"], json!([]));
    let again = ada.call_thread("invite", member_input(&thread_id, &cy)).await;
    again.assert_refused(409, "recipient_not_accepting");
    follow_next_step(ada.agent(), &again).await;

    invite(&dee).await;
    dee.call_thread_ok("accept", thread.clone()).await;
    dee.call_thread("remove", member_input(&thread_id, &ada))
        .await
        .assert_refused(403, "not_permitted");
    ada.call_thread("remove", member_input(&thread_id, &bo))
        .await
        .assert_refused(403, "not_permitted");
    let nobody =
        ada.call_thread("remove", member_input(&thread_id, &Person::new(&host).await)).await;
    nobody.assert_refused(404, "not_found");
    ada.call_thread_ok("remove", member_input(&thread_id, &dee)).await;
    assert_eq!(last_member_event(&dee).await, (json!(dee.id), json!("removed")));
    let event_data = dee.conversation_events().await.pop().unwrap().1;
    assert_eq!(dee.call_next_step(&event_data["next"]).await["items"], json!([]));
    dee.call_thread("send", json!({ "thread_id": thread_id, "text": "Why?" }))
        .await
        .assert_refused(404, "thread_not_found");
    assert!(!dee.can_send(&thread_id).await);
    // A removed person may be invited again, and then sees only new messages.
    ada.send_message(&thread_id, "Meanwhile.").await;
    invite(&dee).await;
    dee.call_thread_ok("accept", thread.clone()).await;
    assert_eq!(dee.call_thread_ok("messages", thread.clone()).await["items"], json!([]));

    let mut stale = thread.clone();
    stale["expected_version"] = json!(1);
    bo.call_thread("leave", stale).await.assert_refused(409, "version_conflict");
    assert_eq!(bo.call_thread_ok("leave", thread.clone()).await["membership"], "left");
    for person in [&ada, &dee] {
        assert_eq!(last_member_event(person).await, (json!(bo.id), json!("left")));
    }
    dee.call_thread_ok("leave", thread.clone()).await;
    // The last participant sees the conversation as frozen, just as if other participants did not
    // accept messages.
    let alone = ada.thread(&thread_id).await;
    assert_eq!(
        (&alone["state"], alone["participants"].as_array().unwrap().len()),
        (&json!("frozen"), 1)
    );
    ada.call_thread("send", json!({ "thread_id": thread_id, "text": "Anybody?" }))
        .await
        .assert_refused(409, "recipient_not_accepting");
    ada.call_thread_ok("leave", thread.clone()).await;
    let state = format!(
        "SELECT json_extract(body, '$.close_reason') FROM documents WHERE id = '{thread_id}'"
    );
    assert_eq!(host.database().texts(&state).await, ["everybody_left"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn people_who_accept_no_messages_are_not_invited() {
    let host = host().await;
    let [ada, bo, cy, dee] = people(&host).await;
    let thread_id = open_thread(&host, &[&ada, &bo]).await;
    let mut nobody = member_input(&thread_id, &cy);
    nobody["owner_id"] = json!("own_01JZX8Q4M2N6P7R8S9T0V1W2X3");
    let none = ada.call_thread("invite", nobody).await;
    none.assert_refused(404, "owner_not_found");
    follow_next_step(ada.agent(), &none).await;
    ada.call_thread("invite", member_input(&thread_id, &ada))
        .await
        .assert_refused(409, "already_member");
    // A person who has blocked the caller is not found.
    cy.call_ok("block", &ada.id).await;
    let hidden = ada.call_thread("invite", member_input(&thread_id, &cy)).await;
    assert_eq!((hidden.status, &hidden.body), (none.status, &none.body));
    for policy in ["paused", "network"] {
        dee.set_contact_policy(policy).await;
        ada.call_thread("invite", member_input(&thread_id, &dee))
            .await
            .assert_refused(409, "recipient_not_accepting");
    }
    ada.connect_with(&dee).await;
    ada.call_thread_ok("invite", member_input(&thread_id, &dee)).await;

    // Contact data is refused in messages while a member has not exchanged theirs.
    operate_ok(&host, "allow_contact_data", json!({ "thread_id": thread_id })).await;
    call_consent(&bo, &thread_id, &dee, true).await;
    bo.send_message(&thread_id, "ada@example.com").await;
    let joined = dee.call_thread_ok("accept", json!({ "thread_id": thread_id })).await;
    assert_eq!(joined["takes_contact_data"], false);
    let text = json!({ "thread_id": thread_id, "text": "bo@example.com" });
    bo.call_thread("send", text.clone()).await.assert_refused(422, "contact_in_text");
    ada.call_thread_ok("remove", member_input(&thread_id, &dee)).await;
    bo.call_thread_ok("send", text).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_has_twenty_members_at_most() {
    let host = host().await;
    let mut everybody = Vec::new();
    for _ in 0..20 {
        everybody.push(Person::new(&host).await);
    }
    let (one_more, members) = everybody.split_last().unwrap();
    let thread_id = open_thread(&host, &members.iter().collect::<Vec<_>>()).await;
    members[0].call_thread_ok("invite", member_input(&thread_id, one_more)).await;
    let late = Person::new(&host).await;
    let refused = members[0].call_thread("invite", member_input(&thread_id, &late)).await;
    refused.assert_refused(409, "member_limit_reached");
    assert_eq!(refused.body["conflict"]["limit"], 20);
    for member in &members[1..] {
        call_consent(member, &thread_id, one_more, true).await;
    }
    one_more.call_thread_ok("accept", json!({ "thread_id": thread_id })).await;
    one_more.send_message(&thread_id, "Hello, everybody.").await;
    for member in members {
        assert_eq!(member.thread(&thread_id).await["unread"], 1);
    }
}

/// The status and body of a refusal, without the id of the request.
fn refusal_without_ids(reply: &Reply) -> (u16, Value) {
    let mut body = reply.body.clone();
    body.as_object_mut().unwrap().remove("request_id");
    (reply.status.as_u16(), body)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_is_blocked_by_a_member_is_not_invited() {
    let host = host().await;
    let [ada, bo, cy, dee] = people(&host).await;
    let thread_id = open_thread(&host, &[&ada, &cy]).await;
    dee.set_contact_policy("paused").await;
    let paused = ada.call_thread("invite", member_input(&thread_id, &dee)).await;
    paused.assert_refused(409, "recipient_not_accepting");
    for (one, other) in [(&bo, &cy), (&cy, &bo)] {
        one.call_ok("block", &other.id).await;
        let refused = ada.call_thread("invite", member_input(&thread_id, &bo)).await;
        assert_eq!(refusal_without_ids(&refused), refusal_without_ids(&paused));
        one.call_ok("unblock", &other.id).await;
    }
    assert_eq!(cy.conversation_events().await.len(), 0, "a refused invitation sends no event");
    cy.send_message(&thread_id, "Still here.").await;
    // A block between two people who are only invited counts too.
    dee.set_contact_policy("anyone_matching").await;
    ada.call_thread_ok("invite", member_input(&thread_id, &dee)).await;
    bo.call_ok("block", &dee.id).await;
    ada.call_thread("invite", member_input(&thread_id, &bo))
        .await
        .assert_refused(409, "recipient_not_accepting");
    ada.call_thread_ok("remove", member_input(&thread_id, &dee)).await;
    ada.call_thread_ok("invite", member_input(&thread_id, &bo)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_cannot_consent_to_a_person_who_is_blocked_by_then() {
    let host = host().await;
    let [ada, bo, cy, dee] = people(&host).await;
    let thread_id = open_thread(&host, &[&ada, &cy]).await;
    for person in [&bo, &dee] {
        ada.call_thread_ok("invite", member_input(&thread_id, person)).await;
    }
    let event_count = cy.conversation_events().await.len();
    bo.call_ok("block", &cy.id).await;
    dee.set_contact_policy("paused").await;
    let consent = |person: &Person<'_>| {
        let mut input = member_input(&thread_id, person);
        input["agree"] = json!(true);
        input
    };
    let refused = cy.call_thread("consent", consent(&bo)).await;
    refused.assert_refused(409, "recipient_not_accepting");
    assert_eq!(
        refusal_without_ids(&refused),
        refusal_without_ids(&cy.call_thread("consent", consent(&dee)).await)
    );
    assert_eq!(
        (cy.conversation_events().await.len(), bo.conversation_events().await.len()),
        (event_count, 0)
    );
    cy.send_message(&thread_id, "Who is that?").await;
    assert_eq!(membership(&call_consent(&cy, &thread_id, &bo, false).await, &bo), Value::Null);

    // Nor is the person invited when the last member who had not consented leaves.
    let thread_id = open_thread(&host, &[&ada, &bo, &cy]).await;
    bo.call_ok("unblock", &cy.id).await;
    dee.set_contact_policy("anyone_matching").await;
    ada.call_thread_ok("invite", member_input(&thread_id, &dee)).await;
    call_consent(&cy, &thread_id, &dee, true).await;
    dee.call_ok("block", &cy.id).await;
    bo.call_thread_ok("leave", json!({ "thread_id": thread_id })).await;
    assert_eq!(membership(&ada.thread(&thread_id).await, &dee), "proposed");
    assert_eq!(dee.conversation_events().await.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invited_person_who_is_blocked_by_then_cannot_join() {
    let host = host().await;
    let [ada, bo, cy, dee] = people(&host).await;
    let thread_id = open_thread(&host, &[&ada, &cy]).await;
    let thread = json!({ "thread_id": thread_id });
    for person in [&bo, &dee] {
        ada.call_thread_ok("invite", member_input(&thread_id, person)).await;
        call_consent(&cy, &thread_id, person, true).await;
    }
    let event_count = cy.conversation_events().await.len();
    let mut refusals = Vec::new();
    for reason in ["blocks", "is blocked", "is paused"] {
        match reason {
            "blocks" => drop(bo.call_ok("block", &cy.id).await),
            "is blocked" => drop(cy.call_ok("block", &bo.id).await),
            _ => cy.set_contact_policy("paused").await,
        }
        let refused = bo.call_thread("accept", thread.clone()).await;
        refused.assert_refused(409, "recipient_not_accepting");
        follow_next_step(bo.agent(), &refused).await;
        refusals.push((
            refusal_without_ids(&refused),
            bo.thread(&thread_id).await["allowed_actions"].clone(),
        ));
        match reason {
            "blocks" => drop(bo.call_ok("unblock", &cy.id).await),
            "is blocked" => drop(cy.call_ok("unblock", &bo.id).await),
            _ => cy.set_contact_policy("anyone_matching").await,
        }
    }
    assert_eq!(refusals[0].1, json!(["decline"]));
    assert!(refusals.iter().all(|refusal| *refusal == refusals[0]), "{refusals:#?}");
    assert_eq!(cy.conversation_events().await.len(), event_count);
    // Nor can the person join while they block another invited person.
    bo.call_ok("block", &dee.id).await;
    bo.call_thread("accept", thread.clone()).await.assert_refused(409, "recipient_not_accepting");
    dee.call_thread_ok("decline", thread.clone()).await;
    assert_eq!(membership(&bo.call_thread_ok("accept", thread).await, &bo), "joined");
    cy.send_message(&thread_id, "Welcome.").await;
}
