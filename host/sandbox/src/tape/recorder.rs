//! Keeps what a run asks the host.

use super::{
    policy::Policy,
    record::HostCall,
    session::{Lost, Session},
};
use serde_json::value::RawValue;
use std::{borrow::Cow, sync::Arc};

/// The recording of one run.
#[derive(Debug)]
pub struct Recorder {
    session: Arc<Session>,
    imports: Vec<HostCall>,
    lost: Option<Lost>,
}

impl Recorder {
    pub fn new(session: Arc<Session>) -> Self {
        Self { session, imports: Vec::new(), lost: None }
    }

    /// Returns the number of bytes that may still be kept; `None` if the run is not kept.
    pub(super) fn remaining(&self) -> Option<usize> {
        self.lost.is_none().then(|| self.session.remaining())
    }

    /// Keeps a call of a host function with its answer.
    pub(crate) fn record(
        &mut self,
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
        match self.session.take(import.size()) {
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
