//! Decisions and answers, and their effect on the credits.

use super::*;

fn decide(world: &mut World, application: &Value, decision: &str) -> Result<Value, Refusal> {
    let reason = if decision == "reject" { json!("skills") } else { Value::Null };
    let mut input = of(application, json!({ "decision": decision }));
    if !reason.is_null() {
        input["reason_code"] = reason;
    }
    world.call("decide", &input)
}

#[test]
fn an_offer_is_accepted_after_an_invitation() {
    let mut applicant = world(&[BEN]);
    let sent = apply(&mut applicant).unwrap();
    let mut recipient = applicant.owner(BEN);
    assert_eq!(decide(&mut recipient, &sent, "shortlist").unwrap()["state"], "shortlisted");
    let invited = decide(&mut recipient, &sent, "invite").unwrap();
    assert_eq!((&invited["state"], &invited["thread_id"]), (&json!("invited"), &json!("thr_1")));
    assert_eq!(invited["allowed_actions"], json!(["decide", "exchange_contact"]));
    assert_eq!(decide(&mut recipient, &sent, "offer").unwrap()["state"], "offered");
    assert_eq!(
        recipient.call("answer", &of(&sent, json!({ "answer": "accept" }))).unwrap_err().code,
        "not_permitted"
    );
    let opened = recipient.asked().iter().filter(|asked| asked.action == "open").count();
    assert_eq!(opened, 1);
    let mut applicant = recipient.owner(ADA);
    let accepted = applicant.call("answer", &of(&sent, json!({ "answer": "accept" }))).unwrap();
    assert_eq!(accepted["state"], "accepted");
    assert_eq!(accepted["allowed_actions"], json!(["exchange_contact"]));
    assert_eq!(settled(&applicant), ["release"]);
    let expected = [
        event("received", BEN),
        event("decided", ADA),
        event("decided", ADA),
        event("decided", ADA),
        event("answered", BEN),
    ];
    assert_eq!(events(&applicant), expected);
}

#[test]
fn a_rejection_has_a_reason_and_ends_the_application() {
    let mut applicant = world(&[BEN, CLEO]);
    let sent = apply(&mut applicant).unwrap();
    let mut recipient = applicant.owner(BEN);
    let without = recipient.call("decide", &of(&sent, json!({ "decision": "reject" })));
    assert_eq!(without.unwrap_err().code, "validation_failed");
    decide(&mut recipient, &sent, "reject").unwrap();
    assert_eq!(settled(&recipient), ["capture"]);
    // A second decision is refused.
    let mut colleague = recipient.owner(CLEO);
    let late = decide(&mut colleague, &sent, "invite").unwrap_err();
    assert_eq!(late.code, "invalid_transition");
    let stale = of(&sent, json!({ "decision": "invite", "expected_version": 1 }));
    assert_eq!(colleague.call("decide", &stale).unwrap_err().code, "invalid_transition");
    let mut applicant = colleague.owner(ADA);
    let read = applicant.call("get", &of(&sent, json!({}))).unwrap();
    assert_eq!(read["decisions"][0]["reason_code"], "skills");
    assert_eq!(read["allowed_actions"], json!([]));
    let decided =
        applicant.events().into_iter().find(|event| event.event_type == "application.decided");
    assert_eq!(decided.unwrap().data["reason_code"], "skills");
}

#[test]
fn in_a_closed_conversation_no_contact_data_is_exchanged() {
    let mut applicant = world(&[BEN]);
    let sent = apply(&mut applicant).unwrap();
    let mut recipient = applicant.owner(BEN);
    decide(&mut recipient, &sent, "invite").unwrap();
    let allow = of(&sent, json!({ "allow": true }));
    recipient.call("exchange_contact", &allow).unwrap();
    let closed = world_talking(&[BEN], &[], &thread("closed", NOW));
    let mut recipient = carry(&recipient, closed).owner(BEN);
    assert_eq!(recipient.call("exchange_contact", &allow).unwrap_err().code, "thread_closed");
}

#[test]
fn an_enquiry_is_accepted_by_an_invitation() {
    let mut sender = world(&[BEN]);
    let sent = enquire(&mut sender).unwrap();
    let mut recipient = sender.owner(BEN);
    for decision in ["shortlist", "offer"] {
        assert_eq!(decide(&mut recipient, &sent, decision).unwrap_err().code, "validation_failed");
    }
    assert_eq!(decide(&mut recipient, &sent, "invite").unwrap()["state"], "invited");
}

#[test]
fn contact_data_needs_the_consent_of_both() {
    let mut applicant = world(&[BEN, CLEO]);
    let sent = apply(&mut applicant).unwrap();
    let allow = |allow: bool| of(&sent, json!({ "allow": allow }));
    assert_eq!(
        applicant.call("exchange_contact", &allow(true)).unwrap_err().code,
        "invalid_transition"
    );
    let mut recipient = applicant.owner(BEN);
    decide(&mut recipient, &sent, "invite").unwrap();
    let view = recipient.call("exchange_contact", &allow(true)).unwrap();
    assert_eq!(view["contact"], json!({ "mine": true, "theirs": false }));
    // Only the colleague who talks with the applicant consents.
    let mut colleague = recipient.owner(CLEO);
    let refusal = colleague.call("exchange_contact", &allow(true)).unwrap_err();
    assert_eq!(refusal.code, "not_permitted");
    let mut applicant = colleague.owner(ADA);
    let is_exchange = |(kind, _): &(String, String)| kind == "application.contact_exchanged";
    assert!(!events(&applicant).iter().any(is_exchange));
    applicant.call("exchange_contact", &allow(true)).unwrap();
    let exchanged: Vec<_> = events(&applicant).into_iter().filter(is_exchange).collect();
    assert_eq!(exchanged, [event("contact_exchanged", ADA), event("contact_exchanged", BEN)]);
    let view = applicant.call("exchange_contact", &allow(false)).unwrap();
    assert_eq!(view["contact"], json!({ "mine": true, "theirs": true }), "it stays");
}

#[test]
fn a_withdrawal_refunds_the_credits() {
    let mut applicant = world(&[BEN]);
    let sent = apply(&mut applicant).unwrap();
    let stale = of(&sent, json!({ "expected_version": 7 }));
    assert_eq!(applicant.call("withdraw", &stale).unwrap_err().code, "version_conflict");
    let withdrawn = applicant.call("withdraw", &of(&sent, json!({}))).unwrap();
    assert_eq!(
        (&withdrawn["state"], settled(&applicant)),
        (&json!("withdrawn"), vec!["release".to_owned()])
    );
    assert_eq!(events(&applicant)[1], event("withdrawn", BEN));
    assert!(applicant.timers().is_empty());
}

#[test]
fn a_refused_decision_names_those_that_are_possible() {
    let mut applicant = world(&[BEN]);
    let sent = apply(&mut applicant).unwrap();
    let mut recipient = applicant.owner(BEN);
    decide(&mut recipient, &sent, "shortlist").unwrap();
    let refusal = decide(&mut recipient, &sent, "shortlist").unwrap_err();
    assert_eq!(refusal.code, "invalid_transition");
    let conflict = refusal.conflict.unwrap();
    assert_eq!(conflict["allowed_actions"], json!(["decide"]));
    assert_eq!(conflict["decisions"], json!(["invite", "offer", "reject"]));
}

#[test]
fn an_offer_is_taken_back_until_it_is_answered() {
    let mut applicant = world(&[BEN]);
    let sent = apply(&mut applicant).unwrap();
    let mut recipient = applicant.owner(BEN);
    let offered = decide(&mut recipient, &sent, "offer").unwrap();
    assert_eq!(offered["allowed_actions"], json!(["decide", "exchange_contact"]));
    assert_eq!(decide(&mut recipient, &sent, "reject").unwrap()["state"], "rejected");
    assert_eq!(settled(&recipient), ["release"], "the offer has refunded the credits");
    let mut applicant = recipient.owner(ADA);
    let summary = applicant.events().pop().unwrap().data["summary"].clone();
    assert_eq!(summary, "The offer was taken back.");
    let accept = of(&sent, json!({ "answer": "accept" }));
    assert_eq!(applicant.call("answer", &accept).unwrap_err().code, "invalid_transition");
}
