//! Ways to begin that people can choose from: each is there as long as the capabilities that it needs
//! are.

use portolan_catalog::Snapshot;
use rmcp::{
    ErrorData,
    model::{GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role},
};

/// A text with places for what the person says.
struct Beginning {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    needs: &'static [&'static str],
    arguments: &'static [Argument],
    text: &'static str,
}

struct Argument {
    name: &'static str,
    description: &'static str,
    required: bool,
}

const BEGINNINGS: [Beginning; 3] = [
    Beginning {
        name: "find_people",
        title: "Find people",
        description: "Find people who offer or seek what you need, and see why they fit.",
        needs: &["agent_listings", "listing_taxonomy"],
        arguments: &[
            Argument {
                name: "looking_for",
                description: "Whom or what you are looking for, and where.",
                required: true,
            },
            Argument {
                name: "about_me",
                description: "What they should know of you.",
                required: false,
            },
        ],
        text: include_str!("prompts/find_people.md"),
    },
    Beginning {
        name: "publish_listing",
        title: "Publish a listing",
        description: "Let others find what you offer or seek.",
        needs: &["agent_listings", "listing_taxonomy"],
        arguments: &[Argument {
            name: "listing",
            description: "What you offer or seek, in your own words.",
            required: true,
        }],
        text: include_str!("prompts/publish_listing.md"),
    },
    Beginning {
        name: "prepare_meeting",
        title: "Prepare a meeting",
        description: "Find a time with the people you talk with, and know what it is about.",
        needs: &["calendar", "conversations", "thread_meetings"],
        arguments: &[
            Argument { name: "with", description: "Whom you want to meet.", required: true },
            Argument {
                name: "when",
                description: "Which days and hours suit you.",
                required: false,
            },
        ],
        text: include_str!("prompts/prepare_meeting.md"),
    },
];

impl Beginning {
    fn can(&self, snapshot: &Snapshot) -> bool {
        self.needs.iter().all(|id| snapshot.capabilities.contains_key(*id))
    }

    fn prompt(&self) -> Prompt {
        let argument = |it: &Argument| {
            PromptArgument::new(it.name).with_description(it.description).with_required(it.required)
        };
        let arguments = self.arguments.iter().map(argument).collect();
        Prompt::new(self.name, Some(self.description), Some(arguments)).with_title(self.title)
    }

    /// The text with the person's words in it.
    fn fill(&self, arguments: &JsonObject) -> Result<String, ErrorData> {
        let mut text = self.text.to_owned();
        for argument in self.arguments {
            let given = arguments.get(argument.name).and_then(|it| it.as_str()).map(str::trim);
            let given = match given.filter(|it| !it.is_empty()) {
                Some(given) => given,
                None if argument.required => {
                    let text = format!("the argument {} is missing", argument.name);
                    return Err(ErrorData::invalid_params(text, None));
                }
                None => "(not said)",
            };
            text = text.replace(&format!("{{{}}}", argument.name), given);
        }
        Ok(text)
    }
}

pub(super) fn list(snapshot: &Snapshot) -> Vec<Prompt> {
    BEGINNINGS.iter().filter(|it| it.can(snapshot)).map(Beginning::prompt).collect()
}

pub(super) fn get(
    snapshot: &Snapshot,
    name: &str,
    arguments: &JsonObject,
) -> Result<GetPromptResult, ErrorData> {
    let found = BEGINNINGS.iter().find(|it| it.name == name && it.can(snapshot));
    let found = found
        .ok_or_else(|| ErrorData::invalid_params(format!("there is no prompt {name}"), None))?;
    let message = PromptMessage::new_text(Role::User, found.fill(arguments)?);
    Ok(GetPromptResult::new(vec![message]).with_description(found.description))
}
