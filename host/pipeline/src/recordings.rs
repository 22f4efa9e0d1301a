//! The calls that are recorded: which are kept, and the queue of those that wait to be written.

use portolan_sandbox::{CallContext, Lost, RecordedRun, Session};
use portolan_vocabulary::{Digest, RecordingSettings, Timestamp};
use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, AtomicUsize, Ordering},
    },
};
use tokio::sync::mpsc;

/// The maximum number of recordings that wait to be written.
const QUEUED: usize = 256;
/// The maximum number of bytes of the recordings that wait to be written.
const QUEUED_BYTES: usize = 16 << 20;

/// The recordings of this node.
#[derive(Debug)]
pub struct Recordings {
    settings: RecordingSettings,
    sender: mpsc::Sender<KeptCall>,
    /// Taken by the task that writes.
    receiver: Mutex<Option<mpsc::Receiver<KeptCall>>>,
    queued_bytes: AtomicUsize,
    kept: AtomicU64,
    lost: Mutex<BTreeMap<Lost, u64>>,
}

/// A recorded call that waits to be written.
#[derive(Debug)]
pub(super) struct KeptCall {
    pub(super) at: Timestamp,
    pub(super) request_id: Arc<str>,
    /// `ok`, or the error code.
    pub(super) outcome: String,
    pub(super) failed: bool,
    pub(super) test_mode: bool,
    /// The outermost run first.
    pub(super) runs: Vec<RecordedRun>,
    size: usize,
}

impl Recordings {
    pub(super) fn new(settings: RecordingSettings) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUED);
        Self {
            settings,
            sender,
            receiver: Mutex::new(Some(receiver)),
            queued_bytes: AtomicUsize::new(0),
            kept: AtomicU64::new(0),
            lost: Mutex::default(),
        }
    }

    /// Returns the operator's settings.
    pub fn settings(&self) -> &RecordingSettings {
        &self.settings
    }

    /// Returns how many calls were recorded since the start, and how many were not, by reason.
    pub fn counts(&self) -> (u64, BTreeMap<&'static str, u64>) {
        let lost = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        let by_name = |lost_for: Lost| (lost_for.name(), lost.get(&lost_for).copied().unwrap_or(0));
        (self.kept.load(Ordering::Relaxed), Lost::ALL.map(by_name).into())
    }

    /// Begins the recording of a call; `None` if nothing is recorded.
    pub(super) fn begin(&self) -> Option<Arc<Session>> {
        let limit = usize::try_from(self.settings.call_bytes).unwrap_or(usize::MAX);
        self.settings.enabled.then(|| Arc::new(Session::new(limit)))
    }

    /// Keeps a call that has ended, if it failed through no fault of its caller or belongs to the share that is
    /// kept. Never waits.
    pub(super) fn keep(&self, context: &CallContext, code: Option<&str>) {
        let Some(session) = &context.session else { return };
        let is_sampled = self.is_sampled(&context.request_id);
        let runs = match session.finish() {
            Ok(runs) => runs,
            Err(lost) => {
                if is_sampled || code.is_some() {
                    self.count_lost(lost, 1);
                }
                return;
            }
        };
        let failed = runs.iter().any(is_failed);
        if runs.is_empty() || !(failed || is_sampled) {
            return;
        }
        let size = runs.iter().map(RecordedRun::size).sum();
        let call = KeptCall {
            at: context.now,
            request_id: Arc::clone(&context.request_id),
            outcome: code.unwrap_or("ok").to_owned(),
            failed,
            test_mode: context.caller.test_mode(),
            runs,
            size,
        };
        let queued = self.queued_bytes.fetch_add(size, Ordering::Relaxed);
        if queued + size > QUEUED_BYTES || self.sender.try_send(call).is_err() {
            self.queued_bytes.fetch_sub(size, Ordering::Relaxed);
            self.count_lost(Lost::Busy, 1);
        }
    }

    /// Returns whether a call belongs to the share that is kept.
    fn is_sampled(&self, request_id: &str) -> bool {
        let share = self.settings.share;
        if share <= 0.0 || share >= 1.0 {
            return share >= 1.0;
        }
        let hex = Digest::of(request_id.as_bytes()).hex();
        let drawn = hex.get(..8).and_then(|digits| u32::from_str_radix(digits, 16).ok());
        f64::from(drawn.unwrap_or(u32::MAX)) < share * f64::from(u32::MAX)
    }

    pub(super) fn count_lost(&self, lost: Lost, calls: u64) {
        let mut counts = self.lost.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(lost).or_default() += calls;
    }

    pub(super) fn count_kept(&self, calls: u64) {
        self.kept.fetch_add(calls, Ordering::Relaxed);
    }

    /// Returns the queue, for the one task that writes it.
    pub(super) fn take_queue(&self) -> Option<mpsc::Receiver<KeptCall>> {
        self.receiver.lock().unwrap_or_else(PoisonError::into_inner).take()
    }

    /// Notes that a call is no longer queued.
    pub(super) fn dequeue(&self, call: &KeptCall) {
        self.queued_bytes.fetch_sub(call.size, Ordering::Relaxed);
    }
}

/// Returns whether a run failed through no fault of its caller: it trapped, exceeded a limit, or answered what it has
/// not declared.
fn is_failed(run: &RecordedRun) -> bool {
    run.ending.is_fault_of_component() || (run.code.as_deref() == Some("capability_answer_invalid"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_of_calls_that_are_kept_is_the_one_of_the_settings() {
        let kept = |share: f64| {
            let recordings = Recordings::new(RecordingSettings { share, ..Default::default() });
            (0..10_000).filter(|number| recordings.is_sampled(&format!("req_{number}"))).count()
        };
        assert_eq!((kept(0.0), kept(1.0)), (0, 10_000));
        assert!((800..1_200).contains(&kept(0.1)), "{}", kept(0.1));
    }
}
