//! People whom a component names in ways that are hard to find, and people who are already erased.

use crate::{
    cases::personal::{erase, export},
    harness::{Host, Options, hostile::scripted, ties::Person},
};
use serde_json::json;

const NAMES: [&str; 4] =
    ["owners", "social_permissions", "social_relationships", "svc_phone_binding"];

/// Returns a component that writes this document, given as text, when it is called.
fn writer(text: &str) -> Vec<u8> {
    let put = json!({
        "op": "put", "collection": "things", "id": "thing", "body": { "raw": text },
    });
    scripted(&json!({
        "id": "hider", "collections": [{ "name": "things", "indexes": [] }], "operations": [put],
    }))
}

async fn written(host: &Host, person: &Person<'_>, text: &str) {
    host.drop_in("hider.wasm", &writer(text));
    host.loaded("hider", "1.0.0").await;
    person.agent().result("hider", json!({ "action": "act" })).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_with_escapes_is_exported_and_erased() {
    let host = Host::start(Options::with(&NAMES)).await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let escaped = ada.id.replace('_', "\\u005f");
    let text = format!(r#"{{"owner":"{escaped}","note":"canaryhidden","note":"canarylast"}}"#);
    written(&host, &bo, &text).await;
    let exported = export(&host, &ada.id).await;
    assert!(exported.text.contains("canarylast"), "{}", exported.text);
    assert_eq!(erase(&host, &ada.id).await.status, 200);
    let left = host.database().found(&["canaryhidden", "canarylast", &ada.id, &escaped]);
    assert_eq!(left, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_about_an_erased_person_is_written() {
    let host = Host::start(Options::with(&NAMES)).await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    host.drop_in("hider.wasm", &writer(&json!({ "owner": ada.id }).to_string()));
    host.loaded("hider", "1.0.0").await;
    assert_eq!(erase(&host, &ada.id).await.status, 200);
    let refused = bo.agent().call("hider", json!({ "action": "act" })).await;
    refused.refused(410, "resource_gone");
    assert_eq!(export(&host, &ada.id).await.status, 404);
}
