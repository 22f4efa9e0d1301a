//! Releases: versions that are given to a share of callers, and what the nodes count of their calls.

use crate::{
    connection::{read, transact},
    error::DbError,
    integers::{instant, signed, unsigned},
    records::{
        release::{
            NewRelease, ReleaseCount, ReleaseEnding, ReleaseRecord, ReleaseSide, ReleaseState,
        },
        versions::compress,
    },
    store::Store,
    texts::is_storable,
};
use portolan_vocabulary::Timestamp;
use std::{collections::BTreeSet, time::Duration};

/// The maximum number of releases of one capability that are kept.
const KEPT: i64 = 50;
/// The columns of a release, in the order of [`Row`].
const COLUMNS: &str = "id, capability_id, version, digest, file, source, served_version,
     served_digest, share, started_at, started_by, due_at, promotes, state, ended_at, ending";

type Row = (
    i64,
    String,
    String,
    String,
    String,
    String,
    String,
    String,
    i64,
    i64,
    String,
    Option<i64>,
    i64,
    String,
    Option<i64>,
    Option<String>,
);

impl Store {
    /// Records that a release begins, with the content of its component, and returns its id; `None` if another one of
    /// the capability runs. Contents of ended releases that are in no history are deleted, as are the oldest releases
    /// of the capability.
    pub async fn begin_release(
        &self,
        release: &NewRelease,
        content: &[u8],
    ) -> Result<Option<i64>, DbError> {
        let id = &release.capability_id;
        let content = compress(Some(content)).await?;
        Ok(transact!(self.inner.backend, |transaction| {
            let added: Option<(i64,)> = sqlx::query_as(
                "INSERT INTO releases (capability_id, version, digest, file, source, served_version,
                     served_digest, share, started_at, started_by, due_at, promotes, state, history_seq)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, 'running',
                     coalesce((SELECT max(seq) FROM component_versions WHERE capability_id = $1), 0))
                 ON CONFLICT DO NOTHING RETURNING id",
            )
            .bind(id)
            .bind(&release.version)
            .bind(&release.digest)
            .bind(&release.file)
            .bind(&release.source)
            .bind(&release.served_version)
            .bind(&release.served_digest)
            .bind(signed(release.share))
            .bind(signed(release.started_at.as_millis()))
            .bind(&release.started_by)
            .bind(release.due_at.map(|at| signed(at.as_millis())))
            .bind(i64::from(release.promotes))
            .fetch_optional(&mut *transaction)
            .await?;
            if added.is_some() {
                sqlx::query(
                    "DELETE FROM component_contents
                     WHERE digest IN (SELECT digest FROM releases WHERE capability_id = $1)
                     AND digest NOT IN (SELECT digest FROM releases WHERE state = 'running')
                     AND digest NOT IN (SELECT digest FROM component_versions)",
                )
                .bind(id)
                .execute(&mut *transaction)
                .await?;
                sqlx::query(
                    "DELETE FROM releases WHERE capability_id = $1 AND id NOT IN (
                         SELECT id FROM releases WHERE capability_id = $1 ORDER BY id DESC LIMIT $2)",
                )
                .bind(id)
                .bind(KEPT)
                .execute(&mut *transaction)
                .await?;
                sqlx::query(
                    "INSERT INTO component_contents (digest, content) VALUES ($1, $2)
                     ON CONFLICT (digest) DO NOTHING",
                )
                .bind(&release.digest)
                .bind(content.as_deref())
                .execute(&mut *transaction)
                .await?;
            }
            added.map(|(id,)| id)
        }))
    }

    /// Returns the releases that run.
    pub async fn running_releases(&self) -> Result<Vec<ReleaseRecord>, DbError> {
        let statement =
            format!("SELECT {COLUMNS} FROM releases WHERE state = 'running' ORDER BY id");
        let rows: Vec<Row> = read!(self.inner.backend, |pool| {
            sqlx::query_as(sqlx::AssertSqlSafe(statement)).fetch_all(pool).await?
        });
        Ok(rows.into_iter().map(record).collect())
    }

    /// Returns the releases of a capability, the newest first.
    pub async fn releases(&self, capability: &str) -> Result<Vec<ReleaseRecord>, DbError> {
        if !is_storable(capability) {
            return Ok(Vec::new());
        }
        let statement =
            format!("SELECT {COLUMNS} FROM releases WHERE capability_id = $1 ORDER BY id DESC");
        let rows: Vec<Row> = read!(self.inner.backend, |pool| {
            sqlx::query_as(sqlx::AssertSqlSafe(statement)).bind(capability).fetch_all(pool).await?
        });
        Ok(rows.into_iter().map(record).collect())
    }

    /// Returns the releases that were aborted at `since` or later and are the newest of their capability, where nothing
    /// was published or rolled back to since they began.
    pub async fn newly_aborted_releases(
        &self,
        since: Timestamp,
    ) -> Result<Vec<ReleaseRecord>, DbError> {
        let statement = format!(
            "SELECT {COLUMNS} FROM releases r WHERE r.state = 'aborted' AND r.ended_at >= $1
             AND r.id = (SELECT max(id) FROM releases o WHERE o.capability_id = r.capability_id)
             AND NOT EXISTS (SELECT 1 FROM component_versions v
                 WHERE v.capability_id = r.capability_id AND v.seq > r.history_seq
                 AND v.arrival <> 'dropped')
             ORDER BY r.id"
        );
        let rows: Vec<Row> = read!(self.inner.backend, |pool| {
            sqlx::query_as(sqlx::AssertSqlSafe(statement))
                .bind(signed(since.as_millis()))
                .fetch_all(pool)
                .await?
        });
        Ok(rows.into_iter().map(record).collect())
    }

    /// Returns the versions whose release was aborted and that were neither published nor rolled back to since it began:
    /// the capability and the digest of each.
    pub async fn aborted_versions(&self) -> Result<BTreeSet<(String, String)>, DbError> {
        let rows: Vec<(String, String)> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT capability_id, digest FROM releases r WHERE r.state = 'aborted'
                 AND NOT EXISTS (SELECT 1 FROM component_versions v
                     WHERE v.capability_id = r.capability_id AND v.digest = r.digest
                     AND v.seq > r.history_seq AND v.arrival <> 'dropped')",
            )
            .fetch_all(pool)
            .await?
        });
        Ok(rows.into_iter().collect())
    }

    /// Returns the running releases since whose beginning a version was published or rolled back to, and serves: the
    /// id of each, the digest of the newest such version, and who decided.
    pub async fn overtaken_releases(&self) -> Result<Vec<(i64, String, Option<String>)>, DbError> {
        Ok(read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT r.id, v.digest, v.decided_by FROM releases r
                 JOIN component_versions v ON v.capability_id = r.capability_id
                 WHERE r.state = 'running' AND v.state = 'accepted' AND v.seq > r.history_seq
                 AND v.seq = (SELECT max(seq) FROM component_versions d
                     WHERE d.capability_id = r.capability_id AND d.arrival <> 'dropped')",
            )
            .fetch_all(pool)
            .await?
        }))
    }

    /// Changes the share of a release. Returns whether it runs.
    pub async fn set_release_share(&self, id: i64, share: u64) -> Result<bool, DbError> {
        let changed = transact!(self.inner.backend, |transaction| {
            sqlx::query("UPDATE releases SET share = $2 WHERE id = $1 AND state = 'running'")
                .bind(id)
                .bind(signed(share))
                .execute(&mut *transaction)
                .await?
                .rows_affected()
        });
        Ok(changed == 1)
    }

    /// Lets this node promote a release by itself whose time is over, and returns whether it may. Until `lease` is over,
    /// no node may try it again.
    pub async fn claim_promotion(
        &self,
        id: i64,
        lease: Duration,
        now: Timestamp,
    ) -> Result<bool, DbError> {
        let changed = transact!(self.inner.backend, |transaction| {
            sqlx::query(
                "UPDATE releases SET due_at = $2
                 WHERE id = $1 AND promotes = 1 AND state = 'running' AND due_at <= $3",
            )
            .bind(id)
            .bind(signed(now.plus(lease).as_millis()))
            .bind(signed(now.as_millis()))
            .execute(&mut *transaction)
            .await?
            .rows_affected()
        });
        Ok(changed == 1)
    }

    /// Lets a release whose time is over wait for a decision, in place of being promoted by itself.
    pub async fn give_up_promotion(&self, id: i64, now: Timestamp) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            sqlx::query(
                "UPDATE releases SET promotes = 0, due_at = $2
                 WHERE id = $1 AND promotes = 1 AND state = 'running'",
            )
            .bind(id)
            .bind(signed(now.as_millis()))
            .execute(&mut *transaction)
            .await?;
        });
        Ok(())
    }

    /// Ends a release, and forgets what was counted but for the figures of its ending. Returns `false` if it has ended
    /// already.
    pub async fn end_release(
        &self,
        id: i64,
        state: ReleaseState,
        ending: &ReleaseEnding,
        now: Timestamp,
    ) -> Result<bool, DbError> {
        let ending = serde_json::to_string(ending).unwrap_or_default();
        let changed = transact!(self.inner.backend, |transaction| {
            let changed = sqlx::query(
                "UPDATE releases SET state = $2, ended_at = $3, ending = $4
                 WHERE id = $1 AND state = 'running'",
            )
            .bind(id)
            .bind(state.name())
            .bind(signed(now.as_millis()))
            .bind(&ending)
            .execute(&mut *transaction)
            .await?
            .rows_affected();
            sqlx::query("DELETE FROM release_counts WHERE release_id = $1")
                .bind(id)
                .execute(&mut *transaction)
                .await?;
            changed
        });
        Ok(changed == 1)
    }

    /// Records what this node has counted for a release, in place of what it has recorded of the same minutes, and
    /// deletes what is older than `oldest`, in minutes since the Unix epoch. Nothing is recorded once it has ended.
    pub async fn put_release_counts(
        &self,
        id: i64,
        node: &str,
        counts: &[ReleaseCount],
        oldest: u64,
    ) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            for count in counts {
                sqlx::query(
                    "INSERT INTO release_counts (release_id, minute, side, node, figures)
                     SELECT $1, $2, $3, $4, $5
                     WHERE EXISTS (SELECT 1 FROM releases WHERE id = $1 AND state = 'running')
                     ON CONFLICT (release_id, minute, side, node)
                     DO UPDATE SET figures = excluded.figures",
                )
                .bind(id)
                .bind(signed(count.minute))
                .bind(count.side.name())
                .bind(node)
                .bind(serde_json::to_string(&count.figures).unwrap_or_default())
                .execute(&mut *transaction)
                .await?;
            }
            sqlx::query("DELETE FROM release_counts WHERE release_id = $1 AND minute < $2")
                .bind(id)
                .bind(signed(oldest))
                .execute(&mut *transaction)
                .await?;
        });
        Ok(())
    }

    /// Returns what all nodes have counted for a release.
    pub async fn release_counts(&self, id: i64) -> Result<Vec<ReleaseCount>, DbError> {
        let rows: Vec<(i64, String, String)> = read!(self.inner.backend, |pool| {
            sqlx::query_as("SELECT minute, side, figures FROM release_counts WHERE release_id = $1")
                .bind(id)
                .fetch_all(pool)
                .await?
        });
        let count = |(minute, side, figures): (i64, String, String)| ReleaseCount {
            minute: unsigned(minute),
            side: match side == ReleaseSide::Canary.name() {
                true => ReleaseSide::Canary,
                false => ReleaseSide::Served,
            },
            figures: serde_json::from_str(&figures).unwrap_or_default(),
        };
        Ok(rows.into_iter().map(count).collect())
    }
}

fn record(row: Row) -> ReleaseRecord {
    let (
        id,
        capability_id,
        version,
        digest,
        file,
        source,
        served_version,
        served_digest,
        share,
        started_at,
        started_by,
        due_at,
        promotes,
        state,
        ended_at,
        ending,
    ) = row;
    ReleaseRecord {
        id,
        release: NewRelease {
            capability_id,
            version,
            digest,
            file,
            source,
            served_version,
            served_digest,
            share: unsigned(share),
            started_at: instant(started_at),
            started_by,
            due_at: due_at.map(instant),
            promotes: promotes != 0,
        },
        state: ReleaseState::parse(&state),
        ended_at: ended_at.map(instant),
        ending: ending.and_then(|text| serde_json::from_str(&text).ok()),
    }
}
