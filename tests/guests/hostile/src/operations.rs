//! The operations of a script, each performed as often as the script says.
//!
//! The answer of a call has one entry for each operation that does not end it: how often it was done and refused, the last
//! refusal, and the last answer.

use crate::script::{json, text, times, with_number};
use portolan_sdk::contract::{
    Caller, Failure, HostError, Success, context, documents, events, invoke, secrets, timers,
};
use serde_json::{Value, json as value};
use std::hint::black_box;

/// The maximum number of bytes of a text in the answer.
const SHOWN: usize = 2_000;

/// The answer of an operation, or why the host refused it.
type Done = Result<String, String>;
type Ending = Result<Success, Failure>;

/// Performs operations in their order and answers a report of each. `answer` and
/// `refuse` end the call.
pub(crate) fn perform_all(operations: &Value, caller: &Caller, input: &str) -> Ending {
    let mut reports = Vec::new();
    for operation in operations.as_array().into_iter().flatten() {
        match operation["op"].as_str() {
            Some("answer") => {
                let next = operation.get("next").map(json);
                return Ok(Success { output: text(&operation["text"]), next });
            }
            Some("refuse") => {
                return Err(Failure {
                    code: text(&operation["code"]),
                    message: text(&operation["message"]),
                    conflict: operation.get("conflict").map(json),
                    next: operation.get("next").map(json),
                    keep_writes: operation["keep_writes"] == true,
                });
            }
            // A nested call whose refusal is the component's own.
            Some("pass_on") => {
                let (capability, action) = (text(&operation["capability"]), &operation["action"]);
                invoke::call(&capability, &text(action), &json(&operation["input"]))?;
            }
            _ => reports.push(repeat(operation, caller, input)),
        }
    }
    Ok(Success { output: value!({ "operations": reports }).to_string(), next: None })
}

fn repeat(operation: &Value, caller: &Caller, input: &str) -> Value {
    let (mut done, mut refused, mut refusal, mut last) = (0, 0, None, String::new());
    for number in 0..times(operation) {
        match perform(&with_number(operation, number), caller, input) {
            Ok(answer) => {
                done += 1;
                last = answer;
            }
            Err(reason) => {
                refused += 1;
                refusal = Some(reason);
            }
        }
    }
    let shown = |text: &str| text.get(..text.floor_char_boundary(SHOWN)).unwrap_or("").to_owned();
    value!({
        "op": operation["op"], "done": done, "refused": refused,
        "refusal": refusal.as_deref().map(shown), "last": shown(&last),
    })
}

fn perform(operation: &Value, caller: &Caller, input: &str) -> Done {
    let field = |name: &str| text(&operation[name]);
    let number = |name: &str| operation[name].as_u64().unwrap_or(0);
    let collection = || text(&operation["collection"]);
    match operation["op"].as_str().unwrap_or_default() {
        "allocate" => {
            std::mem::forget(black_box(vec![1_u8; number("bytes") as usize]));
            done(Ok(()))
        }
        "recurse" => Ok(recurse(0).to_string()),
        "spin" => loop {
            black_box(());
        },
        "trap" => trap(),
        "log" => {
            context::log(context::Level::Info, &field("text"));
            done(Ok(()))
        }
        "random" => Ok(context::random(number("bytes") as u32).len().to_string()),
        "new_id" => Ok(context::new_id(&field("prefix"))),
        "caller" => Ok(format!("{caller:?}")),
        "input" => Ok(input.to_owned()),
        "open" => {
            let sealed: Vec<u8> =
                operation["sealed"].as_array().into_iter().flatten().map(byte).collect();
            done(secrets::open(&sealed).map(drop))
        }
        "publish" => {
            let event = events::Event {
                event_type: field("type"),
                subject: field("subject"),
                data: json(&operation["data"]),
            };
            done(events::publish(&audience(&field("to")), &event))
        }
        "timer" => {
            let after = || context::now() + number("after_ms");
            let at = operation["at"].as_u64().unwrap_or_else(after);
            let (name, action) = (field("name"), field("action"));
            done(timers::set(&name, at, &action, &json(&operation["input"])))
        }
        "invoke" => {
            let (capability, action) = (field("capability"), field("action"));
            invoke::call(&capability, &action, &json(&operation["input"]))
                .map(|answer| answer.output)
                .map_err(|failure| format!("{}: {}", failure.code, failure.message))
        }
        "put" => {
            let (id, body) = (field("id"), json(&operation["body"]));
            let expect = documents::Expectation::Any;
            shown(documents::put(&collection(), &id, &body, expect))
        }
        "get" => {
            let found = documents::get(&collection(), &field("id"));
            shown(found.map(|found| found.map(|document| document.body)))
        }
        "delete" => {
            let expect = documents::Expectation::Any;
            done(documents::delete(&collection(), &field("id"), expect))
        }
        "find" => {
            let query = documents::Query {
                filter: operation.get("filter").map(json),
                text: operation.get("words").map(text),
                near: None,
                within: None,
                order: Vec::new(),
                limit: number("limit") as u32,
                cursor: None,
                unchecked: true,
            };
            shown(documents::find(&collection(), &query).map(|page| page.hits.len()))
        }
        "count" => {
            let filter = operation.get("filter").map(json);
            shown(documents::count(&collection(), filter.as_deref()))
        }
        unknown => Err(format!("there is no operation {unknown}")),
    }
}

fn done(result: Result<(), HostError>) -> Done {
    result.map(|()| String::new()).map_err(|error| format!("{error:?}"))
}

fn shown<T: std::fmt::Debug>(result: Result<T, HostError>) -> Done {
    result.map(|answer| format!("{answer:?}")).map_err(|error| format!("{error:?}"))
}

fn byte(value: &Value) -> u8 {
    value.as_u64().unwrap_or(0) as u8
}

/// Returns the audience of an event: `agt_…` is an agent, `own_…` a person, and anything else
/// capabilities alone.
fn audience(to: &str) -> events::Audience {
    match to.get(..4) {
        Some("agt_") => events::Audience::Agent(to.to_owned()),
        Some("own_") => events::Audience::Owner(to.to_owned()),
        _ => events::Audience::Capabilities,
    }
}

#[expect(unconditional_recursion, reason = "it is what this operation is for")]
fn recurse(depth: u64) -> u64 {
    black_box(recurse(black_box(depth + 1))) + 1
}

#[cfg(target_arch = "wasm32")]
fn trap() -> ! {
    core::arch::wasm32::unreachable()
}

#[cfg(not(target_arch = "wasm32"))]
fn trap() -> ! {
    std::process::abort()
}
