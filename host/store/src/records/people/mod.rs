//! The stored data of a person: its export, and its erasure.
//!
//! Documents are found by the person's ids in their text and handled as their collection declares; an
//! erasure deletes those of a collection that declares nothing. Everything else that names the person is
//! deleted or redacted here.
//!
//! A person is given as their ids: the owner's first, then those of their agents.

mod erase;
mod erase_audit;
mod erasures;
mod export;

pub use erase::ErasureCounts;
pub use export::{
    PersonalAnswer, PersonalDocument, PersonalEvent, PersonalItem, PersonalTimer, PersonalWebhook,
};

use crate::{connection::read, error::DbError, store::Store};
use portolan_vocabulary::{HOST, People, Person};
use sqlx::AssertSqlSafe;

/// The number of rows that are read at once: documents have up to 256 KiB each.
const CHUNK: i64 = 20;

/// A document as it is stored: its collection's number, its id, its body, and why it is in quarantine.
type Row = (i64, String, String, Option<String>);

/// A collection as it is stored.
#[derive(Debug, Clone, sqlx::FromRow)]
struct StoredCollection {
    capability: String,
    name: String,
    generation: i64,
    shape: String,
    people: Option<String>,
    /// The version of the documents' form.
    version: i64,
}

impl StoredCollection {
    /// Returns the declared people; `None` if the collection declares nothing, or nothing valid.
    fn people(&self) -> Option<People> {
        let people: Vec<Person> = serde_json::from_str(self.people.as_deref()?).ok()?;
        People::new(&people).ok()
    }

    /// Returns whether these documents are the records of agents or owners.
    fn is_identity_record(&self) -> bool {
        self.capability == HOST && (self.name == "agents" || self.name == "owners")
    }
}

impl Store {
    /// Returns a person's ids: the owner's, then those of the agents that are or were theirs.
    pub async fn person_ids(&self, owner_id: &str) -> Result<Vec<String>, DbError> {
        let _search = self.search().await?;
        let agents: Vec<(String,)> = read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT d.id FROM documents d JOIN collections c ON c.id = d.collection
                 WHERE c.capability = $1 AND c.name = 'agents' AND d.body LIKE $2 ORDER BY d.id",
            )
            .bind(HOST)
            .bind(pattern(owner_id))
            .fetch_all(pool)
            .await?
        });
        let owner = std::iter::once(owner_id.to_owned());
        Ok(owner.chain(agents.into_iter().map(|(id,)| id)).collect())
    }

    /// Returns whether any document names this owner.
    pub async fn is_known(&self, owner_id: &str) -> Result<bool, DbError> {
        Ok(!self.documents_naming(owner_id, None).await?.is_empty())
    }

    /// Returns the next documents whose text or id contains this id, in the order of collection and id.
    async fn documents_naming(
        &self,
        id: &str,
        after: Option<(i64, String)>,
    ) -> Result<Vec<Row>, DbError> {
        self.rows_naming("documents", id, after).await
    }

    /// Returns the next documents whose text or id contains this id and that are kept in quarantine, outside
    /// their collections.
    async fn quarantined_naming(
        &self,
        id: &str,
        after: Option<(i64, String)>,
    ) -> Result<Vec<Row>, DbError> {
        self.rows_naming("quarantined_documents", id, after).await
    }

    async fn rows_naming(
        &self,
        table: &'static str,
        id: &str,
        after: Option<(i64, String)>,
    ) -> Result<Vec<Row>, DbError> {
        let (after_collection, after_id) = after.unwrap_or((-1, String::new()));
        let sql = format!(
            "SELECT CAST(d.collection AS BIGINT), d.id, d.body, q.reason FROM {table} d
             LEFT JOIN quarantined_documents q ON q.collection = d.collection AND q.id = d.id
             WHERE (d.collection > $1 OR (d.collection = $1 AND d.id > $2))
             AND d.body IS NOT NULL AND (d.body LIKE $3 OR d.id LIKE $3)
             ORDER BY d.collection, d.id LIMIT $4"
        );
        let _search = self.search().await?;
        Ok(read!(self.inner.backend, |pool| {
            sqlx::query_as(AssertSqlSafe(sql.as_str()))
                .bind(after_collection)
                .bind(after_id.as_str())
                .bind(pattern(id))
                .bind(CHUNK)
                .fetch_all(pool)
                .await?
        }))
    }

    async fn find_collection_by_id(
        &self,
        collection: i64,
    ) -> Result<Option<StoredCollection>, DbError> {
        Ok(read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT capability, name, CAST(generation AS BIGINT) AS generation, shape, people,
                 CAST(version AS BIGINT) AS version
                 FROM collections WHERE id = $1",
            )
            .bind(collection)
            .fetch_optional(pool)
            .await?
        }))
    }
}

/// Returns the `LIKE` pattern of texts that contain this id. The underscore of the id matches any character,
/// but that finds no other texts, because nothing else contains the ULID after it.
fn pattern(id: &str) -> String {
    format!("%{id}%")
}
