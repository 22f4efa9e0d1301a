//! Members of organisations: invitations, and how people accept, decline and leave.

use crate::harness::time::DAY;
use crate::{
    cases::social_org::{
        ORG, call_next_step, create_org, host, member_action, org_action, person, roles,
        wait_for_event, with_field,
    },
    harness::{inbox::Reader, visibility::UNKNOWN_OWNER},
};
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn people_join_by_invitation() {
    let host = host().await;
    let ((ada, a), (bob, b)) = (person(&host).await, person(&host).await);
    let named = json!({ "action": "update_profile", "display_name": "Bob B." });
    bob.agent.result("owners", named).await;
    let org_id = create_org(&ada.agent, "Copperleaf").await;
    let invite = with_field(member_action("invite_member", &org_id, &b), "role", "recruiter");
    let invited = ada.agent.result(ORG, invite.clone()).await;
    assert_eq!(
        (&invited["state"], &invited["display_name"], &invited["allowed_actions"]),
        (&json!("invited"), &json!("Bob B."), &json!(["remove_member"]))
    );
    assert_eq!(roles(&ada.agent, &org_id, &b).await, Vec::<&str>::new());
    let again = ada.agent.call(ORG, invite.clone()).await;
    again.assert_refused(409, "invalid_transition");
    call_next_step(&ada.agent, &again.body).await;

    // The person follows only what the event says.
    let event = wait_for_event(&bob, "org.invited").await;
    assert_eq!(
        (
            &event["data"]["actor"]["owner_id"],
            &event["data"]["role"],
            &event["data"]["resource"]["state"]
        ),
        (&json!(a), &json!("recruiter"), &json!("invited")),
        "{event:#}"
    );
    let next = &event["data"]["next"];
    let mut input = next["input"].clone();
    input[next["missing"][0].as_str().unwrap()] = json!("accept");
    let mine = bob.agent.result(ORG, json!({ "action": "list_mine", "state": ["invited"] })).await;
    assert_eq!(mine["items"][0]["allowed_actions"], json!(["respond_invite"]));
    let joined = bob.agent.result(next["capability"].as_str().unwrap(), input.clone()).await;
    assert_eq!(
        (&joined["membership"]["role"], &joined["members_count"], &joined["allowed_actions"]),
        (&json!("recruiter"), &json!(2), &json!(["leave"]))
    );
    assert_eq!(roles(&ada.agent, &org_id, &b).await, ["recruiter", "member"]);
    let event = wait_for_event(&ada, "org.member_changed").await;
    assert_eq!(
        (&event["data"]["owner_id"], &event["data"]["resource"]["state"]),
        (&json!(b), &json!("member"))
    );
    let twice = bob.agent.call(ORG, input).await;
    twice.assert_refused(404, "invite_not_found");
    call_next_step(&bob.agent, &twice.body).await;
    let again = ada.agent.call(ORG, invite).await;
    again.assert_refused(409, "already_member");
    let members = call_next_step(&ada.agent, &again.body).await;
    let rows: Vec<_> = members["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|member| (&member["owner_id"], &member["display_name"], &member["trust"]))
        .collect();
    assert_eq!(rows.len(), 2);
    assert!(
        rows.contains(&(&json!(b), &json!("Bob B."), &json!("untrusted_user_content"))),
        "{members:#}"
    );
    let invited = with_field(org_action("members", &org_id), "state", "invited");
    bob.agent.call(ORG, invited.clone()).await.assert_refused(403, "not_permitted");
    assert_eq!(ada.agent.result(ORG, invited).await["items"], json!([]));
    let nobody = ada.agent.call(ORG, member_action("invite_member", &org_id, "own_nobody")).await;
    nobody.assert_refused(404, "owner_not_found");
    call_next_step(&ada.agent, &nobody.body).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_declines_is_not_invited_again_and_invitations_expire() {
    let host = host().await;
    let ((ada, _), (bob, b), (eve, e)) =
        (person(&host).await, person(&host).await, person(&host).await);
    let org_id = create_org(&ada.agent, "Copperleaf").await;
    let invite = |owner_id: &str| member_action("invite_member", &org_id, owner_id);
    ada.agent.result(ORG, invite(&b)).await;
    let declined = bob
        .agent
        .result(ORG, with_field(org_action("respond_invite", &org_id), "decision", "decline"))
        .await;
    assert_eq!(
        (&declined["membership"]["state"], &declined["members_count"]),
        (&json!("declined"), &json!(1))
    );
    let refused = ada.agent.call(ORG, invite(&b)).await;
    refused.assert_refused(409, "recipient_not_accepting");
    call_next_step(&ada.agent, &refused.body).await;

    ada.agent.result(ORG, invite(&e)).await;
    host.advance(13 * DAY).await;
    let mine = json!({ "action": "list_mine" });
    assert_eq!(
        eve.agent.result(ORG, mine.clone()).await["items"][0]["membership"]["state"],
        "invited"
    );
    let withdrawn = ada.agent.result(ORG, member_action("remove_member", &org_id, &e)).await;
    assert_eq!(withdrawn["state"], "withdrawn");
    ada.agent.call(ORG, invite(&e)).await.assert_refused(409, "recipient_not_accepting");

    let (dan, d) = person(&host).await;
    ada.agent.result(ORG, invite(&d)).await;
    host.advance(14 * DAY).await;
    let late = dan
        .agent
        .call(ORG, with_field(org_action("respond_invite", &org_id), "decision", "accept"))
        .await;
    late.assert_refused(404, "invite_not_found");
    let expired = json!({ "action": "list_mine", "state": ["expired"] });
    assert_ne!(dan.agent.result(ORG, expired.clone()).await["items"], json!([]));
    // An expired invitation may be repeated.
    ada.agent.result(ORG, invite(&d)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn people_who_accept_no_contact_are_not_invited() {
    let host = host().await;
    let ((ada, a), (bob, b)) = (person(&host).await, person(&host).await);
    let org_id = create_org(&ada.agent, "Copperleaf").await;
    let refused = async || {
        let refused = ada.agent.call(ORG, member_action("invite_member", &org_id, &b)).await;
        refused.assert_refused(409, "recipient_not_accepting");
        refused.body
    };
    let policy = |policy: &str| json!({ "action": "set_preferences", "contact_policy": policy });
    bob.agent.result("owners", policy("paused")).await;
    let paused = refused().await;
    bob.agent.result("owners", policy("network")).await;
    assert_eq!(refused().await, paused);
    bob.agent.result("owners", policy("anyone_matching")).await;
    let blocks = |owner_id: &str| json!({ "action": "block", "owner_id": owner_id });
    let unblocks = |owner_id: &str| json!({ "action": "unblock", "owner_id": owner_id });
    // After a block, the answer is that for a person who does not exist.
    let told = async |owner_id: &str| {
        let reply = ada.agent.call(ORG, member_action("invite_member", &org_id, owner_id)).await;
        reply.assert_refused(404, "owner_not_found");
        reply.text.replace(owner_id, "it")
    };
    let nobody = told(UNKNOWN_OWNER).await;
    bob.agent.result("social_relationships", blocks(&a)).await;
    assert_eq!(told(&b).await, nobody);
    bob.agent.result("social_relationships", unblocks(&a)).await;
    ada.agent.result("social_relationships", blocks(&b)).await;
    assert_eq!(told(&b).await, nobody);
    ada.agent.result("social_relationships", unblocks(&b)).await;
    bob.agent.result("owners", json!({ "action": "deactivate" })).await;
    assert_eq!(refused().await, paused);
    bob.agent.result("owners", json!({ "action": "reactivate" })).await;
    ada.agent.result(ORG, member_action("invite_member", &org_id, &b)).await;
}

/// Returns the number of events that a reader got about these people's memberships.
async fn count_member_events(reader: &Reader<'_>, people: &[&str]) -> usize {
    let page = reader.page("wait=0&cursor=0&limit=100").await;
    let events = page["events"].as_array().unwrap().iter();
    let ours = events.filter(|event| event["type"] == "org.member_changed");
    ours.filter(|event| people.iter().any(|id| event["data"]["owner_id"] == *id)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_reported_to_an_inviter_who_may_still_see_it() {
    let host = host().await;
    let (ada, _) = person(&host).await;
    let (bob, b) = person(&host).await;
    let mut others = Vec::new();
    for _ in 0..4 {
        others.push(person(&host).await);
    }
    let org_id = create_org(&ada.agent, "Copperleaf").await;
    let respond =
        |decision: &str| with_field(org_action("respond_invite", &org_id), "decision", decision);
    ada.agent
        .result(ORG, with_field(member_action("invite_member", &org_id, &b), "role", "admin"))
        .await;
    bob.agent.result(ORG, respond("accept")).await;
    for (_, id) in &others {
        bob.agent.result(ORG, member_action("invite_member", &org_id, id)).await;
    }
    let [(cy, c), (dee, d), (eve, e), (fay, f)] = others.as_slice() else { unreachable!() };
    cy.agent.result(ORG, respond("accept")).await;
    assert_eq!(count_member_events(&bob, &[c]).await, 1);
    let blocks = |owner_id: &str| json!({ "action": "block", "owner_id": owner_id });
    dee.agent.result("social_relationships", blocks(&b)).await;
    bob.agent.result("social_relationships", blocks(e)).await;
    for person in [dee, eve] {
        person.agent.result(ORG, respond("accept")).await;
    }
    bob.agent.result(ORG, org_action("leave", &org_id)).await;
    fay.agent.result(ORG, respond("accept")).await;
    assert_eq!(count_member_events(&bob, &[d, e, f]).await, 0);
    let org = ada.agent.result(ORG, org_action("get", &org_id)).await;
    assert_eq!(org["members_count"], 5);
}
