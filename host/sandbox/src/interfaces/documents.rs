//! `documents`: the documents that a call reads and writes in its capability's collections.

use crate::{
    contract::{documents, types::HostError},
    interfaces::{
        interface::Interface,
        names::ensure_name,
        queries::{count_by, document, expectation, find, get_many},
        reply::{Answer, Reply},
        taped::{TapedState, taped},
    },
    state::CallState,
};
use portolan_store::{Collection, Unit};
use std::sync::Arc;

pub(super) const INTERFACE: Interface =
    Interface::open("documents", |linker| documents::add_to_linker::<_, TapedState>(linker, taped));

impl documents::Host for CallState {
    async fn get(&mut self, collection: String, id: String) -> Reply<Option<documents::Document>> {
        let found = match self.collection(&collection) {
            Ok((unit, collection)) => unit.get(collection, &id).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(self.answer(found).map(|found| found.map(document)))
    }

    async fn get_many(
        &mut self,
        collection: String,
        ids: Vec<String>,
    ) -> Reply<Vec<Option<documents::Document>>> {
        let found = match self.collection(&collection) {
            Ok((unit, collection)) => get_many(unit, collection, &ids).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(self.answer(found))
    }

    async fn find(
        &mut self,
        collection: String,
        query: documents::Query,
    ) -> Reply<documents::Page> {
        let page = match self.collection(&collection) {
            Ok((unit, collection)) => find(unit, collection, &query).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(self.answer(page))
    }

    async fn count(&mut self, collection: String, filter: Option<String>) -> Reply<u64> {
        let count = match self.collection(&collection) {
            Ok((unit, collection)) => unit.count(collection, filter.as_deref()).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(self.answer(count))
    }

    async fn count_by(
        &mut self,
        collection: String,
        query: documents::Query,
        paths: Vec<String>,
    ) -> Reply<Vec<Vec<documents::Counted>>> {
        let counts = match self.collection(&collection) {
            Ok((unit, collection)) => count_by(unit, collection, &query, &paths).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(self.answer(counts))
    }

    async fn put(
        &mut self,
        collection: String,
        id: String,
        body: String,
        expect: documents::Expectation,
    ) -> Reply<u64> {
        if let Err(error) = self.reserve_bytes(body.len()) {
            return Ok(Err(error));
        }
        let revision = match self.writable_collection(&collection) {
            Ok((unit, collection)) => unit.put(collection, &id, body, expectation(expect)).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(self.answer(revision))
    }

    async fn delete(
        &mut self,
        collection: String,
        id: String,
        expect: documents::Expectation,
    ) -> Reply<()> {
        let deleted = match self.writable_collection(&collection) {
            Ok((unit, collection)) => unit.delete(collection, &id, expectation(expect)).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(self.answer(deleted))
    }

    async fn report_unreadable(
        &mut self,
        collection: String,
        id: String,
        revision: u64,
        reason: String,
    ) -> Reply<()> {
        if let Err(error) = ensure_name("a document's id", &id) {
            return Ok(Err(error));
        }
        let collection = match self.collection(&collection) {
            Ok((_, collection)) => collection.id(),
            Err(error) => return Ok(Err(error)),
        };
        let services = match self.work() {
            Ok(work) => Arc::clone(&work.services),
            Err(error) => return Ok(Err(error)),
        };
        services.report_unreadable(collection, id, revision, reason);
        Ok(Ok(()))
    }
}

impl CallState {
    fn collection(&mut self, name: &str) -> Answer<(&mut Unit, &Collection)> {
        let remaining = self.remaining_memory()?.unwrap_or(0);
        let capability = Arc::clone(&self.capability);
        let work = self.work()?;
        work.unit.set_read_limit(remaining);
        work.unit.set_reader(&capability);
        let undeclared =
            || HostError::Invalid(format!("the collection {name} is not declared: declare it"));
        let collection = work.collections.get(name).ok_or_else(undeclared)?;
        Ok((&mut work.unit, collection))
    }

    fn writable_collection(&mut self, name: &str) -> Answer<(&mut Unit, &Collection)> {
        self.writable_work()?;
        self.collection(name)
    }
}
