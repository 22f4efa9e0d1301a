//! `pairings` from the proposal to the end: what each person sees, and what is refused.

use crate::harness::{
    Reply,
    listings::{follow, room},
    pairings::{PAIRINGS, Party, connected, host, types, wanted},
};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn a_pairing_from_the_proposal_to_the_end() {
    let host = host().await;
    let (seeker, landlord) = (Party::seeks(&host).await, Party::lets(&host).await);
    let pairing = seeker.proposes(&landlord).await;
    let theirs = landlord.gets(&pairing).await;
    assert_eq!(theirs["state"], "proposed");
    assert_eq!(theirs["allowed_actions"], json!(["reply"]));
    assert_eq!(theirs["other"]["listing"]["title"], "Looking for a room");
    assert_eq!(theirs["messages"][0]["text"], "May I see the room?");
    assert_eq!(theirs["messages"][0]["trust"], "untrusted_user_content");
    assert!(theirs.get("cost_credits").is_none(), "{theirs:#}");

    let asked = landlord.replies(&pairing, "ask").await;
    assert_eq!((&asked["state"], &asked["questions_left"]), (&json!("clarifying"), &json!(1)));
    let answer = json!({ "message": "At least a year." });
    let answered = seeker.did("message", &pairing, answer).await;
    assert_eq!(
        (&answered["message"], &answered["pairing"]["state"]),
        (&Value::Null, &json!("proposed"))
    );
    let yes = json!({ "decision": "accept", "message": "Come on Friday." });
    let accepted = landlord.did("reply", &pairing, yes).await;
    assert_eq!(accepted["state"], "connected");
    let thread = accepted["thread_id"].clone();
    let posted = seeker.did("message", &pairing, json!({ "message": "See you then." })).await;
    assert_eq!(posted["message"]["thread_id"], thread, "{posted:#}");
    let read = json!({ "action": "messages", "thread_id": thread });
    let read = landlord.lister.agent().result("conversations", read).await;
    assert_eq!(read["items"][0]["text"], "See you then.", "{read:#}");

    let fields = json!({ "fields": ["phone"] });
    let pending = seeker.did("disclose", &pairing, fields.clone()).await;
    assert_eq!(pending["disclosure"], "pending");
    assert_eq!(landlord.gets(&pairing).await["disclosed"]["theirs"], json!(["phone"]));
    let exchanged = landlord.did("disclose", &pairing, fields).await;
    assert_eq!(exchanged["disclosure"], "exchanged");
    assert_eq!(seeker.gets(&pairing).await["contact"]["phone"], "+14155550100");
    let closed = seeker.did("close", &pairing, json!({ "outcome": "leased" })).await;
    assert_eq!((&closed["state"], &closed["outcome"]), (&json!("closed"), &json!("leased")));
    let thread = json!({ "action": "get", "thread_id": thread });
    let thread = landlord.lister.agent().result("conversations", thread).await;
    assert_eq!(thread["state"], "closed", "{thread:#}");

    let told = seeker.told(5).await;
    let ends = ["pairing.connected", "pairing.contact_exchanged", "pairing.closed"];
    assert_eq!(types(&told), [&["pairing.replied", "pairing.replied"], &ends[..]].concat());
    assert_eq!(told[0]["data"]["decision"], "ask");
    assert_eq!(told[1]["data"]["decision"], "accept");
    assert_eq!(told[1]["data"]["thread_id"], accepted["thread_id"]);
    let told = landlord.told(5).await;
    assert_eq!(types(&told), [&["pairing.proposed", "pairing.message"], &ends[..]].concat());
    assert_eq!(told[0]["data"]["from_listing_id"], *seeker.listing);
    assert!(told[0]["data"]["expires_at"].is_string(), "{:#}", told[0]);
    assert_eq!(told[2]["data"]["origin"], "proposal");
    assert_eq!(told[3]["data"]["fields"], json!(["phone"]));
    assert_eq!(told[4]["data"]["outcome"], "leased");
    for event in told.iter().chain(&seeker.told(5).await) {
        assert_eq!(event["data"]["resource"]["id"], *pairing, "{event:#}");
        let next = &event["data"]["next"];
        let step = landlord
            .lister
            .agent()
            .call(next["capability"].as_str().unwrap(), next["input"].clone());
        assert_eq!(step.await.status, 200, "{next:#}");
    }
}

/// Asserts that a call is refused, and that the next step of the refusal can be called.
async fn refused(by: &Party<'_>, reply: Reply, status: u16, code: &str) -> Reply {
    reply.refused(status, code);
    follow(by.lister.agent(), &reply).await;
    reply
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_proposals_are_refused() {
    let host = host().await;
    let (seeker, landlord) = (Party::seeks(&host).await, Party::lets(&host).await);
    let other = Party::seeks(&host).await;
    let nowhere = "lst_01JZX8Q4M2N6P7R8S9T0V1W2X3";
    refused(&seeker, seeker.tries_listing(nowhere).await, 404, "listing_not_found").await;
    refused(&seeker, seeker.tries(&other).await, 422, "category_mismatch").await;
    let own = seeker.lister.lists(json!({})).await;
    refused(&seeker, seeker.tries_listing(&own).await, 422, "self_pairing").await;
    let of = |from: &str| json!({ "from_listing_id": from, "to_listing_id": landlord.listing, "message": "Hello" });
    let reply = seeker.call("propose", of(&other.listing)).await;
    refused(&seeker, reply, 403, "not_owner").await;
    refused(&seeker, seeker.call("propose", of(nowhere)).await, 404, "listing_not_found").await;
    let mut mail = of(&seeker.listing);
    mail["message"] = json!("Write to ada@mail.example");
    seeker.call("propose", mail).await.refused(422, "contact_in_text");
    let mut blank = of(&seeker.listing);
    blank["message"] = json!("  ");
    seeker.call("propose", blank).await.refused(400, "validation_failed");

    // Only people who are connected with its owner see this listing.
    let network = landlord.lister.lists(json!({ "visibility": "network" })).await;
    refused(&seeker, seeker.tries_listing(&network).await, 404, "listing_not_found").await;
    landlord.lister.does("pause", &network).await;
    seeker.lister.ties("connect", &landlord.lister).await;
    landlord.lister.ties("accept", &seeker.lister).await;
    refused(&seeker, seeker.tries_listing(&network).await, 404, "listing_not_found").await;
    landlord.lister.does("resume", &network).await;
    assert_eq!(seeker.tries_listing(&network).await.status, 200);

    seeker.lister.does("pause", &seeker.listing).await;
    refused(&seeker, seeker.tries(&landlord).await, 409, "listing_not_active").await;
    seeker.lister.does("resume", &seeker.listing).await;
    let mut rehearsal = of(&seeker.listing);
    rehearsal["dry_run"] = json!(true);
    assert_eq!(seeker.call("propose", rehearsal).await.status, 200);
    let pairing = seeker.proposes(&landlord).await;
    for (by, to) in [(&seeker, &landlord), (&landlord, &seeker)] {
        let again = refused(by, by.tries(to).await, 409, "pairing_exists").await;
        assert_eq!(again.body["conflict"]["existing_id"], *pairing);
    }
    landlord.replies(&pairing, "decline").await;
    let cooling = refused(&seeker, seeker.tries(&landlord).await, 409, "cooldown_active").await;
    assert_eq!(cooling.body["retryable"], true);
    assert_eq!(landlord.tries(&seeker).await.status, 200, "the cooldown is one-sided");
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_that_a_pairing_does_not_allow_are_refused() {
    let host = host().await;
    let (seeker, landlord) = (Party::seeks(&host).await, Party::lets(&host).await);
    let stranger = Party::seeks(&host).await;
    let pairing = seeker.proposes(&landlord).await;
    for (action, fields) in [
        ("get", json!({})),
        ("withdraw", json!({})),
        ("reply", json!({ "decision": "accept" })),
        ("message", json!({ "message": "Hello" })),
        ("disclose", json!({ "fields": ["phone"] })),
        ("close", json!({ "outcome": "met" })),
    ] {
        let reply = stranger.does(action, &pairing, fields).await;
        refused(&stranger, reply, 404, "pairing_not_found").await;
    }
    let accept = json!({ "decision": "accept" });
    let reply = seeker.does("reply", &pairing, accept.clone()).await;
    refused(&seeker, reply, 403, "not_permitted").await;
    let reply = landlord.does("withdraw", &pairing, json!({})).await;
    refused(&landlord, reply, 403, "not_permitted").await;
    for by in [&seeker, &landlord] {
        let reply = by.does("message", &pairing, json!({ "message": "Hello" })).await;
        refused(by, reply, 409, "pairing_not_connected").await;
        let reply = by.does("disclose", &pairing, json!({ "fields": ["phone"] })).await;
        refused(by, reply, 409, "disclosure_not_allowed").await;
        let reply = by.does("close", &pairing, json!({ "outcome": "met" })).await;
        let reply = refused(by, reply, 409, "invalid_transition").await;
        let allowed = by.gets(&pairing).await["allowed_actions"].clone();
        assert_eq!(reply.body["conflict"]["allowed_actions"], allowed);
    }
    let reply = landlord.does("reply", &pairing, json!({ "decision": "ask" })).await;
    reply.refused(400, "validation_failed");
    assert_eq!(reply.body["conflict"]["errors"][0]["pointer"], "/message");
    let stale = json!({ "decision": "decline", "expected_version": 99 });
    let reply = landlord.does("reply", &pairing, stale).await;
    let reply = refused(&landlord, reply, 409, "version_conflict").await;
    assert_eq!(reply.body["conflict"]["current"]["pairing_id"], *pairing);

    for _ in 0..2 {
        landlord.replies(&pairing, "ask").await;
        let again = json!({ "decision": "ask", "message": "And?" });
        let reply = landlord.does("reply", &pairing, again).await;
        reply.refused(409, "invalid_transition");
        seeker.did("message", &pairing, json!({ "message": "A year." })).await;
    }
    let third = json!({ "decision": "ask", "message": "And?" });
    let reply = landlord.does("reply", &pairing, third).await;
    refused(&landlord, reply, 409, "question_limit").await;
    landlord.replies(&pairing, "accept").await;
    let reply = landlord.does("reply", &pairing, accept).await;
    refused(&landlord, reply, 409, "invalid_transition").await;
    let reply = seeker.does("withdraw", &pairing, json!({})).await;
    refused(&seeker, reply, 409, "invalid_transition").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_proposals_is_limited() {
    let host = host().await;
    let landlord = Party::lets(&host).await;
    let mut seekers = Vec::new();
    for _ in 0..11 {
        seekers.push(Party::seeks(&host).await);
    }
    let mut pairings = Vec::new();
    for seeker in &seekers[..10] {
        pairings.push(landlord.proposes(seeker).await);
    }
    let reply = landlord.tries(&seekers[10]).await;
    let reply = refused(&landlord, reply, 429, "quota_exceeded").await;
    assert_eq!(reply.body["conflict"]["name"], "open_proposals_of_a_listing");
    // As soon as a proposal is over, another one can be made.
    landlord.did("withdraw", &pairings[0], json!({})).await;
    landlord.proposes(&seekers[10]).await;

    let another = landlord.lister.lists(json!({})).await;
    let propose = |to: &str| {
        let fields = json!({ "from_listing_id": another, "to_listing_id": to, "message": "Hello" });
        landlord.call("propose", fields)
    };
    for seeker in &seekers[..9] {
        assert_eq!(propose(&seeker.listing).await.status, 200);
    }
    let reply = propose(&seekers[9].listing).await;
    let reply = refused(&landlord, reply, 429, "quota_exceeded").await;
    assert_eq!(reply.body["conflict"]["name"], "proposals_per_day");
    assert!(reply.body["next"]["after_s"].as_u64().unwrap() > 86_000, "{}", reply.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_show_both_roles_page_by_page() {
    let host = host().await;
    let (landlord, seeker) = (Party::lets(&host).await, Party::seeks(&host).await);
    let other = Party::with(&host, "+14155550101", wanted()).await;
    let first = seeker.proposes(&landlord).await;
    let second = other.proposes(&landlord).await;
    landlord.replies(&first, "decline").await;
    let third = landlord.lister.lists(json!({})).await;
    let fields =
        json!({ "from_listing_id": third, "to_listing_id": seeker.listing, "message": "Hi" });
    let third = landlord.result("propose", fields).await["pairing_id"].clone();
    let ids = async |filter: Value| {
        let items = landlord.result("list", filter).await["items"].clone();
        let items = items.as_array().unwrap().iter();
        items.map(|pairing| pairing["pairing_id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let third = third.as_str().unwrap();
    assert_eq!(ids(json!({})).await, [third, &first, &second]);
    assert_eq!(ids(json!({ "role": "sent" })).await, [third]);
    assert_eq!(ids(json!({ "role": "received" })).await, [&*first, &second]);
    assert_eq!(ids(json!({ "state": ["proposed"] })).await, [third, &second]);
    let page = landlord.result("list", json!({ "limit": 1 })).await;
    assert_eq!(ids(json!({ "limit": 1, "cursor": page["next_cursor"] })).await, [&*first]);
    let nobody = host.test_agent().await;
    let listed = nobody.call(PAIRINGS, json!({ "action": "list" })).await;
    assert_eq!(listed.body["result"]["items"], json!([]));
    assert_eq!(listed.body["next"]["capability"], "svc.phone-binding");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_date_costs_more_and_is_for_adults() {
    let host = host().await;
    let date = |visibility: &str| {
        let mut date = room(json!({
            "category": "social.date", "side": "demand", "title": "A walk", "visibility": visibility,
            "attributes": { "aims": ["open"], "gender": "woman", "seeking": ["man"], "age": 34 },
        }));
        date.as_object_mut().unwrap().remove("compensation");
        date
    };
    let one = Party::with(&host, "+14155550101", date("unlisted")).await;
    let other = Party::with(&host, "+14155550102", date("unlisted")).await;
    one.proposes(&other).await;
    assert_eq!(one.funds().await, (18, 2));
    // A person who has removed their year of birth does not count as an adult.
    let ageless = json!({ "action": "update_profile", "birth_year": null });
    other.lister.agent().result("owners", ageless).await;
    let third = Party::with(&host, "+14155550103", date("unlisted")).await;
    other.tries(&third).await.refused(403, "age_restricted");
    refused(&third, third.tries(&other).await, 409, "recipient_not_accepting").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pairing_is_visible_to_its_two_people_only() {
    let host = host().await;
    let (seeker, _landlord, pairing) = connected(&host).await;
    let nobody = host.test_agent().await;
    let get = json!({ "action": "get", "pairing_id": pairing });
    nobody.call(PAIRINGS, get).await.refused(404, "pairing_not_found");
    let listed = seeker.result("list", json!({})).await;
    assert!(listed["items"][0].get("contact").is_none(), "{listed:#}");
}
