//! Prompts of capabilities: their check, and their texts with the arguments that a person gave.

use crate::{
    problem::{Problems, check_text, excerpt},
    snapshot::Snapshot,
};
use portolan_vocabulary::{Descriptor, Prompt, is_capability_id, is_snake_case};
use std::collections::BTreeSet;

/// The text that replaces an argument that is not given.
const NOT_GIVEN: &str = "(not given)";

/// A part of a prompt's text.
enum Part<'a> {
    Text(&'a str),
    /// The name between braces.
    Argument(&'a str),
}

/// Splits a text at `{name}`. Braces around anything but a name are part of the text.
fn parts(text: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        let name =
            from[1..].split_once('}').map(|(name, _)| name).filter(|name| is_snake_case(name));
        match name {
            Some(name) => {
                parts.extend([Part::Text(before), Part::Argument(name)]);
                rest = &from[name.len() + 2..];
            }
            None => {
                parts.push(Part::Text(&rest[..=open]));
                rest = &from[1..];
            }
        }
    }
    parts.push(Part::Text(rest));
    parts
}

/// Returns a prompt's text with the given arguments, or the name of a required one that is missing.
pub fn fill_prompt<'a>(
    prompt: &'a Prompt,
    given: impl Fn(&str) -> Option<&'a str>,
) -> Result<String, &'a str> {
    let value = |name: &str| given(name).map(str::trim).filter(|text| !text.is_empty());
    let mut required = prompt.arguments.iter().filter(|argument| argument.required);
    if let Some(missing) = required.find(|argument| value(&argument.name).is_none()) {
        return Err(&missing.name);
    }
    let filled = parts(&prompt.text).into_iter().map(|part| match part {
        Part::Text(text) => text,
        Part::Argument(name) => value(name).unwrap_or(NOT_GIVEN),
    });
    Ok(filled.collect())
}

impl Snapshot {
    /// Returns the prompts whose required capabilities are all loaded, each with the name under which it is
    /// listed.
    pub fn prompts(&self) -> impl Iterator<Item = (String, &Prompt)> {
        self.capabilities.values().flat_map(move |capability| {
            let is_usable = |prompt: &&Prompt| {
                prompt.requires.iter().all(|id| self.capabilities.contains_key(id.as_str()))
            };
            let prompts = capability.descriptor.prompts.iter().filter(is_usable);
            prompts.map(|prompt| (format!("{}.{}", capability.id, prompt.name), prompt))
        })
    }
}

pub(super) fn check_prompts(descriptor: &Descriptor, problems: &mut Problems) {
    let prompts = &descriptor.prompts;
    problems.add_duplicates("prompts", prompts.iter().map(|prompt| prompt.name.as_str()));
    for prompt in prompts {
        check_prompt(prompt, problems);
    }
}

fn check_prompt(prompt: &Prompt, problems: &mut Problems) {
    let at = format!("prompts.{}", excerpt(&prompt.name));
    let names: BTreeSet<_> =
        prompt.arguments.iter().map(|argument| argument.name.as_str()).collect();
    for name in names.iter().copied().chain([prompt.name.as_str()]) {
        if !is_snake_case(name) {
            let problem = format!("{:?} is not snake_case", excerpt(name));
            problems.add(&at, problem, "use lower-case letters, digits and _");
        }
    }
    problems.add_duplicates(&at, prompt.arguments.iter().map(|argument| argument.name.as_str()));
    check_text(&format!("{at}.title"), &prompt.title, 80, problems);
    check_text(&format!("{at}.description"), &prompt.description, 300, problems);
    check_text(&format!("{at}.text"), &prompt.text, 8_000, problems);
    for argument in &prompt.arguments {
        let at = format!("{at}.arguments.{}", excerpt(&argument.name));
        check_text(&at, &argument.description, 300, problems);
    }
    let used: BTreeSet<_> = parts(&prompt.text)
        .into_iter()
        .filter_map(|part| match part {
            Part::Argument(name) => Some(name),
            Part::Text(_) => None,
        })
        .collect();
    for name in used.symmetric_difference(&names) {
        problems.add(
            format!("{at}.text"),
            format!("{{{}}} is not both an argument and in the text", excerpt(name)),
            "declare each argument, and write each in braces where the text needs it",
        );
    }
    for id in &prompt.requires {
        if !is_capability_id(id) {
            let problem = format!("{:?} is not a capability id", excerpt(id));
            problems.add(format!("{at}.requires"), problem, "name capabilities by their ids");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_vocabulary::PromptArgument;

    fn prompt(text: &str) -> Prompt {
        let argument = |name: &str, required| PromptArgument {
            name: name.to_owned(),
            description: "Something.".to_owned(),
            required,
        };
        Prompt {
            name: "greet".to_owned(),
            title: "Greet".to_owned(),
            description: "Greets.".to_owned(),
            arguments: vec![argument("name", true), argument("mood", false)],
            text: text.to_owned(),
            requires: Vec::new(),
        }
    }

    #[test]
    fn arguments_are_replaced_once() {
        let prompt = prompt("Hello {name}, you are {mood}. {\"a\": {1}}");
        let given = |name: &str| (name == "name").then_some(" {mood} ");
        assert_eq!(
            fill_prompt(&prompt, given).unwrap(),
            "Hello {mood}, you are (not given). {\"a\": {1}}"
        );
        assert_eq!(fill_prompt(&prompt, |_| Some("  ")), Err("name"));
    }

    #[test]
    fn every_argument_is_used_and_declared() {
        let problems = |text: &str| {
            let mut problems = Problems::default();
            check_prompt(&prompt(text), &mut problems);
            problems.0.into_iter().map(|problem| problem.problem).collect::<Vec<_>>()
        };
        assert!(problems("{name} {mood}").is_empty());
        assert_eq!(problems("{name} {when}").len(), 2);
    }
}
