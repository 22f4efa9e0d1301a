//! Every state with every action: conversations and their messages.

use crate::{
    cases::states::{Table, texts},
    harness::{
        Host, Reply,
        conversations::{
            CONVERSATIONS, host, open_thread, operate, operate_ok, wait_until_archived,
        },
        relationships::Person,
    },
};
use serde_json::{Value, json};

/// Actions that timers and other capabilities run; they are tested with those capabilities.
const NOT_TRIED: [&str; 3] = ["on_block_changed", "on_person_changed", "rest"];

/// The error codes of an action that a conversation does not allow.
const SILENCE: [&str; 3] = ["invalid_transition", "recipient_not_accepting", "thread_closed"];

/// A conversation of two people and, for some actions, a third one.
struct Conversation<'a> {
    host: &'a Host,
    ada: Person<'a>,
    bo: Person<'a>,
    cy: Person<'a>,
    thread_id: String,
    /// A message of Ada's and one of Bo's.
    messages: [Value; 2],
}

impl<'a> Conversation<'a> {
    async fn new(host: &'a Host, state: &str, action: &str) -> Self {
        let (ada, bo, cy) =
            (Person::new(host).await, Person::new(host).await, Person::new(host).await);
        let thread_id = open_thread(host, &[&ada, &bo]).await;
        let messages =
            [ada.send_message(&thread_id, "One.").await, bo.send_message(&thread_id, "Two.").await];
        let conversation = Self { host, ada, bo, cy, thread_id, messages };
        if action != "invite" {
            conversation.bo.call_thread_ok("invite", conversation.cy_in_thread()).await;
        }
        if ["remove", "accept", "decline"].contains(&action) {
            conversation.ada.call_thread_ok("consent", conversation.consent()).await;
        }
        let thread = json!({ "thread_id": conversation.thread_id });
        match state {
            "frozen" => drop(operate_ok(host, "suspend", thread).await),
            "closed" => drop(conversation.bo.call_thread_ok("close", thread).await),
            "archived" => {
                wait_until_archived(host, &conversation.thread_id, &conversation.ada).await
            }
            _ => {}
        }
        conversation
    }

    fn cy_in_thread(&self) -> Value {
        json!({ "thread_id": self.thread_id, "owner_id": self.cy.id })
    }

    fn consent(&self) -> Value {
        json!({ "thread_id": self.thread_id, "owner_id": self.cy.id, "agree": true })
    }

    /// Returns the person who runs the action.
    fn actor(&self, action: &str) -> &Person<'a> {
        if ["accept", "decline"].contains(&action) { &self.cy } else { &self.ada }
    }

    async fn run_action(&self, action: &str) -> Reply {
        let [own, other] = [&self.messages[0]["message_id"], &self.messages[1]["message_id"]];
        let thread = json!({ "thread_id": self.thread_id });
        let with = |name: &str, value: Value| {
            let mut body = thread.clone();
            body[name] = value;
            body
        };
        match action {
            "suspend" | "reinstate" => operate(self.host, action, thread).await,
            "end" => operate(self.host, action, with("reason", json!("hired"))).await,
            "post" => {
                let mut post = with("text", json!("Three."));
                post["owner_id"] = json!(self.ada.id);
                operate(self.host, action, post).await
            }
            action => {
                let body = match action {
                    "send" => with("text", json!("Three.")),
                    "edit" => json!({ "message_id": own, "text": "Four." }),
                    "retract" => json!({ "message_id": own }),
                    "mark_read" | "mark_delivered" => with("up_to_message_id", other.clone()),
                    "consent" => self.consent(),
                    "invite" | "remove" => self.cy_in_thread(),
                    _ => thread,
                };
                self.actor(action).call_thread(action, body).await
            }
        }
    }

    /// Returns the actor's `allowed_actions` on the thread and on their own message.
    async fn allowed(&self, action: &str) -> Vec<String> {
        let actor = self.actor(action);
        let mut allowed = texts(&actor.thread(&self.thread_id).await["allowed_actions"]);
        if actor.id == self.ada.id {
            allowed.extend(texts(&self.ada.message(&self.messages[0]).await["allowed_actions"]));
        }
        allowed
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_on_a_conversation_in_every_state() {
    let host = host().await;
    let table = Table::read(&host, CONVERSATIONS, "thread").await;
    let actions: Vec<_> =
        table.actions().into_iter().filter(|action| !NOT_TRIED.contains(action)).collect();
    assert!(actions.len() > 18, "{actions:?}");
    let mut faults = Vec::new();
    for state in &table.states {
        for action in &actions {
            let conversation = Conversation::new(&host, state, action).await;
            // These actions are tried where they have an effect.
            if *action == "unmute" {
                conversation
                    .ada
                    .call_thread_ok("mute", json!({ "thread_id": conversation.thread_id }))
                    .await;
            }
            if *action == "unarchive" {
                conversation
                    .ada
                    .call_thread_ok("archive", json!({ "thread_id": conversation.thread_id }))
                    .await;
            }
            let before = conversation.ada.thread(&conversation.thread_id).await["state"].clone();
            assert_eq!(before, **state);
            let allowed = conversation.allowed(action).await;
            let reply = conversation.run_action(action).await;
            // A message can be edited for minutes only, and a conversation is
            // archived after half a year.
            let is_late = *state == "archived" && *action == "edit";
            let expected = table.leads(state, action, None).filter(|_| !is_late);
            // A person who has left can no longer read the state.
            let after = match *action {
                "leave" if expected.is_some() => json!(state),
                _ => conversation.ada.thread(&conversation.thread_id).await["state"].clone(),
            };
            let fits = match &expected {
                Some(to) => reply.status == 200 && to.iter().any(|state| after == **state),
                None if is_late => reply.body["error_code"] == "edit_window_passed",
                None => {
                    SILENCE.iter().any(|code| reply.body["error_code"] == *code) && after == before
                }
            };
            let internal = ["end", "post", "reinstate", "suspend"].contains(action);
            let listed = allowed.iter().any(|allowed| allowed == action);
            if !fits || listed != (expected.is_some() && !internal) {
                faults.push(format!("{action} of what is {state}, now {after}: {}", reply.text));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_on_a_message_in_every_state_by_either_side() {
    let host = host().await;
    let table = Table::read(&host, CONVERSATIONS, "message").await;
    let mut faults = Vec::new();
    for state in &table.states {
        for action in table.actions() {
            for role in ["sender", "recipient"] {
                let conversation = Conversation::new(&host, "open", "send").await;
                let message = &conversation.messages[0];
                let id = json!({ "message_id": message["message_id"] });
                let with = |name: &str, value: &str| {
                    let mut body = id.clone();
                    body[name] = json!(value);
                    body
                };
                match state.as_str() {
                    "delivered" => {
                        drop(conversation.bo.mark_up_to("mark_delivered", message).await)
                    }
                    "read" => drop(conversation.bo.mark_up_to("mark_read", message).await),
                    "edited" => {
                        drop(conversation.ada.call_thread_ok("edit", with("text", "Other.")).await)
                    }
                    "retracted" => {
                        drop(conversation.ada.call_thread_ok("retract", id.clone()).await)
                    }
                    "removed" => {
                        operate_ok(&host, "remove_message", with("reason", "a test")).await;
                    }
                    _ => {}
                }
                let by = if role == "sender" { &conversation.ada } else { &conversation.bo };
                let before = by.message(message).await;
                assert_eq!(before["state"], **state);
                let marks = action.starts_with("mark_");
                let reply = match action {
                    "remove_message" => operate(&host, action, with("reason", "a test")).await,
                    "edit" => by.call_thread(action, with("text", "New.")).await,
                    "retract" => by.call_thread(action, id.clone()).await,
                    _ => {
                        let body = json!({
                            "thread_id": conversation.thread_id, "up_to_message_id": message["message_id"],
                        });
                        by.call_thread(action, body).await
                    }
                };
                let after = by.message(message).await["state"].clone();
                let expected = table.leads(state, action, Some(role));
                let fits = match &expected {
                    Some(to) => reply.status == 200 && to.iter().any(|state| after == **state),
                    // To mark a message again, or one's own, is no error.
                    None if marks => reply.status == 200 && after == **state,
                    None => {
                        let code = &reply.body["error_code"];
                        let told =
                            ["invalid_transition", "not_owner"].iter().any(|wanted| code == wanted);
                        told && after == **state
                    }
                };
                let allowed = texts(&before["allowed_actions"]);
                let listed = allowed.iter().any(|allowed| allowed == action);
                if !fits || listed != (expected.is_some() && action != "remove_message") {
                    let text = &reply.text;
                    faults.push(format!(
                        "{action} by the {role} of what is {state}, now {after}: {text}"
                    ));
                }
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
