//! The states of sessions, of candidates and of rounds, and their transitions.

use crate::types::*;
use portolan_sdk::prelude::*;

#[choice(States, Default)]
pub(crate) enum State {
    /// There are candidates to decide on.
    Ready,
    /// There are no more candidates for now; the person is notified of new ones.
    #[default]
    Exhausted,
    Paused,
    /// The round has not run yet.
    Collecting,
    /// The round has found a partner; both sides have to confirm.
    Proposed,
    /// Both sides have confirmed.
    Paired,
    /// The round has found no partner, or one of the two declined.
    Unpaired,
    /// The round had too few participants.
    Cancelled,
    Closed,
    Expired,
}

use Candidacy::{Interested, Later, Mutual, New, Passed, Unavailable};
use RoundState::{Done, Open};
use State::{Cancelled, Closed, Collecting, Exhausted, Expired, Paired, Paused, Proposed};
use State::{Ready, Unpaired};

/// The states in which a session searches for candidates.
pub(crate) const SEARCHING: [State; 2] = [Ready, Exhausted];

/// The states of a session that can be closed.
const RUNNING: &[State] = &[Ready, Exhausted, Paused, Collecting];

impl State {
    /// Whether a session in this state counts towards the listing's limit of open sessions.
    pub(crate) fn is_open(self) -> bool {
        self == Proposed || RUNNING.contains(&self)
    }
}

pub(crate) const SESSION: Machine<State> = Machine::new(
    "session",
    &[
        Transition::new("create", &[], &[Ready, Exhausted, Collecting]),
        Transition::new("decide", &[Ready, Exhausted], &[Ready, Exhausted]),
        Transition::new("rank", &[Collecting], &[]),
        Transition::new("confirm", &[Proposed], &[Proposed, Paired, Unpaired]),
        Transition::new("refine", &[Ready, Exhausted], &[Ready, Exhausted]),
        Transition::new("pause", &[Ready, Exhausted], &[Paused]),
        Transition::new("resume", &[Paused], &[Ready, Exhausted]),
        Transition::new("close", RUNNING, &[Closed]),
        Transition::internal("on_listing_active", &[Ready, Exhausted], &[Ready]),
        Transition::internal("arrive", &[Ready, Exhausted], &[Ready]),
        Transition::internal("look", &[Ready, Exhausted], &[Ready, Exhausted]),
        Transition::internal("expire", &[Ready, Exhausted, Paused], &[Expired]),
        Transition::internal("run_round", &[Collecting], &[Proposed, Unpaired, Cancelled]),
        Transition::internal("end_round", &[Proposed], &[Unpaired, Paired]),
        Transition::internal("on_listing_ended", RUNNING, &[Closed]),
        // The session's own listing has ended, or that of a partner that the round has found.
        Transition::internal(
            "on_listing_ended",
            &[Proposed],
            &[Closed, Proposed, Paired, Unpaired],
        ),
    ],
)
.read_by(CAPABILITY, "get", "session_id");

#[choice(States)]
pub(crate) enum Candidacy {
    /// The candidate was shown, and the person has not decided yet.
    New,
    /// The session's owner is interested; the candidate is not told.
    Interested,
    Passed,
    Later,
    /// Both are interested.
    Mutual,
    /// The listing has ended, or its owner cannot be reached.
    Unavailable,
}

/// The states of a candidate who can still become unavailable.
pub(crate) const REACHABLE: &[Candidacy] = &[New, Interested, Passed, Later];

/// The states of a candidate. Reads are not recorded, so there is no state for having been seen.
pub(crate) const CANDIDATE: Machine<Candidacy> = Machine::new(
    "candidate",
    &[
        Transition::new("create", &[], &[New]),
        Transition::new(
            "decide",
            &[New, Later, Interested, Passed],
            &[Interested, Passed, Later, Mutual],
        ),
        Transition::internal("on_listing_ended", REACHABLE, &[Unavailable]),
        Transition::internal("on_listing_active", &[Passed, Unavailable], &[New]),
    ],
)
.read_by(CAPABILITY, "candidates", "session_id");

#[choice(States)]
pub(crate) enum RoundState {
    /// The round can be joined until its deadline.
    Open,
    Done,
    /// The round had too few participants.
    Cancelled,
}

pub(crate) const ROUND: Machine<RoundState> = Machine::new(
    "round",
    &[
        Transition::internal("open_round", &[], &[Open]),
        Transition::internal("run_round", &[Open], &[Done, RoundState::Cancelled]),
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_state_decides_the_allowed_actions() {
        assert_eq!(SESSION.allowed(Ready), ["decide", "refine", "pause", "close"]);
        assert_eq!(SESSION.allowed(Collecting), ["rank", "close"]);
        assert_eq!(SESSION.allowed(Proposed), ["confirm"]);
        assert!(SESSION.allowed(Closed).is_empty());
    }
}
