//! The public feeds: read-only records that the host publishes, with the same queries as documents.
//!
//! ```no_run
//! use portolan_sdk::{feeds::Feed, prelude::*};
//!
//! /// The fields of a role that are used here.
//! #[derive(Deserialize)]
//! struct Role {
//!     title: String,
//!     target_id: String,
//! }
//!
//! const ROLES: Feed<Role> = Feed::new("roles");
//!
//! fn titles(target_id: &str) -> Result<Vec<String>, HostError> {
//!     let page = ROLES.find(Query::new().filter(field("target_id").eq(target_id)))?;
//!     Ok(page.hits.into_iter().map(|hit| hit.document.value.title).collect())
//! }
//! ```
//!
//! Every read fails with [`HostError::Unavailable`] while nothing is published.

use crate::{
    contract::{HostError, documents::Document, feeds as host},
    documents::{Counted, Page, Query, Stored, collection},
};
use serde::de::DeserializeOwned;

pub use crate::contract::portolan::capability::feeds::{Change, ChangePage, Operation};
use std::{fmt, marker::PhantomData};

/// A feed whose records can be parsed as `T`. A record that cannot be parsed traps the call.
pub struct Feed<T> {
    id: &'static str,
    records: PhantomData<fn() -> T>,
}

/// Returns an identifier of the current publication.
pub fn publication() -> Result<String, HostError> {
    host::publication()
}

/// Returns the changes after a cursor in their order, at most `limit` of them, which is 1 to 1000. A page can have
/// fewer, even none, although `has_more` is true. Without a cursor, it has no changes, and the cursor of the current
/// publication. Fails with [`HostError::BadCursor`] if the cursor is not known, its changes are not kept any more, or
/// this node has not loaded their publication yet.
pub fn changes(since: Option<&str>, limit: u32) -> Result<ChangePage, HostError> {
    host::changes(since, limit)
}

impl<T> Feed<T> {
    /// Names a feed by its id in the index of the feeds, such as `targets`.
    pub const fn new(id: &'static str) -> Self {
        Self { id, records: PhantomData }
    }

    /// Returns the feed's id in the index of the feeds.
    pub const fn id(&self) -> &'static str {
        self.id
    }

    /// Counts what the query finds by the values of each path, like
    /// [`Collection::count_by`](crate::documents::Collection::count_by).
    pub fn count_by<const PATHS: usize>(
        &self,
        paths: [&str; PATHS],
        query: Query,
    ) -> Result<[Vec<Counted>; PATHS], HostError> {
        let counts = host::count_by(self.id, &query.into(), &paths.map(str::to_owned))?;
        Ok(collection::counted(counts))
    }
}

impl<T: DeserializeOwned> Feed<T> {
    /// Returns the record of this id; `None` if there is none.
    pub fn get(&self, id: &str) -> Result<Option<Stored<T>>, HostError> {
        Ok(self.get_many([id])?.pop().flatten())
    }

    /// Returns the record of each id, in the order of the ids; `None` where there is none.
    pub fn get_many<I: Into<String>>(
        &self,
        ids: impl IntoIterator<Item = I>,
    ) -> Result<Vec<Option<Stored<T>>>, HostError> {
        let ids: Vec<String> = ids.into_iter().map(Into::into).collect();
        let found = host::get_many(self.id, &ids)?.into_iter();
        Ok(found.map(|found| Some(self.record(found?))).collect())
    }

    /// Returns one page of the query's hits.
    pub fn find(&self, query: Query) -> Result<Page<T>, HostError> {
        let found = host::find(self.id, &query.into())?;
        Ok(collection::page(found, |document| Some(self.record(document))))
    }

    #[expect(clippy::panic, reason = "the host has checked the records against the feed's schema")]
    fn record(&self, document: Document) -> Stored<T> {
        collection::parse(document).unwrap_or_else(|reason| panic!("{}: {reason}", self.id))
    }
}

impl<T> Clone for Feed<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Feed<T> {}

impl<T> fmt::Debug for Feed<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_tuple("Feed").field(&self.id).finish()
    }
}
