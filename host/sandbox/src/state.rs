//! The state of one running guest: the data of its wasmtime store.

use crate::{
    context::CallContext, log::GuestLog, memory::MemoryLimit, random::CallRandom, services::Work,
    wasi::EmptyWasi,
};
use std::sync::Arc;
use wasmtime_wasi::{WasiCtxView, WasiView};

/// The data of one sandbox.
pub(super) struct CallState {
    pub(super) memory: MemoryLimit,
    pub(super) context: Arc<CallContext>,
    pub(super) random: CallRandom,
    pub(super) capability: Arc<str>,
    pub(super) log: GuestLog,
    /// None while the component only describes itself, and while a nested call has it.
    pub(super) work: Option<Work>,
    wasi: Option<Box<EmptyWasi>>,
}

impl CallState {
    pub(super) fn new(
        capability: Arc<str>,
        context: Arc<CallContext>,
        memory_limit: usize,
        work: Option<Work>,
    ) -> Self {
        Self {
            memory: MemoryLimit::new(memory_limit),
            random: CallRandom::new(Arc::clone(&context)),
            context,
            capability,
            log: GuestLog::default(),
            work,
            wasi: None,
        }
    }

    /// Returns what the component said before it trapped, for its author.
    pub(super) fn last_words(&self) -> Option<String> {
        self.log.last_words(|| self.wasi.as_ref().map(|wasi| wasi.stderr()).unwrap_or_default())
    }
}

impl WasiView for CallState {
    /// Creates the context at the first use, because a component without WASI should not pay for it.
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let (now, random) = (self.context.now, &mut self.random);
        self.wasi.get_or_insert_with(|| Box::new(EmptyWasi::new(now, random))).view()
    }
}
