//! Documents in quarantine: those that a version of a capability could not read, and those that could not
//! be migrated.

use crate::{
    connection::{read, transact, transact_alone},
    document::CollectionId,
    error::DbError,
    integers::{signed, unsigned},
    query::Collection,
    store::Store,
    texts::{is_storable, storable},
    usage::{capability_of, scope},
};
use portolan_vocabulary::{Timestamp, person_ids, redact_ids};
use serde::Serialize;
use serde_json::Value;

/// The maximum number of characters of a reason.
const REASON_CHARACTERS: usize = 500;
/// The maximum number of rows of a list.
const MAX_LISTED: i64 = 10_000;

/// A document in quarantine.
#[derive(Debug, Clone, Serialize)]
pub struct Quarantined {
    pub capability: String,
    pub test_mode: bool,
    pub collection: String,
    pub id: String,
    /// The version of the document's form.
    pub version: u32,
    pub reason: String,
    pub quarantined_at: Timestamp,
    /// Whether the document was removed from its collection, because it could not be migrated. Otherwise it
    /// is still in its collection, and the version that could not read it ignores it.
    pub removed: bool,
}

/// A document in quarantine with its body.
#[derive(Debug, Serialize)]
pub struct QuarantinedDocument {
    #[serde(flatten)]
    pub quarantined: Quarantined,
    pub revision: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
    /// `None` if the document was deleted meanwhile.
    pub document: Option<Value>,
}

/// Scope, collection, id, version, reason, time, whether a body is kept here.
type Row = (String, String, String, i64, String, i64, i64);

impl From<Row> for Quarantined {
    fn from((scope, collection, id, version, reason, at, removed): Row) -> Self {
        let capability = capability_of(&scope);
        Self {
            test_mode: capability != scope,
            capability: capability.to_owned(),
            collection,
            id,
            version: u32::try_from(version).unwrap_or(u32::MAX),
            reason,
            quarantined_at: Timestamp::from_millis(unsigned(at)),
            removed: removed != 0,
        }
    }
}

/// Returns the reason as it is stored with its document: of limited length, as both databases can contain it, and
/// without the ids of people, because exports and erasures search only the document for ids.
pub(super) fn redacted_reason(reason: &str) -> String {
    let reason: String = reason.chars().take(REASON_CHARACTERS).collect();
    let reason = storable(&reason);
    let people: Vec<String> = person_ids(&reason).map(str::to_owned).collect();
    redact_ids(&reason, &people)
}

impl Store {
    /// Records that a capability could not read a document at this revision.
    pub async fn quarantine_unreadable(
        &self,
        collection: CollectionId,
        id: &str,
        revision: u64,
        reason: &str,
        now: Timestamp,
    ) -> Result<(), DbError> {
        let reason = redacted_reason(reason);
        transact!(self.inner.backend, |transaction| {
            sqlx::query(
                "INSERT INTO quarantined_documents
                 (collection, id, revision, version, created_at, updated_at, reason, quarantined_at)
                 SELECT d.collection, d.id, d.revision, c.version, d.created_at, d.updated_at, $4, $5
                 FROM documents d JOIN collections c ON c.id = d.collection
                 WHERE d.collection = $1 AND d.id = $2 AND d.revision = $3
                 ON CONFLICT (collection, id) DO UPDATE SET
                 revision = excluded.revision, reason = excluded.reason
                 WHERE quarantined_documents.body IS NULL",
            )
            .bind(collection.0)
            .bind(id)
            .bind(signed(revision))
            .bind(reason)
            .bind(signed(now.as_millis()))
            .execute(&mut *transaction)
            .await?;
        });
        Ok(())
    }

    /// Returns the documents in quarantine, at most 10,000.
    pub async fn quarantined(&self) -> Result<Vec<Quarantined>, DbError> {
        let rows: Vec<Row> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT c.capability, c.name, q.id, q.version, q.reason, q.quarantined_at,
                 CAST(CASE WHEN q.body IS NULL THEN 0 ELSE 1 END AS BIGINT)
                 FROM quarantined_documents q JOIN collections c ON c.id = q.collection
                 WHERE c.state = 'serving' ORDER BY c.capability, c.name, q.id LIMIT $1",
            )
            .bind(MAX_LISTED)
            .fetch_all(pool)
            .await?
        });
        Ok(rows.into_iter().map(Quarantined::from).collect())
    }

    /// Returns a document in quarantine.
    pub async fn quarantined_document(
        &self,
        (capability, test_mode): (&str, bool),
        collection: &str,
        id: &str,
    ) -> Result<Option<QuarantinedDocument>, DbError> {
        type Full = (i64, String, i64, i64, i64, i64, Option<String>, Option<String>);
        if ![capability, collection, id].into_iter().all(is_storable) {
            return Ok(None);
        }
        let scope = scope(capability, test_mode);
        let row: Option<Full> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT q.version, q.reason, q.quarantined_at, q.revision, q.created_at, q.updated_at,
                 q.body, d.body
                 FROM quarantined_documents q
                 JOIN collections c ON c.id = q.collection
                 LEFT JOIN documents d ON d.collection = q.collection AND d.id = q.id
                 WHERE c.capability = $1 AND c.name = $2 AND q.id = $3",
            )
            .bind(&scope)
            .bind(collection)
            .bind(id)
            .fetch_optional(pool)
            .await?
        });
        let Some((version, reason, at, revision, created_at, updated_at, kept, stored)) = row
        else {
            return Ok(None);
        };
        let row = (
            scope,
            collection.to_owned(),
            id.to_owned(),
            version,
            reason,
            at,
            i64::from(kept.is_some()),
        );
        Ok(Some(QuarantinedDocument {
            quarantined: row.into(),
            revision: unsigned(revision),
            created_at: Timestamp::from_millis(unsigned(created_at)),
            updated_at: Timestamp::from_millis(unsigned(updated_at)),
            document: kept.or(stored).and_then(|body| serde_json::from_str(&body).ok()),
        }))
    }

    /// Ends the quarantine of a document. Returns false if the document is not in quarantine. A document that
    /// could not be migrated is in no collection, so this deletes it.
    pub async fn end_quarantine(&self, collection: &Collection, id: &str) -> Result<bool, DbError> {
        let removed = transact_alone!(self.inner.backend, |transaction| {
            let sql = "DELETE FROM quarantined_documents WHERE collection = $1 AND id = $2";
            let query = sqlx::query(sql).bind(collection.id().0).bind(id);
            query.execute(&mut *transaction).await?.rows_affected()
        });
        Ok(removed > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_short_and_names_nobody() {
        let reason =
            redacted_reason("agt_01J00000000000000000000001 or own_01J00000000000000000000002?");
        let nobody = "00000000000000000000000000";
        assert_eq!(reason, format!("agt_{nobody} or own_{nobody}?"));
        assert_eq!(redacted_reason("no \0"), "no \u{fffd}");
        assert_eq!(
            redacted_reason(&"ä".repeat(REASON_CHARACTERS + 1)).chars().count(),
            REASON_CHARACTERS
        );
    }
}
