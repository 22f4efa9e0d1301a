//! The counters of one caller at one address, which a call would otherwise look up a dozen times.

use super::{
    account::Account,
    concurrency::Running,
    counter::Counter,
    table::{Rate, Row},
};
use portolan_vocabulary::AgentCaller;
use std::{net::IpAddr, sync::Arc, time::Duration};

/// What tells callers apart: the agent, its owner, and the address.
pub(super) type CallerKey = (Arc<str>, Option<Arc<str>>, Option<IpAddr>);

pub(super) fn key_of(caller: &AgentCaller) -> CallerKey {
    (Arc::clone(&caller.agent_id), caller.owner_id.clone(), caller.address)
}

/// One account's counter for one rate.
#[derive(Debug)]
pub(super) struct Counted {
    pub(super) row: Row,
    pub(super) kind: &'static str,
    pub(super) limit: (u64, Duration),
    pub(super) counter: Arc<Counter>,
}

/// The counters of a caller.
#[derive(Debug)]
pub(super) struct CallerCounters {
    pub(super) calls: Counted,
    /// Those of an unclaimed agent's address and network.
    pub(super) calls_at_address: Vec<Counted>,
    pub(super) run_time: Vec<Counted>,
    pub(super) running: Vec<Running>,
}

/// The rates of a caller and its accounts.
pub(super) struct CallerAccounts {
    pub(super) calls: Rate,
    pub(super) run_time: Rate,
    pub(super) agent: Account,
    /// The accounts of an unclaimed agent's address and network.
    pub(super) at_address: Vec<Account>,
    /// The accounts to which run time is charged: a person, or an agent without one, its address and its network.
    pub(super) of_run_time: Vec<Account>,
}

impl CallerAccounts {
    pub(super) fn of(caller: &AgentCaller) -> Self {
        let agent = Account::Caller(Arc::clone(&caller.agent_id));
        match &caller.owner_id {
            Some(owner) => Self {
                calls: Rate::ClaimedCalls,
                run_time: Rate::ClaimedRunTime,
                agent,
                at_address: Vec::new(),
                of_run_time: vec![Account::Caller(Arc::clone(owner))],
            },
            None => {
                let at_address: Vec<_> = Account::of_address(caller.address).collect();
                let of_run_time = [agent.clone()].into_iter().chain(at_address.clone()).collect();
                let (calls, run_time) = (Rate::AnonymousCalls, Rate::AnonymousRunTime);
                Self { calls, run_time, agent, at_address, of_run_time }
            }
        }
    }
}
