//! Calls of the suite's tools.
#![expect(deprecated, reason = "the suite tests sampling and logging, which are deprecated")]

use crate::{
    elicitation::{Round, answer_round, ask_and_wait},
    fixture::Fixture,
    server::Changes,
};
use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
        CreateMessageRequestParams, LoggingLevel, LoggingMessageNotificationParam,
        ProgressNotificationParam, SamplingMessage,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use std::time::Duration;

const PAUSE: Duration = Duration::from_millis(50);

fn text(text: impl Into<String>) -> CallToolResponse {
    CallToolResult::success(vec![ContentBlock::text(text)]).into()
}

fn failed(error: impl std::fmt::Display) -> CallToolResponse {
    CallToolResult::error(vec![ContentBlock::text(error.to_string())]).into()
}

pub(crate) async fn call(
    fixture: &Fixture,
    request: CallToolRequestParams,
    context: RequestContext<RoleServer>,
    changes: &Changes,
) -> Result<CallToolResponse, ErrorData> {
    if let Some(result) = &fixture.result {
        return Ok(result.clone().into());
    }
    if !fixture.rounds.is_empty() {
        let capabilities = context.client_capabilities();
        let (state, responses) =
            (request.request_state.as_deref(), request.input_responses.as_ref());
        return Ok(match answer_round(fixture, capabilities.as_ref(), state, responses)? {
            Round::Incomplete(result) => result.into(),
            Round::Complete(words) => text(words),
        });
    }
    let argument = |name: &str| {
        let value = request
            .arguments
            .as_ref()
            .and_then(|arguments| arguments.get(name))
            .and_then(Value::as_str);
        value.unwrap_or("Please answer.").to_owned()
    };
    if let Some(form) = &fixture.form {
        let begin = if fixture.name == "test_elicitation" {
            "User response"
        } else {
            "Elicitation completed"
        };
        return Ok(match ask_and_wait(form, &argument("message"), &context).await {
            Ok(words) => text(format!("{begin}: {words}")),
            Err(error) => failed(error),
        });
    }
    match fixture.name.as_str() {
        "test_tool_with_logging" => {
            for words in
                ["Tool execution started", "Tool processing data", "Tool execution completed"]
            {
                log(&context, words).await;
                tokio::time::sleep(PAUSE).await;
            }
            Ok(text("Logged."))
        }
        "test_logging_tool" => {
            if context.meta.log_level().is_some() {
                log(&context, "Logged because it was asked for").await;
            }
            Ok(text("Done."))
        }
        "test_tool_with_progress" => {
            for progress in [0.0, 50.0, 100.0] {
                if let Some(token) = context.meta.get_progress_token() {
                    let update = ProgressNotificationParam::new(token, progress).with_total(100.0);
                    let _sent = context.peer.notify_progress(update).await;
                }
                tokio::time::sleep(PAUSE).await;
            }
            Ok(text("Done."))
        }
        "test_sampling" => {
            let messages = vec![SamplingMessage::user_text(argument("prompt"))];
            let sampled =
                context.peer.create_message(CreateMessageRequestParams::new(messages, 100)).await;
            Ok(match sampled {
                Ok(sampled) => {
                    let message = json!(sampled.message);
                    let words = ["/content/text", "/content/0/text"];
                    let words = words.iter().find_map(|at| message.pointer(at)?.as_str());
                    text(format!("LLM response: {}", words.unwrap_or_default()))
                }
                Err(error) => failed(error),
            })
        }
        "test_missing_capability" => {
            match context.client_capabilities().and_then(|capabilities| capabilities.sampling) {
                Some(_) => Ok(text("The client can sample.")),
                None => {
                    let needed = ClientCapabilities::builder().enable_sampling().build();
                    Err(ErrorData::missing_required_client_capability(needed))
                }
            }
        }
        "test_trigger_tool_change" => {
            changes.tools.send_modify(|count| *count += 1);
            Ok(text("Done."))
        }
        "test_trigger_prompt_change" => {
            changes.prompts.send_modify(|count| *count += 1);
            Ok(text("Done."))
        }
        other => Err(ErrorData::invalid_params(format!("there is no behaviour for {other}"), None)),
    }
}

async fn log(context: &RequestContext<RoleServer>, words: &str) {
    let message = LoggingMessageNotificationParam::new(LoggingLevel::Info, json!(words));
    let _sent = context.peer.notify_logging_message(message).await;
}
