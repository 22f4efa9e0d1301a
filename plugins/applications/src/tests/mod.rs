//! Applications in a world in which a test says who acts for the company.

mod deciding;
mod sending;
mod talking;
mod waiting;

use sending::job;

use crate::{Applications, credits, documents::*, types::*};
use people_kit::organisations::{ACTING_FOR, ACTING_MEMBERS, SPEAKERS, SPEAKS_FOR};
use people_kit::{listings, pairings, people, relations, threads};
use portolan_sdk::{
    contract::events::Audience,
    prelude::*,
    test::{self, World},
};

const NOW: u64 = 1_800_000_000_000;
const ADA: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2A1";
const BEN: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2B1";
const CLEO: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2C1";
const ROLE: &str = "rol_1";
const TARGET: &str = "tgt_1";
const FUND: &str = "tgt_fund";
const JOB: &str = "lst_01JZX8Q4M2N6P7R8S9T0V1W2J1";

/// Returns a world in which these people act for every company, and nobody has blocked anybody.
fn world(acting: &[&str]) -> World {
    world_hiding(acting, &[])
}

/// Returns a world in which these people act for every company, and nobody sees those who are hidden.
fn world_hiding(acting: &[&str], hidden: &[&str]) -> World {
    world_talking(acting, hidden, &thread("open", NOW))
}

/// Returns a world like this one, in which the conversation is as given.
fn world_talking(acting: &[&str], hidden: &[&str], thread: &Value) -> World {
    world_of_people(acting, hidden, thread, &[ADA, BEN, CLEO])
}

/// Returns a world like this one, in which only these people exist.
fn world_of_people(acting: &[&str], hidden: &[&str], thread: &Value, people: &[&str]) -> World {
    let feed = |name| Collection::<Value>::new(name);
    let target = |name: &str| json!({ "properties": { "name": name } });
    let investors = json!([{ "name": "Nowhere", "lead": true }, { "name": "Fund", "target_id": FUND, "lead": false }]);
    let role = json!({
        "target_id": TARGET, "title": "Robotics engineer", "apply_url": "https://boards.example/1",
    });
    let person = |owner_id: &&str| {
        json!({
            "owner_id": owner_id, "display_name": "Somebody", "active": true,
            "contact_policy": "anyone_matching",
        })
    };
    test::world()
        .of::<Applications>()
        .at(NOW)
        .owner(ADA)
        .record(feed("roles"), ROLE, &role)
        .record(feed("targets"), TARGET, &target("Copperleaf"))
        .record(feed("targets"), FUND, &target("Fund"))
        .record(feed("people"), "per_1", &json!({ "target_id": TARGET }))
        .record(feed("signals"), "sig_1", &json!({ "funding": { "investors": investors } }))
        .record(feed("signals"), "sig_2", &json!({ "funding": { "investors": [] } }))
        .answer(ACTING_MEMBERS, json!({ "org_id": "org_1", "owner_ids": acting }))
        .answer(SPEAKERS, json!({ "owner_ids": [] }))
        .answer(ACTING_FOR, json!({ "orgs": [{ "org_id": "org_1", "target_id": TARGET }] }))
        .answer(SPEAKS_FOR, json!({ "target_ids": [] }))
        .answer(relations::HIDDEN, json!({ "owner_ids": hidden }))
        .answer(relations::ALLOWED, json!({ "allowed": true }))
        .answer(people::PEOPLE, json!({ "people": people.iter().map(person).collect::<Vec<_>>() }))
        .answer(pairings::CONTACT, json!({}))
        .answer(credits::QUOTE, json!({ "cost": 1 }))
        .answer(credits::HOLD, json!({ "hold_id": "hold_1" }))
        .answer(credits::CAPTURE, json!({}))
        .answer(credits::RELEASE, json!({}))
        .answer(threads::OPEN, json!({ "thread_id": "thr_1" }))
        .answer(threads::END, json!({}))
        .answer(threads::THREAD, thread)
}

/// Returns a conversation in this state, whose last message was sent at this time.
fn thread(state: &str, active_at: u64) -> Value {
    json!({
        "thread_id": "thr_1", "state": state, "participants": [ADA, BEN], "pairing_id": "app_1",
        "active_at": active_at,
    })
}

/// Returns a world like this one, with the same documents, in which others act for every company.
fn carried(world: &World, acting: &[&str]) -> World {
    carry(world, self::world(acting))
}

/// Returns the second world with the applications of the first one.
fn carry(world: &World, mut next: World) -> World {
    for found in world.documents(APPLICATIONS) {
        next = next.document(APPLICATIONS, &found.id, &found.value);
    }
    next
}

fn apply(world: &mut World) -> Result<Value, Refusal> {
    world.call("apply", &json!({ "role_id": ROLE, "profile": { "headline": "Engineer" } }))
}

fn enquire(world: &mut World) -> Result<Value, Refusal> {
    let message = "Shall we talk about robots?";
    world.call("enquire", &json!({ "purpose": "contact", "target_id": TARGET, "message": message }))
}

fn of(application: &Value, fields: Value) -> Value {
    let mut input = json!({ "application_id": application["application_id"] });
    input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    input
}

/// Returns the types of the events, each with the person who gets it.
fn events(world: &World) -> Vec<(String, String)> {
    let owner = |to: Audience| match to {
        Audience::Owner(owner_id) => owner_id,
        _ => String::new(),
    };
    world.events().into_iter().map(|event| (event.event_type, owner(event.to))).collect()
}

fn event(kind: &str, owner_id: &str) -> (String, String) {
    (format!("application.{kind}"), owner_id.to_owned())
}

/// Returns the names of the actions of `agent_credits` that end a hold.
fn settled(world: &World) -> Vec<String> {
    let ends = ["capture", "release"];
    let asked = world.asked().into_iter().map(|asked| asked.action);
    asked.filter(|action| ends.contains(&action.as_str())).collect()
}
