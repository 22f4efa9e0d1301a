//! Every state with every action: conversations and their messages.

use crate::{
    cases::states::{Table, texts},
    harness::{
        Host, Reply,
        conversations::{TALKS, forgotten, host, opened, operate, operated},
        ties::Person,
    },
};
use serde_json::{Value, json};

/// Actions that timers and other capabilities run; they are tested with those capabilities.
const NOT_TRIED: [&str; 3] = ["on_block_changed", "on_person_changed", "rest"];

/// The error codes of an action that a conversation does not allow.
const SILENCE: [&str; 3] = ["invalid_transition", "recipient_not_accepting", "thread_closed"];

/// A conversation of two people and, for some actions, a third one.
struct Talk<'a> {
    host: &'a Host,
    ada: Person<'a>,
    bo: Person<'a>,
    cy: Person<'a>,
    thread_id: String,
    /// A message of Ada's and one of Bo's.
    messages: [Value; 2],
}

impl<'a> Talk<'a> {
    async fn new(host: &'a Host, state: &str, action: &str) -> Self {
        let (ada, bo, cy) =
            (Person::new(host).await, Person::new(host).await, Person::new(host).await);
        let thread_id = opened(host, &[&ada, &bo]).await;
        let messages = [ada.says(&thread_id, "One.").await, bo.says(&thread_id, "Two.").await];
        let talk = Self { host, ada, bo, cy, thread_id, messages };
        if action != "invite" {
            talk.bo.talked("invite", talk.cy_there()).await;
        }
        if ["remove", "accept", "decline"].contains(&action) {
            talk.ada.talked("consent", talk.consent()).await;
        }
        let thread = json!({ "thread_id": talk.thread_id });
        match state {
            "frozen" => drop(operated(host, "suspend", thread).await),
            "closed" => drop(talk.bo.talked("close", thread).await),
            "archived" => forgotten(host, &talk.thread_id, &talk.ada).await,
            _ => {}
        }
        talk
    }

    fn cy_there(&self) -> Value {
        json!({ "thread_id": self.thread_id, "owner_id": self.cy.id })
    }

    fn consent(&self) -> Value {
        json!({ "thread_id": self.thread_id, "owner_id": self.cy.id, "agree": true })
    }

    /// Returns the person who runs the action.
    fn actor(&self, action: &str) -> &Person<'a> {
        if ["accept", "decline"].contains(&action) { &self.cy } else { &self.ada }
    }

    async fn does(&self, action: &str) -> Reply {
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
                    "invite" | "remove" => self.cy_there(),
                    _ => thread,
                };
                self.actor(action).talk(action, body).await
            }
        }
    }

    /// Returns the actor's `allowed_actions` on the thread and on their own message.
    async fn allowed(&self, action: &str) -> Vec<String> {
        let actor = self.actor(action);
        let mut allowed = texts(&actor.sees(&self.thread_id).await["allowed_actions"]);
        if actor.id == self.ada.id {
            allowed.extend(texts(&self.ada.message(&self.messages[0]).await["allowed_actions"]));
        }
        allowed
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_action_on_a_conversation_in_every_state() {
    let host = host().await;
    let table = Table::read(&host, TALKS, "thread").await;
    let actions: Vec<_> =
        table.actions().into_iter().filter(|action| !NOT_TRIED.contains(action)).collect();
    assert!(actions.len() > 18, "{actions:?}");
    let mut faults = Vec::new();
    for state in &table.states {
        for action in &actions {
            let talk = Talk::new(&host, state, action).await;
            // These actions are tried where they have an effect.
            if *action == "unmute" {
                talk.ada.talked("mute", json!({ "thread_id": talk.thread_id })).await;
            }
            if *action == "unarchive" {
                talk.ada.talked("archive", json!({ "thread_id": talk.thread_id })).await;
            }
            let before = talk.ada.sees(&talk.thread_id).await["state"].clone();
            assert_eq!(before, **state);
            let allowed = talk.allowed(action).await;
            let reply = talk.does(action).await;
            // A message can be edited for minutes only, and a conversation is
            // archived after half a year.
            let is_late = *state == "archived" && *action == "edit";
            let expected = table.leads(state, action, None).filter(|_| !is_late);
            // A person who has left can no longer read the state.
            let after = match *action {
                "leave" if expected.is_some() => json!(state),
                _ => talk.ada.sees(&talk.thread_id).await["state"].clone(),
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
    let table = Table::read(&host, TALKS, "message").await;
    let mut faults = Vec::new();
    for state in &table.states {
        for action in table.actions() {
            for role in ["sender", "recipient"] {
                let talk = Talk::new(&host, "open", "send").await;
                let message = &talk.messages[0];
                let id = json!({ "message_id": message["message_id"] });
                let with = |name: &str, value: &str| {
                    let mut body = id.clone();
                    body[name] = json!(value);
                    body
                };
                match state.as_str() {
                    "delivered" => drop(talk.bo.marks("mark_delivered", message).await),
                    "read" => drop(talk.bo.marks("mark_read", message).await),
                    "edited" => drop(talk.ada.talked("edit", with("text", "Other.")).await),
                    "retracted" => drop(talk.ada.talked("retract", id.clone()).await),
                    "removed" => {
                        operated(&host, "remove_message", with("reason", "a test")).await;
                    }
                    _ => {}
                }
                let by = if role == "sender" { &talk.ada } else { &talk.bo };
                let before = by.message(message).await;
                assert_eq!(before["state"], **state);
                let marks = action.starts_with("mark_");
                let reply = match action {
                    "remove_message" => operate(&host, action, with("reason", "a test")).await,
                    "edit" => by.talk(action, with("text", "New.")).await,
                    "retract" => by.talk(action, id.clone()).await,
                    _ => {
                        let body = json!({
                            "thread_id": talk.thread_id, "up_to_message_id": message["message_id"],
                        });
                        by.talk(action, body).await
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
