//! What the requests of an address cost, whatever they are: a budget of processor time for agents, one for everything
//! else, and one of stored bytes.

use super::{Account, Rate, Rates, refused};
use portolan_vocabulary::Failure;
use std::net::IpAddr;

/// The estimated cost of a request, without the computing of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Work {
    /// Whether agents make such requests.
    pub of_agents: bool,
    /// The time of processors, in microseconds.
    pub micros: u64,
    /// The bytes by which the database grows.
    pub bytes: u64,
}

impl Rates {
    /// Charges the cost of a request to its address and the network, before it is handled. A request may cost more
    /// than is left; it is `rate_limited` if nothing is left, and then nothing is charged.
    pub fn charge_work(&self, address: Option<IpAddr>, work: Work) -> Result<(), Failure> {
        let Some(counters) = &self.0 else { return Ok(()) };
        let Some(address) = address else { return Ok(()) };
        let rate = if work.of_agents { Rate::Work } else { Rate::PageWork };
        let costs = [(rate, work.micros), (Rate::StoredBytes, work.bytes)];
        let charged = costs.map(|(rate, amount)| {
            [Account::address(address), Account::network(address)]
                .map(|account| (amount > 0).then(|| (counters.counted(rate, account), amount)))
        });
        let now = counters.clock.now();
        for (counted, _) in charged.iter().flatten().flatten() {
            if let Some(wait) = counted.counter.wait(now) {
                return Err(refused(counted, wait));
            }
        }
        for (counted, amount) in charged.iter().flatten().flatten() {
            counters.charge(&counted.counter, *amount);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_vocabulary::{Access, AgentCaller, Clock, HOUR, Keyring, Limits, Timestamp};
    use serde_json::json;
    use std::{sync::Arc, time::Duration};

    const REQUEST: Work = Work { of_agents: true, micros: 30_000, bytes: 0 };

    fn rates() -> (Rates, Clock) {
        let limits =
            Limits { work_ms_per_hour: 100, stored_bytes_per_hour: 1_000, ..Limits::default() };
        let keys = Keyring::parse(&Keyring::generate().unwrap()).unwrap();
        let clock = Clock::fixed_at(Timestamp::from_millis(1_700_000_000_000));
        (Rates::new(&limits, &keys, clock.clone()), clock)
    }

    fn address(text: &str) -> Option<IpAddr> {
        Some(text.parse().unwrap())
    }

    #[test]
    fn requests_of_every_kind_use_up_one_budget_of_their_address() {
        let (rates, clock) = rates();
        let admitted = |address: Option<IpAddr>, work: Work| {
            (0..100).take_while(|_| rates.charge_work(address, work).is_ok()).count()
        };
        let one = address("192.0.2.1");
        // The last one takes more than is left.
        assert_eq!(admitted(one, REQUEST), 4);
        let failure = rates.charge_work(one, REQUEST).unwrap_err();
        assert_eq!(failure.error_code, "rate_limited");
        let conflict = failure.conflict.unwrap();
        let named = (&conflict["name"], &conflict["limit"]);
        assert_eq!(named, (&json!("work_ms_per_hour"), &json!(100)));
        // 20 ms above the limit refill in 720 s.
        assert_eq!(failure.next.unwrap()["after_s"], 721);
        clock.advance(Duration::from_secs(722));
        assert_eq!(admitted(one, REQUEST), 1);
        // Agents and pages have budgets of their own.
        let page = Work { of_agents: false, ..REQUEST };
        assert!(rates.charge_work(one, REQUEST).is_err() && rates.charge_work(one, page).is_ok());
        let stored = Work { micros: 0, bytes: 400, ..REQUEST };
        assert_eq!(admitted(address("198.51.100.1"), stored), 3);
        // The addresses of a network have four times as much.
        let network =
            (2..20).map(|number| admitted(address(&format!("192.0.2.{number}")), REQUEST));
        assert!((8..=12).contains(&network.sum::<usize>()));
        assert_eq!(admitted(None, REQUEST), 100);
        assert!(Rates::unlimited().charge_work(one, REQUEST).is_ok());
    }

    #[test]
    fn the_hour_after_a_long_rest_is_worth_twice_the_budget() {
        let (rates, clock) = rates();
        let (one, mut admitted) = (address("192.0.2.1"), 0);
        let small = Work { micros: 1_000, ..REQUEST };
        for _ in 0..=60 {
            admitted += (0..1_000).take_while(|_| rates.charge_work(one, small).is_ok()).count();
            clock.advance(HOUR / 60);
        }
        assert!((195..=201).contains(&admitted), "{admitted}");
    }

    #[test]
    fn the_computing_of_agents_that_nobody_has_claimed_is_work_of_their_address() {
        let (rates, _) = rates();
        let caller = |owner: Option<&str>| AgentCaller {
            agent_id: Arc::from("agt"),
            client_id: Arc::from(""),
            owner_id: owner.map(Arc::from),
            agent_name: None,
            scopes: Arc::from([]),
            test_mode: false,
            suspension: None,
            policy: None,
            address: address("192.0.2.1"),
        };
        let run = |owner: Option<&str>| {
            let (caller, time) = (caller(owner), Duration::from_millis(200));
            let own = rates.of(&caller, false);
            own.count_call(Access::Read).unwrap();
            own.charge_run_time(time);
            rates.charge_computing(&caller, time);
        };
        run(Some("own"));
        assert!(rates.charge_work(address("192.0.2.1"), REQUEST).is_ok());
        run(None);
        assert!(rates.charge_work(address("192.0.2.1"), REQUEST).is_err());
        assert!(rates.charge_work(address("192.0.2.2"), REQUEST).is_ok());
    }
}
