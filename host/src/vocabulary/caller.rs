//! Who a call acts for.

use std::sync::Arc;

/// An authenticated agent, or the host itself (a timer, a subscription).
#[derive(Debug, Clone)]
pub enum Caller {
    Agent(AgentCaller),
    System,
}

/// An agent behind a verified token. Claim and suspension are read live, not from the token.
#[derive(Debug, Clone)]
pub struct AgentCaller {
    pub agent_id: Arc<str>,
    pub client_id: Arc<str>,
    pub owner_id: Option<Arc<str>>,
    /// Scopes of the token.
    pub scopes: Arc<[String]>,
    pub test_mode: bool,
}

impl AgentCaller {
    pub fn holds(&self, scope: &str) -> bool {
        self.scopes.iter().any(|held| held == scope)
    }
}
