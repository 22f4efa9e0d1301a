//! `feeds`: the records of the current publication, which calls can only read.

use crate::{
    contract::{documents, feeds, types::HostError},
    interfaces::{
        interface::{Interface, State, host},
        queries::{count_by, find, get_many},
        reply::{Answer, Reply},
    },
    state::CallState,
};
use portolan_publication::records::Records;
use portolan_store::{Cause, StateError, Unit};
use std::sync::Arc;

pub(super) const INTERFACE: Interface =
    Interface::open("feeds", |linker| feeds::add_to_linker::<_, State>(linker, host));

impl feeds::Host for CallState {
    async fn publication(&mut self) -> Reply<String> {
        Ok(self.records().map(|records| records.version.clone()))
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
}

impl CallState {
    fn records(&mut self) -> Answer<Arc<Records>> {
        let work = self.work()?;
        let records = work.services.records();
        if records.is_none() {
            work.unit.note(Cause::NoFeeds);
        }
        records.ok_or_else(|| HostError::Unavailable("no feeds are published here".to_owned()))
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

fn unknown(feed: &str) -> StateError {
    StateError::Invalid(format!("there is no feed {feed}"))
}
