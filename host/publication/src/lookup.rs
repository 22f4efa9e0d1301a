//! Reads single records of a publication, for the pages about them. Nothing else in the host depends on how
//! the records are stored.

use crate::{publication::Publication, records::Records};
use portolan_feeds::{descriptions::unpack, record::Descriptions, text::description};
use portolan_store::{
    Document, StateError,
    query::{Direction, Query, Request},
};
use serde_json::{Value, json};

/// The text of a description is not used here, only its HTML.
const MOST_SUMMARY: usize = 300;

/// The records of a feed that refer to another record.
#[derive(Debug, Clone, Copy)]
pub struct Reference<'a> {
    pub feed: &'a str,
    /// The path of the field with the other record's id; it must be an indexed one.
    pub field: &'a str,
    pub id: &'a str,
    /// The indexed path by which they are sorted, the highest first.
    pub newest_by: Option<&'a str>,
    pub limit: u32,
}

/// The whole description of a role, as HTML that is safe to show.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RoleDescription {
    pub html: String,
}

impl Publication {
    /// Returns the whole description of a role, from the part that its `description_url` names.
    pub fn description(&self, role: &Value) -> RoleDescription {
        let html = self.description_html(role).unwrap_or_default();
        // A publication that no build made could have any HTML, so it is cleaned again.
        RoleDescription { html: description(&html, MOST_SUMMARY).html }
    }

    fn description_html(&self, role: &Value) -> Option<String> {
        let (address, id) = role.get("description_url")?.as_str()?.split_once('#')?;
        let part = unpack(&self.part_at(address)?.packed).ok()?;
        let part: Descriptions = serde_json::from_slice(&part).ok()?;
        let description = part.items.into_iter().find(|description| description.id == id)?;
        Some(description.description_html)
    }
}

impl Records {
    /// Returns a record of a feed.
    pub async fn record(&self, feed: &str, id: &str) -> Result<Option<Value>, StateError> {
        Ok(self.records(feed, &[id]).await?.pop())
    }

    /// Returns the records of a feed with these ids, without those that are not there.
    pub async fn records(&self, feed: &str, ids: &[&str]) -> Result<Vec<Value>, StateError> {
        let Some(collection) = self.feed(feed).filter(|_| !ids.is_empty()) else {
            return Ok(Vec::new());
        };
        let found = self.unit().get_many(collection, ids).await?;
        found.into_iter().flatten().map(parsed).collect()
    }

    /// Returns the records that refer to another one.
    pub async fn referring(&self, reference: Reference<'_>) -> Result<Vec<Value>, StateError> {
        let Reference { feed, field, id, newest_by, limit } = reference;
        let Some(collection) = self.feed(feed) else { return Ok(Vec::new()) };
        let order: Vec<_> =
            newest_by.map(|path| (path, Direction::Descending)).into_iter().collect();
        let filter = json!({ field: { "eq": id } }).to_string();
        let request = Request {
            filter: Some(&filter),
            text: None,
            near: None,
            within: None,
            order: &order,
            limit,
            unchecked: true,
        };
        let query = Query::new(collection.shape(), request)
            .map_err(|error| StateError::Invalid(error.to_string()))?;
        let page = self.unit().find(collection, &query, None).await?;
        page.hits.into_iter().map(|hit| parsed(hit.document)).collect()
    }
}

fn parsed(document: Document) -> Result<Value, StateError> {
    serde_json::from_str(&document.body).map_err(|error| StateError::Invalid(error.to_string()))
}
