//! Writes the changes of all units of a transaction, with one statement for each kind of row.

use super::{
    fan_out::{fan_out, run_commands},
    reads::FanOutReads,
    signals::Announcement,
};
use crate::{
    audit_log::{AuditChain, Seal},
    changes::{Changes, Write},
    connection::{Statements, Transaction},
    document::{CollectionId, DocumentKey, UniqueKey},
    effects::{
        Audience, AuditRecord, NewEvent, OutboxCommand, Release, StoredAnswer, Task, TimerChange,
        TimerKey,
    },
    error::DbError,
    integers::signed,
    query::{Entry, Layout},
};
use serde_json::{Value, json};
use std::{borrow::Cow, collections::BTreeMap, sync::Arc};

#[derive(Debug, Default)]
pub(crate) struct WriteBatch<'a> {
    /// The last write of each document; earlier ones are not needed.
    writes: BTreeMap<&'a DocumentKey, &'a Write>,
    events: Vec<&'a NewEvent>,
    timers: BTreeMap<&'a TimerKey, Option<&'a TimerChange>>,
    finished_deliveries: Vec<i64>,
    answers: Vec<&'a StoredAnswer>,
    audit: Vec<&'a AuditRecord>,
    commands: Vec<&'a OutboxCommand>,
    releases: Vec<&'a Release>,
    /// The owners whose delivery rules have changed.
    reconsidered: Vec<&'a str>,
}

impl<'a> WriteBatch<'a> {
    pub(crate) fn add(&mut self, changes: &'a Changes) {
        self.writes.extend(&changes.writes);
        self.events.extend(&changes.events);
        match &changes.task {
            Some(Task::Timer { key, .. }) => {
                self.timers.insert(key, None);
            }
            Some(Task::Delivery { id }) => self.finished_deliveries.push(*id),
            None => {}
        }
        for (key, change) in &changes.timers {
            let change = matches!(change, TimerChange::Set { .. }).then_some(change);
            self.timers.insert(key, change);
        }
        self.answers.extend(&changes.answer);
        self.audit.extend(&changes.audit);
        for command in &changes.commands {
            match command {
                OutboxCommand::Release(release) => self.releases.push(release),
                OutboxCommand::ReconsiderHeld { owner_id } => self.reconsidered.push(owner_id),
                other => self.commands.push(other),
            }
        }
    }

    pub(super) async fn write(
        &self,
        transaction: &mut Transaction,
        statements: &Statements,
        (layouts, reads): (&BTreeMap<CollectionId, Arc<Layout>>, FanOutReads),
        chain: &AuditChain,
    ) -> Result<Announcement, DbError> {
        transaction.run(&statements.put_documents, self.documents()).await?;
        for layout in layouts.values() {
            self.index(transaction, layout).await?;
        }
        let (released, claimed) = self.unique_keys();
        transaction.run(&statements.drop_unique_keys, released).await?;
        transaction.run(&statements.put_unique_keys, claimed).await?;
        transaction
            .run(&statements.add_events, self.events.iter().map(|event| event_row(event)).collect())
            .await?;
        let deliveries = self.events.iter().flat_map(|event| delivery_rows(event)).collect();
        transaction.run(&statements.add_deliveries, deliveries).await?;
        let finished = self.finished_deliveries.iter().map(|id| json!([id])).collect();
        transaction.run(&statements.drop_deliveries, finished).await?;
        let (ended, set) = self.timers();
        transaction.run(&statements.drop_timers, ended).await?;
        transaction.run(&statements.put_timers, set).await?;
        transaction
            .run(
                &statements.add_answers,
                self.answers.iter().map(|answer| answer_row(answer)).collect(),
            )
            .await?;
        let seals = chain.reserve(&self.audit);
        let rows = self.audit.iter().zip(&seals);
        let rows = rows.map(|(record, seal)| audit_row(record, seal.as_ref())).collect();
        transaction.run(&statements.add_audit, rows).await?;
        let added = (self.events.as_slice(), self.releases.as_slice());
        let fan_out = fan_out(transaction, statements, reads, added, &self.reconsidered).await?;
        let commanded = run_commands(transaction, statements, &self.commands).await?;
        Ok(Announcement {
            work: self.has_work() || fan_out.work,
            sending: fan_out.sending || commanded.sending,
            agents: [fan_out.agents, commanded.agents].concat(),
            to_all: fan_out.to_all,
        })
    }

    /// Returns whether timers or deliveries may have become due.
    fn has_work(&self) -> bool {
        // When a delivery is finished, the next one to the same subscriber about the same subject may become
        // due.
        !self.timers.is_empty()
            || !self.finished_deliveries.is_empty()
            || self.events.iter().any(|event| !event.subscribers.is_empty())
    }

    async fn index(&self, transaction: &mut Transaction, layout: &Layout) -> Result<(), DbError> {
        if !layout.is_indexed() {
            return Ok(());
        }
        let mut entries: Vec<(&str, Option<Cow<'_, Entry>>)> = Vec::new();
        for (key, write) in &self.writes {
            if key.collection != layout.collection {
                continue;
            }
            let entry = match (&write.body, &write.entry) {
                (Some(_), Some(entry)) if write.generation == layout.generation => {
                    Some(Cow::Borrowed(entry))
                }
                // The declaration has changed since the call began.
                (Some(body), _) => {
                    let value = serde_json::from_str(body).unwrap_or_default();
                    layout.shape.entry(&value).ok().map(Cow::Owned)
                }
                (None, _) => None,
            };
            entries.push((&key.id, entry));
        }
        let entries: Vec<_> = entries.iter().map(|(id, entry)| (*id, entry.as_deref())).collect();
        layout.write(transaction, &entries).await
    }

    fn documents(&self) -> Vec<Value> {
        let row = |(key, write): (&&DocumentKey, &&Write)| {
            json!([
                key.collection.0,
                key.id,
                write.revision,
                write.body,
                write.created_at.as_millis(),
                write.updated_at.as_millis(),
            ])
        };
        self.writes.iter().map(row).collect()
    }

    /// Returns the rows of the documents whose unique keys are removed, and the rows of their new unique
    /// keys.
    fn unique_keys(&self) -> (Vec<Value>, Vec<Value>) {
        let unique =
            |write: &Write| write.entry.as_ref().is_none_or(|entry| !entry.uniques.is_empty());
        let written = || self.writes.iter().filter(|(_, write)| unique(write));
        let released = written().map(|(key, _)| json!([key.collection.0, key.id])).collect();
        let claimed = written().flat_map(|(key, write)| {
            let row =
                |unique: UniqueKey| json!([unique.collection.0, unique.place, unique.key, key.id]);
            write.unique_keys(key.collection).map(row).collect::<Vec<_>>()
        });
        (released, claimed.collect())
    }

    /// Returns keys of the timers that are removed, and rows of those that are set.
    fn timers(&self) -> (Vec<Value>, Vec<Value>) {
        let (mut ended, mut set) = (Vec::new(), Vec::new());
        for (key, change) in &self.timers {
            match change {
                Some(TimerChange::Set { setting, at, action, input }) => {
                    let at = signed(at.as_millis());
                    let [capability, name, mode] = key_columns(key);
                    set.push(json!([capability, name, mode, setting, action, input, at, at, 0]));
                }
                Some(TimerChange::Cancel) | None => ended.push(json!(key_columns(key))),
            }
        }
        (ended, set)
    }
}

fn key_columns(key: &TimerKey) -> [Value; 3] {
    [json!(key.capability), json!(key.name), json!(u8::from(key.test_mode))]
}

fn event_row(event: &NewEvent) -> Value {
    let (audience, id) = match &event.audience {
        Audience::Agent(id) => ("agent", Some(id)),
        Audience::Owner(id) => ("owner", Some(id)),
        Audience::Capabilities => ("capabilities", None),
        Audience::Listeners => ("listeners", None),
        Audience::Webhook { id, .. } => ("webhook", Some(id)),
    };
    json!([
        event.id,
        event.capability,
        event.event_type,
        event.subject,
        audience,
        id,
        event.data,
        event.request_id,
        event.occurred_at.as_millis(),
        u8::from(event.test_mode),
        event.trace,
    ])
}

/// Returns the row of a delivery for each subscriber. Deliveries with the same subscriber and subject form a
/// lane and keep their order.
fn delivery_rows(event: &NewEvent) -> Vec<Value> {
    let row = |(capability, action): &(String, String)| {
        json!([event.id, capability, action, format!("{capability} {}", event.subject)])
    };
    event.subscribers.iter().map(row).collect()
}

fn answer_row(stored: &StoredAnswer) -> Value {
    let key = &stored.key;
    let hash = stored.body_hash.hex();
    let expires_at = signed(stored.expires_at.as_millis());
    json!([key.agent_id, key.capability, key.action, key.key, hash, stored.answer, expires_at])
}

fn audit_row(record: &AuditRecord, seal: Option<&Seal>) -> Value {
    json!([
        record.at.as_millis(),
        record.request_id,
        record.agent_id,
        record.owner_id,
        record.client_id,
        record.address,
        Value::from(record.via.clone()).to_string(),
        record.capability,
        record.version,
        record.digest,
        record.action,
        record.outcome,
        record.duration_us,
        record.count,
        seal.map(|seal| seal.node.as_str()).unwrap_or_default(),
        seal.map(|seal| seal.position).unwrap_or_default(),
        seal.map(|seal| seal.salt.as_str()),
    ])
}
