//! The metadata of every document of the feeds, and the index of all feeds.

use crate::timestamp::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The path of the discovery manifest, with which agents begin; the host makes it.
pub const DISCOVERY_PATH: &str = "/.well-known/agent.json";
/// The path below which the host serves the first city. Every other city is below it, under its slug.
pub const MAP_PATH: &str = "/map";
/// The name of the page below a city's path on which people and companies can object; the host serves it.
pub const OBJECTION: &str = "objection";
/// The file name of the feeds' OpenAPI description; the host makes it, too.
pub const SERVICE: &str = "openapi.json";

/// A feed: a document that this crate builds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Feed {
    pub id: &'static str,
    /// The file name, under `data/` below the city's path and in the published folder.
    pub file: &'static str,
    pub schema: &'static str,
    pub title: &'static str,
    pub description: &'static str,
    /// The name of the operation in OpenAPI that reads the feed.
    pub operation: &'static str,
    pub tag: &'static str,
    /// The name of the field with the records.
    pub records: &'static str,
    pub maturity_policy: &'static str,
    /// The path of a record's page below the city's path, as a URI template (RFC 6570, level 1) of the record's
    /// own fields.
    pub page: Option<&'static str>,
    /// Fields with identifiers of other feeds' records, each with the other feed's id.
    pub joins: &'static [(&'static str, &'static str)],
}

const NO_POLICY: &str = "Facts with sources; there are no degrees of maturity here.";

/// All feeds, in the order in which an agent should read them.
pub const FEEDS: [Feed; 8] = [
    Feed {
        id: "targets",
        file: "sf-live-targets.json",
        schema: "targets.json",
        title: "Targets",
        description: "Companies and organisations with coordinates, kind and ask",
        operation: "getTargets",
        tag: "entities",
        records: "features",
        maturity_policy: "An ask is as sure as the signal it rests on.",
        page: Some("companies/{id}"),
        joins: &[
            ("properties.people_ids", "people"),
            ("properties.signal_ids", "signals"),
            ("properties.handoff_ids", "handoffs"),
        ],
    },
    Feed {
        id: "signals",
        file: "live-signal-feed.json",
        schema: "signals.json",
        title: "Signal feed",
        description: "Source-backed funding and hiring signals",
        operation: "getSignalFeed",
        tag: "signals",
        records: "items",
        maturity_policy: "Funding is source-backed where a source is present; hiring is a lead until \
                          the company's own board or its verified owner says so.",
        page: Some("companies/{target_id}#{id}"),
        joins: &[
            ("target_id", "targets"),
            ("hiring.role_ids", "roles"),
            ("funding.investors.target_id", "targets"),
            ("handoff_ids", "handoffs"),
        ],
    },
    Feed {
        id: "questions",
        file: "agent-readable-signals.json",
        schema: "questions.json",
        title: "Agent-readable signals",
        description: "Role-framed questions and output shapes for agents",
        operation: "getAgentSignals",
        tag: "signals",
        records: "items",
        maturity_policy: NO_POLICY,
        page: None,
        joins: &[("handoff_ids", "handoffs")],
    },
    Feed {
        id: "events",
        file: "sf-events.json",
        schema: "events.json",
        title: "Events",
        description: "Public events: news, funding, roles, announcements",
        operation: "getEvents",
        tag: "signals",
        records: "items",
        maturity_policy: "An event about a signal is as sure as the signal.",
        page: Some("events/{id}"),
        joins: &[
            ("_map.target_ids", "targets"),
            ("_map.people_ids", "people"),
            ("_map.signal_id", "signals"),
        ],
    },
    Feed {
        id: "roles",
        file: "sf-job-roles.json",
        schema: "roles.json",
        title: "Job roles",
        description: "Open roles taken from companies' public applicant-tracking boards",
        operation: "getJobRoles",
        tag: "entities",
        records: "items",
        maturity_policy: "Verified: on the board when it was last read. Stale: not seen since.",
        page: Some("roles/{id}"),
        joins: &[("target_id", "targets"), ("handoff_ids", "handoffs")],
    },
    Feed {
        id: "people",
        file: "sf-people.json",
        schema: "people.json",
        title: "People",
        description: "Public-figure founders from a public accelerator directory",
        operation: "getPeople",
        tag: "entities",
        records: "items",
        maturity_policy: NO_POLICY,
        page: Some("people/{id}"),
        joins: &[
            ("target_id", "targets"),
            ("affiliations.target_id", "targets"),
            ("handoff_ids", "handoffs"),
        ],
    },
    Feed {
        id: "social",
        file: "public-social-signals.json",
        schema: "social.json",
        title: "Public social signals",
        description: "Public, source-backed social evidence per target",
        operation: "getPublicSocial",
        tag: "signals",
        records: "items",
        maturity_policy: "A post is evidence, not proof: it is as sure as the signal it supports.",
        page: None,
        joins: &[("target_id", "targets"), ("supports_signal_ids", "signals")],
    },
    Feed {
        id: "handoffs",
        file: "hi-handoff-manifest.json",
        schema: "handoffs.json",
        title: "Handoff manifest",
        description: "Contracts that turn a public map answer into a safe continuation URL",
        operation: "getHiHandoffs",
        tag: "discovery",
        records: "items",
        maturity_policy: NO_POLICY,
        page: None,
        joins: &[],
    },
];

/// Metadata and records, as in most documents.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Listing<T> {
    #[serde(rename = "_meta")]
    pub meta: Meta,
    pub items: Vec<T>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Meta {
    pub feed: String,
    pub title: String,
    #[schemars(regex(pattern = r"^\d+\.\d+\.\d+$"))]
    pub feed_version: String,
    pub schema_url: String,
    pub generated_at: Timestamp,
    pub city: City,
    /// Whether all data is invented, for a demonstration.
    pub synthetic: bool,
    pub count: usize,
    pub license: String,
    pub attribution: Vec<String>,
    pub next_refresh_s: u64,
    pub links: Links,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct City {
    pub id: String,
    pub name: String,
    #[schemars(regex(pattern = "^[A-Z]{2}$"))]
    pub country: String,
    pub time_zone: String,
    /// Longitude, latitude.
    pub center: [f64; 2],
    /// West, south, east, north.
    pub bbox: [f64; 4],
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Links {
    #[serde(rename = "self")]
    pub this: String,
    pub discovery: String,
    pub index: String,
    pub openapi: String,
    pub handoffs: String,
}

/// The index of all feeds.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Index {
    #[serde(rename = "_meta")]
    pub meta: Meta,
    pub items: Vec<IndexEntry>,
    /// Identifiers of the feeds, in the order in which to read them.
    pub reading_order: Vec<String>,
    pub rules: Vec<String>,
    /// How to follow the changes from this publication on.
    pub changes: ChangesEntry,
    /// The sources, and when each was last read.
    pub sources: Vec<SourceEntry>,
}

/// The log of changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChangesEntry {
    pub path: String,
    pub url: String,
    /// The cursor that belongs to this publication: its documents and the changes after this cursor are the
    /// next publications.
    #[schemars(regex(pattern = r"^[0-9]{12}-[0-9a-f]{12}$"))]
    pub cursor: String,
    /// How long changes are kept at least, unless they are more than 256 MB.
    pub kept_days: u64,
}

/// A source of the records. An unchanged record was last seen when its source was last checked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceEntry {
    /// The source's name; that of a board is `board/`, its `ats`, `/` and its `board_token`.
    pub id: String,
    /// When it was last read without an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked_at: Option<Timestamp>,
    /// Since when it cannot be read. Its last records are kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<Timestamp>,
    pub record_count: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct IndexEntry {
    pub id: String,
    pub path: String,
    pub url: String,
    pub title: String,
    pub description: String,
    pub media_type: String,
    pub schema_url: String,
    /// The address of the page about a record: a URI template (RFC 6570, level 1) of the record's own
    /// fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page_template: Option<String>,
    pub record_count: usize,
    /// When its content last changed.
    pub updated_at: Timestamp,
    pub etag: String,
    pub bytes: usize,
    pub keys: Vec<String>,
    pub joins: Vec<Join>,
    /// Identifiers of the questions that this feed answers.
    pub answers: Vec<String>,
    pub maturity_policy: String,
    /// The same records in other forms.
    pub forms: Vec<FormEntry>,
    /// The long texts of the records, which are not in the document, by the hash in the records' ids.
    pub parts: Vec<PartEntry>,
}

/// Another form of a feed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FormEntry {
    pub media_type: String,
    pub url: String,
}

/// A part of a feed. It has the long texts of some records, and changes only with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PartEntry {
    pub path: String,
    pub url: String,
    pub schema_url: String,
    pub record_count: usize,
    pub etag: String,
    pub bytes: usize,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Join {
    pub field: String,
    pub feed: String,
}

/// The base URLs of the documents, and of the capability API.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roads {
    /// The URL of the host that serves the feeds, without a slash at the end.
    pub feeds: String,
    /// The URL of the capability API, without a slash at the end.
    pub capabilities: String,
    /// The path below which the host serves the city, without a slash at the end.
    #[serde(default = "first_city")]
    pub map: String,
}

/// Returns the path of the only city that older states know.
fn first_city() -> String {
    MAP_PATH.to_owned()
}

impl Roads {
    /// Returns the roads of a host that serves the feeds and the capability API. `city` is the slug of a city
    /// other than the first.
    pub fn of_host(url: &str, city: Option<&str>) -> Self {
        let map = city.map_or_else(first_city, |slug| format!("{MAP_PATH}/{slug}"));
        Self { feeds: url.to_owned(), capabilities: url.to_owned(), map }
    }

    /// Returns the slug of the city; `None` for the first one of its host, whose records capabilities read.
    pub fn city(&self) -> Option<&str> {
        self.map.strip_prefix(MAP_PATH)?.strip_prefix('/')
    }

    pub fn path(&self, file: &str) -> String {
        format!("{}/data/{file}", self.map)
    }

    pub fn document(&self, file: &str) -> String {
        format!("{}{}", self.feeds, self.path(file))
    }

    /// Returns the path of a page about a record, or of a template of such paths.
    pub fn page(&self, page: &str) -> String {
        format!("{}/{page}", self.map)
    }

    /// Returns the path of the page on which people and companies can object.
    pub fn objection(&self) -> String {
        self.page(OBJECTION)
    }

    /// Returns the URL of the discovery manifest, with which agents begin.
    pub fn discovery(&self) -> String {
        format!("{}{DISCOVERY_PATH}", self.feeds)
    }

    pub fn schema(&self, name: &str) -> String {
        self.document(&format!("schemas/{name}"))
    }
}
