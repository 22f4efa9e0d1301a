//! Introductions over a running host: a whole walk, blocks in each direction, what exports have, and two people
//! who act at once.

use crate::{
    cases::personal::{erase, export},
    harness::{
        Host, Options, Reply,
        credits::funds,
        join_all,
        listings::action_body,
        relationships::Person,
        time::{DAY, HOUR},
    },
};
use serde_json::{Value, json};

const INTROS: &str = "intros";

async fn host() -> Host {
    let names = [
        "agent_credits",
        "conversations",
        INTROS,
        "owners",
        "pairings",
        "social_permissions",
        "social_relationships",
        "svc_phone_binding",
        "thread_meetings",
    ];
    // The tests make many calls, and none of them is about the time limit.
    Host::start(Options::with(&names).configuration("[limits]\ncall_wall_time_ms = 30000\n")).await
}

impl Person<'_> {
    async fn call_intro(&self, action: &str, fields: Value) -> Reply {
        self.agent().call(INTROS, action_body(action, &fields)).await
    }

    async fn intro(&self, action: &str, fields: Value) -> Value {
        self.agent().result(INTROS, action_body(action, &fields)).await
    }

    async fn intro_state(&self, intro_id: &str) -> Value {
        let reply = self.call_intro("get", json!({ "intro_id": intro_id })).await;
        match reply.status.as_u16() {
            200 => reply.body["result"]["state"].clone(),
            _ => reply.body["error_code"].clone(),
        }
    }

    async fn intro_events(&self) -> Vec<Value> {
        let page = self.reader.page("wait=0&cursor=0&limit=100").await;
        let events = page["events"].as_array().unwrap().iter();
        let ours = |event: &&Value| event["type"].as_str().unwrap().starts_with("intro.");
        events.filter(ours).cloned().collect()
    }
}

async fn befriend(one: &Person<'_>, other: &Person<'_>) {
    one.call_ok("connect", &other.id).await;
    other.call_kind_ok("accept", "connect", &one.id).await;
}

fn request_of(introducer: &Person<'_>, target: &Person<'_>) -> Value {
    json!({
        "introducer_id": introducer.id, "target_id": target.id,
        "reason": "Both of us build robots for hospitals.",
    })
}

/// Three people: the second one is a contact of both others.
async fn three(host: &Host) -> [Person<'_>; 3] {
    let people = [Person::new(host).await, Person::new(host).await, Person::new(host).await];
    befriend(&people[0], &people[1]).await;
    befriend(&people[1], &people[2]).await;
    people
}

/// Lets the first of three people ask for an introduction to the third, and returns its id.
async fn ask(host: &Host, [ada, bo, cy]: &[Person<'_>; 3]) -> String {
    let intro = ada.intro("request", request_of(bo, cy)).await;
    host.wait_until_settled().await;
    intro["intro_id"].as_str().unwrap().to_owned()
}

/// Returns what an export of a person's data has of introductions: documents and events.
async fn exported(host: &Host, person: &Person<'_>) -> String {
    let exported = export(host, &person.id).await.body;
    let documents = exported["documents"].as_array().unwrap().iter();
    let documents = documents.filter(|document| document["capability"] == INTROS);
    documents.chain(&exported_events(&exported)).map(Value::to_string).collect()
}

/// Returns the events about introductions in an export.
fn exported_events(exported: &Value) -> Vec<Value> {
    let events = exported["events"].as_array().unwrap().iter();
    let ours = |event: &&Value| event["event_type"].as_str().unwrap().starts_with("intro.");
    events.filter(ours).cloned().collect()
}

/// Returns the events in an export of the requester's data, each as its type and data, and the states of the
/// documents there; with names instead of the ids of the people and of the introduction.
async fn exported_of_requester(host: &Host, people: &[Person<'_>; 3], id: &str) -> String {
    let exported = export(host, &people[0].id).await.body;
    let events = exported_events(&exported);
    let events = events.iter().map(|event| format!("{} {}\n", event["event_type"], event["data"]));
    let documents = exported["documents"].as_array().unwrap().iter();
    let documents = documents.filter(|document| document["capability"] == INTROS);
    let states =
        documents.map(|found| format!("{} {}\n", found["collection"], found["document"]["state"]));
    let mut text: String = events.chain(states).collect();
    for (person, name) in people.iter().zip(["ADA", "BO", "CY"]) {
        text = text.replace(&person.id, name);
    }
    text.replace(id, "INTRO")
}

fn respond(intro_id: &str, decision: &str) -> Value {
    json!({ "intro_id": intro_id, "decision": decision })
}

#[tokio::test(flavor = "multi_thread")]
async fn an_introduction_from_the_request_to_the_conversation() {
    let host = host().await;
    let people = three(&host).await;
    let [ada, bo, cy] = &people;
    let stranger = ada.call_intro("request", request_of(cy, bo)).await;
    stranger.assert_refused(422, "not_acquainted");
    ada.call_intro("request", request_of(bo, bo)).await.assert_refused(422, "same_person");
    let mut rehearsal = action_body("request", &request_of(bo, cy));
    rehearsal["dry_run"] = json!(true);
    let rehearsal = ada.agent().call(INTROS, rehearsal).await;
    assert_eq!(rehearsal.status, 200, "{}", rehearsal.text);
    assert!(!rehearsal.body["meta"].to_string().contains("intro."), "{}", rehearsal.text);

    let before = funds(&ada.reader).await;
    let id = ask(&host, &people).await;
    assert_eq!(funds(&ada.reader).await, (before.0 - 1, before.1 + 1));
    ada.call_intro("request", request_of(bo, cy)).await.assert_refused(409, "intro_exists");
    let event = bo.intro_events().await.remove(0);
    assert_eq!(event["type"], "intro.requested");
    assert_eq!(event["data"]["actor"]["owner_id"], json!(ada.id));
    let seen = bo.call_next_step(&event["data"]["next"]).await;
    assert_eq!(
        (&seen["role"], &seen["allowed_actions"]),
        (&json!("introducer"), &json!(["respond"]))
    );
    assert_eq!(cy.intro_state(&id).await, "intro_not_found");

    let mut accept = respond(&id, "accept");
    accept["note"] = json!("You would like her.");
    assert_eq!(bo.intro("respond", accept).await["state"], "forwarded");
    let pending = ada.intro("get", json!({ "intro_id": id })).await;
    assert_eq!((&pending["state"], &pending["version"]), (&json!("asked"), &json!(1)));
    let event = cy.intro_events().await.remove(0);
    assert_eq!(event["data"]["actor"]["owner_id"], json!(bo.id));
    let seen = cy.call_next_step(&event["data"]["next"]).await;
    assert_eq!(seen["note"], "You would like her.");
    assert_eq!(seen["trust"], "untrusted_user_content");
    let agreed = cy.intro("respond", respond(&id, "accept")).await;
    assert_eq!(agreed["state"], "introduced");
    assert_eq!(funds(&ada.reader).await, before, "the credit is refunded");

    let event = ada.intro_events().await.remove(0);
    assert_eq!(event["type"], "intro.completed");
    let messages = ada.call_next_step(&event["data"]["next"]).await;
    assert_eq!(messages["items"], json!([]));
    let thread_id = agreed["thread_id"].as_str().unwrap();
    let number = json!({ "thread_id": thread_id, "text": "My number is +1 415 555 0123." });
    let early = cy.call_thread("send", number.clone()).await;
    early.assert_refused(422, "contact_in_text");
    for person in [ada, cy] {
        person.intro("exchange_contact", json!({ "intro_id": id, "allow": true })).await;
    }
    host.wait_until_settled().await;
    cy.call_thread_ok("send", number).await;
    assert_eq!(ada.thread(thread_id).await["unread"], 1);
    bo.call_thread("get", json!({ "thread_id": thread_id }))
        .await
        .assert_refused(404, "thread_not_found");
    let known = bo.intro("get", json!({ "intro_id": id })).await;
    assert_eq!((&known["state"], &known["allowed_actions"]), (&json!("introduced"), &json!([])));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_requester_is_told_not_now_and_not_by_whom() {
    let host = host().await;
    let mut seen = Vec::new();
    let (one, other) = (three(&host).await, three(&host).await);
    let ids = [ask(&host, &one).await, ask(&host, &other).await];
    one[1].intro("respond", respond(&ids[0], "decline")).await;
    other[1].intro("respond", respond(&ids[1], "accept")).await;
    other[2].intro("respond", respond(&ids[1], "decline")).await;
    host.wait_until_settled().await;
    for (people, id) in [(&one, &ids[0]), (&other, &ids[1])] {
        let ada = &people[0];
        // The person's own export has nothing of what the others have answered.
        let exported = exported(&host, ada).await;
        assert!(exported.contains(id.as_str()), "{exported}");
        assert!(!exported.contains("declined") && !exported.contains("forwarded"), "{exported}");
        let pending = ada.intro("get", json!({ "intro_id": id })).await;
        seen.push((
            pending["state"].clone(),
            pending["version"].clone(),
            ada.intro_events().await.len(),
        ));
    }
    assert_eq!(seen[0], seen[1]);
    assert_eq!(seen[0], (json!("asked"), json!(1), 0));
    // Before it is forwarded, the target has nothing of it either.
    assert!(!exported(&host, &one[2]).await.contains(&ids[0]));
    host.advance(7 * DAY + HOUR).await;
    for (people, id) in [(&one, &ids[0]), (&other, &ids[1])] {
        let ended = people[0].intro("get", json!({ "intro_id": id })).await;
        assert_eq!((&ended["state"], &ended["version"]), (&json!("not_now"), &json!(2)));
        let events = people[0].intro_events().await;
        assert_eq!(events.len(), 1, "{events:#?}");
        assert_eq!(events[0]["type"], "intro.ended");
        assert_eq!(events[0]["data"]["actor"], json!({ "kind": "system" }));
        let again = people[0].call_intro("request", request_of(&people[1], &people[2])).await;
        again.assert_refused(409, "cooldown_active");
    }
    assert_eq!(other[1].intro_state(&ids[1]).await, "not_now");
    assert_eq!(one[1].intro_state(&ids[0]).await, "declined");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_of_the_requester_is_the_same_whoever_has_declined() {
    let ways: [&[&str]; 4] = [&[], &["decline"], &["accept"], &["accept", "decline"]];
    for withdraws in [false, true] {
        let host = host().await;
        let mut asked = Vec::new();
        for decisions in ways {
            let people = three(&host).await;
            let id = ask(&host, &people).await;
            for (person, decision) in people.iter().skip(1).zip(decisions) {
                person.intro("respond", respond(&id, decision)).await;
            }
            if withdraws {
                people[0].intro("withdraw", json!({ "intro_id": id })).await;
            }
            asked.push((people, id));
        }
        host.wait_until_settled().await;
        for ended in [0, usize::from(!withdraws)] {
            let mut seen = Vec::new();
            for (people, id) in &asked {
                seen.push(exported_of_requester(&host, people, id).await);
            }
            assert!(seen.iter().all(|export| *export == seen[0]), "{seen:#?}");
            assert_eq!(seen[0].matches("\"intro.").count(), ended, "{}", seen[0]);
            assert!(seen[0].contains("seats"), "{}", seen[0]);
            host.advance(7 * DAY + HOUR).await;
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_has_the_events_that_were_sent_to_the_person() {
    let host = host().await;
    let people = three(&host).await;
    let id = ask(&host, &people).await;
    for person in &people[1..] {
        person.intro("respond", respond(&id, "accept")).await;
    }
    host.wait_until_settled().await;
    let [ada, bo, cy] = &people;
    for (person, sent, not_sent) in [
        (ada, "intro.completed", "intro.requested"),
        (bo, "intro.requested", "intro.ended"),
        (cy, "intro.requested", "intro.completed"),
    ] {
        let exported = exported(&host, person).await;
        assert!(exported.contains(sent) && !exported.contains(not_sent), "{exported}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_hides_an_introduction_in_each_direction() {
    let host = host().await;
    for (blocker, blocked) in [(0, 1), (1, 0), (0, 2), (2, 0), (1, 2), (2, 1)] {
        let people = three(&host).await;
        let id = ask(&host, &people).await;
        people[1].intro("respond", respond(&id, "accept")).await;
        let ada_before = people[0].intro("get", json!({ "intro_id": id })).await;
        people[blocker].call_ok("block", &people[blocked].id).await;
        host.wait_until_settled().await;
        for (place, person) in people.iter().enumerate() {
            let hides = place == blocker || place == blocked;
            let reply = person.call_intro("get", json!({ "intro_id": id })).await;
            let listed = person.intro("list", json!({})).await["items"].clone();
            if hides {
                reply.assert_refused(404, "intro_not_found");
                let nothing = json!({ "intro_id": "intro_01JZX8Q4M2N6P7R8S9T0V1W2X3" });
                assert_eq!(reply.body, person.call_intro("get", nothing).await.body);
                assert_eq!(listed, json!([]), "{blocker} {blocked} {place}");
                let answer = person.call_intro("respond", respond(&id, "accept")).await;
                answer.assert_refused(404, "intro_not_found");
            } else {
                assert_eq!(reply.status, 200, "{}", reply.text);
            }
        }
        // The requester does not notice a block between the two others.
        if ![blocker, blocked].contains(&0) {
            assert_eq!(people[0].intro("get", json!({ "intro_id": id })).await, ada_before);
        }
        // The target is not introduced to somebody who has nothing to do with the introducer any more.
        if ![blocker, blocked].contains(&2) {
            let answer = people[2].call_intro("respond", respond(&id, "accept")).await;
            answer.assert_refused(409, "recipient_not_accepting");
        }
        let again = people[blocker].call_intro(
            "request",
            request_of(&people[blocked], &people[(3 - blocker - blocked) % 3]),
        );
        again.await.assert_refused(404, "owner_not_found");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_request_over_people_who_do_not_see_each_other_is_accepted_and_reaches_nobody() {
    let host = host().await;
    let people = three(&host).await;
    let [ada, bo, cy] = &people;
    cy.call_ok("block", &bo.id).await;
    host.wait_until_settled().await;
    let id = ask(&host, &people).await;
    assert_eq!(ada.intro_state(&id).await, "asked");
    assert_eq!(bo.intro_state(&id).await, "intro_not_found");
    assert_eq!(bo.intro_events().await, Vec::<Value>::new());
    host.advance(7 * DAY + HOUR).await;
    assert_eq!(ada.intro_state(&id).await, "not_now");
    assert_eq!(bo.intro_events().await, Vec::<Value>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agreement_and_a_withdrawal_at_once_have_one_outcome() {
    let host = host().await;
    for _ in 0..4 {
        let people = three(&host).await;
        let [ada, bo, cy] = &people;
        let id = ask(&host, &people).await;
        bo.intro("respond", respond(&id, "accept")).await;
        let (withdraw, accept) = (json!({ "intro_id": id }), respond(&id, "accept"));
        let replies =
            tokio::join!(ada.call_intro("withdraw", withdraw), cy.call_intro("respond", accept));
        host.wait_until_settled().await;
        let states = join_all(people.iter().map(|person| person.intro_state(&id))).await;
        assert!(states.iter().all(|state| *state == states[0]), "{states:?}");
        let expected = if replies.1.status == 200 { "introduced" } else { "withdrawn" };
        assert_eq!(states[0], expected, "{}", replies.1.text);
        assert_ne!(replies.0.status == 200, replies.1.status == 200, "one of them succeeds");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_erasure_of_any_of_the_three_leaves_nothing_of_them() {
    let host = host().await;
    for erased in 0..3 {
        let people = three(&host).await;
        let id = ask(&host, &people).await;
        people[1].intro("respond", respond(&id, "accept")).await;
        let reply = erase(&host, &people[erased].id).await;
        assert!(reply.status.is_success(), "{}", reply.text);
        host.wait_until_settled().await;
        let documents = "SELECT d.id || ' ' || d.body FROM documents d \
            JOIN collections c ON c.id = d.collection WHERE c.capability LIKE 'intros%'";
        let left = host.database().texts(documents).await;
        assert!(left.iter().all(|text| !text.contains(&people[erased].id)), "{left:#?}");
        for person in people.iter().enumerate().filter(|(place, _)| *place != erased) {
            assert_eq!(person.1.intro_state(&id).await, "intro_not_found");
        }
    }
}
