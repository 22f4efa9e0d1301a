//! Writes migrated documents into their generation.

use super::{
    document::{Migrated, OldDocument},
    generation::Generation,
    outcome::{Outcome, ensure_indexed},
    rows::sql_text,
};
use crate::{
    connection::{NUMBER, TEXT, Transaction},
    document::{CollectionId, UniqueKey},
    error::DbError,
    integers::unsigned,
    store::Store,
};
use portolan_vocabulary::Timestamp;
use serde_json::{Value, json};
use sqlx::SqlStr;
use std::collections::{BTreeMap, BTreeSet};

/// A table whose key is a collection and an id: its name, and its columns with their types.
type Columns = (&'static str, &'static [(&'static str, &'static str)]);

const QUARANTINE: Columns = (
    "quarantined_documents",
    &[
        ("collection", NUMBER),
        ("id", TEXT),
        ("revision", NUMBER),
        ("version", NUMBER),
        ("body", TEXT),
        ("created_at", NUMBER),
        ("updated_at", NUMBER),
        ("reason", TEXT),
        ("quarantined_at", NUMBER),
    ],
);

const CHANGES: Columns =
    ("generation_changes", &[("collection", NUMBER), ("id", TEXT), ("revision", NUMBER)]);

impl Store {
    /// Writes the outcomes of the migration of documents. Skips documents that have changed since they were
    /// read: their changes are followed later. Returns the ids of the deferred documents, which are to be
    /// written again.
    pub(super) async fn write(
        &self,
        transaction: &mut Transaction,
        generation: &Generation,
        migrated: Vec<Migrated>,
        fenced: bool,
        now: Timestamp,
    ) -> Result<Vec<String>, DbError> {
        let statements = &self.inner.statements;
        let (from, to, layout) = (generation.from.0, generation.to, &generation.layout);
        let keys = migrated.iter().map(|(document, _)| json!([from, document.id])).collect();
        let rows: Vec<(i64, String, i64)> = transaction.find(&statements.revisions, keys).await?;
        let revisions: BTreeMap<String, i64> =
            rows.into_iter().map(|(_, id, revision)| (id, revision)).collect();
        let is_current = |document: &OldDocument| {
            let revision = revisions.get(&document.id).copied().unwrap_or(0);
            unsigned(revision) == document.stored.revision
        };
        let mut outcomes: Vec<(OldDocument, Outcome)> = migrated
            .into_iter()
            .filter(|(document, _)| is_current(document))
            .map(|(document, migrated)| {
                let outcome = generation.outcome(&document, migrated);
                (document, outcome)
            })
            .collect();
        let ids: Vec<Value> =
            outcomes.iter().map(|(document, _)| json!([to.0, document.id])).collect();
        transaction.run(&statements.drop_unique_keys, ids.clone()).await?;
        self.resolve_duplicates(transaction, to, &mut outcomes, fenced).await?;
        if generation.reindexes {
            ensure_indexed(&generation.collection, &outcomes)?;
        }
        let (mut noted, mut deferred) = (Vec::new(), Vec::new());
        let (mut documents, mut entries, mut uniques, mut quarantined) =
            (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        for (document, outcome) in &outcomes {
            let OldDocument { id, stored, change_revision: revision } = document;
            let (created_at, updated_at) =
                (stored.created_at.as_millis(), stored.updated_at.as_millis());
            let row = |body: Option<&str>| {
                json!([to.0, id, stored.revision, body, created_at, updated_at])
            };
            if matches!(outcome, Outcome::Deferred) {
                deferred.push(json!([from, id, stored.revision]));
                continue;
            }
            noted.push(json!([from, id, revision]));
            match outcome {
                Outcome::Written { body, entry } => {
                    documents.push(row(Some(body)));
                    entries.push((id.as_str(), Some(entry)));
                    let keys = UniqueKey::of(entry, to);
                    uniques.extend(keys.map(|key| json!([to.0, key.place, key.key, id])));
                }
                Outcome::Quarantined(reason) => {
                    documents.push(row(None));
                    entries.push((id.as_str(), None));
                    let (version, body) = (generation.from_version, &stored.body);
                    quarantined.push(json!([
                        to.0,
                        id,
                        stored.revision,
                        version,
                        body,
                        created_at,
                        updated_at,
                        reason,
                        now.as_millis()
                    ]));
                }
                Outcome::Deleted | Outcome::Deferred => {
                    documents.push(row(None));
                    entries.push((id.as_str(), None));
                }
            }
        }
        transaction.run(&statements.put_documents, documents).await?;
        layout.write(transaction, &entries).await?;
        transaction.run(&statements.put_unique_keys, uniques).await?;
        let released =
            self.delete_statement("quarantined_documents", &[("collection", NUMBER), ("id", TEXT)]);
        transaction.run(&released, ids).await?;
        transaction.run(&self.upsert_statement(QUARANTINE), quarantined).await?;
        let followed = self.delete_statement(
            "generation_changes",
            &[("collection", NUMBER), ("id", TEXT), ("revision", NUMBER)],
        );
        transaction.run(&followed, noted).await?;
        transaction.run(&self.upsert_statement(CHANGES), deferred).await?;
        let is_deferred = |outcome: &Outcome| matches!(outcome, Outcome::Deferred);
        let deferred = outcomes.into_iter().filter(|(_, outcome)| is_deferred(outcome));
        Ok(deferred.map(|(document, _)| document.id).collect())
    }

    /// Finds documents with a unique value that another document has. A value may have moved from one
    /// document to another while they were copied, so such a document is deferred. If the serving generation
    /// is fenced, the document is quarantined.
    async fn resolve_duplicates(
        &self,
        transaction: &mut Transaction,
        to: CollectionId,
        outcomes: &mut [(OldDocument, Outcome)],
        fenced: bool,
    ) -> Result<(), DbError> {
        let keys = outcomes.iter().flat_map(|(_, outcome)| outcome.unique_keys(to));
        let rows = keys.map(|key| json!([to.0, key.place, key.key])).collect();
        let claimed: Vec<(i64, i64, String, String)> =
            transaction.find(&self.inner.statements.holders, rows).await?;
        let mut claimed: BTreeSet<UniqueKey> = claimed
            .into_iter()
            .map(|(_, place, key, _)| UniqueKey {
                collection: to,
                place: usize::try_from(place).unwrap_or(0),
                key,
            })
            .collect();
        for (_, outcome) in outcomes {
            let keys: Vec<UniqueKey> = outcome.unique_keys(to).collect();
            if keys.iter().any(|key| claimed.contains(key)) {
                *outcome = match fenced {
                    true => Outcome::Quarantined(
                        "another document has the same value of a unique index".to_owned(),
                    ),
                    false => Outcome::Deferred,
                };
            } else {
                claimed.extend(keys);
            }
        }
        Ok(())
    }

    /// Returns the statement that upserts rows of a table.
    fn upsert_statement(&self, (table, columns): (&str, &[(&str, &str)])) -> SqlStr {
        let backend = &self.inner.backend;
        let names: Vec<_> = columns.iter().map(|(name, _)| *name).collect();
        let parts =
            columns.iter().enumerate().map(|(place, (_, kind))| backend.parameter(place, kind));
        let parts: Vec<_> = parts.collect();
        let others: Vec<_> =
            names.iter().skip(2).map(|name| format!("{name} = excluded.{name}")).collect();
        sql_text(format!(
            "INSERT INTO {table} ({}) SELECT {} FROM {} WHERE true
             ON CONFLICT (collection, id) DO UPDATE SET {}",
            names.join(", "),
            parts.join(", "),
            backend.row_source(),
            others.join(", ")
        ))
    }
}
