//! Applications that wait for a target that nobody has claimed, and the ends that nobody decides.

use super::*;
use crate::states::State;

#[test]
fn what_nobody_receives_waits_and_is_delivered_after_the_claim() {
    let mut unclaimed = world(&[]);
    let sent = apply(&mut unclaimed).unwrap();
    assert_eq!((&sent["state"], &sent["recipient_unclaimed"]), (&json!("waiting"), &json!(true)));
    assert_eq!(sent["apply_url"], "https://boards.example/1");
    assert!(events(&unclaimed).is_empty());

    let event_of = |kind: &str, data: Value| json!({ "id": "evt_1", "event_type": kind, "subject": "x", "data": data });
    for (action, data) in [
        ("on_verification", json!({ "target_id": TARGET, "anybody_verified": true })),
        ("on_target_linked", json!({ "target_id": TARGET })),
    ] {
        let mut world = carried(&unclaimed, &[BEN]).system();
        world.call(action, &event_of("e", data)).unwrap();
        let timer = world.timers().into_iter().find(|timer| timer.action == "deliver").unwrap();
        world.call("deliver", &timer.input).unwrap();
        assert_eq!(events(&world), [event("received", BEN), event("delivered", ADA)], "{action}");
        let delivered = &world.documents(APPLICATIONS)[0].value;
        assert_eq!(delivered.inbox.as_deref(), Some(TARGET));
        // The event is delivered again.
        world.call("deliver", &timer.input).unwrap();
        assert_eq!(events(&world).len(), 2);
    }
    let mut revoked = carried(&unclaimed, &[]).system();
    let data = json!({ "target_id": TARGET, "anybody_verified": false });
    revoked.call("on_verification", &event_of("e", data)).unwrap();
    assert!(revoked.timers().is_empty());
}

#[test]
fn what_waits_expires_and_the_sender_is_told() {
    let mut world = world(&[]);
    let sent = apply(&mut world).unwrap();
    let mut later = world.system();
    later.call("expire", &of(&sent, json!({}))).unwrap();
    assert!(events(&later).is_empty(), "it is not due yet");
    later.advance(UNCLAIMED);
    later.call("expire", &of(&sent, json!({}))).unwrap();
    assert_eq!(events(&later), [event("expired", ADA)]);
    let data = &later.events()[0].data;
    assert_eq!(
        (&data["recipient_unclaimed"], &data["reason"]),
        (&json!(true), &json!("unclaimed"))
    );
    assert_eq!(settled(&later), ["release"]);
}

#[test]
fn a_delivered_application_expires_without_a_decision() {
    let mut world = world(&[BEN]);
    let sent = apply(&mut world).unwrap();
    let mut later = world.system();
    later.advance(UNDECIDED_FOR);
    later.call("expire", &of(&sent, json!({}))).unwrap();
    let expired = [event("received", BEN), event("expired", ADA), event("expired", BEN)];
    assert_eq!(events(&later), expired);
}

#[test]
fn waiting_is_bounded() {
    let feed = Collection::<Value>::new("roles");
    let mut world = world(&[]);
    for number in 0..=WAITING_OF_A_PERSON {
        let id = format!("rol_more_{number}");
        let role = json!({ "target_id": TARGET, "title": "Engineer" });
        world = world.record(feed, &id, &role);
        let input = json!({ "role_id": id, "profile": { "headline": "Engineer" } });
        let result = world.call("apply", &input);
        let code = result.map_or_else(|refusal| refusal.code, |_| String::new());
        let expected = if number < WAITING_OF_A_PERSON { "" } else { "quota_exceeded" };
        assert_eq!(code, expected, "{number}");
    }
}

#[test]
fn a_block_ends_what_nobody_else_receives() {
    let mut sender = world(&[BEN]);
    apply(&mut sender).unwrap();
    let blocked = json!({
        "id": "evt_1", "event_type": "relationship.blocked", "subject": "x",
        "data": { "blocker_id": BEN, "blocked_id": ADA },
    });
    for (acting, expected) in [(vec![BEN], "cancelled"), (vec![BEN, CLEO], "submitted")] {
        let mut world = world_hiding(&acting, &[BEN]).system();
        for found in sender.documents(APPLICATIONS) {
            world = world.document(APPLICATIONS, &found.id, &found.value);
        }
        world.call("on_blocked", &blocked).unwrap();
        assert_eq!(world.documents(APPLICATIONS)[0].value.state.name(), expected);
    }
}

#[test]
fn an_invitation_does_not_expire_while_the_two_write() {
    let mut applicant = world(&[BEN]);
    let sent = apply(&mut applicant).unwrap();
    let mut recipient = applicant.owner(BEN);
    recipient.call("decide", &of(&sent, json!({ "decision": "invite" }))).unwrap();
    let expire = |world: &mut World| {
        world.call("expire", &of(&sent, json!({}))).unwrap();
        world.documents(APPLICATIONS)[0].value.state
    };
    let written_at = NOW + UNDECIDED_FOR - DAY;
    let talking = world_talking(&[BEN], &[], &thread("open", written_at));
    let mut later = carry(&recipient, talking).system();
    later.advance(UNDECIDED_FOR);
    assert_eq!(expire(&mut later), State::Invited);
    later.advance(UNDECIDED_FOR);
    assert_eq!(expire(&mut later), State::Expired);
}

#[test]
fn an_ended_listing_ends_its_applications_one_by_one() {
    let mut applicant = world(&[BEN]).answer(listings::PROFILES, json!({ "profiles": [] }));
    apply(&mut applicant).unwrap();
    let mut application = applicant.documents(APPLICATIONS)[0].value.clone();
    application.about.listing_id = Some(JOB.to_owned());
    for id in ["app_1", "app_2"] {
        applicant = applicant.document(APPLICATIONS, id, &application);
    }
    let left = json!({
        "event_type": "listing.filled", "subject": "listings/1", "data": { "listing_id": JOB },
    });
    let ended = |world: &World| {
        let states = world.documents(APPLICATIONS).into_iter().map(|found| found.value.state);
        states.filter(|state| *state == State::Expired).count()
    };
    applicant.call("on_listing_left", &left).unwrap();
    assert_eq!(ended(&applicant), 1);
    applicant.call("on_listing_left", &left).unwrap();
    assert_eq!(ended(&applicant), 2);
}

/// Returns the event of a listing that has left the state `active`.
fn left(listing_id: &str) -> Value {
    json!({
        "event_type": "listing.paused", "subject": "listings/1", "data": { "listing_id": listing_id },
    })
}

#[test]
fn both_sides_learn_that_the_listing_has_ended_and_how() {
    for (state, reason) in [
        ("filled", "listing_filled"),
        ("withdrawn", "listing_withdrawn"),
        ("expired", "listing_expired"),
        ("paused", "listing_inactive"),
        ("removed", "listing_inactive"),
    ] {
        let mut applicant = world(&[]).answer(listings::PROFILES, job(json!({})));
        let input = json!({ "listing_id": JOB, "profile": { "headline": "Engineer" } });
        let sent = applicant.call("apply", &input).unwrap();
        let ended = world(&[]).answer(listings::PROFILES, job(json!({ "state": state })));
        let mut applicant = carry(&applicant, ended);
        applicant.call("on_listing_left", &left(JOB)).unwrap();
        let read = applicant.call("get", &of(&sent, json!({}))).unwrap();
        assert_eq!((&read["state"], &read["end_reason"]), (&json!("expired"), &json!(reason)));
        assert_eq!(events(&applicant), [event("expired", ADA), event("expired", BEN)]);
        let data = &applicant.events()[0].data;
        assert_eq!(data["reason"], reason);
        assert!(!data["summary"].as_str().unwrap().contains("without a decision"), "{data}");
    }
}

#[test]
fn both_sides_learn_that_the_applicants_listing_is_no_longer_shown() {
    let own = json!({ "owner_id": ADA, "category": "work.candidate", "side": "demand" });
    let mut applicant = world(&[BEN]).answer(listings::PROFILES, job(own.clone()));
    let input = json!({ "role_id": ROLE, "profile_listing_id": JOB });
    let sent = applicant.call("apply", &input).unwrap();
    assert_eq!(sent["applicant"]["listing_ended"], false);
    let mut paused = own;
    paused["state"] = json!("paused");
    let paused = world(&[BEN]).answer(listings::PROFILES, job(paused));
    let mut applicant = carry(&applicant, paused);
    applicant.call("on_listing_left", &left(JOB)).unwrap();
    assert_eq!(events(&applicant), [event("profile_ended", ADA), event("profile_ended", BEN)]);
    let read = applicant.owner(BEN).call("get", &of(&sent, json!({}))).unwrap();
    assert_eq!(
        (&read["state"], &read["applicant"]["listing"]),
        (&json!("submitted"), &Value::Null)
    );
    assert_eq!(read["applicant"]["listing_ended"], true);
}

#[test]
fn a_deactivated_persons_applications_end() {
    let gone = json!({
        "event_type": "owner.deactivated", "subject": format!("owners/{ADA}"), "data": {},
    });
    let mut applicant = world(&[BEN]);
    let sent = apply(&mut applicant).unwrap();
    applicant.call("on_owner_deactivated", &gone).unwrap();
    assert_eq!(applicant.call("get", &of(&sent, json!({}))).unwrap()["state"], "submitted", "back");
    let mut erased = carry(&applicant, world_of_people(&[BEN], &[], &thread("open", NOW), &[BEN]));
    erased.call("on_owner_deactivated", &gone).unwrap();
    let state = erased.documents(APPLICATIONS)[0].value.state;
    assert_eq!((state, settled(&erased)), (State::Cancelled, vec!["release".to_owned()]));
    assert_eq!(events(&erased), [event("cancelled", ADA), event("cancelled", BEN)]);
}

/// Returns a world in which Ben, to whose listing Ada applied, has offered her the job, and the application.
fn offered() -> (World, Value) {
    let mut applicant = world(&[]).answer(listings::PROFILES, job(json!({})));
    let input = json!({ "listing_id": JOB, "profile": { "headline": "Engineer" } });
    let sent = applicant.call("apply", &input).unwrap();
    let mut recipient = applicant.owner(BEN);
    recipient.call("decide", &of(&sent, json!({ "decision": "offer" }))).unwrap();
    (recipient, sent)
}

#[test]
fn an_offer_of_a_deactivated_person_ends() {
    let gone = json!({
        "event_type": "owner.deactivated", "subject": format!("owners/{BEN}"), "data": {},
    });
    let (recipient, _) = offered();
    let alone = world_of_people(&[], &[], &thread("open", NOW), &[ADA]);
    let mut alone = carry(&recipient, alone);
    alone.call("on_owner_deactivated", &gone).unwrap();
    assert_eq!(alone.documents(APPLICATIONS)[0].value.state, State::Cancelled);
    assert_eq!(events(&alone)[0], event("cancelled", ADA));
}

#[test]
fn an_accepted_application_is_compared_with_its_people_soon_after_a_deactivation() {
    let gone = json!({
        "event_type": "owner.deactivated", "subject": format!("owners/{BEN}"), "data": {},
    });
    let (recipient, sent) = offered();
    let mut applicant = recipient.owner(ADA);
    applicant.call("answer", &of(&sent, json!({ "answer": "accept" }))).unwrap();
    let alone = world_of_people(&[], &[], &thread("open", NOW), &[ADA]);
    let mut alone = carry(&applicant, alone);
    alone.call("on_owner_deactivated", &gone).unwrap();
    assert_eq!(events(&alone), [event("counterpart_changed", ADA)]);
    let check = alone.timers().into_iter().find(|timer| timer.action == "check").unwrap();
    assert!(check.at < NOW + HOUR, "{check:?}");
    alone.call("check", &check.input).unwrap();
    let read = alone.owner(ADA).call("get", &of(&sent, json!({}))).unwrap();
    assert_eq!(
        (&read["state"], &read["conversation_closed"], &read["counterpart_reachable"]),
        (&json!("accepted"), &json!(true), &json!(false))
    );
}

#[test]
fn both_sides_are_told_when_the_other_one_is_hidden_and_back() {
    let turned = |event_type: &str| json!({ "event_type": event_type, "subject": format!("owners/{ADA}"), "data": {} });
    let (recipient, sent) = offered();
    let mut applicant = recipient.owner(ADA);
    applicant.call("answer", &of(&sent, json!({ "answer": "accept" }))).unwrap();
    let hidden = world_of_people(&[], &[], &thread("open", NOW), &[BEN]);
    let mut hidden = carry(&applicant, hidden).system();
    for _ in 0..2 {
        hidden.call("on_owner_deactivated", &turned("owner.deactivated")).unwrap();
    }
    assert_eq!(events(&hidden), [event("counterpart_changed", BEN)]);
    let mut back = carry(&hidden, world(&[])).system();
    back.call("on_owner_reactivated", &turned("owner.reactivated")).unwrap();
    assert_eq!(events(&back), [event("counterpart_changed", BEN)]);
    assert_eq!(back.events()[0].data["counterpart_reachable"], true);
}

#[test]
fn both_sides_are_told_before_one_of_them_is_erased() {
    let left = |owner_id: &str| {
        json!({
            "event_type": "identity.owner_left", "subject": format!("owners/{owner_id}"),
            "data": { "owner_id": owner_id },
        })
    };
    let told = |world: &World| {
        let events = events(world);
        events[events.len() - 3..events.len() - 1].to_vec()
    };
    let (recipient, sent) = offered();
    let mut employer = recipient.system();
    employer.call("on_owner_left", &left(BEN)).unwrap();
    assert_eq!(told(&employer), [event("cancelled", ADA), event("cancelled", BEN)]);

    let (recipient, _) = offered();
    let mut applicant = recipient.owner(ADA);
    applicant.call("answer", &of(&sent, json!({ "answer": "accept" }))).unwrap();
    let mut accepted = applicant.system();
    accepted.call("on_owner_left", &left(ADA)).unwrap();
    assert_eq!(told(&accepted), [event("cancelled", ADA), event("cancelled", BEN)]);
    let ended = accepted.asked().into_iter().find(|asked| asked.action == "end");
    assert_eq!(ended.unwrap().input["thread_id"], "thr_1");
    assert_eq!(accepted.events().last().unwrap().event_type, "application.person_gone");
}

#[test]
fn applications_to_an_archived_organisation_end_with_their_reason() {
    let own = json!({ "org_id": "org_1" });
    let mut applicant = world(&[BEN]).answer(listings::PROFILES, job(own));
    let input = json!({ "listing_id": JOB, "profile": { "headline": "Engineer" } });
    let sent = applicant.call("apply", &input).unwrap();
    let mut archived = carried(&applicant, &[]).system();
    let event_of_org = json!({
        "event_type": "org.archived", "subject": "orgs/org_1", "data": { "org_id": "org_1" },
    });
    archived.call("on_org_archived", &event_of_org).unwrap();
    assert_eq!(events(&archived), [event("cancelled", ADA)]);
    let mut applicant = archived.owner(ADA);
    let read = applicant.call("get", &of(&sent, json!({}))).unwrap();
    assert_eq!(
        (&read["state"], &read["end_reason"]),
        (&json!("cancelled"), &json!("org_archived"))
    );
}
