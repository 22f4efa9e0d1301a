//! A document that a call reads, changes, and writes back once.

use portolan_sdk::prelude::*;
use serde::de::DeserializeOwned;

pub(crate) struct Draft<T> {
    pub(crate) stored: Stored<T>,
    /// As it was read; none if there was none.
    before: Option<T>,
}

impl<T: Serialize + DeserializeOwned + Clone + PartialEq> Draft<T> {
    /// The document, or what it begins as.
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
