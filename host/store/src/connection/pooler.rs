//! Poolers in front of PostgreSQL, such as PgBouncer. One in transaction mode gives each transaction any of its sessions,
//! so a node sets in each transaction what it otherwise sets in its sessions.

use super::timeout::{ACQUIRE_TIMEOUT, OPEN_TIMEOUT};
use crate::{error::DbError, url::DatabaseUrl};
use sqlx::{Connection as _, Executor as _, PgConnection, Row as _, postgres::PgConnectOptions};
use std::{
    str::FromStr,
    time::{Duration, Instant},
};

/// A setting that every session of a host has, by which a session of its own is recognized. A node that hangs must not
/// block the others.
const IDLE_TIMEOUT: (&str, &str) = ("idle_in_transaction_session_timeout", "10s");
const SHOW_IDLE_TIMEOUT: &str = "SHOW idle_in_transaction_session_timeout";
/// How long a statement waits for a lock.
pub(super) const LOCK_TIMEOUT: &str = "10s";
/// What poolers answer to a client that asks for settings, and PostgreSQL never does.
const REFUSED_SETTING: &str = "unsupported startup parameter";
/// What PgBouncer answers to a transaction if each statement gets any of its sessions.
const STATEMENT_POOLING: &str = "statement pooling mode";
/// The reason for which a session without its settings is refused.
const IGNORED_SETTINGS: &str = "it ignores the settings of a session";
/// The pause between attempts to connect while the host starts.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);
/// The least and the most connections of a node.
const CONNECTIONS: std::ops::RangeInclusive<u32> = 12..=1_000;

/// How the connections of a node reach the server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pooling {
    /// Each connection has a session of its own.
    None,
    /// A pooler gives each transaction any of its sessions.
    Transaction,
}

/// What a node on PostgreSQL is told beside the URL.
#[derive(Debug, Clone)]
pub struct ServerSettings {
    /// `None` if it is found out at the start.
    pub pooling: Option<Pooling>,
    /// The URL of the server itself behind a pooler, for the schema and for what other nodes announce.
    pub direct_url: Option<DatabaseUrl>,
    /// The maximum number of connections of a node.
    pub connections: u32,
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self { pooling: None, direct_url: None, connections: 35 }
    }
}

impl ServerSettings {
    /// Returns what is wrong with these settings, each with its name in the configuration. No text has a URL.
    pub fn faults(&self) -> Vec<String> {
        let mut faults = Vec::new();
        if !CONNECTIONS.contains(&self.connections) {
            faults.push(format!(
                "database_connections is {}: it must be {} to {}",
                self.connections,
                CONNECTIONS.start(),
                CONNECTIONS.end()
            ));
        }
        if matches!(self.direct_url, Some(DatabaseUrl::Sqlite(_))) {
            faults.push(
                "database_direct_url cannot be used: write postgres://USER:PASSWORD@HOST:PORT/NAME of PostgreSQL itself"
                    .to_owned(),
            );
        }
        faults
    }
}

impl FromStr for Pooling {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Self::None),
            "transaction" => Ok(Self::Transaction),
            _ => Err("write \"none\" or \"transaction\"".to_owned()),
        }
    }
}

impl Pooling {
    /// Begins a transaction in any session: each statement sees what was committed before it, also after waiting for a
    /// lock. The time-outs are those of a session of its own.
    pub(super) const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED; \
         SET LOCAL idle_in_transaction_session_timeout = '10s'; SET LOCAL lock_timeout = '10s'";

    /// Returns the options of the connections: settings of the session, unless it is that of a pooler.
    pub(super) fn options(self, options: PgConnectOptions) -> PgConnectOptions {
        match self {
            Self::None => options.options([IDLE_TIMEOUT, ("lock_timeout", LOCK_TIMEOUT)]),
            // PgBouncer refuses it. PostgreSQL writes numbers in full by itself.
            Self::Transaction => options.extra_float_digits(None::<i8>),
        }
    }
}

/// Opens the first connection, and finds out how connections reach the server unless that is known. Returns the options
/// for further ones too. `patience` is how long a server may take to accept connections.
pub(super) async fn open(
    url: &PgConnectOptions,
    pooling: Option<Pooling>,
    patience: Duration,
) -> Result<(PgConnection, PgConnectOptions, Pooling), DbError> {
    if pooling != Some(Pooling::Transaction) {
        let options = Pooling::None.options(url.clone());
        let reason = match connect_with_retries(&options, Pooling::None, patience).await {
            Ok(mut session) => match has_own_settings(&mut session).await? {
                true => return Ok((session, options, Pooling::None)),
                false => IGNORED_SETTINGS.to_owned(),
            },
            Err(error) => match refusal(&error) {
                Some(text) => text.to_owned(),
                None => return Err(not_connected(url, error)),
            },
        };
        if pooling == Some(Pooling::None) {
            return Err(DbError::Pooler { server: name(url), reason });
        }
    }
    let options = Pooling::Transaction.options(url.clone());
    match connect_with_retries(&options, Pooling::Transaction, patience).await {
        Ok(connection) => Ok((connection, options, Pooling::Transaction)),
        Err(error) => Err(match refusal(&error) {
            Some(text) => DbError::Pooler { server: name(url), reason: text.to_owned() },
            None => not_connected(url, error),
        }),
    }
}

/// Opens the first connection of a node that starts: a server that has just started accepts no connections yet.
pub(super) async fn open_at_start(
    url: &PgConnectOptions,
    pooling: Option<Pooling>,
) -> Result<(PgConnection, PgConnectOptions, Pooling), DbError> {
    open(url, pooling, OPEN_TIMEOUT).await
}

/// Returns the text by which a pooler has refused a connection; `None` for every other error.
fn refusal(error: &sqlx::Error) -> Option<&str> {
    match error {
        sqlx::Error::Database(error) => Some(error.message()).filter(|text| is_of_pooler(text)),
        _ => None,
    }
}

fn is_of_pooler(text: &str) -> bool {
    text.contains(REFUSED_SETTING) || text.contains(STATEMENT_POOLING)
}

/// Returns the error of a server to which no connection could be made.
pub(super) fn not_connected(options: &PgConnectOptions, error: sqlx::Error) -> DbError {
    DbError::NotConnected { server: name(options), error }
}

/// Returns whether a session has the settings with which it was opened. A pooler may be configured to ignore them.
async fn has_own_settings(session: &mut PgConnection) -> Result<bool, DbError> {
    let shown = session.fetch_one(SHOW_IDLE_TIMEOUT).await?;
    let shown: String = shown.try_get(0)?;
    Ok(shown == IDLE_TIMEOUT.1)
}

/// Begins a transaction and ends it: a pooler that gives each statement another session refuses that.
async fn begin_and_end(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    connection.begin_with(Pooling::BEGIN).await?.rollback().await
}

/// A pooler that refuses a session or a transaction refuses it again.
async fn connect_with_retries(
    options: &PgConnectOptions,
    pooling: Pooling,
    patience: Duration,
) -> Result<PgConnection, sqlx::Error> {
    let begun = Instant::now();
    loop {
        let connected = match (connect(options).await, pooling) {
            (Ok(mut connection), Pooling::Transaction) => {
                begin_and_end(&mut connection).await.map(|()| connection)
            }
            (connected, _) => connected,
        };
        match connected {
            Err(error) if refusal(&error).is_none() && begun.elapsed() < patience => {
                tokio::time::sleep(RETRY_INTERVAL).await;
            }
            ended => return ended,
        }
    }
}

pub(super) async fn connect(options: &PgConnectOptions) -> Result<PgConnection, sqlx::Error> {
    let connected =
        tokio::time::timeout(ACQUIRE_TIMEOUT, PgConnection::connect_with(options)).await;
    connected.map_err(|_| std::io::Error::from(std::io::ErrorKind::TimedOut))?
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
            "transaction blocks not allowed in statement pooling mode",
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

    #[test]
    fn the_time_outs_of_a_transaction_are_those_of_a_session() {
        for (name, value) in [IDLE_TIMEOUT, ("lock_timeout", LOCK_TIMEOUT)] {
            let set = format!("SET LOCAL {name} = '{value}'");
            assert!(Pooling::BEGIN.contains(&set), "{set}");
        }
        let pooled = Pooling::Transaction.options(PgConnectOptions::new_without_pgpass());
        let own = Pooling::None.options(PgConnectOptions::new_without_pgpass());
        assert!(!pooled.get_options().unwrap_or_default().contains("lock_timeout"));
        assert!(own.get_options().unwrap_or_default().contains("lock_timeout"));
    }

    #[test]
    fn faults_of_settings_name_no_url() {
        let settings = ServerSettings::default();
        assert_eq!(settings.faults(), Vec::<String>::new());
        for connections in [0, 11, 1_001] {
            let settings = ServerSettings { connections, ..ServerSettings::default() };
            let faults = settings.faults();
            assert!(faults.len() == 1 && faults[0].contains("12 to 1000"), "{faults:?}");
        }
        let direct_url = Some("sqlite://hunter2/x".parse().unwrap());
        let faults = ServerSettings { direct_url, ..settings }.faults();
        assert!(faults.len() == 1 && !faults[0].contains("hunter2"), "{faults:?}");
        let direct_url = Some("postgres://app:hunter2@db/x".parse().unwrap());
        let settings = ServerSettings { direct_url, ..ServerSettings::default() };
        assert!(settings.faults().is_empty() && !format!("{settings:?}").contains("hunter2"));
        assert_eq!("transaction".parse(), Ok(Pooling::Transaction));
        assert!("session".parse::<Pooling>().is_err());
    }
}
