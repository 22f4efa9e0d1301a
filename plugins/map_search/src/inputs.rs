//! The inputs of searches.

use crate::records::{RecordType, Sort};
use portolan_sdk::{documents::Rectangle, prelude::*};

// One value, or several of which one must fit. The schema has no description, because it would be repeated for each
// filter; that of `Filters` says it once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
#[schemars(inline)]
pub(crate) enum AnyOf<T> {
    One(T),
    Several(#[schemars(length(min = 1, max = 20))] Vec<T>),
}

impl<T> AnyOf<T> {
    pub(crate) fn values(&self) -> &[T] {
        match self {
            Self::One(value) => std::slice::from_ref(value),
            Self::Several(values) => values,
        }
    }
}

/// A word as in the feed; `facets` lists those that there are.
pub(crate) type Word = Text<1, 80>;

/// The filters of a search. All of them must match; of several values of one filter, one must. Those about
/// organisations also restrict roles, people, signals and events to the ones of such organisations.
#[input(Default, Clone)]
pub(crate) struct Filters {
    /// The words to search for: of names, titles and descriptions.
    pub(crate) q: Option<Text<1, 200>>,
    /// The types of records. By default those of the filters `role`, `person`, `signal` and `event`; without these,
    /// all types if there is a `q`, else organisations. Types that do not have the given `sort` are left out by default.
    #[schemars(length(min = 1, max = 5))]
    pub(crate) types: Option<Vec<RecordType>>,
    /// The kind of organisation.
    pub(crate) kind: Option<AnyOf<Kind>>,
    /// What the organisation asks for.
    pub(crate) ask: Option<AnyOf<AskType>>,
    /// The stage of a company's financing.
    pub(crate) stage: Option<AnyOf<Stage>>,
    /// Whether the organisation hires, and how well that is supported.
    pub(crate) hiring: Option<HiringFilter>,
    /// The maturity of at least one of the organisation's asks.
    pub(crate) maturity: Option<Maturity>,
    /// The industry as in the feed; `facets` lists the industries.
    pub(crate) industry: Option<AnyOf<Word>>,
    /// The neighbourhood as in the feed; `facets` lists the neighbourhoods.
    pub(crate) neighbourhood: Option<AnyOf<Word>>,
    /// Organisations with one of these values are not found.
    pub(crate) none_of: Option<NoneOf>,
    /// The number of the organisation's open roles.
    pub(crate) open_roles: Option<NumberRange>,
    /// When an organisation or a person last changed, a role was posted, a signal occurred, an event was published.
    pub(crate) date: Option<DateRange>,
    /// Filters of open roles.
    pub(crate) role: Option<RoleFilters>,
    /// Filters of people.
    pub(crate) person: Option<PersonFilters>,
    /// Filters of signals.
    pub(crate) signal: Option<SignalFilters>,
    /// Filters of events.
    pub(crate) event: Option<EventFilters>,
    /// A circle around a point: only organisations in it are found.
    pub(crate) near: Option<Near>,
    /// How to travel from the point of `near`. The answer then has estimated minutes.
    pub(crate) travel: Option<Travel>,
    /// A rectangle: only organisations in it are found.
    pub(crate) bbox: Option<Rectangle>,
}

#[input(Default, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct NoneOf {
    /// Kinds of organisations.
    pub(crate) kind: Option<AnyOf<Kind>>,
    /// What organisations ask for.
    pub(crate) ask: Option<AnyOf<AskType>>,
    /// Stages of financing.
    pub(crate) stage: Option<AnyOf<Stage>>,
    /// Industries as in the feed.
    pub(crate) industry: Option<AnyOf<Word>>,
    /// Neighbourhoods as in the feed.
    pub(crate) neighbourhood: Option<AnyOf<Word>>,
}

#[input(Clone, Copy)]
#[serde(deny_unknown_fields)]
pub(crate) struct NumberRange {
    /// The lowest number.
    pub(crate) min: Option<u32>,
    /// The highest number.
    pub(crate) max: Option<u32>,
}

#[input(Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct DateRange {
    /// The first day or instant: `2026-03-01`, or RFC 3339.
    pub(crate) from: Option<Text<10, 40>>,
    /// The last day, which is included, or instant.
    pub(crate) to: Option<Text<10, 40>>,
}

#[input(Default, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct RoleFilters {
    /// The kind of work as in the feed, such as `engineering`; `facets` lists those that there are.
    pub(crate) function: Option<AnyOf<Word>>,
    /// The seniority as in the feed, such as `senior`. Many roles do not state one.
    pub(crate) seniority: Option<AnyOf<Word>>,
    /// The kind of employment, in the terms of schema.org.
    pub(crate) employment_type: Option<AnyOf<Employment>>,
    /// Where the work is done.
    pub(crate) workplace: Option<AnyOf<Workplace>>,
    /// The pay: roles whose stated pay reaches into the range.
    pub(crate) pay: Option<PayRange>,
}

#[input(Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct PayRange {
    /// ISO 4217, such as `USD`.
    #[schemars(regex(pattern = "^[A-Z]{3}$"))]
    pub(crate) currency: String,
    /// The time that is paid for.
    #[serde(default)]
    pub(crate) unit: PayUnit,
    /// The lowest pay that is enough.
    #[schemars(range(min = 0))]
    pub(crate) min: Option<f64>,
    /// The highest pay.
    #[schemars(range(min = 0))]
    pub(crate) max: Option<f64>,
}

#[input(Default, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct PersonFilters {
    /// What the person is in the organisation.
    pub(crate) role_kind: Option<AnyOf<RoleKind>>,
    /// The field of expertise as in the feed; `facets` lists those that there are.
    pub(crate) expertise: Option<AnyOf<Word>>,
}

#[input(Default, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct SignalFilters {
    /// What is reported.
    pub(crate) kind: Option<AnyOf<SignalKind>>,
    /// How well the signal is supported.
    pub(crate) maturity: Option<AnyOf<Maturity>>,
}

#[input(Default, Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct EventFilters {
    /// The type of the event.
    #[serde(rename = "type")]
    pub(crate) kind: Option<AnyOf<EventType>>,
}

#[input(Clone, Copy)]
#[serde(deny_unknown_fields)]
pub(crate) struct Near {
    /// The latitude in degrees.
    #[schemars(range(min = -90, max = 90))]
    pub(crate) lat: f64,
    /// The longitude in degrees.
    #[schemars(range(min = -180, max = 180))]
    pub(crate) lng: f64,
    /// The radius in kilometres: by default 2, or as far as `travel` reaches.
    #[schemars(range(min = 0.1, max = 200))]
    pub(crate) radius_km: Option<f64>,
}

#[input(Clone, Copy)]
#[serde(deny_unknown_fields)]
pub(crate) struct Travel {
    /// The means of travel.
    pub(crate) mode: Mode,
    /// Only organisations that are reached in so many minutes are found, by an estimate.
    #[schemars(range(min = 1, max = 240))]
    pub(crate) max_minutes: Option<u32>,
}

#[choice]
pub(crate) enum Mode {
    Walk,
    Bike,
    Transit,
    Car,
}

#[choice]
pub(crate) enum Kind {
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
pub(crate) enum AskType {
    Hiring,
    Raising,
    Customers,
    Partners,
    Cofounder,
    Space,
    Advice,
}

#[choice]
pub(crate) enum Stage {
    PreSeed,
    Seed,
    SeriesA,
    SeriesB,
    SeriesC,
    Growth,
    Public,
}

#[choice]
pub(crate) enum HiringFilter {
    /// The organisation hires, at any maturity.
    Any,
    /// The organisation's own job board, or its verified owner, says that it hires.
    Verified,
    /// Somebody says that the organisation hires, and nobody has verified it.
    Lead,
}

#[choice]
pub(crate) enum Maturity {
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
pub(crate) enum Employment {
    FullTime,
    PartTime,
    Contractor,
    Temporary,
    Intern,
    Other,
}

#[choice]
pub(crate) enum Workplace {
    OnSite,
    Hybrid,
    Remote,
    Unspecified,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(crate) enum PayUnit {
    #[default]
    Year,
    Month,
    Week,
    Day,
    Hour,
    Once,
}

#[choice]
pub(crate) enum RoleKind {
    Founder,
    Ceo,
    Cto,
    Partner,
    Operator,
}

#[choice]
pub(crate) enum SignalKind {
    Funding,
    Hiring,
}

#[choice]
pub(crate) enum EventType {
    News,
    Funding,
    Role,
    Announcement,
    Meetup,
    Launch,
    Acquisition,
    Closure,
}

#[input(Default)]
pub(crate) struct Search {
    #[serde(flatten)]
    pub(crate) filters: Filters,
    /// The order: by default relevance with `q`. Without it, organisations alone come by distance with `near` and else
    /// by name, and other types come newest first.
    pub(crate) sort: Option<Sort>,
    /// Whether to count the matches: see the action `facets`.
    #[serde(default)]
    pub(crate) facets: bool,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct TargetId {
    /// The organisation: `tgt_` and 26 characters.
    pub(crate) target_id: Text<1, 40>,
}

#[input]
pub(crate) struct Nearby {
    /// The organisation: `tgt_` and 26 characters.
    pub(crate) target_id: Text<1, 40>,
    /// The radius in kilometres.
    #[serde(default = "default_radius")]
    #[schemars(range(min = 0.1, max = 200))]
    pub(crate) radius_km: f64,
    /// The kind of organisation.
    pub(crate) kind: Option<Kind>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

pub(crate) fn default_radius() -> f64 {
    2.0
}

#[input(Default)]
pub(crate) struct Questions {
    /// The role of the person who asks, such as `investor`, `candidate` or `journalist`.
    pub(crate) role: Option<Text<1, 40>>,
}

#[input]
pub(crate) struct AskQuestion {
    /// The question: `qst_` and 26 characters; `questions` lists them.
    pub(crate) question_id: Text<1, 40>,
    /// The organisation, if the question is about one.
    pub(crate) target_id: Option<Text<1, 40>>,
    /// The maximum number of records of each feed.
    #[serde(default = "default_records")]
    #[schemars(range(min = 1, max = 50))]
    pub(crate) limit: u32,
}

fn default_records() -> u32 {
    20
}
