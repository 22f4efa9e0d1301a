//! Connections to either database, and the little in which their SQL differs.

mod backend;
mod backup;
mod batch;
mod document_reader;
mod email_statements;
mod examine;
mod failover;
mod held_statements;
mod native;
mod place;
mod pool;
mod pooler;
mod postgres;
mod queries;
mod query_pool;
mod read_connection;
mod schema;
mod session;
mod shares;
mod sqlite;
mod statements;
mod timeout;
mod transaction;
mod unused_space;

pub(crate) use backend::{
    Backend, NUMBER, TEXT, lock_recordings, read, transact, transact_alone, transact_recordings,
};
pub use backend::{Steps, migrate};
pub use backup::{backup, pg_dump, pg_restore, restore};
pub(crate) use document_reader::DocumentReader;
pub use examine::{Examination, examine, is_in_use};
pub use pooler::{Pooling, ServerSettings};
pub(crate) use postgres::LockTimeouts;
pub(crate) use queries::Queries;
pub(crate) use read_connection::{ReadConnection, next_batch, split_batch};
pub use sqlite::create_private_folder;
pub(crate) use statements::{FENCE, HOLDER, REVISION, Statements};
pub(crate) use transaction::{RowsQuery, Transaction};

/// Returns the version of the SQLite that is linked.
pub fn sqlite_version() -> &'static str {
    rusqlite::version()
}
