//! Contracts that turn an answer from the map into a continuation in the capability API.

use crate::timestamp::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Handoff {
    #[schemars(regex(pattern = r"^hof_[0-9A-HJKMNP-TV-Z]{26}$"))]
    pub id: String,
    pub title: String,
    pub intent: Intent,
    pub from: From,
    pub to: To,
    pub requires: Requires,
    /// The input, with `{{record.…}}` in place of each field of the record.
    pub input_template: Value,
    pub input_schema: Value,
    /// Fields of the input that are in no record.
    pub missing: Vec<String>,
    /// The question with which to ask the person for these fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask_user: Option<String>,
    pub carries: Vec<String>,
    pub never_carries: Vec<String>,
    pub consent_text: String,
    pub continuation: Continuation,
    pub fallback: Fallback,
    pub sources: Vec<super::Source>,
    pub first_seen_at: Timestamp,
    pub updated_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    ApplyToRole,
    ContactCompany,
    MeetFounder,
    OfferService,
    PitchInvestor,
    ClaimTarget,
    CorrectData,
    FindSimilarPeople,
    VerifySignal,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct From {
    pub feed: String,
    pub record_kind: String,
    pub required_fields: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct To {
    pub capability: String,
    pub action: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Requires {
    pub claimed: bool,
    pub scopes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Continuation {
    /// `url` or `capability_call`.
    pub kind: String,
    pub url_template: String,
    pub method: String,
    pub ttl_s: u64,
    pub single_use: bool,
    pub allowed_origins: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Fallback {
    pub url: String,
}
