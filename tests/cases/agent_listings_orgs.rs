//! Listings in the name of an organisation: a person can write them only while they recruit for it.

use crate::cases::personal::erase;
use crate::harness::{
    Host, Options, Reply,
    conversations::wait_until,
    listings::{self, CAPABILITIES, Lister, follow_next_step, moderate},
};
use serde_json::{Value, json};

const ORG: &str = "social_org";

async fn host() -> Host {
    // The tests make many calls, and none of them is about the time limit.
    Host::start(Options::with(&CAPABILITIES).configuration("[limits]\ncall_wall_time_ms = 30000\n"))
        .await
}

async fn call_org(lister: &Lister<'_>, action: &str, org_id: &Value, fields: Value) -> Value {
    let mut body = json!({ "action": action, "org_id": org_id });
    body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    lister.agent().result(ORG, body).await
}

/// Creates an organisation as this person and returns its id.
async fn create_org(ada: &Lister<'_>) -> Value {
    let found = json!({ "action": "create", "name": "Copperleaf", "kind": "landlord" });
    ada.agent().result(ORG, found).await["org_id"].clone()
}

async fn add_member(ada: &Lister<'_>, org_id: &Value, bob: &Lister<'_>, role: &str) {
    call_org(ada, "invite_member", org_id, json!({ "owner_id": bob.id, "role": role })).await;
    call_org(bob, "respond_invite", org_id, json!({ "decision": "accept" })).await;
}

async fn listing_state(lister: &Lister<'_>, id: &str) -> Value {
    lister.call_on("get", id).await.body["result"]["state"].clone()
}

async fn wait_until_paused(lister: &Lister<'_>, id: &str) {
    wait_until("it is paused", async || listing_state(lister, id).await == "paused").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn listings_stay_with_the_organisation_when_their_author_leaves() {
    let host = host().await;
    let (ada, bob) = (Lister::new(&host).await, Lister::new(&host).await);
    let org_id = create_org(&ada).await;
    add_member(&ada, &org_id, &bob, "recruiter").await;
    let create = async |fields: Value| {
        let mut fields = fields;
        fields["as_org"] = org_id.clone();
        bob.create_listing(fields).await
    };
    let (shown, draft) = (create(json!({})).await, create(json!({ "publish": false })).await);
    let held = create(json!({ "title": "Adults only" })).await;
    let filled = create(json!({})).await;
    bob.call_on("mark_filled", &filled).await;
    let own = bob.create_listing(json!({})).await;
    call_org(&ada, "remove_member", &org_id, json!({ "owner_id": bob.id })).await;
    for id in [&shown, &draft, &held, &filled] {
        let owner =
            async || ada.call_on("get", id).await.body["result"]["owner"]["owner_id"].clone();
        wait_until("it has passed to Ada", async || owner().await == json!(ada.id)).await;
    }
    let mine = ada.result("list_mine", json!({ "as_org": org_id })).await;
    assert_eq!(mine["items"].as_array().unwrap().len(), 4, "{mine:#}");
    assert_eq!(ada.search(json!({ "owner_id": bob.id })).await, [own.as_str()]);
    assert_eq!(listing_state(&ada, &shown).await, "active");

    // Bob sees what everybody sees, and changes nothing.
    let patch = json!({ "listing_id": shown, "patch": { "title": "As good as before" } });
    bob.call("update", patch.clone()).await.assert_refused(403, "not_owner");
    bob.call_on("pause", &shown).await.assert_refused(403, "not_owner");
    bob.call_on("publish", &draft).await.assert_refused(404, "listing_not_found");
    let other = bob.call("list_mine", json!({ "as_org": org_id })).await;
    other.assert_refused(403, "not_permitted");
    follow_next_step(bob.agent(), &other).await;

    // The others of the organisation change them too.
    let cy = Lister::new(&host).await;
    add_member(&ada, &org_id, &cy, "recruiter").await;
    let ok = |reply: &Reply| assert_eq!(reply.status, 200, "{}", reply.text);
    ok(&cy.call("update", patch).await);
    ok(&cy.call_on("pause", &shown).await);
    ok(&cy.call_on("resume", &shown).await);
    ok(&cy.call_on("publish", &draft).await);
    ok(&cy.call_on("renew", &filled).await);
    ok(&moderate(&host, "approve", json!({ "listing_id": held })).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn listings_for_an_organisation_need_a_role_that_recruits() {
    let host = host().await;
    let (ada, bob, cy) =
        (Lister::new(&host).await, Lister::new(&host).await, Lister::new(&host).await);
    let org_id = create_org(&ada).await;
    for person in [&bob, &cy] {
        add_member(&ada, &org_id, person, "recruiter").await;
    }
    let as_org = json!({ "as_org": org_id });
    let (bobs, cys) = (bob.create_listing(as_org.clone()).await, cy.create_listing(as_org).await);
    for (person, role) in [(&bob, "admin"), (&cy, "member")] {
        let role = json!({ "owner_id": person.id, "role": role });
        call_org(&ada, "set_role", &org_id, role).await;
    }
    let owner = async || ada.call_on("get", &cys).await.body["result"]["owner"]["owner_id"].clone();
    wait_until("it has passed on", async || owner().await == json!(ada.id)).await;
    for id in [&bobs, &cys] {
        assert_eq!(listing_state(&ada, id).await, "active");
    }
    let again = json!({ "as_org": org_id, "publish": false });
    cy.call("create", listings::room(again)).await.assert_refused(403, "not_permitted");
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_listed_for_an_organisation_that_is_archived() {
    let host = host().await;
    let (ada, bob) = (Lister::new(&host).await, Lister::new(&host).await);
    let org_id = create_org(&ada).await;
    add_member(&ada, &org_id, &bob, "recruiter").await;
    let mut all = Vec::new();
    for person in [&ada, &bob] {
        for _ in 0..11 {
            all.push((person, person.create_listing(json!({ "as_org": org_id })).await));
        }
    }
    call_org(&ada, "archive", &org_id, json!({})).await;
    for (person, id) in &all {
        wait_until_paused(person, id).await;
    }
    bob.call_on("resume", &all[11].1).await.assert_refused(403, "not_permitted");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_recruiters_own_settings_leave_the_organisations_listings_as_they_are() {
    let host = host().await;
    let (ada, bob, eve) =
        (Lister::new(&host).await, Lister::new(&host).await, Lister::new(&host).await);
    let org_id = create_org(&ada).await;
    add_member(&ada, &org_id, &bob, "recruiter").await;
    let of_org = bob.create_listing(json!({ "as_org": org_id })).await;
    let own = bob.create_listing(json!({})).await;
    let pause = json!({ "action": "set_preferences", "contact_policy": "paused" });
    bob.agent().result("owners", pause).await;
    host.wait_until_settled().await;
    let found = eve.search(json!({ "category": "home.let" })).await;
    assert!(found.contains(&of_org) && !found.contains(&own), "{found:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_block_with_one_member_leaves_the_organisations_listing_to_the_others() {
    let host = host().await;
    let (ada, bob, eve) =
        (Lister::new(&host).await, Lister::new(&host).await, Lister::new(&host).await);
    let org_id = create_org(&ada).await;
    add_member(&ada, &org_id, &bob, "recruiter").await;
    let of_org = bob.create_listing(json!({ "as_org": org_id })).await;
    let own = bob.create_listing(json!({})).await;
    bob.relate("block", &eve).await;
    host.wait_until_settled().await;
    let found = eve.result("search", json!({ "category": "home.let" })).await;
    let items = found["items"].as_array().unwrap();
    assert_eq!(items.len(), 1, "{found:#}");
    assert_eq!(items[0]["owner"]["owner_id"], ada.id.as_str());
    let seen = eve.result("get", json!({ "listing_id": of_org })).await;
    assert_eq!(seen["owner"]["owner_id"], ada.id.as_str(), "{seen:#}");
    eve.call_on("get", &own).await.assert_refused(404, "listing_not_found");
    // Nobody is left who could answer Eve.
    ada.relate("block", &eve).await;
    host.wait_until_settled().await;
    eve.call_on("get", &of_org).await.assert_refused(404, "listing_not_found");
    assert!(eve.search(json!({ "category": "home.let" })).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn an_erasure_leaves_the_ended_listings_of_the_organisation() {
    let host = host().await;
    let (ada, bob) = (Lister::new(&host).await, Lister::new(&host).await);
    let org_id = create_org(&ada).await;
    add_member(&ada, &org_id, &bob, "recruiter").await;
    let filled = bob.create_listing(json!({ "as_org": org_id })).await;
    let own = bob.create_listing(json!({})).await;
    for id in [&filled, &own] {
        assert_eq!(bob.call_on("mark_filled", id).await.status, 200);
    }
    assert_eq!(erase(&host, &bob.id).await.status, 200);
    let kept = ada.result("get", json!({ "listing_id": filled })).await;
    assert_eq!((&kept["state"], &kept["owner"]["owner_id"]), (&json!("filled"), &json!(ada.id)));
    assert!(!kept.to_string().contains(&bob.id), "{kept:#}");
    ada.call_on("get", &own).await.assert_refused(404, "listing_not_found");
}
