//! The notices to people who wait for somebody: a person is told nothing that they could not be told
//! without the other side learning that.

use crate::cases::personal::erase;
use crate::harness::{
    Host,
    conversations::wait_until,
    inbox::ids,
    listings::{CAPABILITIES, Lister, room},
    pairings::{Party, connected_pair, event_types, host},
    time::DAY,
};
use serde_json::{Value, json};
use std::time::Duration;

/// The number of test mode with which every agent is claimed for the same person.
const SHARED_NUMBER: &str = "+14155550115";
const CONVERSATIONS: &str = "conversations";

/// Returns the events about pairings of these types.
fn of_type<'e>(events: &'e [Value], event_type: &str) -> Vec<&'e Value> {
    events.iter().filter(|event| event["type"] == event_type).map(|event| &event["data"]).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_is_told_that_the_other_side_has_no_agent_and_that_it_is_back() {
    let host = host().await;
    let seeker = Party::seeker(&host).await;
    let landlord = Party::with(&host, SHARED_NUMBER, room(json!({}))).await;
    let pairing = seeker.propose(&landlord).await;
    landlord.reply(&pairing, "accept").await;
    let before = seeker.get(&pairing).await;
    assert_eq!(before["counterpart_reachable"], true, "{before:#}");

    let unbind = json!({ "action": "unbind", "confirm": true });
    landlord.lister.agent().result("svc.phone-binding", unbind).await;
    let events = seeker.wait_for_events(3).await;
    assert_eq!(events[2]["type"], "pairing.counterpart_changed", "{events:#?}");
    assert_eq!(events[2]["data"]["counterpart_reachable"], false);
    assert_eq!(seeker.get(&pairing).await["counterpart_reachable"], false);
    let send =
        json!({ "action": "send", "thread_id": before["thread_id"], "text": "Are you there?" });
    let sent = seeker.lister.agent().result(CONVERSATIONS, send).await;
    assert_eq!((&sent["counterpart_reachable"], &sent["seq"]), (&json!(false), &json!(1)));

    let back = Lister::with(&host, SHARED_NUMBER).await;
    assert_eq!(back.id, landlord.id());
    let events = seeker.wait_for_events(4).await;
    assert_eq!(events[3]["type"], "pairing.counterpart_changed", "{events:#?}");
    assert_eq!(events[3]["data"]["counterpart_reachable"], true);
    let read = json!({ "action": "messages", "thread_id": before["thread_id"] });
    let read = back.agent().result(CONVERSATIONS, read).await;
    assert_eq!(read["items"][0]["text"], "Are you there?", "{read:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_suspension_and_an_erasure_are_told_without_their_reason() {
    let host = host().await;
    let (seeker, landlord, pairing) = connected_pair(&host).await;
    let deactivate = json!({ "action": "deactivate" });
    landlord.lister.agent().result("owners", deactivate).await;
    let events = seeker.wait_for_events(3).await;
    let told = of_type(&events, "pairing.counterpart_changed");
    assert_eq!(told[0]["counterpart_reachable"], false, "{events:#?}");
    assert_eq!(told[0]["actor"]["kind"], "system", "{events:#?}");

    assert_eq!(erase(&host, landlord.id()).await.status, 200);
    host.advance(DAY).await;
    seeker.wait_for_state(&pairing, "cancelled").await;
    let events = seeker.wait_for_events(4).await;
    let told = of_type(&events, "pairing.cancelled");
    assert_eq!((told.len(), told[0].get("reason")), (1, None), "{events:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_ends_what_others_wait_for_and_keeps_what_they_wrote() {
    let host = host().await;
    let (seeker, landlord, pairing) = connected_pair(&host).await;
    let waiting = Party::seeker(&host).await;
    let proposal = waiting.propose(&landlord).await;
    let text = waiting.get(&proposal).await["messages"][0]["text"].clone();
    assert_eq!(erase(&host, landlord.id()).await.status, 200);
    seeker.wait_for_state(&pairing, "cancelled").await;
    waiting.wait_for_state(&proposal, "expired").await;
    assert_eq!(waiting.funds().await, (20, 0));
    let kept = waiting.get(&proposal).await;
    assert_eq!((&kept["messages"][0]["text"], &kept["to_listing_id"]), (&text, &json!("")));
    assert_eq!(kept["from_listing_id"], waiting.listing.as_str());
    host.wait_until_settled().await;
    let with_listing = format!(
        "SELECT id FROM documents WHERE body LIKE '%{0}%' OR (id LIKE '%{0}%' AND body IS NOT NULL)",
        landlord.listing
    );
    assert_eq!(host.database().texts(&with_listing).await, [""; 0]);
    let events = seeker.wait_for_events(3).await;
    assert_eq!(of_type(&events, "pairing.cancelled").len(), 1, "{events:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proposer_is_told_of_a_material_change_and_withdraws_without_a_cost() {
    let host = host().await;
    let (seeker, landlord) = (Party::seeker(&host).await, Party::landlord(&host).await);
    let pairing = seeker.propose(&landlord).await;
    landlord.reply(&pairing, "ask").await;
    for patch in [
        json!({ "description": "A room with a desk." }),
        json!({ "compensation": { "min": 1500, "max": 1500 } }),
    ] {
        let update = json!({ "listing_id": landlord.listing, "patch": patch });
        landlord.lister.result("update", update).await;
    }
    let events = seeker.wait_for_events(2).await;
    assert_eq!(event_types(&events), ["pairing.replied", "pairing.listing_changed"]);
    assert_eq!(events[1]["data"]["changed"], json!(["compensation"]), "{events:#?}");
    let view = seeker.get(&pairing).await;
    let change = &view["listing_changes"][0];
    assert_eq!(
        (&change["field"], &change["before"]["max"], &change["after"]["max"]),
        (&json!("compensation"), &json!(1400.0), &json!(1500.0))
    );
    assert_eq!(landlord.get(&pairing).await["listing_changes"], json!([]));
    seeker.call_on_ok("withdraw", &pairing, json!({})).await;
    assert_eq!(seeker.ledger(&pairing).await, ["hold", "release"]);
    assert_eq!(seeker.funds().await, (20, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn each_end_of_a_listing_is_told_to_those_who_wait_and_to_those_who_are_connected() {
    let host = host().await;
    for (action, reason) in [("mark_filled", "listing_filled"), ("withdraw", "listing_withdrawn")] {
        let (connected, landlord, pairing) = connected_pair(&host).await;
        let waiting = Party::seeker(&host).await;
        let proposal = waiting.propose(&landlord).await;
        landlord.lister.call_on(action, &landlord.listing).await;
        waiting.wait_for_state(&proposal, "expired").await;
        let events = waiting.wait_for_events(1).await;
        assert_eq!(events[0]["data"]["reason"], reason, "{events:#?}");
        assert_eq!(waiting.get(&proposal).await["reason"], reason);
        assert_eq!(waiting.funds().await, (20, 0));
        let events = connected.wait_for_events(3).await;
        let told = of_type(&events, "pairing.listing_ended");
        assert_eq!((told.len(), &told[0]["reason"]), (1, &json!(reason)), "{events:#?}");
        let view = connected.get(&pairing).await;
        assert_eq!(
            (&view["state"], &view["other"]["listing_active"]),
            (&json!("connected"), &json!(false))
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retracted_message_is_in_no_event_and_no_replay() {
    let more = ["agent_credits", "conversations", "pairings", "svc_events"];
    let host = Host::with(&[&CAPABILITIES[..], &more].concat()).await;
    let start = host.instant_after(Duration::ZERO);
    let (seeker, landlord, pairing) = connected_pair(&host).await;
    let thread_id = seeker.get(&pairing).await["thread_id"].clone();
    let call = async |party: &Party<'_>, body: Value| {
        party.lister.agent().result(CONVERSATIONS, body).await
    };
    let text = "a secret that is taken back";
    let send = json!({ "action": "send", "thread_id": thread_id, "text": text });
    let sent = call(&seeker, send).await;
    call(&seeker, json!({ "action": "retract", "message_id": sent["message_id"] })).await;
    let inbox = landlord.reader().page("wait=0&cursor=0&limit=100").await;
    assert!(inbox.to_string().contains("conversation.message"), "{inbox:#}");
    landlord.reader().acknowledge(&ids(&inbox)).await;
    let replay = json!({ "action": "replay", "since": start });
    let replayed = landlord.lister.agent().result("svc.events", replay).await;
    assert!(replayed["events"].as_u64().unwrap() > 0, "{replayed:#}");
    let again = landlord.reader().page("wait=0&cursor=0&limit=100").await;
    assert!(again.to_string().contains("conversation.message"), "{again:#}");
    let read = call(&landlord, json!({ "action": "messages", "thread_id": thread_id })).await;
    assert_eq!(read["items"][0]["state"], "retracted", "{read:#}");
    for answer in [inbox, again, read] {
        assert!(!answer.to_string().contains(text), "{answer:#}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_closed_conversation_closes_its_pairing_for_messages_even_if_it_is_muted() {
    let host = host().await;
    let (seeker, landlord, pairing) = connected_pair(&host).await;
    let thread_id = seeker.get(&pairing).await["thread_id"].clone();
    let mute = json!({ "action": "mute", "thread_id": thread_id });
    seeker.lister.agent().result(CONVERSATIONS, mute).await;
    let close = json!({ "action": "close", "thread_id": thread_id });
    landlord.lister.agent().result(CONVERSATIONS, close).await;
    wait_until("no message is allowed", async || {
        seeker.get(&pairing).await["allowed_actions"] == json!(["disclose", "close"])
    })
    .await;
    let refused = seeker.call_on("message", &pairing, json!({ "message": "Hello?" })).await;
    refused.assert_refused(409, "thread_closed");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proposal_to_an_organisation_reaches_a_member_without_a_block() {
    let host = host().await;
    let (seeker, ada) = (Party::seeker(&host).await, Party::landlord(&host).await);
    let bob = Party::landlord(&host).await;
    let call_org =
        async |by: &Party<'_>, body: Value| by.lister.agent().result("social_org", body).await;
    let create = json!({ "action": "create", "name": "Copperleaf", "kind": "landlord" });
    let org_id = call_org(&ada, create).await["org_id"].clone();
    let invite = json!({ "action": "invite_member", "org_id": org_id, "owner_id": bob.id(), "role": "recruiter" });
    call_org(&ada, invite).await;
    call_org(&bob, json!({ "action": "respond_invite", "org_id": org_id, "decision": "accept" }))
        .await;
    let listing = bob.lister.create_listing(json!({ "as_org": org_id })).await;
    bob.lister.relate("block", &seeker.lister).await;
    host.wait_until_settled().await;
    let reply = seeker.call_propose_to(&listing).await;
    assert_eq!(reply.status, 200, "{}", reply.text);
    assert_eq!(reply.body["result"]["other"]["owner_id"], ada.id());
    seeker.call_propose_to(&bob.listing).await.assert_refused(404, "listing_not_found");
}
