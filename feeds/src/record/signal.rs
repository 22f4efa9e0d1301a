//! Signals: evidence of funding or of hiring, and its maturity.

use super::Source;
use crate::{
    claims::Modality,
    maturity::{Maturity, Step},
    timestamp::Timestamp,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    #[schemars(regex(pattern = r"^sig_[0-9A-HJKMNP-TV-Z]{26}$"))]
    pub id: String,
    pub kind: SignalKind,
    #[schemars(regex(pattern = r"^tgt_[0-9A-HJKMNP-TV-Z]{26}$"))]
    pub target_id: String,
    #[schemars(length(min = 1, max = 300))]
    pub headline: String,
    #[schemars(length(max = 600))]
    pub summary: String,
    pub occurred_at: Timestamp,
    pub detected_at: Timestamp,
    pub maturity: Maturity,
    pub maturity_history: Vec<Step>,
    #[schemars(range(min = 0, max = 1))]
    pub confidence: f64,
    /// The maturity in words for people, such as "Lead – not verified".
    pub label: String,
    pub sources: Vec<Source>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub funding: Option<Funding>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hiring: Option<Hiring>,
    /// The words of a source that say so.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 240))]
    pub evidence: Option<String>,
    /// How sure its surest source is: `reported` on the word of unnamed sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modality: Option<Modality>,
    pub handoff_ids: Vec<String>,
    pub first_seen_at: Timestamp,
    pub updated_at: Timestamp,
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum SignalKind {
    Funding,
    Hiring,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Funding {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<String>,
    /// The amount, if it was stated in US dollars.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount_usd: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[A-Z]{3}$"))]
    pub currency: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<u64>,
    #[schemars(length(max = 50))]
    pub investors: Vec<Investor>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub announced_on: Option<Timestamp>,
    /// The identifier of the source that is a filing with a regulator.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub filing_ref: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Investor {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target_id: Option<String>,
    pub lead: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hiring {
    pub role_count: u32,
    #[schemars(length(max = 50))]
    pub functions: Vec<String>,
    pub role_ids: Vec<String>,
    pub evidence: HiringEvidence,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum HiringEvidence {
    AtsBoard,
    CareersPage,
    Post,
    Owner,
}
