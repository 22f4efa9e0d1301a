//! The suite's documents and prompts.

use crate::elicitation::Round;
use rmcp::model::{
    ContentBlock, GetPromptResponse, GetPromptResult, JsonObject, Prompt, PromptArgument,
    PromptMessage, ReadResourceResult, Resource, ResourceContents, ResourceTemplate, Role,
};
use serde_json::{Value, json};

/// An image of one pixel.
const IMAGE: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8/5+hHgAHggJ/PchI7wAAAABJRU5ErkJggg==";
const DOCUMENTS: [(&str, &str); 3] = [
    ("test://static-text", "text/plain"),
    ("test://static-binary", "image/png"),
    ("test://watched-resource", "text/plain"),
];
pub(crate) const ASKING_PROMPT: &str = "test_input_required_result_prompt";

pub(crate) fn resources() -> Vec<Resource> {
    let one = |(uri, media_type): (&str, &str)| {
        Resource::new(uri, uri.trim_start_matches("test://"))
            .with_description("A document of the suite's.")
            .with_mime_type(media_type)
    };
    DOCUMENTS.into_iter().map(one).collect()
}

pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new("test://template/{id}/data", "template")
        .with_description("A document for each id.")
        .with_mime_type("application/json")
}

pub(crate) fn read(uri: &str) -> Option<ReadResourceResult> {
    let id = uri.strip_prefix("test://template/").and_then(|rest| rest.strip_suffix("/data"));
    let contents = match (uri, id) {
        ("test://static-text", _) => {
            ResourceContents::text("This is the content of the static text resource.", uri)
        }
        ("test://watched-resource", _) => ResourceContents::text("Nothing has changed.", uri),
        ("test://static-binary", _) => {
            ResourceContents::blob(IMAGE, uri).with_mime_type("image/png")
        }
        (_, Some(id)) => {
            let data =
                json!({ "id": id, "templateTest": true, "data": format!("Data for ID: {id}") });
            ResourceContents::text(data.to_string(), uri).with_mime_type("application/json")
        }
        _ => return None,
    };
    Some(ReadResourceResult::new(vec![contents]))
}

pub(crate) fn prompts() -> Vec<Prompt> {
    let argument = |name: &str| {
        PromptArgument::new(name)
            .with_description("An argument of the suite's.")
            .with_required(true)
    };
    let prompt = |name: &str, arguments: &[&str]| {
        let arguments = arguments.iter().map(|name| argument(name)).collect();
        Prompt::new(name, Some("A prompt of the suite's."), Some(arguments))
    };
    vec![
        prompt("test_simple_prompt", &[]),
        prompt("test_prompt_with_arguments", &["arg1", "arg2"]),
        prompt("test_prompt_with_embedded_resource", &["resourceUri"]),
        prompt("test_prompt_with_image", &[]),
        prompt(ASKING_PROMPT, &[]),
    ]
}

pub(crate) fn prompt(name: &str, arguments: &JsonObject) -> Option<GetPromptResult> {
    let argument = |name: &str| arguments.get(name).and_then(Value::as_str).unwrap_or_default();
    let user_message = |text: String| PromptMessage::new_text(Role::User, text);
    let messages = match name {
        "test_simple_prompt" => {
            vec![user_message("This is a simple prompt for testing.".to_owned())]
        }
        "test_prompt_with_arguments" => vec![user_message(format!(
            "Prompt with arguments: arg1='{}', arg2='{}'",
            argument("arg1"),
            argument("arg2")
        ))],
        "test_prompt_with_embedded_resource" => {
            let document = ResourceContents::text(
                "Embedded resource content for testing.",
                argument("resourceUri"),
            );
            vec![
                PromptMessage::new(Role::User, ContentBlock::resource(document)),
                user_message("Please process the embedded resource above.".to_owned()),
            ]
        }
        "test_prompt_with_image" => vec![
            PromptMessage::new(Role::User, ContentBlock::image(IMAGE, "image/png")),
            user_message("Please analyze the image above.".to_owned()),
        ],
        _ => return None,
    };
    Some(GetPromptResult::new(messages))
}

/// Returns the prompt that asks: its question, or its text when the question is answered.
pub(crate) fn prompt_response(round: Round) -> GetPromptResponse {
    match round {
        Round::Incomplete(result) => result.into(),
        Round::Complete(words) => {
            GetPromptResult::new(vec![PromptMessage::new_text(Role::User, words)]).into()
        }
    }
}
