//! A case of `portolan test` that is made of a recorded call.

use crate::cli::client::Operator;
use anyhow::Context as _;
use serde_json::{Map, Value, json};
use std::{
    fs,
    path::{Path, PathBuf},
};

/// Writes a case for the outermost run of a recorded call into the folder, and returns its file. Fails if there is
/// such a file already.
pub(super) async fn write_case(
    operator: &Operator,
    request_id: &str,
    folder: &Path,
) -> anyhow::Result<PathBuf> {
    let recorded = operator.get(&format!("/recordings/{request_id}/whole"), &[]).await?;
    let run = recorded.pointer("/runs/0").context("the recording has no run")?;
    let case = case(request_id, run).context("the recording cannot be read by this version")?;
    let file = folder.join(format!("{request_id}.json"));
    anyhow::ensure!(!file.exists(), "{} exists already; remove it first", file.display());
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    fs::write(&file, format!("{case:#}\n"))
        .with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}

/// Returns the case of a recorded run.
fn case(request_id: &str, run: &Value) -> Option<Value> {
    let text = |name: &str| run.get(name).and_then(Value::as_str);
    let (caller, mode) = caller(run.get("caller")?)?;
    let imports = || run.get("imports").and_then(Value::as_array).into_iter().flatten();
    let mut case = json!({
        "name": format!("{} of {request_id}", text("action")?),
        "caller": caller,
        "mode": mode,
        "at": portolan_vocabulary::Timestamp::from_millis(run.get("at")?.as_u64()?).to_string(),
        "seed": text("seed")?,
        "action": text("action")?,
        "input": serde_json::from_str::<Value>(text("input")?).ok()?,
        "before": documents(imports()),
        "calls": imports().filter_map(nested_call).collect::<Vec<_>>(),
    });
    if let (Some(case), Some(expected)) = (case.as_object_mut(), expected(run.get("ending")?)) {
        case.insert("expect".to_owned(), expected);
    }
    Some(case)
}

/// Returns the caller and the mode as a case has them.
fn caller(caller: &Value) -> Option<(Value, &'static str)> {
    let mode = |caller: &Value| match caller.get("test_mode").and_then(Value::as_bool) {
        Some(true) => "test",
        _ => "live",
    };
    if let Some(system) = caller.get("system") {
        return Some((json!("system"), mode(system)));
    }
    let agent = caller.get("agent")?;
    let mut spec = Map::new();
    spec.insert("agent".to_owned(), agent.get("agent_id")?.clone());
    if let Some(owner) = agent.get("owner_id").filter(|owner| owner.is_string()) {
        spec.insert("owner".to_owned(), owner.clone());
    }
    Some((Value::Object(spec), mode(agent)))
}

/// Returns the documents that the run has read, by collection, as they were when it read them first.
fn documents<'a>(imports: impl Iterator<Item = &'a Value>) -> Value {
    let mut collections = Map::new();
    for import in imports {
        let function = import.get("function").and_then(Value::as_str).unwrap_or_default();
        let collection = import.pointer("/arguments/0").and_then(Value::as_str);
        let (true, Some(collection)) = (function.starts_with("documents."), collection) else {
            continue;
        };
        let Some(answer) = import.pointer("/answer/Ok/Ok") else { continue };
        for document in found(answer) {
            add_document(&mut collections, collection, document);
        }
    }
    Value::Object(collections)
}

/// Returns the documents in the answer of a read.
fn found(answer: &Value) -> Vec<&Value> {
    if let Some(hits) = answer.get("hits").and_then(Value::as_array) {
        return hits.iter().filter_map(|hit| hit.get("document")).collect();
    }
    match answer {
        Value::Array(documents) => {
            documents.iter().filter(|document| is_document(document)).collect()
        }
        document if is_document(document) => vec![document],
        _ => Vec::new(),
    }
}

fn is_document(value: &Value) -> bool {
    value.get("body").is_some_and(Value::is_string) && value.get("revision").is_some()
}

fn add_document(collections: &mut Map<String, Value>, collection: &str, document: &Value) {
    let body = document.get("body").and_then(Value::as_str);
    let body = body.and_then(|body| serde_json::from_str(body).ok());
    let (Some(id), Some(Value::Object(body))) = (document.get("id"), body) else { return };
    let list = collections.entry(collection).or_insert_with(|| json!([]));
    let Value::Array(list) = list else { return };
    if list.iter().any(|known| known.get(super::case::ID_MEMBER) == Some(id)) {
        return;
    }
    let mut written = Map::new();
    written.insert(super::case::ID_MEMBER.to_owned(), id.clone());
    written.extend(body);
    list.push(Value::Object(written));
}

/// Returns a nested call with its answer; `None` for another call.
fn nested_call(import: &Value) -> Option<Value> {
    let is_nested = import.get("function").and_then(Value::as_str) == Some("invoke.call");
    let arguments = import.get("arguments").filter(|_| is_nested)?.as_array()?;
    let [capability, action, input] = arguments.as_slice() else { return None };
    let parse = |text: &Value| serde_json::from_str::<Value>(text.as_str()?).ok();
    let mut stub = json!({ "capability": capability, "action": action, "input": parse(input)? });
    let answer = import.pointer("/answer/Ok")?;
    let (name, value) = match (answer.get("Ok"), answer.get("Err")) {
        (Some(success), _) => ("output", parse(success.get("output")?)?),
        (None, Some(failure)) => ("error", refusal(failure)),
        (None, None) => return None,
    };
    stub.as_object_mut()?.insert(name.to_owned(), value);
    Some(stub)
}

/// Returns a refusal as a case has it.
fn refusal(failure: &Value) -> Value {
    let mut refusal = Map::new();
    for name in ["code", "message"] {
        refusal.extend(failure.get(name).map(|text| (name.to_owned(), text.clone())));
    }
    for name in ["conflict", "next"] {
        let value = failure.get(name).and_then(Value::as_str);
        let value = value.and_then(|text| serde_json::from_str(text).ok());
        refusal.extend(value.map(|value: Value| (name.to_owned(), value)));
    }
    Value::Object(refusal)
}

/// Returns what the run answered, as a case expects it; `None` if it has failed.
fn expected(ending: &Value) -> Option<Value> {
    if let Some(success) = ending.get("success") {
        let parse = |name: &str| {
            success.get(name)?.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok())
        };
        let mut expected = Map::new();
        expected.insert("output".to_owned(), parse("output")?);
        expected.extend(parse("next").map(|next| ("next".to_owned(), next)));
        return Some(Value::Object(expected));
    }
    let code = ending.pointer("/refused/code")?;
    Some(json!({ "error": { "code": code } }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_has_what_the_run_was_given_and_what_it_answered() {
        let document = json!({
            "id": "a", "revision": 7, "body": r#"{"title":"Tea"}"#, "created_at": 1, "updated_at": 1,
        });
        let run = json!({
            "action": "lend", "at": 1_767_225_600_000_u64, "seed": "01",
            "caller": { "agent": { "agent_id": "agt_1", "owner_id": "own_1", "test_mode": false } },
            "input": r#"{"id":"a"}"#,
            "imports": [
                { "function": "documents.get", "arguments": ["books", "a"], "answer": { "Ok": { "Ok": document } } },
                { "function": "invoke.call", "arguments": ["credits", "spend", "{\"amount\":1}"],
                  "answer": { "Ok": { "Ok": { "output": "{\"left\":2}", "next": null } } } },
            ],
            "ending": { "success": { "output": r#"{"lent":true}"#, "next": null } },
        });
        let case = case("req_1", &run).unwrap();
        assert_eq!(case["before"], json!({ "books": [{ "$id": "a", "title": "Tea" }] }));
        assert_eq!(case["calls"][0]["output"], json!({ "left": 2 }));
        assert_eq!(case["expect"], json!({ "output": { "lent": true } }));
        assert_eq!(case["caller"], json!({ "agent": "agt_1", "owner": "own_1" }));
    }
}
