//! Who a call acts for.

use crate::Timestamp;
use std::{net::IpAddr, sync::Arc};

/// An authenticated agent, or the host itself (a timer, a subscription).
#[derive(Debug, Clone)]
pub enum Caller {
    Agent(AgentCaller),
    System { test_mode: bool },
}

impl Caller {
    /// Whether it is about identities of test mode, whose data no live one sees.
    pub fn test_mode(&self) -> bool {
        match self {
            Self::Agent(agent) => agent.test_mode,
            Self::System { test_mode } => *test_mode,
        }
    }
}

/// An agent behind a verified token. Claim and suspension are read live, not from the token.
#[derive(Debug, Clone)]
pub struct AgentCaller {
    pub agent_id: Arc<str>,
    pub client_id: Arc<str>,
    pub owner_id: Option<Arc<str>>,
    /// As it gave it at its registration, or as its person named it since.
    pub agent_name: Option<Arc<str>>,
    /// Scopes of the token.
    pub scopes: Arc<[String]>,
    pub test_mode: bool,
    /// Where it calls from, if that is known.
    pub address: Option<IpAddr>,
}

impl AgentCaller {
    pub fn holds(&self, scope: &str) -> bool {
        self.scopes.iter().any(|held| held == scope)
    }
}

/// An agent that a person has claimed.
#[derive(Debug, Clone)]
pub struct Claimed {
    pub owner_id: String,
    /// The person was known before this claim.
    pub linked_existing: bool,
}

/// A person, as far as the register of identities knows them.
#[derive(Debug, Clone)]
pub struct KnownOwner {
    pub created_at: Timestamp,
    pub test_mode: bool,
    /// How many agents the person has.
    pub agents: usize,
}

/// One of a person's agents.
#[derive(Debug, Clone)]
pub struct OwnedAgent {
    pub agent_id: String,
    pub name: Option<String>,
    pub created_at: Timestamp,
    pub claimed_at: Option<Timestamp>,
    /// About a day exact.
    pub last_call_at: Option<Timestamp>,
}
