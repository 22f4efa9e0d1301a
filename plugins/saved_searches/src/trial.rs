//! One listing, tried against saved searches.

use crate::documents::SavedSearch;
use crate::refusals::Result;
use listing_search::{CARDS, StoredCard, can_view, ensure_old_enough};
use people_kit::{listings::Visibility, people::Person};
use portolan_sdk::{
    matching::{Index, Indexed},
    prelude::*,
};

/// A listing in the form in which the index has it.
pub(crate) struct Trial {
    pub(crate) stored: StoredCard,
    index: Index,
    indexed: Indexed,
}

impl Trial {
    pub(crate) fn new(stored: StoredCard) -> Result<Self> {
        let index = Index::of(&CARDS)?;
        let indexed = index.document(&stored.card)?;
        Ok(Self { stored, index, indexed })
    }

    /// Returns the terms of the listing's texts.
    pub(crate) fn terms(&self) -> impl Iterator<Item = &str> {
        self.indexed.terms()
    }

    /// Whether the listing fulfils the conditions of a search. The person who searches is not
    /// considered. A search that the index refuses, because the index has changed since it was saved,
    /// fits nothing.
    pub(crate) fn fits(&self, search: &Stored<SavedSearch>) -> Result<bool> {
        let Some(prepared) = search.value.sought.listings() else { return Ok(false) };
        let query = prepared.query(prepared.filter(Some(u8::MAX)));
        match self.index.fits(query, &self.indexed) {
            Err(HostError::Invalid(reason)) => {
                log::error!("the saved search {} cannot be answered: {reason}", search.id);
                Ok(false)
            }
            answer => Ok(answer?),
        }
    }

    /// Whether a search of this person would show the listing, if neither of the two owners has
    /// blocked the other. A search does not find the person's own listings.
    pub(crate) fn is_shown_to(
        &self,
        search: &SavedSearch,
        person: Option<&Person>,
    ) -> Result<bool> {
        let StoredCard { listing_id, card, .. } = &self.stored;
        let Some(prepared) = search.sought.listings() else { return Ok(false) };
        if search.owner_id == card.owner_id || person.is_some_and(|person| !person.active) {
            return Ok(false);
        }
        let age = person.and_then(|person| person.age_at_least);
        let age = age.filter(|_| prepared.depends_on_age());
        let min_age = card.min_age.max(prepared.min_age());
        if ensure_old_enough(min_age, age, true).is_err() {
            return Ok(false);
        }
        Ok(match card.visibility {
            Visibility::Public => true,
            Visibility::Network => can_view(listing_id, &search.owner_id)?,
            Visibility::Unlisted => false,
        })
    }
}
