//! When a release ends by itself: what is counted of its calls, and the rules by which its canary is compared with the
//! served version. A release gives a version, its canary, to a share of the callers of a capability.

use crate::Failure;
use portolan_codes::{ErrorCode, ErrorKind};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, time::Duration};

/// The share of callers that a release may have, in percent.
pub const RELEASE_SHARES: std::ops::RangeInclusive<u64> = 1..=50;

/// The numbers of minutes of the spans over which the rules are applied, the shorter one first. What is older than the
/// longer one no longer counts.
pub const RELEASE_SPANS_MINUTES: [u64; 2] = [10, 360];

/// The number of calls of the canary from which on its rates are compared with those of the served version.
const COMPARED_FROM: u64 = 50;

/// The parts of the histogram of run times for each doubling of the time.
const PARTS_OF_A_DOUBLING: f64 = 4.0;

/// What became of a call, as a release counts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallResult {
    Success,
    /// An answer of the component: an error that it declares, or a common one that a component may answer with.
    Refusal,
    /// A trap, an internal error, an invalid answer, or a limit of time or memory.
    Failure,
    /// Neither: the call was kept from an outcome by something else, such as the database or an approval.
    Other,
}

impl CallResult {
    /// Returns what a call with this failure, or without one, counts as.
    pub fn of(failure: Option<&Failure>) -> Self {
        let Some(failure) = failure else { return Self::Success };
        let may_be_of_component =
            ErrorCode::from_name(&failure.error_code).is_none_or(|code| code.row().component);
        match failure.kind {
            ErrorKind::Internal | ErrorKind::OutOfTime => Self::Failure,
            ErrorKind::Unavailable | ErrorKind::Upstream => Self::Other,
            _ if may_be_of_component => Self::Refusal,
            _ => Self::Other,
        }
    }
}

/// What is counted of the calls of one version.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReleaseFigures {
    pub calls: u64,
    pub failures: u64,
    pub refusals: u64,
    /// The number of calls in each part of the histogram of run times that has some. Part `n` begins at
    /// 2^(n/4) microseconds.
    times: BTreeMap<u16, u64>,
}

impl ReleaseFigures {
    /// Counts a call.
    pub fn count(&mut self, result: CallResult, time: Duration) {
        self.calls += 1;
        match result {
            CallResult::Failure => self.failures += 1,
            CallResult::Refusal => self.refusals += 1,
            CallResult::Success | CallResult::Other => {}
        }
        let micros = time.as_secs_f64().mul_add(1e6, 1.0);
        *self.times.entry((micros.log2() * PARTS_OF_A_DOUBLING) as u16).or_default() += 1;
    }

    /// Adds the counts of other calls.
    pub fn add(&mut self, other: &Self) {
        self.calls += other.calls;
        self.failures += other.failures;
        self.refusals += other.refusals;
        for (part, count) in &other.times {
            *self.times.entry(*part).or_default() += count;
        }
    }

    /// Returns the median of the run times in milliseconds, estimated from the histogram; `None` without calls.
    pub fn median_ms(&self) -> Option<f64> {
        let half = self.times.values().sum::<u64>().div_ceil(2);
        let mut below = 0;
        let part = self.times.iter().find_map(|(part, count)| {
            below += count;
            (below >= half && half > 0).then_some(*part)
        })?;
        let micros = ((f64::from(part) + 0.5) / PARTS_OF_A_DOUBLING).exp2();
        Some((micros / 10.0).round() / 100.0)
    }
}

/// A bound of a rule.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Bound {
    /// This many failures in a row at one node. A failure is not counted while the last call of the served version
    /// there has failed too.
    InARow(u64),
    /// At least `count` failures, and a rate more than `times` that of the served version.
    Failures { count: u64, times: u64 },
    /// At least `count` refusals, and a rate by `points` percentage points and by `errors` standard errors of the
    /// difference of two proportions above that of the served version.
    Refusals { count: u64, points: u64, errors: f64 },
    /// A median of the run times more than `times` that of the served version, and more than `ms` above it.
    RunTime { times: f64, ms: f64 },
}

/// A rule by which a release is aborted.
#[derive(Debug)]
pub struct ReleaseRule {
    pub name: &'static str,
    /// The number of calls of the canary from which on the rule applies.
    pub calls: u64,
    bound: Bound,
}

/// Every rule, in the order in which they are applied.
pub static RELEASE_RULES: [ReleaseRule; 4] = [
    ReleaseRule { name: "failures_in_a_row", calls: 0, bound: Bound::InARow(5) },
    ReleaseRule {
        name: "failures",
        calls: COMPARED_FROM,
        bound: Bound::Failures { count: 3, times: 3 },
    },
    ReleaseRule {
        name: "refusals",
        calls: COMPARED_FROM,
        bound: Bound::Refusals { count: 20, points: 10, errors: 3.0 },
    },
    ReleaseRule { name: "run_time", calls: 200, bound: Bound::RunTime { times: 2.0, ms: 1.0 } },
];

/// A rule that a canary has broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReleaseBreach {
    /// The name of the rule.
    pub rule: &'static str,
    /// The measured values behind the breach, as one sentence for the operator.
    pub text: String,
}

impl ReleaseRule {
    /// Returns the rule in words.
    pub fn sentence(&self) -> String {
        let bound = match self.bound {
            Bound::InARow(count) => {
                return format!(
                    "{count} failures in a row at one node; those while the last call of the served version there failed do not count"
                );
            }
            Bound::Failures { count, times } => format!(
                "at least {count} failures, and a rate more than {times} times that of the served version"
            ),
            Bound::Refusals { count, points, errors } => format!(
                "at least {count} refusals, and a rate more than {points} percentage points and {errors} standard errors above that of the served version"
            ),
            Bound::RunTime { times, ms } => format!(
                "a median run time more than {times} times that of the served version, and more than {ms} ms above it"
            ),
        };
        format!("after {} calls: {bound}", self.calls)
    }

    /// Returns how a canary breaks the rule. `in_a_row` is the number of its calls at this node that failed in a row.
    fn breach(
        &self,
        served: &ReleaseFigures,
        canary: &ReleaseFigures,
        in_a_row: u64,
    ) -> Option<ReleaseBreach> {
        if canary.calls < self.calls {
            return None;
        }
        let of = |count: u64, what: &str, of_served: u64| {
            format!(
                "{count} of {} calls {what}; {of_served} of {} of the served version",
                canary.calls, served.calls
            )
        };
        let text = match self.bound {
            Bound::InARow(count) => {
                (in_a_row >= count).then(|| format!("{in_a_row} calls in a row failed"))
            }
            Bound::Failures { count, times } => {
                let rate = rate(served.failures, served.calls) * times as f64;
                (canary.failures >= count && self::rate(canary.failures, canary.calls) > rate)
                    .then(|| of(canary.failures, "failed", served.failures))
            }
            Bound::Refusals { count, points, errors } => {
                // There is no rate to compare with before the served version has had as many calls.
                let is_known = served.calls >= self.calls;
                let rise =
                    rate(canary.refusals, canary.calls) - rate(served.refusals, served.calls);
                let enough = (points as f64 / 100.0).max(errors * standard_error(served, canary));
                (is_known && canary.refusals >= count && rise > enough)
                    .then(|| of(canary.refusals, "were refused", served.refusals))
            }
            Bound::RunTime { times, ms } => {
                let known = served.median_ms().filter(|_| served.calls >= self.calls);
                let medians = known.zip(canary.median_ms());
                let slower = medians
                    .filter(|(before, after)| *after > before * times && after - before > ms);
                slower.map(|(before, after)| {
                    format!(
                        "the median of {} calls took {after} ms; {before} ms with the served version",
                        canary.calls
                    )
                })
            }
        };
        text.map(|text| ReleaseBreach { rule: self.name, text })
    }
}

/// Returns the first rule that a canary breaks, by the figures of both versions and the number of its calls at this node
/// that failed in a row.
pub fn release_breach(
    served: &ReleaseFigures,
    canary: &ReleaseFigures,
    in_a_row: u64,
) -> Option<ReleaseBreach> {
    RELEASE_RULES.iter().find_map(|rule| rule.breach(served, canary, in_a_row))
}

/// Returns why a canary is not promoted by itself when its time is over, by its figures in the longest span: too little
/// is known of it. `None` if nothing speaks against it, where it has broken no rule.
pub fn promotion_doubt(canary: &ReleaseFigures) -> Option<String> {
    match (canary.calls, canary.failures) {
        (0, _) => Some("it had no call".to_owned()),
        (calls, failures) if calls < COMPARED_FROM && failures > 0 => {
            Some(format!("{failures} of only {calls} calls failed"))
        }
        _ => None,
    }
}

/// Returns how many failures of a canary in a row end its release at once.
pub fn failures_in_a_row() -> u64 {
    let in_a_row = |rule: &ReleaseRule| match rule.bound {
        Bound::InARow(count) => Some(count),
        _ => None,
    };
    RELEASE_RULES.iter().find_map(in_a_row).unwrap_or(u64::MAX)
}

fn rate(count: u64, calls: u64) -> f64 {
    count as f64 / calls.max(1) as f64
}

/// Returns the standard error of the difference of the rates of refusals, if both versions had the same rate.
fn standard_error(served: &ReleaseFigures, canary: &ReleaseFigures) -> f64 {
    let pooled = rate(served.refusals + canary.refusals, served.calls + canary.calls);
    let (before, after) = (served.calls.max(1) as f64, canary.calls.max(1) as f64);
    (pooled * (1.0 - pooled) * (1.0 / before + 1.0 / after)).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(calls: u64, failures: u64, refusals: u64, ms: u64) -> ReleaseFigures {
        let mut figures = ReleaseFigures::default();
        for number in 0..calls {
            let result = match number {
                number if number < failures => CallResult::Failure,
                number if number < failures + refusals => CallResult::Refusal,
                _ => CallResult::Success,
            };
            figures.count(result, Duration::from_millis(ms));
        }
        figures
    }

    fn rule(served: &ReleaseFigures, canary: &ReleaseFigures, in_a_row: u64) -> &'static str {
        release_breach(served, canary, in_a_row).map_or("", |breach| breach.rule)
    }

    #[test]
    fn each_rule_has_a_bound_on_both_sides() {
        let served = figures(1_000, 10, 100, 4);
        for (canary, in_a_row, expected) in [
            (figures(4, 4, 0, 4), 4, ""),
            (figures(5, 5, 0, 4), 5, "failures_in_a_row"),
            // Before 50 calls, single failures are no reason.
            (figures(49, 8, 0, 4), 1, ""),
            (figures(50, 2, 0, 4), 1, ""),
            (figures(50, 3, 0, 4), 1, "failures"),
            // Three times the rate of the served version is not more than that.
            (figures(100, 3, 0, 4), 1, ""),
            (figures(50, 0, 19, 4), 0, ""),
            (figures(50, 0, 20, 4), 0, "refusals"),
            (figures(400, 0, 76, 4), 0, ""),
            (figures(400, 0, 100, 4), 0, "refusals"),
            (figures(199, 0, 0, 40), 0, ""),
            (figures(200, 0, 0, 40), 0, "run_time"),
            (figures(200, 0, 0, 6), 0, ""),
            (figures(5_000, 50, 500, 4), 0, ""),
        ] {
            assert_eq!(rule(&served, &canary, in_a_row), expected, "{canary:?}");
        }
        // A time that only seems long beside a very short one.
        assert_eq!(rule(&figures(300, 0, 0, 0), &figures(300, 0, 0, 1), 0), "");
        // Without calls of the served version, only failures are known to be wrong.
        let nothing = ReleaseFigures::default();
        assert_eq!(rule(&nothing, &figures(300, 0, 300, 90), 0), "");
        assert_eq!(rule(&nothing, &figures(300, 3, 0, 4), 0), "failures");
    }

    #[test]
    fn a_canary_is_promoted_by_itself_only_after_calls_that_speak_for_it() {
        for (canary, is_doubted) in [
            (figures(0, 0, 0, 4), true),
            (figures(1, 0, 1, 4), false),
            (figures(49, 1, 0, 4), true),
            (figures(49, 0, 0, 4), false),
            // From here on, the rate of failures is compared.
            (figures(50, 1, 0, 4), false),
        ] {
            assert_eq!(promotion_doubt(&canary).is_some(), is_doubted, "{canary:?}");
        }
    }

    #[test]
    fn a_call_counts_by_the_class_of_its_error_code() {
        let of = |code| CallResult::of(Some(&Failure::new(code)));
        for (code, expected) in [
            (ErrorCode::CapabilityTrapped, CallResult::Failure),
            (ErrorCode::CapabilityTimeout, CallResult::Failure),
            (ErrorCode::CapabilityAnswerInvalid, CallResult::Failure),
            (ErrorCode::InternalError, CallResult::Failure),
            (ErrorCode::NotFound, CallResult::Refusal),
            (ErrorCode::InvalidTransition, CallResult::Refusal),
            (ErrorCode::DependencyUnavailable, CallResult::Other),
            (ErrorCode::ApprovalRequired, CallResult::Other),
        ] {
            assert_eq!(of(code), expected, "{code:?}");
        }
        assert_eq!(CallResult::of(None), CallResult::Success);
    }

    #[test]
    fn figures_add_up_and_have_a_median() {
        let mut sum = figures(30, 1, 2, 8);
        sum.add(&figures(10, 0, 1, 1));
        assert_eq!((sum.calls, sum.failures, sum.refusals), (40, 1, 3));
        let median = sum.median_ms().unwrap();
        assert!((6.5..9.5).contains(&median), "{median}");
        assert_eq!(ReleaseFigures::default().median_ms(), None);
        let stored = serde_json::to_string(&sum).unwrap();
        assert_eq!(serde_json::from_str::<ReleaseFigures>(&stored).unwrap(), sum);
    }
}
