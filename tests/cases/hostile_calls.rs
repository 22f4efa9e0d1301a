//! Attacks by a component's calls: by the resources they use, by their answers,
//! and by nested calls.

use crate::harness::hostile::{Attack, Expected::*, Observation, with_script};
use serde_json::{Value, json};

fn with_read_action(id: &str, operations: Value) -> Vec<u8> {
    with_script(&json!({ "id": id, "access": "read", "operations": operations }))
}

fn with_answer(id: &str, text: Value) -> Vec<u8> {
    with_read_action(id, json!([{ "op": "answer", "text": text }]))
}

/// The maximum number of bytes that one call may add to the log: 64 messages with their heads, and
/// the host's own lines.
const LOG_BYTES: usize = 64 * 1_400;

fn check_log_size(observed: &Observation) -> Result<(), String> {
    match observed.log.len() <= LOG_BYTES {
        true => Ok(()),
        false => Err(format!("the log has grown by {} bytes", observed.log.len())),
    }
}

/// Checks that no line of the log begins with text that the component wrote.
fn check_log_not_forged(observed: &Observation) -> Result<(), String> {
    check_log_size(observed)?;
    let forged = observed.log.lines().find(|line| line.trim_start().starts_with("forged"));
    forged.map_or(Ok(()), |line| Err(format!("a line of the log is forged: {line}")))
}

/// Attacks by the use of time, memory and the processor.
pub const RESOURCES: &[Attack] = &[
    Attack::new("spins", "never ends", Call(504, "capability_timeout"), |_| {
        with_read_action("spins", json!([{ "op": "spin" }]))
    }),
    Attack::new("allocates", "allocates without end", Call(500, "capability_trapped"), |_| {
        with_read_action(
            "allocates",
            json!([{ "op": "allocate", "bytes": 1 << 20, "times": 5_000 }]),
        )
    }),
    Attack::new("recurses", "calls itself without end", Call(500, "capability_trapped"), |_| {
        with_read_action("recurses", json!([{ "op": "recurse" }]))
    }),
    Attack::new("traps", "traps in every call", Call(500, "capability_trapped"), |_| {
        with_read_action("traps", json!([{ "op": "trap" }]))
    }),
    Attack::new(
        "traps_after_writes",
        "traps after it has written",
        Call(500, "capability_trapped"),
        |_| {
            let put = json!({ "op": "put", "collection": "things", "id": "x", "body": {} });
            let operations = json!([put, { "op": "trap" }]);
            let collections = json!([{ "name": "things" }]);
            with_script(&json!({
                "id": "traps_after_writes", "collections": collections, "operations": operations,
            }))
        },
    ),
    Attack::new(
        "much_randomness",
        "asks for a gigabyte of randomness",
        Call(500, "capability_trapped"),
        |_| with_read_action("much_randomness", json!([{ "op": "random", "bytes": 1 << 30 }])),
    ),
    Attack::new(
        "large_arguments",
        "hands over arguments of four megabytes",
        Call(500, "capability_answer_invalid"),
        |_| {
            let prefix = json!({ "repeat": "a", "times": 4_000_000 });
            with_read_action("large_arguments", json!([{ "op": "new_id", "prefix": prefix }]))
        },
    ),
];

/// Attacks by answers, refusals and logs.
pub const ANSWERS: &[Attack] = &[
    Attack::new(
        "answer_too_large",
        "answers with two megabytes",
        Call(500, "capability_answer_invalid"),
        |_| {
            let spaces = json!({ "repeat": " ", "times": 2_000_000 });
            with_answer("answer_too_large", json!(["{}", spaces]))
        },
    ),
    Attack::new(
        "answer_no_json",
        "answers what is not JSON",
        Call(500, "capability_answer_invalid"),
        |_| with_answer("answer_no_json", json!("rain")),
    ),
    Attack::new(
        "answer_deep",
        "answers with arrays that nest a hundred thousand deep",
        Call(500, "capability_answer_invalid"),
        |_| with_answer("answer_deep", json!({ "repeat": "[", "times": 100_000 })),
    ),
    Attack::new(
        "answer_breaks_schema",
        "breaks its schema in half a million places, after it has written",
        Call(500, "capability_answer_invalid"),
        |_| {
            let put = json!({ "op": "put", "collection": "things", "id": "x", "body": {} });
            let numbers = json!(["[0", { "repeat": ",0", "times": 450_000 }, "]"]);
            let output = json!({ "type": "array", "items": { "type": "string" } });
            let operations = json!([put, { "op": "answer", "text": numbers }]);
            with_script(&json!({
                "id": "answer_breaks_schema",
                "collections": [{ "name": "things" }],
                "actions": [{ "name": "act", "output": output, "operations": operations }],
            }))
        },
    ),
    Attack::new(
        "code_of_the_host",
        "refuses with an error code of the host",
        Call(500, "capability_answer_invalid"),
        |_| with_refusal("code_of_the_host", json!("token_invalid")),
    ),
    Attack::new(
        "undeclared_code",
        "refuses with an error code that it does not declare",
        Call(500, "capability_answer_invalid"),
        |_| with_refusal("undeclared_code", json!("no_rain")),
    ),
    Attack::new(
        "code_as_log",
        "refuses with a one-megabyte error code that imitates lines of the operator's log",
        Harmless(
            "answered with `capability_answer_invalid`; the log gets one short line",
            |observed| {
                check_log_not_forged(observed)?;
                match observed.reply.body["error_code"] == "capability_answer_invalid" {
                    true => Ok(()),
                    false => Err("it is answered with another code".to_owned()),
                }
            },
        ),
        |_| {
            with_refusal("code_as_log", json!({ "repeat": "x\nforged ERROR {n}", "times": 40_000 }))
        },
    ),
    Attack::new(
        "log_flood",
        "logs a thousand messages of ten kilobytes",
        Harmless("64 messages of a kilobyte reach the log", check_log_size),
        |_| {
            let text = json!({ "repeat": "harm ", "times": 2_000 });
            with_read_action("log_flood", json!([{ "op": "log", "text": text, "times": 1_000 }]))
        },
    ),
    Attack::new(
        "log_forgery",
        "logs line breaks and escape sequences",
        Harmless("they are escaped", |observed| {
            check_log_not_forged(observed)?;
            match observed.log.contains('\u{1b}') {
                true => Err("an escape sequence is in the log".to_owned()),
                false => Ok(()),
            }
        }),
        |_| {
            with_read_action(
                "log_forgery",
                json!([{ "op": "log", "text": "x\nforged\u{1b}[2J\rforged" }]),
            )
        },
    ),
];

fn with_refusal(id: &str, code: Value) -> Vec<u8> {
    let refuse = json!({ "op": "refuse", "code": code, "message": "No.", "keep_writes": true });
    with_read_action(id, json!([refuse]))
}

fn invoke_operation(capability: &str, action: &str, times: u64) -> Value {
    json!({
        "op": "invoke", "capability": capability, "action": action, "input": {}, "times": times,
    })
}

fn with_invocation(id: &str, invoked: (&str, &str), times: u64) -> Vec<u8> {
    let invocation = json!({ "capability": invoked.0, "action": invoked.1 });
    with_script(&json!({
        "id": id,
        "access": "read",
        "invokes": [invocation],
        "operations": [invoke_operation(invoked.0, invoked.1, times)],
    }))
}

fn check_cycle_is_refused(observed: &Observation) -> Result<(), String> {
    match observed.reply.text.contains("cannot call each other in a cycle") {
        true => Ok(()),
        false => Err("nothing is said of a cycle".to_owned()),
    }
}

/// Attacks by calls of other capabilities.
pub const NESTED_CALLS: &[Attack] = &[
    Attack::new(
        "undeclared_call",
        "calls an internal action that it does not declare",
        Operation("not_permitted"),
        |_| {
            let number = invoke_operation("svc.phone-binding", "number", 1);
            with_script(&json!({ "id": "undeclared_call", "operations": [number] }))
        },
    ),
    Attack::new(
        "undeclared_write",
        "writes in its caller's name by a call that it does not declare",
        Operation("not_permitted"),
        |scene| {
            let note = json!({ "owner_id": scene.witness_owner, "text": "harm" });
            let call = json!({
                "op": "invoke", "capability": "social_relationships", "action": "note", "input": note,
            });
            with_script(&json!({ "id": "undeclared_write", "operations": [call] }))
        },
    ),
    Attack::new(
        "undeclared_read",
        "reads for its caller by a call that it does not declare",
        Operation("not_permitted"),
        |_| with_read_action("undeclared_read", json!([invoke_operation("agent_credits", "balance", 1)])),
    ),
    Attack::new(
        "declared_read",
        "declares a read of another publisher, which it would call for its caller",
        Refused("pending_approval"),
        |_| with_invocation("declared_read", ("agent_credits", "balance"), 1),
    ),
    Attack::new(
        "permitted_read",
        "calls for its caller a read that the operator has permitted",
        Harmless("it reads what its caller may read, and the operator's view says so", |observed| {
            let loaded = observed.status["loaded"].as_array().into_iter().flatten();
            let mut own = loaded.filter(|row| row["id"] == "permitted_read");
            match own.any(|row| row["invokes"] == json!(["agent_credits.balance"])) {
                true if observed.reply.status == 200 => Ok(()),
                _ => Err("it is not in the operator's view".to_owned()),
            }
        }),
        |_| with_invocation("permitted_read", ("agent_credits", "balance"), 1),
    ),
    Attack::new(
        "calls_in_a_circle",
        "calls a component that calls it back",
        Harmless("the inner call is refused: `not_permitted`", check_cycle_is_refused),
        |_| with_invocation("calls_in_a_circle", ("called_in_a_circle", "act"), 1),
    ),
    Attack::new(
        "called_in_a_circle",
        "is called back by the component that it calls",
        Harmless("the inner call is refused: `not_permitted`", check_cycle_is_refused),
        |_| with_invocation("called_in_a_circle", ("calls_in_a_circle", "act"), 1),
    ),
    Attack::new(
        "calls_by_the_thousand",
        "makes thousands of nested calls in one call",
        Operation("at most 1000 nested calls"),
        |_| with_invocation("calls_by_the_thousand", ("agent_credits", "nothing"), 1_500),
    ),
    Attack::new(
        "other_arguments",
        "calls a declared read with an input that its schema forbids",
        Operation("validation_failed"),
        |_| {
            let invocation = json!({ "capability": "agent_credits", "action": "balance" });
            let call = json!({
                "op": "invoke", "capability": "agent_credits", "action": "balance",
                "input": { "owner_id": "own_01JZX8Q4M2N6P7R8S9T0V1W2X3" },
            });
            with_script(&json!({
                "id": "other_arguments",
                "access": "read",
                "invokes": [invocation],
                "operations": [call],
            }))
        },
    ),
    Attack::new(
        "forged_caller",
        "names another caller in its input",
        Harmless("the caller is the agent of the token, without callers before it", |observed| {
            let reports = &observed.reply.body["result"]["operations"];
            let caller = reports[0]["last"].as_str().unwrap_or_default();
            match caller.contains("via: []") && !caller.contains("agt_forged") {
                true => Ok(()),
                false => Err(format!("the caller is {caller}")),
            }
        }),
        |_| {
            let input = json!({
                "type": "object", "properties": { "caller": {}, "via": {}, "agent_id": {} },
            });
            let action = json!({
                "name": "act", "access": "read", "input": input, "operations": [{ "op": "caller" }],
            });
            with_script(&json!({ "id": "forged_caller", "actions": [action] }))
        },
    )
    .with_body(|| {
        let forged = "agt_forged";
        json!({ "action": "act", "caller": { "agent_id": forged }, "via": ["owners"], "agent_id": forged })
    }),
    Attack::new(
        "foreign_secret",
        "opens a person's phone number that another capability has sealed",
        Operation("Invalid"),
        |scene| with_read_action("foreign_secret", json!([{ "op": "open", "sealed": scene.sealed }])),
    ),
];
