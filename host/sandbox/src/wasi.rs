//! An empty WASI for components whose toolchain brings WASI imports: no files, no environment, no
//! sockets, and clocks and random numbers that are the same when the call is run again.

use crate::random::CallRandom;
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

/// The bytes of a component's standard error that are kept for its author.
const STDERR_BYTES: usize = 4096;

/// The WASI context of one guest.
pub(super) struct EmptyWasi {
    context: WasiCtx,
    table: ResourceTable,
    stderr: StderrTail,
}

impl EmptyWasi {
    pub(super) fn new(now: Timestamp, random: &mut CallRandom) -> Self {
        let stderr = StderrTail::default();
        let context = WasiCtx::builder()
            .stderr(stderr.clone())
            .wall_clock(CallTime(now))
            .monotonic_clock(Counter(AtomicU64::new(0)))
            .insecure_random_seed(random.generator().random())
            .secure_random(random.fork())
            .insecure_random(random.fork())
            .build();
        Self { context, table: ResourceTable::new(), stderr }
    }

    pub(super) fn view(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.context, table: &mut self.table }
    }

    /// Returns what the component wrote to its standard error, such as the text of a panic.
    pub(super) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr.bytes()).into_owned()
    }
}

/// The end of what is written to standard error, in memory.
#[derive(Debug, Clone, Default)]
struct StderrTail(Arc<Mutex<Vec<u8>>>);

impl StderrTail {
    fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn append(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(bytes);
        let surplus = kept.len().saturating_sub(STDERR_BYTES);
        kept.drain(..surplus);
    }
}

impl IsTerminal for StderrTail {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for StderrTail {
    fn async_stream(&self) -> Box<dyn tokio::io::AsyncWrite + Send + Sync> {
        // WASI 0.2 components use the stream below.
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[wasmtime_wasi::async_trait]
impl Pollable for StderrTail {
    async fn ready(&mut self) {}
}

impl OutputStream for StderrTail {
    fn write(&mut self, bytes: bytes::Bytes) -> StreamResult<()> {
        self.append(&bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(STDERR_BYTES)
    }
}

/// A wall clock that always shows the call's instant.
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
