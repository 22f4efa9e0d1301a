//! The calls of host functions of a run with their answers: recorded while it runs, and answered again in a replay.
//!
//! - `record`: a recorded run as it is stored
//! - `json`: arguments and answers as JSON, bounded, or as a keyed digest
//! - `session`: the recorded runs of one call
//! - `recorder`: keeps what a run asks
//! - `player`: answers a run from a record
//! - `policy`: what a replay does with a question that the record does not have

mod json;
mod player;
mod policy;
mod record;
mod recorder;
mod session;

pub use player::{Divergence, Player};
pub use record::{Ending, HostCall, LoggedLine, RecordedCaller, RecordedRun};
pub use recorder::Recorder;
pub use session::{Finished, Lost, Session};

pub(super) use json::{as_json, as_keyed_digest};
pub(super) use player::play;
pub(super) use policy::Policy;

/// Whether a run is recorded or replayed.
#[derive(Debug, Default)]
pub enum Tape {
    #[default]
    Off,
    Recording(Recorder),
    Replaying(Box<Player>),
}

impl Tape {
    /// Returns the number of bytes that a call of a host function may take as JSON; `None` if none is needed. `session`
    /// is that of a recorded call.
    pub(super) fn json_limit(&self, session: Option<&Session>) -> Option<usize> {
        match self {
            Self::Off => None,
            Self::Recording(recorder) => recorder.remaining(session?),
            Self::Replaying(player) => Some(player.limit()),
        }
    }
}
