//! The records of the feeds that a call reads.

use crate::{
    contract::{documents, feeds, types::HostError},
    documents::{count_by, document, find},
    state::CallState,
    work::Reply,
};
use portolan_publication::records::Records;
use portolan_store::StateError;
use std::sync::Arc;

impl CallState {
    fn records(&mut self) -> std::result::Result<Arc<Records>, HostError> {
        let records = self.work()?.surroundings.records();
        records.ok_or_else(|| HostError::Unavailable("no feeds are published here".to_owned()))
    }
}

fn unknown(feed: &str) -> StateError {
    StateError::Invalid(format!("there is no feed {feed}"))
}

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
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let found = match records.feed(&feed) {
            Some(collection) => records.unit().get_many(collection, &ids).await,
            None => Err(unknown(&feed)),
        };
        let found = found.map(|found| found.into_iter().map(|it| it.map(document)).collect());
        Ok(found.map_err(|error| self.refusal(error)))
    }

    async fn find(&mut self, feed: String, query: documents::Query) -> Reply<documents::Page> {
        let records = match self.records() {
            Ok(records) => records,
            Err(error) => return Ok(Err(error)),
        };
        let page = match records.feed(&feed) {
            Some(collection) => find(&mut records.unit(), collection, &query).await,
            None => Err(unknown(&feed)),
        };
        Ok(page.map_err(|error| self.refusal(error)))
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
            Some(collection) => count_by(&mut records.unit(), collection, &query, &paths).await,
            None => Err(unknown(&feed)),
        };
        Ok(counts.map_err(|error| self.refusal(error)))
    }
}
