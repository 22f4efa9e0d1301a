//! One call in a fresh sandbox, and the reasons why it can end without an answer.

use crate::{
    answer::GuestAnswer,
    caller::CallerArgument,
    context::CallContext,
    engine::Sandbox,
    error::SandboxError,
    long_calls::Computing,
    memory::share_of,
    prepare::Prepared,
    services::{SandboxUse, Work},
    state::CallState,
    tape::Tape,
    trap::{CallStack, GuestTrap},
};
use std::{
    char::DecodeUtf16Error,
    num::TryFromIntError,
    str::Utf8Error,
    sync::Arc,
    time::{Duration, Instant},
};
use wasmtime::{
    GcHeapOutOfMemory, OutOfMemory, PoolConcurrencyLimitError, Store, ThrownException, Trap,
    WasmtimeBug,
};
use wasmtime_wasi::{I32Exit, ResourceTableError};

/// How long a guest that computes may take to notice that its time is over. A guest that waits for the host is
/// ended after it.
pub(super) const INTERRUPTION: Duration = Duration::from_millis(20);
/// The number of bytes of a sandbox's memory above which its release would delay other calls.
const LARGE_MEMORY: usize = 8 << 20;

/// A run that has ended.
#[derive(Debug)]
pub struct Ran {
    pub answer: Result<GuestAnswer, SandboxError>,
    /// The work, with what the action had read and written when it ended; `None` if a nested call did not give the
    /// work back.
    pub work: Option<Work>,
    /// The recorder or player of the run's calls of host functions.
    pub tape: Tape,
}

impl Sandbox {
    /// Runs one action. Dropping the future ends the sandbox. The outermost call must hold a permit, under which its
    /// nested calls run too.
    pub async fn run(
        &self,
        component: &Prepared,
        capability: &Arc<str>,
        context: &Arc<CallContext>,
        (action, input): (&str, &str),
        (work, tape): (Work, Tape),
    ) -> Ran {
        let memory =
            share_of(self.options.limits.call_memory_bytes as usize, context.callers_memory);
        let (mut store, computing) = self.store(
            component,
            Arc::clone(capability),
            Arc::clone(context),
            (Some(work), tape),
            memory,
        );
        // The future of a call borrows nothing, because it may go on in another thread.
        let (code, of_call) = (Arc::clone(&component.code), Arc::clone(context));
        let (action, input) = (action.to_owned(), input.to_owned());
        let (time, begun) = (self.options.limits.call_wall_time(), Instant::now());
        let call = async move {
            let caller = CallerArgument::of(&of_call);
            let call = async {
                let instance = code.pre.instantiate_async(&mut store).await?;
                let call = code.call_of(&instance, &mut store)?;
                Ok(call.call_async(&mut store, (&caller, &action, &input)).await?.0)
            };
            (tokio::time::timeout(time + INTERRUPTION, call).await, store)
        };
        let run = self.long_calls.run(&component.load, computing, Box::pin(call));
        let ((result, store), computed) = run.await;
        let (time, memory) = (begun.elapsed(), store.data().memory.used());
        let mut state = match store.data().memory.used() > LARGE_MEMORY {
            true => self.compute(move || store.into_data()).await,
            false => store.into_data(),
        };
        let answer = match result {
            Err(_elapsed) => Err(SandboxError::OutOfTime(CallStack::default())),
            Ok(Err(error)) => Err(self.classify_error(&error, &state)),
            Ok(Ok(answer)) => self.ensure_size(answer.into()),
        };
        state.finish_log();
        if let Some(work) = &mut state.work {
            work.services.count_sandbox(context, SandboxUse { time, computed, memory });
            // The host's own reads do not count as memory of the sandbox.
            work.unit.set_read_limit(usize::MAX);
        }
        Ran { answer, work: state.work, tape: state.tape }
    }

    pub(super) fn store(
        &self,
        component: &Prepared,
        capability: Arc<str>,
        context: Arc<CallContext>,
        (work, tape): (Option<Work>, Tape),
        memory_bytes: usize,
    ) -> (Store<CallState>, Computing) {
        let limits = &self.options.limits;
        let source = component.source.clone();
        let state = CallState::new(capability, context, memory_bytes, work, source, tape);
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.memory);
        // Twice the limit, so that an answer a little too large is measured and not cut off.
        store.set_hostcall_fuel(limits.call_output_bytes as usize * 2);
        let computing = Computing::default();
        computing.watch(&mut store, limits.call_wall_time());
        (store, computing)
    }

    /// Returns why a guest ended without an answer.
    pub(super) fn classify_error(
        &self,
        error: &wasmtime::Error,
        state: &CallState,
    ) -> SandboxError {
        let (limits, is_source) = (&self.options.limits, state.source.is_some());
        if state.memory.is_exceeded() {
            let stack = CallStack::new(error, is_source);
            return SandboxError::OutOfMemory(state.memory.limit() as u64, stack);
        }
        if error.downcast_ref() == Some(&Trap::Interrupt) {
            return SandboxError::OutOfTime(CallStack::new(error, is_source));
        }
        if error.is::<PoolConcurrencyLimitError>() {
            return SandboxError::Busy;
        }
        if is_hostcall_fuel_exhausted(error) {
            return SandboxError::OutputTooLarge(limits.call_output_bytes);
        }
        SandboxError::Trapped(Box::new(GuestTrap::new(error, state.last_words(), is_source)))
    }

    fn ensure_size(&self, answer: GuestAnswer) -> Result<GuestAnswer, SandboxError> {
        let limit = self.options.limits.call_output_bytes;
        match answer.size() as u64 > limit {
            true => Err(SandboxError::OutputTooLarge(limit)),
            false => Ok(answer),
        }
    }
}

/// Returns whether the guest handed over more data at once than the hostcall fuel allows.
///
/// wasmtime 48 raises an error with a type of its own for this but keeps the type private, and
/// `Store::hostcall_fuel` returns what was set and not what remains. So the error is recognized by
/// exclusion: it has none of the types with which a call can fail otherwise. Two other errors have
/// private types and are mistaken for it: a WASI handle of a wrong type, and a garbage collector that
/// cannot grow its heap. Only a component that was written to misbehave causes them.
fn is_hostcall_fuel_exhausted(error: &wasmtime::Error) -> bool {
    // The error of a `bail!` has the type of its message.
    let message = error.is::<String>() || error.is::<&'static str>();
    let ended = error.is::<Trap>() || error.is::<ThrownException>() || error.is::<I32Exit>();
    let out_of_memory = error.is::<OutOfMemory>() || error.is::<GcHeapOutOfMemory<()>>();
    let malformed = error.is::<Utf8Error>()
        || error.is::<DecodeUtf16Error>()
        || error.is::<TryFromIntError>()
        || error.is::<ResourceTableError>();
    !(message || ended || out_of_memory || malformed || error.is::<WasmtimeBug>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_error_of_no_known_type_is_taken_for_exhausted_fuel() {
        #[derive(Debug, thiserror::Error)]
        #[error("private to wasmtime")]
        struct Private;

        assert!(is_hostcall_fuel_exhausted(&wasmtime::Error::new(Private)));
        for error in [
            wasmtime::Error::new(Trap::UnreachableCodeReached),
            wasmtime::Error::new(I32Exit(1)),
            wasmtime::format_err!("a text"),
            wasmtime::format_err!("a text with {}", 1),
        ] {
            assert!(!is_hostcall_fuel_exhausted(&error), "{error}");
        }
    }
}
