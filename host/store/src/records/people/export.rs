//! The export of all that is stored about a person, one item after the other: it may be more than fits in
//! memory.

use super::{CHUNK, Row, pattern};
use crate::{
    connection::read, error::DbError, integers::unsigned, store::Store, usage::capability_of,
};
use portolan_vocabulary::{Keyring, Timestamp, from_hex, sealed};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;
use tokio::sync::mpsc;

/// An item of an export. All documents come first, then events, webhooks, answers and timers.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum PersonalItem {
    Document(PersonalDocument),
    Event(PersonalEvent),
    Webhook(PersonalWebhook),
    Answer(PersonalAnswer),
    Timer(PersonalTimer),
}

/// A stored document that names a person.
#[derive(Debug, Clone, Serialize)]
pub struct PersonalDocument {
    pub capability: String,
    pub collection: String,
    /// The version of the collection, which is that of the document's form.
    pub version: i64,
    pub id: String,
    /// The part that the person may know. The personal fields of other people are empty; those of the person
    /// that the capability has sealed are opened.
    pub document: Value,
    /// Why the document is in quarantine, if it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub quarantine_reason: Option<String>,
}

/// An event that was sent to a person, or that names them and was neither sent to another person nor caused by one.
#[derive(Debug, Clone, Serialize)]
pub struct PersonalEvent {
    pub id: String,
    pub event_type: String,
    pub data: Value,
    pub occurred_at: Timestamp,
    /// Until when the person's delivery rules hold the event, if they do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub held_until: Option<Timestamp>,
}

/// A webhook of one of a person's agents.
#[derive(Debug, Clone, Serialize, sqlx::FromRow)]
pub struct PersonalWebhook {
    pub id: String,
    pub agent_id: String,
    pub url: String,
    pub description: Option<String>,
}

/// A call of one of a person's agents whose answer is kept for its idempotency key. The answer is left out: what it says is
/// in the documents, and it can have secrets that were told once, such as that of a webhook.
#[derive(Debug, Clone, Serialize)]
pub struct PersonalAnswer {
    pub agent_id: String,
    pub capability: String,
    pub action: String,
    pub key: String,
    /// Until when the answer is kept.
    pub kept_until: Timestamp,
}

/// A pending timer that names a person.
#[derive(Debug, Clone, Serialize)]
pub struct PersonalTimer {
    pub capability: String,
    pub name: String,
    pub action: String,
    pub input: Value,
    pub at: Timestamp,
}

/// The error of an export whose receiver was dropped.
struct ReceiverDropped;

/// An export in progress.
struct Export<'e> {
    store: &'e Store,
    /// The person's ids.
    ids: &'e [String],
    /// The collections to leave out, each with its capability's id.
    left_out: BTreeSet<(String, String)>,
    items: mpsc::Sender<PersonalItem>,
}

impl Store {
    /// Sends all that is stored about a person with these ids, without the documents of some collections. Ends
    /// early, without an error, if the receiver is dropped.
    pub async fn export_person(
        &self,
        ids: &[String],
        left_out: BTreeSet<(String, String)>,
        items: mpsc::Sender<PersonalItem>,
    ) -> Result<(), DbError> {
        let export = Export { store: self, ids, left_out, items };
        let ended = export.run().await;
        ended.map(|_received| ())
    }
}

type SendResult = Result<Result<(), ReceiverDropped>, DbError>;

/// Replaces the texts in a value that a capability has sealed with these keys, as hexadecimal digits.
fn open_sealed(value: &mut Value, keys: &[[u8; 32]]) {
    match value {
        Value::String(text) => {
            let opened = from_hex(text).and_then(|bytes| sealed::open(keys, &bytes));
            if let Some(opened) = opened.and_then(|bytes| String::from_utf8(bytes).ok()) {
                *text = opened;
            }
        }
        Value::Array(elements) => elements.iter_mut().for_each(|value| open_sealed(value, keys)),
        Value::Object(entries) => entries.values_mut().for_each(|value| open_sealed(value, keys)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Sends an item, or ends the export if the receiver was dropped.
macro_rules! send {
    ($export:expr, $item:expr) => {
        if $export.items.send($item).await.is_err() {
            return Ok(Err(ReceiverDropped));
        }
    };
}

impl Export<'_> {
    /// Returns a document as the person may see it. Returns `None` if its collection declares people and the
    /// document does not name this person at a declared path or is personal to others, if its collection was
    /// deleted or is left out, or if its body cannot be parsed.
    async fn personal_document(
        &self,
        (collection, id, body, quarantine_reason): Row,
    ) -> Result<Option<PersonalDocument>, DbError> {
        let Some(declared) = self.store.find_collection_by_id(collection).await? else {
            return Ok(None);
        };
        let place = (capability_of(&declared.capability).to_owned(), declared.name.clone());
        if self.left_out.contains(&place) {
            return Ok(None);
        }
        let Ok(mut document) = serde_json::from_str::<Value>(&body) else { return Ok(None) };
        if let Some(people) = declared.people() {
            let Some(mut shown) = people.export(&id, document, self.ids) else { return Ok(None) };
            let keys = self.store.keys().derive_for(&place.0, Keyring::SEAL);
            let mut open = |value: &mut Value| open_sealed(value, &keys);
            people.change_own(&id, &mut shown, self.ids, &mut open);
            document = shown;
        }
        let ((capability, collection), version) = (place, declared.version);
        Ok(Some(PersonalDocument {
            capability,
            collection,
            version,
            id,
            document,
            quarantine_reason,
        }))
    }

    async fn run(&self) -> SendResult {
        for part in PARTS {
            for place in 0..self.ids.len() {
                if self.send(part, place).await?.is_err() {
                    return Ok(Err(ReceiverDropped));
                }
            }
        }
        Ok(Ok(()))
    }

    async fn send(&self, part: Part, place: usize) -> SendResult {
        let (earlier, from) = self.ids.split_at(place);
        let Some(person) = from.first() else { return Ok(Ok(())) };
        match part {
            Part::Documents => self.send_documents(person, earlier, false).await,
            Part::Quarantined => self.send_documents(person, earlier, true).await,
            Part::Events => self.send_events(person, earlier).await,
            Part::Webhooks => self.send_webhooks(person).await,
            Part::Answers => self.send_answers(person).await,
            Part::Timers => self.send_timers(person, earlier).await,
        }
    }

    /// Sends the documents that name an id, without those that name an earlier id too: these were sent with
    /// that id.
    async fn send_documents(
        &self,
        person: &str,
        earlier: &[String],
        quarantined: bool,
    ) -> SendResult {
        let mut after = None;
        loop {
            let rows = match quarantined {
                true => self.store.quarantined_naming(person, after).await?,
                false => self.store.documents_naming(person, after).await?,
            };
            let Some((collection, id, ..)) = rows.last() else { return Ok(Ok(())) };
            after = Some((*collection, id.clone()));
            for row in rows {
                if !contains_any(earlier, &[&row.1, &row.2])
                    && let Some(document) = self.personal_document(row).await?
                {
                    send!(self, PersonalItem::Document(document));
                }
            }
        }
    }

    async fn send_events(&self, person: &str, earlier: &[String]) -> SendResult {
        type Event = (i64, String, String, Option<String>, String, String, i64, Option<i64>);
        let mut after = -1;
        loop {
            let search = self.store.search().await?;
            let rows: Vec<Event> = read!(self.store.inner.backend, |pool| {
                sqlx::query_as(
                    "SELECT CAST(seq AS BIGINT), id, event_type,
                     CASE WHEN audience IN ('agent', 'owner') THEN audience_id END, subject, data,
                     occurred_at, (SELECT max(h.due_at) FROM held_events h
                                   WHERE h.event_seq = events.seq AND h.owner_id = $2)
                     FROM events
                     WHERE seq > $1 AND (audience_id = $2 OR subject LIKE $3 OR data LIKE $3)
                     ORDER BY seq LIMIT $4",
                )
                .bind(after)
                .bind(person)
                .bind(pattern(person))
                .bind(CHUNK)
                .fetch_all(pool)
                .await?
            });
            drop(search);
            let Some((last, ..)) = rows.last() else { return Ok(Ok(())) };
            after = *last;
            for (_, id, event_type, audience, subject, data, at, held_until) in rows {
                if contains_any(
                    earlier,
                    &[audience.as_deref().unwrap_or_default(), &subject, &data],
                ) {
                    continue;
                }
                let data: Value = serde_json::from_str(&data).unwrap_or_default();
                if !self.is_of_person(audience.as_deref(), &data) {
                    continue;
                }
                let event = PersonalEvent {
                    id,
                    event_type,
                    data,
                    occurred_at: Timestamp::from_millis(unsigned(at)),
                    held_until: held_until.map(|at| Timestamp::from_millis(unsigned(at))),
                };
                send!(self, PersonalItem::Event(event));
            }
        }
    }

    /// Returns whether an event is the person's: it was sent to them, or to no person and no other person has
    /// caused it. An event that was sent to another person is that person's, also if this person has caused it: the
    /// fact and the time of its sending may tell what others have decided in confidence.
    fn is_of_person(&self, audience_id: Option<&str>, data: &Value) -> bool {
        let is_theirs = |id: &str| self.ids.iter().any(|own| own == id);
        match audience_id {
            Some(audience_id) => is_theirs(audience_id),
            None => actor(data).is_none_or(is_theirs),
        }
    }

    async fn send_webhooks(&self, person: &str) -> SendResult {
        let webhooks: Vec<PersonalWebhook> = read!(self.store.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT id, agent_id, url, description FROM webhooks
                 WHERE agent_id = $1 ORDER BY id",
            )
            .bind(person)
            .fetch_all(pool)
            .await?
        });
        for webhook in webhooks {
            send!(self, PersonalItem::Webhook(webhook));
        }
        Ok(Ok(()))
    }

    async fn send_answers(&self, person: &str) -> SendResult {
        let mut after: (String, String, String) = Default::default();
        loop {
            let rows: Vec<(String, String, String, i64)> =
                read!(self.store.inner.backend, |pool| {
                    sqlx::query_as(
                        "SELECT capability, action, key, expires_at FROM idempotency
                     WHERE agent_id = $1 AND (capability, action, key) > ($2, $3, $4)
                     ORDER BY capability, action, key LIMIT $5",
                    )
                    .bind(person)
                    .bind(after.0.as_str())
                    .bind(after.1.as_str())
                    .bind(after.2.as_str())
                    .bind(CHUNK)
                    .fetch_all(pool)
                    .await?
                });
            let Some((capability, action, key, _)) = rows.last() else { return Ok(Ok(())) };
            after = (capability.clone(), action.clone(), key.clone());
            for (capability, action, key, expires_at) in rows {
                let answer = PersonalAnswer {
                    agent_id: person.to_owned(),
                    capability,
                    action,
                    key,
                    kept_until: Timestamp::from_millis(unsigned(expires_at)),
                };
                send!(self, PersonalItem::Answer(answer));
            }
        }
    }

    /// Sends the timers of capabilities that name an id, without those that name an earlier id too. The host's
    /// own requests for exports and erasures are left out.
    async fn send_timers(&self, person: &str, earlier: &[String]) -> SendResult {
        let mut after: (String, String) = Default::default();
        loop {
            let search = self.store.search().await?;
            let rows: Vec<(String, String, String, String, i64)> =
                read!(self.store.inner.backend, |pool| {
                    sqlx::query_as(
                        "SELECT capability, name, action, input, at FROM timers
                         WHERE (capability, name) > ($1, $2) AND capability NOT LIKE ':people/%'
                         AND (name LIKE $3 OR input LIKE $3)
                         ORDER BY capability, name LIMIT $4",
                    )
                    .bind(after.0.as_str())
                    .bind(after.1.as_str())
                    .bind(pattern(person))
                    .bind(CHUNK)
                    .fetch_all(pool)
                    .await?
                });
            drop(search);
            let Some((capability, name, ..)) = rows.last() else { return Ok(Ok(())) };
            after = (capability.clone(), name.clone());
            for (capability, name, action, input, at) in rows {
                if contains_any(earlier, &[&name, &input]) {
                    continue;
                }
                let input = serde_json::from_str(&input).unwrap_or_default();
                let at = Timestamp::from_millis(unsigned(at));
                send!(
                    self,
                    PersonalItem::Timer(PersonalTimer { capability, name, action, input, at })
                );
            }
        }
    }
}

const PARTS: [Part; 6] =
    [Part::Documents, Part::Quarantined, Part::Events, Part::Webhooks, Part::Answers, Part::Timers];

/// The tables of an export, in the order of its items.
#[derive(Debug, Clone, Copy)]
enum Part {
    Documents,
    /// Documents in quarantine, outside their collections.
    Quarantined,
    Events,
    Webhooks,
    Answers,
    Timers,
}

/// Returns the person who has caused an event.
fn actor(data: &Value) -> Option<&str> {
    data.get("actor")?.get("owner_id")?.as_str()
}

/// Returns whether one of the texts contains one of the ids.
fn contains_any(ids: &[String], texts: &[&str]) -> bool {
    ids.iter().any(|id| texts.iter().any(|text| text.contains(id.as_str())))
}
