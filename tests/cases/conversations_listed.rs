//! Lists of conversations, and threads that are muted, closed or archived.

use crate::harness::time::{DAY, HOUR};
use crate::{
    cases::conversations::{ids, seqs},
    harness::{conversations::*, listings::follow, ties::Person},
};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn lists_of_threads_begin_with_the_newest() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let mut threads = Vec::new();
    for _ in 0..3 {
        threads.push(opened(&host, &[&ada, &bo]).await);
    }
    let [one, two, three] = [&threads[0], &threads[1], &threads[2]];
    for thread_id in [three, one, two] {
        bo.says(thread_id, &format!("In {thread_id}")).await;
    }
    let list = ada.talked("list", json!({})).await;
    assert_eq!(ids(&list), [two, one, three]);
    let first = &list["items"][0];
    assert_eq!(
        (&first["unread"], &first["last_message"]["text"], &first["last_message"]["trust"]),
        (&json!(1), &json!(format!("In {two}")), &json!("untrusted_user_content"))
    );
    let page = ada.talked("list", json!({ "limit": 2 })).await;
    let rest = ada.talked("list", json!({ "limit": 2, "cursor": page["next_cursor"] })).await;
    assert_eq!((ids(&page), ids(&rest)), (vec![two.as_str(), one], vec![three.as_str()]));

    ada.marks("mark_read", &first["last_message"]).await;
    assert_eq!(ids(&ada.talked("list", json!({ "unread_only": true })).await), [one, three]);
    ada.talked("close", json!({ "thread_id": three })).await;
    assert_eq!(ids(&ada.talked("list", json!({ "state": "closed" })).await), [three]);
    assert_eq!(ids(&ada.talked("list", json!({ "state": "open" })).await), [two, one]);

    // A person archives a conversation only for themselves, and until somebody writes.
    let archived = ada.talked("archive", json!({ "thread_id": one })).await;
    assert_eq!((&archived["archived"], &archived["state"]), (&json!(true), &json!("open")));
    assert_eq!(ids(&ada.talked("list", json!({})).await), [two, three]);
    assert_eq!(ids(&ada.talked("list", json!({ "archived": true })).await), [one]);
    assert_eq!(ids(&bo.talked("list", json!({})).await), [two, one, three]);
    bo.says(one, "Are you there?").await;
    assert_eq!(ids(&ada.talked("list", json!({})).await), [one, two, three]);
    ada.talked("archive", json!({ "thread_id": two })).await;
    ada.talked("unarchive", json!({ "thread_id": two })).await;
    assert_eq!(ada.talked("list", json!({ "archived": true })).await["items"], json!([]));

    // Pages of messages, from both ends.
    for number in 0..5 {
        bo.says(two, &format!("More {number}")).await;
    }
    let read = async |fields: Value| {
        let mut input = json!({ "thread_id": two });
        input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        ada.talked("messages", input).await
    };
    assert_eq!(seqs(&read(json!({ "limit": 3 })).await), [6, 5, 4]);
    assert_eq!(seqs(&read(json!({ "before": 4 })).await), [3, 2, 1]);
    assert_eq!(seqs(&read(json!({ "after": 2, "before": 5 })).await), [3, 4]);
    let page = read(json!({ "after": 0, "limit": 4 })).await;
    let rest = read(json!({ "after": 0, "limit": 4, "cursor": page["next_cursor"] })).await;
    assert_eq!((seqs(&page), seqs(&rest)), (vec![1, 2, 3, 4], vec![5, 6]));
    assert_eq!(ada.sees(two).await["unread"], 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_is_muted_closed_or_archived() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread_id = opened(&host, &[&ada, &bo]).await;
    let thread = json!({ "thread_id": thread_id });
    let mute = |until: &str| json!({ "thread_id": thread_id, "until": until });
    ada.talk("mute", mute("2020-01-01T00:00:00Z")).await.refused(400, "validation_failed");
    let end = host.later(HOUR);
    let muted = ada.talked("mute", mute(&end)).await;
    assert_eq!((&muted["muted"], &muted["muted_until"]), (&json!(true), &json!(end)));
    bo.says(&thread_id, "One.").await;
    assert_eq!(ada.heard_types().await, Vec::<String>::new());
    assert_eq!((&ada.sees(&thread_id).await["unread"], bo.heard().await.len()), (&json!(1), 0));
    // The mute ends by itself.
    host.advance(HOUR).await;
    assert_eq!(ada.sees(&thread_id).await["muted"], false);
    bo.says(&thread_id, "Two.").await;
    assert_eq!(ada.heard().await.len(), 1);
    ada.talked("mute", thread.clone()).await;
    bo.says(&thread_id, "Three.").await;
    ada.talked("unmute", thread.clone()).await;
    bo.says(&thread_id, "Four.").await;
    assert_eq!(ada.heard().await.len(), 2);

    // After half a year, the conversation is archived, and the next message reopens it.
    host.advance(DAY).await;
    let later = opened(&host, &[&ada, &bo]).await;
    forgotten(&host, &thread_id, &ada).await;
    assert!(
        bo.sees(&thread_id).await["allowed_actions"].as_array().unwrap().contains(&json!("send"))
    );
    assert_eq!(ada.sees(&later).await["state"], "open");
    bo.says(&thread_id, "Five.").await;
    assert_eq!(ada.sees(&thread_id).await["state"], "open");
    forgotten(&host, &thread_id, &ada).await;

    let mut stale = thread.clone();
    stale["expected_version"] = json!(1);
    ada.talk("close", stale).await.refused(409, "version_conflict");
    let closed = ada.talked("close", thread.clone()).await;
    assert_eq!(
        (&closed["state"], &closed["close_reason"]),
        (&json!("closed"), &json!("closed_by_participant"))
    );
    let heard = bo.heard().await;
    assert_eq!(
        (heard.len(), heard[0].0.as_str(), &heard[0].1["reason"]),
        (1, "conversation.closed", &json!("closed_by_participant"))
    );
    bo.follows(&heard[0].1["next"]).await;
    let refused = bo.talk("send", json!({ "thread_id": thread_id, "text": "Six." })).await;
    refused.refused(409, "thread_closed");
    assert_eq!(refused.body["conflict"]["current"], "closed");
    follow(bo.agent(), &refused).await;
    assert!(!bo.may_send(&thread_id).await);
    let end = json!({ "thread_id": thread_id, "reason": "hired" });
    operated(&host, "end", end.clone()).await;
    assert_eq!(bo.sees(&thread_id).await["close_reason"], "closed_by_participant");
    assert_eq!(bo.heard().await.len(), 1, "a closed conversation sends no second event");

    // If another capability ends the conversation, both people get the event.
    assert!(ada.may_send(&later).await);
    let end = json!({ "thread_id": later, "reason": "hired" });
    operated(&host, "end", end.clone()).await;
    for person in [&ada, &bo] {
        let (name, told) = person.heard().await.pop().unwrap();
        assert_eq!((name.as_str(), &told["reason"]), ("conversation.closed", &json!("hired")));
    }
    let seen = json!({ "thread_id": later, "owner_id": ada.id });
    let seen = operated(&host, "thread", seen).await;
    assert_eq!(
        (&seen["state"], &seen["participants"]),
        (&json!("closed"), &json!([ada.id, bo.id]))
    );
}
