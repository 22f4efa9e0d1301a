//! Founders, as an accelerator's public directory lists them, without contact data, pictures or inferred
//! facts.

use super::Source;
use crate::timestamp::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Person {
    #[schemars(regex(pattern = r"^per_[0-9A-HJKMNP-TV-Z]{26}$"))]
    pub id: String,
    #[schemars(length(min = 1, max = 120))]
    pub full_name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_name: Option<String>,
    pub title: String,
    pub role_kind: RoleKind,
    #[schemars(regex(pattern = r"^tgt_[0-9A-HJKMNP-TV-Z]{26}$"))]
    pub target_id: String,
    #[schemars(length(max = 20))]
    pub affiliations: Vec<Affiliation>,
    #[schemars(length(max = 600))]
    pub public_bio: String,
    pub directory: DirectoryEntry,
    #[schemars(length(max = 20))]
    pub links: Vec<Link>,
    #[schemars(length(max = 20))]
    pub expertise: Vec<String>,
    /// Why this person may be listed.
    pub public_figure_basis: String,
    /// The page on which a person can ask not to be listed.
    pub opt_out_url: String,
    pub handoff_ids: Vec<String>,
    #[schemars(length(max = 20))]
    pub sources: Vec<Source>,
    pub first_seen_at: Timestamp,
    pub updated_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoleKind {
    Founder,
    Ceo,
    Cto,
    Partner,
    Operator,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Affiliation {
    pub target_id: String,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    pub current: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DirectoryEntry {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
    #[schemars(regex(pattern = r"^https?://"))]
    pub url: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Link {
    pub kind: LinkKind,
    #[schemars(regex(pattern = r"^https?://"))]
    pub url: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkKind {
    Website,
    Linkedin,
    X,
    Github,
}
