//! `portolan migrate`, `portolan backup` and `portolan restore`.

use crate::{
    config::{Config, FILE, Flags},
    startup::ERASURES,
};
use clap::Args;
use portolan_store::{self as db, DatabaseUrl};
use std::{
    path::{Path, PathBuf},
    process::ExitCode,
};

/// The database, with the same defaults as for `serve`.
#[derive(Debug, Args)]
struct Database {
    /// Folder of the database [default: data]
    #[arg(long, value_name = "FOLDER")]
    data_dir: Option<PathBuf>,
    /// sqlite://PATH or postgres://USER:PASSWORD@HOST:PORT/NAME [default: portolan.db in the data folder]
    #[arg(long, value_name = "URL")]
    database_url: Option<String>,
}

impl Database {
    fn config(&self) -> anyhow::Result<Config> {
        let flags = Flags {
            data_dir: self.data_dir.clone(),
            database_url: self.database_url.clone(),
            ..Flags::default()
        };
        Ok(Config::load(Path::new(FILE), &flags)?)
    }
}

/// Returns the URL for PostgreSQL's own tools, which need a session of their own.
fn with_session<'a>(config: &'a Config, url: &'a str) -> &'a str {
    match &config.database_server.direct_url {
        Some(DatabaseUrl::Postgres(direct)) => direct,
        _ => url,
    }
}

/// Arguments of `portolan migrate`.
#[derive(Debug, Args)]
pub(super) struct Migrate {
    #[command(flatten)]
    database: Database,
}

impl Migrate {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let config = self.database.config()?;
        let steps = crate::cli::client::block_on(async {
            Ok(db::migrate(&config.database_url, &config.database_server).await?)
        })?;
        match steps.before {
            Some(before) if before == steps.after => {
                line!("the schema is up to date: step {before}");
            }
            Some(before) => {
                line!("the schema was migrated from step {before} to step {}", steps.after)
            }
            None => line!("the schema was created: step {}", steps.after),
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Arguments of `portolan backup`.
#[derive(Debug, Args)]
pub(super) struct Backup {
    #[command(flatten)]
    database: Database,
    /// File of the backup, which must not exist yet
    file: PathBuf,
}

impl Backup {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let config = self.database.config()?;
        match &config.database_url {
            DatabaseUrl::Sqlite(path) => {
                eprintln!("copying {}", path.display());
                let bytes = db::backup(path, &self.file)?;
                line!("{}: {bytes} bytes, checked", self.file.display());
                if config.secret_keys.is_none() {
                    let keys = config.data_dir.join("secret.keys");
                    eprintln!(
                        "keep a copy of {} in another place: sealed values cannot be opened without it",
                        keys.display()
                    );
                }
                eprintln!(
                    "keep a copy of {} too, if it exists: it lists the people whom a restored backup must not bring back",
                    config.data_dir.join(ERASURES).display()
                );
            }
            DatabaseUrl::Postgres(url) => {
                eprintln!("PostgreSQL makes the backup itself; run:");
                line!("{}", db::pg_dump(with_session(&config, url), &self.file)?);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Arguments of `portolan restore`.
#[derive(Debug, Args)]
pub(super) struct Restore {
    #[command(flatten)]
    database: Database,
    /// A file that `portolan backup` made
    file: PathBuf,
}

impl Restore {
    pub(super) fn run(self) -> anyhow::Result<ExitCode> {
        let config = self.database.config()?;
        match &config.database_url {
            DatabaseUrl::Sqlite(path) => {
                eprintln!("checking {}", self.file.display());
                let replaced = db::restore(&self.file, path)?;
                line!("{} is restored from {}", path.display(), self.file.display());
                if let Some(replaced) = replaced {
                    line!("the replaced database is now {}", replaced.display());
                }
            }
            DatabaseUrl::Postgres(url) => {
                eprintln!("PostgreSQL restores the backup itself; stop every host, then run:");
                line!("{}", db::pg_restore(with_session(&config, url), &self.file)?);
            }
        }
        Ok(ExitCode::SUCCESS)
    }
}
