//! What is served where: the eleven documents, and the schemas that they name.

use crate::discovery::SCHEMA as DISCOVERY_SCHEMA;
use portolan_feeds::{
    Roads,
    document::{INDEX, INDEX_SCHEMA},
    record::{DISCOVERY_PATH, FEEDS, Feed, SERVICE},
    schema::SCHEMAS,
};
use std::sync::LazyLock;

const JSON: &str = "application/json";

/// A document, and what its description calls it.
#[derive(Debug)]
pub struct Place {
    pub path: String,
    /// What reading it is called, and under which heading; a schema has neither.
    pub operation: Option<(&'static str, &'static str)>,
    pub title: &'static str,
    pub description: &'static str,
    pub media_type: &'static str,
    /// The file of its schema.
    pub schema: Option<&'static str>,
}

/// In the order in which they are described.
static PLACES: LazyLock<Vec<Place>> = LazyLock::new(|| {
    let own = [
        Place {
            path: DISCOVERY_PATH.to_owned(),
            operation: Some(("getAgentDiscovery", "discovery")),
            title: "Agent discovery",
            description: "From here agents find the feeds, the capability API and MCP",
            media_type: JSON,
            schema: Some(DISCOVERY_SCHEMA),
        },
        Place {
            path: Roads::path(INDEX),
            operation: Some(("getAgentIndex", "discovery")),
            title: "Agent index",
            description: "Index of all agent-readable feeds",
            media_type: JSON,
            schema: Some(INDEX_SCHEMA),
        },
        Place {
            path: Roads::path(SERVICE),
            operation: Some(("getServiceDesc", "discovery")),
            title: "Service description",
            description: "The OpenAPI 3.1 description of the feeds",
            media_type: "application/openapi+json",
            schema: None,
        },
    ];
    let schemas = SCHEMAS.iter().map(|(name, _)| *name).chain([DISCOVERY_SCHEMA]).map(schema);
    own.into_iter().chain(FEEDS.iter().map(feed)).chain(schemas).collect()
});

fn feed(feed: &'static Feed) -> Place {
    Place {
        path: Roads::path(feed.file),
        operation: Some((feed.operation, feed.tag)),
        title: feed.title,
        description: feed.description,
        media_type: JSON,
        schema: Some(feed.schema),
    }
}

fn schema(name: &'static str) -> Place {
    Place {
        path: Roads::path(&format!("schemas/{name}")),
        operation: None,
        title: name,
        description: "JSON Schema 2020-12 of a document of the feeds",
        media_type: "application/schema+json",
        schema: None,
    }
}

pub(super) fn places() -> &'static [Place] {
    &PLACES
}

/// Where everything of a publication is, below the public address.
pub fn paths() -> impl Iterator<Item = &'static str> {
    PLACES.iter().map(|place| place.path.as_str())
}
