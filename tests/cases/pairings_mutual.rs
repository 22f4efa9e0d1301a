//! The internal actions of `pairings`: to connect two people with mutual interest, and to list the
//! listings in cooldown. Also every action in every state.

use crate::harness::{
    Host,
    pairings::{PAIRINGS, Party, connected_pair, event_types, host, operate, reach_due_at},
};
use serde_json::{Value, json};

fn mutual_input(one: &str, other: &str) -> Value {
    json!({ "from_listing_id": one, "to_listing_id": other, "origin": "mutual_interest" })
}

#[tokio::test(flavor = "multi_thread")]
async fn mutual_interest_connects_two_people_at_once() {
    let host = host().await;
    let (seeker, landlord) = (Party::seeker(&host).await, Party::landlord(&host).await);
    let opened =
        operate(&host, "open_mutual", mutual_input(&seeker.listing, &landlord.listing)).await;
    assert_eq!(opened.status, 200, "{}", opened.text);
    let output = |body: &Value| body["result"].clone();
    let pairing = output(&opened.body)["pairing_id"].as_str().unwrap().to_owned();
    for by in [&seeker, &landlord] {
        let view = by.get(&pairing).await;
        assert_eq!(
            (&view["state"], &view["origin"]),
            (&json!("connected"), &json!("mutual_interest"))
        );
        assert_eq!(view["thread_id"], output(&opened.body)["thread_id"]);
        assert_eq!(by.funds().await, (20, 0), "a mutual pairing costs nothing");
        let events = by.wait_for_events(1).await;
        assert_eq!(event_types(&events), ["pairing.connected"]);
        assert_eq!(events[0]["data"]["origin"], "mutual_interest");
        assert_eq!(events[0]["data"]["actor"], json!({ "kind": "system" }));
        let words = json!({ "message": "Hello" });
        assert_eq!(
            by.call_on_ok("message", &pairing, words).await["message"]["thread_id"],
            view["thread_id"]
        );
    }
    // With the listings reversed, the answer is the same pairing.
    let again =
        operate(&host, "open_mutual", mutual_input(&landlord.listing, &seeker.listing)).await;
    assert_eq!(output(&again.body), output(&opened.body));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_proposal_becomes_the_connection() {
    let host = host().await;
    let (seeker, landlord) = (Party::seeker(&host).await, Party::landlord(&host).await);
    let pairing = seeker.propose(&landlord).await;
    landlord.reply(&pairing, "ask").await;
    let opened =
        operate(&host, "open_mutual", mutual_input(&landlord.listing, &seeker.listing)).await;
    assert_eq!(opened.body["result"]["pairing_id"], *pairing, "{}", opened.text);
    assert_eq!(seeker.get(&pairing).await["state"], "connected");
    assert_eq!(seeker.funds().await, (20, 0));
    assert_eq!(seeker.ledger(&pairing).await, ["hold", "release"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn invalid_connections_are_refused() {
    let host = host().await;
    let (seeker, landlord) = (Party::seeker(&host).await, Party::landlord(&host).await);
    let open = |one: &str, other: &str| operate(&host, "open_mutual", mutual_input(one, other));
    let second = landlord.lister.create_listing(json!({})).await;
    open(&landlord.listing, &second).await.assert_refused(422, "self_pairing");
    let nowhere = "lst_01JZX8Q4M2N6P7R8S9T0V1W2X3";
    open(&landlord.listing, nowhere).await.assert_refused(404, "listing_not_found");
    let other = Party::seeker(&host).await;
    open(&seeker.listing, &other.listing).await.assert_refused(422, "category_mismatch");
    let proposal =
        json!({ "from_listing_id": seeker.listing, "to_listing_id": second, "origin": "proposal" });
    operate(&host, "open_mutual", proposal).await.assert_refused(400, "validation_failed");
    // A policy other than `paused` does not count, because both people are interested.
    landlord.set_preferences(json!({ "contact_policy": "network" })).await;
    assert_eq!(open(&other.listing, &second).await.status, 200);
    landlord.set_preferences(json!({ "contact_policy": "paused" })).await;
    open(&seeker.listing, &second).await.assert_refused(409, "recipient_not_accepting");
    landlord.set_preferences(json!({ "contact_policy": "anyone_matching" })).await;
    let declined = seeker.propose(&landlord).await;
    landlord.reply(&declined, "decline").await;
    open(&landlord.listing, &seeker.listing).await.assert_refused(409, "cooldown_active");
    landlord.lister.call_on("pause", &second).await;
    open(&seeker.listing, &second).await.assert_refused(409, "listing_not_active");
    landlord.lister.call_on("resume", &second).await;
    seeker.lister.relate("block", &landlord.lister).await;
    open(&seeker.listing, &second).await.assert_refused(409, "recipient_not_accepting");
}

#[tokio::test(flavor = "multi_thread")]
async fn listings_with_an_open_or_recent_pairing_are_in_cooldown() {
    let host = host().await;
    let landlord = Party::landlord(&host).await;
    let mut seekers = Vec::new();
    for ending in ["open", "decline", "accept", "withdraw", "none"] {
        let seeker = Party::seeker(&host).await;
        if ending != "none" {
            let pairing = seeker.propose(&landlord).await;
            match ending {
                "decline" | "accept" => drop(landlord.reply(&pairing, ending).await),
                "withdraw" => drop(seeker.call_on_ok("withdraw", &pairing, json!({})).await),
                _ => {}
            }
        }
        seekers.push(seeker);
    }
    let others: Vec<_> = seekers.iter().map(|seeker| seeker.listing.clone()).collect();
    let ask = json!({ "listing_id": landlord.listing, "other_listing_ids": others });
    let cooling = operate(&host, "cooling", ask).await;
    assert_eq!(cooling.body["result"]["listing_ids"], json!(others[..3]), "{}", cooling.text);
}

/// Creates a pairing in this state.
async fn create_in_state<'a>(host: &'a Host, state: &str) -> (Party<'a>, Party<'a>, String) {
    if ["connected", "closed"].contains(&state) {
        let (seeker, landlord, pairing) = connected_pair(host).await;
        if state == "closed" {
            seeker.call_on_ok("close", &pairing, json!({ "outcome": "other" })).await;
        }
        return (seeker, landlord, pairing);
    }
    let (seeker, landlord) = (Party::seeker(host).await, Party::landlord(host).await);
    let pairing = seeker.propose(&landlord).await;
    match state {
        "clarifying" => drop(landlord.reply(&pairing, "ask").await),
        "declined" => drop(landlord.reply(&pairing, "decline").await),
        "withdrawn" => drop(seeker.call_on_ok("withdraw", &pairing, json!({})).await),
        "expired" => reach_due_at(host, &pairing).await,
        "cancelled" => landlord.lister.relate("block", &seeker.lister).await,
        _ => {}
    }
    seeker.wait_for_state(&pairing, state).await;
    (seeker, landlord, pairing)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_on_a_pairing_in_every_state_by_either_side() {
    let host = host().await;
    let schema = host.get(&format!("/v1/capabilities/{PAIRINGS}/schema")).await.body;
    let machine = schema["x-state-machines"][0].clone();
    let rows = machine["transitions"].as_array().unwrap();
    let refusals =
        ["invalid_transition", "not_permitted", "pairing_not_connected", "disclosure_not_allowed"];
    let tried = [
        ("reply", json!({ "decision": "ask", "message": "Why?" }), "clarifying"),
        ("reply", json!({ "decision": "accept" }), "connected"),
        ("reply", json!({ "decision": "decline" }), "declined"),
        ("message", json!({ "message": "Because." }), ""),
        ("withdraw", json!({}), ""),
        ("disclose", json!({ "fields": ["phone"] }), ""),
        ("close", json!({ "outcome": "other" }), ""),
    ];
    let mut faults = Vec::new();
    for state in machine["states"].as_array().unwrap() {
        let state = state.as_str().unwrap();
        // A refused action changes nothing, so the next one is tried on the same pairing.
        let mut unchanged = None;
        for (action, fields, to) in &tried {
            for role in ["proposer", "recipient"] {
                let (seeker, landlord, pairing) = match unchanged.take() {
                    Some(unchanged) => unchanged,
                    None => create_in_state(&host, state).await,
                };
                let by = if role == "proposer" { &seeker } else { &landlord };
                let before = by.get(&pairing).await;
                let reply = by.call_on(action, &pairing, fields.clone()).await;
                let after = by.get(&pairing).await["state"].clone();
                let leads = rows.iter().find(|row| {
                    let has = |list: &str, value: &str| {
                        row[list].as_array().unwrap().iter().any(|item| item == value)
                    };
                    row["action"] == *action
                        && has("from", state)
                        && (row["role"].is_null() || row["role"] == role)
                        && (to.is_empty() || has("to", to))
                });
                let fits = match leads {
                    Some(row) => {
                        let to = row["to"].as_array().unwrap();
                        let stays = to.is_empty() && after == state;
                        reply.status == 200 && (stays || to.contains(&after))
                    }
                    None => {
                        refusals.iter().any(|code| reply.body["error_code"] == *code)
                            && after == before["state"]
                    }
                };
                let allowed = before["allowed_actions"].as_array().unwrap();
                let listed = allowed.iter().any(|allowed| allowed == action);
                // `reply` can be allowed in a state that does not allow the decision to ask again.
                let agrees = listed == leads.is_some() || (listed && *to == "clarifying");
                if !fits || !agrees {
                    let text = &reply.text;
                    faults.push(format!(
                        "{action} {to} by the {role} of what is {state}, now {after}: {text}"
                    ));
                }
                let now = by.get(&pairing).await;
                unchanged =
                    (now["version"] == before["version"]).then_some((seeker, landlord, pairing));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
