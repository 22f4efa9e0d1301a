//! Prompts, which clients of the Model Context Protocol offer to people.
//!
//! ```
//! use portolan_sdk::prelude::*;
//!
//! const LEND: Prompt = Prompt::new(
//!     "lend_a_book",
//!     "Lend a book",
//!     "Find a book and lend it.",
//!     "Find {title} with `search` and lend it to me. I need it until {until}.",
//! )
//! .arguments(&[
//!     Argument::required("title", "What the book is called."),
//!     Argument::optional("until", "How long you need it."),
//! ]);
//!
//! assert_eq!(LEND.declaration().arguments.len(), 2);
//! ```
//!
//! `#[capability(…, prompts = [LEND])]` puts the prompt into the descriptor.

use crate::contract::description;

/// A request to an agent that a person chooses from a list, declared as a constant.
#[derive(Debug, Clone, Copy)]
pub struct Prompt {
    name: &'static str,
    title: &'static str,
    description: &'static str,
    text: &'static str,
    arguments: &'static [Argument],
    requires: &'static [&'static str],
}

/// An argument that a person fills in when they choose a prompt.
#[derive(Debug, Clone, Copy)]
pub struct Argument {
    name: &'static str,
    description: &'static str,
    required: bool,
}

impl Argument {
    pub const fn required(name: &'static str, description: &'static str) -> Self {
        Self { name, description, required: true }
    }

    pub const fn optional(name: &'static str, description: &'static str) -> Self {
        Self { name, description, required: false }
    }
}

impl Prompt {
    /// Makes a prompt with a name in `snake_case`, a title of a few words, a description of one sentence and
    /// a text in CommonMark, in which `{name}` stands for an argument.
    pub const fn new(
        name: &'static str,
        title: &'static str,
        description: &'static str,
        text: &'static str,
    ) -> Self {
        Self { name, title, description, text, arguments: &[], requires: &[] }
    }

    /// Sets the arguments; each must be in the text.
    #[must_use]
    pub const fn arguments(mut self, arguments: &'static [Argument]) -> Self {
        self.arguments = arguments;
        self
    }

    /// Names the other capabilities that the text relies on.
    #[must_use]
    pub const fn requires(mut self, ids: &'static [&'static str]) -> Self {
        self.requires = ids;
        self
    }

    /// Returns the descriptor's record of this prompt.
    pub fn declaration(&self) -> description::Prompt {
        let argument = |argument: &Argument| description::PromptArgument {
            name: argument.name.into(),
            description: argument.description.into(),
            required: argument.required,
        };
        description::Prompt {
            name: self.name.into(),
            title: self.title.into(),
            description: self.description.into(),
            arguments: self.arguments.iter().map(argument).collect(),
            text: self.text.into(),
            requires: self.requires.iter().map(|&id| id.into()).collect(),
        }
    }
}
