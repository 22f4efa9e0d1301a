//! The prompt with which people start to arrange a meeting.

use portolan_sdk::prelude::*;

pub(crate) const PREPARE_MEETING: Prompt = Prompt::new(
    "prepare_meeting",
    "Prepare a meeting",
    "Find a time with people you have a conversation with, and prepare the subject.",
    include_str!("../prompts/prepare_meeting.md"),
)
.arguments(&[
    Argument::required("with", "Whom you want to meet."),
    Argument::optional("when", "Which days and hours suit you."),
])
.requires(&["calendar", "conversations"]);
