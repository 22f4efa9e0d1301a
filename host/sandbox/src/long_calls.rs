//! Long calls: the threads in which a call goes on after its first milliseconds of computing.
//!
//! A call starts in the thread that received it. A call that is still computing after [`UNMEASURED_TIME`] and
//! [`LONG_CALL_TIME`] goes on in threads of a lower priority, of which there are as many as processors: on an idle
//! machine it is as fast as before, and on a busy one the operating system lets short calls and the rest of
//! the host go first. The calls of a component whose calls are mostly long start in these threads. On a
//! system without priorities for single threads, long calls only have threads of their own.

use crate::{processor::thread_time, state::CallState};
use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering},
    },
    task::Poll,
    time::{Duration, Instant},
};
use tokio::{
    runtime::{Builder, Handle, Runtime},
    task::JoinHandle,
};
use tokio_util::task::AbortOnDropHandle;
use tracing::{Instrument as _, instrument::WithSubscriber as _};
use wasmtime::{Store, UpdateDeadline};

/// The number of epochs after which a guest is first interrupted and measured. It is not one, because the
/// current epoch can end right after the start.
const UNINTERRUPTED_EPOCHS: u64 = 2;
/// The time for which a call runs before its computing time is measured: reading the clock of a thread is
/// too slow to be done in every call.
const UNMEASURED_TIME: Duration = Duration::from_millis(1);
/// The computing time, measured after the free time, that makes a call long. Waiting for a processor
/// does not count.
const LONG_CALL_TIME: Duration = Duration::from_millis(1);

/// The threads of long calls.
pub(super) struct LongCalls {
    /// `None` while this value is being dropped.
    runtime: Option<Runtime>,
}

/// The computing time of one call, and whether the call is long by now.
#[derive(Debug, Clone, Default)]
pub(super) struct Computing(Arc<Measured>);

/// Only the thread that polls the call writes these.
#[derive(Debug, Default)]
struct Measured {
    is_long: AtomicBool,
    /// The measured computing time in nanoseconds.
    total: AtomicU64,
    /// The clock of the current thread at the last reading of the current poll; 0 before the first reading.
    last: AtomicU64,
}

impl Computing {
    /// Interrupts the guest of this store regularly from now on, measures its computing time, lets it yield once
    /// its call is long, and ends it when `time` has passed.
    pub(super) fn watch(&self, store: &mut Store<CallState>, time: Duration) {
        let (computing, started) = (self.clone(), Instant::now());
        store.set_epoch_deadline(UNINTERRUPTED_EPOCHS);
        store.epoch_deadline_callback(move |_context| {
            computing.read();
            Ok(match computing.is_long() {
                true if started.elapsed() >= time => UpdateDeadline::Interrupt,
                true => UpdateDeadline::Yield(1),
                false => UpdateDeadline::Continue(1),
            })
        });
    }

    /// Returns the measured computing time so far.
    fn total(&self) -> Duration {
        Duration::from_nanos(self.0.total.load(Ordering::Relaxed))
    }

    fn is_long(&self) -> bool {
        self.0.is_long.load(Ordering::Relaxed)
    }

    /// Adds what the current thread computed since the last reading of this poll. The first reading adds
    /// nothing.
    fn read(&self) {
        let now = thread_time();
        let last = self.0.last.swap(now, Ordering::Relaxed);
        if last != 0 {
            let total = self.0.total.fetch_add(now.saturating_sub(last), Ordering::Relaxed);
            let total = Duration::from_nanos(total + now.saturating_sub(last));
            if total >= LONG_CALL_TIME {
                self.0.is_long.store(true, Ordering::Relaxed);
            }
        }
    }

    /// Ends the measurement at the end of a poll, because the next poll can be in another thread.
    fn pause(&self) {
        if self.0.last.load(Ordering::Relaxed) != 0 {
            self.read();
            self.0.last.store(0, Ordering::Relaxed);
        }
    }

    /// Polls a call. Its computing time is measured from the start of the poll if `measure` is set, otherwise
    /// from the first reading by [`watch`](Self::watch).
    fn poll<T>(&self, measure: bool, poll: impl FnOnce() -> Poll<T>) -> Poll<T> {
        if measure {
            self.read();
        }
        let polled = poll();
        self.pause();
        polled
    }
}

/// The share of the last calls of a component that were long: a moving average from 0 to [`Load::SCALE`].
#[derive(Debug, Default)]
pub(super) struct Load(AtomicU32);

impl Load {
    const SCALE: u32 = 1 << 16;
    /// The newest call contributes one part in this many to the average.
    const WINDOW: u32 = 8;

    /// Returns whether the calls were mostly long.
    pub(super) fn is_heavy(&self) -> bool {
        self.0.load(Ordering::Relaxed) > Self::SCALE / 2
    }

    fn record(&self, was_long: bool) {
        let newest = if was_long { Self::SCALE / Self::WINDOW } else { 0 };
        // The update is not atomic, so of two calls that end at the same time one may not be counted.
        let average = self.0.load(Ordering::Relaxed);
        self.0.store(average - average / Self::WINDOW + newest, Ordering::Relaxed);
    }
}

impl LongCalls {
    pub(super) fn start() -> std::io::Result<Self> {
        let mut builder = Builder::new_multi_thread();
        builder.thread_name("long-calls").on_thread_start(lower_priority);
        Ok(Self { runtime: Some(builder.build()?) })
    }

    /// Runs a call to its end, in the current task or, once it is long, in the threads of long calls.
    /// Dropping the future ends the call at its next interruption. Returns also for how long the call has computed, which
    /// is without its waits.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        load: &Load,
        computing: Computing,
        mut call: Pin<Box<impl Future<Output = T> + Send + 'static>>,
    ) -> (T, Duration) {
        let mut elapsed = Duration::ZERO;
        let starts_in_task = !load.is_heavy();
        let short = poll_fn(|context| {
            if !starts_in_task {
                return Poll::Ready(None);
            }
            let started = Instant::now();
            let polled = computing.poll(elapsed > UNMEASURED_TIME, || call.as_mut().poll(context));
            elapsed += started.elapsed();
            match polled {
                Poll::Ready(answer) => Poll::Ready(Some(answer)),
                Poll::Pending if computing.is_long() => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            }
        });
        if let Some(answer) = short.await {
            load.record(computing.is_long() || elapsed > UNMEASURED_TIME + LONG_CALL_TIME);
            return (answer, elapsed);
        }
        let Some(runtime) = &self.runtime else { return (call.await, elapsed) };
        if starts_in_task {
            load.record(true);
        }
        // The call's connections and timers stay with the host's own runtime.
        let caller_runtime = Handle::current();
        let measured = computing.clone();
        let before = computing.total();
        let rest = poll_fn(move |context| {
            let _entered = caller_runtime.enter();
            measured.poll(true, || call.as_mut().poll(context))
        });
        let answer = join(runtime.spawn(rest.in_current_span().with_current_subscriber())).await;
        if !starts_in_task {
            load.record(computing.is_long());
        }
        (answer, elapsed.saturating_add(computing.total().saturating_sub(before)))
    }

    /// Runs a computation in the threads of long calls.
    pub(super) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        match &self.runtime {
            Some(runtime) => {
                let work = async move { work() }.in_current_span();
                join(runtime.spawn(work.with_current_subscriber())).await
            }
            None => work(),
        }
    }
}

async fn join<T>(task: JoinHandle<T>) -> T {
    match AbortOnDropHandle::new(task).await {
        Ok(answer) => answer,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // Only the end of the runtime cancels the task, and nobody waits then.
            Err(_cancelled) => std::future::pending().await,
        },
    }
}

impl Drop for LongCalls {
    /// Ends the runtime without waiting for its threads: inside another runtime that would panic.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Lowers the priority of the current thread. Beside a thread of normal priority, it gets about a tenth of a
/// processor.
#[cfg(target_os = "linux")]
fn lower_priority() {
    const NICENESS: i32 = 10;
    let thread = rustix::thread::gettid();
    if let Err(error) = rustix::process::setpriority_process(Some(thread), NICENESS) {
        tracing::warn!(%error, "long calls run with the priority of short ones");
    }
}

#[cfg(not(target_os = "linux"))]
fn lower_priority() {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_component_is_heavy_while_most_of_its_calls_are_long() {
        let load = Load::default();
        for _ in 0..5 {
            load.record(true);
            assert!(!load.is_heavy());
        }
        load.record(true);
        assert!(load.is_heavy());
        for _ in 0..100 {
            load.record(true);
        }
        for _ in 0..5 {
            load.record(false);
            assert!(load.is_heavy());
        }
        load.record(false);
        assert!(!load.is_heavy());
    }

    #[test]
    fn a_call_is_long_by_what_it_computes_and_not_by_what_it_waits() {
        let (waits, computes) = (Computing::default(), Computing::default());
        let _waited = waits.poll(true, || {
            std::thread::sleep(LONG_CALL_TIME * 3);
            waits.read();
            Poll::Ready(())
        });
        assert!(!waits.is_long());
        let _computed = computes.poll(true, || {
            let begun = thread_time();
            while thread_time() - begun < LONG_CALL_TIME.as_nanos() as u64 {}
            Poll::Ready(())
        });
        assert!(computes.is_long());
    }
}
