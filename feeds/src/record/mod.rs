//! The types of the feeds' records and documents. A field whose value is not known is left out.

mod document;
mod event;
mod handoff;
mod person;
mod question;
mod role;
mod signal;
mod social;
mod target;

pub use document::{
    ChangesEntry, City, DISCOVERY_PATH, FEEDS, Feed, FormEntry, Index, IndexEntry, Join, Links,
    Listing, MAP_PATH, Meta, OBJECTION, PartEntry, Roads, SERVICE, SourceEntry,
};
pub use event::{Event, EventMap, EventType, Events};
pub use handoff::{Continuation, Fallback, From, Handoff, Intent, Requires, To};
pub use person::{Affiliation, DirectoryEntry, Link, LinkKind, Person, RoleKind};
pub use question::{AnswerPolicy, Asker, Question, Use};
pub use role::{
    Ats, Description, Descriptions, EmploymentType, Location, Occupation, Role, RoleMaturity,
    Salary, SalaryUnit, WorkplaceType,
};
pub use signal::{Funding, Hiring, HiringEvidence, Investor, Signal, SignalKind};
pub use social::{AuthorKind, Platform, SocialItem, Socials, Topic};
pub use target::{
    Accelerator, Ask, AskType, Feature, FundingSummary, Geometry, Precision, Stage, Status, Target,
    TargetGeo, TargetKind, Targets,
};

use crate::timestamp::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where something was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    #[schemars(regex(pattern = r"^src_[0-9A-HJKMNP-TV-Z]{26}$"))]
    pub id: String,
    #[serde(rename = "type")]
    pub kind: SourceType,
    #[schemars(length(min = 1, max = 120))]
    pub publisher: String,
    #[schemars(regex(pattern = r"^https?://"))]
    pub url: String,
    #[schemars(length(max = 300))]
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub published_at: Option<Timestamp>,
    pub retrieved_at: Timestamp,
    #[schemars(length(max = 300))]
    pub excerpt: String,
    /// The digest of what was read, which shows later whether it has changed.
    #[schemars(regex(pattern = r"^[0-9a-f]{64}$"))]
    pub sha256: String,
    /// The licence under which the source offers this, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub license: Option<String>,
    /// Whom to name when it is used, if the source asks for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub attribution: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SourceType {
    Press,
    Filing,
    CompanySite,
    AtsBoard,
    Directory,
    Social,
    Owner,
    Other,
}
