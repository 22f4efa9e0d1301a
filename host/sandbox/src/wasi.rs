//! An empty WASI for components whose toolchain brings WASI imports: no files, no environment, no
//! sockets, and clocks and randomness that are the same when the call is run again.

use crate::state::Chance;
use portolan_vocabulary::Timestamp;
use rand::RngExt as _;
use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use wasmtime_wasi::{
    HostMonotonicClock, HostWallClock, ResourceTable, WasiCtx, WasiCtxView,
    cli::{IsTerminal, StdoutStream},
    p2::{OutputStream, Pollable, StreamResult},
};

/// How much of a component's standard error is kept for its author.
const STDERR_BYTES: usize = 4096;

pub(super) struct EmptyWasi {
    context: WasiCtx,
    table: ResourceTable,
    stderr: LastWords,
}

impl EmptyWasi {
    pub(super) fn new(now: Timestamp, chance: &mut Chance) -> Self {
        let stderr = LastWords::default();
        let context = WasiCtx::builder()
            .stderr(stderr.clone())
            .wall_clock(CallTime(now))
            .monotonic_clock(Counter(AtomicU64::new(0)))
            .insecure_random_seed(chance.generator().random())
            .secure_random(chance.fork())
            .insecure_random(chance.fork())
            .build();
        Self { context, table: ResourceTable::new(), stderr }
    }

    pub(super) fn view(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.context, table: &mut self.table }
    }

    /// What the component wrote to its standard error, such as the text of a panic.
    pub(super) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr.kept()).into_owned()
    }
}

/// Keeps the end of what is written, in memory.
#[derive(Debug, Clone, Default)]
struct LastWords(Arc<Mutex<Vec<u8>>>);

impl LastWords {
    fn kept(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn keep(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(bytes);
        let surplus = kept.len().saturating_sub(STDERR_BYTES);
        kept.drain(..surplus);
    }
}

impl IsTerminal for LastWords {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for LastWords {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        // WASI 0.2 components use the stream below.
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for LastWords {
    async fn ready(&mut self) {}
}

impl OutputStream for LastWords {
    fn write(&mut self, bytes: bytes::Bytes) -> StreamResult<()> {
        self.keep(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(STDERR_BYTES)
    }
}

/// The call's one instant.
struct CallTime(Timestamp);

impl HostWallClock for CallTime {
    fn resolution(&self) -> Duration {
        Duration::from_millis(1)
    }
    fn now(&self) -> Duration {
        Duration::from_millis(self.0.as_millis())
    }
}

/// A monotonic clock that moves by one microsecond each time it is read.
struct Counter(AtomicU64);

impl HostMonotonicClock for Counter {
    fn resolution(&self) -> u64 {
        1_000
    }
    fn now(&self) -> u64 {
        self.0.fetch_add(1_000, Ordering::Relaxed)
    }
}
