//! Conversations: messages, their numbers and states, receipts, and lists.

use crate::harness::{conversations::*, futures, listings::follow, ties::Person};
use serde_json::{Value, json};

fn seqs(items: &Value) -> Vec<u64> {
    items["items"].as_array().unwrap().iter().map(|it| it["seq"].as_u64().unwrap()).collect()
}

fn ids(list: &Value) -> Vec<&str> {
    let items = list["items"].as_array().unwrap().iter();
    items.map(|it| it["thread_id"].as_str().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_written_told_delivered_and_read() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let open = json!({
        "pairing_id": "pair_1", "category": "home.let.room",
        "participants": [{ "owner_id": ada.id, "agent_id": "agt_1" }, { "owner_id": bo.id }],
    });
    let opened = operated(&host, "open", open.clone()).await;
    assert_eq!(operated(&host, "open", open).await, opened, "one for each pairing");
    let thread_id = opened["thread_id"].as_str().unwrap();
    let thread = ada.sees(thread_id).await;
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
    let sent = ada.talked("send", question).await;
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
    let answer = bo.talked("send", answer).await;
    assert_eq!((&answer["seq"], &answer["reply_to"]), (&json!(2), &sent["message_id"]));

    let heard = bo.heard().await;
    let (name, data) = &heard[0];
    assert_eq!((heard.len(), name.as_str()), (1, "conversation.message"), "{heard:#?}");
    assert_eq!(
        (&data["message_id"], &data["seq"], &data["text"], &data["trust"], &data["change"]),
        (
            &sent["message_id"],
            &json!(1),
            &json!("Is it quiet?"),
            &json!("untrusted_user_content"),
            &json!("sent")
        ),
        "{data:#}"
    );
    assert_eq!(data["actor"], json!({ "kind": "owner", "owner_id": ada.id }));
    assert_eq!(
        (&data["resource"]["type"], &data["resource"]["id"]),
        (&json!("thread"), &json!(thread_id))
    );
    assert_eq!(bo.follows(&data["next"]).await["items"][0]["message_id"], sent["message_id"]);

    // To read it tells nobody.
    assert_eq!(ada.message(&sent).await["state"], "accepted");
    let receipt = bo.marks("mark_delivered", &sent).await;
    assert_eq!((&receipt["delivered_seq"], &receipt["read_seq"]), (&json!(1), &json!(0)));
    assert_eq!(ada.message(&sent).await["state"], "delivered");
    assert_eq!(bo.sees(thread_id).await["unread"], 1);
    bo.marks("mark_read", &sent).await;
    assert_eq!(ada.message(&sent).await["state"], "read");
    assert_eq!(bo.sees(thread_id).await["unread"], 0);
    assert_eq!(ada.heard_types().await, ["conversation.message", "conversation.read"]);
    let read = ada.heard().await.remove(1).1;
    assert_eq!((&read["message_id"], &read["seq"]), (&sent["message_id"], &json!(1)));
    ada.follows(&read["next"]).await;

    // A receipt never goes back, and one that says nothing new tells nothing.
    bo.marks("mark_read", &answer).await;
    let again = bo.marks("mark_read", &sent).await;
    assert_eq!((&again["read_seq"], &again["delivered_seq"]), (&json!(2), &json!(2)));
    bo.marks("mark_delivered", &sent).await;
    assert_eq!(ada.heard().await.len(), 3);
    let known = ada.sees(thread_id).await;
    let them = known["participants"].as_array().unwrap();
    let them = them.iter().find(|it| it["owner_id"] == json!(bo.id)).unwrap();
    assert_eq!((&them["read_seq"], &them["membership"]), (&json!(2), &json!("joined")));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_many_send_at_once_is_numbered_without_a_gap() {
    const EACH: usize = 8;
    let host = host().await;
    let mut people = Vec::new();
    for _ in 0..4 {
        people.push(Person::new(&host).await);
    }
    let thread_id = opened(&host, &people.iter().collect::<Vec<_>>()).await;
    let thread_id = thread_id.as_str();
    // Each message twice, and between them what is refused.
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
    let replies = futures(calls.map(|(person, input, status)| async move {
        // A call that met too many others is told so, and sent again.
        loop {
            let reply = person.talk("send", input.clone()).await;
            let again = ["version_conflict", "capability_unavailable"];
            if again.iter().any(|code| reply.body["error_code"] == *code) {
                continue;
            }
            assert_eq!(reply.status.as_u16(), status, "{}", reply.text);
            return reply.body["result"].clone();
        }
    }))
    .await;
    let mut sent: Vec<_> = replies.iter().filter(|it| !it.is_null()).collect();
    assert_eq!(sent.len(), people.len() * EACH * 2);
    sent.sort_by_key(|it| it["seq"].as_u64());
    let doubles = sent.chunks(2).all(|pair| pair[0]["message_id"] == pair[1]["message_id"]);
    assert!(doubles, "the same id is the same message");

    let count = (people.len() * EACH) as u64;
    let all =
        people[0].talked("messages", json!({ "thread_id": thread_id, "after": 0, "limit": 100 }));
    let all = all.await;
    assert_eq!(seqs(&all), (1..=count).collect::<Vec<_>>());
    for person in &people {
        let thread = person.sees(thread_id).await;
        assert_eq!(
            (&thread["last_seq"], &thread["unread"]),
            (&json!(count), &json!(count - EACH as u64)),
            "{thread:#}"
        );
        // In the order of the numbers, and nothing of one's own.
        let theirs = all["items"].as_array().unwrap().iter();
        let theirs = theirs.filter(|it| it["sender"]["owner_id"] != json!(person.id));
        let theirs: Vec<_> = theirs.map(|it| it["seq"].clone()).collect();
        let heard: Vec<_> =
            person.heard().await.into_iter().map(|(_, data)| data["seq"].clone()).collect();
        assert_eq!(heard, theirs);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_of_ones_own_means_one_message() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread_id = opened(&host, &[&ada, &bo]).await;
    let other_id = opened(&host, &[&ada, &bo]).await;
    let input = |thread_id: &str, text: &str| json!({ "thread_id": thread_id, "text": text, "client_msg_id": "m-1" });
    let sent = ada.talked("send", input(&thread_id, "Hello.")).await;
    // Everybody's ids are their own, in each conversation.
    let theirs = bo.talked("send", input(&thread_id, "Hello.")).await;
    let elsewhere = ada.talked("send", input(&other_id, "Other words.")).await;
    assert_eq!((&theirs["seq"], &elsewhere["seq"]), (&json!(2), &json!(1)));
    assert_eq!(ada.talked("send", input(&thread_id, "Hello.")).await, sent);
    for other in [
        input(&thread_id, "Hello!"),
        json!({ "thread_id": thread_id, "text": "Hello.", "client_msg_id": "m-1", "intent": "answer" }),
    ] {
        let refused = ada.talk("send", other).await;
        refused.refused(422, "client_msg_id_reused");
        assert_eq!(refused.body["conflict"]["existing_id"], sent["message_id"]);
        follow(ada.agent(), &refused).await;
    }
    // It stays the same message, whatever becomes of it and of the conversation.
    let edit = json!({ "message_id": sent["message_id"], "text": "Good evening." });
    ada.talked("edit", edit).await;
    assert_eq!(ada.talked("send", input(&thread_id, "Hello.")).await["text"], "Good evening.");
    ada.talked("retract", json!({ "message_id": sent["message_id"] })).await;
    bo.talked("close", json!({ "thread_id": thread_id })).await;
    let again = ada.talked("send", input(&thread_id, "Hello.")).await;
    assert_eq!(
        (&again["message_id"], &again["state"], &again["text"]),
        (&sent["message_id"], &json!("retracted"), &Value::Null)
    );
    ada.talk("send", input(&thread_id, "Hello!")).await.refused(422, "client_msg_id_reused");
    assert_eq!(ada.sees(&thread_id).await["last_seq"], 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_message_is_changed_for_a_while_and_taken_back_for_good() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread_id = opened(&host, &[&ada, &bo]).await;
    let sent = ada.says(&thread_id, "Thursday?").await;
    let id = sent["message_id"].as_str().unwrap();
    let edit = |text: &str| json!({ "message_id": id, "text": text });
    bo.talk("edit", edit("Mine.")).await.refused(403, "not_owner");
    let contact = ada.talk("edit", edit("Call +1 415 555 0123")).await;
    contact.refused(422, "contact_in_text");
    let mut stale = edit("Friday?");
    stale["expected_version"] = json!(7);
    let refused = ada.talk("edit", stale).await;
    refused.refused(409, "version_conflict");
    assert_eq!(refused.body["conflict"]["current"]["text"], "Thursday?");
    bo.marks("mark_read", &sent).await;
    let edited = ada.talked("edit", edit("Friday?")).await;
    assert_eq!(
        (&edited["state"], &edited["text"], &edited["seq"]),
        (&json!("edited"), &json!("Friday?"), &json!(1)),
        "who has read the one before has not read this"
    );
    assert!(edited["edited_at"].is_string());
    let told = bo.heard().await.remove(1).1;
    assert_eq!((&told["change"], &told["text"]), (&json!("edited"), &json!("Friday?")));

    earlier(&host, id, "sent_at", 14 * 60).await;
    ada.talked("edit", edit("Saturday?")).await;
    earlier(&host, id, "sent_at", 60).await;
    let late = ada.talk("edit", edit("Sunday?")).await;
    late.refused(409, "edit_window_passed");
    follow(ada.agent(), &late).await;
    assert_eq!(ada.message(&sent).await["allowed_actions"], json!(["retract"]));

    bo.talk("retract", json!({ "message_id": id })).await.refused(403, "not_owner");
    let gone = ada.talked("retract", json!({ "message_id": id })).await;
    assert_eq!(
        (&gone["state"], &gone["text"], &gone["seq"], &gone["allowed_actions"]),
        (&json!("retracted"), &Value::Null, &json!(1), &json!([]))
    );
    let told = bo.heard().await.pop().unwrap().1;
    assert_eq!(told["change"], "retracted");
    assert!(told.get("text").is_none(), "{told:#}");
    let twice = ada.talk("retract", json!({ "message_id": id })).await;
    twice.refused(409, "invalid_transition");
    follow(ada.agent(), &twice).await;
    let words = "SELECT body FROM documents WHERE body LIKE '%Saturday%'";
    assert_eq!(host.database().texts(words).await, Vec::<String>::new(), "its text is gone");

    // The operator takes one away: both are told, its sender reads why.
    let bad = bo.says(&thread_id, "Send money first.").await;
    let remove = json!({ "message_id": bad["message_id"], "reason": "a scam" });
    operated(&host, "remove_message", remove.clone()).await;
    for person in [&ada, &bo] {
        let (_, told) = person.heard().await.pop().unwrap();
        assert_eq!(
            (&told["change"], &told["actor"]["kind"]),
            (&json!("removed"), &json!("system"))
        );
    }
    let removed = bo.message(&bad).await;
    assert_eq!(
        (&removed["state"], &removed["text"], &removed["reason"]),
        (&json!("removed"), &Value::Null, &json!("a scam"))
    );
    assert!(ada.message(&bad).await.get("reason").is_none());
    operate(&host, "remove_message", remove).await.refused(409, "invalid_transition");
    let next = bo.says(&thread_id, "Sorry.").await;
    assert_eq!(next["seq"], 3, "a tombstone keeps its number");
}

#[tokio::test(flavor = "multi_thread")]
async fn contact_data_passes_once_it_was_exchanged() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread_id = opened(&host, &[&ada, &bo]).await;
    let number = json!({ "thread_id": thread_id, "text": "Call me: +1 415 555 0123" });
    let refused = ada.talk("send", number.clone()).await;
    refused.refused(422, "contact_in_text");
    assert_eq!(refused.body["conflict"]["errors"][0]["pointer"], "/text");
    let post = json!({ "thread_id": thread_id, "owner_id": bo.id, "text": "ada@example.com" });
    operate(&host, "post", post.clone()).await.refused(422, "contact_in_text");

    let event = json!({
        "id": "evt_1", "event_type": "pairing.contact_exchanged", "subject": "pairings/pair_1",
        "data": { "v": 1, "thread_id": thread_id },
    });
    for _ in 0..2 {
        operated(&host, "on_contact_exchanged", event.clone()).await;
    }
    let sent = ada.talked("send", number).await;
    assert_eq!(bo.message(&sent).await["text"], "Call me: +1 415 555 0123");
    let told = bo.heard().await.remove(0).1;
    assert!(told.get("text").is_none(), "events hold none: {told:#}");
    assert_eq!(bo.follows(&told["next"]).await["items"][0]["message_id"], sent["message_id"]);

    // What another capability writes for somebody is theirs; without an agent, they did it.
    let posted = operated(&host, "post", post).await;
    let posted = ada.message(&json!({ "thread_id": thread_id, "seq": posted["seq"] })).await;
    assert_eq!(posted["sender"], json!({ "owner_id": bo.id, "via": "human" }));
    assert_eq!(ada.heard().await[0].1["actor"]["owner_id"], json!(bo.id));
    assert_eq!(bo.heard().await.len(), 1, "nobody is told of what they wrote themselves");
}

#[tokio::test(flavor = "multi_thread")]
async fn lists_have_what_is_new_on_top() {
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

    // One's own archive, until somebody writes.
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
async fn a_thread_is_muted_closed_or_forgotten() {
    let host = host().await;
    let (ada, bo) = (Person::new(&host).await, Person::new(&host).await);
    let thread_id = opened(&host, &[&ada, &bo]).await;
    let thread = json!({ "thread_id": thread_id });
    let mute = |until: &str| json!({ "thread_id": thread_id, "until": until });
    ada.talk("mute", mute("2020-01-01T00:00:00Z")).await.refused(400, "validation_failed");
    let muted = ada.talked("mute", mute("2036-01-01T00:00:00Z")).await;
    assert_eq!(
        (&muted["muted"], &muted["muted_until"]),
        (&json!(true), &json!("2036-01-01T00:00:00.000Z"))
    );
    bo.says(&thread_id, "One.").await;
    assert_eq!(ada.heard_types().await, Vec::<String>::new());
    assert_eq!((&ada.sees(&thread_id).await["unread"], bo.heard().await.len()), (&json!(1), 0));
    // It ends by itself.
    let seat = format!("{thread_id}/{}", ada.id);
    earlier(&host, &seat, "muted_until", 20 * 366 * 86_400).await;
    assert_eq!(ada.sees(&thread_id).await["muted"], false);
    bo.says(&thread_id, "Two.").await;
    assert_eq!(ada.heard().await.len(), 1);
    ada.talked("mute", thread.clone()).await;
    bo.says(&thread_id, "Three.").await;
    ada.talked("unmute", thread.clone()).await;
    bo.says(&thread_id, "Four.").await;
    assert_eq!(ada.heard().await.len(), 2);

    // Half a year, and the next message opens it again.
    let before = opened(&host, &[&ada, &bo]).await;
    forgotten(&host, &thread_id, &ada).await;
    assert!(
        bo.sees(&thread_id).await["allowed_actions"].as_array().unwrap().contains(&json!("send"))
    );
    assert_eq!(ada.sees(&before).await["state"], "open");
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
    assert_eq!(bo.heard().await.len(), 1, "once is enough");

    // Ended from outside, both are told.
    assert!(ada.may_send(&before).await);
    let end = json!({ "thread_id": before, "reason": "hired" });
    operated(&host, "end", end.clone()).await;
    for person in [&ada, &bo] {
        let (name, told) = person.heard().await.pop().unwrap();
        assert_eq!((name.as_str(), &told["reason"]), ("conversation.closed", &json!("hired")));
    }
    let seen = json!({ "thread_id": before, "owner_id": ada.id });
    let seen = operated(&host, "thread", seen).await;
    assert_eq!(
        (&seen["state"], &seen["participants"]),
        (&json!("closed"), &json!([ada.id, bo.id]))
    );
}
