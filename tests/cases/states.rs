//! Every state with every action: the tables of the shipped capabilities, read from a running host
//! and compared with its answers. Those of conversations, matching, pairings and meetings have
//! files of their own.

use crate::{
    cases::plugins::shipped,
    harness::{
        Host, PATIENCE, Reply,
        listings::{Lister, moderate},
        next_steps::FollowedSteps,
        relationships::Person,
    },
};
use serde_json::{Value, json};
use std::{
    collections::BTreeSet,
    time::{Duration, Instant},
};

/// The transition table of one state machine.
pub struct Table {
    pub states: Vec<String>,
    rows: Vec<Row>,
}

struct Row {
    action: String,
    from: Vec<String>,
    to: Vec<String>,
    role: Option<String>,
}

pub fn texts(value: &Value) -> Vec<String> {
    value.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

impl Table {
    pub async fn read(host: &Host, capability: &str, machine: &str) -> Self {
        let schema = host.get(&format!("/v1/capabilities/{capability}/schema")).await.body;
        let machines = schema["x-state-machines"].as_array().unwrap();
        let machine = machines.iter().find(|entry| entry["name"] == machine).unwrap();
        let row = |row: &Value| Row {
            action: row["action"].as_str().unwrap().to_owned(),
            from: texts(&row["from"]),
            to: texts(&row["to"]),
            role: row["role"].as_str().map(str::to_owned),
        };
        let rows = machine["transitions"].as_array().unwrap().iter().map(row).collect();
        Self { states: texts(&machine["states"]), rows }
    }

    /// Returns the actions that need an existing object.
    pub fn actions(&self) -> BTreeSet<&str> {
        let rows = self.rows.iter().filter(|row| !row.from.is_empty());
        rows.map(|row| row.action.as_str()).collect()
    }

    /// Returns the states that an action can lead to; `None` if it is not allowed in this state.
    pub fn leads(&self, state: &str, action: &str, role: Option<&str>) -> Option<Vec<String>> {
        let open = |row: &&Row| {
            row.action == action
                && row.from.iter().any(|from| from == state)
                && (role.is_none() || row.role.is_none() || row.role.as_deref() == role)
        };
        let row = self.rows.iter().find(open)?;
        Some(if row.to.is_empty() { vec![state.to_owned()] } else { row.to.clone() })
    }
}

const LISTINGS: &str = "agent_listings";
/// Actions that timers and other capabilities run.
const NOT_TRIED: [&str; 5] =
    ["expire", "warn", "on_owner_deactivated", "on_agent_gone", "on_org_changed"];
const MODERATION: [&str; 4] = ["approve", "reject", "remove", "reinstate"];

/// Creates a listing and brings it into this state; returns its id.
async fn listing(host: &Host, lister: &Lister<'_>, state: &str) -> String {
    let flagged = json!({ "title": "Adults only" });
    let soon = jiff::Timestamp::now() + Duration::from_millis(1_500);
    let begun = match state {
        "draft" => json!({ "publish": false }),
        "in_review" | "rejected" => flagged,
        "expired" => json!({ "valid_through": soon.to_string() }),
        _ => json!({}),
    };
    let id = lister.create_listing(begun).await;
    let reason = json!({ "listing_id": id, "reason": "a test" });
    match state {
        "rejected" => drop(moderate(host, "reject", reason).await),
        "removed" => drop(moderate(host, "remove", reason).await),
        "paused" => drop(lister.call_on("pause", &id).await),
        "filled" => drop(lister.call_on("mark_filled", &id).await),
        "withdrawn" => drop(lister.call_on("withdraw", &id).await),
        _ => {}
    }
    let started = Instant::now();
    while self::state(lister, &id).await != state {
        assert!(started.elapsed() < PATIENCE, "the listing does not become {state}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    id
}

async fn state(lister: &Lister<'_>, id: &str) -> Value {
    lister.result("get", json!({ "listing_id": id })).await["state"].clone()
}

async fn act(host: &Host, lister: &Lister<'_>, action: &str, id: &str) -> Reply {
    match action {
        "update" => {
            let patch = json!({ "title": "Another title" });
            lister.call(action, json!({ "listing_id": id, "patch": patch })).await
        }
        "reject" | "remove" => {
            moderate(host, action, json!({ "listing_id": id, "reason": "a test" })).await
        }
        action if MODERATION.contains(&action) => {
            moderate(host, action, json!({ "listing_id": id })).await
        }
        action => lister.call_on(action, id).await,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_on_a_listing_in_every_state() {
    let host = shipped().await;
    let table = Table::read(&host, LISTINGS, "listing").await;
    let actions: Vec<_> =
        table.actions().into_iter().filter(|action| !NOT_TRIED.contains(action)).collect();
    let (mut faults, mut followed) = (Vec::new(), FollowedSteps::default());
    for state in &table.states {
        for action in &actions {
            let lister = Lister::with_birth_year(&host, 1990).await;
            let id = listing(&host, &lister, state).await;
            let before = lister.result("get", json!({ "listing_id": id })).await;
            let allowed = texts(&before["allowed_actions"]);
            let reply = act(&host, &lister, action, &id).await;
            faults.extend(followed.follow(lister.agent(), &reply).await);
            let after = self::state(&lister, &id).await;
            let expected = table.leads(state, action, None);
            let fits = match &expected {
                Some(to) => reply.status == 200 && to.iter().any(|state| after == **state),
                None => {
                    // Some actions have an error code of their own for this.
                    ["invalid_transition", "listing_not_editable"]
                        .iter()
                        .any(|code| reply.body["error_code"] == *code)
                        && reply.body["conflict"]["current"] == **state
                        && texts(&reply.body["conflict"]["allowed_actions"]) == allowed
                        && after == **state
                }
            };
            let listed = allowed.iter().any(|allowed| allowed == action);
            if !fits || listed != (expected.is_some() && !MODERATION.contains(action)) {
                faults.push(format!("{action} of what is {state}, now {after}: {}", reply.text));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(followed.count() > 10, "{} steps", followed.count());
}

/// The error codes of an action that is not allowed: `not_permitted` if only the other person may
/// run it.
const REFUSALS: [&str; 4] =
    ["invalid_transition", "not_permitted", "relationship_exists", "relationship_not_found"];

/// Creates two people, of whom the first has a relationship of this kind and state with the second.
async fn create_related<'a>(host: &'a Host, kind: &str, state: &str) -> (Person<'a>, Person<'a>) {
    let (subject, object) = (Person::new(host).await, Person::new(host).await);
    // With the default policy, a follow is active at once.
    if kind == "follow" && state == "requested" {
        object.set_contact_policy("network").await;
    }
    if state != "none" {
        subject.call_ok(kind, &object.id).await;
    }
    if kind == "connect" && state == "active" {
        object.call_kind_ok("accept", kind, &subject.id).await;
    }
    (subject, object)
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_on_a_relationship_in_every_state_by_either_side() {
    let host = shipped().await;
    let (mut faults, mut followed) = (Vec::new(), FollowedSteps::default());
    for kind in ["follow", "connect"] {
        let table = Table::read(&host, "social_relationships", kind).await;
        for state in &table.states {
            for action in table.actions() {
                for role in ["subject", "object"] {
                    // If the object runs this action, it creates a relationship of its own.
                    if role == "object" && action == kind {
                        continue;
                    }
                    // A block needs no relationship, and has a table of its own.
                    if action == "block" && state == "none" {
                        continue;
                    }
                    let (subject, object) = create_related(&host, kind, state).await;
                    let (by, of) = match role {
                        "subject" => (&subject, &object),
                        _ => (&object, &subject),
                    };
                    let reply = match action {
                        "accept" | "reject" => by.call_kind(action, kind, &of.id).await,
                        action => by.call(action, &of.id).await,
                    };
                    faults.extend(followed.follow(by.agent(), &reply).await);
                    let fits = match table.leads(state, action, Some(role)) {
                        Some(_) => reply.status == 200,
                        None => REFUSALS.iter().any(|code| reply.body["error_code"] == *code),
                    };
                    if !fits {
                        let text = &reply.text;
                        faults.push(format!("{action} by the {role} of a {state} {kind}: {text}"));
                    }
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(followed.count() > 10, "{} steps", followed.count());
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_of_an_active_and_of_a_deactivated_person() {
    let host = shipped().await;
    let table = Table::read(&host, "owners", "owner").await;
    for state in &table.states {
        // Handlers of events are called by the host.
        let called = |action: &&str| !action.starts_with("on_");
        for action in table.actions().into_iter().filter(called) {
            let person = host.test_agent().await;
            person.claim("+14155550100").await;
            if state == "deactivated" {
                person.result("owners", json!({ "action": "deactivate" })).await;
            }
            let me = person.result("owners", json!({ "action": "me" })).await;
            let agent_id = me["agents"][0]["agent_id"].clone();
            let body = match action {
                "rename_agent" => json!({ "action": action, "agent_id": agent_id, "name": "It" }),
                "revoke_agent" => {
                    json!({ "action": action, "agent_id": agent_id, "confirm": true })
                }
                "sign_out_everywhere" => json!({ "action": action, "confirm": true }),
                action => json!({ "action": action }),
            };
            let reply = person.call("owners", body).await;
            let allowed = texts(&me["owner"]["allowed_actions"]);
            match table.leads(state, action, None) {
                Some(_) => assert_eq!(reply.status, 200, "{action} {state}: {}", reply.text),
                None => {
                    reply.assert_refused(409, "invalid_transition");
                    let next = &reply.body["next"]["input"];
                    let record = person.result("owners", next.clone()).await;
                    assert_eq!(record["owner"]["state"], **state, "the own record: {record:#}");
                }
            }
            let expected = table.leads(state, action, None).is_some();
            assert_eq!(
                allowed.iter().any(|allowed| allowed == action),
                expected,
                "{action} {state}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archived_organisation_allows_no_action() {
    let host = shipped().await;
    let table = Table::read(&host, "social_org", "org").await;
    let owner = Person::new(&host).await;
    let org = json!({ "action": "create", "name": "Copperleaf", "kind": "company" });
    let org = owner.agent().result("social_org", org).await;
    let id = org["org_id"].as_str().unwrap_or_else(|| panic!("{org:#}"));
    let archive = json!({ "action": "archive", "org_id": id });
    owner.agent().result("social_org", archive).await;
    let other = json!("own_01JZX8Q4M2N6P7R8S9T0V1W2X3");
    let (mut tried, mut followed) = (0, FollowedSteps::default());
    for action in table.actions() {
        let more = match action {
            // These are not actions of an owner: the first is the operator's, the second that of an
            // invited person, and the third that of the host.
            "set_verified" | "respond_invite" | "on_owner_leaving" => continue,
            "update" => json!({ "name": "Other" }),
            "invite_member" => json!({ "owner_id": other, "role": "member" }),
            "set_role" => json!({ "owner_id": other, "role": "admin" }),
            "remove_member" | "transfer_ownership" => json!({ "owner_id": other }),
            "link_target" => json!({ "target_id": "tgt_1" }),
            _ => json!({}),
        };
        let mut body = json!({ "action": action, "org_id": id });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let reply = owner.agent().call("social_org", body).await;
        reply.assert_refused(409, "invalid_transition");
        assert_eq!(reply.body["conflict"]["allowed_actions"], json!([]), "{}", reply.text);
        assert_eq!(followed.follow(owner.agent(), &reply).await, None);
        tried += 1;
    }
    assert!(tried > 6, "{tried}");
}
