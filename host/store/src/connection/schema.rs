//! The schema of PostgreSQL: its steps, and what a start does to it.

use super::pooler::Pooling;
use crate::error::DbError;
use sqlx::{
    Connection as _, Executor as _, PgConnection, Row as _,
    migrate::{MigrateError, Migration, Migrator},
    postgres::PgRow,
};

static MIGRATIONS: Migrator = sqlx::migrate!("src/migrations/postgres");

/// As sqlx creates it.
const CREATE_TABLE: &str = "CREATE TABLE IF NOT EXISTS _sqlx_migrations (
    version BIGINT PRIMARY KEY,
    description TEXT NOT NULL,
    installed_on TIMESTAMPTZ NOT NULL DEFAULT now(),
    success BOOLEAN NOT NULL,
    checksum BYTEA NOT NULL,
    execution_time BIGINT NOT NULL
)";
const APPLIED: &str = "SELECT version, checksum FROM _sqlx_migrations ORDER BY version";
const ADD: &str =
    "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
     VALUES ($1, $2, TRUE, $3, -1)";
/// What sqlx multiplies the CRC of a database's name with, for the key of the lock under which it changes the schema.
const LOCK_FACTOR: i64 = 0x3d32_ad9e;

/// Returns the newest step of the schema that this version knows.
pub(super) fn newest_step() -> i64 {
    MIGRATIONS.iter().map(|step| step.version).max().unwrap_or(0)
}

/// Brings the schema up to date, while no other node does.
pub(super) async fn update(connection: &mut PgConnection, pooling: Pooling) -> Result<(), DbError> {
    match pooling {
        Pooling::None => MIGRATIONS.run(connection).await?,
        Pooling::Transaction => while apply_next(connection).await? {},
    }
    Ok(())
}

/// Applies the next step in a transaction of its own. Returns whether there was one. sqlx would keep its lock, and the
/// statements that it prepares, in a session.
async fn apply_next(connection: &mut PgConnection) -> Result<bool, DbError> {
    let mut transaction = connection.begin_with(Pooling::BEGIN).await?;
    let row = transaction.fetch_one("SELECT current_database()").await?;
    let lock = LOCK_FACTOR * i64::from(crc32(row.try_get::<String, _>(0)?.as_bytes()));
    let lock = format!("SELECT pg_advisory_xact_lock({lock})");
    transaction.execute(sqlx::AssertSqlSafe(lock)).await?;
    transaction.execute(CREATE_TABLE).await?;
    let Some(step) = next(&transaction.fetch_all(APPLIED).await?)? else {
        transaction.commit().await?;
        return Ok(false);
    };
    let failed = |error| MigrateError::ExecuteMigration(error, step.version);
    transaction.execute(step.sql.clone()).await.map_err(failed)?;
    sqlx::query::<sqlx::Postgres>(ADD)
        .bind(step.version)
        .bind(&*step.description)
        .bind(&*step.checksum)
        .persistent(false)
        .execute(&mut *transaction)
        .await?;
    transaction.commit().await?;
    Ok(true)
}

/// Returns the first step that is not among the applied ones, which must be known and unchanged.
fn next(applied: &[PgRow]) -> Result<Option<&'static Migration>, DbError> {
    let mut versions = Vec::new();
    for row in applied {
        let (version, checksum): (i64, Vec<u8>) = (row.try_get(0)?, row.try_get(1)?);
        let known = MIGRATIONS.iter().find(|step| step.version == version);
        let known = known.ok_or(MigrateError::VersionMissing(version))?;
        if *known.checksum != *checksum {
            return Err(MigrateError::VersionMismatch(version).into());
        }
        versions.push(version);
    }
    Ok(MIGRATIONS.iter().find(|step| !versions.contains(&step.version)))
}

/// Returns the CRC-32 of bytes (ISO-HDLC), as sqlx has it in the key of its lock.
fn crc32(bytes: &[u8]) -> u32 {
    !bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 }
        })
    })
}

/// Returns the version of the server, as a number such as 150004.
pub(super) async fn server_version(connection: &mut PgConnection) -> Result<String, DbError> {
    Ok(connection.fetch_one("SHOW server_version_num").await?.try_get(0)?)
}

/// Adds the counts of usage of all nodes together, unless something is being committed. Nodes that run count on from
/// zero.
pub(super) async fn merge_usage(
    connection: &mut PgConnection,
    commit_lock: i64,
) -> Result<(), DbError> {
    const MERGE: &str = "WITH parts AS (DELETE FROM collection_usage WHERE part <> 0 RETURNING *)
         INSERT INTO collection_usage AS u (collection, part, documents, tombstones, bytes)
         SELECT collection, 0, sum(documents), sum(tombstones), sum(bytes) FROM parts GROUP BY collection
         ON CONFLICT (collection, part) DO UPDATE SET documents = u.documents + excluded.documents,
             tombstones = u.tombstones + excluded.tombstones, bytes = u.bytes + excluded.bytes;
         WITH parts AS (DELETE FROM timer_usage WHERE part <> 0 RETURNING *)
         INSERT INTO timer_usage AS u (capability, part, timers, bytes)
         SELECT capability, 0, sum(timers), sum(bytes) FROM parts GROUP BY capability
         ON CONFLICT (capability, part) DO UPDATE SET timers = u.timers + excluded.timers,
             bytes = u.bytes + excluded.bytes";
    let mut transaction = connection.begin_with(Pooling::BEGIN).await?;
    let lock = format!("SELECT pg_try_advisory_xact_lock({commit_lock})");
    let is_alone = transaction.fetch_one(sqlx::AssertSqlSafe(lock)).await?;
    if is_alone.try_get(0)? {
        transaction.execute(MERGE).await?;
    }
    Ok(transaction.commit().await?)
}

/// Returns how many locks a batch should take at most: a sixteenth of those for which the server has room.
pub(super) async fn batch_locks(connection: &mut PgConnection) -> Result<usize, DbError> {
    const ROOM: &str = "SELECT CAST(current_setting('max_locks_per_transaction') AS BIGINT)
        * (CAST(current_setting('max_connections') AS BIGINT)
           + CAST(current_setting('max_prepared_transactions') AS BIGINT))";
    let room: i64 = connection.fetch_one(ROOM).await?.try_get(0)?;
    Ok(usize::try_from(room / 16).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_is_that_of_sqlx() {
        // The check value of CRC-32/ISO-HDLC.
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
        assert_eq!(crc32(b""), 0);
    }

    #[test]
    fn steps_are_applied_in_their_order_from_the_first() {
        let first = next(&[]).unwrap().unwrap();
        assert_eq!(first.version, MIGRATIONS.iter().map(|step| step.version).min().unwrap());
        assert!(MIGRATIONS.iter().is_sorted_by_key(|step| step.version));
        assert!(MIGRATIONS.iter().all(|step| !step.no_tx), "each step is one transaction");
    }
}
