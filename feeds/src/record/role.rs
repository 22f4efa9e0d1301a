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
    #[schemars(length(max = 50))]
    pub locations: Vec<Location>,
    /// The beginning of the description, in one line.
    #[schemars(length(max = 300))]
    pub summary: String,
    /// Where the whole description is: a part of the feed, and in it the record with this role's id.
    #[schemars(regex(pattern = r"^https?://"))]
    pub description_url: String,
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
    /// The role as a schema.org JobPosting, with the summary as its description.
    pub schema_org: Value,
    pub handoff_ids: Vec<String>,
    #[schemars(length(max = 20))]
    pub sources: Vec<Source>,
    pub first_seen_at: Timestamp,
    pub updated_at: Timestamp,
}

#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Ats {
    Greenhouse,
    Lever,
    Ashby,
    Smartrecruiters,
    Workable,
    Recruitee,
    Personio,
    Teamtailor,
    Bamboohr,
    /// The company's own pages, which describe roles as schema.org's `JobPosting`.
    CareerPage,
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
    /// The place as the board writes it, or one of the places that it names.
    pub label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub city: Option<String>,
    /// The name of the state, province or other region.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// The code of the region (ISO 3166-2).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = "^[A-Z]{2}-[A-Z0-9]{1,3}$"))]
    pub region_code: Option<String>,
    /// The code of the country (ISO 3166-1). Without it, the place could not be told from the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub country: Option<String>,
    /// The position that the board states, or the centre of the city.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lat: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lng: Option<f64>,
    /// Whether the work is remote; the place then says where applicants may be.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub remote: bool,
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

/// The descriptions of some roles: a part of the feed, which is bounded in size.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Descriptions {
    /// The id of the feed.
    pub feed: String,
    /// The first bits of the hash in the ids of these roles, or `all`.
    pub part: String,
    pub items: Vec<Description>,
}

/// The whole description of a role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Description {
    #[schemars(regex(pattern = r"^rol_[0-9A-HJKMNP-TV-Z]{26}$"))]
    pub id: String,
    #[schemars(length(max = 4000))]
    pub description_text: String,
    /// HTML with allowed elements only: no script, no style, no form, no image.
    pub description_html: String,
}
