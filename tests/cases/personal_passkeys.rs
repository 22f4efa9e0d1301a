//! The passkeys of a person: in their export, and gone after their erasure.

use crate::{
    cases::personal::{erase, export},
    harness::{
        canaries::Canaries,
        oauth::{ADA, challenge, parameters, public_client, query},
        passkeys::{add, host},
        person::{Person, code},
    },
};
use serde_json::json;

const BINDING: &str = "svc.phone-binding";

#[tokio::test(flavor = "multi_thread")]
async fn the_name_of_a_passkey_is_exported_and_erased() {
    let host = host().await;
    let agent = host.agent().await;
    agent.result(BINDING, json!({ "action": "bind", "phone": ADA })).await;
    let verify = json!({ "action": "verify", "code": code(&host, 1).await });
    let claimed = agent.result(BINDING, verify).await;
    let owner_id = claimed["owner_id"].as_str().unwrap();

    let mut canaries = Canaries::default();
    let mut ada = Person::new(&host);
    ada.sign_in(&query(&parameters(&public_client(&host).await, &challenge())), ADA).await;
    add(&mut ada, &canaries.own("host", "name of a passkey")).await;
    let exported = export(&host, owner_id).await;
    assert!(canaries.missing_in(&exported.text).is_empty(), "{}", exported.text);
    assert_eq!(canaries.in_database(&host.database()), canaries.places());

    assert_eq!(erase(&host, owner_id).await.status, 200);
    assert!(canaries.left_in(&host.database()).is_empty());
    assert!(host.database().texts_found(&[owner_id]).is_empty());
}
