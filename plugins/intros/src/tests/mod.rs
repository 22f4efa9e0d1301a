//! Introductions in a world in which Ada knows Bo, Bo knows Cy, and Ada does not know Cy.

mod secrecy;

use crate::{Intros, credits, documents::*, states::State};
use people_kit::{acquaintances, people, relations, threads};
use portolan_sdk::{
    contract::events::Audience,
    prelude::*,
    test::{self, World},
};
use std::collections::BTreeSet;

const NOW: u64 = 1_800_000_000_000;
const ADA: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2A1";
const BO: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2B1";
const CY: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2C1";

/// A world that is played day by day, with the timers that have run.
struct Play {
    world: World,
    ran: BTreeSet<(String, u64)>,
}

impl Play {
    fn new() -> Self {
        Self::with(world(json!([])))
    }

    fn with(world: World) -> Self {
        Self { world, ran: BTreeSet::new() }
    }

    /// Returns a play in which Ada has asked Bo to introduce her to Cy, and the request has reached Bo.
    fn asked() -> (Self, String) {
        let mut play = Self::new();
        let intro = play.act(ADA, "request", request()).unwrap();
        play.pass(0);
        (play, intro["intro_id"].as_str().unwrap().to_owned())
    }

    fn act(&mut self, owner_id: &str, action: &str, input: Value) -> Result<Value, Refusal> {
        self.change(|world| world.owner(owner_id));
        self.world.call(action, &input)
    }

    /// Lets the next request find again that Ada knows Bo, and does not know Cy.
    fn ask_again(&mut self) {
        self.change(|world| {
            world.answer(acquaintances::BY_PAIRING, json!({ "acquainted": false }))
        });
    }

    fn change(&mut self, change: impl FnOnce(World) -> World) {
        let world = std::mem::replace(&mut self.world, test::world());
        self.world = change(world);
    }

    /// Lets time pass, hour by hour, and runs the timers that become due.
    fn pass(&mut self, hours: u64) {
        self.run_timers();
        for _ in 0..hours {
            self.world.advance(HOUR);
            self.run_timers();
        }
    }

    fn run_timers(&mut self) {
        self.change(World::system);
        let now = self.world.run(|call| Ok::<_, Refusal>(call.now())).unwrap();
        for timer in self.world.timers() {
            if timer.at <= now && self.ran.insert((timer.name, timer.at)) {
                self.world.call(&timer.action, &timer.input).unwrap();
            }
        }
    }

    /// Returns the types of the events, each with the person who gets it.
    fn events(&self) -> Vec<(String, String)> {
        let owner = |to: Audience| match to {
            Audience::Owner(owner_id) => owner_id,
            other => panic!("{other:?}"),
        };
        let events = self.world.events().into_iter();
        events.map(|event| (event.event_type, owner(event.to))).collect()
    }

    fn state_of(&mut self, owner_id: &str, intro_id: &str) -> Value {
        match self.act(owner_id, "get", json!({ "intro_id": intro_id })) {
            Ok(intro) => intro["state"].clone(),
            Err(refusal) => json!(refusal.code),
        }
    }
}

fn request() -> Value {
    json!({
        "introducer_id": BO, "target_id": CY,
        "reason": "Both of us build robots for hospitals.",
    })
}

fn respond(intro_id: &str, decision: &str) -> Value {
    json!({ "intro_id": intro_id, "decision": decision })
}

/// Returns a world in which the people of `hidden` are not visible.
fn world(hidden: Value) -> World {
    let person = |owner_id: &str| {
        json!({
            "owner_id": owner_id, "display_name": "Somebody", "active": true,
            "contact_policy": "anyone_matching",
        })
    };
    let people = [ADA, BO, CY].map(person);
    let acquainted = |acquainted: bool| json!({ "acquainted": acquainted });
    test::world()
        .of::<Intros>()
        .at(NOW)
        .owner(ADA)
        .answer(people::PEOPLE, json!({ "people": people }))
        .answer(relations::HIDDEN, json!({ "owner_ids": hidden }))
        // Ada and Bo are contacts; Ada and Cy, and Bo and Cy are not.
        .answer(relations::ALLOWED, json!({ "allowed": true }))
        .answer(relations::ALLOWED, json!({ "allowed": false }))
        // Ada and Cy have no pairing; Bo and Cy have one.
        .answer(acquaintances::BY_PAIRING, acquainted(false))
        .answer(acquaintances::BY_PAIRING, acquainted(true))
        .answer(acquaintances::BY_MEETING, acquainted(false))
        .answer(credits::QUOTE, json!({ "cost": 1 }))
        .answer(credits::HOLD, json!({ "hold_id": "hold_1" }))
        .answer(credits::CAPTURE, json!({}))
        .answer(credits::RELEASE, json!({}))
        .answer(threads::OPEN, json!({ "thread_id": "thr_1" }))
        .answer(
            threads::THREAD,
            json!({
                "thread_id": "thr_1", "state": "open", "participants": [ADA, CY],
                "pairing_id": "intro_1", "active_at": NOW,
            }),
        )
}

fn told(kind: &str, owner_id: &str) -> (String, String) {
    (format!("intro.{kind}"), owner_id.to_owned())
}

fn asked_of(world: &World, action: &str) -> usize {
    world.asked().iter().filter(|asked| asked.action == action).count()
}

#[test]
fn both_agree_and_have_a_conversation() {
    let (mut play, id) = Play::asked();
    assert_eq!(play.events(), [told("requested", BO)]);
    assert_eq!(play.state_of(CY, &id), "intro_not_found", "nothing reaches the target yet");
    let note = json!({ "intro_id": id, "decision": "accept", "note": "You would like her." });
    let forwarded = play.act(BO, "respond", note).unwrap();
    assert_eq!((&forwarded["state"], &forwarded["thread_id"]), (&json!("forwarded"), &Value::Null));
    let seen = play.act(CY, "get", json!({ "intro_id": id })).unwrap();
    assert_eq!(seen["allowed_actions"], json!(["respond"]));
    assert_eq!(seen["note"], "You would like her.");
    assert_eq!(play.act(ADA, "get", json!({ "intro_id": id })).unwrap().get("note"), None);
    let agreed = play.act(CY, "respond", respond(&id, "accept")).unwrap();
    assert_eq!((&agreed["state"], &agreed["thread_id"]), (&json!("introduced"), &json!("thr_1")));
    assert_eq!(asked_of(&play.world, "release"), 1, "the credit is refunded");
    let [ada, bo] =
        [ADA, BO].map(|owner| play.act(owner, "get", json!({ "intro_id": id })).unwrap());
    assert_eq!((&ada["state"], &ada["thread_id"]), (&json!("introduced"), &json!("thr_1")));
    assert_eq!(bo["thread_id"], Value::Null, "the introducer takes no part in it");
    assert_eq!(bo["allowed_actions"], json!([]));
    play.pass(24 * 120);
    let expected = [
        told("requested", BO),
        told("requested", CY),
        told("completed", ADA),
        told("completed", BO),
    ];
    assert_eq!(play.events(), expected, "nothing follows");
    assert_eq!(play.world.documents(SEATS).len(), 3);
}

#[test]
fn contact_data_needs_the_consent_of_both_and_stays() {
    let (mut play, id) = Play::asked();
    play.act(BO, "respond", respond(&id, "accept")).unwrap();
    play.act(CY, "respond", respond(&id, "accept")).unwrap();
    let allow = |allow: bool| json!({ "intro_id": id, "allow": allow });
    assert_eq!(play.act(BO, "exchange_contact", allow(true)).unwrap_err().code, "not_permitted");
    for allowed in [true, false, true] {
        let mine = play.act(ADA, "exchange_contact", allow(allowed)).unwrap();
        assert_eq!(mine["contact"], json!({ "mine": allowed, "theirs": false }));
    }
    let both = play.act(CY, "exchange_contact", allow(true)).unwrap();
    assert_eq!(both["contact"], json!({ "mine": true, "theirs": true }));
    let after = play.act(ADA, "exchange_contact", allow(false)).unwrap();
    assert_eq!(after["contact"], json!({ "mine": true, "theirs": true }), "it stays");
    let exchanged = play.events().into_iter().filter(|(kind, _)| kind.ends_with("exchanged"));
    let expected = [told("contact_exchanged", CY), told("contact_exchanged", ADA)];
    assert_eq!(exchanged.collect::<Vec<_>>(), expected);
}

#[test]
fn a_withdrawn_request_leaves_those_who_have_it() {
    let (mut play, id) = Play::asked();
    play.act(BO, "respond", respond(&id, "accept")).unwrap();
    play.act(ADA, "withdraw", json!({ "intro_id": id })).unwrap();
    // The target answers before the withdrawal has reached them.
    let late = play.act(CY, "respond", respond(&id, "accept")).unwrap_err();
    assert_eq!(late.code, "recipient_not_accepting");
    play.pass(1);
    for owner_id in [ADA, BO, CY] {
        assert_eq!(play.state_of(owner_id, &id), "withdrawn", "{owner_id}");
    }
    assert!(play.events().contains(&told("withdrawn", CY)));
    play.ask_again();
    let again = play.act(ADA, "request", request()).unwrap_err();
    assert_eq!(again.code, "cooldown_active");
    play.pass(24 * 120);
    assert_eq!(play.events().len(), 4, "{:?}", play.events());
    assert!(play.world.documents(SEATS).is_empty(), "it is deleted");
}

#[test]
fn each_person_is_reminded_once_and_only_while_they_may_answer() {
    let (mut play, id) = Play::asked();
    play.pass(24 * 4 - 1);
    let reminded = |play: &Play| {
        let events = play.events().into_iter().filter(|(kind, _)| kind.ends_with("reminder"));
        events.map(|(_, owner_id)| owner_id).collect::<Vec<_>>()
    };
    assert_eq!(reminded(&play), [BO]);
    play.act(BO, "respond", respond(&id, "accept")).unwrap();
    play.pass(24 * 30);
    assert_eq!(reminded(&play), [BO, CY]);
    assert_eq!(play.state_of(CY, &id), "expired");

    let (mut play, id) = Play::asked();
    play.act(BO, "respond", respond(&id, "decline")).unwrap();
    play.pass(24 * 30);
    assert_eq!(reminded(&play), Vec::<String>::new());
    let late = play.act(BO, "respond", respond(&id, "accept")).unwrap_err();
    assert_eq!(late.code, "invalid_transition");
}

#[test]
fn nobody_answers_in_the_place_of_another() {
    let (mut play, id) = Play::asked();
    for (owner_id, action, code) in [
        (ADA, "respond", "not_permitted"),
        (BO, "withdraw", "not_permitted"),
        (CY, "respond", "intro_not_found"),
        (CY, "withdraw", "intro_not_found"),
        (BO, "exchange_contact", "invalid_transition"),
    ] {
        let mut input = json!({ "intro_id": id });
        match action {
            "respond" => input["decision"] = json!("accept"),
            "exchange_contact" => input["allow"] = json!(true),
            _ => {}
        }
        let refusal = play.act(owner_id, action, input).unwrap_err();
        assert_eq!(refusal.code, code, "{owner_id} {action}");
    }
    let stale = json!({ "intro_id": id, "decision": "accept", "expected_version": 7 });
    assert_eq!(play.act(BO, "respond", stale).unwrap_err().code, "version_conflict");
    let note = json!({ "intro_id": id, "decision": "decline", "note": "Not now." });
    assert_eq!(play.act(BO, "respond", note).unwrap_err().code, "validation_failed");
}

#[test]
fn requests_are_limited_and_the_three_are_different_people() {
    let request_of = |introducer: &str, target: &str| json!({ "introducer_id": introducer, "target_id": target, "reason": "For a good reason." });
    for (introducer, target) in [(ADA, CY), (BO, ADA), (BO, BO)] {
        let refusal = Play::new().act(ADA, "request", request_of(introducer, target)).unwrap_err();
        assert_eq!(refusal.code, "same_person");
    }
    for hidden in [[BO], [CY]] {
        let mut play = Play::with(world(json!(hidden)));
        assert_eq!(play.act(ADA, "request", request()).unwrap_err().code, "owner_not_found");
    }
    let contact = json!({
        "introducer_id": BO, "target_id": CY, "reason": "Write to ada@mail.example, please.",
    });
    assert_eq!(Play::new().act(ADA, "request", contact).unwrap_err().code, "contact_in_text");

    // Five other requests of Ada are open.
    let recent = |number: u64, open_until: u64| Recent {
        intro_id: format!("intro_{number}"),
        target_id: format!("own_01JZX8Q4M2N6P7R8S9T0V1W2D{number}"),
        open_until,
    };
    let mut play = Play::new();
    let requester = Requester { recent: (0..5).map(|number| recent(number, NOW + DAY)).collect() };
    play.change(|world| world.document(REQUESTERS, ADA, &requester));
    assert_eq!(play.act(ADA, "request", request()).unwrap_err().code, "quota_exceeded");
    assert!(play.world.documents(SEATS).is_empty());

    // One for Cy is open, through whomever.
    let (mut play, id) = Play::asked();
    let twice = play.act(ADA, "request", request()).unwrap_err();
    assert_eq!(
        twice.code, "already_acquainted",
        "the world's last answer is that they know each other"
    );
    play.ask_again();
    let twice = play.act(ADA, "request", request()).unwrap_err();
    assert_eq!(twice.code, "intro_exists", "{twice:?}");
    assert_eq!(twice.conflict.unwrap()["existing_id"], id);
}

#[test]
fn whom_too_many_ask_is_not_asked_by_more() {
    let (play, id) = Play::asked();
    let seat = play.world.get(SEATS, &seat_id(&id, ADA)).unwrap().value;
    let mut full = Play::new();
    for number in 0..10 {
        let intro_id = format!("intro_{number}");
        let owner_id = format!("own_01JZX8Q4M2N6P7R8S9T0V1W2E{number}");
        let seat = Seat {
            intro_id: intro_id.clone(),
            owner_id: owner_id.clone(),
            requester_id: owner_id.clone(),
            target_id: "own_01JZX8Q4M2N6P7R8S9T0V1W2F1".into(),
            ..seat.clone()
        };
        full.change(|world| world.document(SEATS, &seat_id(&intro_id, &owner_id), &seat));
    }
    let refusal = full.act(ADA, "request", request()).unwrap_err();
    assert_eq!(refusal.code, "recipient_not_accepting");
    assert!(refusal.conflict.is_none(), "no number is told");
}

#[test]
fn one_person_asks_the_same_introducer_twice_in_a_week() {
    let (play, id) = Play::asked();
    let seat = play.world.get(SEATS, &seat_id(&id, ADA)).unwrap().value;
    let after = |ends: [u64; 2]| {
        let mut play = Play::new();
        for (number, ends_at) in ends.into_iter().enumerate() {
            let seat = Seat {
                intro_id: format!("intro_{number}"),
                target_id: "own_01JZX8Q4M2N6P7R8S9T0V1W2F1".into(),
                state: State::Withdrawn,
                ends_at,
                ..seat.clone()
            };
            play.change(|world| world.document(SEATS, &seat_id(&seat.intro_id, ADA), &seat));
        }
        play.act(ADA, "request", request())
    };
    let refusal = after([NOW + DAY, NOW + HOUR]).unwrap_err();
    assert_eq!(refusal.code, "quota_exceeded", "withdrawn requests count too");
    assert_eq!(refusal.conflict.unwrap()["retry_after_s"], 3600);
    after([NOW + DAY, NOW]).unwrap();
}

#[test]
fn what_is_held_is_refunded_before_somebody_is_erased() {
    let (mut play, id) = Play::asked();
    play.change(World::system);
    let left = json!({
        "id": "evt_1", "event_type": "identity.owner_left", "subject": format!("owners/{CY}"),
        "data": { "owner_id": CY },
    });
    for _ in 0..2 {
        play.world.call("on_owner_left", &left).unwrap();
        assert_eq!(asked_of(&play.world, "release"), 1);
    }
    assert_eq!(play.state_of(ADA, &id), "asked");
}

#[test]
fn whose_introducer_is_erased_asks_somebody_else_at_once() {
    let (mut play, _) = Play::asked();
    play.change(World::system);
    let left = json!({
        "id": "evt_1", "event_type": "identity.owner_left", "subject": format!("owners/{BO}"),
        "data": { "owner_id": BO },
    });
    play.world.call("on_owner_left", &left).unwrap();
    let requester = play.world.get(REQUESTERS, ADA).unwrap().value;
    assert!(requester.recent.is_empty(), "{requester:?}");
    play.ask_again();
    play.act(ADA, "request", request()).unwrap();
}
