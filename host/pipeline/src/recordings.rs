//! The calls that are recorded: which are kept, and the queue of those that wait to be written.

use portolan_sandbox::{CallContext, Ending, Finished, Lost, RecordedRun, Session};
use portolan_vocabulary::{RecordingSettings, Timestamp};
use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash as _, Hasher as _},
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

    /// Begins the recording of the call of this request; `None` if nothing is recorded.
    pub(super) fn begin(&self, request_id: &str) -> Option<Session> {
        let limit = usize::try_from(self.settings.call_bytes).unwrap_or(usize::MAX);
        let session = || Session::new(limit, self.is_sampled(request_id));
        self.settings.enabled.then(session)
    }

    /// Keeps a call that has ended, if it failed through no fault of its caller or belongs to the share that is
    /// kept. Never waits.
    pub(super) fn keep(&self, context: &CallContext, code: Option<&str>) {
        let Some(session) = context.session() else { return };
        let Finished { runs, failed } = match session.finish() {
            Ok(finished) => finished,
            Err(lost) => {
                if session.is_sampled() || code.is_some() {
                    self.count_lost(lost, 1);
                }
                return;
            }
        };
        if runs.is_empty() || !(failed || session.is_sampled()) {
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
        let mut hasher = DefaultHasher::new();
        request_id.hash(&mut hasher);
        let drawn = u32::try_from(hasher.finish() >> 32).unwrap_or(u32::MAX);
        f64::from(drawn) < share * f64::from(u32::MAX)
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

/// Returns whether a run that ended like this failed through no fault of its caller: it trapped, exceeded a limit, or
/// answered what it has not declared.
pub(super) fn is_failed_by_component(ending: &Ending, code: Option<&str>) -> bool {
    ending.is_fault_of_component() || code == Some("capability_answer_invalid")
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
