//! Documents that list the open entities of a thing, such as the open sessions of a listing.

use super::Collection;
use crate::contract::HostError;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The ids of the open entities, stored under the id of the thing that they belong to.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct OpenIds {
    pub open: BTreeSet<String>,
}

impl Collection<OpenIds> {
    /// Adds `opened` to the open entities of `id`, and returns how many there are now.
    pub fn enter(&self, id: &str, opened: &str) -> Result<usize, HostError> {
        let mut stored = self.get_or_default(id)?;
        if stored.value.open.insert(opened.to_owned()) {
            self.save(&mut stored)?;
        }
        Ok(stored.value.open.len())
    }

    /// Removes `closed` from the open entities of `id`, and returns whether it was the last one.
    /// Returns false if it was not among them.
    pub fn leave(&self, id: &str, closed: &str) -> Result<bool, HostError> {
        let Some(mut stored) = self.get(id)? else { return Ok(false) };
        if !stored.value.open.remove(closed) {
            return Ok(false);
        }
        match stored.value.open.is_empty() {
            true => self.delete(id, super::Expect::Revision(stored.revision))?,
            false => self.save(&mut stored)?,
        }
        Ok(stored.value.open.is_empty())
    }

    /// Returns the open entities of `id`.
    pub fn of(&self, id: &str) -> Result<BTreeSet<String>, HostError> {
        Ok(self.get_or_default(id)?.value.open)
    }
}
