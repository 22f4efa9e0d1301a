//! Limits: numbers of things, and rates.

use crate::{
    Call, Next, Refusal,
    documents::Collection,
    time::{DAY, seconds},
};
use portolan_codes::ErrorCode;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The conflict of a refusal because of a limit.
#[derive(Debug, Default, Serialize)]
pub struct Limit {
    kind: &'static str,
    name: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    remaining: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    window_s: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after_s: Option<u32>,
}

impl Limit {
    /// Makes the conflict for a maximum number of things that is reached.
    pub fn reached(name: &'static str, limit: u64) -> Self {
        Self { remaining: Some(0), ..Self::bound(name, limit) }
    }

    /// Makes the conflict for a rate that is used up and allows the next call in `wait`
    /// milliseconds.
    pub fn within(name: &'static str, window: &Window, wait: u64) -> Self {
        let limit = u64::try_from(window.most).unwrap_or(u64::MAX);
        let (window_s, retry_after_s) = (Some(seconds(window.within)), Some(seconds(wait)));
        Self { window_s, retry_after_s, ..Self::reached(name, limit) }
    }

    /// Makes the conflict for the greatest value allowed, such as a number of days ahead.
    pub fn bound(name: &'static str, limit: u64) -> Self {
        Self { limit: Some(limit), ..Self::named(name) }
    }

    /// Makes the conflict for a time of `within` milliseconds that has passed.
    pub fn passed(name: &'static str, within: u64) -> Self {
        Self { window_s: Some(seconds(within)), ..Self::named(name) }
    }

    fn named(name: &'static str) -> Self {
        Self { kind: "limit", name, ..Self::default() }
    }
}

/// Returns `quota_exceeded` with the next step. If the limit is a rate, the next step says when the
/// same call can be repeated.
pub fn quota(message: &str, limit: &Limit, next: Next) -> Refusal {
    let next = match limit.retry_after_s {
        Some(wait_s) => next.after_s(wait_s).then_retry(),
        None => next,
    };
    Refusal::common(ErrorCode::QuotaExceeded, message).conflict(limit).next(next)
}

/// A rate: a number of times within a number of milliseconds.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub most: usize,
    pub within: u64,
}

impl Window {
    /// Removes the times before the window. If the window is full, returns the milliseconds until
    /// it is not; otherwise `None`.
    pub fn wait(&self, times: &mut Vec<u64>, now: u64) -> Option<u64> {
        times.retain(|at| at + self.within > now);
        let first = times.iter().rev().nth(self.most - 1)?;
        Some(first + self.within - now)
    }

    /// Counts one more time. If the window is full, the error is the milliseconds until it is not.
    pub fn one_more(&self, times: &mut Vec<u64>, now: u64) -> Result<(), u64> {
        match self.wait(times, now) {
            Some(wait) => Err(wait),
            None => {
                times.push(now);
                Ok(())
            }
        }
    }

    /// Counts one more time, or returns `quota_exceeded` with the limit and the next step.
    pub fn count(
        &self,
        times: &mut Vec<u64>,
        now: u64,
        name: &'static str,
        message: &str,
        next: Next,
    ) -> Result<(), Refusal> {
        let counted = self.one_more(times, now);
        counted.map_err(|wait| quota(message, &Limit::within(name, self, wait), next))
    }
}

/// A daily quota of a person.
#[derive(Debug, Clone, Copy)]
pub struct DailyLimit {
    pub action: &'static str,
    /// The name of the limit in the refusal's conflict.
    pub name: &'static str,
    pub most: usize,
}

/// The actions of a person in the last 24 hours, stored by the owner's id.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Day {
    /// The times of each action.
    done: BTreeMap<String, Vec<u64>>,
}

impl DailyLimit {
    /// Counts one more action of a person, or refuses with `quota_exceeded` and the next step.
    pub fn count(
        &self,
        call: &Call,
        days: Collection<Day>,
        owner_id: &str,
        next: Next,
    ) -> Result<(), Refusal> {
        let mut day = days.get_or_default(owner_id)?;
        let done = day.value.done.entry(self.action.to_owned()).or_default();
        let window = Window { most: self.most, within: DAY };
        let message = "The limit of this action for one day is reached.";
        window.count(done, call.now(), self.name, message, next)?;
        Ok(days.save(&mut day)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_limit_tells_what_applies_to_it() {
        let day = Window { most: 20, within: DAY };
        for (limit, expected) in [
            (
                Limit::within("a_day", &day, 1_001),
                json!({
                    "kind": "limit", "name": "a_day", "limit": 20, "remaining": 0,
                    "window_s": 86_400, "retry_after_s": 2,
                }),
            ),
            (
                Limit::reached("open", 3),
                json!({ "kind": "limit", "name": "open", "limit": 3, "remaining": 0 }),
            ),
            (Limit::bound("days", 62), json!({ "kind": "limit", "name": "days", "limit": 62 })),
            (
                Limit::passed("edits", 900_000),
                json!({ "kind": "limit", "name": "edits", "window_s": 900 }),
            ),
        ] {
            assert_eq!(serde_json::to_value(limit).unwrap(), expected);
        }
    }

    #[test]
    fn a_window_frees_itself() {
        let window = Window { most: 2, within: 10 };
        let mut times = Vec::new();
        for (now, counted) in
            [(1, Ok(())), (5, Ok(())), (6, Err(5)), (11, Ok(())), (11, Err(4)), (15, Ok(()))]
        {
            assert_eq!(window.one_more(&mut times, now), counted, "{now}");
        }
        assert_eq!(times, [11, 15]);
        assert_eq!(window.wait(&mut times, 15), Some(6));
        assert_eq!(window.wait(&mut times, 21), None);
        assert_eq!(times, [15]);
    }

    #[test]
    fn where_there_are_more_than_may_be_the_last_ones_count() {
        let mut times = vec![1, 2, 3, 4, 5];
        assert_eq!(Window { most: 2, within: 10 }.wait(&mut times, 6), Some(8));
    }
}
