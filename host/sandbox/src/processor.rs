//! The processor time of the current thread, which does not pass while the thread waits for a processor.

/// Returns the processor time in nanoseconds that the current thread has used since it began.
#[cfg(unix)]
pub(super) fn thread_time() -> u64 {
    use rustix::time::{ClockId, clock_gettime};
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Returns the time in nanoseconds since the first reading, where a thread has no clock of its own.
#[cfg(not(unix))]
pub(super) fn thread_time() -> u64 {
    use std::{sync::LazyLock, time::Instant};
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_nanos() as u64
}
