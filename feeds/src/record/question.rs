//! Questions that an agent can answer from the feeds for a person in some role, and the schema of the
//! answer.

use crate::timestamp::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Question {
    #[schemars(regex(pattern = r"^qst_[0-9A-HJKMNP-TV-Z]{26}$"))]
    pub id: String,
    pub role: Asker,
    pub question: String,
    pub why_it_matters: String,
    pub uses: Vec<Use>,
    pub steps: Vec<String>,
    /// JSON Schema 2020-12.
    pub output_schema: Value,
    /// An example from the records of the same publication.
    pub example_output: Value,
    pub answer_policy: AnswerPolicy,
    pub freshness_s: u64,
    pub handoff_ids: Vec<String>,
    pub sources: Vec<super::Source>,
    pub first_seen_at: Timestamp,
    pub updated_at: Timestamp,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Asker {
    Investor,
    Candidate,
    Founder,
    Recruiter,
    Tenant,
    Landlord,
    ServiceProvider,
    Journalist,
    Operator,
}

/// Which records to look at.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Use {
    pub feed: String,
    /// JSON Pointer (RFC 6901) to the records.
    pub pointer: String,
    /// For people: which of the records to use.
    pub filter: String,
    /// For programs: conditions on fields, with the placeholders `{{target_id}}` and `{{days_ago.30}}`.
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    pub condition: Option<Value>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AnswerPolicy {
    pub cite: String,
    pub never: Vec<String>,
    pub when_unsure: String,
}
