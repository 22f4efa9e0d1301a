//! The documents that are served for a city: the documents of the feeds, their catalogue in DCAT, and their
//! schemas. The first city has the discovery manifest too, which is the whole host's.

use crate::{data_catalog::DATA_CATALOG, discovery::SCHEMA as DISCOVERY_SCHEMA};
use portolan_feeds::{
    Roads,
    document::{INDEX, INDEX_SCHEMA},
    record::{DISCOVERY_PATH, FEEDS, Feed, SERVICE},
    schema::SCHEMAS,
};
use std::sync::Arc;

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

/// Returns the entries of a city in the order in which they are described.
pub(crate) fn entries(roads: &Roads) -> Vec<Arc<DocumentEntry>> {
    let manifest = DocumentEntry {
        path: DISCOVERY_PATH.to_owned(),
        operation: Some(("getAgentDiscovery", "discovery")),
        title: "Agent discovery",
        description: "The manifest by which agents find the feeds, the capability API and MCP",
        media_type: JSON,
        schema: Some(DISCOVERY_SCHEMA),
    };
    let manifest_schema = schema_entry(DISCOVERY_SCHEMA, roads);
    let (manifest, manifest_schema) = match roads.city() {
        None => (Some(manifest), Some(manifest_schema)),
        Some(_) => (None, None),
    };
    let host_documents = [
        DocumentEntry {
            path: roads.path(INDEX),
            operation: Some(("getAgentIndex", "discovery")),
            title: "Agent index",
            description: "Index of all agent-readable feeds",
            media_type: JSON,
            schema: Some(INDEX_SCHEMA),
        },
        DocumentEntry {
            path: roads.path(SERVICE),
            operation: Some(("getServiceDesc", "discovery")),
            title: "Service description",
            description: "The OpenAPI 3.1 description of the feeds",
            media_type: "application/openapi+json",
            schema: None,
        },
        DocumentEntry {
            path: roads.path(DATA_CATALOG),
            operation: None,
            title: "Data catalogue",
            description: "The feeds as a catalogue of data sets in DCAT",
            media_type: "application/ld+json",
            schema: None,
        },
    ];
    let feeds = FEEDS.iter().map(|feed| feed_entry(feed, roads));
    let schemas = SCHEMAS.iter().map(|(name, _)| schema_entry(name, roads));
    let entries = manifest.into_iter().chain(host_documents).chain(feeds);
    entries.chain(schemas).chain(manifest_schema).map(Arc::new).collect()
}

fn feed_entry(feed: &'static Feed, roads: &Roads) -> DocumentEntry {
    DocumentEntry {
        path: roads.path(feed.file),
        operation: Some((feed.operation, feed.tag)),
        title: feed.title,
        description: feed.description,
        media_type: JSON,
        schema: Some(feed.schema),
    }
}

fn schema_entry(name: &'static str, roads: &Roads) -> DocumentEntry {
    DocumentEntry {
        path: roads.path(&format!("schemas/{name}")),
        operation: None,
        title: name,
        description: "JSON Schema 2020-12 of a document of the feeds",
        media_type: "application/schema+json",
        schema: None,
    }
}
