//! The declared collections: the id of each in the database, and the layout of its index.

use crate::{
    connection::{Transaction, read, transact},
    document::{CollectionId, UniqueKey},
    error::DbError,
    query::{Collection, Collections, Layout, declaration_text},
    store::Store,
    usage::scope,
};
use portolan_vocabulary::{self as vocabulary, People, Person, merge_people};
use serde_json::{Value, json};
use std::{collections::BTreeMap, sync::Arc};

/// The number of documents that one statement reads while an index is made.
const CHUNK: usize = 1_000;

type Row = (i64, i64, String);

/// A collection as it is stored: its id, generation and shape, its people as JSON, its version, and the
/// generation that is being filled to replace it.
type CollectionRow = (i64, i64, String, Option<String>, i64, Option<i64>);

impl Store {
    /// Declares the collections of a capability for both modes.
    pub async fn declare_in_both_modes(
        &self,
        capability: &str,
        declared: &[vocabulary::Collection],
    ) -> Result<Collections, DbError> {
        let in_test_mode = scope(capability, true);
        Ok(Collections {
            live: Arc::new(self.declare(capability, declared).await?),
            test: Arc::new(self.declare(&in_test_mode, declared).await?),
        })
    }

    /// Declares collections: creates the missing ones and changes those whose declaration has changed. All
    /// documents of a collection with another index are indexed again in one transaction, and writes wait
    /// meanwhile. So a collection of many documents is replaced by a filled generation before this.
    pub async fn declare(
        &self,
        capability: &str,
        declared: &[vocabulary::Collection],
    ) -> Result<BTreeMap<String, Collection>, DbError> {
        let mut collections = BTreeMap::new();
        for declaration in declared {
            let (name, text) = (&declaration.name, declaration_text(declaration));
            let row = self.find_collection(capability, name).await?;
            let known =
                row.as_ref().map(|(_, _, _, people, version, _)| (people.clone(), *version));
            if let Some((id, .., Some(filling))) = &row {
                // The generation is for another version than the one that declares the collection now.
                let (store, name) = (self.clone(), name.clone());
                let (from, to) = (CollectionId(*id), CollectionId(*filling));
                self.run_blocking(async move {
                    let mut transaction = store.inner.backend.begin_alone().await?;
                    store.abandon(&mut transaction, from, to, &name).await?;
                    transaction.commit().await
                })
                .await?;
            }
            let (id, generation) = match row.filter(|(_, _, kept, ..)| *kept == text) {
                Some((id, generation, ..)) => (CollectionId(id), generation),
                None => {
                    let (store, capability, name) =
                        (self.clone(), capability.to_owned(), name.clone());
                    let text = text.clone();
                    let change =
                        async move { store.change_declaration(&capability, &name, &text).await };
                    self.run_blocking(change).await?
                }
            };
            let backend = &self.inner.backend;
            let layout = self.inner.layouts.get(backend, id, generation, &text)?;
            let scope = format!("{capability} {name}");
            let declared = declaration.people.as_deref();
            let version = i64::from(declaration.version);
            let kept = match &known {
                Some((Some(stored), stored_version))
                    if *stored_version == version || declared.is_none() =>
                {
                    let mut people: Vec<Person> = serde_json::from_str(stored)
                        .map_err(|_| DbError::Declaration(name.clone()))?;
                    merge_people(&mut people, declared.unwrap_or_default());
                    Some(json!(people).to_string())
                }
                _ => declared.map(|people| json!(people).to_string()),
            };
            if known != Some((kept.clone(), version)) {
                self.store_people(id, kept, version).await?;
            }
            let people = People::new(declared.unwrap_or_default())
                .map_err(|error| DbError::Declaration(format!("{name}: {error}")))?;
            let people = Arc::new(people);
            collections
                .insert(name.clone(), Collection { name: name.clone(), scope, layout, people });
        }
        Ok(collections)
    }

    async fn store_people(
        &self,
        collection: CollectionId,
        people: Option<String>,
        version: i64,
    ) -> Result<(), DbError> {
        transact!(self.inner.backend, |transaction| {
            sqlx::query("UPDATE collections SET people = $1, version = $2 WHERE id = $3")
                .bind(people)
                .bind(version)
                .bind(collection.0)
                .execute(&mut *transaction)
                .await?
                .rows_affected()
        });
        Ok(())
    }

    async fn find_collection(
        &self,
        capability: &str,
        name: &str,
    ) -> Result<Option<CollectionRow>, DbError> {
        Ok(read!(self.inner.backend, |pool| {
            sqlx::query_as(
                "SELECT id, generation, shape, people, CAST(version AS BIGINT), followed_by
                 FROM collections
                 WHERE capability = $1 AND name = $2",
            )
            .bind(capability)
            .bind(name)
            .fetch_optional(pool)
            .await?
        }))
    }

    /// Records a declaration and makes its index in one transaction.
    async fn change_declaration(
        &self,
        capability: &str,
        name: &str,
        text: &str,
    ) -> Result<(CollectionId, i64), DbError> {
        let inner = &self.inner;
        let mut transaction = inner.backend.begin_alone().await?;
        let key = || vec![json!([capability, name])];
        let found: Vec<Row> = transaction.find(&inner.statements.collection, key()).await?;
        // Another node may have made the same change first.
        if let Some((id, generation, _)) = found.iter().find(|(_, _, kept)| kept == text) {
            transaction.roll_back().await?;
            return Ok((CollectionId(*id), *generation));
        }
        let declared = vec![json!([capability, name, text])];
        transaction.run(&inner.statements.put_collection, declared).await?;
        let rows: Vec<Row> = transaction.find(&inner.statements.collection, key()).await?;
        let (id, generation, _) =
            rows.into_iter().next().ok_or_else(|| DbError::Declaration(name.to_owned()))?;
        let id = CollectionId(id);
        let layout = Layout::new(&inner.backend, id, generation, text)?;
        layout.create(&mut transaction).await?;
        self.fill_index(&mut transaction, &layout, name).await?;
        transaction.commit().await?;
        Ok((id, generation))
    }

    async fn fill_index(
        &self,
        transaction: &mut Transaction,
        layout: &Layout,
        name: &str,
    ) -> Result<(), DbError> {
        let statements = &self.inner.statements;
        let collection = layout.collection;
        transaction.run(&statements.drop_all_unique_keys, vec![json!([collection.0])]).await?;
        let (mut after, mut count) = (String::new(), 0);
        loop {
            let from = vec![json!([collection.0, after])];
            let documents: Vec<(String, String)> =
                transaction.find(&statements.next_documents, from).await?;
            let Some((last, _)) = documents.last() else { break };
            after = last.clone();
            let mut entries = Vec::with_capacity(documents.len());
            for (id, body) in &documents {
                let value: Value = serde_json::from_str(body).unwrap_or_default();
                let entry = layout.shape.entry(&value).map_err(|error| DbError::Unindexable {
                    collection: name.to_owned(),
                    id: id.clone(),
                    error: error.to_string(),
                })?;
                entries.push((id.as_str(), entry));
            }
            let uniques = entries.iter().flat_map(|(id, entry)| {
                let keys = UniqueKey::of(entry, collection);
                keys.map(move |key| json!([collection.0, key.place, key.key, id]))
            });
            let written =
                match transaction.run(&statements.put_unique_keys, uniques.collect()).await {
                    Ok(()) => transaction.send().await,
                    failed => failed,
                };
            written.map_err(|error| match error.is_about_content() {
                true => DbError::NotUnique(name.to_owned()),
                false => error,
            })?;
            let entries: Vec<_> = entries.iter().map(|(id, entry)| (*id, Some(entry))).collect();
            layout.write(transaction, &entries).await?;
            count += entries.len();
            if count % (50 * CHUNK) == 0 {
                tracing::info!(collection = name, documents = count, "making the index");
            }
        }
        Ok(())
    }
}
