//! `feeds`: the records of the current publication, which calls can only read, and the log of their changes.

use crate::{
    contract::{documents, feeds, types::HostError},
    interfaces::{
        interface::Interface,
        queries::{count_by, find, get_many},
        reply::{Answer, Reply},
        taped::{TapedState, taped},
    },
    state::CallState,
};
use portolan_publication::{
    Publication,
    changes::{Bounds, Listed, Wanted},
    records::Records,
};
use portolan_store::{Cause, StateError, Unit};
use std::sync::Arc;

/// The maximum number of changes of a page.
const MAX_CHANGES: u32 = 1_000;

pub(super) const INTERFACE: Interface =
    Interface::open("feeds", |linker| feeds::add_to_linker::<_, TapedState>(linker, taped));

impl feeds::Host for CallState {
    async fn publication(&mut self) -> Reply<String> {
        Ok(self.current().map(|publication| publication.name.clone()))
    }

    async fn get_many(
        &mut self,
        feed: String,
        ids: Vec<String>,
    ) -> Reply<Vec<Option<documents::Document>>> {
        let records = match self.records() {
            Ok(records) => records,
            Err(error) => return Ok(Err(error)),
        };
        let found = match records.feed(&feed) {
            Some(collection) => get_many(&mut self.reading(&records), collection, &ids).await,
            None => Err(unknown(&feed)),
        };
        Ok(self.answer(found))
    }

    async fn find(&mut self, feed: String, query: documents::Query) -> Reply<documents::Page> {
        let records = match self.records() {
            Ok(records) => records,
            Err(error) => return Ok(Err(error)),
        };
        let page = match records.feed(&feed) {
            Some(collection) => find(&mut self.reading(&records), collection, &query).await,
            None => Err(unknown(&feed)),
        };
        Ok(self.answer(page))
    }

    async fn count_by(
        &mut self,
        feed: String,
        query: documents::Query,
        paths: Vec<String>,
    ) -> Reply<Vec<Vec<documents::Counted>>> {
        let records = match self.records() {
            Ok(records) => records,
            Err(error) => return Ok(Err(error)),
        };
        let counts = match records.feed(&feed) {
            Some(collection) => {
                count_by(&mut self.reading(&records), collection, &query, &paths).await
            }
            None => Err(unknown(&feed)),
        };
        Ok(self.answer(counts))
    }

    async fn changes(&mut self, since: Option<String>, limit: u32) -> Reply<feeds::ChangePage> {
        Ok(self.changes_since(since, limit).await)
    }
}

impl CallState {
    fn current(&mut self) -> Answer<Arc<Publication>> {
        let work = self.work()?;
        let publication = work.services.publication();
        if publication.is_none() {
            work.unit.note(Cause::NoFeeds);
        }
        publication.ok_or_else(|| HostError::Unavailable("no feeds are published here".to_owned()))
    }

    fn records(&mut self) -> Answer<Arc<Records>> {
        Ok(Arc::clone(&self.current()?.records))
    }

    async fn changes_since(
        &mut self,
        since: Option<String>,
        limit: u32,
    ) -> Answer<feeds::ChangePage> {
        let publication = self.current()?;
        if !(1..=MAX_CHANGES).contains(&limit) {
            return Err(HostError::Invalid(format!("the limit must be 1 to {MAX_CHANGES}")));
        }
        let since = match since {
            Some(since) => since.parse().map_err(|_| HostError::BadCursor)?,
            None => publication.log.end().clone(),
        };
        let bounds = Bounds::of(limit as usize);
        match publication.changes(since, Wanted::default(), bounds).await {
            Ok(Some(page)) => Ok(feeds::ChangePage {
                changes: page.changes.into_iter().filter_map(change).collect(),
                next: page.next.to_string(),
                has_more: page.has_more,
            }),
            Ok(None) => Err(HostError::BadCursor),
            Err(error) => {
                tracing::warn!(%error, "the log of changes of the feeds cannot be read");
                Err(HostError::Unavailable("the log of changes cannot be read now".to_owned()))
            }
        }
    }

    /// Begins a unit of work for one read, within the memory that the call has left.
    fn reading(&mut self, records: &Records) -> Unit {
        let remaining = self.remaining_memory().ok().flatten().unwrap_or(0);
        let mut unit = records.unit();
        unit.set_read_limit(remaining);
        unit.set_reader(&self.capability);
        unit
    }
}

/// Returns the change of a record; `None` for the fields of a document besides its records.
fn change(listed: Listed) -> Option<feeds::Change> {
    let operation = match listed.op.as_str() {
        "added" => feeds::Operation::Added,
        "changed" => feeds::Operation::Changed,
        "removed" => feeds::Operation::Removed,
        _ => return None,
    };
    Some(feeds::Change { feed: listed.feed, id: listed.id?, operation })
}

fn unknown(feed: &str) -> StateError {
    StateError::Invalid(format!("there is no feed {feed}"))
}
