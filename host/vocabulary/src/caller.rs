//! The caller: the agent, or the system, that a call acts for.

use crate::{ApprovalPolicy, Timestamp};
use serde_json::Value;
use std::{net::IpAddr, sync::Arc};

/// An authenticated agent, or the host itself (a timer, a subscription).
#[derive(Debug, Clone)]
pub enum Caller {
    Agent(AgentCaller),
    System { test_mode: bool },
}

impl Caller {
    /// Returns the agent, if one calls.
    pub const fn agent(&self) -> Option<&AgentCaller> {
        match self {
            Self::Agent(agent) => Some(agent),
            Self::System { .. } => None,
        }
    }

    /// Returns whether the call runs in test mode, whose data is invisible in live mode.
    pub fn test_mode(&self) -> bool {
        match self {
            Self::Agent(agent) => agent.test_mode,
            Self::System { test_mode } => *test_mode,
        }
    }
}

/// An agent behind a verified token. Its owner, name and mode are from the agent's record, not from the
/// token.
#[derive(Debug, Clone)]
pub struct AgentCaller {
    pub agent_id: Arc<str>,
    pub client_id: Arc<str>,
    pub owner_id: Option<Arc<str>>,
    /// The name given at registration, or by the owner since.
    pub agent_name: Option<Arc<str>>,
    /// Scopes of the token.
    pub scopes: Arc<[String]>,
    pub test_mode: bool,
    /// The suspension of the owner, if they are suspended.
    pub suspension: Option<Arc<Suspension>>,
    /// The approval policy of the owner, if the owner limits their agents.
    pub policy: Option<Arc<ApprovalPolicy>>,
    /// The address of the client, if it is known.
    pub address: Option<IpAddr>,
}

impl AgentCaller {
    pub fn has_scope(&self, scope: &str) -> bool {
        self.scopes.iter().any(|held| held == scope)
    }
}

/// The suspension of a person: their agents can read, but not write.
#[derive(Debug, Clone)]
pub struct Suspension {
    /// The reason, for the person and their agents.
    pub reason: String,
    /// `None` until the person is reinstated.
    pub until: Option<Timestamp>,
    /// The step by which the person appeals.
    pub appeal: Option<Value>,
}

impl Suspension {
    pub fn is_in_force(&self, now: Timestamp) -> bool {
        self.until.is_none_or(|until| now < until)
    }
}

/// An agent that a person has claimed.
#[derive(Debug, Clone)]
pub struct Claimed {
    pub owner_id: String,
    /// Whether the person was known before this claim.
    pub linked_existing: bool,
}

/// An owner as the identity records show them.
#[derive(Debug, Clone)]
pub struct KnownOwner {
    pub created_at: Timestamp,
    pub test_mode: bool,
    /// The number of the owner's agents.
    pub agents: usize,
}

/// One of a person's agents.
#[derive(Debug, Clone)]
pub struct OwnedAgent {
    pub agent_id: String,
    pub name: Option<String>,
    pub created_at: Timestamp,
    pub claimed_at: Option<Timestamp>,
    /// The time of the last call, accurate to about a day.
    pub last_call_at: Option<Timestamp>,
    /// The client that acts as this agent, if it is known.
    pub client_id: Option<String>,
    /// The scopes of the person's last consent, separated by spaces; `None` for an agent that was claimed.
    pub scope: Option<String>,
}
