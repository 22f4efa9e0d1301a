//! Attributes of professionals and of their clients.

use super::{Availability, Date, Language, Tag};
use portolan_sdk::prelude::*;
use serde_json::json;

/// A country or a part of one (ISO 3166-1 or 3166-2), such as `US-CA` or `DE`.
#[derive(JsonSchema)]
struct Jurisdiction(#[schemars(regex(pattern = "^[A-Z]{2}(-[A-Z0-9]{1,3})?$"))] String);

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum ClientKind {
    Individual,
    Business,
    NonProfit,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum LegalFee {
    Hourly,
    Fixed,
    Contingency,
    Retainer,
    ProBono,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Urgency {
    Today,
    Days,
    Weeks,
    NoHurry,
}

/// A lawyer or law firm.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "jurisdictions": ["US-CA"], "admitted_since": 2012, "client_kinds": ["individual"],
    "fees": ["fixed", "hourly"], "languages": ["en", "es"], "free_first_consultation": true,
}))]
pub(crate) struct Lawyer {
    /// Where the lawyer is admitted.
    #[schemars(length(min = 1, max = 20))]
    jurisdictions: Vec<Jurisdiction>,
    /// The year of the first admission.
    #[schemars(range(min = 1940, max = 2100))]
    admitted_since: Option<u16>,
    /// For whom the lawyer acts.
    #[serde(default)]
    #[schemars(length(max = 3))]
    client_kinds: Vec<ClientKind>,
    /// How the lawyer charges.
    #[schemars(length(min = 1, max = 5))]
    fees: Vec<LegalFee>,
    /// Languages the lawyer works in.
    #[serde(default)]
    #[schemars(length(max = 10))]
    languages: Vec<Language>,
    /// Whether the first talk costs nothing.
    free_first_consultation: Option<bool>,
    /// Whether the lawyer takes new clients within a week.
    takes_urgent_cases: Option<bool>,
}

/// A person or company that needs a lawyer.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "jurisdiction": "US-CA", "client_kind": "individual", "urgency": "weeks", "fees": ["fixed"],
    "languages": ["en"],
}))]
pub(crate) struct LegalClient {
    /// Whose law it is about.
    jurisdiction: Jurisdiction,
    /// Who needs help.
    client_kind: ClientKind,
    /// How soon help is needed.
    urgency: Option<Urgency>,
    /// The next deadline or hearing.
    deadline: Option<Date>,
    /// Ways of charging the client could accept.
    #[serde(default)]
    #[schemars(length(max = 5))]
    fees: Vec<LegalFee>,
    /// Languages the client speaks.
    #[serde(default)]
    #[schemars(length(max = 10))]
    languages: Vec<Language>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Charge {
    Hourly,
    Fixed,
    PerVisit,
    Subscription,
    Free,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Venue {
    AtClient,
    AtProvider,
    Online,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Frequency {
    Once,
    Weekly,
    Biweekly,
    Monthly,
    Ongoing,
}

/// A service on offer. Its price is the listing's `compensation`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "venues": ["at_client"], "charges": ["hourly"], "years_experience": 8, "insured": true,
    "credentials": ["C-36 plumbing licence"], "availability": ["weekday_mornings"],
}))]
pub(crate) struct Service {
    /// Where the work is done.
    #[schemars(length(min = 1, max = 3))]
    venues: Vec<Venue>,
    /// How it is charged.
    #[serde(default)]
    #[schemars(length(max = 5))]
    charges: Vec<Charge>,
    /// Special fields.
    #[serde(default)]
    #[schemars(length(max = 20))]
    specialities: Vec<Tag>,
    /// Years in the profession.
    #[schemars(range(max = 60))]
    years_experience: Option<u8>,
    /// Licences and certificates, with their number where the trade needs one.
    #[serde(default)]
    #[schemars(length(max = 10))]
    credentials: Vec<Tag>,
    /// Whether damage is insured.
    insured: Option<bool>,
    /// Languages the work is done in.
    #[serde(default)]
    #[schemars(length(max = 10))]
    languages: Vec<Language>,
    /// When there is time for it.
    #[serde(default)]
    #[schemars(length(max = 5))]
    availability: Vec<Availability>,
}

/// A service that somebody needs. What they can pay is the listing's `compensation`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "venues": ["at_client"], "frequency": "weekly", "urgency": "weeks", "needed_from": "2027-01-04",
}))]
pub(crate) struct ServiceClient {
    /// Where the work can be done.
    #[schemars(length(min = 1, max = 3))]
    venues: Vec<Venue>,
    /// How often it is needed.
    frequency: Option<Frequency>,
    /// How soon it is needed.
    urgency: Option<Urgency>,
    /// The first day it is needed.
    needed_from: Option<Date>,
    /// Ways of charging that are welcome.
    #[serde(default)]
    #[schemars(length(max = 5))]
    charges: Vec<Charge>,
    /// What it is about in particular.
    #[serde(default)]
    #[schemars(length(max = 20))]
    specialities: Vec<Tag>,
    /// Languages the client speaks.
    #[serde(default)]
    #[schemars(length(max = 10))]
    languages: Vec<Language>,
    /// When there is time for it.
    #[serde(default)]
    #[schemars(length(max = 5))]
    availability: Vec<Availability>,
}

#[derive(JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Level {
    Beginner,
    PrimarySchool,
    SecondarySchool,
    University,
    Adult,
    Advanced,
}

/// Lessons on offer. The price is the listing's `compensation`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "subjects": ["mathematics", "physics"], "levels": ["secondary_school"], "venues": ["online"],
    "years_experience": 6, "languages": ["en"], "availability": ["weekday_afternoons"],
}))]
pub(crate) struct Tutor {
    /// What is taught.
    #[schemars(length(min = 1, max = 15))]
    subjects: Vec<Tag>,
    /// Whom it suits.
    #[schemars(length(min = 1, max = 6))]
    levels: Vec<Level>,
    /// Where lessons are given.
    #[schemars(length(min = 1, max = 3))]
    venues: Vec<Venue>,
    /// Years of teaching.
    #[schemars(range(max = 60))]
    years_experience: Option<u8>,
    /// Degrees and certificates.
    #[serde(default)]
    #[schemars(length(max = 10))]
    credentials: Vec<Tag>,
    /// Languages of the lessons.
    #[serde(default)]
    #[schemars(length(max = 10))]
    languages: Vec<Language>,
    /// When lessons can be given.
    #[serde(default)]
    #[schemars(length(max = 5))]
    availability: Vec<Availability>,
}

/// Lessons that somebody needs. What they can pay is the listing's `compensation`.
#[derive(JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(example = json!({
    "subjects": ["piano"], "level": "beginner", "venues": ["at_client", "at_provider"],
    "frequency": "weekly", "availability": ["weekend_days"],
}))]
pub(crate) struct Student {
    /// What is to be learnt.
    #[schemars(length(min = 1, max = 15))]
    subjects: Vec<Tag>,
    /// The learner's level.
    level: Level,
    /// Where lessons can take place.
    #[schemars(length(min = 1, max = 3))]
    venues: Vec<Venue>,
    /// How often.
    frequency: Option<Frequency>,
    /// Languages the learner speaks.
    #[serde(default)]
    #[schemars(length(max = 10))]
    languages: Vec<Language>,
    /// When the learner has time.
    #[serde(default)]
    #[schemars(length(max = 5))]
    availability: Vec<Availability>,
}
