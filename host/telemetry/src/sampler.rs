//! The choice of traces to record: a share of them, and those whose caller says so, up to a limit.

use crate::{context::TraceContext, settings::TelemetrySettings};
use std::{
    sync::atomic::{AtomicU64, Ordering::Relaxed},
    time::Instant,
};

/// The number of traces in a second that callers can have recorded, so that nobody fills the queue alone.
const CALLERS_PER_SECOND: u64 = 200;
/// The part of a trace's id that decides, as in OpenTelemetry's consistent sampling: its last 56 bits.
const DECIDING_BITS: u32 = 56;

#[derive(Debug)]
pub(crate) struct Sampler {
    /// A new trace is recorded if the deciding bits of its id are below.
    threshold: u64,
    follow_callers: bool,
    begun: Instant,
    /// The second since the beginning, and in the last 16 bits how many traces callers had recorded in it.
    followed: AtomicU64,
}

impl Sampler {
    pub(crate) fn new(settings: &TelemetrySettings) -> Self {
        let threshold = settings.share() * (1_u64 << DECIDING_BITS) as f64;
        Self {
            threshold: threshold as u64,
            follow_callers: settings.follow_callers,
            begun: Instant::now(),
            followed: AtomicU64::new(0),
        }
    }

    /// Returns where the spans of a request begin; `None` if it belongs to no trace.
    pub(crate) fn decide(&self, caller: Option<TraceContext>) -> Option<TraceContext> {
        if let Some(caller) = caller.filter(|_| self.follow_callers) {
            let is_recorded = caller.flags.is_sampled() && self.admit_followed();
            return Some(TraceContext { is_recorded, ..caller });
        }
        if self.threshold == 0 {
            return caller;
        }
        let random: u128 = rand::random();
        let is_recorded = (random as u64) & ((1 << DECIDING_BITS) - 1) < self.threshold;
        match (caller, is_recorded) {
            (Some(caller), _) => {
                let flags = caller.flags.with_sampled(is_recorded);
                Some(TraceContext { is_recorded, flags, ..caller })
            }
            (None, false) => None,
            (None, true) => Some(TraceContext::begun(random)),
        }
    }

    /// Counts a trace that its caller wants to have recorded, and returns whether it is.
    fn admit_followed(&self) -> bool {
        let second = self.begun.elapsed().as_secs() << 16;
        let next = |count: u64| match count >> 16 << 16 == second {
            true if count - second >= CALLERS_PER_SECOND => None,
            true => Some(count + 1),
            false => Some(second + 1),
        };
        self.followed.fetch_update(Relaxed, Relaxed, next).is_ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sampler(sample: f64) -> Sampler {
        Sampler::new(&TelemetrySettings { sample: Some(sample), ..TelemetrySettings::default() })
    }

    fn caller(flags: &str) -> Option<TraceContext> {
        TraceContext::parse(&format!(
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-{flags}"
        ))
    }

    #[test]
    fn about_the_configured_share_is_recorded() {
        for (share, expected) in [(0.0, 0..=0), (0.1, 800..=1200), (1.0, 10_000..=10_000)] {
            let sampler = sampler(share);
            let recorded = (0..10_000).filter_map(|_| sampler.decide(None)).count();
            assert!(expected.contains(&recorded), "{recorded} of 10000 for {share}");
        }
    }

    #[test]
    fn a_caller_decides_for_a_bounded_number_of_traces() {
        let sampler = sampler(0.0);
        assert!(!sampler.decide(caller("00")).unwrap().is_recorded);
        let recorded = |count: u64| {
            let decided = (0..count).filter_map(|_| sampler.decide(caller("01")));
            decided.filter(TraceContext::is_recorded).count() as u64
        };
        let begun = Instant::now();
        let number = recorded(10 * CALLERS_PER_SECOND);
        let seconds = begun.elapsed().as_secs() + 2;
        assert!((CALLERS_PER_SECOND..=seconds * CALLERS_PER_SECOND).contains(&number), "{number}");
        // The trace of a caller goes on without a span of this host.
        let passed = sampler.decide(caller("01")).unwrap();
        assert_eq!(Some(passed.to_string()), caller("01").map(|caller| caller.to_string()));
        // A context that is stored for later is not recorded then either.
        let (stored, _) = TraceContext::parse_stored(&passed.stored(true)).unwrap();
        assert!(!passed.is_recorded && !stored.is_recorded, "{stored}");
    }

    #[test]
    fn the_share_decides_if_callers_do_not() {
        let settings = TelemetrySettings {
            sample: Some(1.0),
            follow_callers: false,
            ..TelemetrySettings::default()
        };
        let decided = Sampler::new(&settings).decide(caller("00")).unwrap();
        assert!(decided.is_recorded && decided.to_string().ends_with("-01"), "{decided}");
    }
}
