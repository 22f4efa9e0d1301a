//! The clock: time is an argument everywhere, so that tests can move it.

use crate::Timestamp;
use std::{
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};
use tokio::sync::watch;

/// The system's time, plus what tests have advanced it by. Clones are one clock.
#[derive(Debug, Clone)]
pub struct Clock {
    advanced_ms: Arc<AtomicU64>,
    advances: watch::Sender<()>,
}

impl Clock {
    /// The clock of the operating system.
    pub fn system() -> Self {
        Self { advanced_ms: Arc::default(), advances: watch::Sender::new(()) }
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        let advanced = self.advanced_ms.load(Ordering::SeqCst);
        Timestamp::from_millis(Timestamp::now().as_millis() + advanced)
    }

    /// Moves this clock forward, for everything that shares it, and wakes what sleeps by it.
    pub fn advance(&self, time: Duration) {
        let time = u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        self.advanced_ms.fetch_add(time, Ordering::SeqCst);
        self.advances.send_replace(());
    }

    /// Waits for `time`, or until this clock is advanced.
    pub async fn sleep(&self, time: Duration) {
        let mut advances = self.advances.subscribe();
        // An error would mean that the sender is gone, but this clock holds it.
        let _ended = tokio::time::timeout(time, advances.changed()).await;
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
    async fn an_advance_moves_every_clone_and_wakes_sleepers() {
        let clock = Clock::system();
        let before = clock.now();
        let sleeper = clock.clone();
        let sleeping = tokio::spawn(async move {
            sleeper.sleep(Duration::from_secs(3600)).await;
            sleeper.now()
        });
        tokio::task::yield_now().await;
        clock.advance(Duration::from_secs(7200));
        let woken = sleeping.await.unwrap();
        assert!(woken.as_secs() >= before.as_secs() + 7200);
    }
}
