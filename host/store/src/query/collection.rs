//! The collections of a capability, and the layouts of their indexes on this node.

use super::{Layout, Shape};
use crate::{connection::Backend, document::CollectionId, error::DbError};
use portolan_vocabulary::People;
use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

/// A collection as one version of a capability declares it.
#[derive(Debug)]
pub struct Collection {
    pub name: String,
    /// The scope of cursors: a cursor is valid for one scope and one query.
    pub(crate) scope: String,
    pub(crate) layout: Arc<Layout>,
    /// The people whom the documents may name.
    pub(crate) people: Arc<People>,
}

impl Collection {
    pub fn id(&self) -> CollectionId {
        self.layout.collection
    }

    pub fn shape(&self) -> &Shape {
        &self.layout.shape
    }
}

/// The collections of a capability, by name. Neither mode sees the documents of the other.
#[derive(Debug, Clone, Default)]
pub struct Collections {
    pub(crate) live: Arc<BTreeMap<String, Collection>>,
    pub(crate) test: Arc<BTreeMap<String, Collection>>,
}

impl Collections {
    pub fn of(&self, test_mode: bool) -> &Arc<BTreeMap<String, Collection>> {
        if test_mode { &self.test } else { &self.live }
    }
}

/// The layouts that are known on this node, by collection.
#[derive(Debug, Clone, Default)]
pub(crate) struct Layouts(Arc<Mutex<BTreeMap<CollectionId, Arc<Layout>>>>);

impl Layouts {
    /// Returns the layout of this generation, and makes it from the stored declaration if
    /// necessary.
    pub(crate) fn get(
        &self,
        backend: &Backend,
        collection: CollectionId,
        generation: i64,
        text: &str,
    ) -> Result<Arc<Layout>, DbError> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(layout) =
            known.get(&collection).filter(|layout| layout.generation == generation)
        {
            return Ok(Arc::clone(layout));
        }
        let layout = Arc::new(Layout::new(backend, collection, generation, text)?);
        known.insert(collection, Arc::clone(&layout));
        Ok(layout)
    }
}
