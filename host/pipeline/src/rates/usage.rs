//! The accounts' use of their rates, for the operator.

use serde::Serialize;
use std::{cmp::Reverse, collections::HashMap};

/// An account with what it has used.
#[derive(Debug, Clone, Serialize)]
pub struct AccountUse {
    /// The id of an agent, a client or an owner, or `page of` an owner; or an address or a network with its bits.
    pub account: String,
    /// `caller`, `address` or `network`.
    pub kind: &'static str,
    /// The number of refusals since the account was last idle for an hour.
    pub refused: u64,
    pub rates: Vec<RateUse>,
}

/// An account's use of one rate.
#[derive(Debug, Clone, Serialize)]
pub struct RateUse {
    /// The setting in `[limits]`.
    pub limit: &'static str,
    /// The part that is not refilled yet.
    pub used: u64,
    pub allowed: u64,
    pub window_s: u64,
    pub refused: u64,
}

/// Returns the accounts of these uses: those that were refused the most first, then those that have used the
/// largest share of a rate. At most `most` of them.
pub(super) fn busiest(
    uses: impl Iterator<Item = (String, &'static str, RateUse)>,
    most: usize,
) -> Vec<AccountUse> {
    let mut accounts: HashMap<String, AccountUse> = HashMap::new();
    for (account, kind, rate) in uses.filter(|(_, _, rate)| rate.used > 0 || rate.refused > 0) {
        let known = accounts.entry(account.clone()).or_insert_with(|| AccountUse {
            account,
            kind,
            refused: 0,
            rates: Vec::new(),
        });
        known.refused += rate.refused;
        known.rates.push(rate);
    }
    let mut accounts: Vec<AccountUse> = accounts.into_values().collect();
    accounts.sort_by_cached_key(|account| {
        let share = account.rates.iter().map(per_mille).max();
        (Reverse((account.refused, share)), account.account.clone())
    });
    accounts.truncate(most);
    for account in &mut accounts {
        account.rates.sort_by_key(|rate| Reverse((rate.refused, per_mille(rate))));
    }
    accounts
}

fn per_mille(rate: &RateUse) -> u64 {
    rate.used.saturating_mul(1000) / rate.allowed.max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_refused_the_most_is_the_first() {
        let rate =
            |limit, used, refused| RateUse { limit, used, allowed: 100, window_s: 60, refused };
        let uses = [
            ("192.0.2.1/32", "address", rate("requests_per_minute", 90, 0)),
            ("192.0.2.2/32", "address", rate("requests_per_minute", 10, 7)),
            ("192.0.2.2/32", "address", rate("registrations_per_hour", 100, 2)),
            ("agt_1", "caller", rate("writes_per_minute", 95, 0)),
            ("agt_2", "caller", rate("writes_per_minute", 0, 0)),
        ];
        let uses = uses.map(|(account, kind, rate)| (account.to_owned(), kind, rate));
        let busy = busiest(uses.into_iter(), 2);
        let names: Vec<_> = busy.iter().map(|account| &*account.account).collect();
        assert_eq!(names, ["192.0.2.2/32", "agt_1"]);
        assert_eq!((busy[0].refused, busy[0].rates[0].refused), (9, 7));
    }
}
