//! `allowed_actions` never lists what the call refuses: in many states and for every role, each listed
//! action is tried as a dry run.

use crate::harness::{
    Agent, Host, Options,
    conversations::wait_until,
    listings::{self, LISTINGS, Lister, moderate, room},
    meetings::{proposal, slot},
    pairings::{PAIRINGS, Party},
    time::DAY,
};
use serde_json::{Value, json};

const ORG: &str = "social_org";
const THREADS: &str = "conversations";
const MEETINGS: &str = "thread_meetings";

async fn host() -> Host {
    let more = ["agent_credits", "calendar", THREADS, PAIRINGS, MEETINGS];
    let names = [&listings::CAPABILITIES[..], &more].concat();
    let patient = "[limits]\ncall_wall_time_ms = 30000\n";
    Host::start(Options::with(&names).configuration(patient)).await
}

/// The number of actions that were tried, and those that were refused.
#[derive(Default)]
struct Trial {
    tried: usize,
    faults: Vec<String>,
}

impl Trial {
    /// Reads a thing as this agent, and tries each of its allowed actions; `more` has the fields that an
    /// action needs beside the id. A thing that the agent does not see allows nothing.
    async fn run(
        &mut self,
        what: &str,
        agent: &Agent<'_>,
        capability: &str,
        id: &Value,
        more: impl Fn(&str, &Value) -> Value,
    ) {
        let body = |action: &str, fields: &Value| {
            let mut body = id.clone();
            body["action"] = json!(action);
            body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
            body
        };
        let read = agent.call(capability, body("get", &json!({}))).await;
        let view = &read.body["result"];
        for action in view["allowed_actions"].as_array().into_iter().flatten() {
            let action = action.as_str().unwrap();
            let mut input = body(action, &more(action, view));
            input["dry_run"] = json!(true);
            let reply = agent.call(capability, input).await;
            self.tried += 1;
            if reply.status != 200 {
                self.faults.push(format!("{what}: {action}: {}", reply.text));
            }
        }
    }

    fn finish(&self, least: usize) {
        assert!(self.faults.is_empty(), "{}", self.faults.join("\n"));
        assert!(self.tried >= least, "only {} actions were tried", self.tried);
    }
}

async fn join(ada: &Lister<'_>, org_id: &Value, member: &Lister<'_>, role: &str) {
    invite(ada, org_id, member, role).await;
    let accept = json!({ "action": "respond_invite", "org_id": org_id, "decision": "accept" });
    member.agent().result(ORG, accept).await;
}

async fn invite(ada: &Lister<'_>, org_id: &Value, member: &Lister<'_>, role: &str) {
    let invite = json!({
        "action": "invite_member", "org_id": org_id, "owner_id": member.id, "role": role,
    });
    ada.agent().result(ORG, invite).await;
}

async fn create_org(ada: &Lister<'_>, name: &str) -> Value {
    let org = json!({ "action": "create", "name": name, "kind": "landlord" });
    ada.agent().result(ORG, org).await["org_id"].clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn of_organisations() {
    let host = host().await;
    let mut people = Vec::new();
    for _ in 0..6 {
        people.push(Lister::new(&host).await);
    }
    let [ada, bob, cy, dee, eve, fay] = people.as_slice() else { unreachable!() };
    let (alone, team) = (create_org(ada, "Alone").await, create_org(ada, "Team").await);
    for (member, role) in [(bob, "admin"), (cy, "recruiter"), (dee, "member")] {
        join(ada, &team, member, role).await;
    }
    invite(ada, &team, eve, "member").await;
    let input = |action: &str, _: &Value| match action {
        "update" => json!({ "name": "Another name" }),
        "invite_member" => json!({ "owner_id": fay.id, "role": "member" }),
        "respond_invite" => json!({ "decision": "accept" }),
        "set_role" => json!({ "owner_id": dee.id, "role": "recruiter" }),
        "remove_member" => json!({ "owner_id": dee.id }),
        "transfer_ownership" => json!({ "owner_id": bob.id }),
        "link_target" => json!({ "target_id": null }),
        _ => json!({}),
    };
    let mut trial = Trial::default();
    let mut walk = async |what: &str| {
        for (org, name) in [(&alone, "alone"), (&team, "team")] {
            for (number, person) in people.iter().enumerate() {
                let what = format!("{what}, {name}, person {number}");
                let id = json!({ "org_id": org });
                trial.run(&what, person.agent(), ORG, &id, input).await;
            }
        }
    };
    walk("at first").await;
    host.advance(61 * DAY).await;
    // The owner is gone, until the walk reads as the owner.
    let request = json!({ "action": "request_succession", "org_id": team });
    bob.agent().result(ORG, request).await;
    walk("requested").await;
    ada.agent().result(ORG, json!({ "action": "refuse_succession", "org_id": team })).await;
    walk("refused").await;
    ada.agent().result(ORG, json!({ "action": "archive", "org_id": team })).await;
    walk("archived").await;
    trial.finish(40);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_listings() {
    let host = host().await;
    let (ada, bob, cy) =
        (Lister::new(&host).await, Lister::new(&host).await, Lister::new(&host).await);
    let org = create_org(&ada, "Copperleaf").await;
    join(&ada, &org, &bob, "recruiter").await;
    join(&ada, &org, &cy, "recruiter").await;
    let input = |action: &str, _: &Value| match action {
        "update" => json!({ "patch": { "title": "Another title" } }),
        _ => json!({}),
    };
    let mut ids = Vec::new();
    for as_org in [json!({}), json!({ "as_org": org })] {
        for (state, fields) in [
            ("draft", json!({ "publish": false })),
            ("active", json!({})),
            ("in_review", json!({ "title": "Adults only" })),
            ("rejected", json!({ "title": "Adults only" })),
            ("paused", json!({})),
            ("filled", json!({})),
            ("withdrawn", json!({})),
            ("removed", json!({})),
        ] {
            let mut listing = fields;
            listing.as_object_mut().unwrap().extend(as_org.as_object().unwrap().clone());
            let id = bob.create_listing(listing).await;
            let reason = json!({ "listing_id": id, "reason": "a test" });
            match state {
                "rejected" => drop(moderate(&host, "reject", reason).await),
                "removed" => drop(moderate(&host, "remove", reason).await),
                "paused" => drop(bob.call_on("pause", &id).await),
                "filled" => drop(bob.call_on("mark_filled", &id).await),
                "withdrawn" => drop(bob.call_on("withdraw", &id).await),
                _ => {}
            }
            ids.push((state, id));
        }
    }
    let mut trial = Trial::default();
    let mut walk = async |what: &str| {
        for (state, id) in &ids {
            for (role, person) in [("owner", &ada), ("author", &bob), ("colleague", &cy)] {
                let what = format!("{what}, {state}, {role}");
                let id = json!({ "listing_id": id });
                trial.run(&what, person.agent(), LISTINGS, &id, input).await;
            }
        }
    };
    walk("at first").await;
    bob.agent().result("owners", json!({ "action": "deactivate" })).await;
    let read = async |id: &str| cy.call_on("get", id).await.body["result"].clone();
    let has_passed = async || read(&ids[9].1).await["owner"]["owner_id"] == json!(ada.id);
    wait_until("the organisation's listing has passed on", has_passed).await;
    let is_paused =
        async || bob.call_on("get", &ids[1].1).await.body["result"]["state"] == "paused";
    wait_until("the person's own listing is paused", is_paused).await;
    walk("deactivated").await;
    bob.agent().result("owners", json!({ "action": "reactivate" })).await;
    bob.agent().result(ORG, json!({ "action": "leave", "org_id": org })).await;
    walk("just left").await;
    // A draft passes on too.
    let has_passed = async || read(&ids[8].1).await["owner"]["owner_id"] == json!(ada.id);
    wait_until("it has passed on", has_passed).await;
    walk("left").await;
    host.advance(40 * DAY).await;
    walk("too late for the filled one").await;
    host.advance(100 * DAY).await;
    walk("too late").await;
    trial.finish(100);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_pairings_conversations_and_meetings() {
    let host = host().await;
    let seeker = Party::seeker(&host).await;
    let (ada, bob, outsider) =
        (Lister::new(&host).await, Lister::new(&host).await, Lister::new(&host).await);
    let org = create_org(&ada, "Copperleaf").await;
    join(&ada, &org, &bob, "recruiter").await;
    let mut trial = Trial::default();
    let pairing_input = |action: &str, _: &Value| match action {
        "reply" => json!({ "decision": "decline" }),
        "message" => json!({ "message": "Hello" }),
        "disclose" => json!({ "fields": ["phone"] }),
        "close" => json!({ "outcome": "other" }),
        "assign" => json!({ "owner_id": bob.id }),
        _ => json!({}),
    };
    let thread_input = |action: &str, view: &Value| match action {
        "send" => json!({ "text": "Hello" }),
        "mark_read" | "mark_delivered" => {
            json!({ "up_to_message_id": view["last_message"]["message_id"] })
        }
        "invite" => json!({ "owner_id": outsider.id }),
        _ => json!({}),
    };
    let meeting_input = |action: &str, view: &Value| {
        let slots =
            if view["counter"].is_null() { &view["slots"] } else { &view["counter"]["slots"] };
        let slot_id = &slots[0]["slot_id"];
        match action {
            "accept" => json!({ "slot_id": slot_id, "sequence": view["sequence"] }),
            "accept_counter" => json!({ "slot_id": slot_id }),
            "counter" | "reschedule" => json!({ "slots": [slot(600)] }),
            "report_outcome" => json!({ "outcome": "completed" }),
            _ => json!({}),
        }
    };
    for (case, decision) in
        [("proposed", None), ("clarifying", Some("ask")), ("declined", Some("decline"))]
    {
        let listing = ada.create_listing(json!({ "as_org": org })).await;
        let office = Party { lister: Lister::new(&host).await, listing };
        let id = json!({ "pairing_id": seeker.propose(&office).await });
        if let Some(decision) = decision {
            let mut reply = id.clone();
            (reply["action"], reply["decision"]) = (json!("reply"), json!(decision));
            reply["message"] = json!("Since when?");
            bob.agent().result(PAIRINGS, reply).await;
        }
        for person in [&seeker.lister, &ada, &bob] {
            trial.run(case, person.agent(), PAIRINGS, &id, pairing_input).await;
        }
    }

    let listing = ada.create_listing(room(json!({ "as_org": org }))).await;
    let office = Party { lister: Lister::new(&host).await, listing };
    let id = json!({ "pairing_id": seeker.propose(&office).await });
    let mut accept = id.clone();
    (accept["action"], accept["decision"]) = (json!("reply"), json!("accept"));
    let thread_id = bob.agent().result(PAIRINGS, accept).await["thread_id"].clone();
    let send = json!({ "action": "send", "thread_id": thread_id, "text": "Hello" });
    for person in [&seeker.lister, &ada] {
        person.agent().result(THREADS, send.clone()).await;
    }
    let mut propose = proposal(thread_id.as_str().unwrap(), &[0, 60]);
    propose["action"] = json!("propose");
    let meeting = seeker.lister.agent().result(MEETINGS, propose).await;
    let meeting = json!({ "meeting_id": meeting["meeting_id"] });
    let thread = json!({ "thread_id": thread_id });
    for what in ["connected", "paused", "blocked", "closed"] {
        let agent = seeker.lister.agent();
        match what {
            "paused" => seeker.set_preferences(json!({ "contact_policy": "paused" })).await,
            "blocked" => {
                seeker.set_preferences(json!({ "contact_policy": "anyone_matching" })).await;
                seeker.lister.relate("block", &ada).await;
            }
            "closed" => {
                let mut close = id.clone();
                (close["action"], close["outcome"]) = (json!("close"), json!("other"));
                agent.result(PAIRINGS, close).await;
            }
            _ => {}
        }
        for person in [&seeker.lister, &ada, &bob] {
            trial.run(what, person.agent(), PAIRINGS, &id, pairing_input).await;
            trial.run(what, person.agent(), THREADS, &thread, thread_input).await;
            trial.run(what, person.agent(), MEETINGS, &meeting, meeting_input).await;
        }
    }
    trial.finish(60);
}
