//! Inputs, limits, refusals and events.

use crate::states::*;
use people_kit::listings::{Compensation, Place};
use people_kit::taxonomy::{Criteria, Side, TaxonomyError};
use portolan_sdk::prelude::*;
use serde_json::{Map, Value};

pub(crate) const CAPABILITY: &str = "matching_sessions";

/// The session's id: `mse_` and a ULID.
#[id]
pub(crate) struct Id(String);

/// The id of a listing, a candidate or a round.
#[id]
pub(crate) struct OtherId(String);

/// The maximum number of open sessions of one listing.
pub(crate) const MOST_SESSIONS: usize = 3;
/// The maximum number of candidates of one session, including those decided on.
pub(crate) const MOST_CANDIDATES: u64 = 500;
/// The number of arrived listings at which a session stops collecting them and searches all new
/// ones itself.
pub(crate) const MOST_ARRIVED: usize = 2;
/// The time in which a listing that was passed on is not shown again.
pub(crate) const PASSED_FOR: u64 = 90 * DAY;
/// The number of batches of one day from which a listing without a decision is shown after others.
pub(crate) const EXPOSURE_CAP: u64 = 50;
/// The time after a round in which both have to confirm.
pub(crate) const CONFIRM_FOR: u64 = 2 * DAY;
/// The time within which the news of one session are sent together.
pub(crate) const NEWS_INTERVAL: u64 = 10 * MINUTE;
/// The interval at which a session with undecided candidates checks whether they still exist.
pub(crate) const CHECK_INTERVAL: u64 = DAY;
/// The maximum number of participants of one round.
pub(crate) const MOST_IN_ROUND: usize = 100;

/// An event of a session.
pub(crate) type SessionEvent = Event<Data<Facts>>;

pub(crate) const UPDATED: SessionEvent = Event::new("match.updated");
pub(crate) const MUTUAL: SessionEvent = Event::new("match.mutual");
pub(crate) const ROUND_COMPLETED: SessionEvent = Event::new("match.round_completed");
pub(crate) const SESSION_CLOSED: SessionEvent = Event::new("match.session_closed");

/// The facts of the events of a session; each event has some of them.
#[output(Default)]
pub(crate) struct Facts {
    pub(crate) session_id: String,
    /// The number of new candidates since the last event of the session.
    pub(crate) new_count: Option<u32>,
    /// The highest score of the new candidates.
    pub(crate) top_score: Option<f64>,
    /// The number of candidates who cannot be reached any more.
    pub(crate) removed_count: Option<u32>,
    pub(crate) candidate_id: Option<String>,
    pub(crate) pairing_id: Option<String>,
    pub(crate) thread_id: Option<String>,
    pub(crate) round_id: Option<String>,
    /// Whether the round has found a partner.
    pub(crate) paired: Option<bool>,
    pub(crate) reason: Option<Reason>,
}

/// Why a session has ended.
#[choice]
pub(crate) enum Reason {
    /// The person closed it.
    Closed,
    /// Its listing is no longer active.
    ListingInactive,
    /// The session has expired.
    Expired,
    /// The round has ended.
    Round,
}

#[choice(Default)]
pub(crate) enum Mode {
    /// Candidates come in batches, and new ones as they are published.
    #[default]
    Stream,
    /// All take part at once, and each gets at most one partner, or up to `capacity`.
    Round,
}

/// A draft of a listing.
#[input(Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct Draft {
    /// The category: a code of `listing_taxonomy`.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) category: String,
    pub(crate) side: Side,
    #[serde(default)]
    #[schemars(length(max = 120))]
    pub(crate) title: String,
    #[serde(default)]
    #[schemars(length(max = 8000))]
    pub(crate) description: String,
    /// The attributes, valid for the schema that `listing_taxonomy` `fields` returns for this
    /// category and side.
    pub(crate) attributes: Map<String, Value>,
    #[serde(default)]
    pub(crate) criteria: Criteria,
    pub(crate) place: Option<Place>,
    #[serde(default)]
    pub(crate) remote: bool,
    pub(crate) compensation: Option<Compensation>,
}

#[input]
pub(crate) struct Preview {
    /// A draft of a listing to try. It is not stored.
    pub(crate) listing_draft: Option<Draft>,
    /// An existing listing: your own, or a public one.
    pub(crate) listing_id: Option<OtherId>,
    /// The maximum number of candidates to return.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 10))]
    pub(crate) limit: u32,
}

fn ten() -> u32 {
    10
}

pub(crate) fn one() -> u32 {
    1
}

fn two_weeks() -> u32 {
    14 * 24
}

#[input]
pub(crate) struct Create {
    /// An active listing of the person.
    pub(crate) listing_id: OtherId,
    /// The mode: `stream` by default; `round` takes part in a round.
    #[serde(default)]
    pub(crate) mode: Mode,
    /// The round to take part in, with `mode` `round`; `rounds` lists them.
    pub(crate) round_id: Option<OtherId>,
    /// Criteria that replace those of the listing.
    pub(crate) criteria_override: Option<Criteria>,
    /// The number of candidates in a batch.
    #[serde(default = "ten")]
    #[schemars(range(min = 1, max = 20))]
    pub(crate) batch_size: u32,
    /// The hours after which the session expires; two weeks by default.
    #[serde(default = "two_weeks")]
    #[schemars(range(min = 1, max = 1440))]
    pub(crate) ttl_hours: u32,
    /// The number of partners in a round: one, or more for an offer if the category has two sides.
    #[serde(default = "one")]
    #[schemars(range(min = 1, max = 20))]
    pub(crate) capacity: u32,
}

#[input]
pub(crate) struct SessionId {
    pub(crate) session_id: Id,
}

#[input]
pub(crate) struct Step {
    pub(crate) session_id: Id,
    pub(crate) expected_version: Option<Version>,
}

#[input(Default)]
pub(crate) struct List {
    /// The states of the sessions to return. Omit this field to get sessions in all states.
    #[schemars(length(min = 1, max = 10))]
    pub(crate) state: Option<Vec<State>>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct Candidates {
    pub(crate) session_id: Id,
    /// The states of the candidates to return. Omit this field to get all candidates that were in a
    /// batch. It has no effect on a session of a round.
    #[schemars(length(min = 1, max = 6))]
    pub(crate) state: Option<Vec<Candidacy>>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[choice]
pub(crate) enum Decision {
    /// The person is interested. The other side is not told, unless it is interested too.
    Interested,
    Pass,
    /// The person wants to decide later.
    Later,
}

#[input]
pub(crate) struct Decide {
    pub(crate) session_id: Id,
    /// The candidate: `cand_` and a ULID, as `candidates` lists it.
    pub(crate) candidate_id: OtherId,
    /// The person's decision on the candidate.
    pub(crate) decision: Decision,
    /// A code for the reason of the decision, such as `too_far`. It is stored and not shown to the
    /// other side.
    #[schemars(regex(pattern = "^[a-z_]{1,40}$"))]
    pub(crate) reason_code: Option<String>,
}

#[input]
pub(crate) struct Rank {
    pub(crate) session_id: Id,
    /// The candidates, the most preferred first. Others come after them, by score.
    #[schemars(length(max = 100), extend("uniqueItems" = true))]
    pub(crate) ordered_candidate_ids: Vec<OtherId>,
    /// Whether to have no partner rather than one who is not on the list.
    #[serde(default)]
    pub(crate) only_these: bool,
}

#[input]
pub(crate) struct Confirm {
    pub(crate) session_id: Id,
    /// The partner whom the answer is about; required if several partners wait for an answer.
    pub(crate) candidate_id: Option<OtherId>,
    /// Whether the person accepts the partner that the round has found.
    pub(crate) accept: bool,
}

#[input]
pub(crate) struct Refine {
    pub(crate) session_id: Id,
    pub(crate) patch: Patch,
    pub(crate) expected_version: Option<Version>,
}

/// The fields to change. Omitted ones stay as they are.
#[input(Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct Patch {
    /// Criteria that replace those of the listing.
    pub(crate) criteria: Option<Criteria>,
    #[schemars(range(min = 1, max = 20))]
    pub(crate) batch_size: Option<u32>,
}

#[input(Default)]
pub(crate) struct Rounds {
    /// A category of `listing_taxonomy`: only rounds for it, or for one above or below it, are
    /// returned.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) category: Option<String>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct OpenRound {
    /// A code of `listing_taxonomy`. Listings of this category, of those below it, and of its
    /// counterpart can take part.
    #[schemars(length(min = 1, max = 64))]
    pub(crate) category: String,
    /// The title, which agents read.
    #[schemars(length(min = 1, max = 120))]
    pub(crate) title: String,
    /// When it runs (RFC 3339).
    #[schemars(length(min = 1, max = 40))]
    pub(crate) deadline: String,
}

#[input]
pub(crate) struct RoundId {
    /// The round: `rnd_` and a ULID.
    pub(crate) round_id: OtherId,
}

pub(crate) type Result<T, E = MatchingError> = std::result::Result<T, E>;

#[derive(Debug, Refusals)]
pub(crate) enum MatchingError {
    /// You have no such session.
    #[refusal(not_found, next = Next::action(CAPABILITY, "list"))]
    SessionNotFound,
    /// There is no such candidate in this session.
    #[refusal(not_found, next = read("candidates", &session_id))]
    CandidateNotFound { session_id: String },
    /// There is no such round, or its deadline has passed, or it is not for listings like this one.
    #[refusal(conflict, next = Next::action(CAPABILITY, "rounds"))]
    RoundClosed,
    /// The round has not run yet.
    #[refusal(conflict, retryable, next = read("get", &session_id).after_s(60))]
    RoundNotRun { session_id: String },
    /// There is no such listing, or it is not visible to you.
    #[refusal(not_found, next = Next::action("agent_listings", "list_mine"))]
    ListingNotFound,
    /// Only an active listing can be matched.
    #[refusal(conflict, next = Next::action("agent_listings", "get").field("listing_id", listing_id))]
    ListingNotActive { listing_id: String },
    /// This category has a minimum age, and the person's record does not show that they have
    /// reached it.
    #[refusal(
        forbidden,
        retryable,
        conflict_detail = json!({ "kind": "policy", "policy": "min_age", "min_age": min_age }),
        next = if has_owner { Next::action("owners", "me") } else { Next::claim().then_retry() }
    )]
    AgeRestricted { min_age: u8, has_owner: bool },
    /// The listing has as many open sessions as allowed: close one first.
    #[refusal(
        conflict,
        conflict_detail = Limit::reached("open_sessions_of_a_listing", MOST_SESSIONS as u64),
        next = Next::action(CAPABILITY, "list")
    )]
    SessionLimitReached,
    /// This candidate cannot be reached any more.
    #[refusal(conflict, next = read("candidates", &session_id))]
    RecipientNotAccepting { session_id: String },
    #[refusal(transparent)]
    Taxonomy(TaxonomyError),
    #[refusal(transparent)]
    Common(Refusal),
}

/// Returns a call that reads a session, or a part of it.
pub(crate) fn read(action: &str, session_id: &str) -> Next {
    Next::action(CAPABILITY, action).field("session_id", session_id)
}
