//! The versions of each capability's component: how each arrived, its content, and which one is desired.

use crate::{
    connection::read,
    connection::transact,
    error::DbError,
    integers::instant,
    integers::signed,
    integers::unsigned,
    records::release::{Promotion, ReleaseState},
    store::Store,
    texts::is_storable,
};
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use portolan_vocabulary::Timestamp;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    io::{self, Read as _, Write as _},
};

/// The maximum number of entries in the history of one capability.
const ENTRIES: i64 = 200;
/// Selects the entry of the desired version: the newest publication or rollback.
const DESIRED: &str =
    "SELECT max(seq) FROM component_versions WHERE capability_id = $1 AND arrival <> 'dropped'";

/// The way in which a version arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrival {
    Published,
    RolledBack,
    /// Its file was put into the catalog folder of a node.
    Dropped,
}

/// Whether a version may serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VersionState {
    Accepted,
    PendingApproval,
}

/// A version as it arrives.
#[derive(Debug, Clone, Serialize)]
pub struct VersionRecord {
    #[serde(skip)]
    pub capability_id: String,
    pub version: String,
    pub digest: String,
    pub publisher: String,
    pub bytes: u64,
    pub arrival: Arrival,
    /// The name of its file in a catalog folder.
    pub file: String,
    /// The origin of the component.
    pub source: String,
    /// The operator who published it or rolled back to it, as named by the command.
    pub decided_by: Option<String>,
    pub at: Timestamp,
    /// The changes that break callers of the previous version, one sentence each.
    pub breaking: Vec<String>,
    pub state: VersionState,
}

/// An entry of a capability's history.
#[derive(Debug, Clone, Serialize)]
pub struct VersionEntry {
    pub seq: i64,
    #[serde(flatten)]
    pub record: VersionRecord,
    /// Whether its content is kept, so that it can serve again.
    pub kept: bool,
}

/// The version that every node is to serve.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesiredVersion {
    pub seq: i64,
    pub capability_id: String,
    pub digest: String,
    pub file: String,
    pub arrival: Arrival,
    pub state: VersionState,
}

type Row =
    (i64, String, String, String, i64, String, String, String, Option<String>, i64, String, String);

impl Arrival {
    const fn name(self) -> &'static str {
        match self {
            Self::Published => "published",
            Self::RolledBack => "rolled_back",
            Self::Dropped => "dropped",
        }
    }

    fn parse(text: &str) -> Self {
        match text {
            "published" => Self::Published,
            "rolled_back" => Self::RolledBack,
            _ => Self::Dropped,
        }
    }
}

impl VersionState {
    const fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::PendingApproval => "pending_approval",
        }
    }

    fn parse(text: &str) -> Self {
        match text {
            "pending_approval" => Self::PendingApproval,
            _ => Self::Accepted,
        }
    }
}

impl Store {
    /// Records that a version arrived, with its content unless that is kept already, and returns the `seq` of
    /// the entry. The contents of the capability's newest `keep` versions, of the desired version and of a running release are
    /// kept; those of all others are deleted, as are the oldest entries of a history that is too long.
    ///
    /// If the version is the one of a release that is promoted, the release ends in the same transaction, or is no longer
    /// promoted by itself if the version waits for approval. If it does not run, nothing is recorded, and the result is
    /// `None`.
    pub async fn add_version(
        &self,
        record: &VersionRecord,
        content: Option<&[u8]>,
        keep: u64,
        promotion: Option<&Promotion>,
    ) -> Result<Option<i64>, DbError> {
        let breaking = serde_json::to_string(&record.breaking).unwrap_or_default();
        let desired = sqlx::AssertSqlSafe(format!(
            "DELETE FROM component_contents
             WHERE digest IN (SELECT digest FROM component_versions WHERE capability_id = $1)
             AND digest NOT IN (SELECT digest FROM component_versions WHERE seq = ({DESIRED}))
             AND digest NOT IN (SELECT digest FROM releases WHERE state = 'running')
             AND digest NOT IN (SELECT digest FROM (
                 SELECT digest, max(seq) AS newest FROM component_versions WHERE capability_id = $1
                 GROUP BY digest ORDER BY newest DESC LIMIT $2) AS kept)"
        ));
        let older = sqlx::AssertSqlSafe(format!(
            "DELETE FROM component_versions WHERE capability_id = $1 AND seq <> coalesce(({DESIRED}), 0)
             AND seq < (SELECT min(seq) FROM (
                 SELECT seq FROM component_versions WHERE capability_id = $1
                 ORDER BY seq DESC LIMIT $2) AS kept)"
        ));
        let id = &record.capability_id;
        let content = compress(content).await?;
        let is_accepted = record.state == VersionState::Accepted;
        let (seq,): (i64,) = transact!(self.inner.backend, |transaction| {
            if let Some(Promotion { release, ending }) = promotion {
                let (state, ended_at, ending) = match is_accepted {
                    true => (
                        ReleaseState::Promoted,
                        Some(signed(record.at.as_millis())),
                        serde_json::to_string(ending).ok(),
                    ),
                    false => (ReleaseState::Running, None, None),
                };
                let changed = sqlx::query(
                    "UPDATE releases SET state = $2, promotes = 0, ended_at = $3, ending = $4
                     WHERE id = $1 AND state = 'running'",
                )
                .bind(*release)
                .bind(state.name())
                .bind(ended_at)
                .bind(ending)
                .execute(&mut *transaction)
                .await?
                .rows_affected();
                if changed == 0 {
                    return Ok(None);
                }
                if is_accepted {
                    sqlx::query("DELETE FROM release_counts WHERE release_id = $1")
                        .bind(*release)
                        .execute(&mut *transaction)
                        .await?;
                }
            }
            if let Some(content) = content.as_deref() {
                sqlx::query(
                    "INSERT INTO component_contents (digest, content) VALUES ($1, $2)
                     ON CONFLICT (digest) DO NOTHING",
                )
                .bind(&record.digest)
                .bind(content)
                .execute(&mut *transaction)
                .await?;
            }
            let added = sqlx::query_as(
                "INSERT INTO component_versions (capability_id, version, digest, publisher, bytes,
                     arrival, file, source, decided_by, at, breaking, state)
                 VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING seq",
            )
            .bind(id)
            .bind(&record.version)
            .bind(&record.digest)
            .bind(&record.publisher)
            .bind(signed(record.bytes))
            .bind(record.arrival.name())
            .bind(&record.file)
            .bind(&record.source)
            .bind(&record.decided_by)
            .bind(signed(record.at.as_millis()))
            .bind(&breaking)
            .bind(record.state.name())
            .fetch_one(&mut *transaction)
            .await?;
            sqlx::query(desired).bind(id).bind(signed(keep)).execute(&mut *transaction).await?;
            sqlx::query(older).bind(id).bind(ENTRIES).execute(&mut *transaction).await?;
            added
        });
        Ok(Some(seq))
    }

    /// Returns the history of a capability, the newest entry first.
    pub async fn versions(&self, id: &str) -> Result<Vec<VersionEntry>, DbError> {
        if !is_storable(id) {
            return Ok(Vec::new());
        }
        let rows: Vec<Row> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT seq, version, digest, publisher, bytes, arrival, file, source, decided_by, at,
                     breaking, state
                 FROM component_versions WHERE capability_id = $1 ORDER BY seq DESC",
            )
            .bind(id)
            .fetch_all(pool)
            .await?
        });
        let kept: Vec<(String,)> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT digest FROM component_contents
                 WHERE digest IN (SELECT digest FROM component_versions WHERE capability_id = $1)",
            )
            .bind(id)
            .fetch_all(pool)
            .await?
        });
        let is_kept = |digest: &str| kept.iter().any(|(kept,)| kept == digest);
        Ok(rows
            .into_iter()
            .map(|row| {
                let kept = is_kept(&row.2);
                entry(id, row, kept)
            })
            .collect())
    }

    /// Returns the digests of each capability's history, the oldest first.
    pub async fn recorded_digests(&self) -> Result<BTreeMap<String, Vec<String>>, DbError> {
        let rows: Vec<(String, String)> = read!(self.inner.backend, |pool| {
            sqlx::query_as("SELECT capability_id, digest FROM component_versions ORDER BY seq")
                .fetch_all(pool)
                .await?
        });
        let mut recorded: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (id, digest) in rows {
            recorded.entry(id).or_default().push(digest);
        }
        Ok(recorded)
    }

    /// Returns the desired version of every capability that has one.
    pub async fn desired_versions(&self) -> Result<Vec<DesiredVersion>, DbError> {
        type Row = (i64, String, String, String, String, String);
        let rows: Vec<Row> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT seq, capability_id, digest, file, arrival, state FROM component_versions
                 WHERE seq IN (SELECT max(seq) FROM component_versions WHERE arrival <> 'dropped'
                     GROUP BY capability_id)
                 ORDER BY seq",
            )
            .fetch_all(pool)
            .await?
        });
        let desired = |(seq, capability_id, digest, file, arrival, state): Row| DesiredVersion {
            seq,
            capability_id,
            digest,
            file,
            arrival: Arrival::parse(&arrival),
            state: VersionState::parse(&state),
        };
        Ok(rows.into_iter().map(desired).collect())
    }

    /// Returns the content of a component; `None` if it is not kept, or if it is damaged.
    pub async fn component_content(&self, digest: &str) -> Result<Option<Vec<u8>>, DbError> {
        let row: Option<(Vec<u8>,)> = read!(self.inner.backend, |pool| {
            sqlx::query_as("SELECT content FROM component_contents WHERE digest = $1")
                .bind(digest)
                .fetch_optional(pool)
                .await?
        });
        Ok(row.and_then(|(compressed,)| {
            let content = decompress(&compressed);
            content.inspect_err(|error| tracing::warn!(%error, digest, "a content is damaged")).ok()
        }))
    }

    /// Returns whether the content of a component is kept.
    pub async fn has_content(&self, digest: &str) -> Result<bool, DbError> {
        let row: Option<(String,)> = read!(self.inner.backend, |pool| {
            sqlx::query_as("SELECT digest FROM component_contents WHERE digest = $1")
                .bind(digest)
                .fetch_optional(pool)
                .await?
        });
        Ok(row.is_some())
    }

    /// Records that a version that has waited for approval may serve.
    pub async fn accept_version(&self, seq: i64) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            sqlx::query("UPDATE component_versions SET state = 'accepted' WHERE seq = $1")
                .bind(seq)
                .execute(&mut *transaction)
                .await?;
        });
        Ok(())
    }
}

fn entry(id: &str, row: Row, kept: bool) -> VersionEntry {
    let (seq, version, digest, publisher, bytes, arrival, file, source, by, at, breaking, state) =
        row;
    let record = VersionRecord {
        capability_id: id.to_owned(),
        version,
        digest,
        publisher,
        bytes: unsigned(bytes),
        arrival: Arrival::parse(&arrival),
        file,
        source,
        decided_by: by,
        at: instant(at),
        breaking: serde_json::from_str(&breaking).unwrap_or_default(),
        state: VersionState::parse(&state),
    };
    VersionEntry { seq, record, kept }
}

/// Compresses a component to about half its size. Runs on a thread for blocking work, so that calls do not
/// wait.
pub(super) async fn compress(content: Option<&[u8]>) -> Result<Option<Vec<u8>>, DbError> {
    let Some(content) = content.map(<[u8]>::to_vec) else { return Ok(None) };
    let compressed = tokio::task::spawn_blocking(move || -> io::Result<Vec<u8>> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(&content)?;
        encoder.finish()
    });
    let compressed = compressed.await.unwrap_or_else(|error| Err(io::Error::other(error)));
    compressed.map(Some).map_err(|error| DbError::Sqlx(sqlx::Error::Io(error)))
}

fn decompress(compressed: &[u8]) -> io::Result<Vec<u8>> {
    let mut content = Vec::new();
    GzDecoder::new(compressed).read_to_end(&mut content)?;
    Ok(content)
}
