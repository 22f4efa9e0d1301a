//! Organisations whose people are gone, in a world without other capabilities.

use crate::{SocialOrg, access::member_id, states::*, types::*};
use people_kit::{people, relations};
use portolan_sdk::{
    prelude::*,
    test::{self, World},
};
use std::collections::{BTreeMap, BTreeSet};

const NOW: u64 = 1_800_000_000_000;
const ORG_ID: &str = "org_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const OWNER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X1";
const ADMIN: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X2";
const RECRUITER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X3";
const OUTSIDER: &str = "own_01JZX8Q4M2N6P7R8S9T0V1W2X4";

fn org(roles: &[(&str, Role)]) -> Org {
    Org {
        name: "Copperleaf".into(),
        name_key: "copperleaf".into(),
        kind: Kind::Company,
        domain: Some("copperleaf.example".into()),
        verified: false,
        target_id: None,
        state: OrgState::Active,
        founder: OWNER.into(),
        roles: roles.iter().map(|(id, role)| ((*id).to_owned(), *role)).collect::<BTreeMap<_, _>>(),
        invited: BTreeSet::new(),
        sole_member: None,
        verified_by: BTreeSet::new(),
        succession: None,
    }
}

fn member(owner_id: &str, role: Role) -> Member {
    Member {
        org_id: ORG_ID.into(),
        owner_id: owner_id.into(),
        role,
        state: MemberState::Member,
        since: 0,
        invited_by: None,
        expires_at: None,
    }
}

/// Returns a world with an organisation of these members, in which this person calls, and in which
/// everybody last called at this instant.
fn world(roles: &[(&str, Role)], caller: &str, last_call_at: u64) -> World {
    let presence = |owner_id: &str| json!({ "owner_id": owner_id, "last_call_at": last_call_at });
    let person = |owner_id: &str| json!({ "owner_id": owner_id, "active": true, "contact_policy": "anyone_matching" });
    let mut world = test::world()
        .of::<SocialOrg>()
        .at(NOW)
        .owner(caller)
        .document(ORGS, ORG_ID, &org(roles))
        .answer(people::PRESENCE, json!({ "people": [presence(OWNER)] }))
        .answer(
            people::PEOPLE,
            json!({ "people": [person(ADMIN), person(RECRUITER), person(OUTSIDER)] }),
        )
        .answer(relations::RELATE, json!({}));
    for (owner_id, role) in roles {
        world = world.document(MEMBERS, &member_id(ORG_ID, owner_id), &member(owner_id, *role));
    }
    world
}

const TEAM: &[(&str, Role)] =
    &[(OWNER, Role::Owner), (ADMIN, Role::Admin), (RECRUITER, Role::Recruiter)];
/// Just long enough ago.
const GONE: u64 = NOW - GONE_AFTER;

fn id() -> Value {
    json!({ "org_id": ORG_ID })
}

fn stored(world: &World) -> Org {
    world.get(ORGS, ORG_ID).unwrap().value
}

fn event_types(world: &World) -> Vec<String> {
    world.events().into_iter().map(|event| event.event_type).collect()
}

#[test]
fn an_admin_owns_the_organisation_a_week_after_the_request() {
    let mut world = world(TEAM, ADMIN, GONE);
    let listed = world.call("get", &id()).unwrap()["allowed_actions"].clone();
    assert!(listed.as_array().unwrap().contains(&json!("request_succession")), "{listed}");
    let requested = world.call("request_succession", &id()).unwrap();
    assert_eq!(requested["succession"]["state"], "requested");
    assert_eq!(event_types(&world), ["org.succession_requested"; 3]);
    assert_eq!(world.call("request_succession", &id()).unwrap_err().code, "invalid_transition");
    let timer = world.timers().remove(0);
    assert_eq!((timer.action.as_str(), timer.at), ("complete_succession", NOW + WAIT_OF_ADMIN));

    let mut world = world.system();
    world.call(&timer.action, &timer.input).unwrap();
    assert_eq!(stored(&world).roles[OWNER], Role::Owner, "it is not due yet");
    world.advance(WAIT_OF_ADMIN);
    world.call(&timer.action, &timer.input).unwrap();
    let org = stored(&world);
    assert_eq!((org.roles[ADMIN], org.roles[OWNER]), (Role::Owner, Role::Admin));
    assert_eq!(org.succession.unwrap().state, SuccessionState::Completed);
    let told = event_types(&world).into_iter().filter(|name| name == "org.owner_changed");
    assert_eq!(told.count(), 3);
    world.call(&timer.action, &timer.input).unwrap();
}

#[test]
fn nobody_takes_over_from_an_owner_who_is_there() {
    let mut there = world(TEAM, ADMIN, GONE + 1);
    assert_eq!(there.call("request_succession", &id()).unwrap_err().code, "owner_present");
    for caller in [OWNER, OUTSIDER] {
        let refusal = world(TEAM, caller, GONE).call("request_succession", &id()).unwrap_err();
        assert_eq!(refusal.code, "not_permitted", "{caller}");
    }
    // An owner who has called in between keeps the organisation.
    let mut world = world(TEAM, ADMIN, GONE).answer(
        people::PRESENCE,
        json!({ "people": [{ "owner_id": OWNER, "last_call_at": NOW + 1 }] }),
    );
    world.call("request_succession", &id()).unwrap();
    let timer = world.timers().remove(0);
    world.advance(WAIT_OF_ADMIN);
    let mut world = world.system();
    world.call(&timer.action, &timer.input).unwrap();
    let org = stored(&world);
    assert_eq!(org.roles[OWNER], Role::Owner);
    assert_eq!(org.succession.unwrap().state, SuccessionState::Lapsed);
}

#[test]
fn an_owner_refuses_and_the_claimant_withdraws() {
    for (caller, action, state, others) in [
        (OWNER, "refuse_succession", SuccessionState::Refused, ADMIN),
        (ADMIN, "withdraw_succession", SuccessionState::Withdrawn, OWNER),
    ] {
        let mut world = world(TEAM, ADMIN, GONE);
        world.call("request_succession", &id()).unwrap();
        let mut world = world.owner(others);
        assert_eq!(world.call(action, &id()).unwrap_err().code, "not_permitted", "{action}");
        let mut world = world.owner(caller);
        world.call(action, &id()).unwrap();
        assert_eq!(stored(&world).succession.unwrap().state, state);
        assert!(world.timers().is_empty());
        assert_eq!(event_types(&world).last().unwrap(), "org.succession_refused");
        assert_eq!(world.call(action, &id()).unwrap_err().code, "invalid_transition", "{action}");
    }
}

fn leaving() -> Value {
    json!({
        "id": "evt_1", "event_type": "identity.owner_leaving", "subject": OWNER,
        "data": { "owner_id": OWNER },
    })
}

#[test]
fn an_organisation_outlives_the_erasure_of_its_last_owner() {
    let mut world = world(TEAM, ADMIN, GONE).system();
    world.call("on_owner_leaving", &leaving()).unwrap();
    assert_eq!(stored(&world).roles.keys().collect::<Vec<_>>(), [ADMIN, RECRUITER]);
    let member = world.get(MEMBERS, &member_id(ORG_ID, OWNER)).unwrap().value;
    assert_eq!(member.state, MemberState::Left);
    assert_eq!(event_types(&world), ["org.member_changed"]);
    world.call("on_owner_leaving", &leaving()).unwrap();
    let timer = world.timers().remove(0);
    world.call(&timer.action, &timer.input).unwrap();
    let told: Vec<_> = world.events().into_iter().skip(1).collect();
    assert_eq!(told.len(), 2, "the admin and the recruiter");
    for (event, member) in told.iter().zip([ADMIN, RECRUITER]) {
        assert!(matches!(&event.to, Audience::Owner(to) if to == member));
        assert_eq!(event.event_type, "org.owner_changed");
        assert!(!event.data.to_string().contains(OWNER), "{}", event.data);
    }
    let mut world = world.owner(ADMIN);
    world.call("request_succession", &id()).unwrap();
}

#[test]
fn an_organisation_without_another_member_is_archived_before_an_erasure() {
    let alone: &[(&str, Role)] = &[(OWNER, Role::Owner)];
    let founder = Founder { founded: 1 };
    let mut world = world(alone, OWNER, GONE).document(FOUNDERS, OWNER, &founder).system();
    world.call("on_owner_leaving", &leaving()).unwrap();
    assert_eq!(stored(&world).state, OrgState::Archived);
    assert_eq!(event_types(&world), ["org.archived", "org.member_changed"]);
}

#[test]
fn an_invitation_says_whether_somebody_gets_it() {
    for has_agent in [true, false] {
        let person = json!({ "owner_id": OUTSIDER, "active": true, "has_agent": has_agent, "contact_policy": "anyone_matching" });
        let mut world = test::world()
            .of::<SocialOrg>()
            .at(NOW)
            .owner(ADMIN)
            .document(ORGS, ORG_ID, &org(TEAM))
            .document(MEMBERS, &member_id(ORG_ID, ADMIN), &member(ADMIN, Role::Admin))
            .answer(people::PEOPLE, json!({ "people": [person] }))
            .answer(relations::HIDDEN, json!({ "owner_ids": [] }));
        let invite = json!({ "org_id": ORG_ID, "owner_id": OUTSIDER });
        let invited = world.call("invite_member", &invite).unwrap();
        assert_eq!(invited["counterpart_reachable"], has_agent);
    }
}

fn prove(world: &mut World, state: &str) {
    let event = json!({
        "id": "evt_1", "event_type": "verification.updated", "subject": "orgs/x",
        "data": {
            "org_id": ORG_ID, "owner_id": OUTSIDER, "domain": "copperleaf.example",
            "anybody_verified": state == "verified", "resource": { "state": state },
        },
    });
    world.call("on_verification", &event).unwrap();
}

#[test]
fn without_an_admin_a_proved_domain_decides() {
    let mut world = world(&[(OWNER, Role::Owner), (RECRUITER, Role::Recruiter)], OUTSIDER, GONE);
    assert_eq!(world.call("request_succession", &id()).unwrap_err().code, "not_permitted");
    prove(&mut world, "verified");
    let requested = world.call("request_succession", &id()).unwrap();
    assert_eq!(requested["succession"]["ground"], "domain");
    world.advance(WAIT_OF_DOMAIN);
    let mut world = world.system();
    world.call("complete_succession", &id()).unwrap();
    assert_eq!(stored(&world).roles[OUTSIDER], Role::Owner);
    let member = world.get(MEMBERS, &member_id(ORG_ID, OUTSIDER)).unwrap().value;
    assert_eq!((member.role, member.state), (Role::Owner, MemberState::Member));
}

#[test]
fn without_an_admin_and_a_proved_domain_a_member_takes_over() {
    let orphaned: &[(&str, Role)] = &[(RECRUITER, Role::Recruiter)];
    let mut world = world(orphaned, RECRUITER, GONE);
    let listed = world.call("get", &id()).unwrap()["allowed_actions"].clone();
    assert!(listed.as_array().unwrap().contains(&json!("request_succession")), "{listed}");
    let requested = world.call("request_succession", &id()).unwrap();
    assert_eq!(requested["succession"]["ground"], "member");
    let timer = world.timers().remove(0);
    assert_eq!(timer.at, NOW + WAIT_OF_MEMBER);
    world.advance(WAIT_OF_MEMBER);
    let mut world = world.system();
    world.call(&timer.action, &timer.input).unwrap();
    assert_eq!(stored(&world).roles[RECRUITER], Role::Owner);
}

#[test]
fn a_member_waits_for_admins_and_for_whoever_has_proved_the_domain() {
    let refused = |world: &mut World| world.call("request_succession", &id()).unwrap_err().code;
    assert_eq!(refused(&mut world(TEAM, RECRUITER, NOW)), "owner_present");
    let orphaned: &[(&str, Role)] = &[(RECRUITER, Role::Recruiter)];
    let mut proved = world(orphaned, RECRUITER, NOW);
    prove(&mut proved, "verified");
    assert_eq!(refused(&mut proved), "owner_present");
}

#[test]
fn a_proof_that_has_ended_gives_nothing() {
    let mut world = world(&[(OWNER, Role::Owner)], OUTSIDER, GONE);
    prove(&mut world, "verified");
    assert!(stored(&world).verified_by.contains(OUTSIDER));
    prove(&mut world, "revoked");
    assert!(stored(&world).verified_by.is_empty());
    assert_eq!(world.call("request_succession", &id()).unwrap_err().code, "not_permitted");
}

#[test]
fn the_last_admin_archives_an_organisation_without_an_owner() {
    let orphaned: &[(&str, Role)] = &[(ADMIN, Role::Admin), (RECRUITER, Role::Recruiter)];
    let mut world = world(orphaned, ADMIN, GONE).document(FOUNDERS, OWNER, &Founder { founded: 1 });
    assert_eq!(world.call("archive", &id()).unwrap()["state"], "archived");
    assert_eq!(
        self::world(TEAM, ADMIN, GONE).call("archive", &id()).unwrap_err().code,
        "not_permitted"
    );
    assert_eq!(
        self::world(orphaned, RECRUITER, GONE).call("archive", &id()).unwrap_err().code,
        "not_permitted"
    );
}

#[test]
fn owners_admins_and_recruiters_act_in_this_order() {
    let roles: &[(&str, Role)] = &[
        (OUTSIDER, Role::Owner),
        (RECRUITER, Role::Recruiter),
        (ADMIN, Role::Admin),
        (OWNER, Role::Member),
    ];
    let mut world = world(roles, ADMIN, NOW).system();
    let acting = world.call("acting_members", &id()).unwrap();
    assert_eq!(acting["owner_ids"], json!([OUTSIDER, ADMIN, RECRUITER]));
    let own = json!([{ "org_id": ORG_ID }]);
    for (owner_id, expected) in [(RECRUITER, own), (OWNER, json!([]))] {
        let orgs = world.call("acting_for", &json!({ "owner_id": owner_id })).unwrap();
        assert_eq!(orgs["orgs"], expected, "{owner_id}");
    }
}

#[test]
fn an_invitation_ends_with_the_right_of_whoever_made_it() {
    let accept = json!({ "org_id": ORG_ID, "decision": "accept" });
    let invited = Member {
        state: MemberState::Invited,
        invited_by: Some(ADMIN.into()),
        ..member(OUTSIDER, Role::Admin)
    };
    let invited_to = |roles: &[(&str, Role)]| {
        world(roles, OUTSIDER, NOW)
            .document(MEMBERS, &member_id(ORG_ID, OUTSIDER), &invited)
            .answer(relations::HIDDEN, json!({ "owner_ids": [] }))
    };
    let mut removed = invited_to(&[(OWNER, Role::Owner), (RECRUITER, Role::Recruiter)]);
    assert_eq!(removed.call("respond_invite", &accept).unwrap_err().code, "inviter_not_permitted");
    let decline = json!({ "org_id": ORG_ID, "decision": "decline" });
    removed.call("respond_invite", &decline).unwrap();
    let joined = invited_to(TEAM).call("respond_invite", &accept).unwrap();
    assert_eq!(joined["membership"]["role"], "admin");
}
