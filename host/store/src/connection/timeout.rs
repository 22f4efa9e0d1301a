//! The time-out that both databases share.

use std::time::Duration;

/// How long a statement waits for a connection of the pool.
pub(super) const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(2);
