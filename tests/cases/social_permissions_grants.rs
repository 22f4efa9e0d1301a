//! Grants by people on their own objects: how they are granted, revoked, expired and limited.

use crate::harness::time::{DAY, HOUR};
use crate::{
    cases::social_permissions::{
        PERMISSIONS, call_next_step, check_action, check_result, host, is_allowed, person,
        with_field, write_relations,
    },
    harness::join_all,
};
use serde_json::{Value, json};

fn grant(object: &str, relation: &str, subject: &str) -> Value {
    json!({ "action": "grant", "object": object, "relation": relation, "subject": subject })
}

fn revoke(object: &str, relation: &str, subject: &str) -> Value {
    json!({ "action": "revoke", "object": object, "relation": relation, "subject": subject })
}

#[tokio::test(flavor = "multi_thread")]
async fn people_grant_and_revoke_on_what_they_govern() {
    let host = host().await;
    let ((ada, a), (bob, b)) = (person(&host).await, person(&host).await);
    let (to_ada, to_bob) = (format!("owner:{a}"), format!("owner:{b}"));
    let granted = ada.result(PERMISSIONS, grant("owner:me", "freebusy_viewer", &to_bob)).await;
    assert_eq!(
        (&granted["object"], &granted["granted"], &granted["expires_at"]),
        (&json!(to_ada), &json!(true), &Value::Null)
    );
    assert!(is_allowed(&bob, "can_see_freebusy", &to_ada).await);

    let again = ada.call(PERMISSIONS, grant("owner:me", "freebusy_viewer", &to_bob)).await;
    again.assert_refused(409, "tuple_exists");
    let of_ada = call_next_step(&ada, &again.body).await;
    assert!(of_ada["items"].as_array().unwrap().contains(&granted), "{of_ada:#}");
    let ignored =
        with_field(grant("owner:me", "freebusy_viewer", &to_bob), "on_duplicate", "ignore");
    assert_eq!(ada.result(PERMISSIONS, ignored).await["created_at"], granted["created_at"]);

    let revoked = ada.result(PERMISSIONS, revoke("owner:me", "freebusy_viewer", &to_bob)).await;
    assert_eq!(revoked["revoked"], true);
    assert!(!is_allowed(&bob, "can_see_freebusy", &to_ada).await);
    let missing = ada.call(PERMISSIONS, revoke("owner:me", "freebusy_viewer", &to_bob)).await;
    missing.assert_refused(404, "tuple_missing");
    call_next_step(&ada, &missing.body).await;
    let ignored =
        with_field(revoke("owner:me", "freebusy_viewer", &to_bob), "on_missing", "ignore");
    assert_eq!(ada.result(PERMISSIONS, ignored).await["revoked"], false);

    for (object, relation, subject, status, code) in [
        (to_ada.as_str(), "freebusy_viewer", to_bob.as_str(), 403, "not_owner"),
        ("listing:l1", "editor", &to_bob, 403, "not_owner"),
        ("owner:me", "contact_viewer", &to_ada, 400, "relation_unknown"),
        ("owner:me", "can_message", &to_ada, 400, "relation_unknown"),
        ("owner:me", "nothing", &to_ada, 400, "relation_unknown"),
        ("owner:me", "freebusy_viewer", "*", 400, "relation_unknown"),
        ("owner:me", "freebusy_viewer", "listing:l1", 400, "relation_unknown"),
        ("org:o1", "admin", &to_bob, 400, "relation_unknown"),
        ("planet:p", "owner", &to_bob, 400, "relation_unknown"),
    ] {
        let refused = bob.call(PERMISSIONS, grant(object, relation, subject)).await;
        refused.assert_refused(status, code);
        call_next_step(&bob, &refused.body).await;
    }
    let past = with_field(
        grant("owner:me", "freebusy_viewer", &to_bob),
        "expires_at",
        "2020-01-01T00:00:00Z",
    );
    ada.call(PERMISSIONS, past).await.assert_refused(400, "validation_failed");

    // People cannot revoke relations that a capability has written.
    write_relations(&ada, &[&format!("{to_ada}#freebusy_viewer@{to_bob}")], &[]).await;
    let stated = ada.call(PERMISSIONS, revoke("owner:me", "freebusy_viewer", &to_bob)).await;
    stated.assert_refused(404, "tuple_missing");
    assert!(is_allowed(&bob, "can_see_freebusy", &to_ada).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_grant_expires_by_itself() {
    let host = host().await;
    let ((ada, a), (bob, b)) = (person(&host).await, person(&host).await);
    let to_ada = format!("owner:{a}");
    let far = with_field(
        grant("owner:me", "freebusy_viewer", &format!("owner:{b}")),
        "expires_at",
        "2099-01-01T00:00:00+01:00",
    );
    let granted = ada.result(PERMISSIONS, far).await;
    assert_eq!(granted["expires_at"], "2098-12-31T23:00:00.000Z");
    assert!(is_allowed(&bob, "can_see_freebusy", &to_ada).await);
    let kept = "SELECT id FROM documents WHERE body LIKE '%freebusy_viewer%'";
    assert_eq!(host.database().texts(kept).await.len(), 1);
    host.advance(60 * DAY).await;
    assert!(is_allowed(&bob, "can_see_freebusy", &to_ada).await);

    ada.result(PERMISSIONS, revoke("owner:me", "freebusy_viewer", &format!("owner:{b}"))).await;
    let near = host.instant_after(HOUR);
    let near = with_field(
        grant("owner:me", "freebusy_viewer", &format!("owner:{b}")),
        "expires_at",
        &near,
    );
    ada.result(PERMISSIONS, near).await;
    assert!(is_allowed(&bob, "can_see_freebusy", &to_ada).await);
    host.advance(HOUR).await;
    assert_eq!(host.database().texts(kept).await, Vec::<String>::new());
    assert!(!is_allowed(&bob, "can_see_freebusy", &to_ada).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn grants_on_one_object_are_limited_even_at_once() {
    let host = host().await;
    let (ada, _) = person(&host).await;
    let editor = |subject: String| grant("calendar:me", "scheduler", &subject);
    for number in 0..99 {
        ada.result(PERMISSIONS, editor(format!("owner:own_{number}"))).await;
    }
    let calls = (0..4).map(|number| ada.call(PERMISSIONS, editor(format!("owner:new_{number}"))));
    let replies = join_all(calls).await;
    assert_eq!(replies.iter().filter(|reply| reply.status == 200).count(), 1);
    let refused = ada.call(PERMISSIONS, editor("owner:one_more".into())).await;
    refused.assert_refused(409, "tuple_limit");
    assert_eq!(refused.body["conflict"]["limit"], 100);
    call_next_step(&ada, &refused.body).await;
    ada.result(PERMISSIONS, revoke("calendar:me", "scheduler", "owner:own_1")).await;
    ada.result(PERMISSIONS, editor("owner:one_more".into())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn grants_do_not_disclose_membership() {
    let host = host().await;
    let ((ada, a), (bob, b)) = (person(&host).await, person(&host).await);
    let stated = [format!("listing:l1#owner@owner:{a}"), format!("org:o1#member@owner:{b}")];
    write_relations(&ada, &stated.iter().map(String::as_str).collect::<Vec<_>>(), &[]).await;
    ada.result(PERMISSIONS, grant("listing:l1", "viewer", "org:o1#member")).await;
    assert!(is_allowed(&bob, "can_view", "listing:l1").await);
    let of_bob =
        with_field(check_action("can_view", "listing:l1"), "subject", &format!("owner:{b}"));
    assert_eq!(check_result(&ada, of_bob.clone()).await["allowed"], false);
    // A member of the organisation may read the membership of others.
    write_relations(&ada, &[&format!("org:o1#admin@owner:{a}")], &[]).await;
    assert_eq!(check_result(&ada, of_bob).await["allowed"], true);
}
