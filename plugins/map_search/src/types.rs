//! Outputs and refusals.

use crate::records::Record;
use portolan_sdk::{documents::Counted, prelude::*};
use record_search::{Ask, Estimate, Pay, Place, RecordType, SearchError, Source};

pub(crate) const CAPABILITY: &str = "map_search";

#[output]
pub(crate) struct Found {
    /// The records, each once, over all pages.
    pub(crate) items: Vec<Item>,
    /// The cursor of the next page; null on the last one.
    #[nullable]
    pub(crate) next_cursor: Option<String>,
    pub(crate) facets: Option<Facets>,
    /// The estimate of this answer's minutes, if there is a `travel`.
    pub(crate) travel: Option<Estimate>,
}

/// A record that was found. Organisations have the fields of the map at the top; records of other types have their own
/// in the field with the name of the type.
#[output]
pub(crate) struct Item {
    #[serde(rename = "type")]
    pub(crate) record_type: RecordType,
    pub(crate) id: String,
    /// The name, or the title or headline.
    pub(crate) name: String,
    /// The organisation of a role, a person or a signal.
    pub(crate) organisation: Option<TargetName>,
    #[serde(flatten)]
    pub(crate) card: Option<Card>,
    /// Of a role.
    pub(crate) role: Option<RoleDetails>,
    /// Of a person.
    pub(crate) person: Option<PersonDetails>,
    /// Of a signal. A lead is not a fact.
    pub(crate) signal: Option<SignalDetails>,
    /// Of an event.
    pub(crate) event: Option<EventDetails>,
    /// The ids of its handoffs, for `handoff_resolve`.
    pub(crate) handoff_ids: Vec<String>,
    /// When it last changed (RFC 3339).
    pub(crate) updated_at: String,
    /// The address of the organisation's page on the map.
    pub(crate) url: String,
    /// The distance in metres of the organisation from the point of `near`.
    pub(crate) distance_m: Option<f64>,
    /// The minutes from there with `travel`, estimated from the straight distance.
    pub(crate) estimated_minutes: Option<u32>,
    pub(crate) trust: &'static str,
}

#[output]
pub(crate) struct Card {
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
}

#[output]
pub(crate) struct RoleDetails {
    pub(crate) department: Option<String>,
    /// The kind of work, derived from the title.
    pub(crate) function: String,
    pub(crate) seniority: Option<String>,
    pub(crate) employment_type: String,
    /// Where the work is done: `on_site`, `hybrid`, `remote` or `unspecified`.
    pub(crate) workplace: String,
    pub(crate) locations: Vec<String>,
    pub(crate) pay: Option<Pay>,
    /// When it was posted (RFC 3339), if the board says so.
    pub(crate) date_posted: Option<String>,
    pub(crate) apply_url: String,
    /// `verified` while it is on the company's board, else `stale`.
    pub(crate) maturity: String,
}

#[output]
pub(crate) struct PersonDetails {
    pub(crate) title: String,
    pub(crate) role_kind: String,
    pub(crate) public_bio: String,
    pub(crate) expertise: Vec<String>,
    /// Why this person may be listed.
    pub(crate) public_figure_basis: String,
    /// The page on which a person can ask not to be listed.
    pub(crate) opt_out_url: String,
}

#[output]
pub(crate) struct SignalDetails {
    pub(crate) kind: String,
    pub(crate) summary: String,
    pub(crate) occurred_at: String,
    pub(crate) maturity: String,
    /// The maturity in words for people.
    pub(crate) label: String,
    pub(crate) sources: Vec<Source>,
}

#[output]
pub(crate) struct EventDetails {
    #[serde(rename = "type")]
    pub(crate) kind: String,
    pub(crate) summary: String,
    /// The organisations that it is about.
    pub(crate) organisations: Vec<TargetName>,
    pub(crate) date_published: String,
    pub(crate) maturity: String,
    pub(crate) sources: Vec<Source>,
}

/// The counts over all matches that have all words of `q`, not only those on this page. Lists of types that are not
/// searched are empty or missing.
#[output(Default)]
pub(crate) struct Facets {
    pub(crate) types: Vec<Counted>,
    pub(crate) kind: Vec<Counted>,
    pub(crate) ask: Vec<Counted>,
    pub(crate) stage: Vec<Counted>,
    pub(crate) industry: Vec<Counted>,
    pub(crate) neighbourhood: Vec<Counted>,
    pub(crate) role: Option<RoleFacets>,
    pub(crate) person: Option<PersonFacets>,
    pub(crate) signal: Option<SignalFacets>,
    pub(crate) event: Option<EventFacets>,
}

#[output]
pub(crate) struct RoleFacets {
    pub(crate) function: Vec<Counted>,
    pub(crate) seniority: Vec<Counted>,
    pub(crate) employment_type: Vec<Counted>,
    pub(crate) workplace: Vec<Counted>,
}

#[output]
pub(crate) struct PersonFacets {
    pub(crate) role_kind: Vec<Counted>,
    pub(crate) expertise: Vec<Counted>,
}

#[output]
pub(crate) struct SignalFacets {
    pub(crate) kind: Vec<Counted>,
    pub(crate) maturity: Vec<Counted>,
}

#[output]
pub(crate) struct EventFacets {
    #[serde(rename = "type")]
    pub(crate) kind: Vec<Counted>,
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
    /// The names of the lists that are not returned in full.
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
    /// Rules on what to cite, what never to say, and what to do when unsure.
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

/// An organisation by name.
#[output(Clone)]
pub(crate) struct TargetName {
    pub(crate) id: String,
    pub(crate) name: String,
    #[nullable]
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
    Search(SearchError),
    #[refusal(transparent)]
    Common(Refusal),
}

pub(crate) type Result<T, E = MapError> = std::result::Result<T, E>;
