//! What is stored about a person: its export, and its erasure.

use crate::harness::{Host, Reply, conversations::*, ties::Person};
use serde_json::{Value, json};

/// What one person says, writes and is called; nothing of it may be left.
const CANARIES: [&str; 4] = ["canaryname", "canaryheadline", "canarymessage", "canarynote"];

async fn export(host: &Host, owner_id: &str) -> Reply {
    let url = format!("{}/people/{owner_id}", host.admin_url);
    Reply::read(host.operator.get(url).send().await.unwrap()).await
}

async fn erase(host: &Host, owner_id: &str) -> Reply {
    let url = format!("{}/people/{owner_id}", host.admin_url);
    Reply::read(host.operator.delete(url).send().await.unwrap()).await
}

/// Leaves traces of Ada with several capabilities, and returns their conversation.
async fn leave_traces(host: &Host, ada: &Person<'_>, bo: &Person<'_>) -> String {
    let profile = json!({
        "action": "update_profile", "display_name": "Canaryname", "headline": "Canaryheadline",
    });
    ada.agent().result("owners", profile).await;
    let note = json!({ "action": "note", "owner_id": bo.id, "text": "Canarynote" });
    ada.agent().result("social_relationships", note).await;
    bo.done("block", &ada.id).await;
    bo.done("unblock", &ada.id).await;
    let thread_id = opened(host, &[ada, bo]).await;
    ada.says(&thread_id, "Canarymessage").await;
    bo.says(&thread_id, "An answer").await;
    thread_id
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_contains_everything_and_an_erasure_leaves_nothing() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread_id = leave_traces(&host, &ada, &bo).await;

    let exported = export(&host, &ada.id).await;
    assert_eq!(exported.status, 200, "{}", exported.text);
    for canary in CANARIES {
        assert!(exported.text.to_lowercase().contains(canary), "{canary}: {:#}", exported.body);
    }
    let theirs = export(&host, &bo.id).await;
    assert!(!theirs.text.contains("Canarynote"), "a note about him is hers: {:#}", theirs.body);

    let erased = erase(&host, &ada.id).await;
    assert_eq!(erased.status, 200, "{}", erased.text);
    assert!(erased.body["deleted"].as_u64().unwrap() > 0, "{:#}", erased.body);
    assert_eq!(export(&host, &ada.id).await.status, 404);
    let traces: Vec<&str> = CANARIES.into_iter().chain([ada.id.as_str()]).collect();
    assert_eq!(host.database().found(&traces), Vec::<String>::new());
    assert_eq!(host.database().found(&[bo.id.as_str()]), [bo.id.as_str()]);

    let refused = ada.agent().call("owners", json!({ "action": "me" })).await;
    assert_eq!(refused.status, 401, "{}", refused.text);
    let messages = bo.talked("messages", json!({ "thread_id": thread_id })).await;
    let texts: Vec<&Value> =
        messages["items"].as_array().unwrap().iter().map(|message| &message["text"]).collect();
    assert_eq!(texts.len(), 2, "{messages:#}");
    assert!(texts.contains(&&json!("An answer")), "{messages:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_path_without_a_person_is_refused() {
    let host = host().await;
    assert_eq!(export(&host, "agt_01JZX8Q4M2N6P7R8S9T0V1W2X3").await.status, 400);
    assert_eq!(erase(&host, "own_01JZX8Q4M2N6P7R8S9T0V1W2X3").await.status, 404);
}
