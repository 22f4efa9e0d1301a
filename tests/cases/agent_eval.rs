//! A program that knows one address and what its person wants, and follows what it is told: the steps in `next`, what
//! `find_capabilities` finds, and values that answers have named. A value that it has to make up is a guess.

use crate::harness::{
    Host, Options, Reply,
    component_sets::MATCHING,
    matching::{Seeker, expect_ok},
    mcp::Mcp,
};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

const ALL: &str = "svc.read svc.write svc.events";
/// The maximum number of calls for one goal.
const MAX_CALLS: usize = 12;

/// The protocol by which a program reaches the host.
enum Door<'a> {
    Rest { host: &'a Host, token: String },
    Mcp(Box<Mcp<'a>>),
}

impl Door<'_> {
    /// Returns the call of the first action that fits these words.
    async fn find(&self, wish: &str) -> Value {
        match self {
            Self::Rest { host, .. } => {
                // The start page names the address.
                let start = host.client.get(&host.url).header("accept", "application/json");
                let start = Reply::read(start.send().await.unwrap()).await.body;
                let template = start["find"].as_str().unwrap();
                let mut url = reqwest::Url::parse(template.split('{').next().unwrap()).unwrap();
                url.query_pairs_mut().append_pair("q", wish);
                let reply = Reply::read(host.client.get(url).send().await.unwrap()).await;
                let found = &reply.body["items"][0];
                json!({ "capability": found["capability"], "input": found["example"] })
            }
            Self::Mcp(client) => {
                let found = client.tool("find_capabilities", json!({ "query": wish })).await;
                found["structuredContent"]["items"][0]["example"].clone()
            }
        }
    }

    /// Takes a step, and returns the answer.
    async fn take(&self, step: &Value) -> Value {
        match self {
            Self::Rest { host, token } => {
                let id = step["capability"].as_str().unwrap();
                let url = format!("{}/v1/capabilities/{id}/call", host.url);
                let token = host.current_token(token).await;
                let request = host.client.post(url).bearer_auth(token).json(&step["input"]);
                Reply::read(request.send().await.unwrap()).await.body
            }
            Self::Mcp(client) => {
                let tool = step["tool"].as_str().unwrap();
                client.tool(tool, step["arguments"].clone()).await["structuredContent"].clone()
            }
        }
    }
}

/// Returns the fields of the capability's call in a step.
fn input_of(step: &mut Value) -> &mut Map<String, Value> {
    let key = if step.get("tool").is_some() { "arguments" } else { "input" };
    let input = &mut step[key];
    let is_nested = input.get("capability").is_some() && input.get("input").is_some();
    let input = if is_nested { &mut input["input"] } else { input };
    input.as_object_mut().unwrap()
}

struct Program<'a> {
    door: Door<'a>,
    /// The person's answers, by the field that is asked for.
    answers: Map<String, Value>,
    /// The ids that answers have named, the latest one of each field.
    told: BTreeMap<String, Value>,
    /// The values that it had to make up.
    guesses: Vec<String>,
    /// The last answer's next step.
    next: Value,
    calls: usize,
}

impl Program<'_> {
    fn value_of(&self, field: &str) -> Option<Value> {
        // In test mode the answer has the code that a text message would have.
        let field = if field == "code" { "test_code" } else { field };
        self.answers.get(field).or_else(|| self.told.get(field)).cloned()
    }

    /// Fills in the fields that a step says are missing.
    fn fill(&mut self, mut step: Value) -> Value {
        let missing = step["missing"].as_array().cloned().unwrap_or_default();
        for field in missing.iter().map(|field| field.as_str().unwrap()) {
            match self.value_of(field) {
                Some(value) => _ = input_of(&mut step).insert(field.to_owned(), value),
                None => self.guesses.push(format!("{field} of {step}")),
            }
        }
        step
    }

    /// Returns the call of a found action, with the person's own values in place of the example's.
    async fn found(&self, wish: &str) -> Value {
        let mut step = self.door.find(wish).await;
        let example = input_of(&mut step).clone();
        for field in example.keys().filter(|field| *field != "action") {
            match self.value_of(field) {
                Some(value) => _ = input_of(&mut step).insert(field.clone(), value),
                None => _ = input_of(&mut step).shift_remove(field),
            }
        }
        step
    }

    fn remember(&mut self, value: &Value) {
        match value {
            Value::Object(fields) => {
                for (name, value) in fields {
                    if (name.ends_with("_id") || name == "test_code") && value.is_string() {
                        self.told.insert(name.clone(), value.clone());
                    }
                    self.remember(value);
                }
            }
            Value::Array(values) => values.iter().for_each(|value| self.remember(value)),
            _ => {}
        }
    }

    /// Follows the steps until an action has succeeded. Without a wish, it goes on with the last answer's next step.
    async fn reach(&mut self, wish: Option<&str>, until: &str) {
        let mut step = match wish {
            Some(wish) => self.found(wish).await,
            None => self.next.clone(),
        };
        let mut refused = None;
        for _ in 0..MAX_CALLS {
            if step.get("tool").is_none() && step.get("capability").is_none() {
                break;
            }
            step = self.fill(step);
            let answer = self.door.take(&step).await;
            self.calls += 1;
            println!("  {step}\n    {}", answer["error_code"].as_str().unwrap_or("ok"));
            self.next = answer["next"].clone();
            let meta = &answer["meta"];
            if let (Some(capability), Some(action)) =
                (meta["capability"].as_str(), meta["action"].as_str())
            {
                self.remember(&answer["result"]);
                if format!("{capability}.{action}") == until {
                    return;
                }
            } else if self.next["then"] == "retry_original" {
                refused = Some(step.clone());
            }
            step = match (self.next.is_object(), refused.take_if(|_| answer["result"].is_object()))
            {
                (true, kept) => {
                    refused = kept.or(refused);
                    self.next.clone()
                }
                (false, Some(refused)) => refused,
                (false, None) => break,
            };
        }
        self.guesses.push(format!("how to reach {until}: {}", self.next));
    }
}

/// Returns what the program had to guess on the way to its goals, and its number of calls.
async fn evaluate(host: &Host, door: Door<'_>) -> (Vec<String>, usize) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/corpora/goals.json");
    let corpus: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let other = Seeker::new(host, "sales", "engineering").await;
    let mut program = Program {
        door,
        answers: corpus["answers"].as_object().unwrap().clone(),
        told: BTreeMap::new(),
        guesses: Vec::new(),
        next: Value::Null,
        calls: 0,
    };
    let start = jiff::Timestamp::now() + std::time::Duration::from_secs(2 * 24 * 3600);
    let end = start + std::time::Duration::from_secs(30 * 60);
    let slot = json!({ "start": start.to_string(), "end": end.to_string() });
    program.answers.insert("slots".to_owned(), json!([slot]));
    for goal in corpus["goals"].as_array().unwrap() {
        if goal["name"] == "event" {
            // The other person is interested too.
            let session = other.session(json!({})).await;
            let listing = other.new_listings(&session).await.remove(0);
            expect_ok(&other.decide(&session, &listing, "interested").await);
        }
        let (calls, guesses) = (program.calls, program.guesses.len());
        println!("{}, from {:?}:", goal["name"], goal["wish"].as_str().unwrap_or("the last step"));
        program.reach(goal["wish"].as_str(), goal["until"].as_str().unwrap()).await;
        let (calls, guesses) = (program.calls - calls, program.guesses.len() - guesses);
        println!("{} is reached after {calls} calls with {guesses} guesses", goal["until"]);
    }
    (program.guesses, program.calls)
}

async fn host() -> Host {
    let mut names = MATCHING.to_vec();
    names.extend(["calendar", "saved_searches", "svc_events", "svc_whoami", "thread_meetings"]);
    // The program makes many calls, and none of them is about the time limit.
    Host::start(Options::with(&names).configuration("[limits]\ncall_wall_time_ms = 30000\n")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_reaches_its_goals_over_rest_without_a_guess() {
    let host = host().await;
    let token = host.test_agent().await.token;
    let (guesses, calls) = evaluate(&host, Door::Rest { host: &host, token }).await;
    assert!(guesses.is_empty(), "after {calls} calls: {guesses:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_reaches_its_goals_over_mcp_without_a_guess() {
    let host = host().await;
    let registration = json!({ "type": "anonymous", "mode": "test" });
    let url = format!("{}/v1/agents/register", host.url);
    let agent = Reply::read(host.client.post(url).json(&registration).send().await.unwrap()).await;
    let client = Box::new(Mcp::new(&host, host.mcp_token(&agent.body, ALL).await));
    let (guesses, calls) = evaluate(&host, Door::Mcp(client)).await;
    assert!(guesses.is_empty(), "after {calls} calls: {guesses:#?}");
}
