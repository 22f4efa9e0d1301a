//! Makes backups of the database and restores them.

use super::sqlite::{lock, newest_step};
use crate::error::DbError;
use rusqlite::{Connection, OpenFlags};
use sqlx::postgres::PgConnectOptions;
use std::{
    ffi::OsString,
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::OpenOptionsExt as _,
    path::{Path, PathBuf},
    str::FromStr as _,
};

/// Copies a consistent snapshot of an SQLite database to a file that must not exist; a host may
/// continue to write. Checks the copy and returns its size in bytes.
pub fn backup(from: &Path, to: &Path) -> Result<u64, DbError> {
    let database = open(from)?;
    if to.exists() {
        return Err(DbError::Exists(to.to_owned()));
    }
    let partial = with_suffix(to, ".partial");
    let copied = copy(&database, &partial).and_then(|()| ensure_intact(&partial));
    if let Err(error) = copied {
        // The disk may be too full to remove even this file.
        let _removed = fs::remove_file(&partial);
        return Err(error);
    }
    fs::rename(&partial, to).map_err(file_error(to))?;
    sync_folder(to)?;
    Ok(fs::metadata(to).map_err(file_error(to))?.len())
}

/// Replaces a database that no host uses with a backup. Returns the new path of the old database, or `None`
/// if there was none.
pub fn restore(from: &Path, to: &Path) -> Result<Option<PathBuf>, DbError> {
    let backup = open(from)?;
    ensure_intact(from)?;
    let _lock = lock(to)?;
    let partial = with_suffix(to, ".restoring");
    match fs::remove_file(&partial) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            return Err(file_error(&partial)(error));
        }
        // An earlier attempt may have left a partial file.
        _ => copy(&backup, &partial)?,
    }
    let replaced = to.exists().then(|| move_aside(to)).transpose()?;
    fs::rename(&partial, to).map_err(file_error(to))?;
    sync_folder(to)?;
    Ok(replaced)
}

/// Links the database under a second name too, and returns that name: a database exists under the first name
/// until the new one replaces it. The old log is moved away, because it must not be applied to the new
/// database.
fn move_aside(database: &Path) -> Result<PathBuf, DbError> {
    let number = (1..).find(|number| !with_suffix(database, &format!(".before-{number}")).exists());
    let aside = with_suffix(database, &format!(".before-{}", number.unwrap_or(0)));
    // If the log of a damaged database cannot be merged, it is moved too.
    let _merged = Connection::open(database)
        .and_then(|database| database.execute_batch("PRAGMA wal_checkpoint(TRUNCATE)"));
    for suffix in ["-wal", "-shm"] {
        let log = with_suffix(database, suffix);
        if log.exists() {
            fs::rename(&log, with_suffix(&aside, suffix)).map_err(file_error(&log))?;
        }
    }
    fs::hard_link(database, &aside).map_err(file_error(&aside))?;
    Ok(aside)
}

fn open(path: &Path) -> Result<Connection, DbError> {
    File::open(path).map_err(|error| DbError::Unreadable { path: path.to_owned(), error })?;
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    Ok(Connection::open_with_flags(path, flags)?)
}

fn copy(database: &Connection, to: &Path) -> Result<(), DbError> {
    // The file is created empty and private before it gets any content.
    let file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to);
    let file = file.map_err(file_error(to))?;
    let name =
        to.to_str().ok_or_else(|| file_error(to)(io::Error::from(io::ErrorKind::InvalidInput)))?;
    // The copy inherits this setting. Without it, pages of the copy would keep parts of documents that were
    // moved to other pages.
    database.execute_batch("PRAGMA secure_delete = ON")?;
    database.execute("VACUUM INTO ?1", [name])?;
    file.sync_all().map_err(file_error(to))
}

/// Ensures that a file is an undamaged database of this version of Portolan or an earlier one.
fn ensure_intact(path: &Path) -> Result<(), DbError> {
    let not_ours = |_| DbError::NotADatabase(path.to_owned());
    let database = open(path)?;
    let integrity: String =
        database.query_row("PRAGMA quick_check(1)", [], |row| row.get(0)).map_err(not_ours)?;
    if integrity != "ok" {
        return Err(DbError::Damaged { path: path.to_owned(), fault: integrity });
    }
    let step: i64 = database
        .query_row("SELECT max(version) FROM _sqlx_migrations", [], |row| row.get(0))
        .map_err(not_ours)?;
    if step > newest_step() { Err(DbError::Newer(step)) } else { Ok(()) }
}

/// Returns the command that makes a backup of a PostgreSQL database.
pub fn pg_dump(url: &str, to: &Path) -> Result<String, DbError> {
    let file = quoted(&to.to_string_lossy());
    Ok(format!("pg_dump {} --format=custom --no-owner --file={file}", connection(url)?))
}

/// Returns the command that restores a backup of `pg_dump` over a database.
pub fn pg_restore(url: &str, from: &Path) -> Result<String, DbError> {
    let file = quoted(&from.to_string_lossy());
    let flags = "--clean --if-exists --no-owner --single-transaction";
    Ok(format!("pg_restore {} {flags} {file}", connection(url)?))
}

/// Returns the options of `pg_dump` and `pg_restore` for a URL, without the password, which the tools ask for
/// or read from PGPASSWORD.
fn connection(url: &str) -> Result<String, DbError> {
    let options = PgConnectOptions::from_str(url)?;
    let socket = options.get_socket().map(|path| path.to_string_lossy().into_owned());
    let host = socket.unwrap_or_else(|| options.get_host().to_owned());
    let user = options.get_username();
    Ok(format!(
        "--host={} --port={} --username={} --dbname={}",
        quoted(&host),
        options.get_port(),
        quoted(user),
        quoted(options.get_database().unwrap_or(user))
    ))
}

/// Quotes a text as one word for a shell.
fn quoted(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_./:@+=".contains(&byte);
    if !text.is_empty() && text.bytes().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> DbError + '_ {
    move |error| DbError::File { path: path.to_owned(), error }
}

/// Syncs the folder, so that a rename survives a crash.
fn sync_folder(file: &Path) -> Result<(), DbError> {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(file_error(folder))
}
