//! People whom a component names in ways that are hard to find, and people who are already erased.

use crate::{
    cases::personal::{erase, export},
    harness::{Host, Options, hostile::with_script, relationships::Person},
};
use serde_json::json;

const NAMES: [&str; 4] =
    ["owners", "social_permissions", "social_relationships", "svc_phone_binding"];

/// Returns a component with this id that writes this document, given as text, when it is called.
fn writer(id: &str, text: &str) -> Vec<u8> {
    let put = json!({
        "op": "put", "collection": "things", "id": "thing", "body": { "raw": text },
    });
    with_script(&json!({
        "id": id, "collections": [{ "name": "things", "indexes": [] }], "operations": [put],
    }))
}

async fn written(host: &Host, person: &Person<'_>, text: &str) {
    host.drop_in("hider.wasm", &writer("hider", text));
    host.wait_for_version("hider", "1.0.0").await;
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
    let left = host.database().texts_found(&["canaryhidden", "canarylast", &ada.id, &escaped]);
    assert_eq!(left, Vec::<String>::new());
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_about_an_erased_person_is_written() {
    let host = Host::start(Options::with(&NAMES)).await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let agent = export(&host, &ada.id).await.body["agents"][0].clone();
    for (writes, id) in [("owner_writer", json!(ada.id)), ("agent_writer", agent)] {
        let text = json!({ "owner": id }).to_string();
        host.drop_in(&format!("{writes}.wasm"), &writer(writes, &text));
        host.wait_for_version(writes, "1.0.0").await;
    }
    assert_eq!(erase(&host, &ada.id).await.status, 200);
    for writes in ["owner_writer", "agent_writer"] {
        let refused = bo.agent().call(writes, json!({ "action": "act" })).await;
        refused.assert_refused(410, "resource_gone");
    }
    assert_eq!(export(&host, &ada.id).await.status, 404);
}

#[tokio::test(flavor = "multi_thread")]
async fn timers_that_name_a_person_are_exported_and_erased() {
    let host = Host::start(Options::with(&NAMES)).await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let input = json!({ "about": ada.id, "note": "canarytimer" });
    let set = json!({
        "op": "timer", "name": "t", "after_ms": 86_400_000, "action": "due", "input": input,
    });
    let due = json!({
        "name": "due", "access": "internal", "operations": [],
        "input": { "type": "object", "properties": { "about": {}, "note": {} } },
    });
    let act = json!({ "name": "act", "access": "open", "operations": [set] });
    let component = with_script(&json!({ "id": "reminder", "actions": [act, due] }));
    host.drop_in("reminder.wasm", &component);
    host.wait_for_version("reminder", "1.0.0").await;
    bo.agent().result("reminder", json!({ "action": "act" })).await;
    let exported = export(&host, &ada.id).await.body;
    assert_eq!(exported["timers"][0]["capability"], "reminder", "{exported:#}");
    assert_eq!(exported["timers"][0]["input"]["note"], "canarytimer");
    assert_eq!(erase(&host, &ada.id).await.status, 200);
    assert_eq!(host.database().texts_found(&[&ada.id]), Vec::<String>::new());
}
