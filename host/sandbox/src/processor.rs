//! The processor time of the current thread, which does not pass while the thread waits for a processor.

/// The processor time that the current thread has used since it began.
pub(super) struct ThreadTime(u64);

impl ThreadTime {
    #[cfg(unix)]
    pub(super) fn now() -> Self {
        use rustix::time::{ClockId, clock_gettime};
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Self(time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64)
    }

    /// The time of the process, where a thread has no clock.
    #[cfg(not(unix))]
    pub(super) fn now() -> Self {
        use std::{sync::LazyLock, time::Instant};
        static START: LazyLock<Instant> = LazyLock::new(Instant::now);
        Self(START.elapsed().as_nanos() as u64)
    }

    pub(super) fn as_nanos(self) -> u64 {
        self.0
    }
}
