//! Where components run: one engine that never compiles, a fresh instance for every call.
//!
//! The only room that knows wasmtime.

mod compile;
mod contract;
mod describe;
mod documents;
mod effects;
mod engine;
mod failure;
mod feeds;
mod imports;
mod inbox;
mod interfaces;
mod lookups;
mod memory;
mod people;
mod run;
mod secrets;
mod state;
mod wasi;
mod work;

pub use compile::{CompileError, compile_from_stdin};
pub use describe::DescribeError;
pub use engine::{MAX_CORE_INSTANCES, MAX_MEMORIES, MAX_TABLES};
pub use engine::{PrepareError, Prepared, Sandbox, SandboxOptions};
pub use imports::{Grant, Import, ImportKind};
pub use run::{Ending, Place, SandboxError};
pub use state::{CallContext, Platform, PlatformAction, PlatformComponent};
pub use work::{Answer, CalleeFuture, People, Surroundings, Within, Work};
