//! Recognizes that a server has gone, or has become a standby, and lets no older connection be used again.

use sqlx::Error;
use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

/// The first characters of PostgreSQL's codes for a lost connection, as poolers tell it too, and for an end of the session
/// from outside, such as a restart.
const LOST: [&str; 2] = ["08", "57P"];
/// How long such an error counts for no more than the one before it. A server that takes no writes for long must not be
/// connected to anew for each write.
const MARKED_FOR: Duration = Duration::from_secs(1);
/// PostgreSQL's code for a write to a server that takes none, such as a primary that has become a standby.
const READ_ONLY: &str = "25006";

/// When the server was last found to be gone. Connections that are older may lead to a server that has ended, or to one
/// that is a standby now.
#[derive(Debug, Default)]
pub(super) struct Failover(Mutex<Option<Instant>>);

impl Failover {
    /// Remembers an error that shows that the server has gone.
    pub(super) fn note(&self, error: &Error) {
        if matches!(error, Error::Io(_)) || tells_of_end(error) {
            let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if last.is_none_or(|last| last.elapsed() >= MARKED_FOR) {
                *last = Some(Instant::now());
            }
        }
    }

    /// Returns whether a connection that was opened then should not be used again.
    pub(super) fn is_outdated(&self, opened: Instant) -> bool {
        let last = *self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.is_some_and(|last| opened <= last)
    }

    /// Returns whether a connection of this age should not be used again.
    pub(super) fn is_too_old(&self, age: Duration) -> bool {
        Instant::now().checked_sub(age).is_some_and(|opened| self.is_outdated(opened))
    }
}

/// Returns whether an error is about a session that has ended: the connection is lost, or the server says so.
pub(super) fn has_ended(error: &Error) -> bool {
    error.as_database_error().is_none() || tells_of_end(error)
}

/// Returns whether the server, or a pooler in front of it, says that this session or server is of no more use.
fn tells_of_end(error: &Error) -> bool {
    let code = error.as_database_error().and_then(|error| error.code());
    code.is_some_and(|code| is_code_of_end(&code))
}

fn is_code_of_end(code: &str) -> bool {
    code == READ_ONLY || LOST.iter().any(|class| code.starts_with(class))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_of_sessions_and_standbys_are_told_from_refusals() {
        for code in ["25006", "57P01", "57P02", "57P03", "08P01", "08006"] {
            assert!(is_code_of_end(code), "{code}");
        }
        // A cancelled statement, a lock that is not free, a unique value that exists, a disk that is full.
        for code in ["57014", "55P03", "23505", "53100", "25P02"] {
            assert!(!is_code_of_end(code), "{code}");
        }
    }

    #[test]
    fn only_connections_of_before_the_end_are_outdated() {
        let failover = Failover::default();
        let before = Instant::now();
        assert!(!failover.is_outdated(before));
        failover.note(&Error::RowNotFound);
        failover.note(&Error::PoolTimedOut);
        assert!(!failover.is_outdated(before));
        failover.note(&Error::Io(std::io::ErrorKind::BrokenPipe.into()));
        assert!(failover.is_outdated(before));
        assert!(failover.is_too_old(before.elapsed()));
        std::thread::sleep(Duration::from_millis(2));
        assert!(!failover.is_outdated(Instant::now()));
        assert!(!failover.is_too_old(Duration::ZERO));
    }
}
