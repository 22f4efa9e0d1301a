//! `invoke`: calls to other capabilities in the caller's unit of work.

use crate::{
    answer::GuestAnswer,
    contract::{invoke, types},
    interfaces::{
        interface::Interface,
        taped::{TapedState, taped},
    },
    services::NestedCall,
    state::CallState,
};
use rand::RngExt as _;
use std::sync::Arc;

pub(super) const INTERFACE: Interface =
    Interface::open("invoke", |linker| invoke::add_to_linker::<_, TapedState>(linker, taped));

impl invoke::Host for CallState {
    async fn call(
        &mut self,
        capability: String,
        action: String,
        input: String,
    ) -> wasmtime::Result<Result<types::Success, types::Failure>> {
        let seed = self.random.host().random();
        let context = self.context.nested(&self.capability, seed, self.memory.used());
        // The output of this component is logged before the messages of the called one.
        self.log_printed();
        let Some(work) = self.work.take() else {
            wasmtime::bail!("a component that describes itself can call nothing");
        };
        let services = Arc::clone(&work.services);
        let nested = NestedCall { work, context, capability, action, input };
        let (answer, work) = services.call(nested).await;
        if work.is_none() {
            wasmtime::bail!("the nested call ran out of time");
        }
        self.work = work;
        Ok(match answer {
            GuestAnswer::Success { output, next } => Ok(types::Success { output, next }),
            GuestAnswer::Refused { code, message, conflict, next, keep_writes: _ } => {
                // Whether the caller's own writes are kept is for the caller to decide.
                Err(types::Failure { code, message, conflict, next, keep_writes: false })
            }
        })
    }
}
