//! Write a capability for a Portolan host as typed functions.
//!
//! A capability is an `impl` block; an action is a function in it. Input and output are ordinary
//! serde types, their JSON Schemas and the descriptor are derived from them and from the doc
//! comments, and nothing is written twice:
//!
//! ```
//! use portolan_sdk::prelude::*;
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Greet {
//!     /// A first name.
//!     #[schemars(length(min = 1, max = 60))]
//!     name: String,
//! }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Greeting {
//!     text: String,
//! }
//!
//! #[derive(Refusals)]
//! enum GreeterError {
//!     /// This greeter does not talk to robots.
//!     #[refusal(forbidden, next = Next::call("greeter").field("action", "people"))]
//!     RobotRefused,
//! }
//!
//! struct Greeter;
//!
//! /// Greets people by name.
//! #[capability(id = "greeter", title = "Greeter", tags = ["example"])]
//! impl Greeter {
//!     /// Greet one person.
//!     #[action(access = read, idempotent, example = Greet { name: "Ada".into() })]
//!     fn greet(_call: &Call, input: Greet) -> Result<Greeting, GreeterError> {
//!         if input.name == "HAL" {
//!             return Err(GreeterError::RobotRefused);
//!         }
//!         Ok(Greeting { text: format!("Hello, {}!", input.name) })
//!     }
//!
//!     /// Say whom this greeter knows.
//!     #[action(access = read, idempotent)]
//!     fn people(_call: &Call) -> Result<Greeting, Infallible> {
//!         Ok(Greeting { text: "Everybody but HAL.".into() })
//!     }
//! }
//! ```
//!
//! Build the crate as a `cdylib` for `wasm32-unknown-unknown` and turn the file into a component,
//! or build it for `wasm32-wasip2`, whose output is a component.
//!
//! [`documents`] stores data, [`migration`] gives stored documents a new form, [`states`] declares
//! states and transitions, and an [`entity`] is a document with states. [`pages`] is for lists,
//! [`limits`] for quotas, [`events`] for published events, [`feeds`] for the host's public records,
//! [`timers`] for later calls, [`invoke`] for nested calls, [`secrets`] for signatures and
//! encryption, and [`log`] for messages to the operator. The feature `test` adds the module `test`,
//! a world in which actions run without a host, and `matching` adds the module `matching`, which
//! tries queries against documents in memory.
//!
//! All effects of a call are committed together when the call succeeds. If it is refused, traps or
//! times out, none of them is.

mod action;
mod answer;
mod call;
mod consequence;
pub mod contract;
pub mod documents;
pub mod entity;
pub mod events;
pub mod feeds;
#[cfg(all(target_arch = "wasm32", not(target_feature = "atomics")))]
mod heap;
mod host_error;
#[cfg(not(target_arch = "wasm32"))]
mod imports;
#[cfg(any(feature = "matching", all(feature = "test", not(target_arch = "wasm32"))))]
mod index;
pub mod invoke;
pub mod limits;
pub mod log;
pub mod lookups;
#[cfg(feature = "matching")]
pub mod matching;
pub mod migration;
pub mod pages;
pub mod people;
pub mod patch;
mod person_page;
pub mod prompts;
pub mod secrets;
pub mod states;
#[cfg(all(feature = "test", not(target_arch = "wasm32")))]
pub mod test;
mod text;
pub mod time;
pub mod timers;

pub use action::{
    Declared, Head, INTENTS, NO_DRY_RUN, PUBLISHED, Published, TOOLS, Tool, WHILE_SUSPENDED,
    annotation, declare, given, report_panics, run, to_json, to_value, unknown_action,
};
pub use answer::{Answer, Next, NoInput, NoOutput, Outcome, Refusal, Refusals};
pub use call::Call;
pub use consequence::{BY_PERSON, CONSEQUENCE, Consequence};
pub use contract::HostError;
pub use host_error::RefuseOn;
pub use person_page::{PERSON_PAGE, PersonFile, PersonPage};
pub use portolan_codes::{CATEGORIES, ErrorCode};
pub use portolan_sdk_macros::{
    Refusals, States, capability, choice, document, entity, id, input, message, output,
};
pub use states::States;
pub use text::Text;

#[cfg(test)]
extern crate self as portolan_sdk;

/// The usual imports of a capability.
pub mod prelude {
    pub use crate::{
        Answer, Call, ErrorCode, HostError, Next, NoOutput, Refusal, Refusals, RefuseOn, States,
        Text, capability, choice, document,
        documents::{
            Collection, Expect, Filter, Hit, Page, Query, Stored, all_of, any_of, field, not,
        },
        entity::{Entity, Version, Visible, ensure_version},
        events::{Audience, Data, Event, Happened, Resource},
        id, input,
        invoke::Invocation,
        limits::{DailyLimit, Day, Limit, Window, quota},
        log, message, output,
        pages::{Items, PageInput},
        prompts::{Argument, Prompt},
        states::{Machine, Transition},
        time::{self, DAY, HOUR, MINUTE, SECOND, rfc3339},
        timers, view,
    };
    pub use portolan_sdk_macros::entity;
    pub use schemars::{self, JsonSchema};
    pub use serde::{self, Deserialize, Serialize};
    pub use serde_json::{Value, json};
    pub use std::convert::Infallible;
}
