//! The time-outs that both databases share.

use std::time::Duration;

/// How long a request waits for a connection of the pool.
pub(super) const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a host that starts waits for its first connection: the server may start at the same time, and
/// the machine may be busy.
pub(super) const OPEN_TIMEOUT: Duration = Duration::from_secs(10);
