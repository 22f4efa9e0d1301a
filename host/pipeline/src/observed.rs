//! A call that has ended, as an author sees it.

use portolan_vocabulary::{AgentCaller, Failure};
use serde_json::{Map, Value};
use std::time::Duration;

/// A call that was run or refused.
#[derive(Debug)]
pub struct ObservedCall {
    pub capability: String,
    /// The action's name; `None` if the call was refused and its body names no action.
    pub action: Option<String>,
    /// The agent's request; `None` for a call by the host itself, or if the body could not be read.
    pub request: Option<(AgentCaller, Map<String, Value>)>,
    /// The failure, if the call was refused.
    pub failure: Option<Failure>,
    pub duration: Duration,
}
