//! The export of all that is stored about a person.

use super::{Row, pattern};
use crate::{connection::read, error::DbError, integers::unsigned, store::Store};
use portolan_vocabulary::Timestamp;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// A stored document that names a person.
#[derive(Debug, Clone, Serialize)]
pub struct PersonalDocument {
    pub capability: String,
    pub collection: String,
    pub id: String,
    /// The personal fields of other people are empty.
    pub document: Value,
}

/// An event about a person, or one that was sent to them.
#[derive(Debug, Clone, Serialize)]
pub struct PersonalEvent {
    pub id: String,
    pub event_type: String,
    pub data: Value,
    pub occurred_at: Timestamp,
}

/// A webhook of one of a person's agents.
#[derive(Debug, Clone, Serialize, sqlx::FromRow)]
pub struct PersonalWebhook {
    pub id: String,
    pub agent_id: String,
    pub url: String,
    pub description: Option<String>,
}

/// An answer that is kept for an idempotency key of one of a person's agents.
#[derive(Debug, Clone, Serialize)]
pub struct PersonalAnswer {
    pub agent_id: String,
    pub capability: String,
    pub action: String,
    pub key: String,
    pub answer: Value,
}

/// All that is stored about a person.
#[derive(Debug, Clone, Serialize)]
pub struct PersonalData {
    pub owner_id: String,
    pub agents: Vec<String>,
    pub documents: Vec<PersonalDocument>,
    pub events: Vec<PersonalEvent>,
    pub webhooks: Vec<PersonalWebhook>,
    pub answers: Vec<PersonalAnswer>,
}

impl Store {
    /// Returns all that is stored about a person.
    pub async fn export_person(&self, owner_id: &str) -> Result<PersonalData, DbError> {
        let ids = self.person_ids(owner_id).await?;
        Ok(PersonalData {
            owner_id: owner_id.to_owned(),
            documents: self.personal_documents(&ids).await?,
            events: self.personal_events(&ids).await?,
            webhooks: self.personal_webhooks(&ids).await?,
            answers: self.personal_answers(&ids).await?,
            agents: ids.into_iter().skip(1).collect(),
        })
    }

    async fn personal_documents(&self, ids: &[String]) -> Result<Vec<PersonalDocument>, DbError> {
        let mut documents = Vec::new();
        let mut seen = BTreeSet::new();
        for person in ids {
            let mut after = None;
            loop {
                let rows = self.documents_naming(person, after).await?;
                let Some((collection, id, _)) = rows.last() else { break };
                after = Some((*collection, id.clone()));
                for row in rows {
                    if seen.insert((row.0, row.1.clone())) {
                        documents.extend(self.personal_document(row, ids).await?);
                    }
                }
            }
        }
        seen.clear();
        for person in ids {
            for row in self.quarantined_naming(person).await? {
                if seen.insert((row.0, row.1.clone())) {
                    documents.extend(self.personal_document(row, ids).await?);
                }
            }
        }
        Ok(documents)
    }

    /// Returns a document as a person may see it, if it names them where its collection declares people.
    async fn personal_document(
        &self,
        (collection, id, body): Row,
        ids: &[String],
    ) -> Result<Option<PersonalDocument>, DbError> {
        let Some(declared) = self.declared(collection).await? else { return Ok(None) };
        let Ok(mut document) = serde_json::from_str::<Value>(&body) else { return Ok(None) };
        if let Some(people) = declared.people() {
            if !people.names(&id, &document, ids) {
                return Ok(None);
            }
            people.hide_others(&id, &mut document, ids);
        }
        let (capability, collection) = (declared.capability, declared.name);
        Ok(Some(PersonalDocument { capability, collection, id, document }))
    }

    /// Returns the documents whose text or id contains this id and that are kept in quarantine, outside
    /// their collections.
    async fn quarantined_naming(&self, id: &str) -> Result<Vec<Row>, DbError> {
        Ok(read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT CAST(collection AS BIGINT), id, body FROM quarantined_documents
                 WHERE body IS NOT NULL AND (body LIKE $1 OR id LIKE $1) ORDER BY collection, id",
            )
            .bind(pattern(id))
            .fetch_all(pool)
            .await?
        }))
    }

    async fn personal_events(&self, ids: &[String]) -> Result<Vec<PersonalEvent>, DbError> {
        let mut events = Vec::new();
        for person in ids {
            let rows: Vec<(String, String, String, i64)> = read!(self.inner.backend, |pool| {
                sqlx::query_as(
                    "SELECT id, event_type, data, occurred_at FROM events
                     WHERE audience_id = $1 OR subject LIKE $2 OR data LIKE $2 ORDER BY seq",
                )
                .bind(person)
                .bind(pattern(person))
                .fetch_all(pool)
                .await?
            });
            events.extend(rows.into_iter().map(|(id, event_type, data, at)| PersonalEvent {
                id,
                event_type,
                data: serde_json::from_str(&data).unwrap_or_default(),
                occurred_at: Timestamp::from_millis(unsigned(at)),
            }));
        }
        events.sort_by(|one, other| one.id.cmp(&other.id));
        events.dedup_by(|one, other| one.id == other.id);
        Ok(events)
    }

    async fn personal_webhooks(&self, ids: &[String]) -> Result<Vec<PersonalWebhook>, DbError> {
        let mut webhooks = Vec::new();
        for person in ids {
            let of_agent: Vec<PersonalWebhook> = read!(self.inner.backend, |pool| {
                sqlx::query_as(
                    "SELECT id, agent_id, url, description FROM webhooks
                     WHERE agent_id = $1 ORDER BY id",
                )
                .bind(person)
                .fetch_all(pool)
                .await?
            });
            webhooks.extend(of_agent);
        }
        Ok(webhooks)
    }

    async fn personal_answers(&self, ids: &[String]) -> Result<Vec<PersonalAnswer>, DbError> {
        let mut answers = Vec::new();
        for person in ids {
            let rows: Vec<(String, String, String, String)> = read!(self.inner.backend, |pool| {
                sqlx::query_as(
                    "SELECT capability, action, key, answer FROM idempotency
                     WHERE agent_id = $1 ORDER BY capability, action, key",
                )
                .bind(person)
                .fetch_all(pool)
                .await?
            });
            let answer = |(capability, action, key, answer): (_, _, _, String)| PersonalAnswer {
                agent_id: person.clone(),
                capability,
                action,
                key,
                answer: serde_json::from_str(&answer).unwrap_or_default(),
            };
            answers.extend(rows.into_iter().map(answer));
        }
        Ok(answers)
    }
}
