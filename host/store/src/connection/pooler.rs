//! Recognizes a pooler in front of PostgreSQL, such as PgBouncer. Behind one, a host has no session of its own: it would
//! be without its time-outs, its prepared statements and what other nodes announce by `LISTEN`.

use crate::error::DbError;
use sqlx::{Executor as _, PgConnection, Row as _, postgres::PgConnectOptions};

/// A setting that every session of a host has, by which a session of its own is recognized.
pub(super) const IDLE_TIMEOUT: (&str, &str) = ("idle_in_transaction_session_timeout", "10s");
const SHOW_IDLE_TIMEOUT: &str = "SHOW idle_in_transaction_session_timeout";
/// What poolers answer to a client that asks for settings, and PostgreSQL never does.
const REFUSED_SETTING: &str = "unsupported startup parameter";
/// The reason for which a session without its settings is refused.
const IGNORED_SETTINGS: &str = "it ignores the settings of a session";

/// Returns the text by which a pooler has refused a connection; `None` for every other error.
pub(super) fn refusal(error: &sqlx::Error) -> Option<&str> {
    match error {
        sqlx::Error::Database(error) => Some(error.message()).filter(|text| is_of_pooler(text)),
        _ => None,
    }
}

fn is_of_pooler(text: &str) -> bool {
    text.contains(REFUSED_SETTING)
}

/// Returns the error of a server to which no connection could be made.
pub(super) fn not_connected(options: &PgConnectOptions, error: sqlx::Error) -> DbError {
    let server = name(options);
    match refusal(&error) {
        Some(text) => DbError::Pooler { server, reason: text.to_owned() },
        None => DbError::NotConnected { server, error },
    }
}

/// Ensures that a session has the settings with which it was opened. A pooler may be configured to ignore them.
pub(super) async fn ensure_own_session(
    session: &mut PgConnection,
    options: &PgConnectOptions,
) -> Result<(), DbError> {
    let shown = session.fetch_one(SHOW_IDLE_TIMEOUT).await?;
    let shown: String = shown.try_get(0)?;
    match shown == IDLE_TIMEOUT.1 {
        true => Ok(()),
        false => {
            Err(DbError::Pooler { server: name(options), reason: IGNORED_SETTINGS.to_owned() })
        }
    }
}

fn name(options: &PgConnectOptions) -> String {
    format!("{}:{}", options.get_host(), options.get_port())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_refusal_of_a_pooler_is_recognized() {
        for text in [
            "unsupported startup parameter: extra_float_digits",
            "unsupported startup parameter in options: lock_timeout",
        ] {
            assert!(is_of_pooler(text), "{text}");
        }
        for text in ["password authentication failed for user \"portolan\"", "too many clients"] {
            assert!(!is_of_pooler(text), "{text}");
        }
        let refused = sqlx::Error::Io(std::io::ErrorKind::ConnectionRefused.into());
        assert!(refusal(&refused).is_none());
        let error = not_connected(&PgConnectOptions::new_without_pgpass(), refused);
        assert!(matches!(error, DbError::NotConnected { .. }), "{error}");
    }
}
