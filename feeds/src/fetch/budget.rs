//! What all answers of one source may cost in one build.

use super::{error::FetchError, limits::Limits};
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// The time and the bytes that one source has left.
#[derive(Debug)]
pub struct Budget {
    time: Duration,
    bytes: usize,
    left: Mutex<(Duration, usize)>,
}

impl Budget {
    pub fn new(limits: &Limits) -> Self {
        let Limits { source: time, source_bytes: bytes, .. } = *limits;
        Self { time, bytes, left: Mutex::new((time, bytes)) }
    }

    fn left(&self) -> (Duration, usize) {
        *self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn time_left(&self) -> Duration {
        self.left().0
    }

    pub(super) fn bytes_left(&self) -> usize {
        self.left().1
    }

    /// Returns whether less than half of the time is left: what can wait for the next build should.
    pub fn is_short(&self) -> bool {
        self.time_left() < self.time / 2
    }

    pub(super) fn spend(&self, time: Duration) {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.0 = left.0.saturating_sub(time);
    }

    pub(super) fn over(&self) -> FetchError {
        FetchError::TooLong(self.time.as_secs())
    }

    /// Takes the bytes of an answer. If it was too large only because few bytes are left, the error says so.
    pub(super) fn bytes_of(
        &self,
        answer: Result<Vec<u8>, FetchError>,
    ) -> Result<Vec<u8>, FetchError> {
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        match answer {
            Ok(body) => {
                left.1 = left.1.saturating_sub(body.len());
                Ok(body)
            }
            Err(FetchError::TooLarge(most)) if most == left.1 => {
                Err(FetchError::TooMuch(self.bytes))
            }
            Err(error) => Err(error),
        }
    }
}
