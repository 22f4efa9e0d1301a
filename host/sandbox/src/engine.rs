//! The serving engine: how it is configured, and how an artifact becomes ready to be called.

use crate::{
    artifact::is_intact,
    contract::AnyCapabilityPre,
    imports::{Import, ImportKind},
    interfaces::INTERFACES,
    long::{Load, LongCalls},
    state::CallState,
};
use portolan_vocabulary::Limits;
use std::{
    hash::{DefaultHasher, Hash as _, Hasher as _},
    num::NonZeroUsize,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};
use tokio::sync::Semaphore;
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, PoolingAllocationConfig,
    WasmBacktraceDetails,
    component::{Component, ComponentExportIndex, InstancePre, Linker},
};

/// The interval at which a running component is interrupted, so that other calls and the time-out can proceed.
const EPOCH: Duration = Duration::from_millis(2);

/// The memory that stays mapped in a slot between calls; the rest is returned to the system.
const KEEP_RESIDENT_BYTES: usize = 1 << 20;

/// The pool's instances for each concurrent call: one for the call and one for a nested call.
const INSTANCES_PER_CALL: u64 = 2;
/// The pool's further instances, for components that describe themselves and for
/// deeper nested calls.
const SPARE_INSTANCES: u64 = 32;

/// The maximum number of core instances, memories and tables of a component where instances come from the
/// pool.
pub const MAX_CORE_INSTANCES: u32 = 64;
pub const MAX_MEMORIES: u32 = 16;
pub const MAX_TABLES: u32 = 64;

/// The maximum number of frames that the engine collects when a guest traps. More than are kept, because some
/// are of a panic's own machinery.
const FRAMES: usize = 48;

/// What is known of the functions that were running when a guest trapped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backtraces {
    /// Their names: for a host.
    Names,
    /// Also file, line and column, from the component's debug information: for authors. Its artifacts are
    /// larger, and reading the debug information takes memory.
    Source,
}

/// The options of a sandbox.
#[derive(Debug, Clone)]
pub struct SandboxOptions {
    pub limits: Limits,
    /// The folder of the native code that this host compiled; no other user can read it.
    pub artifacts: PathBuf,
    /// The program that compiles components: this one, started with `compile-component`.
    pub compiler: PathBuf,
    pub backtraces: Backtraces,
    /// The folder of the compile cache: for authors, never for a host.
    pub compile_cache: Option<PathBuf>,
}

/// The engine, the linker of components, and the permits of their calls.
pub struct Sandbox {
    pub(super) engine: Engine,
    pub(super) options: SandboxOptions,
    pub(super) calls: Semaphore,
    pub(super) compilations: Semaphore,
    pub(super) long_calls: LongCalls,
    linker: Linker<CallState>,
    pooled: bool,
}

/// A component that is ready to be called.
pub struct Prepared {
    pub(super) component: Component,
    /// Shared with the calls, which can outlive the borrow of this value.
    pub(super) pre: Arc<InstancePre<CallState>>,
    /// The index of the export `call`, because a search by name would cost every call.
    pub(super) call: ComponentExportIndex,
    pub(super) calls: Semaphore,
    pub(super) load: Load,
    imports: Vec<Import>,
}

/// The reasons why an artifact cannot be called on this host.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    #[error("the artifact cannot be loaded: {0}")]
    Artifact(String),
    #[error("needs more than a sandbox has: {0}")]
    ExceedsLimits(String),
    #[error("imports {} which this host does not offer", names(.0))]
    UnknownImports(Vec<Import>),
    #[error("does not fit the contract: {0}")]
    Contract(String),
}

fn names(imports: &[Import]) -> String {
    imports.iter().map(|import| import.name.as_str()).collect::<Vec<_>>().join(", ")
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
        // Two, so that a large component does not delay a small one.
        let compilations = Semaphore::new(2);
        let long_calls = LongCalls::start()?;
        Ok(Self { engine, linker, calls, compilations, long_calls, pooled, options })
    }

    pub fn limits(&self) -> &Limits {
        &self.options.limits
    }

    /// Runs a computation that may take long, and that nobody else should wait for: in the threads of long
    /// calls.
    pub async fn compute<T: Send + 'static>(&self, work: impl FnOnce() -> T + Send + 'static) -> T {
        self.long_calls.compute(work).await
    }

    /// Returns whether instances come from the pool.
    pub fn pooled(&self) -> bool {
        self.pooled
    }

    /// Returns a name for the engine's code generation; artifacts of another one cannot be loaded.
    pub fn compatibility(&self) -> String {
        let mut hasher = DefaultHasher::new();
        self.engine.precompile_compatibility_hash().hash(&mut hasher);
        format!("{:016x}", hasher.finish())
    }

    /// Loads an artifact that this host compiled, and checks that it imports only what this host offers.
    pub fn prepare(&self, artifact: &Path) -> Result<Prepared, PrepareError> {
        let component = self.load(artifact)?;
        let imports: Vec<_> = component
            .component_type()
            .imports(&self.engine)
            .map(|(name, _)| Import::new(name))
            .collect();
        let is_unknown = |import: &&Import| import.kind == ImportKind::Unknown;
        let unknown: Vec<_> = imports.iter().filter(is_unknown).cloned().collect();
        if !unknown.is_empty() {
            return Err(PrepareError::UnknownImports(unknown));
        }
        let contract = |error: wasmtime::Error| PrepareError::Contract(format!("{error:#}"));
        let pre = self.linker.instantiate_pre(&component).map_err(contract)?;
        // Checks that both exports exist; `describe` checks their types.
        AnyCapabilityPre::new(pre.clone()).map_err(contract)?;
        let call = component
            .get_export_index(None, "call")
            .ok_or_else(|| PrepareError::Contract("does not export call".to_owned()))?;
        let calls = Semaphore::new(self.options.limits.concurrent_calls_per_capability as usize);
        let load = Load::default();
        Ok(Prepared { component, pre: Arc::new(pre), call, calls, load, imports })
    }

    /// Loads an artifact. One that loads without a pool but not with it is valid, and too large for the
    /// pool's slots.
    fn load(&self, artifact: &Path) -> Result<Component, PrepareError> {
        // Damaged machine code could do anything, so it is never mapped.
        match std::fs::read(artifact) {
            Ok(bytes) if is_intact(&bytes) => {}
            Ok(_) => return Err(PrepareError::Artifact("its checksum is wrong".to_owned())),
            Err(error) => return Err(PrepareError::Artifact(error.to_string())),
        }
        load(&self.engine, artifact).map_err(|error| {
            let without_pool = Engine::new(&config(None, self.options.backtraces))
                .map(|engine| load(&engine, artifact));
            match without_pool {
                Ok(Ok(_valid)) => PrepareError::ExceedsLimits(error.root_cause().to_string()),
                _ => PrepareError::Artifact(format!("{error:#}")),
            }
        })
    }
}

impl Prepared {
    pub fn imports(&self) -> &[Import] {
        &self.imports
    }

    /// Returns whether its calls are mostly long. What the host does for them should then not delay others.
    pub fn is_heavy(&self) -> bool {
        self.load.is_heavy()
    }
}

impl std::fmt::Debug for Prepared {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Prepared").field("imports", &self.imports).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Sandbox").field("pooled", &self.pooled).finish_non_exhaustive()
    }
}

#[expect(
    unsafe_code,
    reason = "the artifact was written by this host's own compiler into its private folder"
)]
fn load(engine: &Engine, artifact: &Path) -> wasmtime::Result<Component> {
    // SAFETY: `artifact` is a file of the private artifact folder, named after the component's
    // hash and the engine's compatibility, renamed into place when complete and never overwritten; its
    // checksum was right.
    unsafe { Component::deserialize_file(engine, artifact) }
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
