//! What an author sees of a call that has ended.

use portolan_vocabulary::{AgentCaller, Failure};
use serde_json::{Map, Value};
use std::time::Duration;

/// A call that was run or refused.
#[derive(Debug)]
pub struct Observed {
    pub capability: String,
    /// None if the body names none.
    pub action: Option<String>,
    /// What an agent sent; none for a timer, a subscription or the operator.
    pub sent: Option<(AgentCaller, Map<String, Value>)>,
    /// The failure, if it was refused.
    pub failure: Option<Failure>,
    pub took: Duration,
}
