//! The one way of a call: find, permit, validate, run, commit, answer. Nothing else runs a component.
//!
//! In reading order:
//!
//! - `host`: the parts of a running host that a call uses
//! - `call`: a call by an agent, from its permission to its answer
//! - `permission`, `rates`: who may do what, and how often
//! - `idempotency`: calls that may be repeated without being done twice
//! - `run`: a run to its commit, again after each conflict
//! - `execution`, `execute`: one run of an action in a sandbox, for every kind of call
//! - `answer`, `outcome`: the component's answer held against its declaration; what a call ends with
//! - `nested`: what a running component reaches, calls of other capabilities included
//! - `system`: actions that the host runs itself; `due` (timers, subscriptions, messages), `lookups`
//!   and `operate` (the operator, pages) use it
//! - `meters`: what is counted for the operator
//!
//! Never: an action runs before it is permitted; a write is kept but by the commit of its call.

mod answer;
mod call;
mod due;
mod execute;
mod execution;
mod host;
mod idempotency;
mod lookups;
mod meters;
mod nested;
mod operate;
mod outcome;
mod permission;
mod rates;
mod run;
mod system;

pub use call::{Call, Called};
pub use host::Host;
pub use meters::Meters;
pub use operate::Operation;
pub use outcome::{Answer, Emitted, Meta};
pub use permission::ensure_permitted;
pub use rates::{Rates, Spent};
