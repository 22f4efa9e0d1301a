//! The ends of pairings (by a person, by time, by a listing, by a block), and their effect on
//! credits.

use crate::harness::time::DAY;
use crate::harness::{
    PATIENCE, Reply,
    credits::CREDITS,
    join_all,
    listings::moderate,
    pairings::{Party, connected_pair, event_types, host, operate, reach_due_at},
    visibility::UNKNOWN_LISTING,
};
use serde_json::{Value, json};
use std::{
    collections::BTreeMap,
    time::{Duration, Instant},
};

#[tokio::test(flavor = "multi_thread")]
async fn one_of_two_simultaneous_proposals_wins() {
    let host = host().await;
    for _ in 0..5 {
        let (seeker, landlord) = (Party::seeker(&host).await, Party::landlord(&host).await);
        let tries: [std::pin::Pin<Box<dyn Future<Output = Reply>>>; 3] = [
            Box::pin(seeker.call_propose(&landlord)),
            Box::pin(landlord.call_propose(&seeker)),
            Box::pin(seeker.call_propose(&landlord)),
        ];
        let replies = join_all(tries.into_iter()).await;
        let (won, lost): (Vec<_>, Vec<_>) = replies.iter().partition(|reply| reply.status == 200);
        assert_eq!(won.len(), 1, "{replies:#?}");
        for reply in lost {
            reply.assert_refused(409, "pairing_exists");
            let id = &won[0].body["result"]["pairing_id"];
            assert_eq!(reply.body["conflict"]["existing_id"], *id);
        }
        let held = seeker.funds().await.1 + landlord.funds().await.1;
        assert_eq!(held, 1, "the refused proposal holds no credits");
        assert_eq!(
            seeker.wait_for_events(0).await.len() + landlord.wait_for_events(0).await.len(),
            1
        );
    }
}

/// Returns the balances of all accounts in the person's journal. Asserts that their sum is zero,
/// that the agent's is the answered balance, and that all holds are empty.
async fn account_balances(party: &Party<'_>) -> BTreeMap<String, i64> {
    let agent = party.lister.agent();
    let statement = json!({ "action": "statement", "limit": 100 });
    let statement = agent.result(CREDITS, statement).await;
    let balance = agent.result(CREDITS, json!({ "action": "balance" })).await;
    let mut accounts: BTreeMap<String, i64> = BTreeMap::new();
    for entry in statement["items"].as_array().unwrap() {
        let amount = entry["amount"].as_i64().unwrap();
        for (side, sign) in [("debit_account", -1), ("credit_account", 1)] {
            let account = entry[side].as_str().unwrap().to_owned();
            *accounts.entry(account).or_default() += sign * amount;
        }
    }
    assert_eq!(accounts.values().sum::<i64>(), 0);
    let own = format!("agent:{}", balance["agent_id"].as_str().unwrap());
    assert_eq!(Some(accounts[&own]), balance["available"].as_i64(), "{accounts:#?}");
    let holds = accounts.iter().filter(|(name, _)| name.starts_with("hold:"));
    assert!(holds.into_iter().all(|(_, left)| *left == 0), "{accounts:#?}");
    accounts
}

#[tokio::test(flavor = "multi_thread")]
async fn each_end_of_a_pairing_spends_or_releases_the_credit() {
    let host = host().await;
    let (released, spent) = (["hold", "release"], ["hold", "capture"]);
    // The end of the pairing, whether a question was asked before, the state, and the ledger's
    // transactions.
    for (ending, asked, state, ledger) in [
        ("accept", false, "connected", released),
        ("decline", false, "declined", spent),
        ("withdraw", false, "withdrawn", released),
        ("withdraw", true, "withdrawn", spent),
        ("silence", true, "expired", released),
        ("pause theirs", true, "expired", released),
        ("remove theirs", true, "cancelled", released),
        ("pause own", false, "cancelled", released),
        ("pause own", true, "cancelled", spent),
        ("they block", true, "cancelled", released),
        ("I block", false, "cancelled", released),
        ("I block", true, "cancelled", spent),
    ] {
        let (seeker, landlord) = (Party::seeker(&host).await, Party::landlord(&host).await);
        let pairing = seeker.propose(&landlord).await;
        assert_eq!(seeker.funds().await, (19, 1));
        if asked {
            landlord.reply(&pairing, "ask").await;
        }
        match ending {
            "accept" | "decline" => drop(landlord.reply(&pairing, ending).await),
            "withdraw" => drop(seeker.call_on_ok("withdraw", &pairing, json!({})).await),
            "silence" => reach_due_at(&host, &pairing).await,
            "pause theirs" => drop(landlord.lister.call_on("pause", &landlord.listing).await),
            "pause own" => drop(seeker.lister.call_on("pause", &seeker.listing).await),
            "remove theirs" => {
                let why = json!({ "listing_id": landlord.listing, "reason": "a test" });
                assert_eq!(moderate(&host, "remove", why).await.status, 200);
            }
            "they block" => landlord.lister.relate("block", &seeker.lister).await,
            _ => seeker.lister.relate("block", &landlord.lister).await,
        }
        seeker.wait_for_state(&pairing, state).await;
        let what = format!("{ending}, asked: {asked}");
        assert_eq!(seeker.ledger(&pairing).await, ledger, "{what}");
        let left = if ledger == released { 20 } else { 19 };
        assert_eq!(seeker.funds().await, (left, 0), "{what}");
        assert_eq!(landlord.funds().await, (20, 0), "{what}");
        let spent = account_balances(&seeker).await.get("spent").copied().unwrap_or_default();
        assert_eq!(spent, i64::try_from(20 - left).unwrap(), "{what}");
        if state != "connected" {
            let view = seeker.get(&pairing).await;
            assert_eq!(view["allowed_actions"], json!([]), "{what}");
            assert_eq!(view["expires_at"], Value::Null, "{what}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connected_pairing_outlives_its_listings() {
    let host = host().await;
    let (seeker, landlord, pairing) = connected_pair(&host).await;
    // Another proposal shows that the event of the listing was handled.
    let other = Party::seeker(&host).await;
    let waiting = other.propose(&landlord).await;
    landlord.lister.call_on("mark_filled", &landlord.listing).await;
    other.wait_for_state(&waiting, "expired").await;
    assert_eq!(other.wait_for_events(1).await[0]["data"]["reason"], "listing_filled");
    assert_eq!(
        event_types(&seeker.wait_for_events(3).await),
        ["pairing.replied", "pairing.connected", "pairing.listing_ended"]
    );
    assert_eq!(seeker.get(&pairing).await["state"], "connected");
}

#[tokio::test(flavor = "multi_thread")]
async fn all_proposals_of_a_listing_end_with_it() {
    let host = host().await;
    let landlord = Party::landlord(&host).await;
    let mut seekers = Vec::new();
    for _ in 0..13 {
        let seeker = Party::seeker(&host).await;
        let pairing = seeker.propose(&landlord).await;
        seekers.push((seeker, pairing));
    }
    landlord.lister.call_on("withdraw", &landlord.listing).await;
    for (seeker, pairing) in &seekers {
        seeker.wait_for_state(pairing, "expired").await;
        assert_eq!(seeker.funds().await, (20, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn proposals_and_idle_pairings_expire_only_when_due() {
    let host = host().await;
    let (seeker, landlord) = (Party::seeker(&host).await, Party::landlord(&host).await);
    let pairing = seeker.propose(&landlord).await;
    let early = json!({ "pairing_id": pairing });
    for action in ["expire", "close_idle"] {
        assert_eq!(operate(&host, action, early.clone()).await.status, 200);
    }
    assert_eq!(seeker.get(&pairing).await["state"], "proposed");
    reach_due_at(&host, &pairing).await;
    assert_eq!(seeker.wait_for_events(1).await[0]["data"]["reason"], "unanswered");
    assert_eq!(
        event_types(&landlord.wait_for_events(2).await),
        ["pairing.proposed", "pairing.expired"]
    );

    let (seeker, landlord, pairing) = connected_pair(&host).await;
    // A message is sent before the pairing is due.
    host.advance(30 * DAY).await;
    let thread = seeker.get(&pairing).await["thread_id"].clone();
    let message = json!({ "action": "send", "thread_id": thread, "text": "Still there?" });
    seeker.lister.agent().result("conversations", message).await;
    reach_due_at(&host, &pairing).await;
    let view = seeker.get(&pairing).await;
    assert_eq!((&view["state"], view["expires_at"].is_string()), (&json!("connected"), true));
    reach_due_at(&host, &pairing).await;
    for by in [&seeker, &landlord] {
        by.wait_for_state(&pairing, "closed").await;
        let events = by.wait_for_events(1).await;
        assert_eq!(events.last().unwrap()["data"]["reason"], "idle");
    }
    for by in [&seeker, &landlord] {
        by.lister.call_on("renew", &by.listing).await;
    }
    let again = seeker.call_propose(&landlord).await;
    assert_eq!(again.status, 200, "after the end, a new proposal is allowed: {}", again.text);
}

/// Returns the data of an event, without the values that differ each time.
fn data_without_ids(event: &Value, ids: &[&str]) -> String {
    let mut data = event["data"].clone();
    data["resource"]["version"] = Value::Null;
    let text = data.to_string();
    ids.iter().fold(text, |text, id| text.replace(id, "it"))
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_proposals_do_not_disclose_the_reason() {
    let host = host().await;
    let seeker = Party::seeker(&host).await;
    let refusal = async |by: &Party<'_>, listing_id: &str, status: u16, code: &str| {
        let reply = by.call_propose_to(listing_id).await;
        reply.assert_refused(status, code);
        reply.text.replace(listing_id, "it")
    };
    // If one of two people has blocked the other, their listings are not found, as with `get`.
    let nothing = refusal(&seeker, UNKNOWN_LISTING, 404, "listing_not_found").await;
    let mut answers = Vec::new();
    for reason in ["block", "paused", "network", "auto_decline", "deactivated"] {
        let landlord = Party::landlord(&host).await;
        match reason {
            "block" => {
                landlord.lister.relate("block", &seeker.lister).await;
                for (by, of) in [(&seeker, &landlord), (&landlord, &seeker)] {
                    let hidden = refusal(by, &of.listing, 404, "listing_not_found").await;
                    assert_eq!(hidden, nothing);
                }
                continue;
            }
            "paused" | "network" => {
                landlord.set_preferences(json!({ "contact_policy": reason })).await
            }
            "auto_decline" => {
                let rules = json!([{ "category": "home" }]);
                landlord.set_preferences(json!({ "auto_decline_rules": rules })).await;
            }
            // A deactivated person has no active listings either.
            _ => {
                let away = json!({ "action": "deactivate" });
                landlord.lister.agent().result("owners", away).await;
                let started = Instant::now();
                while seeker.call_propose(&landlord).await.status == 409 {
                    assert!(started.elapsed() < PATIENCE);
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                assert_eq!(
                    refusal(&seeker, &landlord.listing, 404, "listing_not_found").await,
                    nothing
                );
                continue;
            }
        }
        answers.push(refusal(&seeker, &landlord.listing, 409, "recipient_not_accepting").await);
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:#?}");

    // An open pairing is cancelled, with the same events as if the operator had
    // removed the listing.
    let mut neutral_events = Vec::new();
    for blocks in [true, false] {
        let (seeker, landlord) = (Party::seeker(&host).await, Party::landlord(&host).await);
        let pairing = seeker.propose(&landlord).await;
        if blocks {
            landlord.lister.relate("block", &seeker.lister).await;
        } else {
            let why = json!({ "listing_id": landlord.listing, "reason": "a test" });
            moderate(&host, "remove", why).await;
        }
        seeker.wait_for_state(&pairing, "cancelled").await;
        let view = seeker.get(&pairing).await;
        assert_eq!(view["other"]["display_name"], Value::Null, "{view:#}");
        assert_eq!(view["other"]["listing"], Value::Null, "{view:#}");
        let ids = [pairing.as_str(), &seeker.listing, &landlord.listing];
        for by in [&seeker, &landlord] {
            let last = by.wait_for_events(1).await.pop().unwrap();
            assert_eq!(last["type"], "pairing.cancelled");
            neutral_events.push(data_without_ids(&last, &ids));
        }
    }
    neutral_events.dedup();
    assert_eq!(neutral_events.len(), 1, "{neutral_events:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_ends_a_connection_and_hides_its_contact_data() {
    let host = host().await;
    let (seeker, landlord, pairing) = connected_pair(&host).await;
    for by in [&seeker, &landlord] {
        by.call_on_ok("disclose", &pairing, json!({ "fields": ["phone"] })).await;
    }
    assert!(seeker.get(&pairing).await["contact"]["phone"].is_string());
    landlord.lister.relate("block", &seeker.lister).await;
    // The contact data is hidden at once, before the event of the block is delivered.
    let gone = seeker.get(&pairing).await;
    assert!(gone.get("contact").is_none(), "{gone:#}");
    let reply = seeker.call_on("disclose", &pairing, json!({ "fields": ["links"] })).await;
    let codes = ["recipient_not_accepting", "disclosure_not_allowed"];
    assert!(codes.iter().any(|code| reply.body["error_code"] == *code), "{}", reply.text);
    for by in [&seeker, &landlord] {
        by.wait_for_state(&pairing, "cancelled").await;
    }
}
