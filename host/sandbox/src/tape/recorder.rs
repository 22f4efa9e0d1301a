//! Keeps what a run asks the host.

use super::{
    policy::Policy,
    record::HostCall,
    session::{Lost, Session},
};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The recording of one run, which takes its room from the session of the call.
#[derive(Debug, Default)]
pub struct Recorder {
    imports: Vec<HostCall>,
    lost: Option<Lost>,
}

impl Recorder {
    /// Returns the number of bytes that may still be kept; `None` if the run is not kept.
    pub(super) fn remaining(&self, session: &Session) -> Option<usize> {
        self.lost.is_none().then(|| session.remaining())
    }

    /// Keeps a call of a host function with its answer.
    pub(crate) fn record(
        &mut self,
        session: &Session,
        function: &'static str,
        policy: Policy,
        (arguments, answer): (Option<Box<RawValue>>, Option<Box<RawValue>>),
    ) {
        if self.lost.is_some() {
            return;
        }
        if policy.gives_secret {
            return self.lose(Lost::Secret);
        }
        let (Some(arguments), Some(answer)) = (arguments, answer) else {
            return self.lose(Lost::TooLarge);
        };
        let function = Cow::Borrowed(function);
        let import = HostCall { function, effect: policy.is_effect, arguments, answer };
        match session.take(import.size()) {
            true => self.imports.push(import),
            false => self.lose(Lost::TooLarge),
        }
    }

    fn lose(&mut self, lost: Lost) {
        self.lost = Some(lost);
        self.imports = Vec::new();
    }

    /// Returns all calls of the run, or the reason why they were not kept.
    pub fn finish(self) -> Result<Vec<HostCall>, Lost> {
        self.lost.map_or(Ok(self.imports), Err)
    }
}
