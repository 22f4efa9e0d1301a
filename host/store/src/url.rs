//! The URL of a database.

use std::{fmt, path::PathBuf};

/// The location of the database.
#[derive(Clone, PartialEq, Eq)]
pub enum DatabaseUrl {
    Sqlite(PathBuf),
    /// The URL as PostgreSQL's own tools take it.
    Postgres(String),
}

impl std::str::FromStr for DatabaseUrl {
    type Err = String;

    /// Parses `sqlite://PATH` or `postgres://USER:PASSWORD@HOST:PORT/NAME`.
    fn from_str(url: &str) -> Result<Self, String> {
        const FIX: &str = "write sqlite://PATH or postgres://USER:PASSWORD@HOST:PORT/NAME";
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return match url.parse::<sqlx::postgres::PgConnectOptions>() {
                Ok(_) => Ok(Self::Postgres(url.to_owned())),
                Err(error) => Err(format!("{error}; {FIX}")),
            };
        }
        match url.strip_prefix("sqlite://") {
            Some(path) if !path.is_empty() => Ok(Self::Sqlite(PathBuf::from(path))),
            _ => Err(FIX.to_owned()),
        }
    }
}

impl From<PathBuf> for DatabaseUrl {
    fn from(path: PathBuf) -> Self {
        Self::Sqlite(path)
    }
}

impl fmt::Debug for DatabaseUrl {
    /// Writes only the scheme of a PostgreSQL URL, because the rest can contain a password.
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Sqlite(path) => write!(formatter, "sqlite://{}", path.display()),
            Self::Postgres(_) => formatter.write_str("postgres://…"),
        }
    }
}
