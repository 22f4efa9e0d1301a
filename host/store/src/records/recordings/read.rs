//! Reads recordings.

use super::seal::{content_key, open_content};
use crate::{
    connection::read, error::DbError, integers::unsigned, store::Store, texts::is_storable,
};
use portolan_vocabulary::Timestamp;
use serde::Serialize;

/// Which recordings are listed, the newest first.
#[derive(Debug, Default)]
pub struct RecordingQuery {
    /// A capability that ran in the call, also as a nested call.
    pub capability: Option<String>,
    /// Only calls that failed through no fault of their caller.
    pub failed: bool,
    pub limit: u32,
}

/// The columns of a recorded call that are not sealed.
#[derive(Debug, Clone, Serialize)]
pub struct RecordingEntry {
    pub request_id: String,
    pub at: Timestamp,
    pub capability: String,
    pub action: String,
    pub version: String,
    pub digest: String,
    /// `ok`, or the error code.
    pub outcome: String,
    /// Whether it failed through no fault of its caller.
    pub failed: bool,
    pub test_mode: bool,
    pub bytes: u64,
}

/// A recorded call with its content.
#[derive(Debug)]
pub struct OpenedRecording {
    pub entry: RecordingEntry,
    /// `None` if a key that has sealed it is destroyed, or this host lacks the key of the keys.
    pub content: Option<Vec<u8>>,
}

type Row = (String, i64, String, String, String, String, String, i64, i64, i64);

const COLUMNS: &str =
    "request_id, at, capability, action, version, digest, outcome, failed, test_mode, bytes";

impl Store {
    /// Returns recordings without their contents.
    pub async fn recordings(&self, query: &RecordingQuery) -> Result<Vec<RecordingEntry>, DbError> {
        if !is_storable(query.capability.as_deref().unwrap_or_default()) {
            return Ok(Vec::new());
        }
        let pattern = match &query.capability {
            Some(id) => format!("% {id} %"),
            None => "%".to_owned(),
        };
        let sql = format!(
            "SELECT {COLUMNS} FROM recordings WHERE capabilities LIKE $1 AND failed >= $2
             ORDER BY at DESC, request_id DESC LIMIT $3"
        );
        let rows: Vec<Row> = read!(self.inner.backend, |pool| {
            sqlx::query_as(sqlx::AssertSqlSafe(sql.as_str()))
                .bind(pattern)
                .bind(i64::from(query.failed))
                .bind(i64::from(query.limit))
                .fetch_all(pool)
                .await?
        });
        Ok(rows.into_iter().map(entry).collect())
    }

    /// Returns a recording, opened.
    pub async fn recording(&self, request_id: &str) -> Result<Option<OpenedRecording>, DbError> {
        if !is_storable(request_id) {
            return Ok(None);
        }
        let sql = format!("SELECT {COLUMNS} FROM recordings WHERE request_id = $1");
        let row: Option<Row> = read!(self.inner.backend, |pool| {
            sqlx::query_as(sqlx::AssertSqlSafe(sql.as_str()))
                .bind(request_id)
                .fetch_optional(pool)
                .await?
        });
        let sealed: Option<(String, Vec<u8>)> = read!(self.inner.backend, |pool| {
            sqlx::query_as("SELECT key_names, content FROM recordings WHERE request_id = $1")
                .bind(request_id)
                .fetch_optional(pool)
                .await?
        });
        let (Some(row), Some((names, content))) = (row, sealed) else { return Ok(None) };
        let mut keys = Vec::new();
        for name in names.split(' ') {
            let key: Option<Vec<u8>> = read!(self.inner.backend, |pool| {
                sqlx::query_scalar("SELECT sealed FROM recording_keys WHERE name = $1")
                    .bind(name)
                    .fetch_optional(pool)
                    .await?
            });
            keys.push(key.map(|key| (name.to_owned(), key)));
        }
        let keys: Option<Vec<_>> = keys.into_iter().collect();
        let key = keys.and_then(|keys| content_key(self.keys(), &keys));
        let content = key.and_then(|key| open_content(&key, &content));
        Ok(Some(OpenedRecording { entry: entry(row), content }))
    }

    /// Returns the number of recordings that name one of these people or agents.
    pub async fn count_recordings_of(&self, ids: &[String]) -> Result<u64, DbError> {
        let mut found = std::collections::BTreeSet::new();
        for id in ids {
            let rows: Vec<String> = read!(self.inner.backend, |pool| {
                sqlx::query_scalar("SELECT request_id FROM recording_people WHERE person = $1")
                    .bind(id.as_str())
                    .fetch_all(pool)
                    .await?
            });
            found.extend(rows);
        }
        Ok(found.len() as u64)
    }
}

fn entry(row: Row) -> RecordingEntry {
    let (request_id, at, capability, action, version, digest, outcome, failed, test_mode, bytes) =
        row;
    RecordingEntry {
        request_id,
        at: Timestamp::from_millis(unsigned(at)),
        capability,
        action,
        version,
        digest,
        outcome,
        failed: failed != 0,
        test_mode: test_mode != 0,
        bytes: unsigned(bytes),
    }
}
