//! Applications and enquiries, and their refusals.

use super::*;

fn code(result: Result<Value, Refusal>) -> String {
    result.map_or_else(|refusal| refusal.code, |_| String::new())
}

#[test]
fn an_application_reaches_everybody_who_acts_for_the_company() {
    let mut world = world(&[BEN, CLEO]).answer(SPEAKERS, json!({ "owner_ids": [CLEO] }));
    let sent = apply(&mut world).unwrap();
    assert_eq!((&sent["state"], &sent["role"]), (&json!("submitted"), &json!("sent")));
    assert_eq!((&sent["target_id"], &sent["role_id"]), (&json!(TARGET), &json!(ROLE)));
    assert_eq!((&sent["title"], &sent["cost_credits"]), (&json!("Robotics engineer"), &json!(1)));
    assert_eq!(sent["recipient_unclaimed"], false);
    assert_eq!(events(&world), [event("received", BEN), event("received", CLEO)]);

    let mut recipient = world.owner(CLEO);
    let listed = recipient.call("list", &json!({ "role": "received", "limit": 5 })).unwrap();
    let received = &listed["items"][0];
    assert_eq!(
        (&received["role"], &received["profile"]["headline"]),
        (&json!("received"), &json!("Engineer"))
    );
    assert!(received.get("cost_credits").is_none());
    assert_eq!(received["allowed_actions"], json!(["decide"]));
    let mut stranger = recipient.owner("own_01JZX8Q4M2N6P7R8S9T0V1W2D1");
    let read = stranger.call("get", &of(&sent, json!({})));
    assert_eq!(code(read), "application_not_found");
}

#[test]
fn an_enquiry_goes_to_the_company_of_a_person_and_to_an_investor_on_the_map() {
    for (fields, target_id) in [
        (json!({ "purpose": "contact", "target_id": TARGET }), TARGET),
        (json!({ "purpose": "meeting", "person_id": "per_1" }), TARGET),
        (json!({ "purpose": "pitch", "signal_id": "sig_1" }), FUND),
    ] {
        let mut world = world(&[BEN]);
        let mut input = fields.clone();
        input["message"] = json!("Shall we talk?");
        let sent = world.call("enquire", &input).unwrap();
        assert_eq!(sent["target_id"], target_id, "{fields}");
        assert_eq!(events(&world), [event("received", BEN)], "{fields}");
    }
    for (fields, expected) in [
        (json!({ "purpose": "pitch", "signal_id": "sig_2" }), "investor_unknown"),
        (json!({ "purpose": "contact", "target_id": "tgt_2" }), "target_not_found"),
        (json!({ "purpose": "meeting", "person_id": "per_2" }), "person_not_found"),
        (json!({ "purpose": "contact" }), "validation_failed"),
    ] {
        let mut input = fields.clone();
        input["message"] = json!("Shall we talk?");
        assert_eq!(code(world(&[BEN]).call("enquire", &input)), expected, "{fields}");
    }
}

#[test]
fn a_person_has_one_open_application_to_a_role_and_waits_after_a_rejection() {
    let mut applicant = world(&[BEN]);
    let sent = apply(&mut applicant).unwrap();
    let refusal = apply(&mut applicant).unwrap_err();
    assert_eq!(refusal.code, "application_exists");
    assert_eq!(refusal.conflict.unwrap()["existing_id"], sent["application_id"]);
    let mut recipient = applicant.owner(BEN);
    let rejection = json!({ "decision": "reject", "reason_code": "experience" });
    recipient.call("decide", &of(&sent, rejection)).unwrap();
    let mut again = recipient.owner(ADA);
    assert_eq!(apply(&mut again).unwrap_err().code, "cooldown_active");
    assert!(enquire(&mut again).is_ok(), "an enquiry is another thing");
    again.advance(COOLDOWN);
    assert_eq!(apply(&mut again).unwrap()["state"], "submitted");
}

#[test]
fn who_cannot_be_reached_is_not_written_to() {
    assert_eq!(code(apply(&mut world(&[BEN, ADA]))), "self_application");
    for (acting, hidden, expected) in
        [(vec![BEN], vec![BEN], "recipient_not_accepting"), (vec![BEN, CLEO], vec![CLEO], "")]
    {
        let mut world = world_hiding(&acting, &hidden);
        assert_eq!(code(apply(&mut world)), expected);
        let reached = acting.iter().filter(|owner_id| !hidden.contains(owner_id));
        let received: Vec<_> = reached.map(|owner_id| event("received", owner_id)).collect();
        assert_eq!(events(&world), received);
    }
}

#[test]
fn texts_are_those_of_listings() {
    for (message, expected) in [
        ("Write to ada@mail.example", "contact_in_text"),
        ("No women, please", "unfair_text"),
        (" ", "validation_failed"),
    ] {
        let profile = json!({ "headline": "Engineer" });
        let input = json!({ "role_id": ROLE, "profile": profile, "message": message });
        assert_eq!(code(world(&[BEN]).call("apply", &input)), expected, "{message}");
    }
    let without = json!({ "role_id": ROLE });
    assert_eq!(code(world(&[BEN]).call("apply", &without)), "validation_failed");
}

#[test]
fn questions_are_answered() {
    let mut recruiter = world(&[BEN]).owner(BEN);
    let questions = json!([
        { "question": "From when can you work?", "required": true },
        { "question": "What do you like?" },
    ]);
    let set = json!({ "role_id": ROLE, "questions": questions });
    let listed = recruiter.call("set_questions", &set).unwrap();
    assert_eq!(listed["questions"][0]["question_id"], "q1");
    let mut applicant = recruiter.owner(ADA);
    assert_eq!(code(applicant.call("set_questions", &set)), "not_permitted");
    let refusal = apply(&mut applicant).unwrap_err();
    assert_eq!(refusal.code, "answers_required");
    let next = portolan_sdk::to_value(&refusal.next.unwrap());
    assert_eq!(next["input"]["action"], "questions");
    let answered = |question_id: &str| {
        json!({
            "role_id": ROLE, "profile": { "headline": "Engineer" },
            "answers": [{ "question_id": question_id, "answer": "From May." }],
        })
    };
    assert_eq!(code(applicant.call("apply", &answered("q3"))), "validation_failed");
    let sent = applicant.call("apply", &answered("q1")).unwrap();
    let answer = json!([{ "question": "From when can you work?", "answer": "From May." }]);
    assert_eq!(sent["answers"], answer);
}

pub(super) fn job(fields: Value) -> Value {
    let mut listing = json!({
        "listing_id": JOB, "owner_id": BEN, "category": "work.job.software", "label": "Job",
        "side": "offer", "counterpart": "work.candidate", "counterpart_side": "demand",
        "state": "active", "visibility": "public", "min_age": 0, "title": "Engineer", "excerpt": "",
        "attributes": {}, "facts": [], "criteria": {}, "remote": false, "published_at": 1,
    });
    listing.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({ "profiles": [listing] })
}

#[test]
fn the_questions_of_a_persons_own_listing_belong_to_that_person() {
    let question = json!([{ "question": "From when can you work?" }]);
    for (of, fields, owner_id) in [
        (json!({ "listing_id": JOB }), json!({}), Some(BEN)),
        (json!({ "listing_id": JOB }), json!({ "org_id": "org_1" }), None),
        (json!({ "role_id": ROLE }), json!({}), None),
    ] {
        let mut world = world(&[BEN]).answer(listings::PROFILES, job(fields)).owner(BEN);
        let mut set = of.clone();
        set["questions"] = question.clone();
        world.call("set_questions", &set).unwrap();
        let stored = world.documents(QUESTIONS).remove(0).value;
        assert_eq!(stored.owner_id.as_deref(), owner_id, "{of}");
    }
}

#[test]
fn an_application_to_a_job_listing_goes_to_its_owner() {
    let input = json!({ "listing_id": JOB, "profile": { "headline": "Engineer" } });
    let mut to_owner = world(&[]).answer(listings::PROFILES, job(json!({})));
    let sent = to_owner.call("apply", &input).unwrap();
    assert_eq!((&sent["state"], &sent["listing_id"]), (&json!("submitted"), &json!(JOB)));
    assert_eq!(events(&to_owner), [event("received", BEN)]);
    for (listing, expected) in [
        (json!({ "state": "paused" }), "listing_not_found"),
        (json!({ "owner_id": ADA }), "self_application"),
        (json!({ "category": "home.let" }), "listing_not_active"),
        (json!({ "side": "demand" }), "listing_not_active"),
    ] {
        let mut world = world(&[]).answer(listings::PROFILES, job(listing.clone()));
        assert_eq!(code(world.call("apply", &input)), expected, "{listing}");
    }
    let mut to_org = world(&[CLEO]).answer(listings::PROFILES, job(json!({ "org_id": "org_1" })));
    to_org.call("apply", &input).unwrap();
    assert_eq!(events(&to_org), [event("received", CLEO)]);
}
