//! The filters of searches.

use crate::records::RecordType;
use portolan_sdk::{documents::Rectangle, prelude::*};

// One value, or several of which one must fit. The schema has no description, because it would be repeated for each
// filter; that of `Filters` says it once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub enum AnyOf<T> {
    One(T),
    Several(#[schemars(length(min = 1, max = 20))] Vec<T>),
}

impl<T> AnyOf<T> {
    pub fn values(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Several(values) => values,
        }
    }
}

/// A word as in the feed; `facets` lists those that there are.
pub type Word = Text<1, 80>;

/// The filters of a search. All of them must match; of several values of one filter, one must. Those about
/// organisations also restrict roles, people, signals and events to the ones of such organisations.
#[input(Default, Clone)]
pub struct Filters {
    /// The words to search for: of names, titles and descriptions.
    pub q: Option<Text<1, 200>>,
    /// The types of records. By default those of the filters `role`, `person`, `signal` and `event`; without these,
    /// all types if there is a `q`, else organisations. Types that do not have the given `sort` are left out by default.
    #[schemars(length(min = 1, max = 5))]
    pub types: Option<Vec<RecordType>>,
    /// The kind of organisation.
    pub kind: Option<AnyOf<Kind>>,
    /// The organisation's type of ask.
    pub ask: Option<AnyOf<AskType>>,
    /// The stage of a company's financing.
    pub stage: Option<AnyOf<Stage>>,
    /// Whether the organisation hires, and how well that is supported.
    pub hiring: Option<HiringFilter>,
    /// The maturity of at least one of the organisation's asks.
    pub maturity: Option<Maturity>,
    /// The industry as in the feed; `facets` lists the industries.
    pub industry: Option<AnyOf<Word>>,
    /// The neighbourhood as in the feed; `facets` lists the neighbourhoods.
    pub neighbourhood: Option<AnyOf<Word>>,
    /// Organisations with one of these values are not found.
    pub none_of: Option<NoneOf>,
    /// The number of the organisation's open roles.
    pub open_roles: Option<NumberRange>,
    /// When an organisation or a person last changed, a role was posted, a signal occurred, an event was published.
    pub date: Option<DateRange>,
    /// Filters of open roles.
    pub role: Option<RoleFilters>,
    /// Filters of people.
    pub person: Option<PersonFilters>,
    /// Filters of signals.
    pub signal: Option<SignalFilters>,
    /// Filters of events.
    pub event: Option<EventFilters>,
    /// A circle around a point: only organisations in it are found.
    pub near: Option<Near>,
    /// Travel from the point of `near`. The answer then has estimated minutes.
    pub travel: Option<Travel>,
    /// A rectangle: only organisations in it are found.
    pub bbox: Option<Rectangle>,
}

#[input(Default, Clone)]
#[serde(deny_unknown_fields)]
pub struct NoneOf {
    /// Kinds of organisations.
    pub kind: Option<AnyOf<Kind>>,
    /// The types of asks.
    pub ask: Option<AnyOf<AskType>>,
    /// Stages of financing.
    pub stage: Option<AnyOf<Stage>>,
    /// Industries as in the feed.
    pub industry: Option<AnyOf<Word>>,
    /// Neighbourhoods as in the feed.
    pub neighbourhood: Option<AnyOf<Word>>,
}

#[input(Clone, Copy)]
#[serde(deny_unknown_fields)]
pub struct NumberRange {
    /// The lowest number.
    pub min: Option<u32>,
    /// The highest number.
    pub max: Option<u32>,
}

#[input(Clone)]
#[serde(deny_unknown_fields)]
pub struct DateRange {
    /// The first day or instant: `2026-03-01`, or RFC 3339.
    pub from: Option<Text<10, 40>>,
    /// The last day, which is included, or instant.
    pub to: Option<Text<10, 40>>,
}

#[input(Default, Clone)]
#[serde(deny_unknown_fields)]
pub struct RoleFilters {
    /// The kind of work as in the feed, such as `engineering`; `facets` lists those that there are.
    pub function: Option<AnyOf<Word>>,
    /// The seniority as in the feed, such as `senior`. Many roles do not state one.
    pub seniority: Option<AnyOf<Word>>,
    /// The kind of employment, in the terms of schema.org.
    pub employment_type: Option<AnyOf<Employment>>,
    /// Where the work is done.
    pub workplace: Option<AnyOf<Workplace>>,
    /// The pay: roles whose stated pay reaches into the range.
    pub pay: Option<PayRange>,
}

#[input(Clone)]
#[serde(deny_unknown_fields)]
pub struct PayRange {
    /// ISO 4217, such as `USD`.
    #[schemars(regex(pattern = "^[A-Z]{3}$"))]
    pub currency: String,
    /// The time that is paid for.
    #[serde(default)]
    pub unit: PayUnit,
    /// The lowest pay that is enough.
    #[schemars(range(min = 0))]
    pub min: Option<f64>,
    /// The highest pay.
    #[schemars(range(min = 0))]
    pub max: Option<f64>,
}

#[input(Default, Clone)]
#[serde(deny_unknown_fields)]
pub struct PersonFilters {
    /// The person's role in the organisation.
    pub role_kind: Option<AnyOf<RoleKind>>,
    /// The field of expertise as in the feed; `facets` lists those that there are.
    pub expertise: Option<AnyOf<Word>>,
}

#[input(Default, Clone)]
#[serde(deny_unknown_fields)]
pub struct SignalFilters {
    /// The signal kind.
    pub kind: Option<AnyOf<SignalKind>>,
    /// How well the signal is supported.
    pub maturity: Option<AnyOf<Maturity>>,
}

#[input(Default, Clone)]
#[serde(deny_unknown_fields)]
pub struct EventFilters {
    /// The type of the event.
    #[serde(rename = "type")]
    pub kind: Option<AnyOf<EventType>>,
}

#[input(Clone, Copy)]
#[serde(deny_unknown_fields)]
pub struct Near {
    /// The latitude in degrees.
    #[schemars(range(min = -90, max = 90))]
    pub lat: f64,
    /// The longitude in degrees.
    #[schemars(range(min = -180, max = 180))]
    pub lng: f64,
    /// The radius in kilometres: by default 2, or as far as `travel` reaches.
    #[schemars(range(min = 0.1, max = 200))]
    pub radius_km: Option<f64>,
}

#[input(Clone, Copy)]
#[serde(deny_unknown_fields)]
pub struct Travel {
    /// The means of travel.
    pub mode: Mode,
    /// Only organisations that are reached in so many minutes are found, by an estimate.
    #[schemars(range(min = 1, max = 240))]
    pub max_minutes: Option<u32>,
}

#[choice]
pub enum Mode {
    Walk,
    Bike,
    Transit,
    Car,
}

#[choice]
pub enum Kind {
    Startup,
    Fund,
    Accelerator,
    University,
    Coworking,
    ServiceProvider,
    Community,
    PublicBody,
}

#[choice]
pub enum AskType {
    Hiring,
    Raising,
    Customers,
    Partners,
    Cofounder,
    Space,
    Advice,
}

#[choice]
pub enum Stage {
    PreSeed,
    Seed,
    SeriesA,
    SeriesB,
    SeriesC,
    Growth,
    Public,
}

#[choice]
pub enum HiringFilter {
    /// The organisation hires, at any maturity.
    Any,
    /// The organisation's own job board, or its verified owner, says that it hires.
    Verified,
    /// Somebody says that the organisation hires, and nobody has verified it.
    Lead,
}

#[choice]
pub enum Maturity {
    Unsourced,
    SourceBacked,
    Confirmed,
    Lead,
    Corroborated,
    Verified,
    Stale,
    Disputed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Employment {
    FullTime,
    PartTime,
    Contractor,
    Temporary,
    Intern,
    Other,
}

#[choice]
pub enum Workplace {
    OnSite,
    Hybrid,
    Remote,
    Unspecified,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum PayUnit {
    #[default]
    Year,
    Month,
    Week,
    Day,
    Hour,
    Once,
}

#[choice]
pub enum RoleKind {
    Founder,
    Ceo,
    Cto,
    Partner,
    Operator,
}

#[choice]
pub enum SignalKind {
    Funding,
    Hiring,
}

#[choice]
pub enum EventType {
    News,
    Funding,
    Role,
    Announcement,
    Meetup,
    Launch,
    Acquisition,
    Closure,
}

/// Returns the radius of `near` and of `nearby` in kilometres, if none is given.
pub fn default_radius() -> f64 {
    2.0
}
