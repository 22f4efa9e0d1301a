//! The public records of a world, and its address. Records are kept as documents under names that no collection has.

use super::state::State;
use crate::{
    contract::{
        HostError, description,
        documents::{Counted, Document, Expectation, Page, Query},
        platform::Service,
    },
    imports,
};

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
}

impl imports::Feeds for State {
    fn publication(&mut self) -> Result<String, HostError> {
        Ok("test".to_owned())
    }

    fn get_many(&mut self, feed: &str, ids: &[String]) -> Result<Vec<Option<Document>>, HostError> {
        imports::Documents::get_many(self, &collection(feed), ids)
    }

    fn find(&mut self, feed: &str, query: &Query) -> Result<Page, HostError> {
        imports::Documents::find(self, &collection(feed), query)
    }

    fn count_by(
        &mut self,
        feed: &str,
        query: &Query,
        paths: &[String],
    ) -> Result<Vec<Vec<Counted>>, HostError> {
        imports::Documents::count_by(self, &collection(feed), query, paths)
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
    format!("feeds/{feed}")
}
