//! Public posts about targets, each with its URL; never profiles of private people.

use super::{Meta, Source};
use crate::{maturity::Maturity, timestamp::Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Socials {
    #[serde(rename = "_meta")]
    pub meta: Meta,
    pub items: Vec<SocialItem>,
    /// The identifiers of each target's items.
    pub by_target: BTreeMap<String, Vec<String>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SocialItem {
    #[schemars(regex(pattern = r"^soc_[0-9A-HJKMNP-TV-Z]{26}$"))]
    pub id: String,
    #[schemars(regex(pattern = r"^tgt_[0-9A-HJKMNP-TV-Z]{26}$"))]
    pub target_id: String,
    pub platform: Platform,
    #[schemars(regex(pattern = r"^https?://"))]
    pub url: String,
    pub author_kind: AuthorKind,
    pub posted_at: Timestamp,
    #[schemars(length(max = 280))]
    pub excerpt: String,
    pub topic: Topic,
    #[schemars(length(max = 50))]
    pub supports_signal_ids: Vec<String>,
    pub maturity: Maturity,
    #[schemars(length(max = 20))]
    pub sources: Vec<Source>,
    pub first_seen_at: Timestamp,
    pub updated_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Platform {
    Mastodon,
    Bluesky,
    X,
    Linkedin,
    Blog,
    Forum,
    Other,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AuthorKind {
    Company,
    Founder,
    Press,
    Community,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Topic {
    Hiring,
    Launch,
    Funding,
    Event,
    Customer,
    Other,
}
