//! Organisations: founded, joined, led and left; and that their roles are relations for others.

use crate::harness::{Agent, Host, Options, PATIENCE, futures, inbox::Reader};
use serde_json::{Value, json};
use std::time::{Duration, Instant};

const ORG: &str = "social_org";
const NUMBER: &str = "+14155550100";

/// These tests are not about how long a call takes on a busy machine.
const LIMITS: &str = "[limits]\ncall_wall_time_ms = 20000\n";

async fn host() -> Host {
    let names = [
        "social_org",
        "social_permissions",
        "social_relationships",
        "owners",
        "svc_phone_binding",
        "clerk",
    ];
    Host::start(Options::with(&names).configuration(LIMITS)).await
}

/// A person's agent with its inbox, and the person's id.
async fn person(host: &Host) -> (Reader<'_>, String) {
    let agent = host.test_agent().await;
    let owner_id = agent.claim(NUMBER).await.as_str().unwrap().to_owned();
    (Reader { agent, id: String::new() }, owner_id)
}

fn of(action: &str, org_id: &Value) -> Value {
    json!({ "action": action, "org_id": org_id })
}

fn about(action: &str, org_id: &Value, owner_id: &str) -> Value {
    json!({ "action": action, "org_id": org_id, "owner_id": owner_id })
}

fn with(mut body: Value, field: &str, value: impl Into<Value>) -> Value {
    body[field] = value.into();
    body
}

async fn found(agent: &Agent<'_>, name: &str) -> Value {
    let body = json!({ "action": "create", "name": name, "kind": "company" });
    agent.result(ORG, body).await["org_id"].clone()
}

/// Invites and accepts.
async fn join(admin: &Agent<'_>, org_id: &Value, agent: &Agent<'_>, owner_id: &str, role: &str) {
    admin.result(ORG, with(about("invite_member", org_id, owner_id), "role", role)).await;
    agent.result(ORG, with(of("respond_invite", org_id), "decision", "accept")).await;
}

/// The roles that `social_permissions` knows of, from the highest.
async fn roles(agent: &Agent<'_>, org_id: &Value, owner_id: &str) -> Vec<&'static str> {
    let mut held = Vec::new();
    for role in ["owner", "admin", "recruiter", "member"] {
        let (object, subject) =
            (format!("org:{}", org_id.as_str().unwrap()), format!("owner:{owner_id}"));
        let ask =
            json!({ "action": "ask", "object": object, "relation": role, "subject": subject });
        if agent.result("clerk", ask).await["allowed"] == true {
            held.push(role);
        }
    }
    held
}

async fn follow(agent: &Agent<'_>, refused: &Value) -> Value {
    let next = &refused["next"];
    agent.result(next["capability"].as_str().unwrap(), next["input"].clone()).await
}

/// The newest event of a type, once it is there.
async fn event(reader: &Reader<'_>, event_type: &str) -> Value {
    let page = reader.page(&format!("wait=20&types={event_type}")).await;
    page["events"].as_array().unwrap().last().unwrap_or(&Value::Null).clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_founds_an_organisation_owns_it() {
    let host = host().await;
    let ((ada, a), stranger) = (person(&host).await, host.test_agent().await);
    let body = json!({
        "action": "create", "name": " Café Copperleaf ", "kind": "company", "domain": "copperleaf.example",
    });
    let org = ada.agent.result(ORG, body.clone()).await;
    assert_eq!(
        (
            &org["name"],
            &org["state"],
            &org["version"],
            &org["verified"],
            &org["members_count"],
            &org["trust"]
        ),
        (
            &json!("Café Copperleaf"),
            &json!("active"),
            &json!(1),
            &json!(false),
            &json!(1),
            &json!("untrusted_user_content")
        ),
    );
    assert_eq!(org["membership"]["role"], "owner");
    assert!(org["allowed_actions"].as_array().unwrap().contains(&json!("archive")), "{org:#}");
    assert_eq!(
        roles(&ada.agent, &org["org_id"], &a).await,
        ["owner", "admin", "recruiter", "member"]
    );

    let read = stranger.result(ORG, of("get", &org["org_id"])).await;
    assert_eq!((&read["membership"], &read["allowed_actions"]), (&Value::Null, &json!([])));
    let words = json!({ "action": "search", "q": "copperleaf cafe", "kind": "company" });
    assert_eq!(stranger.result(ORG, words.clone()).await["items"], json!([read]));
    let none = with(words, "verified", true);
    assert_eq!(stranger.result(ORG, none).await["items"], json!([]));
    assert_eq!(
        ada.agent.result(ORG, json!({ "action": "list_mine" })).await["items"],
        json!([org])
    );
    let mine = stranger.call(ORG, json!({ "action": "list_mine" })).await;
    assert_eq!(
        (&mine.body["result"]["items"], &mine.body["next"]["capability"]),
        (&json!([]), &json!("svc.phone-binding"))
    );

    let taken = ada.agent.call(ORG, with(body, "name", "CAFE, copperleaf!")).await;
    taken.refused(409, "org_name_taken");
    assert_eq!(follow(&ada.agent, &taken.body).await["org_id"], org["org_id"]);
    let missing = stranger.call(ORG, json!({ "action": "get", "org_id": "org_x" })).await;
    missing.refused(404, "org_not_found");
    follow(&stranger, &missing.body).await;
    stranger.call(ORG, of("members", &org["org_id"])).await.refused(403, "not_permitted");
    for (name, code) in [
        ("call +1 415 555 0100", "contact_in_text"),
        ("\u{202e}abc", "validation_failed"),
        ("?!", "validation_failed"),
    ] {
        let body = json!({ "action": "create", "name": name, "kind": "fund" });
        assert_eq!(ada.agent.call(ORG, body).await.body["error_code"], code, "{name}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn of_two_that_take_a_name_at_once_one_has_it() {
    let host = host().await;
    let (ada, _) = person(&host).await;
    let create = |name: &str| {
        ada.agent.call(ORG, json!({ "action": "create", "name": name, "kind": "fund" }))
    };
    let replies =
        futures(["One Name", "ONE NAME", "one name", "öne-name"].map(create).into_iter()).await;
    let mut codes: Vec<_> = replies.iter().map(|reply| reply.status.as_u16()).collect();
    codes.sort_unstable();
    assert_eq!(codes, [200, 409, 409, 409]);
    for number in 1..10 {
        found(&ada.agent, &format!("Name {number}")).await;
    }
    let refused = create("One too many").await;
    refused.refused(409, "org_limit_reached");
    follow(&ada.agent, &refused.body).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn people_join_by_invitation() {
    let host = host().await;
    let ((ada, a), (bob, b)) = (person(&host).await, person(&host).await);
    let named = json!({ "action": "update_profile", "display_name": "Bob B." });
    bob.agent.result("owners", named).await;
    let org_id = found(&ada.agent, "Copperleaf").await;
    let invite = with(about("invite_member", &org_id, &b), "role", "recruiter");
    let invited = ada.agent.result(ORG, invite.clone()).await;
    assert_eq!(
        (&invited["state"], &invited["display_name"], &invited["allowed_actions"]),
        (&json!("invited"), &json!("Bob B."), &json!(["remove_member"]))
    );
    assert_eq!(roles(&ada.agent, &org_id, &b).await, Vec::<&str>::new());
    let again = ada.agent.call(ORG, invite.clone()).await;
    again.refused(409, "invalid_transition");
    follow(&ada.agent, &again.body).await;

    // Nothing but what the event says is followed.
    let told = event(&bob, "org.invited").await;
    assert_eq!(
        (
            &told["data"]["actor"]["owner_id"],
            &told["data"]["role"],
            &told["data"]["resource"]["state"]
        ),
        (&json!(a), &json!("recruiter"), &json!("invited")),
        "{told:#}"
    );
    let next = &told["data"]["next"];
    let mut input = next["input"].clone();
    input[next["missing"][0].as_str().unwrap()] = json!("accept");
    let mine = bob.agent.result(ORG, json!({ "action": "list_mine", "state": ["invited"] })).await;
    assert_eq!(mine["items"][0]["allowed_actions"], json!(["respond_invite"]));
    let joined = bob.agent.result(next["capability"].as_str().unwrap(), input.clone()).await;
    assert_eq!(
        (&joined["membership"]["role"], &joined["members_count"], &joined["allowed_actions"]),
        (&json!("recruiter"), &json!(2), &json!(["leave"]))
    );
    assert_eq!(roles(&ada.agent, &org_id, &b).await, ["recruiter", "member"]);
    let told = event(&ada, "org.member_changed").await;
    assert_eq!(
        (&told["data"]["owner_id"], &told["data"]["resource"]["state"]),
        (&json!(b), &json!("member"))
    );
    let twice = bob.agent.call(ORG, input).await;
    twice.refused(404, "invite_not_found");
    follow(&bob.agent, &twice.body).await;
    let again = ada.agent.call(ORG, invite).await;
    again.refused(409, "already_member");
    let members = follow(&ada.agent, &again.body).await;
    let rows: Vec<_> = members["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (&it["owner_id"], &it["display_name"], &it["trust"]))
        .collect();
    assert_eq!(rows.len(), 2);
    assert!(
        rows.contains(&(&json!(b), &json!("Bob B."), &json!("untrusted_user_content"))),
        "{members:#}"
    );
    let invited = with(of("members", &org_id), "state", "invited");
    bob.agent.call(ORG, invited.clone()).await.refused(403, "not_permitted");
    assert_eq!(ada.agent.result(ORG, invited).await["items"], json!([]));
    let nobody = ada.agent.call(ORG, about("invite_member", &org_id, "own_nobody")).await;
    nobody.refused(404, "owner_not_found");
    follow(&ada.agent, &nobody.body).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_declines_is_left_alone_and_an_invitation_ends() {
    let host = host().await;
    let ((ada, _), (bob, b), (eve, e)) =
        (person(&host).await, person(&host).await, person(&host).await);
    let org_id = found(&ada.agent, "Copperleaf").await;
    let invite = |owner_id: &str| about("invite_member", &org_id, owner_id);
    ada.agent.result(ORG, invite(&b)).await;
    let declined =
        bob.agent.result(ORG, with(of("respond_invite", &org_id), "decision", "decline")).await;
    assert_eq!(
        (&declined["membership"]["state"], &declined["members_count"]),
        (&json!("declined"), &json!(1))
    );
    let refused = ada.agent.call(ORG, invite(&b)).await;
    refused.refused(409, "recipient_not_accepting");
    follow(&ada.agent, &refused.body).await;

    ada.agent.result(ORG, invite(&e)).await;
    // A timer that comes too early does nothing, and one that comes twice neither.
    let due = "UPDATE timers SET due_at = 0 WHERE name LIKE 'invite/%'";
    let over = "UPDATE documents SET body = json_set(body, '$.expires_at', 1) WHERE body LIKE '%\"state\":\"invited\"%'";
    let timers = "SELECT name FROM timers WHERE name LIKE 'invite/%'";
    assert_eq!(host.database().execute(due).await, 1);
    let started = Instant::now();
    while !host.database().texts(timers).await.is_empty() {
        assert!(started.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    let mine = json!({ "action": "list_mine" });
    assert_eq!(
        eve.agent.result(ORG, mine.clone()).await["items"][0]["membership"]["state"],
        "invited"
    );
    let withdrawn = ada.agent.result(ORG, about("remove_member", &org_id, &e)).await;
    assert_eq!(withdrawn["state"], "withdrawn");
    ada.agent.call(ORG, invite(&e)).await.refused(409, "recipient_not_accepting");

    let (dan, d) = person(&host).await;
    ada.agent.result(ORG, invite(&d)).await;
    assert_eq!(host.database().execute(over).await, 1);
    let late = dan.agent.call(ORG, with(of("respond_invite", &org_id), "decision", "accept")).await;
    late.refused(404, "invite_not_found");
    assert_eq!(host.database().execute(due).await, 1);
    let expired = json!({ "action": "list_mine", "state": ["expired"] });
    let started = Instant::now();
    while dan.agent.result(ORG, expired.clone()).await["items"] == json!([]) {
        assert!(started.elapsed() < PATIENCE);
        tokio::time::sleep(Duration::from_millis(30)).await;
    }
    // An invitation that nobody has seen may come again.
    ada.agent.result(ORG, invite(&d)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_want_to_be_approached_is_not_invited() {
    let host = host().await;
    let ((ada, a), (bob, b)) = (person(&host).await, person(&host).await);
    let org_id = found(&ada.agent, "Copperleaf").await;
    let refused = async || {
        let refused = ada.agent.call(ORG, about("invite_member", &org_id, &b)).await;
        refused.refused(409, "recipient_not_accepting");
        refused.body
    };
    let policy = |policy: &str| json!({ "action": "set_preferences", "contact_policy": policy });
    bob.agent.result("owners", policy("paused")).await;
    let paused = refused().await;
    bob.agent.result("owners", policy("network")).await;
    assert_eq!(refused().await, paused);
    bob.agent.result("owners", policy("anyone_matching")).await;
    let blocks = |owner_id: &str| json!({ "action": "block", "owner_id": owner_id });
    let unblocks = |owner_id: &str| json!({ "action": "unblock", "owner_id": owner_id });
    bob.agent.result("social_relationships", blocks(&a)).await;
    assert_eq!(refused().await, paused, "a block looks like a pause");
    bob.agent.result("social_relationships", unblocks(&a)).await;
    ada.agent.result("social_relationships", blocks(&b)).await;
    assert_eq!(refused().await, paused);
    ada.agent.result("social_relationships", unblocks(&b)).await;
    bob.agent.result("owners", json!({ "action": "deactivate" })).await;
    assert_eq!(refused().await, paused);
    bob.agent.result("owners", json!({ "action": "reactivate" })).await;
    ada.agent.result(ORG, about("invite_member", &org_id, &b)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_opens_what_it_says_and_nothing_above_it() {
    let host = host().await;
    let people = futures((0..4).map(|_| person(&host))).await;
    let [(owner, o), (admin, a), (recruiter, r), (stranger, s)] = &people[..] else { panic!() };
    let org_id = found(&owner.agent, "Copperleaf").await;
    join(&owner.agent, &org_id, &admin.agent, a, "admin").await;
    join(&admin.agent, &org_id, &recruiter.agent, r, "recruiter").await;

    for (agent, action) in [
        (recruiter, "update"),
        (recruiter, "archive"),
        (admin, "archive"),
        (stranger, "update"),
        (stranger, "leave"),
    ] {
        let refused = agent.agent.call(ORG, of(action, &org_id)).await;
        refused.refused(403, "not_permitted");
        follow(&agent.agent, &refused.body).await;
    }
    let role =
        |owner_id: &str, role: &str| with(about("set_role", &org_id, owner_id), "role", role);
    recruiter.agent.call(ORG, role(r, "admin")).await.refused(403, "not_permitted");
    admin.agent.call(ORG, role(a, "owner")).await.refused(403, "not_permitted");
    admin.agent.call(ORG, role(o, "member")).await.refused(403, "not_permitted");
    admin.agent.call(ORG, about("remove_member", &org_id, o)).await.refused(403, "not_permitted");
    let as_owner = with(about("invite_member", &org_id, s), "role", "owner");
    admin.agent.call(ORG, as_owner).await.refused(403, "not_permitted");
    let nobody = admin.agent.call(ORG, role(s, "member")).await;
    nobody.refused(404, "member_not_found");
    follow(&admin.agent, &nobody.body).await;

    let raised = admin.agent.result(ORG, role(r, "admin")).await;
    assert_eq!(
        (&raised["role"], &raised["allowed_actions"]),
        (&json!("admin"), &json!(["set_role", "remove_member"]))
    );
    assert_eq!(roles(&owner.agent, &org_id, r).await, ["admin", "recruiter", "member"]);
    assert_eq!(event(recruiter, "org.member_changed").await["data"]["role"], "admin");
    admin.agent.result(ORG, role(r, "member")).await;
    assert_eq!(roles(&owner.agent, &org_id, r).await, ["member"]);
    let removed = admin.agent.result(ORG, about("remove_member", &org_id, r)).await;
    assert_eq!(
        (&removed["state"], &removed["allowed_actions"]),
        (&json!("removed"), &json!(["invite_member"]))
    );
    assert_eq!(roles(&owner.agent, &org_id, r).await, Vec::<&str>::new());
    recruiter.agent.call(ORG, of("leave", &org_id)).await.refused(403, "not_permitted");
    let left = admin.agent.result(ORG, of("leave", &org_id)).await;
    assert_eq!((&left["members_count"], &left["membership"]["state"]), (&json!(1), &json!("left")));
    join(&owner.agent, &org_id, &recruiter.agent, r, "member").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organisation_never_loses_its_last_owner() {
    let host = host().await;
    let ((ada, a), (bob, b)) = (person(&host).await, person(&host).await);
    let org_id = found(&ada.agent, "Copperleaf").await;
    join(&ada.agent, &org_id, &bob.agent, &b, "member").await;
    let leave = || of("leave", &org_id);
    let last = ada.agent.call(ORG, leave()).await;
    last.refused(409, "last_org_owner");
    let demoted = with(about("set_role", &org_id, &a), "role", "member");
    ada.agent.call(ORG, demoted).await.refused(409, "last_org_owner");
    ada.agent.call(ORG, about("remove_member", &org_id, &a)).await.refused(409, "last_org_owner");
    assert_eq!(roles(&ada.agent, &org_id, &a).await[0], "owner");
    // As the refusal says: ask, call, and try again.
    let next = &last.body["next"];
    assert_eq!((&next["missing"], &next["then"]), (&json!(["owner_id"]), &json!("retry_original")));
    let transfer = with(next["input"].clone(), "owner_id", b.as_str());
    let handed = ada.agent.result(ORG, transfer).await;
    assert_eq!(handed["membership"]["role"], "admin");
    assert_eq!(
        (roles(&ada.agent, &org_id, &a).await[0], roles(&ada.agent, &org_id, &b).await[0]),
        ("admin", "owner")
    );

    // Of two owners who leave at once, one stays.
    bob.agent.result(ORG, with(about("set_role", &org_id, &a), "role", "owner")).await;
    let replies = futures([&ada, &bob].iter().map(|it| it.agent.call(ORG, leave()))).await;
    let mut codes: Vec<_> = replies.iter().map(|reply| reply.status.as_u16()).collect();
    codes.sort_unstable();
    assert_eq!(codes, [200, 409]);
    assert_eq!(ada.agent.result(ORG, of("get", &org_id)).await["members_count"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_who_is_verified_stands_for_a_target() {
    let host = host().await;
    let (ada, _) = person(&host).await;
    let (org_id, other_id) =
        (found(&ada.agent, "Copperleaf").await, found(&ada.agent, "Other").await);
    let link = |org_id: &Value| with(of("link_target", org_id), "target_id", "tgt_1");
    let refused = ada.agent.call(ORG, link(&org_id)).await;
    refused.refused(403, "verification_required");
    assert_eq!(refused.body["next"]["capability"], "owner_verification");
    let verify = |org_id: &Value, verified: bool| json!({ "action": "verify", "org_id": org_id, "verified": verified });
    for id in [&org_id, &other_id] {
        ada.agent.result("clerk", verify(id, true)).await;
    }
    assert_eq!(event(&ada, "org.verified").await["data"]["verified"], true);
    let linked = ada.agent.result(ORG, link(&org_id)).await;
    assert_eq!((&linked["verified"], &linked["target_id"]), (&json!(true), &json!("tgt_1")));
    let taken = ada.agent.call(ORG, link(&other_id)).await;
    taken.refused(409, "target_taken");
    assert_eq!(follow(&ada.agent, &taken.body).await["org_id"], org_id);

    // Another name is somebody else.
    let kind = with(of("update", &org_id), "kind", "fund");
    assert_eq!(ada.agent.result(ORG, kind).await["verified"], true);
    let renamed =
        ada.agent.result(ORG, with(of("update", &org_id), "name", "Copperleaf Bank")).await;
    assert_eq!((&renamed["verified"], &renamed["target_id"]), (&json!(false), &Value::Null));
    ada.agent.result(ORG, link(&other_id)).await;
    ada.agent.result("clerk", verify(&other_id, false)).await;
    assert_eq!(ada.agent.result(ORG, of("get", &other_id)).await["target_id"], Value::Null);
    // A verification of a domain that it no longer has counts for nothing.
    let old = with(verify(&org_id, true), "domain", "old.example");
    ada.agent.result("clerk", old).await;
    assert_eq!(ada.agent.result(ORG, of("get", &org_id)).await["verified"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archived_organisation_has_no_roles_and_no_name() {
    let host = host().await;
    let ((ada, a), (bob, b), (eve, e)) =
        (person(&host).await, person(&host).await, person(&host).await);
    let org_id = found(&ada.agent, "Copperleaf").await;
    join(&ada.agent, &org_id, &bob.agent, &b, "admin").await;
    ada.agent.result(ORG, about("invite_member", &org_id, &e)).await;
    let version = ada.agent.result(ORG, of("get", &org_id)).await["version"].clone();
    let stale = ada.agent.call(ORG, with(of("archive", &org_id), "expected_version", 1)).await;
    stale.refused(409, "version_conflict");
    assert_eq!(stale.body["conflict"]["current"]["version"], version);
    assert_eq!(follow(&ada.agent, &stale.body).await["version"], version);
    let archived =
        ada.agent.result(ORG, with(of("archive", &org_id), "expected_version", version)).await;
    assert_eq!(
        (&archived["state"], &archived["allowed_actions"]),
        (&json!("archived"), &json!([]))
    );
    for owner_id in [&a, &b] {
        assert_eq!(roles(&ada.agent, &org_id, owner_id).await, Vec::<&str>::new());
    }
    let refused = ada.agent.call(ORG, of("update", &org_id)).await;
    refused.refused(409, "invalid_transition");
    assert_eq!(follow(&ada.agent, &refused.body).await["state"], "archived");
    let late = eve.agent.call(ORG, with(of("respond_invite", &org_id), "decision", "accept")).await;
    late.refused(409, "invalid_transition");
    let all = json!({ "action": "search" });
    assert_eq!(eve.agent.result(ORG, all).await["items"], json!([]));
    found(&eve.agent, "COPPERLEAF").await;
}
