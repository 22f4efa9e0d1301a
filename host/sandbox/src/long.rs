//! Long calls: where a call goes on after its first milliseconds of computing.
//!
//! A call starts in the thread that received it. One that is still computing after
//! [`FREE_EPOCHS`] goes on in threads of a lower priority, of which there are as many as processors: on an
//! idle machine it is as fast as before, and on a busy one the operating system lets short calls, codes and
//! both addresses go first. Where a system has no priorities for single threads, the threads alone separate
//! them.

use crate::state::CallState;
use std::{
    future::{Future, poll_fn},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::Poll,
};
use tokio::{
    runtime::{Builder, Handle, Runtime},
    task::JoinHandle,
};
use tokio_util::task::AbortOnDropHandle;
use tracing::{Instrument as _, instrument::WithSubscriber as _};
use wasmtime::{Store, UpdateDeadline};

/// The interruptions after which a call is long: the first can come at once.
const FREE_EPOCHS: u64 = 2;

/// The threads of long calls.
pub(super) struct LongCalls {
    /// None when it is being dropped.
    runtime: Option<Runtime>,
}

/// Whether one call is long by now.
#[derive(Debug, Clone, Default)]
pub(super) struct IsLong(Arc<AtomicBool>);

impl IsLong {
    /// Interrupts the guest of this store regularly from now on, and notes when it is long.
    pub(super) fn watch(&self, store: &mut Store<CallState>) {
        let long = self.clone();
        store.set_epoch_deadline(FREE_EPOCHS);
        store.epoch_deadline_callback(move |_context| {
            long.0.store(true, Ordering::Relaxed);
            Ok(UpdateDeadline::Yield(1))
        });
    }
}

impl LongCalls {
    pub(super) fn start() -> std::io::Result<Self> {
        let mut builder = Builder::new_multi_thread();
        builder.thread_name("long-calls").on_thread_start(lower_priority);
        Ok(Self { runtime: Some(builder.build()?) })
    }

    /// Runs a call to its end, here or, once it is long, in the threads of long calls. Dropping the future
    /// ends the call at its next interruption.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        long: IsLong,
        call: impl Future<Output = T> + Send + 'static,
    ) -> T {
        let mut call = Box::pin(call);
        let short = poll_fn(|context| match call.as_mut().poll(context) {
            Poll::Ready(answer) => Poll::Ready(Some(answer)),
            Poll::Pending if long.0.load(Ordering::Relaxed) => Poll::Ready(None),
            Poll::Pending => Poll::Pending,
        });
        if let Some(answer) = short.await {
            return answer;
        }
        let Some(runtime) = &self.runtime else { return call.await };
        // Connections and timers stay with the host's own threads.
        let own = Handle::current();
        let rest = poll_fn(move |context| {
            let _entered = own.enter();
            call.as_mut().poll(context)
        });
        finished(runtime.spawn(rest.in_current_span().with_current_subscriber())).await
    }

    /// Runs a computation in the threads of long calls.
    pub(super) async fn compute<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> T {
        match &self.runtime {
            Some(runtime) => {
                let work = async move { work() }.in_current_span();
                finished(runtime.spawn(work.with_current_subscriber())).await
            }
            None => work(),
        }
    }
}

async fn finished<T>(task: JoinHandle<T>) -> T {
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
    /// A runtime must not wait for its threads inside another one.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

/// Lowers the priority of the current thread. It keeps about a tenth of a processor that others want too.
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
