//! Inputs, outputs and refusals.

use portolan_sdk::documents::{Counted, Rectangle};
use portolan_sdk::{feeds::Feed, prelude::*};
use serde_json::Map;

pub(crate) const CAPABILITY: &str = "map_search";

/// A record of the feeds.
pub(crate) type Record = Map<String, Value>;

pub(crate) const TARGETS: Feed<Target> = Feed::new("targets");
pub(crate) const TARGET_RECORDS: Feed<Record> = Feed::new("targets");
pub(crate) const QUESTIONS: Feed<Question> = Feed::new("questions");
/// The feeds with records that a question can be about.
pub(crate) const FEEDS: [Feed<Record>; 6] = [
    TARGET_RECORDS,
    Feed::new("signals"),
    Feed::new("events"),
    Feed::new("roles"),
    Feed::new("people"),
    Feed::new("social"),
];

/// The part of a target that is read. The names are those of the feed.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Target {
    pub(crate) properties: Properties,
}

#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Properties {
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) ask: Vec<Ask>,
    pub(crate) tagline: String,
    pub(crate) industries: Vec<String>,
    pub(crate) stage: Option<String>,
    pub(crate) status: String,
    pub(crate) geo: Place,
    pub(crate) open_roles_count: u32,
    pub(crate) verified_owner: bool,
    pub(crate) handoff_ids: Vec<String>,
    pub(crate) updated_at: String,
}

/// Something that an organisation asks for.
#[input(Clone)]
pub(crate) struct Ask {
    /// The type, such as `hiring`, `raising`, `cofounder` or `space`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) text: String,
    /// Since when (RFC 3339).
    pub(crate) since: String,
    /// How well it is supported. A `lead` is not a fact: say `lead`.
    pub(crate) maturity: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Place {
    pub(crate) lat: f64,
    pub(crate) lng: f64,
    /// The precision of the point, such as `street` or `neighbourhood`.
    pub(crate) precision: String,
    pub(crate) neighbourhood: Option<String>,
}

/// The part of a question that is read.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Question {
    pub(crate) role: String,
    pub(crate) question: String,
    pub(crate) why_it_matters: String,
    pub(crate) uses: Vec<Use>,
    pub(crate) steps: Vec<String>,
    pub(crate) output_schema: Value,
    pub(crate) answer_policy: Value,
    pub(crate) handoff_ids: Vec<String>,
}

#[input(Clone)]
pub(crate) struct Use {
    pub(crate) feed: String,
    /// JSON Pointer to the records in the feed's document.
    pub(crate) pointer: String,
    /// Which records, in words.
    pub(crate) filter: String,
    /// The same as a condition for programs, as far as one can express it.
    #[serde(rename = "where", default)]
    pub(crate) condition: Option<Record>,
}

/// The filters of a search. All of them must match.
#[input(Default)]
pub(crate) struct Filters {
    /// Words of the name, the tagline or the description.
    pub(crate) q: Option<Text<1, 200>>,
    /// The kind of organisation.
    pub(crate) kind: Option<Kind>,
    /// What the organisation asks for.
    pub(crate) ask: Option<AskType>,
    /// The stage of a company's financing.
    pub(crate) stage: Option<Stage>,
    /// Whether it hires, and how well that is supported.
    pub(crate) hiring: Option<HiringFilter>,
    /// The maturity of at least one of its asks.
    pub(crate) maturity: Option<Maturity>,
    /// The industry as in the feed; `facets` lists the industries.
    pub(crate) industry: Option<Text<1, 80>>,
    /// The neighbourhood as in the feed; `facets` lists the neighbourhoods.
    pub(crate) neighbourhood: Option<Text<1, 80>>,
    /// A circle around a point: only organisations in it are found.
    pub(crate) near: Option<Near>,
    /// A rectangle: only organisations in it are found.
    pub(crate) bbox: Option<Rectangle>,
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
    /// The radius in kilometres.
    #[serde(default = "default_radius")]
    #[schemars(range(min = 0.1, max = 200))]
    pub(crate) radius_km: f64,
}

fn default_radius() -> f64 {
    2.0
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

#[choice]
pub(crate) enum Sort {
    /// The best match for `q` first.
    Relevance,
    /// The nearest first; needs `near`.
    Distance,
    Name,
    /// The last changed first.
    Newest,
    /// The most open roles first.
    OpenRoles,
}

#[input(Default)]
pub(crate) struct Search {
    #[serde(flatten)]
    pub(crate) filters: Filters,
    /// The order: by default relevance with `q`, else distance with `near`, else name.
    pub(crate) sort: Option<Sort>,
    /// Whether to count the matches by kind, ask, stage, industry and neighbourhood.
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

pub(crate) fn default_records() -> u32 {
    20
}

#[output]
pub(crate) struct Found {
    pub(crate) items: Vec<Card>,
    /// The cursor of the next page; null on the last one.
    #[nullable]
    pub(crate) next_cursor: Option<String>,
    pub(crate) facets: Option<Facets>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Card {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) kind: String,
    pub(crate) tagline: String,
    pub(crate) stage: Option<String>,
    /// The status: `active`, `acquired` or `inactive`.
    pub(crate) status: String,
    pub(crate) industries: Vec<String>,
    pub(crate) ask: Vec<Ask>,
    pub(crate) geo: Place,
    pub(crate) open_roles_count: u32,
    pub(crate) verified_owner: bool,
    /// The ids of its handoffs, for `handoff_resolve`.
    pub(crate) handoff_ids: Vec<String>,
    /// When it last changed (RFC 3339).
    pub(crate) updated_at: String,
    /// The address of its page on the map.
    pub(crate) url: String,
    /// The distance in metres from the point of `near`.
    pub(crate) distance_m: Option<f64>,
    pub(crate) trust: &'static str,
}

/// The counts over all matches, not only those on this page.
#[output]
pub(crate) struct Facets {
    pub(crate) kind: Vec<Counted>,
    pub(crate) ask: Vec<Counted>,
    pub(crate) stage: Vec<Counted>,
    pub(crate) industry: Vec<Counted>,
    pub(crate) neighbourhood: Vec<Counted>,
}

/// Everything about a target. Records are as in the feeds; the feeds name their schemas.
#[output]
pub(crate) struct TargetView {
    pub(crate) target: Record,
    /// The open roles, newest first, without fields that repeat others, such as `description_html`.
    pub(crate) roles: Vec<Record>,
    /// The signals, with `maturity` and `label`. A lead is not a fact.
    pub(crate) signals: Vec<Record>,
    pub(crate) people: Vec<Record>,
    pub(crate) events: Vec<Record>,
    pub(crate) social: Vec<Record>,
    /// The names of the lists that are longer than what is returned.
    pub(crate) cut: Vec<String>,
    /// Its handoffs.
    pub(crate) handoffs: Vec<HandoffView>,
    /// The address of its page on the map.
    pub(crate) url: String,
    pub(crate) trust: &'static str,
}

#[output]
pub(crate) struct HandoffView {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) intent: String,
}

#[output]
pub(crate) struct QuestionList {
    pub(crate) items: Vec<QuestionView>,
}

#[output]
pub(crate) struct QuestionView {
    pub(crate) id: String,
    pub(crate) role: String,
    pub(crate) question: String,
    pub(crate) why_it_matters: String,
    /// Whether `ask` needs a `target_id`.
    pub(crate) about_a_target: bool,
}

/// The material for an answer.
#[output]
pub(crate) struct Material {
    pub(crate) question: QuestionView,
    pub(crate) steps: Vec<String>,
    /// What must be cited, what must never be said, and what to do when unsure.
    pub(crate) answer_policy: Value,
    /// JSON Schema of the answer.
    pub(crate) output_schema: Value,
    pub(crate) records: Vec<Records>,
    /// The organisations that the records mention, by id.
    pub(crate) targets: Vec<TargetName>,
    pub(crate) handoffs: Vec<HandoffView>,
    pub(crate) trust: &'static str,
}

#[output]
pub(crate) struct Records {
    pub(crate) feed: String,
    /// Which records these are, in words. Anything beyond their data, such as a person's
    /// profession, has to be checked by the agent.
    pub(crate) filter: String,
    pub(crate) items: Vec<Record>,
    /// Whether more records match.
    pub(crate) more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TargetName {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) neighbourhood: Option<String>,
}

#[derive(Refusals)]
pub(crate) enum MapError {
    /// The feed has no such target, or no longer has it.
    #[refusal(not_found, next = Next::action(CAPABILITY, "search"))]
    TargetNotFound,
    /// The feed has no such question.
    #[refusal(not_found, next = Next::action(CAPABILITY, "questions"))]
    QuestionNotFound,
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) type Result<T, E = MapError> = std::result::Result<T, E>;
