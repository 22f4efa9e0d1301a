//! One action for each way in which a component can misbehave while it runs. The component uses the
//! contract without the SDK's typed layer, which would not let it answer text that is not JSON.

use portolan_sdk::{
    Declared, Head, NoInput,
    contract::{Caller, Descriptor, Failure, Guest, Success, context, description::Access},
    declare, report_panics,
};
use schemars::JsonSchema;
use serde::Serialize;
use std::{convert::Infallible, hint::black_box};

#[derive(Serialize, JsonSchema)]
struct Output {
    number: u32,
}

/// Name and title of each action.
const ACTIONS: [(&str, &str); 16] = [
    ("behaves", "Answer as promised"),
    ("loops_forever", "Never end"),
    ("grows_memory", "Allocate without end"),
    ("recurses", "Call itself without end"),
    ("floods_output", "Answer with more than may be answered"),
    ("floods_next", "Answer with a next step that is too large"),
    ("answers_text", "Answer what is not JSON"),
    ("answers_nothing", "Answer an empty text"),
    ("breaks_schema", "Answer what the output schema forbids"),
    ("breaks_next", "Answer a next step that is no object"),
    ("undeclared_code", "Refuse with a code that is not declared"),
    ("forged_code", "Refuse with a code that is the host's alone"),
    ("traps", "Run into an unreachable instruction"),
    ("panics", "Panic with a message"),
    ("floods_log", "Log without end"),
    ("asks_for_much", "Ask the host for too much randomness"),
];

struct Misbehaves;

impl Guest for Misbehaves {
    fn describe() -> Descriptor {
        let head = Head {
            id: "misbehaves".into(),
            version: "1.0.0".into(),
            title: "Misbehaves".into(),
            summary: "Misbehaves in every way.".into(),
            description: "Misbehaves in every way.".into(),
            ..Head::default()
        };
        let actions = ACTIONS.map(|(name, title)| {
            let action =
                declare::<NoInput, Output, Infallible>(name, title, title, Access::Read, vec![]);
            Declared { action, errors: vec![], publishes: vec![] }
        });
        head.build(actions.into())
    }

    fn call(_: Caller, action: String, _: String) -> Result<Success, Failure> {
        report_panics();
        match action.as_str() {
            "loops_forever" => loop {
                black_box(());
            },
            "grows_memory" => {
                let mut kept = Vec::new();
                loop {
                    kept.push(black_box(vec![1_u8; 1 << 20]));
                }
            }
            "recurses" => answer(&recurse(0).to_string()),
            "floods_output" => answer(&format!("{{\"number\":1{}}}", " ".repeat(1 << 20))),
            "floods_next" => Ok(Success {
                output: "{\"number\":1}".into(),
                next: Some(format!("{{\"x\":\"{}\"}}", "x".repeat(10 << 20))),
            }),
            "answers_text" => answer("this is not JSON"),
            "answers_nothing" => answer(""),
            "breaks_schema" => answer("{\"number\":\"one\"}"),
            "breaks_next" => {
                Ok(Success { output: "{\"number\":1}".into(), next: Some("7".into()) })
            }
            "undeclared_code" => refuse("made_up"),
            "forged_code" => refuse("token_invalid"),
            "traps" => trap(),
            "panics" => gives_up(),
            "floods_log" => {
                for _ in 0..1000 {
                    context::log(context::Level::Info, &"x".repeat(100_000));
                }
                answer("{\"number\":1}")
            }
            "asks_for_much" => answer(&context::random(1 << 30).len().to_string()),
            _ => answer("{\"number\":1}"),
        }
    }
}

fn answer(output: &str) -> Result<Success, Failure> {
    Ok(Success { output: output.into(), next: None })
}

fn refuse(code: &str) -> Result<Success, Failure> {
    Err(Failure {
        code: code.into(),
        message: "a message".into(),
        conflict: None,
        next: None,
        keep_writes: false,
    })
}

#[expect(unconditional_recursion, reason = "it is what this action is for")]
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

#[expect(clippy::panic, reason = "it is what this action is for")]
fn gives_up() -> ! {
    panic!("the dog ate it");
}

const _: fn() -> Descriptor = Misbehaves::describe;

#[cfg(target_arch = "wasm32")]
portolan_sdk::contract::export!(Misbehaves with_types_in portolan_sdk::contract);
