//! How pairings end (by a person, by time, by a listing, by a block), and what
//! that does to credits.

use crate::harness::time::DAY;
use crate::harness::{
    PATIENCE, Reply,
    credits::CREDITS,
    futures,
    invisible::GHOST_LISTING,
    listings::moderate,
    pairings::{Party, connected, host, operate, time_out, types},
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
        let (seeker, landlord) = (Party::seeks(&host).await, Party::lets(&host).await);
        let tries: [std::pin::Pin<Box<dyn Future<Output = Reply>>>; 3] = [
            Box::pin(seeker.tries(&landlord)),
            Box::pin(landlord.tries(&seeker)),
            Box::pin(seeker.tries(&landlord)),
        ];
        let replies = futures(tries.into_iter()).await;
        let (won, lost): (Vec<_>, Vec<_>) = replies.iter().partition(|reply| reply.status == 200);
        assert_eq!(won.len(), 1, "{replies:#?}");
        for reply in lost {
            reply.refused(409, "pairing_exists");
            let id = &won[0].body["result"]["pairing_id"];
            assert_eq!(reply.body["conflict"]["existing_id"], *id);
        }
        let held = seeker.funds().await.1 + landlord.funds().await.1;
        assert_eq!(held, 1, "the refused proposal holds no credits");
        assert_eq!(seeker.told(0).await.len() + landlord.told(0).await.len(), 1);
    }
}

/// Returns the balances of all accounts in the person's journal. Asserts that their sum is zero,
/// that the agent's is the answered balance, and that all holds are empty.
async fn accounts(party: &Party<'_>) -> BTreeMap<String, i64> {
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
    let (kept, spent) = (["hold", "release"], ["hold", "capture"]);
    // How the pairing ends, whether a question was asked before, the state, and the ledger's
    // transactions.
    for (ending, asked, state, ledger) in [
        ("accept", false, "connected", kept),
        ("decline", false, "declined", spent),
        ("withdraw", false, "withdrawn", kept),
        ("withdraw", true, "withdrawn", spent),
        ("silence", true, "expired", kept),
        ("pause theirs", true, "expired", kept),
        ("remove theirs", true, "cancelled", kept),
        ("pause own", false, "cancelled", kept),
        ("pause own", true, "cancelled", spent),
        ("they block", true, "cancelled", kept),
        ("I block", false, "cancelled", kept),
        ("I block", true, "cancelled", spent),
    ] {
        let (seeker, landlord) = (Party::seeks(&host).await, Party::lets(&host).await);
        let pairing = seeker.proposes(&landlord).await;
        assert_eq!(seeker.funds().await, (19, 1));
        if asked {
            landlord.replies(&pairing, "ask").await;
        }
        match ending {
            "accept" | "decline" => drop(landlord.replies(&pairing, ending).await),
            "withdraw" => drop(seeker.did("withdraw", &pairing, json!({})).await),
            "silence" => time_out(&host, &pairing).await,
            "pause theirs" => drop(landlord.lister.does("pause", &landlord.listing).await),
            "pause own" => drop(seeker.lister.does("pause", &seeker.listing).await),
            "remove theirs" => {
                let why = json!({ "listing_id": landlord.listing, "reason": "a test" });
                assert_eq!(moderate(&host, "remove", why).await.status, 200);
            }
            "they block" => landlord.lister.ties("block", &seeker.lister).await,
            _ => seeker.lister.ties("block", &landlord.lister).await,
        }
        seeker.until(&pairing, state).await;
        let what = format!("{ending}, asked: {asked}");
        assert_eq!(seeker.ledger(&pairing).await, ledger, "{what}");
        let left = if ledger == kept { 20 } else { 19 };
        assert_eq!(seeker.funds().await, (left, 0), "{what}");
        assert_eq!(landlord.funds().await, (20, 0), "{what}");
        let spent = accounts(&seeker).await.get("spent").copied().unwrap_or_default();
        assert_eq!(spent, i64::try_from(20 - left).unwrap(), "{what}");
        if state != "connected" {
            let view = seeker.gets(&pairing).await;
            assert_eq!(view["allowed_actions"], json!([]), "{what}");
            assert_eq!(view["expires_at"], Value::Null, "{what}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connected_pairing_outlives_its_listings() {
    let host = host().await;
    let (seeker, landlord, pairing) = connected(&host).await;
    // Another proposal shows that the event of the listing was handled.
    let other = Party::seeks(&host).await;
    let waiting = other.proposes(&landlord).await;
    landlord.lister.does("mark_filled", &landlord.listing).await;
    other.until(&waiting, "expired").await;
    assert_eq!(other.told(1).await[0]["data"]["reason"], "listing_inactive");
    assert_eq!(seeker.gets(&pairing).await["state"], "connected");
    assert_eq!(types(&seeker.told(0).await), ["pairing.replied", "pairing.connected"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn all_proposals_of_a_listing_end_with_it() {
    let host = host().await;
    let landlord = Party::lets(&host).await;
    let mut seekers = Vec::new();
    for _ in 0..13 {
        let seeker = Party::seeks(&host).await;
        let pairing = seeker.proposes(&landlord).await;
        seekers.push((seeker, pairing));
    }
    landlord.lister.does("withdraw", &landlord.listing).await;
    for (seeker, pairing) in &seekers {
        seeker.until(pairing, "expired").await;
        assert_eq!(seeker.funds().await, (20, 0));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn proposals_and_idle_pairings_expire_only_when_due() {
    let host = host().await;
    let (seeker, landlord) = (Party::seeks(&host).await, Party::lets(&host).await);
    let pairing = seeker.proposes(&landlord).await;
    let early = json!({ "pairing_id": pairing });
    for action in ["expire", "close_idle"] {
        assert_eq!(operate(&host, action, early.clone()).await.status, 200);
    }
    assert_eq!(seeker.gets(&pairing).await["state"], "proposed");
    time_out(&host, &pairing).await;
    assert_eq!(seeker.told(1).await[0]["data"]["reason"], "unanswered");
    assert_eq!(types(&landlord.told(2).await), ["pairing.proposed", "pairing.expired"]);

    let (seeker, landlord, pairing) = connected(&host).await;
    // A message is sent before the pairing is due.
    host.advance(30 * DAY).await;
    let thread = seeker.gets(&pairing).await["thread_id"].clone();
    let message = json!({ "action": "send", "thread_id": thread, "text": "Still there?" });
    seeker.lister.agent().result("conversations", message).await;
    time_out(&host, &pairing).await;
    let view = seeker.gets(&pairing).await;
    assert_eq!((&view["state"], view["expires_at"].is_string()), (&json!("connected"), true));
    time_out(&host, &pairing).await;
    for by in [&seeker, &landlord] {
        by.until(&pairing, "closed").await;
        let told = by.told(1).await;
        assert_eq!(told.last().unwrap()["data"]["reason"], "idle");
    }
    for by in [&seeker, &landlord] {
        by.lister.does("renew", &by.listing).await;
    }
    let again = seeker.tries(&landlord).await;
    assert_eq!(again.status, 200, "after the end, a new proposal is allowed: {}", again.text);
}

/// Returns the data of an event, without the values that differ each time.
fn neutral(event: &Value, ids: &[&str]) -> String {
    let mut data = event["data"].clone();
    data["resource"]["version"] = Value::Null;
    let text = data.to_string();
    ids.iter().fold(text, |text, id| text.replace(id, "it"))
}

#[tokio::test(flavor = "multi_thread")]
async fn refused_proposals_do_not_disclose_the_reason() {
    let host = host().await;
    let seeker = Party::seeks(&host).await;
    let told = async |by: &Party<'_>, listing_id: &str, status: u16, code: &str| {
        let reply = by.tries_listing(listing_id).await;
        reply.refused(status, code);
        reply.text.replace(listing_id, "it")
    };
    // If one of two people has blocked the other, their listings are not found, as with `get`.
    let nothing = told(&seeker, GHOST_LISTING, 404, "listing_not_found").await;
    let mut answers = Vec::new();
    for reason in ["block", "paused", "network", "auto_decline", "deactivated"] {
        let landlord = Party::lets(&host).await;
        match reason {
            "block" => {
                landlord.lister.ties("block", &seeker.lister).await;
                for (by, of) in [(&seeker, &landlord), (&landlord, &seeker)] {
                    let hidden = told(by, &of.listing, 404, "listing_not_found").await;
                    assert_eq!(hidden, nothing);
                }
                continue;
            }
            "paused" | "network" => landlord.prefers(json!({ "contact_policy": reason })).await,
            "auto_decline" => {
                let rules = json!([{ "category": "home" }]);
                landlord.prefers(json!({ "auto_decline_rules": rules })).await;
            }
            // A deactivated person has no active listings either.
            _ => {
                let away = json!({ "action": "deactivate" });
                landlord.lister.agent().result("owners", away).await;
                let started = Instant::now();
                while seeker.tries(&landlord).await.status == 409 {
                    assert!(started.elapsed() < PATIENCE);
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
                assert_eq!(
                    told(&seeker, &landlord.listing, 404, "listing_not_found").await,
                    nothing
                );
                continue;
            }
        }
        answers.push(told(&seeker, &landlord.listing, 409, "recipient_not_accepting").await);
    }
    answers.dedup();
    assert_eq!(answers.len(), 1, "{answers:#?}");

    // An open pairing is cancelled, with the same events as if the operator had
    // removed the listing.
    let mut told = Vec::new();
    for blocks in [true, false] {
        let (seeker, landlord) = (Party::seeks(&host).await, Party::lets(&host).await);
        let pairing = seeker.proposes(&landlord).await;
        if blocks {
            landlord.lister.ties("block", &seeker.lister).await;
        } else {
            let why = json!({ "listing_id": landlord.listing, "reason": "a test" });
            moderate(&host, "remove", why).await;
        }
        seeker.until(&pairing, "cancelled").await;
        let view = seeker.gets(&pairing).await;
        assert_eq!(view["other"]["display_name"], Value::Null, "{view:#}");
        assert_eq!(view["other"]["listing"], Value::Null, "{view:#}");
        let ids = [pairing.as_str(), &seeker.listing, &landlord.listing];
        for by in [&seeker, &landlord] {
            let last = by.told(1).await.pop().unwrap();
            assert_eq!(last["type"], "pairing.cancelled");
            told.push(neutral(&last, &ids));
        }
    }
    told.dedup();
    assert_eq!(told.len(), 1, "{told:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_ends_a_connection_and_hides_its_contact_data() {
    let host = host().await;
    let (seeker, landlord, pairing) = connected(&host).await;
    for by in [&seeker, &landlord] {
        by.did("disclose", &pairing, json!({ "fields": ["phone"] })).await;
    }
    assert!(seeker.gets(&pairing).await["contact"]["phone"].is_string());
    landlord.lister.ties("block", &seeker.lister).await;
    // The contact data is hidden at once, before the event of the block is delivered.
    let gone = seeker.gets(&pairing).await;
    assert!(gone.get("contact").is_none(), "{gone:#}");
    let reply = seeker.does("disclose", &pairing, json!({ "fields": ["links"] })).await;
    let codes = ["recipient_not_accepting", "disclosure_not_allowed"];
    assert!(codes.iter().any(|code| reply.body["error_code"] == *code), "{}", reply.text);
    for by in [&seeker, &landlord] {
        by.until(&pairing, "cancelled").await;
    }
}
