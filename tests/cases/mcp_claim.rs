//! A claim during a call: the client asks the person the questions of the claim, and then the host
//! makes the write.

use crate::harness::{
    Host, Process,
    mcp::{Mcp, Messages, message},
    person::code,
};
use serde_json::{Value, json};

const ALL: &str = "svc.read svc.write svc.events";
const PHONE: &str = "+12015550123";

async fn host() -> Host {
    Host::with(&["svc_phone_binding", "ledger"]).await
}

/// Returns a client that can show a form.
async fn client_with_forms(host: &Host) -> Mcp<'_> {
    host.mcp(ALL).await.with_capabilities(json!({ "elicitation": {} }))
}

fn open(account: &str) -> Value {
    json!({ "name": "ledger", "arguments": { "action": "open", "account": account } })
}

fn accept(field: &str, value: &str) -> Value {
    json!({ "answers": { "action": "accept", "content": { field: value } } })
}

/// Repeats the call with the input that its last answer asked for.
async fn repeat_with(client: &Mcp<'_>, call: &Value, asked: &Value, responses: Value) -> Value {
    let mut call = call.clone();
    call["inputResponses"] = responses;
    call["requestState"] = asked["requestState"].clone();
    client.result("tools/call", call).await
}

/// Returns the one field that the answer asks for, and the message with the question.
fn requested_field(result: &Value) -> (String, String) {
    assert_eq!(result["resultType"], "input_required", "{result:#}");
    let request = &result["inputRequests"]["answers"];
    assert_eq!(request["method"], "elicitation/create");
    let schema = &request["params"]["requestedSchema"];
    let field = schema["required"][0].as_str().unwrap();
    assert_eq!(schema["properties"][field]["type"], "string");
    (field.to_owned(), request["params"]["message"].as_str().unwrap().to_owned())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_modern_client_answers_and_the_write_is_made() {
    let host = host().await;
    let client = client_with_forms(&host).await;
    let call = open("ada");
    let asked = client.result("tools/call", call.clone()).await;
    assert_eq!(
        requested_field(&asked),
        ("phone".to_owned(), "Which mobile number may I send a code to?".to_owned())
    );
    // Without an answer, the question is asked again; after a wrong one, with the reason.
    let unanswered = repeat_with(&client, &call, &asked, json!({})).await;
    assert_eq!(requested_field(&unanswered).0, "phone");
    let wrong = repeat_with(&client, &call, &asked, accept("phone", "12")).await;
    let (field, words) = requested_field(&wrong);
    assert!(
        field == "phone" && words.len() > "Which mobile number may I send a code to?".len(),
        "{words}"
    );
    let asked = repeat_with(&client, &call, &wrong, accept("phone", PHONE)).await;
    assert_eq!(requested_field(&asked).0, "code");
    let code = code(&host, 1).await;
    let wrong = repeat_with(
        &client,
        &call,
        &asked,
        accept("code", if code == "111111" { "222222" } else { "111111" }),
    )
    .await;
    assert_eq!(requested_field(&wrong).0, "code");
    let done = repeat_with(&client, &call, &wrong, accept("code", &code)).await;
    assert_eq!(
        (&done["resultType"], &done["isError"]),
        (&json!("complete"), &json!(false)),
        "{done:#}"
    );
    assert_eq!(done["structuredContent"]["result"]["account"], "ada");
    // After the claim, nothing is asked.
    assert_eq!(client.result("tools/call", open("bob")).await["isError"], false);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_of_the_older_protocol_is_asked_while_the_call_waits() {
    let host = host().await;
    let client = client_with_forms(&host).await.legacy().await;
    let mut messages = Messages::of(client.request("tools/call", open("ada")).await);
    for (field, answer) in [("phone", None), ("code", Some(1))] {
        let asked = messages.next().await.unwrap();
        assert_eq!(asked["method"], "elicitation/create", "{asked}");
        assert_eq!(asked["params"]["requestedSchema"]["required"], json!([field]));
        let value = match answer {
            None => PHONE.to_owned(),
            Some(count) => code(&host, count).await,
        };
        let answer = json!({
            "jsonrpc": "2.0", "id": asked["id"],
            "result": { "action": "accept", "content": { field: value } },
        });
        assert_eq!(client.send(&answer, &[]).await.status(), 202);
    }
    let done = messages.next().await.unwrap();
    assert_eq!(done["result"]["isError"], false, "{done:#}");
    assert_eq!(done["result"]["structuredContent"]["result"]["account"], "ada");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_who_declines_is_not_asked_again() {
    let host = host().await;
    let client = client_with_forms(&host).await;
    let asked = client.result("tools/call", open("ada")).await;
    for action in ["decline", "cancel"] {
        let done =
            repeat_with(&client, &open("ada"), &asked, json!({ "answers": { "action": action } }))
                .await;
        assert_eq!(done["structuredContent"]["error_code"], "phone_binding_required", "{done:#}");
        assert_eq!(
            (&done["isError"], &done["structuredContent"]["next"]["then"]),
            (&json!(true), &json!("retry_original"))
        );
    }
    // A client that cannot ask gets the next step.
    let plain = host.mcp(ALL).await.result("tools/call", open("ada")).await;
    let next = &plain["structuredContent"]["next"];
    assert_eq!(
        (&next["tool"], &next["missing"]),
        (&json!("svc_phone-binding_claim"), &json!(["phone"]))
    );
    assert!(crate::harness::person::messages(&host, 0).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_is_valid_for_its_agent_and_its_call_only() {
    let host = host().await;
    let (ada, eve) = (client_with_forms(&host).await, client_with_forms(&host).await);
    let asked = ada.result("tools/call", open("ada")).await;
    let state = asked["requestState"].as_str().unwrap();
    let forged = format!("{}x", &state[..state.len() - 1]);
    for (client, call, state) in [
        (&eve, open("ada"), state),
        (&ada, open("eve"), state),
        (&ada, open("ada"), &*forged),
        (&ada, open("ada"), "nonsense"),
    ] {
        let mut call = call;
        call["requestState"] = json!(state);
        call["inputResponses"] = accept("phone", PHONE);
        let answer = message(client.request("tools/call", call).await).await;
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
    }
    assert!(crate::harness::person::messages(&host, 0).await.is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_order_of_arguments_does_not_invalidate_a_question() {
    let host = host().await;
    let client = client_with_forms(&host).await;
    let call = |arguments: Value| json!({ "name": "ledger", "arguments": arguments });
    let one = call(json!({ "action": "open", "account": "ada" }));
    let other = call(json!({ "account": "ada", "action": "open" }));
    assert_ne!(one.to_string(), other.to_string());
    let asked = client.result("tools/call", one).await;
    let asked = repeat_with(&client, &other, &asked, accept("phone", PHONE)).await;
    assert_eq!(requested_field(&asked).0, "code");
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_and_answers_are_not_logged() {
    let host = Process::with(&["svc_phone_binding", "ledger"]);
    let client = client_with_forms(&host).await;
    let call = open("ada");
    let asked = client.result("tools/call", call.clone()).await;
    let first = asked["requestState"].as_str().unwrap().to_owned();
    let asked = repeat_with(&client, &call, &asked, accept("phone", PHONE)).await;
    let code = code(&host, 1).await;
    let done = repeat_with(&client, &call, &asked, accept("code", &code)).await;
    assert_eq!(done["isError"], false, "{done:#}");
    // Requests that fail must not be logged with secrets either.
    client.request("tools/call", json!({ "name": "nobody", "arguments": {} })).await;
    client.request("nonsense", json!({})).await;
    host.signal("TERM");
    let token = client.token.clone();
    let (status, folder) = host.wait();
    assert!(status.success());
    let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
    assert!(!log.is_empty());
    for secret in [PHONE, &PHONE[1..], &*code, &*token, &*first, "rmcp"] {
        assert!(!log.contains(secret), "{secret} is in the log: {log}");
    }
}
