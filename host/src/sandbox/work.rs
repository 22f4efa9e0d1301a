//! The state a call works on: what its component may reach of the store, and how.

use crate::{
    db::{Collection, Document, Expectation, StateError, Unit},
    sandbox::{
        contract::{documents, types::HostError},
        state::CallState,
    },
};
use std::{collections::BTreeMap, sync::Arc};
use wasmtime::Result;

/// What one call has of the store.
#[derive(Debug)]
pub struct Work {
    pub unit: Unit,
    /// The collections that the running capability declares, by name.
    pub collections: Arc<BTreeMap<String, Collection>>,
    /// An action of access `read` changes nothing.
    pub read_only: bool,
}

type Reply<T> = Result<std::result::Result<T, HostError>>;

impl CallState {
    fn work(&mut self) -> std::result::Result<&mut Work, HostError> {
        self.work
            .as_mut()
            .ok_or_else(|| HostError::Unavailable("there is no store here".to_owned()))
    }

    fn collection(
        &mut self,
        name: &str,
    ) -> std::result::Result<(&mut Unit, &Collection), HostError> {
        let work = self.work()?;
        let undeclared =
            || HostError::Invalid(format!("the collection {name} is not declared: declare it"));
        let collection = work.collections.get(name).ok_or_else(undeclared)?;
        Ok((&mut work.unit, collection))
    }

    fn writable(&mut self, name: &str) -> std::result::Result<(&mut Unit, &Collection), HostError> {
        if self.work()?.read_only {
            let text = "an action of access read cannot write: declare another access";
            return Err(HostError::Invalid(text.to_owned()));
        }
        self.collection(name)
    }

    /// What a refusal of the store means to the component. The database's own troubles are for the
    /// operator.
    fn refusal(&self, error: StateError) -> HostError {
        match error {
            StateError::Invalid(text) => HostError::Invalid(text),
            StateError::Conflict => HostError::Conflict,
            StateError::Duplicate(holder) => HostError::Duplicate(holder),
            StateError::Limit(text) => HostError::Limit(text),
            StateError::Db(error) => {
                let (capability, request) = (&*self.capability, &*self.context.request_id);
                tracing::error!(capability, request, %error, "the store does not answer");
                HostError::Unavailable("the store does not answer".to_owned())
            }
        }
    }
}

fn document(document: Document) -> documents::Document {
    documents::Document {
        id: document.id,
        revision: document.revision,
        body: document.body,
        created_at: document.created_at.as_millis(),
        updated_at: document.updated_at.as_millis(),
    }
}

fn expectation(expect: documents::Expectation) -> Expectation {
    match expect {
        documents::Expectation::Any => Expectation::Any,
        documents::Expectation::Absent => Expectation::Absent,
        documents::Expectation::Revision(revision) => Expectation::Revision(revision),
    }
}

impl documents::Host for CallState {
    async fn get(&mut self, collection: String, id: String) -> Reply<Option<documents::Document>> {
        let found = match self.collection(&collection) {
            Ok((unit, collection)) => unit.get(collection, &id).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(found.map(|found| found.map(document)).map_err(|error| self.refusal(error)))
    }

    async fn get_many(
        &mut self,
        collection: String,
        ids: Vec<String>,
    ) -> Reply<Vec<Option<documents::Document>>> {
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let found = match self.collection(&collection) {
            Ok((unit, collection)) => unit.get_many(collection, &ids).await,
            Err(error) => return Ok(Err(error)),
        };
        let documents = found.map(|found| found.into_iter().map(|it| it.map(document)).collect());
        Ok(documents.map_err(|error| self.refusal(error)))
    }

    async fn find(&mut self, _: String, _: documents::Query) -> Reply<documents::Page> {
        Ok(Err(HostError::Unavailable("this host does not offer find yet".to_owned())))
    }

    async fn count(&mut self, _: String, _: Option<String>) -> Reply<u64> {
        Ok(Err(HostError::Unavailable("this host does not offer count yet".to_owned())))
    }

    async fn put(
        &mut self,
        collection: String,
        id: String,
        body: String,
        expect: documents::Expectation,
    ) -> Reply<u64> {
        let revision = match self.writable(&collection) {
            Ok((unit, collection)) => unit.put(collection, &id, body, expectation(expect)).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(revision.map_err(|error| self.refusal(error)))
    }

    async fn delete(
        &mut self,
        collection: String,
        id: String,
        expect: documents::Expectation,
    ) -> Reply<()> {
        let deleted = match self.writable(&collection) {
            Ok((unit, collection)) => unit.delete(collection, &id, expectation(expect)).await,
            Err(error) => return Ok(Err(error)),
        };
        Ok(deleted.map_err(|error| self.refusal(error)))
    }
}
