//! An empty WASI for components whose toolchain brings WASI imports: no files, no environment, no
//! sockets; clocks and random numbers that are the same when the call is run again; and output that is
//! logged.

use crate::{
    output::{Output, Stream},
    random::CallRandom,
};
use portolan_vocabulary::Timestamp;
use rand::RngExt as _;
use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};
use wasmtime_wasi::{HostMonotonicClock, HostWallClock, ResourceTable, WasiCtx, WasiCtxView};

/// The WASI context of one guest.
pub(super) struct EmptyWasi {
    context: WasiCtx,
    table: ResourceTable,
    output: Output,
}

impl EmptyWasi {
    pub(super) fn new(now: Timestamp, random: &mut CallRandom) -> Self {
        let output = Output::default();
        let context = WasiCtx::builder()
            .stdout(output.pipe(Stream::Out))
            .stderr(output.pipe(Stream::Error))
            .wall_clock(CallTime(now))
            .monotonic_clock(Counter(AtomicU64::new(0)))
            .insecure_random_seed(random.generator().random())
            .secure_random(random.fork())
            .insecure_random(random.fork())
            .build();
        Self { context, table: ResourceTable::new(), output }
    }

    pub(super) fn view(&mut self) -> WasiCtxView<'_> {
        WasiCtxView { ctx: &mut self.context, table: &mut self.table }
    }

    /// Returns what the component prints.
    pub(super) fn output(&self) -> &Output {
        &self.output
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
