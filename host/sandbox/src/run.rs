//! One call in a fresh sandbox, and the four ways it can end.

use crate::{
    contract::types,
    engine::{Prepared, Sandbox},
    state::{CallContext, CallState},
    work::Work,
};
use portolan_vocabulary::Caller;
use std::sync::Arc;
use tokio::sync::SemaphorePermit;
use wasmtime::{PoolConcurrencyLimitError, Store, Trap};

/// What the component answered.
#[derive(Debug)]
pub enum Ending {
    Success {
        output: String,
        next: Option<String>,
    },
    Refused {
        code: String,
        message: String,
        conflict: Option<String>,
        next: Option<String>,
        keep_writes: bool,
    },
}

/// Why there is no answer. Only `Host` is the host's own fault.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    #[error("no sandbox was free in time")]
    Busy,
    #[error("out of time")]
    OutOfTime,
    #[error("trapped: {0}")]
    Trapped(String),
    #[error("asked for more memory than {0} bytes")]
    OutOfMemory(u64),
    #[error("answered with more than {0} bytes")]
    OutputTooLarge(u64),
    #[error("the host failed: {0}")]
    Host(String),
}

/// Room for one call on this host, and of its capability.
#[derive(Debug)]
pub struct Place<'a> {
    _own: SemaphorePermit<'a>,
    _host: SemaphorePermit<'a>,
}

/// Of the export `call`. The generated bindings would also look at the types of `describe`, every
/// time.
type Arguments<'a> = (&'a types::Caller, &'a str, &'a str);
type Answers = (Result<types::Success, types::Failure>,);

impl Sandbox {
    /// A place to run a call in, when there is one. Whoever waits for a capability that has too many
    /// calls takes no place from others.
    pub async fn place<'a>(&'a self, component: &'a Prepared) -> Result<Place<'a>, SandboxError> {
        let place = async {
            let own = component.calls.acquire().await.ok()?;
            let host = self.calls.acquire().await.ok()?;
            Some(Place { _own: own, _host: host })
        };
        let place = tokio::time::timeout(self.options.limits.call_queue_time(), place).await;
        place.ok().flatten().ok_or(SandboxError::Busy)
    }

    /// Runs one action, and gives its work back as far as it came. Dropping the future ends the
    /// sandbox. A call within a call runs in the place of the first.
    pub async fn run(
        &self,
        component: &Prepared,
        capability: &Arc<str>,
        context: &Arc<CallContext>,
        (action, input): (&str, &str),
        work: Work,
    ) -> (Result<Ending, SandboxError>, Option<Work>) {
        let mut store = self.store(Arc::clone(capability), Arc::clone(context), Some(work));
        let caller = caller(context);
        let call = async {
            let instance = component.pre.instantiate_async(&mut store).await?;
            let call =
                instance.get_typed_func::<Arguments<'_>, Answers>(&mut store, component.call)?;
            Ok(call.call_async(&mut store, (&caller, action, input)).await?.0)
        };
        let result = tokio::time::timeout(self.options.limits.call_wall_time(), call).await;
        let ending = match result {
            Err(_elapsed) => Err(SandboxError::OutOfTime),
            Ok(Err(error)) => Err(self.explain(&error, store.data())),
            Ok(Ok(answer)) => self.check_size(answer.into()),
        };
        (ending, store.into_data().work)
    }

    pub(super) fn store(
        &self,
        capability: Arc<str>,
        context: Arc<CallContext>,
        work: Option<Work>,
    ) -> Store<CallState> {
        let limits = &self.options.limits;
        let state = CallState::new(capability, context, limits.call_memory_bytes as usize, work);
        let mut store = Store::new(&self.engine, state);
        store.limiter(|state| &mut state.memory);
        store.set_hostcall_fuel(limits.call_output_bytes as usize * 2);
        store.set_epoch_deadline(1);
        store.epoch_deadline_async_yield_and_update(1);
        store
    }

    pub(super) fn explain(&self, error: &wasmtime::Error, state: &CallState) -> SandboxError {
        let limits = &self.options.limits;
        if state.memory.denied() {
            return SandboxError::OutOfMemory(limits.call_memory_bytes);
        }
        if error.is::<PoolConcurrencyLimitError>() {
            return SandboxError::Busy;
        }
        let text = format!("{error:#}");
        if text.contains("fuel allocated for hostcalls") {
            return SandboxError::OutputTooLarge(limits.call_output_bytes);
        }
        let reason = match error.downcast_ref::<Trap>() {
            Some(trap) => trap.to_string(),
            None => text,
        };
        SandboxError::Trapped(match state.last_words() {
            Some(words) => format!("{reason}: {words}"),
            None => reason,
        })
    }

    fn check_size(&self, ending: Ending) -> Result<Ending, SandboxError> {
        let optional = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let size = match &ending {
            Ending::Success { output, next } => output.len() + optional(next),
            Ending::Refused { code, message, conflict, next, .. } => {
                code.len() + message.len() + optional(conflict) + optional(next)
            }
        };
        let limit = self.options.limits.call_output_bytes;
        if size as u64 > limit {
            return Err(SandboxError::OutputTooLarge(limit));
        }
        Ok(ending)
    }
}

fn caller(context: &CallContext) -> types::Caller {
    match &context.caller {
        Caller::System { .. } => types::Caller::System,
        Caller::Agent(agent) => types::Caller::Agent(types::AgentCaller {
            agent_id: agent.agent_id.to_string(),
            owner_id: agent.owner_id.as_ref().map(ToString::to_string),
            agent_name: agent.agent_name.as_ref().map(ToString::to_string),
            scopes: agent.scopes.to_vec(),
            via: context.via.clone(),
            test_mode: agent.test_mode,
        }),
    }
}

impl From<Result<types::Success, types::Failure>> for Ending {
    fn from(answer: Result<types::Success, types::Failure>) -> Self {
        match answer {
            Ok(success) => Self::Success { output: success.output, next: success.next },
            Err(failure) => Self::Refused {
                code: failure.code,
                message: failure.message,
                conflict: failure.conflict,
                next: failure.next,
                keep_writes: failure.keep_writes,
            },
        }
    }
}
