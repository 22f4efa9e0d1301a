//! The time-out that both databases share.

use std::time::Duration;

/// The time-out for a connection of the pool.
pub(super) const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(2);
