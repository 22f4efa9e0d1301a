//! A host's database, read and changed without the host.

use crate::harness::{PATIENCE, postgres};
use sqlx::{AssertSqlSafe, Connection as _, SqliteConnection, sqlite::SqliteConnectOptions};
use std::path::{Path, PathBuf};

#[derive(Debug)]
pub enum Database {
    Sqlite(PathBuf),
    Postgres(String),
}

/// Runs the same code on a connection to either database.
macro_rules! connected {
    ($database:expr, |$connection:ident| $body:expr) => {
        match $database {
            Database::Sqlite(file) => {
                let options = SqliteConnectOptions::new().filename(file).busy_timeout(PATIENCE);
                let mut $connection = SqliteConnection::connect_with(&options).await.unwrap();
                $body
            }
            Database::Postgres(url) => {
                let mut $connection = postgres::connect(url).await;
                $body
            }
        }
    };
}

/// Returns which of these texts are in the bytes, in any case of letters.
pub fn texts_found(bytes: &[u8], texts: &[&str]) -> Vec<String> {
    let all = String::from_utf8_lossy(bytes).to_ascii_lowercase();
    let is_in = |text: &&&str| all.contains(&text.to_ascii_lowercase());
    texts.iter().filter(is_in).map(|text| (*text).to_owned()).collect()
}

impl Database {
    /// Returns the database of the host in this folder: the one that its configuration names, or
    /// the default.
    pub fn of(folder: &Path) -> Self {
        let configuration = std::fs::read_to_string(folder.join("portolan.toml")).unwrap();
        let url = configuration.lines().find_map(|line| line.strip_prefix("database_url = "));
        match url {
            Some(url) => Self::Postgres(url.trim_matches('"').to_owned()),
            None => Self::Sqlite(folder.join("data/portolan.db")),
        }
    }

    /// Returns the SQL literal for false.
    pub fn false_literal(&self) -> &'static str {
        match self {
            Self::Sqlite(_) => "0",
            Self::Postgres(_) => "false",
        }
    }

    /// Returns the SQL expression for the bytes of a column in hexadecimal digits.
    pub fn hex(&self, column: &str) -> String {
        match self {
            Self::Sqlite(_) => format!("lower(hex({column}))"),
            Self::Postgres(_) => format!("encode({column}, 'hex')"),
        }
    }

    /// Returns the whole database: the file and its write-ahead log, or a dump.
    pub fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Sqlite(file) => {
                let log = file.with_extension("db-wal");
                [file, &log].map(|file| std::fs::read(file).unwrap_or_default()).concat()
            }
            Self::Postgres(url) => postgres::dump(url),
        }
    }

    /// Returns the size of an SQLite database in bytes, after its write-ahead log was copied into it as far as
    /// that is possible now.
    pub async fn size(&self) -> f64 {
        let Self::Sqlite(file) = self else { panic!("it is not a file") };
        self.execute("PRAGMA wal_checkpoint(TRUNCATE)").await;
        let log = file.with_extension("db-wal");
        let size = |file: &Path| std::fs::metadata(file).map_or(0, |metadata| metadata.len());
        (size(file) + size(&log)) as f64
    }

    /// Returns which of these texts are in the database.
    pub fn texts_found(&self, texts: &[&str]) -> Vec<String> {
        texts_found(&self.bytes(), texts)
    }

    /// Runs a statement; returns how many rows it changed.
    pub async fn execute(&self, sql: &str) -> u64 {
        let sql = AssertSqlSafe(sql);
        connected!(self, |connection| {
            sqlx::raw_sql(sql).execute(&mut connection).await.unwrap().rows_affected()
        })
    }

    /// Returns the values of a query's one column.
    pub async fn texts(&self, sql: &str) -> Vec<String> {
        let sql = AssertSqlSafe(sql);
        connected!(self, |connection| {
            sqlx::query_scalar(sql).fetch_all(&mut connection).await.unwrap()
        })
    }
}
