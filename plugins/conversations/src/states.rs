//! The states of threads, of memberships and of messages, and their transitions.

use people_kit::threads::ThreadState;
use portolan_sdk::prelude::*;

/// The role of a person who takes part in a thread.
pub(crate) const MEMBER: &str = "member";
/// The role of a person who was invited.
pub(crate) const INVITED: &str = "invited";
/// The role of the person who wrote a message.
pub(crate) const SENDER: &str = "sender";
/// The role of a person to whom a message was sent.
pub(crate) const RECIPIENT: &str = "recipient";

#[choice(States, Default)]
pub(crate) enum Membership {
    /// Not everybody in the thread has consented yet; the person does not know about it.
    #[default]
    Proposed,
    /// The person was invited and has not answered yet.
    Invited,
    Joined,
    Declined,
    Left,
    Removed,
}

#[choice(States, Default)]
pub(crate) enum MessageState {
    /// The message is stored in the thread.
    #[default]
    Accepted,
    /// The agents of all others in the thread have confirmed that they have it.
    Delivered,
    /// All others in the thread have confirmed that they read it.
    Read,
    /// The text was changed; receipts for the old text no longer count.
    Edited,
    /// The sender has retracted the message. Its number stays, its text is deleted.
    Retracted,
    /// The operator has removed the message. Its number stays, its text is deleted.
    Removed,
}

use Membership::{Declined, Invited, Joined, Left, Proposed};
use MessageState::{Accepted, Delivered, Edited, Read, Retracted};
use ThreadState::{Archived, Closed, Frozen, Open};

const ANY: &[ThreadState] = &[Open, Frozen, Closed, Archived];
const NOT_CLOSED: &[ThreadState] = &[Open, Frozen, Archived];

/// The states of a thread. `frozen` differs from person to person: a person sees it if not all
/// others accept messages from them. So the transitions of the subscriptions `on_…` below change
/// the state that people see, and not the stored one.
pub(crate) const THREAD: Machine<ThreadState> = Machine::new(
    "thread",
    &[
        Transition::internal("open", &[], &[Open]),
        Transition::new("send", &[Open, Archived], &[Open]).by(MEMBER),
        Transition::new("edit", &[Open, Archived], &[]).by(MEMBER),
        Transition::new("retract", ANY, &[]).by(MEMBER),
        Transition::new("mark_delivered", ANY, &[]).by(MEMBER),
        Transition::new("mark_read", ANY, &[]).by(MEMBER),
        Transition::new("invite", &[Open, Archived], &[]).by(MEMBER),
        Transition::new("consent", NOT_CLOSED, &[]).by(MEMBER),
        Transition::new("remove", NOT_CLOSED, &[]).by(MEMBER),
        Transition::new("accept", &[Open, Archived], &[]).by(INVITED),
        Transition::new("decline", ANY, &[]).by(INVITED),
        Transition::new("mute", ANY, &[]).by(MEMBER),
        Transition::new("unmute", ANY, &[]).by(MEMBER),
        Transition::new("archive", ANY, &[]).by(MEMBER),
        Transition::new("unarchive", ANY, &[]).by(MEMBER),
        Transition::new("leave", NOT_CLOSED, &[Open, Frozen, Archived, Closed]).by(MEMBER),
        Transition::new("leave", &[Closed], &[]).by(MEMBER),
        Transition::new("close", NOT_CLOSED, &[Closed]).by(MEMBER),
        Transition::internal("post", &[Open, Archived], &[Open]),
        Transition::internal("end", ANY, &[Closed]),
        Transition::internal("rest", &[Open], &[Archived]),
        Transition::internal("suspend", NOT_CLOSED, &[Frozen]),
        Transition::internal("reinstate", &[Frozen], &[Open]),
        Transition::internal("on_block_changed", NOT_CLOSED, NOT_CLOSED),
        Transition::internal("on_person_changed", NOT_CLOSED, NOT_CLOSED),
    ],
)
.read_by("conversations", "get", "thread_id");

pub(crate) const MEMBERSHIP: Machine<Membership> = Machine::new(
    "membership",
    &[
        Transition::internal("open", &[], &[Joined]),
        Transition::new("invite", &[Declined, Left, Membership::Removed], &[Proposed, Invited]),
        Transition::new("consent", &[Proposed], &[Proposed, Invited, Membership::Removed]),
        Transition::new("accept", &[Invited], &[Joined]),
        Transition::new("decline", &[Invited], &[Declined]),
        Transition::new("leave", &[Joined], &[Left]),
        Transition::new("remove", &[Proposed, Invited, Joined], &[Membership::Removed]),
        Transition::internal("on_org_changed", &[], &[Joined]),
        Transition::internal("on_org_changed", &[Joined], &[Membership::Removed]),
        Transition::internal("on_org_changed", &[Membership::Removed], &[Joined]),
    ],
)
.read_by("conversations", "get", "thread_id");

pub(crate) const MESSAGE: Machine<MessageState> = Machine::new(
    "message",
    &[
        Transition::new("send", &[], &[Accepted]),
        Transition::new("mark_delivered", &[Accepted], &[Delivered]).by(RECIPIENT),
        Transition::new("mark_read", &[Accepted, Delivered], &[Read]).by(RECIPIENT),
        Transition::new("edit", &[Accepted, Delivered, Read, Edited], &[Edited]).by(SENDER),
        Transition::new("retract", &[Accepted, Delivered, Read, Edited], &[Retracted]).by(SENDER),
        Transition::internal("post", &[], &[Accepted]),
        Transition::internal(
            "remove_message",
            &[Accepted, Delivered, Read, Edited],
            &[MessageState::Removed],
        ),
    ],
);

impl Membership {
    /// Whether the thread is visible to the person.
    pub(crate) fn can_see(self) -> bool {
        matches!(self, Invited | Joined)
    }

    /// Whether the membership counts towards the thread's limit of members.
    pub(crate) fn is_counted(self) -> bool {
        matches!(self, Proposed | Invited | Joined)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frozen_and_closed_threads_accept_no_text() {
        for state in [Frozen, Closed] {
            let allowed = THREAD.allowed_as(MEMBER, state);
            for action in ["send", "edit", "invite"] {
                assert!(!allowed.contains(&action), "{action} {state:?}");
            }
            assert!(allowed.contains(&"leave") && allowed.contains(&"mark_read"));
        }
    }

    #[test]
    fn a_tombstone_allows_nothing() {
        for state in [Retracted, MessageState::Removed] {
            assert_eq!(MESSAGE.allowed(state), Vec::<&str>::new());
        }
        assert_eq!(MESSAGE.allowed_as(SENDER, Edited), ["edit", "retract"]);
        assert_eq!(MESSAGE.allowed_as(RECIPIENT, Accepted), ["mark_delivered", "mark_read"]);
    }
}
