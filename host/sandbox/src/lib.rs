//! The sandbox: one engine that never compiles, and a fresh instance for every call.
//!
//! A component becomes callable in three steps: [`Sandbox::compile`] makes an artifact of it in a
//! child process, [`Sandbox::prepare`] loads the artifact and checks its imports against the grants,
//! [`Sandbox::describe`] asks for its descriptor. A call then takes a [`CallPermit`] and is run by
//! [`Sandbox::run`] on its [`Work`]; it ends with a [`GuestAnswer`] or a [`SandboxError`].
//!
//! # Modules, in reading order
//!
//! - `engine`: the engine and its pool
//! - `code`, `prepare`, `artifact`: how an artifact becomes a [`Prepared`] component
//! - `source`: components that are an engine with a source
//! - `screen`: checks imports and exports before a component is compiled
//! - `compile`, `cache`: the child process that compiles, and the compile cache of authors' commands
//! - `permit`: bounds how many calls run at once
//! - `run`: one call, its limits, and why it ended without an answer; `caller`: the caller as the component gets it
//! - `long_calls`, `processor`: the threads in which a call goes on that computes for long
//! - `describe`: the run that asks a component for its descriptor
//! - `answer`, `error`, `trap`: how a call can end
//! - `context`: what a call knows of itself and of its host
//! - `services`: the unit of work and the services that the pipeline provides
//! - `tape`: what a run asks the host, recorded, and answered again in a replay
//! - `state`: the data of one sandbox, made of `memory`, `random`, `log`, and `wasi` with its `output`
//! - `interfaces`: the host functions, one module for each interface, and the table of them
//! - `imports`, `grant`: which imports are open and which need a grant, as that table says
//! - `contract`: the bindings that are generated from `wit/`
//!
//! # Invariants
//!
//! - No other crate uses wasmtime.
//! - The serving engine never compiles; it loads only artifacts that this host wrote.
//! - A guest never sees another call's instance, and never runs without limits on memory, time and
//!   output.
//! - A component with an unknown import is never loaded, nor is one with a sensitive import that the
//!   operator has not granted.
//! - A host function never reads the clock and never draws randomness that a second run would not
//!   draw again.
//! - A host function never writes to the database: all effects go into the call's unit of work.

mod answer;
mod artifact;
mod cache;
mod caller;
mod code;
mod compile;
mod context;
mod contract;
mod describe;
mod engine;
mod error;
mod grant;
mod imports;
mod interfaces;
mod log;
mod long_calls;
mod memory;
mod output;
mod permit;
mod prepare;
mod processor;
mod random;
mod run;
mod screen;
mod services;
mod source;
mod state;
mod tape;
mod trap;
mod wasi;

pub use answer::GuestAnswer;
pub use compile::{CompileError, CompileRequest, compile_from_stdin};
pub use context::{CallContext, Platform, PlatformAction, PlatformComponent};
pub use contract::CONTRACT;
pub use describe::DescribeError;
pub use engine::{Backtraces, Sandbox, SandboxOptions};
pub use engine::{MAX_CORE_INSTANCES, MAX_MEMORIES, MAX_TABLES};
pub use error::SandboxError;
pub use grant::Grant;
pub use imports::{Import, ImportKind};
pub use permit::CallPermit;
pub use prepare::{PrepareError, Prepared};
pub use run::Ran;
pub use screen::{EXPORTS, screen};
pub use services::{
    HostServices, MessageRefusal, MessageRequest, NestedCall, NestedCallFuture, People, SandboxUse,
    StateFuture, Work,
};
pub use source::{Program, Source, with_source};
pub use tape::{
    Divergence, Ending, Finished, HostCall, LoggedLine, Lost, Player, RecordedCaller, RecordedRun,
    Recorder, Session, Tape,
};
pub use trap::{CallStack, Frame, GuestTrap};
