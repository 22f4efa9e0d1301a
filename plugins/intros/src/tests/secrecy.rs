//! The requester cannot tell who has declined, or whether somebody has.

use super::*;

/// A step of one of the others, this many hours after the request.
type Step = (u64, &'static str, &'static str);

/// Returns everything that Ada can read, is told and would have in an export, hour by hour, while the others do
/// this.
fn history(steps: &[Step]) -> Vec<String> {
    let (mut play, id) = Play::asked();
    let mut seen = Vec::new();
    for hour in 0..24 * 9 {
        for (_, owner_id, decision) in steps.iter().filter(|(at, ..)| *at == hour) {
            play.act(owner_id, "respond", respond(&id, decision)).unwrap();
        }
        seen.push(view_of_ada(&mut play, &id));
        play.pass(1);
    }
    play.ask_again();
    let again = play.act(ADA, "request", request()).unwrap_err();
    assert_eq!(again.code, "cooldown_active");
    seen.push(format!("{again:?} {}", asked_of(&play.world, "capture")));
    seen
}

fn view_of_ada(play: &mut Play, id: &str) -> String {
    let mut seen = String::new();
    for (action, input) in [
        ("get", json!({ "intro_id": id })),
        ("list", json!({})),
        ("list", json!({ "role": "requester", "state": ["asked"] })),
        ("list", json!({ "role": "introducer" })),
        ("list", json!({ "state": ["forwarded", "declined", "expired"] })),
        ("respond", respond(id, "accept")),
        ("exchange_contact", json!({ "intro_id": id, "allow": true })),
    ] {
        seen += &format!("{action} {:?}\n", play.act(ADA, action, input));
    }
    // The documents that would be hers in an export.
    for seat in play.world.documents(SEATS) {
        if seat.value.owner_id == ADA {
            seen += &format!("{seat:?}\n");
        }
    }
    seen += &format!("{:?}\n", play.world.documents(REQUESTERS));
    // Her inbox, and the events of an export: those to her, and those to no person.
    for event in play.world.events() {
        let is_of_another = matches!(&event.to, Audience::Owner(owner_id) if owner_id != ADA);
        if !is_of_another {
            seen += &format!("{event:?}\n");
        }
    }
    let credit_calls = ["hold", "capture", "release"];
    seen + &credit_calls.map(|action| asked_of(&play.world, action).to_string()).join(" ")
}

#[test]
fn the_requester_cannot_tell_who_declined() {
    let nobody = history(&[]);
    assert!(nobody.iter().any(|seen| seen.contains("not_now")));
    for steps in [
        &[(0, BO, "decline")][..],
        &[(30, BO, "decline")],
        &[(95, BO, "decline")],
        &[(2, BO, "accept")],
        &[(2, BO, "accept"), (3, CY, "decline")],
        &[(90, BO, "accept"), (167, CY, "decline")],
        &[(2, BO, "accept"), (100, CY, "decline")],
    ] {
        let seen = history(steps);
        for (hour, (one, other)) in seen.iter().zip(&nobody).enumerate() {
            assert_eq!(one, other, "{steps:?} after {hour} hours");
        }
    }
    let introduced = history_until_introduced();
    assert!(introduced.contains("introduced"));
}

/// An introduction, unlike a refusal, is told at once: the comparison above can fail.
fn history_until_introduced() -> String {
    let (mut play, id) = Play::asked();
    play.act(BO, "respond", respond(&id, "accept")).unwrap();
    play.act(CY, "respond", respond(&id, "accept")).unwrap();
    view_of_ada(&mut play, &id)
}

#[test]
fn a_withdrawal_looks_the_same_whoever_has_declined() {
    let answer = |steps: &[Step]| {
        let (mut play, id) = Play::asked();
        for (_, owner_id, decision) in steps {
            play.act(owner_id, "respond", respond(&id, decision)).unwrap();
        }
        let before = play.world.events().len();
        let answer = play.act(ADA, "withdraw", json!({ "intro_id": id })).unwrap();
        // A dry run tells which events a call would publish.
        let published = play.world.events().len() - before;
        play.pass(1);
        let later = view_of_ada(&mut play, &id);
        play.pass(24 * 9);
        (answer.to_string(), published, later, view_of_ada(&mut play, &id))
    };
    let undecided = answer(&[]);
    assert_eq!(undecided.1, 0);
    assert_eq!(answer(&[(0, BO, "decline")]), undecided);
    assert_eq!(answer(&[(0, BO, "accept")]), undecided);
    assert_eq!(answer(&[(0, BO, "accept"), (0, CY, "decline")]), undecided);
}

#[test]
fn an_introducer_learns_only_that_it_did_not_come_about() {
    let after = |decision: Option<&str>| {
        let (mut play, id) = Play::asked();
        play.act(BO, "respond", respond(&id, "accept")).unwrap();
        if let Some(decision) = decision {
            play.act(CY, "respond", respond(&id, decision)).unwrap();
        }
        let soon = play.state_of(BO, &id);
        play.pass(24 * 8);
        (soon, play.state_of(BO, &id), play.events().iter().filter(|(_, to)| to == BO).count())
    };
    assert_eq!(after(None), (json!("forwarded"), json!("not_now"), 1));
    assert_eq!(after(Some("decline")), after(None));
}
