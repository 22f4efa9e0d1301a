//! Lists of conversations, and threads that are muted, closed or archived.

use crate::harness::time::{DAY, HOUR};
use crate::{
    cases::conversations::{ids, seqs},
    harness::{conversations::*, listings::follow_next_step, relationships::Person},
};
use serde_json::{Value, json};

#[tokio::test(flavor = "multi_thread")]
async fn lists_of_threads_begin_with_the_newest() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let mut threads = Vec::new();
    for _ in 0..3 {
        threads.push(open_thread(&host, &[&ada, &bo]).await);
    }
    let [one, two, three] = [&threads[0], &threads[1], &threads[2]];
    for thread_id in [three, one, two] {
        bo.send_message(thread_id, &format!("In {thread_id}")).await;
    }
    let list = ada.call_thread_ok("list", json!({})).await;
    assert_eq!(ids(&list), [two, one, three]);
    let first = &list["items"][0];
    assert_eq!(
        (&first["unread"], &first["last_message"]["text"], &first["last_message"]["trust"]),
        (&json!(1), &json!(format!("In {two}")), &json!("untrusted_user_content"))
    );
    let page = ada.call_thread_ok("list", json!({ "limit": 2 })).await;
    let rest =
        ada.call_thread_ok("list", json!({ "limit": 2, "cursor": page["next_cursor"] })).await;
    assert_eq!((ids(&page), ids(&rest)), (vec![two.as_str(), one], vec![three.as_str()]));

    ada.mark_up_to("mark_read", &first["last_message"]).await;
    assert_eq!(
        ids(&ada.call_thread_ok("list", json!({ "unread_only": true })).await),
        [one, three]
    );
    ada.call_thread_ok("close", json!({ "thread_id": three })).await;
    assert_eq!(ids(&ada.call_thread_ok("list", json!({ "state": "closed" })).await), [three]);
    assert_eq!(ids(&ada.call_thread_ok("list", json!({ "state": "open" })).await), [two, one]);

    // A person archives a conversation only for themselves, and until somebody writes.
    let archived = ada.call_thread_ok("archive", json!({ "thread_id": one })).await;
    assert_eq!((&archived["archived"], &archived["state"]), (&json!(true), &json!("open")));
    assert_eq!(ids(&ada.call_thread_ok("list", json!({})).await), [two, three]);
    assert_eq!(ids(&ada.call_thread_ok("list", json!({ "archived": true })).await), [one]);
    assert_eq!(ids(&bo.call_thread_ok("list", json!({})).await), [two, one, three]);
    bo.send_message(one, "Are you there?").await;
    assert_eq!(ids(&ada.call_thread_ok("list", json!({})).await), [one, two, three]);
    ada.call_thread_ok("archive", json!({ "thread_id": two })).await;
    ada.call_thread_ok("unarchive", json!({ "thread_id": two })).await;
    assert_eq!(ada.call_thread_ok("list", json!({ "archived": true })).await["items"], json!([]));

    // Pages of messages, from both ends.
    for number in 0..5 {
        bo.send_message(two, &format!("More {number}")).await;
    }
    let read = async |fields: Value| {
        let mut input = json!({ "thread_id": two });
        input.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        ada.call_thread_ok("messages", input).await
    };
    assert_eq!(seqs(&read(json!({ "limit": 3 })).await), [6, 5, 4]);
    assert_eq!(seqs(&read(json!({ "before": 4 })).await), [3, 2, 1]);
    assert_eq!(seqs(&read(json!({ "after": 2, "before": 5 })).await), [3, 4]);
    let page = read(json!({ "after": 0, "limit": 4 })).await;
    let rest = read(json!({ "after": 0, "limit": 4, "cursor": page["next_cursor"] })).await;
    assert_eq!((seqs(&page), seqs(&rest)), (vec![1, 2, 3, 4], vec![5, 6]));
    assert_eq!(ada.thread(two).await["unread"], 5);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_thread_is_muted_closed_or_archived() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread_id = open_thread(&host, &[&ada, &bo]).await;
    let thread = json!({ "thread_id": thread_id });
    let mute = |until: &str| json!({ "thread_id": thread_id, "until": until });
    ada.call_thread("mute", mute("2020-01-01T00:00:00Z"))
        .await
        .assert_refused(400, "validation_failed");
    let end = host.instant_after(HOUR);
    let muted = ada.call_thread_ok("mute", mute(&end)).await;
    assert_eq!((&muted["muted"], &muted["muted_until"]), (&json!(true), &json!(end)));
    bo.send_message(&thread_id, "One.").await;
    assert_eq!(ada.conversation_event_types().await, Vec::<String>::new());
    assert_eq!(
        (&ada.thread(&thread_id).await["unread"], bo.conversation_events().await.len()),
        (&json!(1), 0)
    );
    // The mute ends by itself.
    host.advance(HOUR).await;
    assert_eq!(ada.thread(&thread_id).await["muted"], false);
    bo.send_message(&thread_id, "Two.").await;
    assert_eq!(ada.conversation_events().await.len(), 1);
    ada.call_thread_ok("mute", thread.clone()).await;
    bo.send_message(&thread_id, "Three.").await;
    ada.call_thread_ok("unmute", thread.clone()).await;
    bo.send_message(&thread_id, "Four.").await;
    assert_eq!(ada.conversation_events().await.len(), 2);

    // After half a year, the conversation is archived, and the next message reopens it.
    host.advance(DAY).await;
    let later = open_thread(&host, &[&ada, &bo]).await;
    wait_until_archived(&host, &thread_id, &ada).await;
    assert!(
        bo.thread(&thread_id).await["allowed_actions"].as_array().unwrap().contains(&json!("send"))
    );
    assert_eq!(ada.thread(&later).await["state"], "open");
    bo.send_message(&thread_id, "Five.").await;
    assert_eq!(ada.thread(&thread_id).await["state"], "open");
    wait_until_archived(&host, &thread_id, &ada).await;

    let mut stale = thread.clone();
    stale["expected_version"] = json!(1);
    ada.call_thread("close", stale).await.assert_refused(409, "version_conflict");
    let closed = ada.call_thread_ok("close", thread.clone()).await;
    assert_eq!(
        (&closed["state"], &closed["close_reason"]),
        (&json!("closed"), &json!("closed_by_participant"))
    );
    let events = bo.conversation_events().await;
    assert_eq!(
        (events.len(), events[0].0.as_str(), &events[0].1["reason"]),
        (1, "conversation.closed", &json!("closed_by_participant"))
    );
    bo.call_next_step(&events[0].1["next"]).await;
    let refused = bo.call_thread("send", json!({ "thread_id": thread_id, "text": "Six." })).await;
    refused.assert_refused(409, "thread_closed");
    assert_eq!(refused.body["conflict"]["current"], "closed");
    follow_next_step(bo.agent(), &refused).await;
    assert!(!bo.can_send(&thread_id).await);
    let end = json!({ "thread_id": thread_id, "reason": "hired" });
    operate_ok(&host, "end", end.clone()).await;
    assert_eq!(bo.thread(&thread_id).await["close_reason"], "closed_by_participant");
    assert_eq!(
        bo.conversation_events().await.len(),
        1,
        "a closed conversation sends no second event"
    );

    // If another capability ends the conversation, both people get the event.
    assert!(ada.can_send(&later).await);
    let end = json!({ "thread_id": later, "reason": "hired" });
    operate_ok(&host, "end", end.clone()).await;
    for person in [&ada, &bo] {
        let (name, data) = person.conversation_events().await.pop().unwrap();
        assert_eq!((name.as_str(), &data["reason"]), ("conversation.closed", &json!("hired")));
    }
    let seen = json!({ "thread_id": later, "owner_id": ada.id });
    let seen = operate_ok(&host, "thread", seen).await;
    assert_eq!(
        (&seen["state"], &seen["participants"]),
        (&json!("closed"), &json!([ada.id, bo.id]))
    );
}
