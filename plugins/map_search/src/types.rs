//! What goes in, what comes out, and what is refused.

use portolan_sdk::{
    documents::{Counted, Rectangle},
    feeds::Feed,
    prelude::*,
};
use serde_json::{Map, Value};

pub(crate) const CAPABILITY: &str = "map_search";

/// A record as the feeds have it.
pub(crate) type Record = Map<String, Value>;

pub(crate) const TARGETS: Feed<Target> = Feed::new("targets");
pub(crate) const WHOLE: Feed<Record> = Feed::new("targets");
pub(crate) const QUESTIONS: Feed<Question> = Feed::new("questions");
pub(crate) const HANDOFFS: Feed<Contract> = Feed::new("handoffs");
/// Feeds with records of their own that a question can be about.
pub(crate) const FEEDS: [Feed<Record>; 6] = [
    WHOLE,
    Feed::new("signals"),
    Feed::new("events"),
    Feed::new("roles"),
    Feed::new("people"),
    Feed::new("social"),
];

/// What is used of a target. Its words are those of the feed.
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

/// What an organisation asks for.
#[input(Clone)]
pub(crate) struct Ask {
    /// Such as `hiring`, `raising`, `cofounder` or `space`.
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) text: String,
    /// RFC 3339.
    pub(crate) since: String,
    /// How sure it is. A `lead` is not a fact: say `lead`.
    pub(crate) maturity: String,
}

#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Place {
    pub(crate) lat: f64,
    pub(crate) lng: f64,
    /// How exact the point is, such as `street` or `neighbourhood`.
    pub(crate) precision: String,
    pub(crate) neighbourhood: Option<String>,
}

/// What is used of a question.
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
    /// Which of them, in words.
    pub(crate) filter: String,
    /// The same for programs, as far as it can be said without words.
    #[serde(rename = "where", default)]
    pub(crate) condition: Option<Record>,
}

/// What is used of a contract of the handoff manifest.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Contract {
    pub(crate) title: String,
    pub(crate) intent: String,
}

/// What targets are looked for by. All of it must hold.
#[input(Default)]
pub(crate) struct Filters {
    /// Words in name, tagline or description.
    #[schemars(length(min = 1, max = 200))]
    pub(crate) q: Option<String>,
    /// What kind of organisation.
    pub(crate) kind: Option<Kind>,
    /// What it asks for.
    pub(crate) ask: Option<AskType>,
    /// How far a company's financing has come.
    pub(crate) stage: Option<Stage>,
    /// Whether it hires, and how sure that is.
    pub(crate) hiring: Option<HiringFilter>,
    /// How sure something it asks for is, at the least one thing.
    pub(crate) maturity: Option<Maturity>,
    /// As the feed writes it; `facets` lists them.
    #[schemars(length(min = 1, max = 80))]
    pub(crate) industry: Option<String>,
    /// As the feed writes it; `facets` lists them.
    #[schemars(length(min = 1, max = 80))]
    pub(crate) neighbourhood: Option<String>,
    /// Around a point.
    pub(crate) near: Option<Near>,
    /// In a rectangle.
    pub(crate) bbox: Option<Rectangle>,
}

#[input(Clone, Copy)]
#[serde(deny_unknown_fields)]
pub(crate) struct Near {
    /// Degrees.
    #[schemars(range(min = -90, max = 90))]
    pub(crate) lat: f64,
    /// Degrees.
    #[schemars(range(min = -180, max = 180))]
    pub(crate) lng: f64,
    /// Kilometres.
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
    /// It says or is said to hire, however sure that is.
    Any,
    /// Its own board, or its verified owner, says so.
    Verified,
    /// Somebody says so, and nothing has verified it.
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
    /// With `q`.
    Relevance,
    /// With `near`.
    Distance,
    Name,
    /// What changed last, first.
    Newest,
    /// Most open roles first.
    OpenRoles,
}

#[input(Default)]
pub(crate) struct Search {
    #[serde(flatten)]
    pub(crate) filters: Filters,
    /// By default relevance with `q`, else distance with `near`, else name.
    pub(crate) sort: Option<Sort>,
    /// Whether to count what is found by kind, ask, stage, industry and neighbourhood.
    #[serde(default)]
    pub(crate) facets: bool,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct TargetId {
    /// `tgt_` and 26 characters.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) target_id: String,
}

#[input]
pub(crate) struct Nearby {
    /// `tgt_` and 26 characters.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) target_id: String,
    /// Kilometres.
    #[serde(default = "default_radius")]
    #[schemars(range(min = 0.1, max = 200))]
    pub(crate) radius_km: f64,
    /// What kind of organisation.
    pub(crate) kind: Option<Kind>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input(Default)]
pub(crate) struct Questions {
    /// Whose questions, such as `investor`, `candidate` or `journalist`.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) role: Option<String>,
}

#[input]
pub(crate) struct AskQuestion {
    /// `qst_` and 26 characters; `questions` lists them.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) question_id: String,
    /// The organisation it is about, where the question speaks of one.
    #[schemars(length(min = 1, max = 40))]
    pub(crate) target_id: Option<String>,
    /// Of each feed, at most so many records.
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
    /// Where the next page begins; null on the last one.
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
    /// `active`, `acquired` or `inactive`.
    pub(crate) status: String,
    pub(crate) industries: Vec<String>,
    pub(crate) ask: Vec<Ask>,
    pub(crate) geo: Place,
    pub(crate) open_roles_count: u32,
    pub(crate) verified_owner: bool,
    /// What can be done about it: `handoff_resolve` takes these.
    pub(crate) handoff_ids: Vec<String>,
    /// RFC 3339.
    pub(crate) updated_at: String,
    /// Where a person sees it on the map.
    pub(crate) url: String,
    /// From the middle of `near`.
    pub(crate) distance_m: Option<f64>,
    pub(crate) trust: &'static str,
}

/// Of all that is found, not only of this page.
#[output]
pub(crate) struct Facets {
    pub(crate) kind: Vec<Counted>,
    pub(crate) ask: Vec<Counted>,
    pub(crate) stage: Vec<Counted>,
    pub(crate) industry: Vec<Counted>,
    pub(crate) neighbourhood: Vec<Counted>,
}

/// Everything about a target. Records are as the feeds have them; their schemas are those that the
/// feeds name.
#[output]
pub(crate) struct Whole {
    pub(crate) target: Record,
    /// Open roles, the newest first, without their HTML.
    pub(crate) roles: Vec<Record>,
    /// With `maturity` and `label`. A lead is not a fact.
    pub(crate) signals: Vec<Record>,
    pub(crate) people: Vec<Record>,
    pub(crate) events: Vec<Record>,
    pub(crate) social: Vec<Record>,
    /// Which of the lists are longer than what is shown.
    pub(crate) cut: Vec<String>,
    /// What can be done about it.
    pub(crate) handoffs: Vec<HandoffView>,
    /// Where a person sees it on the map.
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

/// What an answer is made of.
#[output]
pub(crate) struct Material {
    pub(crate) question: QuestionView,
    pub(crate) steps: Vec<String>,
    /// What must be cited, what must never be said, and what to do when unsure.
    pub(crate) answer_policy: Value,
    /// JSON Schema of the answer.
    pub(crate) output_schema: Value,
    pub(crate) records: Vec<Records>,
    /// The organisations that the records speak of, by id.
    pub(crate) targets: Vec<Named>,
    pub(crate) handoffs: Vec<HandoffView>,
    pub(crate) trust: &'static str,
}

#[output]
pub(crate) struct Records {
    pub(crate) feed: String,
    /// Which records these are, in words. What it says beyond them, such as what the person does, is
    /// for the agent to choose by.
    pub(crate) filter: String,
    pub(crate) items: Vec<Record>,
    /// Whether there are more.
    pub(crate) more: bool,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Named {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) neighbourhood: Option<String>,
}

#[derive(Refusals)]
pub(crate) enum MapError {
    /// The feed has no such target, or not any more.
    #[refusal(not_found, next = Next::action(CAPABILITY, "search"))]
    TargetNotFound,
    /// The feed has no such question.
    #[refusal(not_found, next = Next::action(CAPABILITY, "questions"))]
    QuestionNotFound,
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) type Result<T, E = MapError> = std::result::Result<T, E>;
