//! Events, as a JSON Feed (version 1.1) with the map's own fields under `_map`.

use super::{Meta, Source};
use crate::{maturity::Maturity, timestamp::Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Events {
    #[schemars(regex(pattern = r"^https://jsonfeed\.org/version/1\.1$"))]
    pub version: String,
    pub title: String,
    pub home_page_url: String,
    pub feed_url: String,
    #[serde(rename = "_meta")]
    pub meta: Meta,
    /// The newest first.
    #[schemars(length(max = 400))]
    pub items: Vec<Event>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Event {
    #[schemars(regex(pattern = r"^evn_[0-9A-HJKMNP-TV-Z]{26}$"))]
    pub id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^https?://"))]
    pub url: Option<String>,
    #[schemars(length(min = 1, max = 300))]
    pub title: String,
    pub content_text: String,
    #[schemars(length(max = 300))]
    pub summary: String,
    pub date_published: Timestamp,
    pub date_modified: Timestamp,
    #[schemars(length(max = 20))]
    pub tags: Vec<String>,
    #[serde(rename = "_map")]
    pub map: EventMap,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventMap {
    #[serde(rename = "type")]
    pub kind: EventType,
    #[schemars(length(max = 50))]
    pub target_ids: Vec<String>,
    #[schemars(length(max = 50))]
    pub people_ids: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal_id: Option<String>,
    pub maturity: Maturity,
    #[schemars(length(max = 20))]
    pub sources: Vec<Source>,
    pub first_seen_at: Timestamp,
    pub updated_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum EventType {
    News,
    Funding,
    Role,
    Announcement,
    Meetup,
    Launch,
    Acquisition,
    Closure,
}
