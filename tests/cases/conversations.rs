//! Conversations: messages, their numbers and states, receipts, and lists.

use crate::harness::time::MINUTE;
use crate::harness::{
    conversations::*, join_all, listings::follow_next_step, relationships::Person,
};
use serde_json::{Value, json};

pub fn seqs(items: &Value) -> Vec<u64> {
    items["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["seq"].as_u64().unwrap())
        .collect()
}

pub fn ids(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().unwrap().iter();
    items.map(|thread| thread["thread_id"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_sent_announced_delivered_and_read() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let open = json!({
        "pairing_id": "pair_1", "category": "home.let.room",
        "participants": [{ "owner_id": ada.id, "agent_id": "agt_1" }, { "owner_id": bo.id }],
    });
    let opened = operate_ok(&host, "open", open.clone()).await;
    assert_eq!(operate_ok(&host, "open", open).await, opened, "one conversation for each pairing");
    let thread_id = opened["thread_id"].as_str().unwrap();
    let thread = ada.thread(thread_id).await;
    assert_eq!(
        (&thread["state"], &thread["last_seq"], &thread["last_message"], &thread["category"]),
        (&json!("open"), &json!(0), &Value::Null, &json!("home.let.room")),
        "{thread:#}"
    );
    assert_eq!(
        thread["allowed_actions"],
        json!([
            "send",
            "mark_delivered",
            "mark_read",
            "invite",
            "mute",
            "archive",
            "leave",
            "close"
        ])
    );

    let question = json!({
        "thread_id": thread_id, "text": " Is it quiet? ", "intent": "question",
        "client_msg_id": "m-1",
    });
    let sent = ada.call_thread_ok("send", question).await;
    assert_eq!(
        (&sent["seq"], &sent["state"], &sent["text"], &sent["trust"], &sent["sender"]["via"]),
        (
            &json!(1),
            &json!("accepted"),
            &json!("Is it quiet?"),
            &json!("untrusted_user_content"),
            &json!("agent")
        ),
        "{sent:#}"
    );
    assert_eq!(sent["allowed_actions"], json!(["edit", "retract"]));
    let answer = json!({
        "thread_id": thread_id, "text": "Very.", "intent": "answer",
        "reply_to": sent["message_id"],
    });
    let answer = bo.call_thread_ok("send", answer).await;
    assert_eq!((&answer["seq"], &answer["reply_to"]), (&json!(2), &sent["message_id"]));

    let events = bo.conversation_events().await;
    let (name, data) = &events[0];
    assert_eq!((events.len(), name.as_str()), (1, "conversation.message"), "{events:#?}");
    assert_eq!(
        (&data["message_id"], &data["seq"], &data["text"], &data["change"]),
        (&sent["message_id"], &json!(1), &Value::Null, &json!("sent")),
        "{data:#}"
    );
    assert_eq!(data["actor"], json!({ "kind": "owner", "owner_id": ada.id }));
    assert_eq!(
        (&data["resource"]["type"], &data["resource"]["id"]),
        (&json!("thread"), &json!(thread_id))
    );
    assert_eq!(
        bo.call_next_step(&data["next"]).await["items"][0]["message_id"],
        sent["message_id"]
    );

    // Reading a message does not change its state for the sender; a receipt does.
    assert_eq!(ada.message(&sent).await["state"], "accepted");
    let receipt = bo.mark_up_to("mark_delivered", &sent).await;
    assert_eq!((&receipt["delivered_seq"], &receipt["read_seq"]), (&json!(1), &json!(0)));
    assert_eq!(ada.message(&sent).await["state"], "delivered");
    assert_eq!(bo.thread(thread_id).await["unread"], 1);
    bo.mark_up_to("mark_read", &sent).await;
    assert_eq!(ada.message(&sent).await["state"], "read");
    assert_eq!(bo.thread(thread_id).await["unread"], 0);
    assert_eq!(ada.conversation_event_types().await, ["conversation.message", "conversation.read"]);
    let read = ada.conversation_events().await.remove(1).1;
    assert_eq!((&read["message_id"], &read["seq"]), (&sent["message_id"], &json!(1)));
    ada.call_next_step(&read["next"]).await;

    // A receipt never moves back, and one that changes nothing sends no event.
    bo.mark_up_to("mark_read", &answer).await;
    let again = bo.mark_up_to("mark_read", &sent).await;
    assert_eq!((&again["read_seq"], &again["delivered_seq"]), (&json!(2), &json!(2)));
    bo.mark_up_to("mark_delivered", &sent).await;
    assert_eq!(ada.conversation_events().await.len(), 3);
    let known = ada.thread(thread_id).await;
    let them = known["participants"].as_array().unwrap();
    let them = them.iter().find(|participant| participant["owner_id"] == json!(bo.id)).unwrap();
    assert_eq!((&them["read_seq"], &them["membership"]), (&json!(2), &json!("joined")));
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_messages_are_numbered_without_a_gap() {
    const EACH: usize = 8;
    let host = host().await;
    let mut people = Vec::new();
    for _ in 0..4 {
        people.push(Person::new(&host).await);
    }
    let thread_id = open_thread(&host, &people.iter().collect::<Vec<_>>()).await;
    let thread_id = thread_id.as_str();
    // Each message is sent twice, and between the two one that is refused.
    let calls = people.iter().enumerate().flat_map(|(who, person)| {
        (0..EACH).flat_map(move |number| {
            let text = format!("{who} says {number}");
            let good = json!({
                "thread_id": thread_id, "text": text, "client_msg_id": format!("m-{number}"),
            });
            let contact = json!({ "thread_id": thread_id, "text": "Write to ada@example.com" });
            let lost = json!({ "thread_id": thread_id, "text": "Yes.", "reply_to": NO_MESSAGE });
            [(good.clone(), 200), (contact, 422), (good, 200), (lost, 404)]
                .map(|(input, status)| (person, input, status))
        })
    });
    let replies = join_all(calls.map(|(person, input, status)| async move {
        // A call that conflicts with too many others is refused as retryable, and sent again.
        loop {
            let reply = person.call_thread("send", input.clone()).await;
            let again = ["version_conflict", "capability_unavailable"];
            if again.iter().any(|code| reply.body["error_code"] == *code) {
                continue;
            }
            assert_eq!(reply.status.as_u16(), status, "{}", reply.text);
            return reply.body["result"].clone();
        }
    }))
    .await;
    let mut sent: Vec<_> = replies.iter().filter(|message| !message.is_null()).collect();
    assert_eq!(sent.len(), people.len() * EACH * 2);
    sent.sort_by_key(|message| message["seq"].as_u64());
    let doubles = sent.chunks(2).all(|pair| pair[0]["message_id"] == pair[1]["message_id"]);
    assert!(doubles, "the same id is the same message");

    let count = (people.len() * EACH) as u64;
    let all = people[0]
        .call_thread_ok("messages", json!({ "thread_id": thread_id, "after": 0, "limit": 100 }));
    let all = all.await;
    assert_eq!(seqs(&all), (1..=count).collect::<Vec<_>>());
    for person in &people {
        let thread = person.thread(thread_id).await;
        assert_eq!(
            (&thread["last_seq"], &thread["unread"]),
            (&json!(count), &json!(count - EACH as u64)),
            "{thread:#}"
        );
        // The events are in the order of the messages' numbers, and none is about the
        // person's own messages.
        let theirs = all["items"].as_array().unwrap().iter();
        let theirs = theirs.filter(|message| message["sender"]["owner_id"] != json!(person.id));
        let theirs: Vec<_> = theirs.map(|message| message["seq"].clone()).collect();
        let events: Vec<_> = person
            .conversation_events()
            .await
            .into_iter()
            .map(|(_, data)| data["seq"].clone())
            .collect();
        assert_eq!(events, theirs);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_message_id_identifies_one_message() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread_id = open_thread(&host, &[&ada, &bo]).await;
    let other_id = open_thread(&host, &[&ada, &bo]).await;
    let input = |thread_id: &str, text: &str| json!({ "thread_id": thread_id, "text": text, "client_msg_id": "m-1" });
    let sent = ada.call_thread_ok("send", input(&thread_id, "Hello.")).await;
    // The same `client_msg_id` of another sender, or in another conversation, is another message.
    let theirs = bo.call_thread_ok("send", input(&thread_id, "Hello.")).await;
    let elsewhere = ada.call_thread_ok("send", input(&other_id, "Other words.")).await;
    assert_eq!((&theirs["seq"], &elsewhere["seq"]), (&json!(2), &json!(1)));
    assert_eq!(ada.call_thread_ok("send", input(&thread_id, "Hello.")).await, sent);
    for other in [
        input(&thread_id, "Hello!"),
        json!({ "thread_id": thread_id, "text": "Hello.", "client_msg_id": "m-1", "intent": "answer" }),
    ] {
        let refused = ada.call_thread("send", other).await;
        refused.assert_refused(422, "client_msg_id_reused");
        assert_eq!(refused.body["conflict"]["existing_id"], sent["message_id"]);
        follow_next_step(ada.agent(), &refused).await;
    }
    // The id stays that of the message after it was edited and retracted and the
    // conversation was closed.
    let edit = json!({ "message_id": sent["message_id"], "text": "Good evening." });
    ada.call_thread_ok("edit", edit).await;
    assert_eq!(
        ada.call_thread_ok("send", input(&thread_id, "Hello.")).await["text"],
        "Good evening."
    );
    ada.call_thread_ok("retract", json!({ "message_id": sent["message_id"] })).await;
    bo.call_thread_ok("close", json!({ "thread_id": thread_id })).await;
    let again = ada.call_thread_ok("send", input(&thread_id, "Hello.")).await;
    assert_eq!(
        (&again["message_id"], &again["state"], &again["text"]),
        (&sent["message_id"], &json!("retracted"), &Value::Null)
    );
    ada.call_thread("send", input(&thread_id, "Hello!"))
        .await
        .assert_refused(422, "client_msg_id_reused");
    assert_eq!(ada.thread(&thread_id).await["last_seq"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_can_be_edited_for_a_while_and_retracted_for_good() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread_id = open_thread(&host, &[&ada, &bo]).await;
    let sent = ada.send_message(&thread_id, "Thursday?").await;
    let id = sent["message_id"].as_str().unwrap();
    let edit = |text: &str| json!({ "message_id": id, "text": text });
    bo.call_thread("edit", edit("Mine.")).await.assert_refused(403, "not_owner");
    let contact = ada.call_thread("edit", edit("Call +1 415 555 0123")).await;
    contact.assert_refused(422, "contact_in_text");
    let mut stale = edit("Friday?");
    stale["expected_version"] = json!(7);
    let refused = ada.call_thread("edit", stale).await;
    refused.assert_refused(409, "version_conflict");
    assert_eq!(refused.body["conflict"]["current"]["text"], "Thursday?");
    bo.mark_up_to("mark_read", &sent).await;
    let edited = ada.call_thread_ok("edit", edit("Friday?")).await;
    assert_eq!(
        (&edited["state"], &edited["text"], &edited["seq"]),
        (&json!("edited"), &json!("Friday?"), &json!(1)),
        "who has read the one before has not read this"
    );
    assert!(edited["edited_at"].is_string());
    let event_data = bo.conversation_events().await.remove(1).1;
    assert_eq!(event_data["change"], "edited");

    host.advance(14 * MINUTE).await;
    ada.call_thread_ok("edit", edit("Saturday?")).await;
    host.advance(MINUTE).await;
    let late = ada.call_thread("edit", edit("Sunday?")).await;
    late.assert_refused(409, "edit_window_passed");
    follow_next_step(ada.agent(), &late).await;
    assert_eq!(ada.message(&sent).await["allowed_actions"], json!(["retract"]));

    bo.call_thread("retract", json!({ "message_id": id })).await.assert_refused(403, "not_owner");
    let gone = ada.call_thread_ok("retract", json!({ "message_id": id })).await;
    assert_eq!(
        (&gone["state"], &gone["text"], &gone["seq"], &gone["allowed_actions"]),
        (&json!("retracted"), &Value::Null, &json!(1), &json!([]))
    );
    let event_data = bo.conversation_events().await.pop().unwrap().1;
    assert_eq!(event_data["change"], "retracted");
    assert!(event_data.get("text").is_none(), "{event_data:#}");
    let twice = ada.call_thread("retract", json!({ "message_id": id })).await;
    twice.assert_refused(409, "invalid_transition");
    follow_next_step(ada.agent(), &twice).await;
    for words in [
        "SELECT body FROM documents WHERE body LIKE '%Saturday%'",
        "SELECT data FROM events WHERE data LIKE '%Friday%' OR data LIKE '%Saturday%'",
    ] {
        assert_eq!(host.database().texts(words).await, Vec::<String>::new(), "its text is gone");
    }

    // The operator removes a message: both people get the event, and the sender reads the reason.
    let bad = bo.send_message(&thread_id, "Send money first.").await;
    let remove = json!({ "message_id": bad["message_id"], "reason": "a scam" });
    operate_ok(&host, "remove_message", remove.clone()).await;
    for person in [&ada, &bo] {
        let (_, event_data) = person.conversation_events().await.pop().unwrap();
        assert_eq!(
            (&event_data["change"], &event_data["actor"]["kind"]),
            (&json!("removed"), &json!("system"))
        );
    }
    let removed = bo.message(&bad).await;
    assert_eq!(
        (&removed["state"], &removed["text"], &removed["reason"]),
        (&json!("removed"), &Value::Null, &json!("a scam"))
    );
    assert!(ada.message(&bad).await.get("reason").is_none());
    operate(&host, "remove_message", remove).await.assert_refused(409, "invalid_transition");
    let next = bo.send_message(&thread_id, "Sorry.").await;
    assert_eq!(next["seq"], 3, "a tombstone keeps its number");
}

#[tokio::test(flavor = "multi_thread")]
async fn contact_data_is_allowed_in_messages_after_its_exchange() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread_id = open_thread(&host, &[&ada, &bo]).await;
    let number = json!({ "thread_id": thread_id, "text": "Call me: +1 415 555 0123" });
    let refused = ada.call_thread("send", number.clone()).await;
    refused.assert_refused(422, "contact_in_text");
    assert_eq!(refused.body["conflict"]["errors"][0]["pointer"], "/text");
    let post = json!({ "thread_id": thread_id, "owner_id": bo.id, "text": "ada@example.com" });
    operate(&host, "post", post.clone()).await.assert_refused(422, "contact_in_text");

    for _ in 0..2 {
        operate_ok(&host, "allow_contact_data", json!({ "thread_id": thread_id })).await;
    }
    let sent = ada.call_thread_ok("send", number).await;
    assert_eq!(bo.message(&sent).await["text"], "Call me: +1 415 555 0123");
    let event_data = bo.conversation_events().await.remove(0).1;
    assert_eq!(
        bo.call_next_step(&event_data["next"]).await["items"][0]["message_id"],
        sent["message_id"]
    );

    // A message that another capability posts for a person is theirs; without an agent,
    // it is `via` a human.
    let posted = operate_ok(&host, "post", post).await;
    let posted = ada.message(&json!({ "thread_id": thread_id, "seq": posted["seq"] })).await;
    assert_eq!(posted["sender"], json!({ "owner_id": bo.id, "via": "human" }));
    assert_eq!(ada.conversation_events().await[0].1["actor"]["owner_id"], json!(bo.id));
    assert_eq!(
        bo.conversation_events().await.len(),
        1,
        "nobody is told of what they wrote themselves"
    );
}
