//! Begins to fill a generation.

use super::{
    generation::{Generation, Outdated},
    rows::sql_text,
};
use crate::{
    connection::{NUMBER, TEXT},
    document::CollectionId,
    error::DbError,
    query::{Layout, declaration_text},
    store::Store,
};
use serde_json::json;

impl Store {
    /// Begins to fill a generation with documents of the declared version, or continues the generation that
    /// the same component (`migrated_by`) has begun. Returns `None` if the collection was replaced meanwhile.
    pub async fn begin_generation(
        &self,
        outdated: &Outdated,
        migrated_by: &str,
    ) -> Result<Option<Generation>, DbError> {
        let (store, outdated) = (self.clone(), outdated.clone());
        let migrated_by = migrated_by.to_owned();
        self.run_blocking(async move { store.begin(&outdated, &migrated_by).await }).await
    }

    async fn begin(
        &self,
        outdated: &Outdated,
        migrated_by: &str,
    ) -> Result<Option<Generation>, DbError> {
        let backend = &self.inner.backend;
        let declared = &outdated.declared;
        let text = declaration_text(declared);
        let version = i64::from(declared.version);
        let from = outdated.id;
        let mut transaction = backend.begin_alone().await?;
        let Some((state, stored, _, _, followed_by, ..)) =
            self.find_row(&mut transaction, from).await?
        else {
            return Ok(None);
        };
        if state != "serving" || stored != i64::from(outdated.version) {
            transaction.roll_back().await?;
            return Ok(None);
        }
        if let Some(begun) = followed_by.map(CollectionId) {
            if let Some((_, filled_version, shape, generation, _, _, by, _)) =
                self.find_row(&mut transaction, begun).await?
                && (filled_version, shape.as_str(), by.as_deref())
                    == (version, &text, Some(migrated_by))
            {
                transaction.roll_back().await?;
                let layout = self.inner.layouts.get(backend, begun, generation, &text)?;
                return outdated.generation(begun, layout, false).map(Some);
            }
            self.abandon(&mut transaction, from, begun, &declared.name).await?;
        }
        let people = declared.people.as_ref().map(|people| json!(people).to_string());
        let kept_people = match outdated.reindexes {
            // The documents stay as they are, so they may name people where an earlier version declared them.
            true => format!("(SELECT people FROM collections WHERE id = {})", from.0),
            false => backend.parameter(3, TEXT),
        };
        let name = format!("{} (filling)", declared.name);
        let added = json!([outdated.scope, name, text, people, version, migrated_by]);
        let sql = format!(
            "INSERT INTO collections
             (capability, name, shape, generation, people, version, state, migrated_by, copied_to)
             SELECT {}, {}, {}, 1, {kept_people}, {}, 'filling', {}, '' FROM {}",
            backend.parameter(0, TEXT),
            backend.parameter(1, TEXT),
            backend.parameter(2, TEXT),
            backend.parameter(4, NUMBER),
            backend.parameter(5, TEXT),
            backend.row_source()
        );
        transaction.run(&sql_text(sql), vec![added]).await?;
        let key = vec![json!([outdated.scope, name])];
        let rows: Vec<(i64, i64, String)> =
            transaction.find(&self.inner.statements.collection, key).await?;
        let Some((to, generation, _)) = rows.into_iter().next() else {
            return Err(DbError::Declaration(name));
        };
        let layout = Layout::new(backend, CollectionId(to), generation, &text)?;
        layout.create(&mut transaction).await?;
        self.set_columns(&mut transaction, from, &[("followed_by", NUMBER, json!(to))]).await?;
        transaction.commit().await?;
        let layout = self.inner.layouts.get(backend, CollectionId(to), generation, &text)?;
        outdated.generation(CollectionId(to), layout, false).map(Some)
    }
}
