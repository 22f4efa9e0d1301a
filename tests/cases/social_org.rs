//! Organisations: how they are created, administered and left, and the relations of their roles.

use crate::{
    cases::signal_verification::published_items,
    harness::{Agent, Host, Options, feeds::city, inbox::Reader, join_all},
};
use serde_json::{Value, json};

pub const ORG: &str = "social_org";
const NUMBER: &str = "+14155550100";

/// A long time limit of calls, because the machine may be busy.
const LIMITS: &str = "[limits]\ncall_wall_time_ms = 20000\n";

const NAMES: [&str; 6] = [
    "social_org",
    "social_permissions",
    "social_relationships",
    "owners",
    "svc_phone_binding",
    "clerk",
];

pub async fn host() -> Host {
    Host::start(Options::with(&NAMES).configuration(LIMITS)).await
}

/// Registers and claims an agent, and returns it with the person's id.
pub async fn person(host: &Host) -> (Reader<'_>, String) {
    let agent = host.test_agent().await;
    let owner_id = agent.claim(NUMBER).await.as_str().unwrap().to_owned();
    (Reader { agent, id: String::new() }, owner_id)
}

pub fn org_action(action: &str, org_id: &Value) -> Value {
    json!({ "action": action, "org_id": org_id })
}

pub fn member_action(action: &str, org_id: &Value, owner_id: &str) -> Value {
    json!({ "action": action, "org_id": org_id, "owner_id": owner_id })
}

pub fn with_field(mut body: Value, field: &str, value: impl Into<Value>) -> Value {
    body[field] = value.into();
    body
}

pub async fn create_org(agent: &Agent<'_>, name: &str) -> Value {
    let body = json!({ "action": "create", "name": name, "kind": "company" });
    agent.result(ORG, body).await["org_id"].clone()
}

/// Makes a person a member by an invitation that they accept.
pub async fn add_member(
    admin: &Agent<'_>,
    org_id: &Value,
    agent: &Agent<'_>,
    owner_id: &str,
    role: &str,
) {
    admin
        .result(ORG, with_field(member_action("invite_member", org_id, owner_id), "role", role))
        .await;
    agent.result(ORG, with_field(org_action("respond_invite", org_id), "decision", "accept")).await;
}

/// Returns the person's roles in `social_permissions`, the highest first.
pub async fn roles(agent: &Agent<'_>, org_id: &Value, owner_id: &str) -> Vec<&'static str> {
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

pub async fn call_next_step(agent: &Agent<'_>, refused: &Value) -> Value {
    let next = &refused["next"];
    agent.result(next["capability"].as_str().unwrap(), next["input"].clone()).await
}

/// Waits for an event of a type, and returns the newest; null if none is delivered in time.
pub async fn wait_for_event(reader: &Reader<'_>, event_type: &str) -> Value {
    let page = reader.page(&format!("wait=20&types={event_type}")).await;
    page["events"].as_array().unwrap().last().unwrap_or(&Value::Null).clone()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_creator_of_an_organisation_is_its_owner() {
    let host = host().await;
    let ((ada, a), stranger) = (person(&host).await, host.test_agent().await);
    for name in ["\u{397}arbour Fund", "Portolan", "Harbour Fund \u{2713}", "\u{3164}"] {
        let body = json!({ "action": "create", "name": name, "kind": "company" });
        ada.agent.call(ORG, body).await.assert_refused(400, "validation_failed");
    }
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

    let read = stranger.result(ORG, org_action("get", &org["org_id"])).await;
    assert_eq!((&read["membership"], &read["allowed_actions"]), (&Value::Null, &json!([])));
    let words = json!({ "action": "search", "q": "copperleaf cafe", "kind": "company" });
    assert_eq!(stranger.result(ORG, words.clone()).await["items"], json!([read]));
    let none = with_field(words, "verified", true);
    assert_eq!(stranger.result(ORG, none).await["items"], json!([]));
    let wordless = json!({ "action": "search", "q": "---" });
    stranger.call(ORG, wordless).await.assert_refused(400, "query_empty");
    assert_eq!(
        ada.agent.result(ORG, json!({ "action": "list_mine" })).await["items"],
        json!([org])
    );
    let mine = stranger.call(ORG, json!({ "action": "list_mine" })).await;
    assert_eq!(
        (&mine.body["result"]["items"], &mine.body["next"]["capability"]),
        (&json!([]), &json!("svc.phone-binding"))
    );

    let taken = ada.agent.call(ORG, with_field(body, "name", "CAFE, copperleaf!")).await;
    taken.assert_refused(409, "org_name_taken");
    assert_eq!(call_next_step(&ada.agent, &taken.body).await["org_id"], org["org_id"]);
    let missing = stranger.call(ORG, json!({ "action": "get", "org_id": "org_x" })).await;
    missing.assert_refused(404, "org_not_found");
    call_next_step(&stranger, &missing.body).await;
    stranger
        .call(ORG, org_action("members", &org["org_id"]))
        .await
        .assert_refused(403, "not_permitted");
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
async fn simultaneous_creations_of_one_name_make_one_organisation() {
    let host = host().await;
    let (ada, _) = person(&host).await;
    let create = |name: &str| {
        ada.agent.call(ORG, json!({ "action": "create", "name": name, "kind": "fund" }))
    };
    let replies =
        join_all(["One Name", "ONE NAME", "one name", "öne-name"].map(create).into_iter()).await;
    let mut codes: Vec<_> = replies.iter().map(|reply| reply.status.as_u16()).collect();
    codes.sort_unstable();
    assert_eq!(codes, [200, 409, 409, 409]);
    for number in 1..10 {
        create_org(&ada.agent, &format!("Name {number}")).await;
    }
    let refused = create("One too many").await;
    refused.assert_refused(409, "org_limit_reached");
    call_next_step(&ada.agent, &refused.body).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_role_permits_its_own_actions_only() {
    let host = host().await;
    let people = join_all((0..4).map(|_| person(&host))).await;
    let [(owner, o), (admin, a), (recruiter, r), (stranger, s)] = &people[..] else { panic!() };
    let org_id = create_org(&owner.agent, "Copperleaf").await;
    add_member(&owner.agent, &org_id, &admin.agent, a, "admin").await;
    add_member(&admin.agent, &org_id, &recruiter.agent, r, "recruiter").await;

    for (agent, action) in [
        (recruiter, "update"),
        (recruiter, "archive"),
        (admin, "archive"),
        (stranger, "update"),
        (stranger, "leave"),
    ] {
        let refused = agent.agent.call(ORG, org_action(action, &org_id)).await;
        refused.assert_refused(403, "not_permitted");
        call_next_step(&agent.agent, &refused.body).await;
    }
    let role = |owner_id: &str, role: &str| {
        with_field(member_action("set_role", &org_id, owner_id), "role", role)
    };
    recruiter.agent.call(ORG, role(r, "admin")).await.assert_refused(403, "not_permitted");
    admin.agent.call(ORG, role(a, "owner")).await.assert_refused(403, "not_permitted");
    admin.agent.call(ORG, role(o, "member")).await.assert_refused(403, "not_permitted");
    admin
        .agent
        .call(ORG, member_action("remove_member", &org_id, o))
        .await
        .assert_refused(403, "not_permitted");
    let as_owner = with_field(member_action("invite_member", &org_id, s), "role", "owner");
    admin.agent.call(ORG, as_owner).await.assert_refused(403, "not_permitted");
    let nobody = admin.agent.call(ORG, role(s, "member")).await;
    nobody.assert_refused(404, "member_not_found");
    call_next_step(&admin.agent, &nobody.body).await;

    let raised = admin.agent.result(ORG, role(r, "admin")).await;
    assert_eq!(
        (&raised["role"], &raised["allowed_actions"]),
        (&json!("admin"), &json!(["set_role", "remove_member"]))
    );
    assert_eq!(roles(&owner.agent, &org_id, r).await, ["admin", "recruiter", "member"]);
    assert_eq!(wait_for_event(recruiter, "org.member_changed").await["data"]["role"], "admin");
    admin.agent.result(ORG, role(r, "member")).await;
    assert_eq!(roles(&owner.agent, &org_id, r).await, ["member"]);
    let removed = admin.agent.result(ORG, member_action("remove_member", &org_id, r)).await;
    assert_eq!((&removed["state"], &removed["allowed_actions"]), (&json!("removed"), &json!([])));
    assert_eq!(roles(&owner.agent, &org_id, r).await, Vec::<&str>::new());
    recruiter
        .agent
        .call(ORG, org_action("leave", &org_id))
        .await
        .assert_refused(403, "not_permitted");
    let left = admin.agent.result(ORG, org_action("leave", &org_id)).await;
    assert_eq!((&left["members_count"], &left["membership"]["state"]), (&json!(1), &json!("left")));
    add_member(&owner.agent, &org_id, &recruiter.agent, r, "member").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_organisation_never_loses_its_last_owner() {
    let host = host().await;
    let ((ada, a), (bob, b)) = (person(&host).await, person(&host).await);
    let org_id = create_org(&ada.agent, "Copperleaf").await;
    add_member(&ada.agent, &org_id, &bob.agent, &b, "member").await;
    let leave = || org_action("leave", &org_id);
    let last = ada.agent.call(ORG, leave()).await;
    last.assert_refused(409, "last_org_owner");
    let demoted = with_field(member_action("set_role", &org_id, &a), "role", "member");
    ada.agent.call(ORG, demoted).await.assert_refused(409, "last_org_owner");
    ada.agent
        .call(ORG, member_action("remove_member", &org_id, &a))
        .await
        .assert_refused(409, "last_org_owner");
    assert_eq!(roles(&ada.agent, &org_id, &a).await[0], "owner");
    // The next step of the refusal: ask for the new owner, transfer, and try again.
    let next = &last.body["next"];
    assert_eq!((&next["missing"], &next["then"]), (&json!(["owner_id"]), &json!("retry_original")));
    let transfer = with_field(next["input"].clone(), "owner_id", b.as_str());
    let handed = ada.agent.result(ORG, transfer).await;
    assert_eq!(handed["membership"]["role"], "admin");
    assert_eq!(
        (roles(&ada.agent, &org_id, &a).await[0], roles(&ada.agent, &org_id, &b).await[0]),
        ("admin", "owner")
    );

    // If two owners leave concurrently, only one can.
    bob.agent
        .result(ORG, with_field(member_action("set_role", &org_id, &a), "role", "owner"))
        .await;
    let replies = join_all([&ada, &bob].iter().map(|person| person.agent.call(ORG, leave()))).await;
    let mut codes: Vec<_> = replies.iter().map(|reply| reply.status.as_u16()).collect();
    codes.sort_unstable();
    assert_eq!(codes, [200, 409]);
    assert_eq!(ada.agent.result(ORG, org_action("get", &org_id)).await["members_count"], 1);
}

/// Returns two targets of the map, each with the domain of its website.
fn targets() -> [(String, String); 2] {
    let targets = published_items(&city().join("feeds"), "sf-live-targets.json", "features");
    let mut with_site = targets.iter().filter_map(|target| {
        let site = target["properties"]["website"].as_str()?;
        let host = site.split("://").nth(1)?.split('/').next()?;
        Some((target["id"].as_str()?.to_owned(), host.trim_start_matches("www.").to_owned()))
    });
    [with_site.next().unwrap(), with_site.next().unwrap()]
}

#[tokio::test(flavor = "multi_thread")]
async fn only_a_verified_organisation_is_linked_to_a_target() {
    let feeds = format!("feeds_dir = {:?}", city().join("feeds"));
    let options = Options::with(&NAMES).configuration(LIMITS).add_configuration(&feeds);
    let host = Host::start(options).await;
    let (ada, _) = person(&host).await;
    let [(target, domain), (another, _)] = targets();
    let of_domain = |name: &str| json!({ "action": "create", "name": name, "kind": "company", "domain": domain });
    let org_id = ada.agent.result(ORG, of_domain("Copperleaf")).await["org_id"].clone();
    let other_id = ada.agent.result(ORG, of_domain("Other")).await["org_id"].clone();
    let link = |org_id: &Value| {
        with_field(org_action("link_target", org_id), "target_id", target.as_str())
    };
    let refused = ada.agent.call(ORG, link(&org_id)).await;
    refused.assert_refused(403, "verification_required");
    assert_eq!(refused.body["next"]["capability"], "owner_verification");
    let verify = |org_id: &Value, verified: bool| json!({ "action": "verify", "org_id": org_id, "verified": verified });
    for id in [&org_id, &other_id] {
        ada.agent.result("clerk", verify(id, true)).await;
    }
    assert_eq!(wait_for_event(&ada, "org.verified").await["data"]["verified"], true);
    let linked = ada.agent.result(ORG, link(&org_id)).await;
    assert_eq!((&linked["verified"], &linked["target_id"]), (&json!(true), &json!(target)));
    let taken = ada.agent.call(ORG, link(&other_id)).await;
    taken.assert_refused(409, "target_taken");
    assert_eq!(call_next_step(&ada.agent, &taken.body).await["org_id"], org_id);
    // A target whose website has another domain cannot be linked.
    let elsewhere = with_field(org_action("link_target", &other_id), "target_id", another.as_str());
    ada.agent.call(ORG, elsewhere).await.assert_refused(403, "not_permitted");

    // A change of the name keeps the verification; a change of the domain ends it.
    for (field, value) in [("kind", "fund"), ("name", "Copperleaf Bank")] {
        let changed =
            ada.agent.result(ORG, with_field(org_action("update", &org_id), field, value)).await;
        assert_eq!((&changed["verified"], &changed["target_id"]), (&json!(true), &json!(target)));
    }
    let moved = ada
        .agent
        .result(ORG, with_field(org_action("update", &org_id), "domain", "new.example"))
        .await;
    assert_eq!((&moved["verified"], &moved["target_id"]), (&json!(false), &Value::Null));
    ada.agent.result(ORG, link(&other_id)).await;
    ada.agent.result("clerk", verify(&other_id, false)).await;
    assert_eq!(ada.agent.result(ORG, org_action("get", &other_id)).await["target_id"], Value::Null);
    // A verification of a former domain does not count.
    let old = with_field(verify(&org_id, true), "domain", "old.example");
    ada.agent.result("clerk", old).await;
    assert_eq!(ada.agent.result(ORG, org_action("get", &org_id)).await["verified"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_archived_organisation_has_no_roles_and_no_name() {
    let host = host().await;
    let ((ada, a), (bob, b), (eve, e)) =
        (person(&host).await, person(&host).await, person(&host).await);
    let org_id = create_org(&ada.agent, "Copperleaf").await;
    add_member(&ada.agent, &org_id, &bob.agent, &b, "admin").await;
    ada.agent.result(ORG, member_action("invite_member", &org_id, &e)).await;
    let version = ada.agent.result(ORG, org_action("get", &org_id)).await["version"].clone();
    let stale = ada
        .agent
        .call(ORG, with_field(org_action("archive", &org_id), "expected_version", 1))
        .await;
    stale.assert_refused(409, "version_conflict");
    assert_eq!(stale.body["conflict"]["current"]["version"], version);
    assert_eq!(call_next_step(&ada.agent, &stale.body).await["version"], version);
    let archived = ada
        .agent
        .result(ORG, with_field(org_action("archive", &org_id), "expected_version", version))
        .await;
    assert_eq!(
        (&archived["state"], &archived["allowed_actions"]),
        (&json!("archived"), &json!([]))
    );
    for owner_id in [&a, &b] {
        assert_eq!(roles(&ada.agent, &org_id, owner_id).await, Vec::<&str>::new());
    }
    let refused = ada.agent.call(ORG, org_action("update", &org_id)).await;
    refused.assert_refused(409, "invalid_transition");
    assert_eq!(call_next_step(&ada.agent, &refused.body).await["state"], "archived");
    let late = eve
        .agent
        .call(ORG, with_field(org_action("respond_invite", &org_id), "decision", "accept"))
        .await;
    late.assert_refused(409, "invalid_transition");
    let all = json!({ "action": "search" });
    assert_eq!(eve.agent.result(ORG, all).await["items"], json!([]));
    create_org(&eve.agent, "COPPERLEAF").await;
}
