//! The sessions of operators' browsers. A session holds the digest of the token that it began with, so it ends
//! with that token.

use portolan_vocabulary::{Digest, Timestamp};
use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

/// The longest life of a session.
pub(super) const LIFE: Duration = Duration::from_secs(8 * 3600);
/// The maximum number of sessions. The next one ends the oldest.
const MAX_SESSIONS: usize = 100;

/// The sessions of this node, by the digest of the cookie. A restart ends them.
#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<HashMap<Digest, Session>>);

#[derive(Debug)]
struct Session {
    token: Digest,
    ends_at: Timestamp,
}

impl Sessions {
    /// Begins the session of a cookie for an operator with this token.
    pub(super) fn begin(&self, cookie: &str, token: Digest, now: Timestamp) {
        let mut sessions = self.sessions();
        sessions.retain(|_, session| session.ends_at > now);
        if sessions.len() >= MAX_SESSIONS {
            let oldest = sessions.iter().min_by_key(|(_, session)| session.ends_at);
            if let Some(oldest) = oldest.map(|(cookie, _)| *cookie) {
                sessions.remove(&oldest);
            }
        }
        let session = Session { token, ends_at: now.plus(LIFE) };
        sessions.insert(Digest::of(cookie.as_bytes()), session);
    }

    /// Returns the digest of the token with which the session of a cookie began; `None` if there is none.
    pub(super) fn token(&self, cookie: &str, now: Timestamp) -> Option<Digest> {
        let sessions = self.sessions();
        let session = sessions.get(&Digest::of(cookie.as_bytes()))?;
        (session.ends_at > now).then_some(session.token)
    }

    pub(super) fn end(&self, cookie: &str) {
        self.sessions().remove(&Digest::of(cookie.as_bytes()));
    }

    fn sessions(&self) -> MutexGuard<'_, HashMap<Digest, Session>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: Timestamp = Timestamp::from_millis(1_700_000_000_000);

    #[test]
    fn a_session_ends_after_its_life_and_when_it_is_ended() {
        let sessions = Sessions::default();
        let token = Digest::of(b"token");
        for cookie in ["one", "two"] {
            sessions.begin(cookie, token, START);
        }
        assert_eq!(sessions.token("one", START), Some(token));
        assert_eq!(sessions.token("", START), None);
        sessions.end("one");
        assert_eq!(sessions.token("one", START), None);
        assert_eq!(sessions.token("two", START.plus(LIFE)), None);
    }

    #[test]
    fn the_oldest_session_makes_room() {
        let sessions = Sessions::default();
        let token = Digest::of(b"token");
        for number in 0..=MAX_SESSIONS {
            let now = START.plus(Duration::from_secs(u64::try_from(number).unwrap()));
            sessions.begin(&number.to_string(), token, now);
        }
        assert_eq!(sessions.sessions().len(), MAX_SESSIONS);
        assert_eq!(sessions.token("0", START), None);
        assert_eq!(sessions.token("1", START), Some(token));
    }
}
