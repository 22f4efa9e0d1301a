//! An empty WASI for components whose toolchain brings WASI imports: no files, no environment, no
//! sockets, and clocks and randomness that are the same when the call is run again.

use crate::{sandbox::state::Chance, vocabulary::Timestamp};
use rand::RngExt as _;
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use wasmtime_wasi::{
    HostMonotonicClock, HostWallClock, ResourceTable, WasiCtx, WasiCtxView,
    p2::pipe::MemoryOutputPipe,
};

/// How much of a component's standard error is kept for its author.
const STDERR_BYTES: usize = 4096;

pub(super) struct EmptyWasi {
    context: WasiCtx,
    table: ResourceTable,
    stderr: MemoryOutputPipe,
}

impl EmptyWasi {
    pub(super) fn new(now: Timestamp, chance: &mut Chance) -> Self {
        let stderr = MemoryOutputPipe::new(STDERR_BYTES);
        let context = WasiCtx::builder()
            .stderr(stderr.clone())
            .wall_clock(CallTime(now))
            .monotonic_clock(Counter(AtomicU64::new(0)))
            .insecure_random_seed(chance.generator().random())
            .secure_random(chance.fork())
            .insecure_random(chance.fork())
            .build();
        Self {
            context,
            table: ResourceTable::new(),
            stderr,
        }
    }

    pub(super) fn view(&mut self) -> WasiCtxView<'_> {
        WasiCtxView {
            ctx: &mut self.context,
            table: &mut self.table,
        }
    }

    /// What the component wrote to its standard error, such as the text of a panic.
    pub(super) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr.contents()).into_owned()
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
