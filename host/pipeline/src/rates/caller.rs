//! The counters of one caller at one address, which a call would otherwise look up a dozen times.

use super::{
    account::Account,
    concurrency::Running,
    counter::Counter,
    table::{Rate, Row},
};
use portolan_vocabulary::AgentCaller;
use std::{net::IpAddr, sync::Arc, time::Duration};

/// The parts that distinguish callers: the agent, its owner, the address, and whether a person makes the call on a
/// page.
pub(super) type CallerKey = (Arc<str>, Option<Arc<str>>, Option<IpAddr>, bool);

pub(super) fn key_of(caller: &AgentCaller, by_person: bool) -> CallerKey {
    (Arc::clone(&caller.agent_id), caller.owner_id.clone(), caller.address, by_person)
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
    /// The account to which calls and writes are counted.
    pub(super) account: Account,
    pub(super) calls: Counted,
    /// The counters of an unclaimed agent's address and network; empty for a claimed agent.
    pub(super) calls_at_address: Vec<Counted>,
    pub(super) run_time: Vec<Counted>,
    /// The counters of an unclaimed agent's address and network, to which its computing is charged as work.
    pub(super) work: Vec<Counted>,
    pub(super) running: Vec<Running>,
}

/// The rates of a caller and its accounts.
pub(super) struct CallerAccounts {
    pub(super) calls: Rate,
    pub(super) run_time: Rate,
    /// The account to which calls and writes are counted.
    pub(super) agent: Account,
    /// The accounts of an unclaimed agent's address and network.
    pub(super) at_address: Vec<Account>,
    /// The accounts to which run time is charged: a person, or an agent without one, its address and its network.
    pub(super) of_run_time: Vec<Account>,
    /// The accounts whose running calls are counted.
    pub(super) of_running: Vec<Account>,
}

impl CallerAccounts {
    /// Returns the accounts of a caller. The calls that a person makes on a page have accounts of their own, so that
    /// agents cannot use them up.
    pub(super) fn of(caller: &AgentCaller, by_person: bool) -> Self {
        let agent = Account::Caller(Arc::clone(&caller.agent_id));
        match &caller.owner_id {
            Some(owner) if by_person => {
                let page = Account::Caller(Arc::from(format!("page of {owner}")));
                Self {
                    calls: Rate::ClaimedCalls,
                    run_time: Rate::ClaimedRunTime,
                    agent: page.clone(),
                    at_address: Vec::new(),
                    of_run_time: vec![page.clone()],
                    of_running: vec![page],
                }
            }
            Some(owner) => Self {
                calls: Rate::ClaimedCalls,
                run_time: Rate::ClaimedRunTime,
                agent,
                at_address: Vec::new(),
                of_run_time: vec![Account::Caller(Arc::clone(owner))],
                of_running: vec![Account::Caller(Arc::clone(owner))],
            },
            None => {
                let at_address: Vec<_> = Account::of_address(caller.address).collect();
                let of_run_time: Vec<_> =
                    [agent.clone()].into_iter().chain(at_address.clone()).collect();
                // A sign-in does not wait for calls of other agents at the same address.
                let of_running = if by_person { vec![agent.clone()] } else { of_run_time.clone() };
                let (calls, run_time) = (Rate::AnonymousCalls, Rate::AnonymousRunTime);
                Self { calls, run_time, agent, at_address, of_run_time, of_running }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(owner_id: Option<&str>, by_person: bool) -> [Vec<String>; 3] {
        let caller = AgentCaller {
            agent_id: Arc::from("agt"),
            client_id: Arc::from(""),
            owner_id: owner_id.map(Arc::from),
            agent_name: None,
            scopes: Arc::from([]),
            test_mode: false,
            suspension: None,
            policy: None,
            address: Some("192.0.2.1".parse().unwrap()),
        };
        let accounts = CallerAccounts::of(&caller, by_person);
        let all = [vec![accounts.agent], accounts.of_run_time, accounts.of_running];
        all.map(|accounts| accounts.iter().map(Account::text).collect())
    }

    #[test]
    fn a_person_on_a_page_and_their_agents_use_different_accounts() {
        assert_eq!(texts(Some("own"), false), [vec!["agt"], vec!["own"], vec!["own"]]);
        let page = vec!["page of own"];
        assert_eq!(texts(Some("own"), true), [page.clone(), page.clone(), page]);
        let at_address = vec!["agt", "192.0.2.1/32", "192.0.2.0/24"];
        assert_eq!(texts(None, false), [vec!["agt"], at_address.clone(), at_address.clone()]);
        assert_eq!(texts(None, true), [vec!["agt"], at_address, vec!["agt"]]);
    }
}
