//! Open roles, as companies' own public boards list them.

use super::Source;
use crate::timestamp::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Role {
    #[schemars(regex(pattern = r"^rol_[0-9A-HJKMNP-TV-Z]{26}$"))]
    pub id: String,
    #[schemars(regex(pattern = r"^tgt_[0-9A-HJKMNP-TV-Z]{26}$"))]
    pub target_id: String,
    pub ats: Ats,
    pub board_token: String,
    pub external_id: String,
    #[schemars(length(min = 1, max = 200))]
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub department: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub team: Option<String>,
    /// The kind of work, derived from the title, as one of this project's own terms.
    pub function: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seniority: Option<String>,
    pub employment_type: EmploymentType,
    pub workplace_type: WorkplaceType,
    pub locations: Vec<Location>,
    #[schemars(length(max = 4000))]
    pub description_text: String,
    /// HTML with allowed elements only: no script, no style, no form, no image.
    pub description_html: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_salary: Option<Salary>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub occupation: Option<Occupation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub date_posted: Option<Timestamp>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub valid_through: Option<Timestamp>,
    #[schemars(regex(pattern = r"^https?://"))]
    pub apply_url: String,
    #[schemars(regex(pattern = r"^https?://"))]
    pub source_url: String,
    pub maturity: RoleMaturity,
    /// The role as a schema.org JobPosting.
    pub schema_org: Value,
    pub handoff_ids: Vec<String>,
    pub sources: Vec<Source>,
    pub first_seen_at: Timestamp,
    pub updated_at: Timestamp,
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
pub enum Ats {
    Greenhouse,
    Lever,
    Ashby,
    Smartrecruiters,
    Workable,
}

/// A kind of employment, in the terms of schema.org and Google.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum EmploymentType {
    FullTime,
    PartTime,
    Contractor,
    Temporary,
    Intern,
    #[default]
    Other,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WorkplaceType {
    OnSite,
    Hybrid,
    Remote,
    #[default]
    Unspecified,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Location {
    pub label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lng: Option<f64>,
    pub primary: bool,
}

/// The pay that the employer states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Salary {
    #[schemars(regex(pattern = "^[A-Z]{3}$"))]
    pub currency: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max: Option<f64>,
    pub unit: SalaryUnit,
    pub shown_by_employer: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum SalaryUnit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    Once,
}

/// A class of the O*NET-SOC taxonomy that the title comes close to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Occupation {
    #[schemars(regex(pattern = r"^\d{2}-\d{4}\.\d{2}$"))]
    pub onet_soc: String,
    /// The SKOS mapping relation: `closeMatch`.
    pub relation: String,
}

/// Whether the role is still on the board.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RoleMaturity {
    /// It was on the company's board when that was last read.
    Verified,
    /// It was missing from the board once, or the board could not be read.
    Stale,
}
