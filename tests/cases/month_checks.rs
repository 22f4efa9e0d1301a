//! The promises of the served pages, checked on the world that the month leaves.

use crate::{
    cases::{
        month_scenes::{BENS_WORDS, EMAILS},
        month_world::{
            ADA, Arrival, BEN, CLEO, DAN, DIGEST_AT, EVE, Month, PHONES, QUIET, download,
        },
        social_org::ORG,
    },
    harness::listings::{Lister, action_body},
};
use portolan_vocabulary::ALWAYS_DELIVERED;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};

/// The capabilities with a list of things between people, the field with the id, and the states that
/// are an end.
const SHARED: [(&str, &str, &[&str]); 4] = [
    ("pairings", "pairing_id", &["declined", "withdrawn", "expired", "closed", "cancelled"]),
    (
        "applications",
        "application_id",
        &["accepted", "declined", "rejected", "withdrawn", "expired", "cancelled"],
    ),
    ("conversations", "thread_id", &["closed"]),
    (
        "thread_meetings",
        "meeting_id",
        &["completed", "declined", "cancelled", "expired", "no_show"],
    ),
];

pub async fn check(month: &mut Month<'_>, stranger: &Lister<'_>, orgs: &[Value]) {
    month.look().await;
    quiet_hours_are_kept(month);
    the_digest_comes_at_its_time(month);
    nothing_comes_from_who_is_blocked_or_muted(month);
    somebody_can_act_and_knows(month).await;
    credits_balance(month).await;
    each_organisation_has_an_owner(month, orgs).await;
    ada_sees_what_is_stored(month).await;
    nothing_is_stored_of_the_erased(month);
    let views = views(month, stranger).await;
    contact_data_needs_both_sides(month, &views);
    nothing_is_left_of_the_erased(month, &views);
}

/// Returns whether the interval in which an event arrived lies within a part of the day, which may
/// include midnight.
fn is_within(arrival: &Arrival, [from, to]: [&str; 2]) -> bool {
    let [begin, end] = [&arrival.after, &arrival.by].map(|instant| &instant[11..16]);
    let is_in =
        |time: &str| if from <= to { from <= time && time < to } else { from <= time || time < to };
    is_in(begin) && is_in(end)
}

/// Codes and security notices are never held.
fn is_always_delivered(kind: &str) -> bool {
    ALWAYS_DELIVERED.iter().any(|name| {
        kind.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    })
}

fn quiet_hours_are_kept(month: &Month<'_>) {
    for person in [ADA, DAN] {
        let mut late = 0;
        for arrival in month.arrivals.iter().filter(|arrival| arrival.person == person) {
            let kind = arrival.kind();
            let is_quiet = is_within(arrival, QUIET);
            assert!(!is_quiet || is_always_delivered(kind), "{kind} by {}", arrival.by);
            let occurred = &arrival.event["time"].as_str().unwrap()[11..16];
            late += usize::from(occurred >= QUIET[0] || occurred < QUIET[1]);
        }
        assert!(late > 0, "nothing happened at night to {}", month.id(person));
    }
}

fn the_digest_comes_at_its_time(month: &Month<'_>) {
    let of_cleo = month.arrivals.iter().filter(|arrival| arrival.person == CLEO);
    let mut count = 0;
    for arrival in of_cleo.filter(|arrival| arrival.kind().starts_with("conversation.")) {
        let includes = arrival.after[11..16] < *DIGEST_AT && arrival.by[11..16] >= *DIGEST_AT;
        assert!(includes, "{} between {} and {}", arrival.kind(), arrival.after, arrival.by);
        count += 1;
    }
    assert!(count > 0, "no conversation reached Cleo");
}

fn nothing_comes_from_who_is_blocked_or_muted(month: &Month<'_>) {
    assert_eq!(month.silences.len(), 3);
    for silence in &month.silences {
        let other = month.id(silence.other);
        let arrivals = month.arrivals.iter().filter(|arrival| arrival.person == silence.person);
        for arrival in arrivals.filter(|arrival| arrival.after >= silence.since) {
            let actor = &arrival.event["data"]["actor"]["owner_id"];
            assert!(*actor != *other, "{:#}", arrival.event);
        }
    }
}

/// Everything between people is over, or somebody who still has an agent can act and was told of it.
async fn somebody_can_act_and_knows(month: &Month<'_>) {
    for (capability, field, ends) in SHARED {
        let mut states: BTreeMap<String, String> = BTreeMap::new();
        let mut able: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
        for &person in &month.present {
            for item in month.list(person, capability, json!({})).await {
                let id = item[field].as_str().unwrap().to_owned();
                states.insert(id.clone(), item["state"].as_str().unwrap().to_owned());
                let can_act = item["allowed_actions"].as_array().is_some_and(|all| !all.is_empty());
                let was_told = month
                    .arrivals
                    .iter()
                    .any(|arrival| arrival.person == person && arrival.names(&id));
                if can_act && was_told {
                    able.entry(id).or_default().insert(person);
                }
            }
        }
        assert!(!states.is_empty(), "{capability}");
        for (id, state) in &states {
            let is_over = ends.contains(&state.as_str());
            assert!(is_over || able.contains_key(id), "{capability} {id} is {state}: nobody knows");
        }
    }
}

/// Each entry gives to one account what it takes from another one; what is held belongs to what is
/// open, and nothing else is missing.
async fn credits_balance(month: &Month<'_>) {
    for &person in &month.present {
        let statement =
            month.ok(person, "agent_credits", "statement", json!({ "limit": 100 })).await;
        assert_eq!(statement["next_cursor"], Value::Null);
        let balance = month.ok(person, "agent_credits", "balance", json!({})).await;
        let mut accounts: BTreeMap<&str, i64> = BTreeMap::new();
        for entry in statement["items"].as_array().unwrap() {
            let amount = entry["amount"].as_i64().unwrap();
            for (side, sign) in [("debit_account", -1), ("credit_account", 1)] {
                *accounts.entry(entry[side].as_str().unwrap()).or_default() += sign * amount;
            }
        }
        assert_eq!(accounts.values().sum::<i64>(), 0);
        let own = format!("agent:{}", balance["agent_id"].as_str().unwrap());
        assert_eq!(Some(accounts[own.as_str()]), balance["available"].as_i64(), "{accounts:#?}");
        let mut held = accounts.iter().filter(|(name, _)| name.starts_with("hold:"));
        assert!(held.all(|(_, left)| *left == 0), "nothing is open any more: {accounts:#?}");
        assert_eq!(balance["held"], 0);
        // All that Ada, Cleo and Dan sent was accepted, decided after an invitation, or never answered.
        assert_eq!(accounts.get("spent"), None, "{accounts:#?}");
    }
}

async fn each_organisation_has_an_owner(month: &Month<'_>, orgs: &[Value]) {
    for (org_id, by) in orgs.iter().zip([CLEO, DAN]) {
        let members = month.ok(by, ORG, "members", json!({ "org_id": org_id })).await;
        let members = members["items"].as_array().unwrap();
        let present: Vec<_> = month.present.iter().map(|person| month.id(*person)).collect();
        let acts = |member: &&Value| {
            member["role"] == "owner" && present.contains(&member["owner_id"].as_str().unwrap())
        };
        assert_eq!(members.iter().filter(acts).count(), 1, "{members:#?}");
    }
}

/// Each action that the page about privacy names for it answers what is stored.
async fn ada_sees_what_is_stored(month: &Month<'_>) {
    let all = json!({ "limit": 100 });
    for (capability, action, fields, expected) in [
        ("owners", "me", json!({}), "quiet_hours"),
        ("agent_listings", "list_mine", all.clone(), "Brings engineering"),
        ("saved_searches", "list", all.clone(), "Rooms"),
        ("pairings", "list", all.clone(), "pair_"),
        ("applications", "list", all.clone(), "Engineer"),
        ("conversations", "list", all, "thr_"),
        ("calendar", "export_ics", json!({}), "Dentist"),
    ] {
        let answer = month.ok(ADA, capability, action, fields).await.to_string();
        assert!(answer.contains(expected), "{capability} {action}: {answer}");
    }
}

fn traces<'m>(month: &'m Month<'_>) -> Vec<&'m str> {
    BENS_WORDS.into_iter().chain([month.id(BEN)]).collect()
}

fn nothing_is_stored_of_the_erased(month: &Month<'_>) {
    let found = month.host.database().texts_found(&traces(month));
    assert_eq!(found, Vec::<String>::new());
}

/// Everything that each person who is left, and the stranger, can read: lists, searches, messages,
/// the whole inbox, and the export of their own data.
async fn views(month: &Month<'_>, stranger: &Lister<'_>) -> Vec<(Option<usize>, String)> {
    let mut all = Vec::new();
    let present = month.present.iter().map(|person| (Some(*person), &month.people[*person]));
    for (who, lister) in present.chain([(None, stranger)]) {
        all.push((who, view(month, lister).await));
    }
    all
}

async fn view(month: &Month<'_>, lister: &Lister<'_>) -> String {
    let agent = lister.agent();
    let mut text = String::new();
    let searches =
        BENS_WORDS.iter().map(|word| ("agent_listings", json!({ "action": "search", "q": word })));
    let cards = month
        .people
        .iter()
        .map(|person| ("owners", json!({ "action": "get", "owner_id": person.id })));
    let lists = [
        "pairings",
        "applications",
        "conversations",
        "thread_meetings",
        "matching_sessions",
        "saved_searches",
        "reports",
    ];
    let lists = lists.into_iter().map(|capability| {
        let action = if capability == "reports" { "list_mine" } else { "list" };
        (capability, json!({ "action": action, "limit": 100 }))
    });
    for (capability, body) in searches.chain(cards).chain(lists) {
        let reply = agent.call(capability, body).await;
        let items = reply.body["result"]["items"].as_array().cloned().unwrap_or_default();
        for item in &items {
            for (field, capability, action) in [
                ("pairing_id", "pairings", "get"),
                ("thread_id", "conversations", "messages"),
                ("session_id", "matching_sessions", "candidates"),
            ] {
                if item[field].is_string() {
                    let body = action_body(action, &json!({ field: item[field] }));
                    text.push_str(&agent.call(capability, body).await.text);
                }
            }
        }
        // The answer repeats no input, except in the refusals of unknown people.
        if reply.status == 200 {
            text.push_str(&reply.body["result"].to_string());
        }
    }
    text.push_str(&lister.reader.page("wait=0&cursor=0&limit=100").await.to_string());
    let export = agent.result("data_rights", json!({ "action": "export" })).await;
    month.host.wait_until_settled().await;
    text.push_str(&download(agent, &export["export_id"]).await);
    text
}

fn contact_data_needs_both_sides(month: &Month<'_>, views: &[(Option<usize>, String)]) {
    let exchanged = [(ADA, CLEO), (CLEO, ADA)];
    for (who, text) in views {
        for (owner, email) in EMAILS {
            let may = who.is_some_and(|who| who == owner || exchanged.contains(&(who, owner)));
            assert!(may || !text.contains(email), "{email} as {who:?} sees it");
            let was_exchanged = who.is_some_and(|who| exchanged.contains(&(who, owner)));
            assert!(!was_exchanged || text.contains(email), "{email} as {who:?} sees it");
        }
        // Ada has disclosed her number to Cleo, who has not disclosed hers.
        for (owner, phone) in PHONES.iter().enumerate() {
            let is_own = *who == Some(owner) || who.is_none() && owner == BEN;
            assert!(is_own || !text.contains(phone), "{phone} as {who:?} sees it");
        }
    }
    assert!(!month.present.contains(&EVE));
    // Numbers are stored encrypted.
    assert_eq!(month.host.database().texts_found(&PHONES), Vec::<String>::new());
}

fn nothing_is_left_of_the_erased(month: &Month<'_>, views: &[(Option<usize>, String)]) {
    let traces = traces(month);
    for (who, text) in views {
        let left: Vec<_> = traces.iter().filter(|trace| text.contains(**trace)).collect();
        assert!(left.is_empty(), "{who:?} still finds {left:?}");
    }
}
