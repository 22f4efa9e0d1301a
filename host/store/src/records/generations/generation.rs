//! An outdated collection, and the generation that is to replace it.

use crate::{document::CollectionId, error::DbError, query::Layout, usage::capability_of};
use portolan_vocabulary::{self as vocabulary, People};
use std::sync::Arc;

/// A serving collection whose documents have another version than the declared one, or other indexes.
#[derive(Debug, Clone)]
pub struct Outdated {
    pub(super) id: CollectionId,
    pub(super) scope: String,
    pub declared: vocabulary::Collection,
    /// The version of the stored documents.
    pub version: u32,
    pub documents: u64,
    /// Whether only the indexes differ.
    pub reindexes: bool,
}

/// A generation that is being filled.
#[derive(Debug, Clone)]
pub struct Generation {
    pub(super) from: CollectionId,
    pub(super) to: CollectionId,
    pub collection: String,
    pub test_mode: bool,
    pub from_version: u32,
    pub to_version: u32,
    /// The number of documents of the serving generation when the collection was found to be outdated.
    pub documents: u64,
    /// Whether this is the retired generation before the serving one, which needs no copies.
    pub revived: bool,
    /// Whether the documents stay as they are, and only their indexes differ.
    pub reindexes: bool,
    pub(super) layout: Arc<Layout>,
    pub(super) people: Arc<People>,
}

impl Outdated {
    pub fn test_mode(&self) -> bool {
        capability_of(&self.scope) != self.scope
    }

    pub(super) fn generation(
        &self,
        to: CollectionId,
        layout: Arc<Layout>,
        revived: bool,
    ) -> Result<Generation, DbError> {
        let name = &self.declared.name;
        let people = People::new(self.declared.people.as_deref().unwrap_or_default())
            .map_err(|error| DbError::Declaration(format!("{name}: {error}")))?;
        Ok(Generation {
            from: self.id,
            to,
            collection: name.clone(),
            test_mode: self.test_mode(),
            from_version: self.version,
            to_version: self.declared.version,
            documents: self.documents,
            revived,
            reindexes: self.reindexes,
            layout,
            people: Arc::new(people),
        })
    }
}
