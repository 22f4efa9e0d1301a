//! Companies and organisations on the map: GeoJSON (RFC 7946).

use super::{Meta, Source};
use crate::{maturity::Maturity, timestamp::Timestamp};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A collection of features with the feed's metadata as a foreign member.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Targets {
    #[serde(rename = "type")]
    #[schemars(regex(pattern = "^FeatureCollection$"))]
    pub kind: String,
    #[serde(rename = "_meta")]
    pub meta: Meta,
    pub features: Vec<Feature>,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Feature {
    #[serde(rename = "type")]
    #[schemars(regex(pattern = "^Feature$"))]
    pub kind: String,
    #[schemars(regex(pattern = r"^tgt_[0-9A-HJKMNP-TV-Z]{26}$"))]
    pub id: String,
    pub geometry: Geometry,
    pub properties: Target,
}

/// A point: longitude, then latitude.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Geometry {
    #[serde(rename = "type")]
    #[schemars(regex(pattern = "^Point$"))]
    pub kind: String,
    pub coordinates: [f64; 2],
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Target {
    #[schemars(length(min = 1, max = 120))]
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub legal_name: Option<String>,
    pub kind: TargetKind,
    #[schemars(length(max = 50))]
    pub ask: Vec<Ask>,
    #[schemars(length(max = 200))]
    pub tagline: String,
    #[schemars(length(max = 4000))]
    pub description: String,
    #[schemars(length(max = 20))]
    pub industries: Vec<String>,
    #[schemars(length(max = 20))]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub founded_year: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^\d+(-\d+|\+)$"))]
    pub team_size_band: Option<String>,
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^https?://"))]
    pub website: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = r"^https?://"))]
    pub logo_url: Option<String>,
    pub geo: TargetGeo,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub accelerator: Option<Accelerator>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub funding_summary: Option<FundingSummary>,
    pub open_roles_count: u32,
    #[schemars(length(max = 100))]
    pub people_ids: Vec<String>,
    pub signal_ids: Vec<String>,
    pub verified_owner: bool,
    pub handoff_ids: Vec<String>,
    #[schemars(length(max = 20))]
    pub sources: Vec<Source>,
    pub first_seen_at: Timestamp,
    pub updated_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TargetKind {
    Startup,
    Fund,
    Accelerator,
    University,
    Coworking,
    ServiceProvider,
    Community,
    PublicBody,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ask {
    #[serde(rename = "type")]
    pub kind: AskType,
    #[schemars(length(max = 200))]
    pub text: String,
    pub since: Timestamp,
    /// The maturity of what supports the ask: of a hiring signal, if there is one.
    pub maturity: Maturity,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum AskType {
    Hiring,
    Raising,
    Customers,
    Partners,
    Cofounder,
    Space,
    Advice,
    None,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    PreSeed,
    Seed,
    SeriesA,
    SeriesB,
    SeriesC,
    Growth,
    Public,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    #[default]
    Active,
    Acquired,
    Inactive,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TargetGeo {
    #[schemars(range(min = -90, max = 90))]
    pub lat: f64,
    #[schemars(range(min = -180, max = 180))]
    pub lng: f64,
    pub precision: Precision,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbourhood: Option<String>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Precision {
    Exact,
    Street,
    #[default]
    Neighbourhood,
    City,
}

/// The programme that a company was in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Accelerator {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<String>,
}

/// A summary of a target's funding signals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FundingSummary {
    /// The sum of the rounds whose amount is known in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub total_usd: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_round: Option<String>,
    pub as_of: Timestamp,
    /// The lowest maturity of the rounds that are counted.
    pub maturity: Maturity,
}
