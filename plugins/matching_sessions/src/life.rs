//! The states of sessions, of candidates and of rounds, and which action leads where.

use crate::types::*;
use portolan_sdk::prelude::*;

#[choice(States)]
pub(crate) enum State {
    /// There are candidates to decide on.
    Ready,
    /// There is nobody new; whoever comes later is told.
    Exhausted,
    Paused,
    /// The round has not run yet.
    Collecting,
    /// The round has found somebody; both sides say whether they want it.
    Proposed,
    /// Both do.
    Paired,
    /// The round has found nobody, or one of the two does not want it.
    Unpaired,
    /// Too few took part in the round.
    Cancelled,
    Closed,
    Expired,
}

use State::{
    Cancelled, Closed, Collecting, Exhausted, Expired, Paired, Paused, Proposed, Ready, Unpaired,
};

/// Where a session looks for candidates by itself.
pub(crate) const LOOKING: [State; 2] = [Ready, Exhausted];

impl State {
    /// Whether it counts among the listing's sessions.
    pub(crate) fn is_open(self) -> bool {
        matches!(self, Ready | Exhausted | Paused | Collecting | Proposed)
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
        Transition::new("close", &[Ready, Exhausted, Paused, Collecting], &[Closed]),
        Transition::internal("on_listing_active", &[Ready, Exhausted], &[Ready]),
        Transition::internal("arrive", &[Ready, Exhausted], &[Ready]),
        Transition::internal("look", &[Ready, Exhausted], &[Ready, Exhausted]),
        Transition::internal("expire", &[Ready, Exhausted, Paused], &[Expired]),
        Transition::internal("run_round", &[Collecting], &[Proposed, Unpaired, Cancelled]),
        Transition::internal("end_round", &[Proposed], &[Unpaired, Paired]),
        Transition::internal(
            "on_listing_ended",
            &[Ready, Exhausted, Paused, Collecting],
            &[Closed],
        ),
        // Its own listing, or that of somebody whom the round has found for it.
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
    /// In a batch, and not decided on.
    New,
    /// Nobody but the session's person knows.
    Interested,
    Passed,
    Later,
    /// Both are interested.
    Mutual,
    /// The listing is over, or its person cannot be reached.
    Unavailable,
}

/// What becomes of a candidate; reads leave no trace, so there is no state for having been seen.
pub(crate) const CANDIDATE: Machine<Candidacy> = Machine::new(
    "candidate",
    &[
        Transition::new("create", &[], &[Candidacy::New]),
        Transition::new(
            "decide",
            &[Candidacy::New, Candidacy::Later, Candidacy::Interested, Candidacy::Passed],
            &[Candidacy::Interested, Candidacy::Passed, Candidacy::Later, Candidacy::Mutual],
        ),
        Transition::internal(
            "on_listing_ended",
            &[Candidacy::New, Candidacy::Interested, Candidacy::Passed, Candidacy::Later],
            &[Candidacy::Unavailable],
        ),
        Transition::internal(
            "on_listing_active",
            &[Candidacy::Passed, Candidacy::Unavailable],
            &[Candidacy::New],
        ),
    ],
)
.read_by(CAPABILITY, "candidates", "session_id");

#[choice(States)]
pub(crate) enum RoundState {
    /// Takes listings until its deadline.
    Open,
    Done,
    /// Too few took part.
    Cancelled,
}

pub(crate) const ROUND: Machine<RoundState> = Machine::new(
    "round",
    &[
        Transition::internal("open_round", &[], &[RoundState::Open]),
        Transition::internal(
            "run_round",
            &[RoundState::Open],
            &[RoundState::Done, RoundState::Cancelled],
        ),
    ],
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tables_are_sound() {
        for faults in [SESSION.faults(), CANDIDATE.faults(), ROUND.faults()] {
            assert_eq!(faults, Vec::<String>::new());
        }
    }

    #[test]
    fn what_agents_may_do_follows_from_the_state() {
        assert_eq!(SESSION.allowed(Ready), ["decide", "refine", "pause", "close"]);
        assert_eq!(SESSION.allowed(Collecting), ["rank", "close"]);
        assert_eq!(SESSION.allowed(Proposed), ["confirm"]);
        assert!(SESSION.allowed(Closed).is_empty());
    }
}
