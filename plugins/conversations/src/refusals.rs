//! The refusals, each with the next step that helps.

use crate::{documents::*, types::*};
use people_kit::threads::ThreadError;
use portolan_sdk::{entity::Duplicate, prelude::*};

pub(crate) type Result<T, E = ConversationError> = std::result::Result<T, E>;

#[derive(Debug, Refusals)]
pub(crate) enum ConversationError {
    #[refusal(transparent)]
    Thread(ThreadError),
    /// There is no such message, or it is not visible to you.
    #[refusal(not_found, next = list())]
    MessageNotFound,
    /// The message was sent more than 15 minutes ago and can no longer be changed. You can still retract it.
    #[refusal(
        conflict,
        conflict_detail = Limit::passed("edit_window", EDIT_WINDOW),
        next = get(&thread_id)
    )]
    EditWindowPassed { thread_id: String },
    /// Another message was sent under this client_msg_id. Use a new one for each message.
    #[refusal(
        unprocessable,
        conflict_detail = Duplicate::new(existing_id, existing_state),
        next = messages(&thread_id, seq)
    )]
    ClientMsgIdReused {
        thread_id: String,
        seq: u64,
        existing_id: String,
        existing_state: &'static str,
    },
    /// This person takes part already, or was invited.
    #[refusal(
        conflict,
        conflict_detail = Duplicate::new(existing_id, existing_state),
        next = get(&thread_id)
    )]
    AlreadyMember { thread_id: String, existing_id: String, existing_state: &'static str },
    /// The conversation has reached its limit of members, or of people who were ever invited.
    #[refusal(
        conflict,
        conflict_detail = Limit::reached("members", MOST_MEMBERS as u64),
        next = get(&thread_id)
    )]
    MemberLimitReached { thread_id: String },
    /// There is no such person.
    #[refusal(not_found, next = get(&thread_id))]
    OwnerNotFound { thread_id: String },
    #[refusal(transparent)]
    Common(Refusal),
}

/// Makes a common refusal; its next step reads the thread.
pub(crate) fn refused(code: ErrorCode, message: &str, thread_id: &str) -> ConversationError {
    ConversationError::Common(Refusal::common(code, message).next(get(thread_id)))
}

pub(crate) fn list() -> Next {
    Next::action(CAPABILITY, "list")
}

pub(crate) fn get(thread_id: &str) -> Next {
    Next::action(CAPABILITY, "get").field("thread_id", thread_id)
}

/// Returns the call that reads the message with this number, and those after it.
pub(crate) fn messages(thread_id: &str, seq: u64) -> Next {
    let next = Next::action(CAPABILITY, "messages");
    next.field("thread_id", thread_id).field("after", seq.saturating_sub(1))
}
