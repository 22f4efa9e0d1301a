//! The clock: time is an argument everywhere, so that tests can move it.

use crate::Timestamp;
use std::{
    sync::{
        Arc,
        atomic::{AtomicI64, AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::{
    sync::watch,
    time::{Instant, timeout},
};

/// How much longer a wait may take than it would have if the clock is set back meanwhile.
const SET_BACK: Duration = Duration::from_secs(1);

/// The system's time or a fixed time, plus the time by which the clock was advanced. The system's time can be corrected,
/// so that the nodes of a database have one time. Clones share one clock.
///
/// The state is behind one `Arc`, so that a clone is cheap: every layer of the HTTP stack clones its clock
/// for every request.
#[derive(Debug, Clone)]
pub struct Clock(Arc<State>);

#[derive(Debug)]
struct State {
    /// The fixed time; `None` for a clock that follows the operating system's.
    fixed_at: Option<Timestamp>,
    /// How far the followed clock is ahead of the operating system's: zero outside of tests.
    ahead: Duration,
    correction_ms: AtomicI64,
    advanced_ms: AtomicU64,
    advances: watch::Sender<()>,
}

impl Clock {
    /// Returns the clock of the operating system.
    pub fn system() -> Self {
        Self::new(None, Duration::ZERO)
    }

    /// Returns the clock of an operating system whose time is ahead by this much, for tests of machines with a wrong
    /// clock.
    pub fn ahead_by(time: Duration) -> Self {
        Self::new(None, time)
    }

    /// Returns a clock that shows this time until it is advanced.
    pub fn fixed_at(time: Timestamp) -> Self {
        Self::new(Some(time), Duration::ZERO)
    }

    fn new(fixed_at: Option<Timestamp>, ahead: Duration) -> Self {
        let (correction_ms, advanced_ms) = (AtomicI64::default(), AtomicU64::default());
        let advances = watch::Sender::new(());
        Self(Arc::new(State { fixed_at, ahead, correction_ms, advanced_ms, advances }))
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        let correction = self.0.correction_ms.load(Ordering::SeqCst);
        Timestamp::from_millis(self.uncorrected().as_millis().saturating_add_signed(correction))
    }

    /// Returns the current time as it is without the correction.
    pub fn uncorrected(&self) -> Timestamp {
        let advanced = self.0.advanced_ms.load(Ordering::SeqCst);
        let time = self.0.fixed_at.or_else(|| self.followed()).unwrap_or_default();
        time.plus(Duration::from_millis(advanced))
    }

    /// Returns the time of the operating system's clock, neither corrected nor advanced; `None` for a fixed clock, which
    /// does not follow it.
    pub fn followed(&self) -> Option<Timestamp> {
        self.0.fixed_at.is_none().then(|| Timestamp::now().plus(self.0.ahead))
    }

    /// Adds this many milliseconds to the time of the operating system's clock, in place of an earlier correction. A
    /// fixed clock is not corrected.
    pub fn correct(&self, milliseconds: i64) {
        if self.0.fixed_at.is_none() {
            self.0.correction_ms.store(milliseconds, Ordering::SeqCst);
            self.0.advances.send_replace(());
        }
    }

    /// Moves this clock and all its clones forward, and wakes the tasks in `sleep_until`.
    pub fn advance(&self, time: Duration) {
        let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.0.advanced_ms.fetch_add(time, Ordering::SeqCst);
        self.0.advances.send_replace(());
    }

    /// Waits until this clock has reached `time`, by itself or because it was advanced. An advance after the
    /// caller computed `time` and before the wait begins is not lost. A clock that is set back meanwhile, by the operating
    /// system or a correction, does not prolong the wait by more than `SET_BACK`.
    pub async fn sleep_until(&self, time: Timestamp) {
        // This subscribes before it reads the clock, so that no advance is missed.
        let mut advances = self.0.advances.subscribe();
        let left_ms = || time.as_millis().saturating_sub(self.now().as_millis());
        let (begun, longest) = (Instant::now(), Duration::from_millis(left_ms()));
        let longest = longest.saturating_add(SET_BACK);
        loop {
            let left = Duration::from_millis(left_ms());
            let left = match self.0.fixed_at {
                None => left.min(longest.saturating_sub(begun.elapsed())),
                Some(_) => left,
            };
            if left.is_zero() {
                return;
            }
            // `changed` fails only if the sender was dropped, but this clock owns it.
            match self.0.fixed_at {
                None => drop(timeout(left, advances.changed()).await),
                Some(_) => drop(advances.changed().await),
            }
        }
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::system()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_fixed_clock_moves_only_when_it_is_advanced() {
        let clock = Clock::fixed_at(Timestamp::from_millis(1_000));
        let sleeper = clock.clone();
        let sleeping =
            tokio::spawn(async move { sleeper.sleep_until(Timestamp::from_millis(1_001)).await });
        tokio::time::sleep(Duration::from_millis(20)).await;
        assert!(!sleeping.is_finished());
        assert_eq!(clock.now().as_millis(), 1_000);
        clock.advance(Duration::from_millis(1));
        sleeping.await.unwrap();
        assert_eq!(clock.now().as_millis(), 1_001);
    }

    #[test]
    fn a_correction_moves_the_time_of_the_system_and_no_fixed_time() {
        let ahead = Clock::ahead_by(Duration::from_secs(300));
        let shared = ahead.clone();
        ahead.correct(-300_000);
        assert!(shared.now() <= Timestamp::now());
        assert!(shared.uncorrected() > Timestamp::now().plus(Duration::from_secs(200)));
        shared.advance(Duration::from_secs(60));
        assert!(ahead.now() > Timestamp::now().plus(Duration::from_secs(30)));
        assert!(ahead.followed() < Some(ahead.uncorrected()));
        let fixed = Clock::fixed_at(Timestamp::from_millis(1_000));
        fixed.correct(5);
        assert_eq!((fixed.now().as_millis(), fixed.followed()), (1_000, None));
    }

    #[tokio::test]
    async fn a_clock_that_is_set_back_prolongs_no_wait() {
        let clock = Clock::system();
        let (sleeper, begun) = (clock.clone(), Instant::now());
        let until = clock.now().plus(Duration::from_millis(100));
        let sleeping = tokio::spawn(async move { sleeper.sleep_until(until).await });
        tokio::time::sleep(Duration::from_millis(20)).await;
        clock.correct(-300_000);
        sleeping.await.unwrap();
        assert!(begun.elapsed() < Duration::from_secs(30));
    }

    #[tokio::test]
    async fn an_advance_moves_every_clone_and_wakes_sleepers() {
        let clock = Clock::system();
        let hour = Duration::from_secs(3600);
        let due = clock.now().plus(hour);
        let sleeper = clock.clone();
        let sleeping = tokio::spawn(async move {
            sleeper.sleep_until(due).await;
            sleeper.now()
        });
        tokio::task::yield_now().await;
        clock.advance(hour / 2);
        tokio::task::yield_now().await;
        assert!(!sleeping.is_finished());
        clock.advance(hour / 2);
        assert!(sleeping.await.unwrap() >= due);
        // The clock was advanced before this sleep began.
        clock.sleep_until(due).await;
    }
}
