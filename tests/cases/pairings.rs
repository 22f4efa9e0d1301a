//! `pairings` from the proposal to the end: what each person sees, and what is refused.

use crate::harness::{
    Reply,
    listings::{correct_birth_year, date, follow_next_step},
    pairings::{PAIRINGS, Party, connected_pair, event_types, host, wanted_room},
};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn a_pairing_from_the_proposal_to_the_end() {
    let host = host().await;
    let (seeker, landlord) = (Party::seeker(&host).await, Party::landlord(&host).await);
    let pairing = seeker.propose(&landlord).await;
    let theirs = landlord.get(&pairing).await;
    assert_eq!(theirs["state"], "proposed");
    assert_eq!(theirs["allowed_actions"], json!(["reply"]));
    assert_eq!(theirs["other"]["listing"]["title"], "Looking for a room");
    assert_eq!(theirs["messages"][0]["text"], "May I see the room?");
    assert_eq!(theirs["messages"][0]["trust"], "untrusted_user_content");
    assert!(theirs.get("cost_credits").is_none(), "{theirs:#}");

    let asked = landlord.reply(&pairing, "ask").await;
    assert_eq!((&asked["state"], &asked["questions_left"]), (&json!("clarifying"), &json!(1)));
    let answer = json!({ "message": "At least a year." });
    let answered = seeker.call_on_ok("message", &pairing, answer).await;
    assert_eq!(
        (&answered["message"], &answered["pairing"]["state"]),
        (&Value::Null, &json!("proposed"))
    );
    let yes = json!({ "decision": "accept", "message": "Come on Friday." });
    let accepted = landlord.call_on_ok("reply", &pairing, yes).await;
    assert_eq!(accepted["state"], "connected");
    let thread = accepted["thread_id"].clone();
    let posted =
        seeker.call_on_ok("message", &pairing, json!({ "message": "See you then." })).await;
    assert_eq!(posted["message"]["thread_id"], thread, "{posted:#}");
    let read = json!({ "action": "messages", "thread_id": thread });
    let read = landlord.lister.agent().result("conversations", read).await;
    assert_eq!(read["items"][0]["text"], "See you then.", "{read:#}");

    let fields = json!({ "fields": ["phone"] });
    let pending = seeker.call_on_ok("disclose", &pairing, fields.clone()).await;
    assert_eq!(pending["disclosure"], "pending");
    assert_eq!(landlord.get(&pairing).await["disclosed"]["theirs"], json!(["phone"]));
    let exchanged = landlord.call_on_ok("disclose", &pairing, fields).await;
    assert_eq!(exchanged["disclosure"], "exchanged");
    assert_eq!(seeker.get(&pairing).await["contact"]["phone"], "+14155550100");
    let closed = seeker.call_on_ok("close", &pairing, json!({ "outcome": "leased" })).await;
    assert_eq!((&closed["state"], &closed["outcome"]), (&json!("closed"), &json!("leased")));
    let thread = json!({ "action": "get", "thread_id": thread });
    let thread = landlord.lister.agent().result("conversations", thread).await;
    assert_eq!(thread["state"], "closed", "{thread:#}");

    let events = seeker.wait_for_events(5).await;
    let ends = ["pairing.connected", "pairing.contact_exchanged", "pairing.closed"];
    assert_eq!(event_types(&events), [&["pairing.replied", "pairing.replied"], &ends[..]].concat());
    assert_eq!(events[0]["data"]["decision"], "ask");
    assert_eq!(events[1]["data"]["decision"], "accept");
    assert_eq!(events[1]["data"]["thread_id"], accepted["thread_id"]);
    let events = landlord.wait_for_events(5).await;
    assert_eq!(
        event_types(&events),
        [&["pairing.proposed", "pairing.message"], &ends[..]].concat()
    );
    assert_eq!(events[0]["data"]["from_listing_id"], *seeker.listing);
    assert!(events[0]["data"]["expires_at"].is_string(), "{:#}", events[0]);
    assert_eq!(events[2]["data"]["origin"], "proposal");
    assert_eq!(events[3]["data"]["fields"], json!(["phone"]));
    assert_eq!(events[4]["data"]["outcome"], "leased");
    for event in events.iter().chain(&seeker.wait_for_events(5).await) {
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
async fn assert_refused_with_next_step(
    by: &Party<'_>,
    reply: Reply,
    status: u16,
    code: &str,
) -> Reply {
    reply.assert_refused(status, code);
    follow_next_step(by.lister.agent(), &reply).await;
    reply
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_proposals_are_refused() {
    let host = host().await;
    let (seeker, landlord) = (Party::seeker(&host).await, Party::landlord(&host).await);
    let other = Party::seeker(&host).await;
    let nowhere = "lst_01JZX8Q4M2N6P7R8S9T0V1W2X3";
    assert_refused_with_next_step(
        &seeker,
        seeker.call_propose_to(nowhere).await,
        404,
        "listing_not_found",
    )
    .await;
    assert_refused_with_next_step(
        &seeker,
        seeker.call_propose(&other).await,
        422,
        "category_mismatch",
    )
    .await;
    let own = seeker.lister.create_listing(json!({})).await;
    assert_refused_with_next_step(&seeker, seeker.call_propose_to(&own).await, 422, "self_pairing")
        .await;
    let of = |from: &str| json!({ "from_listing_id": from, "to_listing_id": landlord.listing, "message": "Hello" });
    let reply = seeker.call("propose", of(&other.listing)).await;
    assert_refused_with_next_step(&seeker, reply, 403, "not_owner").await;
    assert_refused_with_next_step(
        &seeker,
        seeker.call("propose", of(nowhere)).await,
        404,
        "listing_not_found",
    )
    .await;
    let mut mail = of(&seeker.listing);
    mail["message"] = json!("Write to ada@mail.example");
    seeker.call("propose", mail).await.assert_refused(422, "contact_in_text");
    let mut blank = of(&seeker.listing);
    blank["message"] = json!("  ");
    seeker.call("propose", blank).await.assert_refused(400, "validation_failed");

    // Only people who are connected with its owner see this listing.
    let network = landlord.lister.create_listing(json!({ "visibility": "network" })).await;
    assert_refused_with_next_step(
        &seeker,
        seeker.call_propose_to(&network).await,
        404,
        "listing_not_found",
    )
    .await;
    landlord.lister.call_on("pause", &network).await;
    seeker.lister.relate("connect", &landlord.lister).await;
    landlord.lister.relate("accept", &seeker.lister).await;
    assert_refused_with_next_step(
        &seeker,
        seeker.call_propose_to(&network).await,
        404,
        "listing_not_found",
    )
    .await;
    landlord.lister.call_on("resume", &network).await;
    assert_eq!(seeker.call_propose_to(&network).await.status, 200);

    seeker.lister.call_on("pause", &seeker.listing).await;
    assert_refused_with_next_step(
        &seeker,
        seeker.call_propose(&landlord).await,
        409,
        "listing_not_active",
    )
    .await;
    seeker.lister.call_on("resume", &seeker.listing).await;
    let mut rehearsal = of(&seeker.listing);
    rehearsal["dry_run"] = json!(true);
    assert_eq!(seeker.call("propose", rehearsal).await.status, 200);
    let pairing = seeker.propose(&landlord).await;
    for (by, to) in [(&seeker, &landlord), (&landlord, &seeker)] {
        let again =
            assert_refused_with_next_step(by, by.call_propose(to).await, 409, "pairing_exists")
                .await;
        assert_eq!(again.body["conflict"]["existing_id"], *pairing);
    }
    landlord.reply(&pairing, "decline").await;
    let cooling = assert_refused_with_next_step(
        &seeker,
        seeker.call_propose(&landlord).await,
        409,
        "cooldown_active",
    )
    .await;
    assert_eq!(cooling.body["retryable"], true);
    assert_eq!(landlord.call_propose(&seeker).await.status, 200, "the cooldown is one-sided");
}

#[tokio::test(flavor = "multi_thread")]
async fn actions_that_a_pairing_does_not_allow_are_refused() {
    let host = host().await;
    let (seeker, landlord) = (Party::seeker(&host).await, Party::landlord(&host).await);
    let stranger = Party::seeker(&host).await;
    let pairing = seeker.propose(&landlord).await;
    for (action, fields) in [
        ("get", json!({})),
        ("withdraw", json!({})),
        ("reply", json!({ "decision": "accept" })),
        ("message", json!({ "message": "Hello" })),
        ("disclose", json!({ "fields": ["phone"] })),
        ("close", json!({ "outcome": "met" })),
    ] {
        let reply = stranger.call_on(action, &pairing, fields).await;
        assert_refused_with_next_step(&stranger, reply, 404, "pairing_not_found").await;
    }
    let accept = json!({ "decision": "accept" });
    let reply = seeker.call_on("reply", &pairing, accept.clone()).await;
    assert_refused_with_next_step(&seeker, reply, 403, "not_permitted").await;
    let reply = landlord.call_on("withdraw", &pairing, json!({})).await;
    assert_refused_with_next_step(&landlord, reply, 403, "not_permitted").await;
    for by in [&seeker, &landlord] {
        let reply = by.call_on("message", &pairing, json!({ "message": "Hello" })).await;
        assert_refused_with_next_step(by, reply, 409, "pairing_not_connected").await;
        let reply = by.call_on("disclose", &pairing, json!({ "fields": ["phone"] })).await;
        assert_refused_with_next_step(by, reply, 409, "disclosure_not_allowed").await;
        let reply = by.call_on("close", &pairing, json!({ "outcome": "met" })).await;
        let reply = assert_refused_with_next_step(by, reply, 409, "invalid_transition").await;
        let allowed = by.get(&pairing).await["allowed_actions"].clone();
        assert_eq!(reply.body["conflict"]["allowed_actions"], allowed);
    }
    let reply = landlord.call_on("reply", &pairing, json!({ "decision": "ask" })).await;
    reply.assert_refused(400, "validation_failed");
    assert_eq!(reply.body["conflict"]["errors"][0]["pointer"], "/message");
    let stale = json!({ "decision": "decline", "expected_version": 99 });
    let reply = landlord.call_on("reply", &pairing, stale).await;
    let reply = assert_refused_with_next_step(&landlord, reply, 409, "version_conflict").await;
    assert_eq!(reply.body["conflict"]["current"]["pairing_id"], *pairing);

    for _ in 0..2 {
        landlord.reply(&pairing, "ask").await;
        let again = json!({ "decision": "ask", "message": "And?" });
        let reply = landlord.call_on("reply", &pairing, again).await;
        reply.assert_refused(409, "invalid_transition");
        seeker.call_on_ok("message", &pairing, json!({ "message": "A year." })).await;
    }
    let third = json!({ "decision": "ask", "message": "And?" });
    let reply = landlord.call_on("reply", &pairing, third).await;
    assert_refused_with_next_step(&landlord, reply, 409, "question_limit").await;
    landlord.reply(&pairing, "accept").await;
    let reply = landlord.call_on("reply", &pairing, accept).await;
    assert_refused_with_next_step(&landlord, reply, 409, "invalid_transition").await;
    let reply = seeker.call_on("withdraw", &pairing, json!({})).await;
    assert_refused_with_next_step(&seeker, reply, 409, "invalid_transition").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_number_of_proposals_is_limited() {
    let host = host().await;
    let landlord = Party::landlord(&host).await;
    let mut seekers = Vec::new();
    for _ in 0..11 {
        seekers.push(Party::seeker(&host).await);
    }
    let mut pairings = Vec::new();
    for seeker in &seekers[..10] {
        pairings.push(landlord.propose(seeker).await);
    }
    let reply = landlord.call_propose(&seekers[10]).await;
    let reply = assert_refused_with_next_step(&landlord, reply, 429, "quota_exceeded").await;
    assert_eq!(reply.body["conflict"]["name"], "open_proposals_of_a_listing");
    // As soon as a proposal is over, another one can be made.
    landlord.call_on_ok("withdraw", &pairings[0], json!({})).await;
    landlord.propose(&seekers[10]).await;

    let another = landlord.lister.create_listing(json!({})).await;
    let propose = |to: &str| {
        let fields = json!({ "from_listing_id": another, "to_listing_id": to, "message": "Hello" });
        landlord.call("propose", fields)
    };
    for seeker in &seekers[..9] {
        assert_eq!(propose(&seeker.listing).await.status, 200);
    }
    let reply = propose(&seekers[9].listing).await;
    let reply = assert_refused_with_next_step(&landlord, reply, 429, "quota_exceeded").await;
    assert_eq!(reply.body["conflict"]["name"], "proposals_per_day");
    assert!(reply.body["next"]["after_s"].as_u64().unwrap() > 86_000, "{}", reply.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_show_both_roles_page_by_page() {
    let host = host().await;
    let (landlord, seeker) = (Party::landlord(&host).await, Party::seeker(&host).await);
    let other = Party::with(&host, "+14155550101", wanted_room()).await;
    let first = seeker.propose(&landlord).await;
    let second = other.propose(&landlord).await;
    landlord.reply(&first, "decline").await;
    let third = landlord.lister.create_listing(json!({})).await;
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
    let unlisted = || date(json!({ "visibility": "unlisted" }));
    let one = Party::with(&host, "+14155550101", unlisted()).await;
    let other = Party::with(&host, "+14155550102", unlisted()).await;
    let proposed = one.call_propose(&other).await;
    let pairing = proposed.body["result"]["pairing_id"].clone();
    // The declared price, with which limits of a person are compared, is that of the dearest category.
    assert_eq!(proposed.body["meta"]["cost_credits"], 2, "{}", proposed.text);
    assert_eq!(one.funds().await, (18, 2));
    // A person without a year of birth does not count as an adult.
    correct_birth_year(&host, &other.lister.id, json!(null)).await;
    let accepted = json!({ "action": "reply", "pairing_id": pairing, "decision": "accept" });
    let reply = other.lister.agent().call(PAIRINGS, accepted).await;
    reply.assert_refused(403, "age_restricted");
    let third = Party::with(&host, "+14155550103", unlisted()).await;
    other.call_propose(&third).await.assert_refused(403, "age_restricted");
    assert_refused_with_next_step(
        &third,
        third.call_propose(&other).await,
        409,
        "recipient_not_accepting",
    )
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pairing_is_visible_to_its_two_people_only() {
    let host = host().await;
    let (seeker, _landlord, pairing) = connected_pair(&host).await;
    let nobody = host.test_agent().await;
    let get = json!({ "action": "get", "pairing_id": pairing });
    nobody.call(PAIRINGS, get).await.assert_refused(404, "pairing_not_found");
    let listed = seeker.result("list", json!({})).await;
    assert!(listed["items"][0].get("contact").is_none(), "{listed:#}");
}
