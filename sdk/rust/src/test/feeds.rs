//! The public records of a world, and its address. Records are kept as documents under names that no collection has.

use super::state::State;
use crate::{
    contract::{
        HostError, description,
        documents::{Counted, Document, Expectation, Page, Query},
        platform::Service,
    },
    feeds::ChangePage,
    imports,
};

/// The beginning of the names under which the records of feeds are kept.
const FEEDS: &str = "feeds/";
/// The address of a world.
const PUBLIC_URL: &str = "https://host.example";

impl State {
    /// Adds a record to a feed.
    pub(super) fn publish(
        &mut self,
        feed: description::Collection,
        id: &str,
        body: &str,
    ) -> Result<u64, HostError> {
        let name = collection(&feed.name);
        self.learn(&description::Collection { name: name.clone(), ..feed });
        self.write(&name, id, body, Expectation::Absent)
    }

    /// Ensures that the world has feeds, as a host has once they are published.
    fn ensure_published(&self) -> Result<(), HostError> {
        match self.shapes.keys().any(|name| name.starts_with(FEEDS)) {
            true => Ok(()),
            false => Err(HostError::Unavailable("no feeds are published here".to_owned())),
        }
    }
}

impl imports::Feeds for State {
    fn publication(&mut self) -> Result<String, HostError> {
        self.ensure_published().map(|()| "test".to_owned())
    }

    fn get_many(&mut self, feed: &str, ids: &[String]) -> Result<Vec<Option<Document>>, HostError> {
        self.ensure_published()?;
        imports::Documents::get_many(self, &collection(feed), ids)
    }

    fn find(&mut self, feed: &str, query: &Query) -> Result<Page, HostError> {
        self.ensure_published()?;
        imports::Documents::find(self, &collection(feed), query)
    }

    fn count_by(
        &mut self,
        feed: &str,
        query: &Query,
        paths: &[String],
    ) -> Result<Vec<Vec<Counted>>, HostError> {
        self.ensure_published()?;
        imports::Documents::count_by(self, &collection(feed), query, paths)
    }

    /// A cursor of a world is the number of changes before it.
    fn changes(&mut self, since: Option<&str>, limit: u32) -> Result<ChangePage, HostError> {
        self.ensure_published()?;
        let begin = match since {
            Some(cursor) => cursor.parse().map_err(|_| HostError::BadCursor)?,
            None => self.changes.len(),
        };
        let after = self.changes.get(begin..).ok_or(HostError::BadCursor)?;
        let changes: Vec<_> = after.iter().take(limit as usize).cloned().collect();
        let next = begin + changes.len();
        Ok(ChangePage { changes, next: next.to_string(), has_more: next < self.changes.len() })
    }
}

impl imports::Platform for State {
    fn about(&mut self) -> Service {
        Service {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: self.now,
            public_url: PUBLIC_URL.to_owned(),
            contract: String::new(),
            catalog_version: 1,
        }
    }
}

/// Returns the name under which a feed's records are kept.
fn collection(feed: &str) -> String {
    format!("{FEEDS}{feed}")
}
