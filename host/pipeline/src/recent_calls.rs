//! The runs of the last minutes by action, and the refused calls by error code, for the operator.

use portolan_vocabulary::{MINUTE, Timestamp};
use serde::Serialize;
use std::{
    cmp::Reverse,
    collections::{BTreeMap, HashMap},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The number of minutes that are kept, the current one included.
const MINUTES: usize = 15;
/// The bounds of the histogram in milliseconds. The last part has everything above them.
const BOUNDS_MS: [f64; 18] = [
    0.1, 0.25, 0.5, 1.0, 2.0, 3.0, 5.0, 7.5, 10.0, 15.0, 25.0, 50.0, 100.0, 250.0, 500.0, 1000.0,
    2000.0, 5000.0,
];
/// The maximum number of error codes of an action in a minute, and of refused calls in a minute.
const MAX_CODES: usize = 64;

/// The calls of the last minutes on this node. The keys are actions of the catalog and their error codes, so
/// its size is bounded.
#[derive(Debug, Default)]
pub struct RecentCalls(Mutex<Recent>);

#[derive(Debug, Default)]
struct Recent {
    /// By capability and action.
    actions: HashMap<String, HashMap<String, Arc<RecentRuns>>>,
    refusals: Ring<Codes>,
}

/// The runs of an action in the last minutes, to which its runs are added without a look at other actions.
#[derive(Debug, Default)]
pub(super) struct RecentRuns(Mutex<Ring<Runs>>);

/// The latest minutes: minute `n` is at `n % MINUTES`.
#[derive(Debug)]
struct Ring<T>(Vec<(u64, T)>);

type Codes = BTreeMap<String, u64>;

/// The runs of an action in a minute.
#[derive(Debug, Clone, Default)]
struct Runs {
    count: u64,
    histogram: [u64; BOUNDS_MS.len() + 1],
    longest: Duration,
    refused: Codes,
}

/// The runs of the last minutes.
#[derive(Debug, Clone, Serialize)]
pub struct RecentReport {
    /// The runs of each minute, the oldest first; the last one is not over.
    pub minutes: Vec<MinuteReport>,
    /// The actions that have run, the slowest first.
    pub actions: Vec<ActionReport>,
    /// The refused calls of agents, the most frequent codes first.
    pub refusals: Vec<CodeCount>,
}

#[derive(Debug, Clone, Serialize)]
pub struct MinuteReport {
    pub at: Timestamp,
    pub calls: u64,
    pub failed: u64,
}

/// The runs of an action in the last minutes.
#[derive(Debug, Clone, Serialize)]
pub struct ActionReport {
    pub capability: String,
    pub action: String,
    pub calls: u64,
    pub failed: u64,
    /// The median time of the runs, estimated from a histogram.
    pub p50_ms: f64,
    pub p99_ms: f64,
    pub longest_ms: f64,
    /// The error codes of the failed runs, the most frequent first.
    pub codes: Vec<CodeCount>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CodeCount {
    pub code: String,
    pub count: u64,
}

impl RecentCalls {
    /// Returns the runs of an action. As long as they are held, they are not forgotten.
    pub(super) fn of(&self, (capability, action): (&str, &str), now: Timestamp) -> Arc<RecentRuns> {
        let mut recent = self.recent();
        recent.forget_before(minute(now));
        let own = recent.actions.entry(capability.to_owned()).or_default();
        Arc::clone(own.entry(action.to_owned()).or_default())
    }

    /// Counts a refused call of an agent.
    pub(super) fn count_refusal(&self, code: &str, now: Timestamp) {
        if let Some(codes) = self.recent().refusals.at(minute(now)) {
            count_code(codes, code);
        }
    }

    /// Returns the runs of the last minutes.
    pub fn report(&self, now: Timestamp) -> RecentReport {
        let recent = self.recent();
        let last = minute(now);
        let first = last.saturating_sub(MINUTES as u64 - 1);
        let mut minutes: Vec<MinuteReport> = (first..=last)
            .map(|minute| MinuteReport { at: instant(minute), calls: 0, failed: 0 })
            .collect();
        let mut actions = Vec::new();
        for (capability, own) in &recent.actions {
            for (action, runs) in own {
                let mut sum = Runs::default();
                for (minute, runs) in runs.ring().since(first) {
                    let index = usize::try_from(minute - first).ok();
                    if let Some(report) = index.and_then(|index| minutes.get_mut(index)) {
                        report.calls += runs.count;
                        report.failed += runs.refused.values().sum::<u64>();
                    }
                    sum.add(runs);
                }
                if sum.count > 0 {
                    actions.push(sum.report(capability, action));
                }
            }
        }
        actions.sort_by(|one, other| {
            other.p99_ms.total_cmp(&one.p99_ms).then_with(|| {
                (&one.capability, &one.action).cmp(&(&other.capability, &other.action))
            })
        });
        let mut refusals = Codes::new();
        for (_, codes) in recent.refusals.since(first) {
            add_codes(&mut refusals, codes);
        }
        RecentReport { minutes, actions, refusals: counts(refusals) }
    }

    fn recent(&self) -> MutexGuard<'_, Recent> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl RecentRuns {
    /// Counts a run. `refused` is its error code, if it failed.
    pub(super) fn count(&self, refused: Option<&str>, duration: Duration, now: Timestamp) {
        let mut ring = self.ring();
        let Some(runs) = ring.at(minute(now)) else { return };
        runs.count += 1;
        runs.longest = runs.longest.max(duration);
        let milliseconds = duration.as_secs_f64() * 1000.0;
        let part = BOUNDS_MS.iter().take_while(|bound| milliseconds > **bound).count();
        if let Some(count) = runs.histogram.get_mut(part) {
            *count += 1;
        }
        if let Some(code) = refused {
            count_code(&mut runs.refused, code);
        }
    }

    fn ring(&self) -> MutexGuard<'_, Ring<Runs>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Recent {
    /// Forgets the actions that have not run in the minutes before this one and that no capability of the catalog has
    /// any more.
    fn forget_before(&mut self, minute: u64) {
        let first = minute.saturating_sub(MINUTES as u64 - 1);
        for own in self.actions.values_mut() {
            own.retain(|_, runs| {
                Arc::strong_count(runs) > 1 || runs.ring().since(first).next().is_some()
            });
        }
        self.actions.retain(|_, own| !own.is_empty());
    }
}

impl<T: Default> Default for Ring<T> {
    fn default() -> Self {
        Self((0..MINUTES).map(|_| (0, T::default())).collect())
    }
}

impl<T: Default> Ring<T> {
    /// Returns the record of this minute, which replaces that of an earlier one.
    fn at(&mut self, minute: u64) -> Option<&mut T> {
        let index = usize::try_from(minute % MINUTES as u64).ok()?;
        let (kept, value) = self.0.get_mut(index)?;
        if *kept != minute {
            (*kept, *value) = (minute, T::default());
        }
        Some(value)
    }

    fn since(&self, first: u64) -> impl Iterator<Item = (u64, &T)> {
        let kept = self.0.iter().map(|(minute, value)| (*minute, value));
        kept.filter(move |(minute, _)| *minute >= first.max(1))
    }
}

impl Runs {
    fn add(&mut self, other: &Self) {
        self.count += other.count;
        self.longest = self.longest.max(other.longest);
        for (sum, count) in self.histogram.iter_mut().zip(&other.histogram) {
            *sum += count;
        }
        add_codes(&mut self.refused, &other.refused);
    }

    fn report(self, capability: &str, action: &str) -> ActionReport {
        ActionReport {
            capability: capability.to_owned(),
            action: action.to_owned(),
            calls: self.count,
            failed: self.refused.values().sum(),
            p50_ms: self.quantile(0.5),
            p99_ms: self.quantile(0.99),
            longest_ms: tenths(self.longest.as_secs_f64() * 1000.0),
            codes: counts(self.refused),
        }
    }

    /// Returns the time within which this share of the runs ended: within a part of the histogram, runs are
    /// taken as evenly spread, and no time is above that of the longest run.
    fn quantile(&self, share: f64) -> f64 {
        let wanted = self.count as f64 * share;
        let longest = self.longest.as_secs_f64() * 1000.0;
        let (mut below, mut lower) = (0.0, 0.0);
        for (index, count) in self.histogram.iter().enumerate() {
            let upper = BOUNDS_MS.get(index).copied().unwrap_or(longest).min(longest);
            let count = *count as f64;
            if count > 0.0 && below + count >= wanted {
                return tenths(lower + (upper - lower).max(0.0) * (wanted - below) / count);
            }
            below += count;
            lower = upper;
        }
        tenths(longest)
    }
}

fn minute(now: Timestamp) -> u64 {
    now.as_secs() / MINUTE.as_secs()
}

fn instant(minute: u64) -> Timestamp {
    Timestamp::from_millis(minute * MINUTE.as_secs() * 1000)
}

/// Returns a number of milliseconds with one decimal.
fn tenths(milliseconds: f64) -> f64 {
    (milliseconds * 10.0).round() / 10.0
}

fn count_code(codes: &mut Codes, code: &str) {
    if codes.len() < MAX_CODES || codes.contains_key(code) {
        *codes.entry(code.to_owned()).or_default() += 1;
    }
}

fn add_codes(sums: &mut Codes, codes: &Codes) {
    for (code, count) in codes {
        *sums.entry(code.clone()).or_default() += count;
    }
}

/// Returns the counts of codes, the largest first.
fn counts(codes: Codes) -> Vec<CodeCount> {
    let mut counts: Vec<_> =
        codes.into_iter().map(|(code, count)| CodeCount { code, count }).collect();
    counts.sort_by_key(|counted| Reverse(counted.count));
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_700_000_040_000);

    fn run(calls: &RecentCalls, action: &str, refused: Option<&str>, ms: u64, now: Timestamp) {
        calls.of(("notes", action), now).count(refused, Duration::from_millis(ms), now);
    }

    #[test]
    fn the_slowest_action_is_the_first() {
        let calls = RecentCalls::default();
        for _ in 0..99 {
            run(&calls, "get", None, 1, START);
            run(&calls, "put", None, 40, START);
        }
        run(&calls, "get", Some("not_found"), 20, START);
        let report = calls.report(START);
        let [put, get] = report.actions.as_slice() else { panic!("{report:?}") };
        assert_eq!((&*put.action, put.calls, put.failed), ("put", 99, 0));
        assert!(put.p50_ms > 25.0 && put.p99_ms <= 40.0 && put.longest_ms == 40.0, "{put:?}");
        assert_eq!((get.calls, get.failed, get.longest_ms), (100, 1, 20.0));
        assert!(get.p99_ms <= 1.0, "{get:?}");
        assert_eq!(get.codes, [CodeCount { code: "not_found".to_owned(), count: 1 }]);
        let last = report.minutes.last().unwrap();
        assert_eq!((report.minutes.len(), last.calls, last.failed), (MINUTES, 199, 1));
    }

    #[test]
    fn what_is_older_than_the_minutes_that_are_kept_is_forgotten() {
        let calls = RecentCalls::default();
        run(&calls, "get", None, 1, START);
        calls.count_refusal("rate_limited", START);
        let later = |minutes: usize| START.plus(MINUTE * u32::try_from(minutes).unwrap());
        let report = calls.report(later(MINUTES - 1));
        assert_eq!((report.actions.len(), report.minutes[0].calls), (1, 1));
        assert_eq!(report.refusals[0].code, "rate_limited");
        let report = calls.report(later(MINUTES));
        assert!(report.actions.is_empty() && report.refusals.is_empty(), "{report:?}");
        run(&calls, "put", None, 1, later(MINUTES));
        assert_eq!(calls.recent().actions["notes"].len(), 1);
        // An action that is held can run again at any time.
        let held = calls.of(("notes", "put"), later(MINUTES));
        run(&calls, "get", None, 1, later(2 * MINUTES));
        assert_eq!(calls.recent().actions["notes"].len(), 2);
        held.count(None, Duration::from_millis(1), later(2 * MINUTES));
        assert_eq!(calls.report(later(2 * MINUTES)).actions.len(), 2);
    }

    #[test]
    fn codes_are_bounded() {
        let calls = RecentCalls::default();
        for number in 0..1000 {
            calls.count_refusal(&format!("code_{number}"), START);
        }
        assert_eq!(calls.report(START).refusals.len(), MAX_CODES);
    }
}
