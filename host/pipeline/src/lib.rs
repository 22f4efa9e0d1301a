//! The pipeline of every call: find, permit, validate, run, commit, answer. Nothing else runs an action.
//!
//! In reading order:
//!
//! - `host`: the parts of a running host that a call uses
//! - `call`: a call by an agent, from its permission to its answer
//! - `permission`, `rates`: what a caller may do, and how often
//! - `message_limits`, `text_messages`: which text messages may be sent, and what they may cost
//! - `idempotency`: the stored answers of calls with an idempotency key
//! - `approvals`, `hold`, `approved`: which calls wait for a person, a waiting call, and a call that a person has
//!   approved
//! - `run`: a call until its commit, with retries after conflicts; `replaced`: the same with the newest version
//! - `traces`: the spans of a commit and of its events
//! - `execution`, `execute`: one run of an action in a sandbox, for every kind of call
//! - `answer`, `outcome`: the check of a component's answer; the outcome of a call
//! - `explain`: the failure that names a cause which the component did not know how to tell
//! - `next_step`: an outcome never names the same call again
//! - `nested`: the services of a running component, such as nested calls
//! - `system`: actions that the host runs itself; `due`, `workers` (timers, subscriptions, messages), `lookups`
//!   and `operate` (the operator, pages) use it; `held` releases held events
//! - `emails`, `email_texts`, `email_work`: emails to people about what has happened
//! - `audit_limits`: which runs of timers and deliveries get a row in the audit log
//! - `logs`: how much capabilities may log
//! - `unreadable`: the documents that capabilities cannot read
//! - `documents`: the repair of documents in quarantine, for the operator
//! - `publications`: tells capabilities which publication of the feeds is served
//! - `people`: the export and the erasure of a person's data
//! - `test_call`: one run of an action as an author's test describes it
//! - `observe`, `observed`: what an author sees of each call
//! - `meters`: counters for the operator, which `instruments` keeps with each action; `health`: what fails lately, for
//!   the public
//! - `recordings`, `recorded`: the calls that are recorded, and how they are written
//! - `replay`: runs recorded calls again, with the same component or another one, without any effect
//! - `recent_calls`: the runs of the last minutes by action, for the operator
//!
//! Invariants: no action runs before it is permitted; only the commit of a call keeps its writes.

mod answer;
mod approvals;
mod approved;
mod audit_limits;
mod call;
mod documents;
mod due;
mod email_texts;
mod email_work;
mod emails;
mod execute;
mod execution;
mod explain;
mod health;
mod held;
mod hold;
mod host;
mod idempotency;
mod instruments;
mod logs;
mod lookups;
mod message_limits;
mod meters;
mod nested;
mod next_step;
mod observe;
mod observed;
mod operate;
mod outcome;
mod people;
mod permission;
mod publications;
mod rates;
mod recent_calls;
mod recorded;
mod recordings;
mod replaced;
mod replay;
mod test_call;
mod run;
mod system;
mod text_messages;
mod traces;
mod unreadable;
mod workers;

pub use call::{Call, CallOutcome};
pub use documents::DocumentLocation;
pub use emails::{EmailStatus, Emails};
pub use health::{CallHealth, Condition};
pub use host::{Host, TEXT_MESSAGES};
pub use message_limits::MessageLimits;
pub use meters::{Latency, Meters, TraceLabels, latency};
pub use observed::ObservedCall;
pub use operate::Operation;
pub use outcome::{Answer, Emitted, Meta};
pub use permission::ensure_permitted;
pub use rates::{AccountUse, RateLimitState, RateUse, Rates, Work};
pub use recent_calls::{ActionReport, CodeCount, MinuteReport, RecentCalls, RecentReport};
pub use recordings::Recordings;
pub use replay::{
    Rehearsal, RehearsedRun, ReplayError, ReplayVerdict, ReplayedCall, ReplayedRun, redacted,
};
pub use test_call::{CalleeStubs, Effects, TestCall, TestCallOutcome};
pub use text_messages::MessageCosts;
