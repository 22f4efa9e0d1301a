//! The serving engine and how it is configured.

use crate::{code::Engines, interfaces::INTERFACES, long_calls::LongCalls, state::CallState};
use portolan_vocabulary::Limits;
use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    num::NonZeroUsize,
    path::PathBuf,
    time::Duration,
};
use tokio::sync::Semaphore;
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig,
    WasmBacktraceDetails, component::Linker,
};

/// The interval at which a running component is interrupted, so that other calls and the time-out can proceed.
const EPOCH: Duration = Duration::from_millis(2);

/// The number of bytes that each memory or table in the pool keeps resident between calls; the rest is
/// returned to the operating system.
const KEEP_RESIDENT_BYTES: usize = 1 << 20;

/// The number of instances in the pool for each concurrent call: one for the call and one for a nested call.
const INSTANCES_PER_CALL: u64 = 2;
/// The number of further instances in the pool, for components that describe themselves and for
/// deeper nested calls.
const SPARE_INSTANCES: u64 = 32;

/// The maximum number of core instances, memories and tables of a component where instances come from the
/// pool.
pub const MAX_CORE_INSTANCES: u32 = 64;
pub const MAX_MEMORIES: u32 = 16;
pub const MAX_TABLES: u32 = 64;

/// The maximum number of frames that the engine collects when a guest traps. It is larger than the number
/// that `trap` keeps, because the frames of a panic's own machinery are left out.
const FRAMES: usize = 48;

/// The detail of a trap's report of the functions that were running.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backtraces {
    /// The functions' names: for a host that serves.
    Names,
    /// Also file, line and column, from the component's debug information: for authors. The artifacts are
    /// larger, and reading the debug information takes memory.
    Source,
}

/// The options of a sandbox.
#[derive(Debug, Clone)]
pub struct SandboxOptions {
    pub limits: Limits,
    /// The folder of the native code that this host compiled; no other user can read it.
    pub artifacts: PathBuf,
    /// The program that compiles components when it is started with `compile-component`: the host's own.
    pub compiler: PathBuf,
    pub backtraces: Backtraces,
    /// The folder of the compile cache of authors' commands; `None` for a host that serves.
    pub compile_cache: Option<PathBuf>,
}

/// The engine, the linker of components, and the permits of their calls.
pub struct Sandbox {
    pub(super) engine: Engine,
    pub(super) options: SandboxOptions,
    pub(super) calls: Semaphore,
    pub(super) compilations: Semaphore,
    pub(super) long_calls: LongCalls,
    pub(super) linker: Linker<CallState>,
    pub(super) engines: Engines,
    pooled: bool,
}

impl Sandbox {
    /// Starts the engine. It allocates instances from a pool, or on demand where the address space is
    /// too small for a pool.
    pub fn new(options: SandboxOptions) -> anyhow::Result<Self> {
        let limits = &options.limits;
        let mut pooled = true;
        let engine = Engine::new(&config(Some(pool(limits)), options.backtraces)).or_else(|error| {
            tracing::warn!(%error, "the address space is too small for a pool of sandboxes; every call allocates its own, which is slower");
            pooled = false;
            Engine::new(&config(None, options.backtraces))
        })?;
        let mut linker = Linker::new(&engine);
        for interface in INTERFACES {
            (interface.link)(&mut linker)?;
        }
        wasmtime_wasi::p2::add_to_linker_async(&mut linker)?;
        start_epochs(&engine)?;
        let calls = Semaphore::new(limits.concurrent_calls as usize);
        // Two compilations at once, so that a large component does not delay a small one.
        let compilations = Semaphore::new(2);
        let long_calls = LongCalls::start()?;
        let engines = Engines::default();
        Ok(Self { engine, linker, engines, calls, compilations, long_calls, pooled, options })
    }

    pub fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// Runs a computation that may take long in the threads of long calls, so that it does not delay other
    /// calls.
    pub async fn compute<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        self.long_calls.compute(work).await
    }

    /// Returns the number of calls that run now.
    pub fn in_use(&self) -> usize {
        let limit = usize::try_from(self.options.limits.concurrent_calls).unwrap_or(usize::MAX);
        limit.saturating_sub(self.calls.available_permits())
    }

    /// Returns whether instances come from the pool.
    pub fn pooled(&self) -> bool {
        self.pooled
    }

    /// Returns a name for the engine's code generation; artifacts with another name cannot be loaded.
    pub fn compatibility(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.engine.precompile_compatibility_hash().hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Sandbox").field("pooled", &self.pooled).finish_non_exhaustive()
    }
}

/// Returns the engine's configuration. Code generation is the same with and without a pool, so artifacts fit
/// both.
pub(super) fn config(pool: Option<PoolingAllocationConfig>, backtraces: Backtraces) -> Config {
    let mut config = Config::new();
    let details = match backtraces {
        Backtraces::Names => WasmBacktraceDetails::Disable,
        Backtraces::Source => WasmBacktraceDetails::Enable,
    };
    config
        .concurrency_support(false)
        .epoch_interruption(true)
        .memory_init_cow(true)
        .wasm_backtrace_max_frames(NonZeroUsize::new(FRAMES))
        .wasm_backtrace_details(details);
    if let Some(pool) = pool {
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool));
    }
    config
}

fn pool(limits: &Limits) -> PoolingAllocationConfig {
    let instances = limits.concurrent_calls * INSTANCES_PER_CALL + SPARE_INSTANCES;
    let instances = u32::try_from(instances).unwrap_or(u32::MAX);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(instances)
        .total_core_instances(instances.saturating_mul(4))
        .total_memories(instances.saturating_mul(2))
        .total_tables(instances.saturating_mul(4))
        .total_stacks(instances)
        .total_gc_heaps(1)
        .max_core_instances_per_component(MAX_CORE_INSTANCES)
        .max_memories_per_component(MAX_MEMORIES)
        .max_tables_per_component(MAX_TABLES)
        .max_tables_per_module(16)
        .max_component_instance_size(4 << 20)
        .max_core_instance_size(4 << 20)
        .max_memory_size(limits.call_memory_bytes as usize)
        .linear_memory_keep_resident(KEEP_RESIDENT_BYTES)
        .table_keep_resident(KEEP_RESIDENT_BYTES)
        .pagemap_scan(Enabled::Auto);
    pool
}

/// Advances the engine's epochs in a thread of its own, because a busy runtime must not delay them.
/// The thread ends with the engine.
fn start_epochs(engine: &Engine) -> std::io::Result<()> {
    let engine = engine.weak();
    std::thread::Builder::new().name("epochs".to_owned()).spawn(move || {
        while let Some(engine) = engine.upgrade() {
            engine.increment_epoch();
            drop(engine);
            std::thread::sleep(EPOCH);
        }
    })?;
    Ok(())
}
