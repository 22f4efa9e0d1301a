//! The prompts of the capabilities, as clients list and fill them.

use portolan_catalog::{Snapshot, fill_prompt};
use portolan_vocabulary as host;
use rmcp::{
    ErrorData,
    model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role},
};
use serde_json::Value;

pub(super) fn list(snapshot: &Snapshot) -> Vec<Prompt> {
    let argument = |argument: &host::PromptArgument| {
        PromptArgument::new(&argument.name)
            .with_description(&argument.description)
            .with_required(argument.required)
    };
    let prompt = |(name, prompt): (String, &host::Prompt)| {
        let arguments = prompt.arguments.iter().map(argument).collect();
        Prompt::new(name, Some(&prompt.description), Some(arguments)).with_title(&prompt.title)
    };
    snapshot.prompts().map(prompt).collect()
}

pub(super) fn get(
    snapshot: &Snapshot,
    name: &str,
    arguments: &JsonObject,
) -> Result<GetPromptResult, ErrorData> {
    let found = snapshot.prompts().find(|(listed, _)| listed == name);
    let (_, prompt) = found
        .ok_or_else(|| ErrorData::invalid_params(format!("there is no prompt {name}"), None))?;
    let text = fill_prompt(prompt, |name| arguments.get(name).and_then(Value::as_str)).map_err(
        |name| ErrorData::invalid_params(format!("the argument {name} is missing"), None),
    )?;
    let message = PromptMessage::new_text(Role::User, text);
    Ok(GetPromptResult::new(vec![message]).with_description(&prompt.description))
}
