//! The state of one running guest: the data of its wasmtime store.

use crate::{
    context::CallContext,
    contract::context::Level,
    log::GuestLog,
    memory::MemoryLimit,
    output::{Printed, Stream},
    random::CallRandom,
    services::Work,
    source::Source,
    tape::Tape,
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
    /// `None` while the component only describes itself, and while a nested call has the work.
    pub(super) work: Option<Work>,
    /// The source that the component runs, if it is an engine.
    pub(super) source: Option<Arc<Source>>,
    /// The recorder or player of the run's calls of host functions.
    pub(super) tape: Tape,
    wasi: Option<Box<EmptyWasi>>,
}

impl CallState {
    pub(super) fn new(
        capability: Arc<str>,
        context: Arc<CallContext>,
        memory_limit: usize,
        work: Option<Work>,
        source: Option<Arc<Source>>,
        tape: Tape,
    ) -> Self {
        Self {
            memory: MemoryLimit::new(memory_limit),
            random: CallRandom::new(Arc::clone(&context)),
            context,
            capability,
            log: GuestLog::default(),
            work,
            source,
            tape,
            wasi: None,
        }
    }

    /// Writes a message of the component to the operator's log, after what it has printed before.
    pub(super) fn write_log(&mut self, level: Level, message: &str) {
        self.log_printed();
        self.log_message(level, message);
    }

    /// Writes the finished lines that the component has printed to the operator's log.
    pub(super) fn log_printed(&mut self) {
        if let Some(wasi) = &self.wasi {
            let printed = wasi.output().take_lines();
            self.log_lines(printed);
        }
    }

    /// Writes the rest of what the component has printed when it has ended, and the number of messages that
    /// were left out.
    pub(super) fn finish_log(&mut self) {
        if let Some(wasi) = &self.wasi {
            let printed = wasi.output().take_all();
            self.log_lines(printed);
        }
        let left_out = self.log.left_out();
        if left_out > 0 {
            self.emit(Level::Warn, &format!("{left_out} more messages of this call are left out"));
        }
    }

    fn log_lines(&mut self, printed: Printed) {
        // After the guest has said why it traps, its runtime prints the same once more.
        let is_told = self.log.has_last_words();
        let lines = printed.lines.into_iter();
        for (stream, line) in lines.filter(|(stream, _)| !is_told || *stream != Stream::Error) {
            let level = match stream {
                Stream::Out => Level::Info,
                Stream::Error => Level::Warn,
            };
            self.log_message(level, &line);
        }
        self.log.count_left_out(printed.left_out);
    }

    fn log_message(&mut self, level: Level, message: &str) {
        if let Some(message) = self.log.admit(message) {
            self.emit(level, &message);
        }
    }

    fn emit(&mut self, level: Level, message: &str) {
        if let Tape::Replaying(player) = &mut self.tape {
            return player.log(level_name(level), message.to_owned());
        }
        // While a component describes itself it has no services, and so no quota of messages.
        let services = self.work.as_ref().map(|work| &work.services);
        if services.is_some_and(|services| !services.admit_log_message(message.len())) {
            return;
        }
        let (capability, request) = (&*self.capability, &*self.context.request_id);
        match level {
            Level::Trace => tracing::trace!(capability, request, "{message}"),
            Level::Debug => tracing::debug!(capability, request, "{message}"),
            Level::Info => tracing::info!(capability, request, "{message}"),
            Level::Warn => tracing::warn!(capability, request, "{message}"),
            Level::Error => tracing::error!(capability, request, "{message}"),
        }
    }

    /// Returns what the component said before it trapped, for its author.
    pub(super) fn last_words(&self) -> Option<String> {
        let stderr = || self.wasi.as_ref().map(|wasi| wasi.output().stderr());
        self.log.last_words(|| stderr().unwrap_or_default())
    }
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::Trace => "trace",
        Level::Debug => "debug",
        Level::Info => "info",
        Level::Warn => "warn",
        Level::Error => "error",
    }
}

impl WasiView for CallState {
    /// Creates the context at the first use, because a component without WASI should not pay for it.
    fn ctx(&mut self) -> WasiCtxView<'_> {
        let (now, random) = (self.context.now, &mut self.random);
        self.wasi.get_or_insert_with(|| Box::new(EmptyWasi::new(now, random))).view()
    }
}
