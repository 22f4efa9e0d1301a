//! The documents that are served: the eleven documents of the feeds, their catalogue in DCAT, and their
//! schemas.

use crate::{data_catalog::DATA_CATALOG, discovery::SCHEMA as DISCOVERY_SCHEMA};
use portolan_feeds::{
    Roads,
    document::{INDEX, INDEX_SCHEMA},
    record::{DISCOVERY_PATH, FEEDS, Feed, SERVICE},
    schema::SCHEMAS,
};
use std::sync::LazyLock;

const JSON: &str = "application/json";

/// A document as its description lists it.
#[derive(Debug)]
pub struct DocumentEntry {
    pub path: String,
    /// The operation id and the tag of its description. The catalogue and a schema have neither.
    pub operation: Option<(&'static str, &'static str)>,
    pub title: &'static str,
    pub description: &'static str,
    pub media_type: &'static str,
    /// The file name of its schema.
    pub schema: Option<&'static str>,
}

/// The entries in the order in which they are described.
static ENTRIES: LazyLock<Vec<DocumentEntry>> = LazyLock::new(|| {
    let host_documents = [
        DocumentEntry {
            path: DISCOVERY_PATH.to_owned(),
            operation: Some(("getAgentDiscovery", "discovery")),
            title: "Agent discovery",
            description: "The manifest by which agents find the feeds, the capability API and MCP",
            media_type: JSON,
            schema: Some(DISCOVERY_SCHEMA),
        },
        DocumentEntry {
            path: Roads::path(INDEX),
            operation: Some(("getAgentIndex", "discovery")),
            title: "Agent index",
            description: "Index of all agent-readable feeds",
            media_type: JSON,
            schema: Some(INDEX_SCHEMA),
        },
        DocumentEntry {
            path: Roads::path(SERVICE),
            operation: Some(("getServiceDesc", "discovery")),
            title: "Service description",
            description: "The OpenAPI 3.1 description of the feeds",
            media_type: "application/openapi+json",
            schema: None,
        },
        DocumentEntry {
            path: Roads::path(DATA_CATALOG),
            operation: None,
            title: "Data catalogue",
            description: "The feeds as a catalogue of data sets in DCAT",
            media_type: "application/ld+json",
            schema: None,
        },
    ];
    let schemas = SCHEMAS.iter().map(|(name, _)| *name).chain([DISCOVERY_SCHEMA]).map(schema_entry);
    host_documents.into_iter().chain(FEEDS.iter().map(feed_entry)).chain(schemas).collect()
});

fn feed_entry(feed: &'static Feed) -> DocumentEntry {
    DocumentEntry {
        path: Roads::path(feed.file),
        operation: Some((feed.operation, feed.tag)),
        title: feed.title,
        description: feed.description,
        media_type: JSON,
        schema: Some(feed.schema),
    }
}

fn schema_entry(name: &'static str) -> DocumentEntry {
    DocumentEntry {
        path: Roads::path(&format!("schemas/{name}")),
        operation: None,
        title: name,
        description: "JSON Schema 2020-12 of a document of the feeds",
        media_type: "application/schema+json",
        schema: None,
    }
}

pub(crate) fn entries() -> &'static [DocumentEntry] {
    &ENTRIES
}

/// Returns the path of every document, below the public address.
pub fn paths() -> impl Iterator<Item = &'static str> {
    ENTRIES.iter().map(|entry| entry.path.as_str())
}
