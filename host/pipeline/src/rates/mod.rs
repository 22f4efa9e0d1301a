//! Rates: how often and how much callers may do.
//!
//! Each rate of the table is counted for each account: an agent, a client or an owner, an address, and its
//! network. A count is a bucket that refills evenly, so a burst may be as large as the limit. Nodes tell each
//! other through the database what was taken, a tenth of a limit at a time, and a restart forgets no more than
//! that.
//!
//! - `table`: the rates
//! - `account`: the accounts
//! - `caller`: the counters of one caller; `of_caller`: what a call does with them, after one look-up
//! - `counter`: the bucket of one account
//! - `concurrency`: how many calls of one caller run at once
//! - `exchange`: the exchange with the database
//! - `usage`: what accounts have used, for the operator
//! - `published`: reads under secret addresses
//! - `work`: the estimated cost of every request of an address

mod account;
mod caller;
mod concurrency;
mod counter;
mod exchange;
mod of_caller;
mod published;
mod table;
mod usage;
mod work;

use account::Account;
use ahash::RandomState;
use arc_swap::ArcSwap;
use caller::{CallerAccounts, CallerCounters, CallerKey, Counted, key_of};
use concurrency::Concurrency;
use counter::{Counter, Taken};
use exchange::Exchange;
use moka::sync::Cache;
use portolan_store::{DbError, Store};
use portolan_vocabulary::{AgentCaller, Clock, ErrorCode, Failure, HOUR, Keyring, Limits};
use serde_json::json;
use std::{net::IpAddr, sync::Arc, time::Duration};
use table::{CALLER_LIFE, Rate};
use tokio::sync::watch;

pub(crate) use of_caller::CallerRates;
pub use usage::{AccountUse, RateUse};
pub use work::Work;

/// The maximum number of counters. More of them evict those that are used the least.
const MAX_COUNTERS: u64 = 100_000;
/// The maximum number of callers whose counters are kept together.
const MAX_CALLERS: u64 = 10_000;

/// The interval of exchanges with the database.
const EXCHANGE_INTERVAL: Duration = Duration::from_secs(1);

/// The state of a caller's limit (draft-ietf-httpapi-ratelimit-headers).
#[derive(Debug, Clone, Copy)]
pub struct RateLimitState {
    pub policy: &'static str,
    pub limit: u64,
    pub window_s: u64,
    pub remaining: u64,
    /// The seconds until the whole limit is available again.
    pub reset_s: u64,
}

/// The counters of every rate; `None` if there are no limits.
#[derive(Debug)]
pub struct Rates(Option<Counters>);

#[derive(Debug)]
struct Counters {
    limits: ArcSwap<Limits>,
    clock: Clock,
    counters: Cache<(Rate, Account), Arc<Counter>, RandomState>,
    callers: Cache<CallerKey, Arc<CallerCounters>, RandomState>,
    concurrency: Concurrency,
    exchange: Exchange,
}

impl Rates {
    pub fn new(limits: &Limits, keys: &Keyring, clock: Clock) -> Self {
        // After the longest period without a use, the whole limit is available again, as for a new account.
        let builder = Cache::builder().max_capacity(MAX_COUNTERS).time_to_idle(HOUR);
        let counters = builder.build_with_hasher(RandomState::new());
        let builder = Cache::builder().max_capacity(MAX_CALLERS).time_to_live(CALLER_LIFE);
        let callers = builder.build_with_hasher(RandomState::new());
        let concurrency = Concurrency::new(limits, MAX_COUNTERS);
        let (limits, exchange) = (ArcSwap::from_pointee(limits.clone()), Exchange::new(keys));
        Self(Some(Counters { limits, clock, counters, callers, concurrency, exchange }))
    }

    /// Returns rates without limits, for tests and benchmarks.
    pub fn unlimited() -> Self {
        Self(None)
    }

    /// Uses these limits from now on. The used share of a limit stays used, as a share of the new one.
    pub fn set_limits(&self, limits: &Limits) {
        let Some(counters) = &self.0 else { return };
        counters.limits.store(Arc::new(limits.clone()));
        for (key, counter) in &counters.counters {
            let (rate, account) = &*key;
            counter.set_limit(counters.limit(*rate, account));
        }
        counters.callers.invalidate_all();
    }

    /// Counts a request from an address.
    pub fn count_request(&self, address: Option<IpAddr>) -> Result<(), Failure> {
        self.count_by_address(Rate::Requests, address)
    }

    /// Counts a request for a token, or about one, before its client is authenticated.
    pub fn count_token_request(&self, address: Option<IpAddr>) -> Result<(), Failure> {
        self.count_by_address(Rate::TokenRequests, address)
    }

    /// Counts a request for a token, or about one, of an authenticated client.
    pub fn count_token_request_of(&self, client_id: &str) -> Result<(), Failure> {
        let Some(counters) = &self.0 else { return Ok(()) };
        counters.count(Rate::TokenRequests, Account::Caller(Arc::from(client_id))).map(drop)
    }

    /// Counts an entered code for which no device waits, against the limits of the address, its network and all
    /// addresses together.
    pub fn count_wrong_user_code(&self, address: Option<IpAddr>) {
        let Some(counters) = &self.0 else { return };
        for account in user_code_accounts(address) {
            counters.charge(&counters.counted(Rate::WrongUserCodes, account).counter, 1);
        }
    }

    /// Returns the time to wait if too many wrong codes of devices were entered from this address, its network
    /// or anywhere.
    pub fn ensure_user_codes(&self, address: Option<IpAddr>) -> Result<(), Duration> {
        let Some(counters) = &self.0 else { return Ok(()) };
        let (rate, now) = (Rate::WrongUserCodes, counters.clock.now());
        let waits = user_code_accounts(address)
            .filter_map(|account| counters.counted(rate, account).counter.wait(now));
        waits.max().map_or(Ok(()), Err)
    }

    /// Counts a registration from an address.
    pub fn count_registration(&self, address: Option<IpAddr>) -> Result<(), Failure> {
        self.count_by_address(Rate::Registrations, address)
    }

    /// Counts a view of a page that makes a call, against the limit of anonymous agents for this address.
    pub fn count_page_view(&self, address: Option<IpAddr>) -> Result<(), Failure> {
        self.count_by_address(Rate::AnonymousCalls, address)
    }

    /// Returns the accounts on this node that were refused the most, then those that have used the largest
    /// share of a rate; `None` if there are no limits.
    pub fn busiest(&self, most: usize) -> Option<Vec<AccountUse>> {
        let counters = self.0.as_ref()?;
        let now = counters.clock.now();
        let uses = counters.counters.iter().map(|(key, counter)| {
            let (rate, account) = &*key;
            let (used, (allowed, window), refused) = counter.usage(now);
            let (row, window_s) = (rate.row(), window.as_secs());
            let (limit, used) = (row.name, used.div_ceil(row.parts));
            let allowed = allowed / row.parts;
            (account.text(), account.kind(), RateUse { limit, used, allowed, window_s, refused })
        });
        Some(usage::busiest(uses, most))
    }

    fn count_by_address(&self, rate: Rate, address: Option<IpAddr>) -> Result<(), Failure> {
        let Some(counters) = &self.0 else { return Ok(()) };
        counters.count_by_address(rate, address)
    }

    /// Reads the counts of an earlier run and of other nodes.
    ///
    /// # Errors
    ///
    /// Fails if the database cannot be read.
    pub async fn restore(&self, store: &Store) -> Result<(), DbError> {
        let Some(counters) = &self.0 else { return Ok(()) };
        counters.exchange.restore(store, counters.clock.now()).await
    }

    /// Exchanges counts with the database until `stop` becomes true, and then once more, all of them.
    pub(super) async fn exchange_until(&self, mut stop: watch::Receiver<bool>, store: &Store) {
        let Some(Counters { clock, exchange, counters, .. }) = &self.0 else { return };
        while !*stop.borrow() {
            let now = clock.now();
            if let Err(error) = exchange.exchange(store, exchange.take_queue(), now).await {
                tracing::warn!(%error, "the rates of callers cannot be shared with other nodes");
            }
            tokio::select! {
                () = clock.sleep_until(now.plus(EXCHANGE_INTERVAL)) => {}
                _ = stop.changed() => {}
            }
        }
        let all = counters.iter().map(|(_, counter)| counter).collect();
        if let Err(error) = exchange.exchange(store, all, clock.now()).await {
            tracing::warn!(%error, "the rates of callers cannot be kept for the next start");
        }
    }
}

impl Counters {
    fn count_by_address(&self, rate: Rate, address: Option<IpAddr>) -> Result<(), Failure> {
        for account in Account::of_address(address) {
            self.count(rate, account)?;
        }
        Ok(())
    }

    /// Takes one of a rate out of the account's counter.
    fn count(&self, rate: Rate, account: Account) -> Result<RateLimitState, Failure> {
        self.take(&self.counted(rate, account))
    }

    fn take(&self, counted: &Counted) -> Result<RateLimitState, Failure> {
        let Counted { row, limit, counter, .. } = counted;
        let Taken { left, full_in, queue } =
            counter.take(1, self.clock.now()).map_err(|wait| refused(counted, wait))?;
        if queue {
            self.exchange.queue(Arc::clone(counter));
        }
        Ok(RateLimitState {
            policy: row.policy,
            limit: limit.0,
            window_s: limit.1.as_secs(),
            remaining: left,
            reset_s: seconds(full_in),
        })
    }

    /// Refuses a caller that has used up its run time.
    fn ensure_run_time(&self, caller: &CallerCounters) -> Result<(), Failure> {
        let now = self.clock.now();
        let used_up = |counted: &Counted| Some(refused(counted, counted.counter.wait(now)?));
        caller.run_time.iter().find_map(used_up).map_or(Ok(()), Err)
    }

    fn charge(&self, counter: &Arc<Counter>, amount: u64) {
        if counter.charge(amount, self.clock.now()).queue {
            self.exchange.queue(Arc::clone(counter));
        }
    }

    /// Returns how much an account may take of a rate, and in which time it refills.
    fn limit(&self, rate: Rate, account: &Account) -> (u64, Duration) {
        let row = rate.row();
        let limit = (row.limit)(&self.limits.load()).saturating_mul(account.factor(row.factors));
        (limit.max(1).saturating_mul(row.parts), row.period)
    }

    /// Returns the counter of an account for a rate.
    fn counted(&self, rate: Rate, account: Account) -> Counted {
        let (row, kind) = (rate.row(), account.kind());
        let limit = self.limit(rate, &account);
        let counter = self.counters.get_with((rate, account.clone()), || {
            let key = self.exchange.key(row.name, &account);
            let bucket = self.exchange.restored(&key);
            Arc::new(Counter::new(key, limit, bucket))
        });
        Counted { row, kind, limit, counter }
    }

    /// Returns the counters of a caller.
    fn of_caller(&self, caller: &AgentCaller, by_person: bool) -> Arc<CallerCounters> {
        self.callers.get_with(key_of(caller, by_person), || {
            let CallerAccounts { calls, run_time, agent, at_address, of_run_time, of_running } =
                CallerAccounts::of(caller, by_person);
            let running = |account: &Account| {
                let factor = account.factor(run_time.row().factors);
                self.concurrency.running(account.clone(), factor)
            };
            let counted = |rate, accounts: Vec<Account>| {
                accounts.into_iter().map(|account| self.counted(rate, account)).collect()
            };
            Arc::new(CallerCounters {
                calls: self.counted(calls, agent.clone()),
                account: agent,
                work: counted(Rate::Work, at_address.clone()),
                calls_at_address: counted(calls, at_address),
                running: of_running.iter().map(running).collect(),
                run_time: counted(run_time, of_run_time),
            })
        })
    }
}

/// Returns the key under which an address is counted: an IPv4 address itself, or the /64 of an IPv6 address.
pub(crate) fn address_text(address: IpAddr) -> String {
    Account::address(address).text()
}

/// Returns the accounts of who enters a code of a device at an address. That of all of them is not the id of any
/// client.
fn user_code_accounts(address: Option<IpAddr>) -> impl Iterator<Item = Account> {
    [Account::Caller(Arc::from("user codes"))].into_iter().chain(Account::of_address(address))
}

/// Counts a refusal of the account, and returns it.
fn refused(counted: &Counted, wait: Duration) -> Failure {
    let Counted { row, kind, limit: (limit, period), counter } = counted;
    counter.note_refusal();
    let wait_s = seconds(wait).max(1);
    let after_s = u32::try_from(wait_s).unwrap_or(u32::MAX);
    Failure::new(ErrorCode::RateLimited).after_s(after_s).conflict(json!({
        "kind": "limit",
        "name": row.name,
        "of": kind,
        "limit": limit / row.parts,
        "remaining": 0,
        "window_s": period.as_secs(),
        "retry_after_s": wait_s,
    }))
}

/// Returns a time in seconds, rounded up.
fn seconds(time: Duration) -> u64 {
    u64::try_from(time.as_millis().div_ceil(1000)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_vocabulary::{Access, Timestamp};

    fn rates() -> (Rates, Clock) {
        let limits = Limits {
            anonymous_calls_per_minute: 3,
            anonymous_run_ms_per_hour: 100,
            registrations_per_hour: 2,
            ..Limits::default()
        };
        let keys = Keyring::parse(&Keyring::generate().unwrap()).unwrap();
        let clock = Clock::fixed_at(Timestamp::from_millis(1_700_000_000_000));
        (Rates::new(&limits, &keys, clock.clone()), clock)
    }

    fn caller(agent_id: &str, address: &str) -> AgentCaller {
        AgentCaller {
            agent_id: Arc::from(agent_id),
            client_id: Arc::from(""),
            owner_id: None,
            agent_name: None,
            scopes: Arc::from([]),
            test_mode: false,
            suspension: None,
            policy: None,
            address: Some(address.parse().unwrap()),
        }
    }

    #[test]
    fn a_limit_is_counted_for_each_caller_and_refills_evenly() {
        let (rates, clock) = rates();
        let count = |agent| rates.of(&caller(agent, "192.0.2.1"), false).count_call(Access::Read);
        let left: Vec<_> = (0..3).map(|_| count("one").unwrap()[0].remaining).collect();
        assert_eq!(left, [2, 1, 0]);
        let refused = count("one").unwrap_err();
        assert_eq!(refused.error_code, "rate_limited");
        assert_eq!(refused.next.unwrap()["after_s"], 20);
        assert_eq!(count("other").unwrap()[0].reset_s, 20);
        clock.advance(Duration::from_secs(20));
        assert!(count("one").is_ok() && count("one").is_err());
    }

    #[test]
    fn many_agents_of_one_address_share_the_limit_of_the_address() {
        let (rates, _) = rates();
        let count = |number: usize, address: &str| {
            let caller = caller(&format!("agent {number}"), address);
            rates.of(&caller, false).count_call(Access::Read)
        };
        let counted = (0..100).filter(|number| count(*number, "192.0.2.1").is_ok()).count();
        assert_eq!(counted, 30);
        let refused = count(100, "192.0.2.1").unwrap_err().conflict.unwrap();
        assert_eq!((&refused["of"], &refused["limit"]), (&json!("address"), &json!(30)));
        // Four addresses use up the limit of their network.
        let counted = (0..200)
            .filter(|number| count(200 + number, &format!("192.0.2.{}", 2 + number % 4)).is_ok())
            .count();
        assert_eq!(counted, 90);
        assert!(count(500, "198.51.100.1").is_ok());
    }

    #[test]
    fn the_time_of_calls_is_charged_and_refused_when_it_is_used_up() {
        let (rates, clock) = rates();
        let caller = caller("one", "192.0.2.1");
        let own = rates.of(&caller, false);
        let charge = || own.charge_run_time(Duration::from_millis(150));
        assert!(own.count_call(Access::Read).is_ok());
        charge();
        let refused = own.count_call(Access::Read).unwrap_err().conflict.unwrap();
        assert_eq!(refused["name"], "anonymous_run_ms_per_hour");
        // A millisecond refills in 36 s.
        clock.advance(HOUR / 2 + Duration::from_secs(36));
        assert!(own.count_call(Access::Read).is_ok());
        let claimed = AgentCaller { owner_id: Some(Arc::from("own")), ..caller.clone() };
        charge();
        assert!(rates.of(&claimed, false).count_call(Access::Read).is_ok());
    }
}
