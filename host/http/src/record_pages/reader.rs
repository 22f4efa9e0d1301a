//! Reads what a page shows beside its record: the records that refer to it, and those that it refers to.

use super::{
    error::PageError,
    handoffs::Handoffs,
    records::{Company, Event, Handoff, Person, Role, Signal, view},
    structured::Addresses,
};
use crate::city::City;
use portolan_publication::{Publication, Reference, Roads};
use portolan_vocabulary::Role as CapabilityRole;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::{collections::BTreeSet, io, sync::Arc};
use tokio::task::spawn_blocking;

/// How many records of one kind a page lists.
pub(super) const MAX_LISTED: u32 = 100;

/// The records of one publication of a city.
pub(super) struct Reader<'a> {
    pub(super) city: &'a City,
    pub(super) publication: &'a Arc<Publication>,
}

impl Reader<'_> {
    pub(super) fn roads(&self) -> &Roads {
        self.city.roads()
    }

    pub(super) fn addresses(&self) -> Addresses<'_> {
        Addresses { roads: self.roads() }
    }

    pub(super) async fn company(&self, id: &str) -> Result<Option<Company>, PageError> {
        Ok(self.companies(&[id.to_owned()]).await?.pop())
    }

    pub(super) async fn companies(&self, ids: &[String]) -> Result<Vec<Company>, PageError> {
        self.with_ids("targets", ids).await
    }

    pub(super) async fn people(&self, ids: &[String]) -> Result<Vec<Person>, PageError> {
        self.with_ids("people", ids).await
    }

    pub(super) async fn signal(&self, id: &str) -> Result<Option<Signal>, PageError> {
        Ok(self.with_ids("signals", &[id.to_owned()]).await?.pop())
    }

    pub(super) async fn people_of(&self, company: &str) -> Result<Vec<Person>, PageError> {
        self.of_company("people", "target_id", company, None).await
    }

    /// Reads the newest roles of a company, at most this many: a role has its whole description.
    pub(super) async fn roles_of(&self, company: &str, limit: u32) -> Result<Vec<Role>, PageError> {
        self.referring("roles", "target_id", company, Some("date_posted"), limit).await
    }

    /// Returns the whole description of a role as HTML. To read and clean its part takes milliseconds.
    pub(super) async fn description(&self, role: &Value) -> Result<String, PageError> {
        let (publication, role) = (Arc::clone(self.publication), role.clone());
        let reading = spawn_blocking(move || publication.description(&role).html);
        Ok(reading.await.map_err(io::Error::other)?)
    }

    pub(super) async fn signals_of(&self, company: &str) -> Result<Vec<Signal>, PageError> {
        self.of_company("signals", "target_id", company, Some("occurred_at")).await
    }

    pub(super) async fn events_of(&self, company: &str) -> Result<Vec<Event>, PageError> {
        self.of_company("events", "_map.target_ids[]", company, Some("date_published")).await
    }

    /// Reads the contracts with these ids; none if no capability resolves handoffs here.
    pub(super) async fn handoffs<'i>(
        &self,
        ids: impl Iterator<Item = &'i String>,
    ) -> Result<Handoffs, PageError> {
        let ids: BTreeSet<&String> = ids.collect();
        let snapshot = self.city.app.host.catalog.snapshot();
        let ids: Vec<String> = match snapshot.holder(CapabilityRole::Handoffs) {
            Ok(_) => ids.into_iter().cloned().collect(),
            Err(_) => Vec::new(),
        };
        let found: Vec<Handoff> = self.with_ids("handoffs", &ids).await?;
        Ok(Handoffs::new(found))
    }

    async fn with_ids<T: DeserializeOwned + Default>(
        &self,
        feed: &str,
        ids: &[String],
    ) -> Result<Vec<T>, PageError> {
        let ids: Vec<&str> = ids.iter().take(MAX_LISTED as usize).map(String::as_str).collect();
        let found = self.publication.records.records(feed, &ids).await?;
        Ok(found.iter().map(view).collect())
    }

    async fn of_company<T: DeserializeOwned + Default>(
        &self,
        feed: &str,
        field: &str,
        company: &str,
        newest_by: Option<&str>,
    ) -> Result<Vec<T>, PageError> {
        self.referring(feed, field, company, newest_by, MAX_LISTED).await
    }

    async fn referring<T: DeserializeOwned + Default>(
        &self,
        feed: &str,
        field: &str,
        id: &str,
        newest_by: Option<&str>,
        limit: u32,
    ) -> Result<Vec<T>, PageError> {
        let reference = Reference { feed, field, id, newest_by, limit };
        let found = self.publication.records.referring(reference).await?;
        Ok(found.iter().map(view).collect())
    }
}
