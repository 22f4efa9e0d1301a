//! A document that a call reads, changes, and writes back once.

use portolan_sdk::prelude::*;
use serde::de::DeserializeOwned;

pub(crate) struct Draft<T> {
    pub(crate) stored: Stored<T>,
    /// The document as it was read; `None` if it did not exist.
    before: Option<T>,
}

impl<T: Serialize + DeserializeOwned + Clone + PartialEq> Draft<T> {
    /// Reads the document, or makes a new one.
    pub(crate) fn read(
        collection: &Collection<T>,
        id: &str,
        new: impl FnOnce() -> T,
    ) -> Result<Self, HostError> {
        let found = collection.get(id)?;
        let before = found.as_ref().map(|found| found.value.clone());
        Ok(Self { stored: found.unwrap_or_else(|| Stored::new(id, new(), 0)), before })
    }

    pub(crate) fn is_new(&self) -> bool {
        self.before.is_none()
    }

    pub(crate) fn write(&mut self, collection: &Collection<T>) -> Result<(), HostError> {
        let stored = &mut self.stored;
        if self.before.as_ref() != Some(&stored.value) {
            collection.save(stored)?;
            self.before = Some(stored.value.clone());
        }
        Ok(())
    }
}
