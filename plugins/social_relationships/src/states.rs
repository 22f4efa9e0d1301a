//! The states of relationships, and their transitions. The subject is the person who follows, asks
//! to connect, blocks or mutes; the object is the other side.

use crate::types::{CAPABILITY, Kind, Request};
use portolan_sdk::prelude::*;

pub(crate) const SUBJECT: &str = "subject";
pub(crate) const OBJECT: &str = "object";

/// The state of a follow or a connection.
#[choice(States)]
pub(crate) enum State {
    /// There is no such relationship, or it has ended.
    None,
    /// The object has not answered yet.
    Requested,
    Active,
}

/// The state of a block or a mute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, States)]
pub(crate) enum Hold {
    None,
    Active,
}

use State::{Active, Requested};

pub(crate) const FOLLOW: Machine<State> = Machine::new(
    "follow",
    &[
        Transition::new("follow", &[State::None], &[Requested, Active]).by(SUBJECT),
        Transition::new("accept", &[Requested], &[Active]).by(OBJECT),
        Transition::new("reject", &[Requested, Active], &[State::None]).by(OBJECT),
        Transition::new("unfollow", &[Requested, Active], &[State::None]).by(SUBJECT),
        Transition::new("block", &[Requested, Active], &[State::None]),
    ],
)
.read_by(CAPABILITY, "get", "owner_id");

pub(crate) const CONNECT: Machine<State> = Machine::new(
    "connect",
    &[
        Transition::new("connect", &[State::None], &[Requested]).by(SUBJECT),
        Transition::new("accept", &[Requested], &[Active]).by(OBJECT),
        Transition::new("reject", &[Requested], &[State::None]).by(OBJECT),
        Transition::new("disconnect", &[Requested, Active], &[State::None]),
        Transition::new("block", &[Requested, Active], &[State::None]),
    ],
)
.read_by(CAPABILITY, "get", "owner_id");

const fn begin(action: &'static str) -> Transition<Hold> {
    Transition::new(action, &[Hold::None], &[Hold::Active])
}

const fn end(action: &'static str) -> Transition<Hold> {
    Transition::new(action, &[Hold::Active], &[Hold::None])
}

pub(crate) const BLOCK: Machine<Hold> =
    Machine::new("block", &[begin("block"), end("unblock")]).read_by(CAPABILITY, "get", "owner_id");
pub(crate) const MUTE: Machine<Hold> =
    Machine::new("mute", &[begin("mute"), end("unmute")]).read_by(CAPABILITY, "get", "owner_id");

/// Returns the table of a follow or a connection.
pub(crate) fn machine(kind: Request) -> &'static Machine<State> {
    match kind {
        Request::Follow => &FOLLOW,
        Request::Connect => &CONNECT,
    }
}

/// Returns the actions that one side may take on a relationship now.
pub(crate) fn allowed(kind: Kind, role: &str, state: State) -> Vec<&'static str> {
    let hold = if state == Active { Hold::Active } else { Hold::None };
    match kind {
        Kind::Follow => FOLLOW.allowed_as(role, state),
        Kind::Connect => CONNECT.allowed_as(role, state),
        Kind::Block => BLOCK.allowed_as(role, hold),
        Kind::Mute => MUTE.allowed_as(role, hold),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_has_its_own_actions() {
        assert_eq!(FOLLOW.allowed_as(SUBJECT, Requested), ["unfollow", "block"]);
        assert_eq!(FOLLOW.allowed_as(OBJECT, Requested), ["accept", "reject", "block"]);
        assert_eq!(FOLLOW.allowed_as(OBJECT, Active), ["reject", "block"]);
        assert_eq!(CONNECT.allowed_as(SUBJECT, Requested), ["disconnect", "block"]);
        assert_eq!(CONNECT.allowed_as(OBJECT, Active), ["disconnect", "block"]);
    }
}
