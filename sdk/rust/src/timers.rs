//! Calls to this capability at a later time.
//!
//! A timer survives restarts, runs an action of access `internal` at least once, and for nobody:
//! there is no agent in that call.
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
//!     fn overdue(call: &Call, input: Loan) -> Result<NoOutput, Refusal> {
//!         call.log(&format!("{} is overdue", input.book));
//!         Ok(NoOutput {})
//!     }
//! }
//! ```

use crate::contract::{HostError, timers as host};
use serde::Serialize;

/// Runs an internal action of this capability at a time, in milliseconds since the Unix epoch.
/// Another timer of this name is replaced. Like every effect, it holds only if the call commits.
pub fn set(
    name: &str,
    at: u64,
    action: &str,
    input: &(impl Serialize + ?Sized),
) -> Result<(), HostError> {
    host::set(name, at, action, &crate::to_json(input))
}

/// Answers whether there was such a timer.
pub fn cancel(name: &str) -> Result<bool, HostError> {
    host::cancel(name)
}
