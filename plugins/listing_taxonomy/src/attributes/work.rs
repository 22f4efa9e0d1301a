//! Attributes of jobs and of candidates.

use super::{Date, Language, Tag};
use portolan_sdk::prelude::*;
use serde_json::json;

/// Terms of schema.org and job boards.
#[derive(JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
enum EmploymentType {
    FullTime,
    PartTime,
    Contractor,
    Temporary,
    Intern,
    Other,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum WorkplaceType {
    OnSite,
    Hybrid,
    Remote,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Seniority {
    Entry,
    Junior,
    Mid,
    Senior,
    Lead,
    Executive,
}

/// A position. Pay is the listing's `compensation`, the place its `place`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "employment_type": "FULL_TIME", "workplace_type": "hybrid", "seniority": "senior",
    "skills": ["Rust", "PostgreSQL"], "years_experience": 5, "visa_sponsorship": true,
}))]
pub(crate) struct Job {
    /// How the employee is employed.
    employment_type: EmploymentType,
    /// Where the work is done.
    workplace_type: Option<WorkplaceType>,
    /// The level of the position.
    seniority: Option<Seniority>,
    /// What the work needs: tools, methods, subjects.
    #[serde(default)]
    #[schemars(length(max = 30))]
    skills: Vec<Tag>,
    /// Licences and certificates that the law or the employer asks for, such as `RN licence`.
    #[serde(default)]
    #[schemars(length(max = 10))]
    credentials: Vec<Tag>,
    /// Languages that the work is done in.
    #[serde(default)]
    #[schemars(length(max = 10))]
    languages: Vec<Language>,
    /// Years of experience asked for, at least.
    #[schemars(range(max = 40))]
    years_experience: Option<u8>,
    /// Hours in an ordinary week.
    #[schemars(range(min = 1, max = 80))]
    hours_per_week: Option<f32>,
    /// How many people are wanted.
    #[schemars(range(min = 1, max = 1000))]
    openings: Option<u16>,
    /// The first day of work, if it is fixed.
    start_date: Option<Date>,
    /// Whether the employer sponsors a work visa.
    visa_sponsorship: Option<bool>,
    /// The team or department.
    #[schemars(length(max = 80))]
    team: Option<String>,
}

/// What a person who looks for a position brings and wants. Nothing about age, origin, family,
/// health or belief belongs here.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "employment_types": ["FULL_TIME"], "workplace_types": ["remote", "hybrid"], "seniority": "mid",
    "skills": ["Figma", "user research"], "years_experience": 4, "available_from": "2027-01-15",
}))]
pub(crate) struct Candidate {
    /// Ways of employment that are welcome.
    #[schemars(length(min = 1, max = 6))]
    employment_types: Vec<EmploymentType>,
    /// Where the person would work.
    #[serde(default)]
    #[schemars(length(max = 3))]
    workplace_types: Vec<WorkplaceType>,
    /// The level the person works at.
    seniority: Option<Seniority>,
    /// Titles of positions the person looks for.
    #[serde(default)]
    #[schemars(length(max = 10))]
    titles: Vec<Tag>,
    /// What the person can do: tools, methods, subjects.
    #[serde(default)]
    #[schemars(length(max = 30))]
    skills: Vec<Tag>,
    /// Licences and certificates the person holds.
    #[serde(default)]
    #[schemars(length(max = 10))]
    credentials: Vec<Tag>,
    /// Languages the person works in.
    #[serde(default)]
    #[schemars(length(max = 10))]
    languages: Vec<Language>,
    /// Years of experience in this kind of work.
    #[schemars(range(max = 60))]
    years_experience: Option<u8>,
    /// Hours a week the person wants to work.
    #[schemars(range(min = 1, max = 80))]
    hours_per_week: Option<f32>,
    /// The first day the person could start.
    available_from: Option<Date>,
    /// Whether the person needs the employer to sponsor a work visa.
    needs_visa_sponsorship: Option<bool>,
    /// Whether the person would move for the position.
    willing_to_relocate: Option<bool>,
}
