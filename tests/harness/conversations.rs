//! People who talk with each other.

use crate::harness::{
    Host, Options, PATIENCE, Reply, listings::action_body, relationships::Person, time::HOUR,
};
use serde_json::{Value, json};
use std::{
    sync::atomic::{AtomicUsize, Ordering},
    time::{Duration, Instant},
};

pub const CONVERSATIONS: &str = "conversations";

/// Well-formed ids of things that do not exist.
pub const NO_THREAD: &str = "thr_01JZX8Q4M2N6P7R8S9T0V1W2X3";
pub const NO_MESSAGE: &str = "msg_01JZX8Q4M2N6P7R8S9T0V1W2X3";

pub async fn host() -> Host {
    let names = [
        "conversations",
        "owners",
        "social_permissions",
        "social_relationships",
        "svc_phone_binding",
    ];
    // The tests make many calls, and none of them is about the time limit.
    Host::start(Options::with(&names).configuration("[limits]\ncall_wall_time_ms = 30000\n")).await
}

/// Runs an internal action as the operator, in test mode.
pub async fn operate(host: &Host, action: &str, input: Value) -> Reply {
    let url = format!("{}/capabilities/{CONVERSATIONS}/{action}?test_mode=true", host.admin_url);
    Reply::read(host.operator.post(url).json(&input).send().await.unwrap()).await
}

pub async fn operate_ok(host: &Host, action: &str, input: Value) -> Value {
    let reply = operate(host, action, input).await;
    assert_eq!(reply.status, 200, "{action}: {}", reply.text);
    reply.body["result"].clone()
}

/// Opens a conversation of these people and returns its id.
pub async fn open_thread(host: &Host, people: &[&Person<'_>]) -> String {
    let participants: Vec<_> =
        people.iter().map(|person| json!({ "owner_id": person.id })).collect();
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let pairing = format!("pair_{}", COUNT.fetch_add(1, Ordering::Relaxed));
    let open = json!({ "pairing_id": pairing, "participants": participants });
    let thread = operate_ok(host, "open", open).await;
    thread["thread_id"].as_str().unwrap().to_owned()
}

impl Person<'_> {
    pub async fn call_thread(&self, action: &str, fields: Value) -> Reply {
        self.agent().call(CONVERSATIONS, action_body(action, &fields)).await
    }

    pub async fn call_thread_ok(&self, action: &str, fields: Value) -> Value {
        let reply = self.call_thread(action, fields).await;
        assert_eq!(reply.status, 200, "{action}: {}", reply.text);
        reply.body["result"].clone()
    }

    pub async fn send_message(&self, thread_id: &str, text: &str) -> Value {
        self.call_thread_ok("send", json!({ "thread_id": thread_id, "text": text })).await
    }

    /// Returns a conversation as this person sees it.
    pub async fn thread(&self, thread_id: &str) -> Value {
        self.call_thread_ok("get", json!({ "thread_id": thread_id })).await
    }

    pub async fn message(&self, message: &Value) -> Value {
        let before = message["seq"].as_u64().unwrap() + 1;
        let read = json!({ "thread_id": message["thread_id"], "before": before, "limit": 1 });
        self.call_thread_ok("messages", read).await["items"][0].clone()
    }

    pub async fn mark_up_to(&self, action: &str, message: &Value) -> Value {
        let input = json!({
            "thread_id": message["thread_id"], "up_to_message_id": message["message_id"],
        });
        self.call_thread_ok(action, input).await
    }

    /// Returns the type and data of each event about conversations in the inbox so far.
    pub async fn conversation_events(&self) -> Vec<(String, Value)> {
        let page = self.reader.page("wait=0&cursor=0&limit=100").await;
        let events = page["events"].as_array().unwrap().iter();
        let events =
            events.map(|event| (event["type"].as_str().unwrap().to_owned(), event["data"].clone()));
        events.filter(|(name, _)| name.starts_with("conversation.")).collect()
    }

    pub async fn conversation_event_types(&self) -> Vec<String> {
        self.conversation_events().await.into_iter().map(|(name, _)| name).collect()
    }

    /// Returns whether `social_permissions` lets this person write.
    pub async fn can_send(&self, thread_id: &str) -> bool {
        let question = json!({
            "action": "check", "relation": "can_send", "object": format!("thread:{thread_id}"),
        });
        let permission = self.agent().result("social_permissions", question).await;
        permission["allowed"].as_bool().unwrap()
    }
}

/// Waits until the condition is true; `what` names it in the panic after `PATIENCE`.
pub async fn wait_until(what: &str, is_met: impl AsyncFn() -> bool) {
    let started = Instant::now();
    while !is_met().await {
        assert!(started.elapsed() < PATIENCE, "{what}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

/// Moves the time to when the thread has been idle for long enough to be archived,
/// and waits until it is.
pub async fn wait_until_archived(host: &Host, thread_id: &str, person: &Person<'_>) {
    host.reach_timer(&format!("idle/{thread_id}")).await;
    // If there is a message from after the timer was set, the timer is set again.
    host.advance(2 * HOUR).await;
    wait_until("it is archived", async || person.thread(thread_id).await["state"] == "archived")
        .await;
}
