//! Who takes part in a conversation: invitations that everybody consents to, and how people leave.

use crate::harness::{Host, Reply, conversations::*, listings::follow, ties::Person};
use serde_json::{Value, json};

async fn people(host: &Host) -> [Person<'_>; 4] {
    [
        Person::new(host).await,
        Person::new(host).await,
        Person::new(host).await,
        Person::new(host).await,
    ]
}

fn about(thread_id: &str, person: &Person<'_>) -> Value {
    json!({ "thread_id": thread_id, "owner_id": person.id })
}

async fn consents(person: &Person<'_>, thread_id: &str, other: &Person<'_>, agree: bool) -> Value {
    let mut input = about(thread_id, other);
    input["agree"] = json!(agree);
    person.talked("consent", input).await
}

/// Returns the owner and the membership in a person's last event, which must be about
/// a changed membership.
async fn last(person: &Person<'_>) -> (Value, Value) {
    let (name, data) = person.heard().await.pop().unwrap();
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
    let thread_id = opened(&host, &[&ada, &bo]).await;
    let thread = json!({ "thread_id": thread_id });
    let secret = ada.says(&thread_id, "Between us.").await;

    let proposed = ada.talked("invite", about(&thread_id, &cy)).await;
    assert_eq!(membership(&proposed, &cy), "proposed");
    assert!(!allows(&proposed, "consent") && allows(&proposed, "remove"), "{proposed:#}");
    let again = bo.talk("invite", about(&thread_id, &cy)).await;
    again.refused(409, "already_member");
    follow(bo.agent(), &again).await;
    // A proposed person does not see the conversation or get an event.
    cy.talk("get", thread.clone()).await.refused(404, "thread_not_found");
    cy.talk("accept", thread.clone()).await.refused(404, "thread_not_found");
    assert_eq!(cy.heard().await.len(), 0);
    assert_eq!(last(&bo).await, (json!(cy.id), json!("proposed")));
    let told = bo.heard().await.pop().unwrap().1;
    assert!(allows(&bo.follows(&told["next"]).await, "consent"));

    let invited = consents(&bo, &thread_id, &cy, true).await;
    assert_eq!(membership(&invited, &cy), "invited");
    for person in [&ada, &cy] {
        assert_eq!(last(person).await, (json!(cy.id), json!("invited")));
    }
    let seen = cy.sees(&thread_id).await;
    assert_eq!(
        (&seen["last_message"], &seen["allowed_actions"]),
        (&Value::Null, &json!(["accept", "decline"]))
    );
    let refused = cy.talk("messages", thread.clone()).await;
    refused.refused(403, "not_participant");
    follow(cy.agent(), &refused).await;
    assert!(!cy.may_send(&thread_id).await);
    // An invited person gets no messages before they accept.
    bo.says(&thread_id, "Shall we?").await;
    assert_eq!(cy.heard().await.len(), 1);

    let joined = cy.talked("accept", thread.clone()).await;
    assert_eq!((membership(&joined, &cy), &joined["unread"]), (json!("joined"), &json!(0)));
    assert!(cy.may_send(&thread_id).await);
    for person in [&ada, &bo] {
        assert_eq!(last(person).await, (json!(cy.id), json!("joined")));
    }
    assert_eq!(cy.talked("messages", thread.clone()).await["items"], json!([]));
    let mut mark = thread.clone();
    mark["up_to_message_id"] = secret["message_id"].clone();
    cy.talk("mark_read", mark).await.refused(404, "message_not_found");
    let secret = json!({ "message_id": secret["message_id"] });
    cy.talk("message", secret.clone()).await.refused(404, "message_not_found");
    assert_eq!(bo.talked("message", secret.clone()).await["text"], "Between us.");
    ada.talked("retract", secret).await;
    assert_eq!(cy.heard_types().await.len(), 1, "no event about messages before they joined");
    let hello = cy.says(&thread_id, "Hello, you two.").await;
    assert_eq!(hello["seq"], 3);
    ada.marks("mark_read", &hello).await;
    assert_eq!(cy.message(&hello).await["state"], "accepted", "not everybody has read it");
    bo.marks("mark_read", &hello).await;
    assert_eq!(cy.message(&hello).await["state"], "read");

    // Everybody must consent, members who joined later too, and one refusal is enough.
    ada.talked("invite", about(&thread_id, &dee)).await;
    assert_eq!(membership(&consents(&bo, &thread_id, &dee, true).await, &dee), "proposed");
    let refused = consents(&cy, &thread_id, &dee, false).await;
    assert_eq!(membership(&refused, &dee), Value::Null, "{refused:#}");
    assert_eq!(last(&ada).await, (json!(dee.id), json!("removed")));
    assert_eq!(dee.heard().await.len(), 0);
    // When the last member who has not consented leaves, the person is invited.
    bo.talked("invite", about(&thread_id, &dee)).await;
    consents(&ada, &thread_id, &dee, true).await;
    cy.talked("leave", thread.clone()).await;
    assert_eq!(membership(&ada.sees(&thread_id).await, &dee), "invited");
    assert_eq!(last(&dee).await, (json!(dee.id), json!("invited")));
}

#[tokio::test(flavor = "multi_thread")]
async fn people_decline_leave_and_are_removed() {
    let host = host().await;
    let [ada, bo, cy, dee] = people(&host).await;
    let thread_id = opened(&host, &[&ada, &bo]).await;
    let thread = json!({ "thread_id": thread_id });
    let invite = async |person: &Person<'_>| {
        ada.talked("invite", about(&thread_id, person)).await;
        consents(&bo, &thread_id, person, true).await;
    };
    invite(&cy).await;
    assert_eq!(cy.talked("decline", thread.clone()).await["membership"], "declined");
    assert_eq!(last(&ada).await, (json!(cy.id), json!("declined")));
    cy.talk("get", thread.clone()).await.refused(404, "thread_not_found");
    assert_eq!(cy.talked("list", json!({})).await["items"], json!([]));
    let again = ada.talk("invite", about(&thread_id, &cy)).await;
    again.refused(409, "recipient_not_accepting");
    follow(ada.agent(), &again).await;

    invite(&dee).await;
    dee.talked("accept", thread.clone()).await;
    dee.talk("remove", about(&thread_id, &ada)).await.refused(403, "not_permitted");
    ada.talk("remove", about(&thread_id, &bo)).await.refused(403, "not_permitted");
    let nobody = ada.talk("remove", about(&thread_id, &Person::new(&host).await)).await;
    nobody.refused(404, "not_found");
    ada.talked("remove", about(&thread_id, &dee)).await;
    assert_eq!(last(&dee).await, (json!(dee.id), json!("removed")));
    let told = dee.heard().await.pop().unwrap().1;
    assert_eq!(dee.follows(&told["next"]).await["items"], json!([]));
    dee.talk("send", json!({ "thread_id": thread_id, "text": "Why?" }))
        .await
        .refused(404, "thread_not_found");
    assert!(!dee.may_send(&thread_id).await);
    // A removed person may be invited again, and then sees only new messages.
    ada.says(&thread_id, "Meanwhile.").await;
    invite(&dee).await;
    dee.talked("accept", thread.clone()).await;
    assert_eq!(dee.talked("messages", thread.clone()).await["items"], json!([]));

    let mut stale = thread.clone();
    stale["expected_version"] = json!(1);
    bo.talk("leave", stale).await.refused(409, "version_conflict");
    assert_eq!(bo.talked("leave", thread.clone()).await["membership"], "left");
    for person in [&ada, &dee] {
        assert_eq!(last(person).await, (json!(bo.id), json!("left")));
    }
    dee.talked("leave", thread.clone()).await;
    // The last participant sees the conversation as frozen, just as if other participants did not
    // accept messages.
    let alone = ada.sees(&thread_id).await;
    assert_eq!(
        (&alone["state"], alone["participants"].as_array().unwrap().len()),
        (&json!("frozen"), 1)
    );
    ada.talk("send", json!({ "thread_id": thread_id, "text": "Anybody?" }))
        .await
        .refused(409, "recipient_not_accepting");
    ada.talked("leave", thread.clone()).await;
    let state = format!(
        "SELECT json_extract(body, '$.close_reason') FROM documents WHERE id = '{thread_id}'"
    );
    assert_eq!(host.database().texts(&state).await, ["everybody_left"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn people_who_accept_no_messages_are_not_invited() {
    let host = host().await;
    let [ada, bo, cy, dee] = people(&host).await;
    let thread_id = opened(&host, &[&ada, &bo]).await;
    let mut nobody = about(&thread_id, &cy);
    nobody["owner_id"] = json!("own_01JZX8Q4M2N6P7R8S9T0V1W2X3");
    let none = ada.talk("invite", nobody).await;
    none.refused(404, "owner_not_found");
    follow(ada.agent(), &none).await;
    ada.talk("invite", about(&thread_id, &ada)).await.refused(409, "already_member");
    // A person who has blocked the caller is not found.
    cy.done("block", &ada.id).await;
    let hidden = ada.talk("invite", about(&thread_id, &cy)).await;
    assert_eq!((hidden.status, &hidden.body), (none.status, &none.body));
    for policy in ["paused", "network"] {
        dee.prefers(policy).await;
        ada.talk("invite", about(&thread_id, &dee)).await.refused(409, "recipient_not_accepting");
    }
    ada.connects_with(&dee).await;
    ada.talked("invite", about(&thread_id, &dee)).await;

    // Contact data is refused in messages while a member has not exchanged theirs.
    let event = json!({
        "id": "evt_1", "event_type": "pairing.contact_exchanged", "subject": "pairings/pair_1",
        "data": { "thread_id": thread_id },
    });
    operated(&host, "on_contact_exchanged", event).await;
    consents(&bo, &thread_id, &dee, true).await;
    bo.says(&thread_id, "ada@example.com").await;
    let joined = dee.talked("accept", json!({ "thread_id": thread_id })).await;
    assert_eq!(joined["takes_contact_data"], false);
    let text = json!({ "thread_id": thread_id, "text": "bo@example.com" });
    bo.talk("send", text.clone()).await.refused(422, "contact_in_text");
    ada.talked("remove", about(&thread_id, &dee)).await;
    bo.talked("send", text).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_has_twenty_members_at_most() {
    let host = host().await;
    let mut everybody = Vec::new();
    for _ in 0..20 {
        everybody.push(Person::new(&host).await);
    }
    let (one_more, members) = everybody.split_last().unwrap();
    let thread_id = opened(&host, &members.iter().collect::<Vec<_>>()).await;
    members[0].talked("invite", about(&thread_id, one_more)).await;
    let late = Person::new(&host).await;
    let refused = members[0].talk("invite", about(&thread_id, &late)).await;
    refused.refused(409, "member_limit_reached");
    assert_eq!(refused.body["conflict"]["limit"], 20);
    for member in &members[1..] {
        consents(member, &thread_id, one_more, true).await;
    }
    one_more.talked("accept", json!({ "thread_id": thread_id })).await;
    one_more.says(&thread_id, "Hello, everybody.").await;
    for member in members {
        assert_eq!(member.sees(&thread_id).await["unread"], 1);
    }
}

/// The status and body of a refusal, without the id of the request.
fn silence(reply: &Reply) -> (u16, Value) {
    let mut body = reply.body.clone();
    body.as_object_mut().unwrap().remove("request_id");
    (reply.status.as_u16(), body)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_is_blocked_by_a_member_is_not_invited() {
    let host = host().await;
    let [ada, bo, cy, dee] = people(&host).await;
    let thread_id = opened(&host, &[&ada, &cy]).await;
    dee.prefers("paused").await;
    let paused = ada.talk("invite", about(&thread_id, &dee)).await;
    paused.refused(409, "recipient_not_accepting");
    for (one, other) in [(&bo, &cy), (&cy, &bo)] {
        one.done("block", &other.id).await;
        let refused = ada.talk("invite", about(&thread_id, &bo)).await;
        assert_eq!(silence(&refused), silence(&paused));
        one.done("unblock", &other.id).await;
    }
    assert_eq!(cy.heard().await.len(), 0, "a refused invitation sends no event");
    cy.says(&thread_id, "Still here.").await;
    // A block between two people who are only invited counts too.
    dee.prefers("anyone_matching").await;
    ada.talked("invite", about(&thread_id, &dee)).await;
    bo.done("block", &dee.id).await;
    ada.talk("invite", about(&thread_id, &bo)).await.refused(409, "recipient_not_accepting");
    ada.talked("remove", about(&thread_id, &dee)).await;
    ada.talked("invite", about(&thread_id, &bo)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_member_cannot_consent_to_a_person_who_is_blocked_by_then() {
    let host = host().await;
    let [ada, bo, cy, dee] = people(&host).await;
    let thread_id = opened(&host, &[&ada, &cy]).await;
    for person in [&bo, &dee] {
        ada.talked("invite", about(&thread_id, person)).await;
    }
    let told = cy.heard().await.len();
    bo.done("block", &cy.id).await;
    dee.prefers("paused").await;
    let consent = |person: &Person<'_>| {
        let mut input = about(&thread_id, person);
        input["agree"] = json!(true);
        input
    };
    let refused = cy.talk("consent", consent(&bo)).await;
    refused.refused(409, "recipient_not_accepting");
    assert_eq!(silence(&refused), silence(&cy.talk("consent", consent(&dee)).await));
    assert_eq!((cy.heard().await.len(), bo.heard().await.len()), (told, 0));
    cy.says(&thread_id, "Who is that?").await;
    assert_eq!(membership(&consents(&cy, &thread_id, &bo, false).await, &bo), Value::Null);

    // Nor is the person invited when the last member who had not consented leaves.
    let thread_id = opened(&host, &[&ada, &bo, &cy]).await;
    bo.done("unblock", &cy.id).await;
    dee.prefers("anyone_matching").await;
    ada.talked("invite", about(&thread_id, &dee)).await;
    consents(&cy, &thread_id, &dee, true).await;
    dee.done("block", &cy.id).await;
    bo.talked("leave", json!({ "thread_id": thread_id })).await;
    assert_eq!(membership(&ada.sees(&thread_id).await, &dee), "proposed");
    assert_eq!(dee.heard().await.len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invited_person_who_is_blocked_by_then_cannot_join() {
    let host = host().await;
    let [ada, bo, cy, dee] = people(&host).await;
    let thread_id = opened(&host, &[&ada, &cy]).await;
    let thread = json!({ "thread_id": thread_id });
    for person in [&bo, &dee] {
        ada.talked("invite", about(&thread_id, person)).await;
        consents(&cy, &thread_id, person, true).await;
    }
    let told = cy.heard().await.len();
    let mut refusals = Vec::new();
    for reason in ["blocks", "is blocked", "is paused"] {
        match reason {
            "blocks" => drop(bo.done("block", &cy.id).await),
            "is blocked" => drop(cy.done("block", &bo.id).await),
            _ => cy.prefers("paused").await,
        }
        let refused = bo.talk("accept", thread.clone()).await;
        refused.refused(409, "recipient_not_accepting");
        follow(bo.agent(), &refused).await;
        refusals.push((silence(&refused), bo.sees(&thread_id).await["allowed_actions"].clone()));
        match reason {
            "blocks" => drop(bo.done("unblock", &cy.id).await),
            "is blocked" => drop(cy.done("unblock", &bo.id).await),
            _ => cy.prefers("anyone_matching").await,
        }
    }
    assert_eq!(refusals[0].1, json!(["decline"]));
    assert!(refusals.iter().all(|refusal| *refusal == refusals[0]), "{refusals:#?}");
    assert_eq!(cy.heard().await.len(), told);
    // Nor can the person join while they block another invited person.
    bo.done("block", &dee.id).await;
    bo.talk("accept", thread.clone()).await.refused(409, "recipient_not_accepting");
    dee.talked("decline", thread.clone()).await;
    assert_eq!(membership(&bo.talked("accept", thread).await, &bo), "joined");
    cy.says(&thread_id, "Welcome.").await;
}
