//! Calls to this capability at a later time.
//!
//! A timer survives restarts. It runs an action of access `internal` at least once, as the caller `system`.
//!
//! ```no_run
//! use portolan_sdk::{prelude::*, timers};
//!
//! #[derive(Serialize, Deserialize, JsonSchema)]
//! struct Loan {
//!     book: String,
//! }
//!
//! struct Library;
//!
//! /// Lends books.
//! #[capability(id = "library", title = "Library")]
//! impl Library {
//!     /// Lend a book for a day.
//!     #[action(access = write)]
//!     fn lend(call: &Call, input: Loan) -> Result<NoOutput, Refusal> {
//!         let name = format!("return/{}", input.book);
//!         timers::set(&name, call.now() + 86_400_000, "overdue", &input)?;
//!         Ok(NoOutput {})
//!     }
//!
//!     /// Take a book back.
//!     #[action(access = write)]
//!     fn give_back(_call: &Call, input: Loan) -> Result<NoOutput, Refusal> {
//!         timers::cancel(&format!("return/{}", input.book))?;
//!         Ok(NoOutput {})
//!     }
//!
//!     /// Ask for a book.
//!     #[action(access = internal)]
//!     fn overdue(_call: &Call, input: Loan) -> Result<NoOutput, Refusal> {
//!         log::info!("{} is overdue", input.book);
//!         Ok(NoOutput {})
//!     }
//! }
//! ```

use crate::contract::{HostError, timers as host};
use serde::Serialize;

/// Sets a timer that runs an internal action of this capability at a time, in milliseconds since
/// the Unix epoch. It replaces a timer of this name. Like every effect, it is committed with the
/// call.
pub fn set(
    name: &str,
    at: u64,
    action: &str,
    input: &(impl Serialize + ?Sized),
) -> Result<(), HostError> {
    host::set(name, at, action, &crate::to_json(input))
}

/// Cancels a timer, and returns whether it existed.
pub fn cancel(name: &str) -> Result<bool, HostError> {
    host::cancel(name)
}
