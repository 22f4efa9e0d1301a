//! The result type of every interface, and the access of its functions to the call's unit of work.

use crate::{contract::types::HostError, services::Work, state::CallState};
use portolan_store::StateError;
use portolan_vocabulary::AgentCaller;

/// The answer of a host function, or why there is none.
pub(super) type Answer<T> = Result<T, HostError>;
/// The result as the bindings require it, where an outer error traps the guest.
pub(super) type Reply<T> = wasmtime::Result<Answer<T>>;

impl CallState {
    /// Returns the call's work; `unavailable` while the component describes itself.
    pub(super) fn work(&mut self) -> Answer<&mut Work> {
        self.work
            .as_mut()
            .ok_or_else(|| HostError::Unavailable("there is no store here".to_owned()))
    }

    /// Counts bytes that the call writes; `limit` if the call then holds more than its memory limit.
    pub(super) fn reserve_bytes(&mut self, bytes: usize) -> Answer<()> {
        self.work()?.unit.count_written(bytes);
        match self.remaining_memory()? {
            Some(_) => Ok(()),
            None => Err(HostError::Limit(format!(
                "the memory of a call, {} bytes, also holds what it writes: write less in one call",
                self.memory.limit()
            ))),
        }
    }

    /// Returns how many bytes of the call's memory are left for reads; `None` if the call holds more than its
    /// memory limit.
    pub(super) fn remaining_memory(&mut self) -> Answer<Option<usize>> {
        let held = self.work()?.unit.held_bytes();
        Ok(self.memory.remaining(held))
    }

    /// Returns the call's work for a change; `invalid` in an action of access `read`.
    pub(super) fn writable_work(&mut self) -> Answer<&mut Work> {
        let work = self.work()?;
        if work.read_only {
            let text = "an action of access read changes nothing: declare another access";
            return Err(HostError::Invalid(text.to_owned()));
        }
        Ok(work)
    }

    /// Returns the agent that makes this call; `invalid` if the host itself does.
    pub(super) fn calling_agent(&self) -> Answer<&AgentCaller> {
        let no_agent = || HostError::Invalid("no agent makes this call".to_owned());
        self.context.agent().ok_or_else(no_agent)
    }

    /// Translates an error of the store for the component. An error of the database itself is written to
    /// the operator's log, because the component can do nothing about it.
    pub(super) fn host_error(&self, error: StateError) -> HostError {
        match error {
            StateError::Invalid(text) => HostError::Invalid(text),
            StateError::UndeclaredPerson { .. } => HostError::Invalid(error.to_string()),
            StateError::Conflict => HostError::Conflict,
            StateError::Duplicate(holder) => HostError::Duplicate(holder),
            StateError::Limit(text) => HostError::Limit(text),
            StateError::CursorInvalid => HostError::BadCursor,
            StateError::Db(error) => {
                let (capability, request) = (&*self.capability, &*self.context.request_id);
                tracing::error!(capability, request, %error, "the store does not answer");
                HostError::Unavailable("the store does not answer".to_owned())
            }
        }
    }

    /// Translates the error of a result.
    pub(super) fn answer<T>(&self, result: Result<T, StateError>) -> Answer<T> {
        result.map_err(|error| self.host_error(error))
    }
}
