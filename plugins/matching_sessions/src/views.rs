//! Outputs.

use crate::wishes::{self, ToCheck};
use crate::{documents::*, score::*, states::*, types::*};
use people_kit::listings::{Card, Profile, Visibility};
use people_kit::taxonomy::Criteria;
use portolan_sdk::prelude::*;
use serde_json::{Map, Value};

#[output]
pub(crate) struct SessionView {
    pub(crate) session_id: String,
    listing_id: String,
    mode: Mode,
    state: State,
    /// The version, which increases with every change.
    version: u64,
    allowed_actions: Vec<&'static str>,
    batch_size: u32,
    /// The criteria that replace those of the listing; null if there are none.
    #[nullable]
    criteria_override: Option<Criteria>,
    /// The number of candidates in each state, only of those that were in a batch.
    progress: Progress,
    round_id: Option<String>,
    /// The number of partners that it accepts in a round.
    capacity: u32,
    /// Why it has ended.
    reason: Option<Reason>,
    /// When it was created (RFC 3339).
    created_at: String,
    /// When it expires (RFC 3339).
    expires_at: String,
}

#[output]
struct Progress {
    new: u64,
    interested: u64,
    passed: u64,
    later: u64,
    mutual: u64,
    unavailable: u64,
}

impl SessionView {
    pub(crate) fn of(session: &Stored<Session>) -> Result<Self> {
        let query = Query::new().filter(field("session_id").eq(&session.id));
        let [counts] = CANDIDATES.count_by(["state"], query)?;
        let count = |state: Candidacy| {
            let counted = counts.iter().find(|counted| counted.value == state.name());
            counted.map_or(0, |counted| counted.count)
        };
        let progress = Progress {
            new: count(Candidacy::New),
            interested: count(Candidacy::Interested),
            passed: count(Candidacy::Passed),
            later: count(Candidacy::Later),
            mutual: count(Candidacy::Mutual),
            unavailable: count(Candidacy::Unavailable),
        };
        let value = &session.value;
        Ok(view!(value => Self {
            listing_id, mode, state, batch_size, round_id, capacity, reason;
            session_id: session.id.clone(),
            version: session.revision,
            allowed_actions: SESSION.allowed(value.state),
            criteria_override: value.criteria.clone(),
            progress,
            created_at: rfc3339(session.created_at),
            expires_at: rfc3339(value.expires_at),
        }))
    }
}

/// A listing, as its possible partners see it.
#[output(Clone)]
pub(crate) struct Shown {
    #[serde(flatten)]
    card: Card,
    attributes: Map<String, Value>,
    /// The owner's id. It is omitted if the listing is shown only to its possible partners.
    owner_id: Option<String>,
    /// When it was published (RFC 3339).
    published_at: String,
}

impl From<Profile> for Shown {
    fn from(profile: Profile) -> Self {
        let is_public = profile.visibility == Visibility::Public;
        Self {
            card: Card::from(&profile),
            attributes: profile.attributes,
            owner_id: Some(profile.owner_id).filter(|_| is_public),
            published_at: rfc3339(profile.published_at),
        }
    }
}

/// The scores of the two listings; each is between 0 and 1.
#[output(Clone)]
pub(crate) struct Scores {
    /// The harmonic mean of `score_mine` and `score_theirs`, which is the same for both sides.
    score: f64,
    /// How far the other listing meets what you ask for: the weighted mean of your lines in `fits`
    /// and `gaps`.
    score_mine: f64,
    /// How far your listing meets what the other side asks for.
    score_theirs: f64,
    /// The names of met lines.
    reasons: Vec<Point>,
    /// Lines met, of both sides.
    fits: Vec<Compared>,
    /// Lines not met, or not fully.
    gaps: Vec<Compared>,
    /// Lines of one side on which the other is silent: each is worth a question, and does not
    /// count.
    unknown: Vec<Compared>,
}

/// The values of the other listing that lines may show.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Values {
    All,
    /// Only values that are not free text.
    Listed,
    None,
}

impl Scores {
    pub(crate) fn of(fit: &Fit, values: Values) -> Self {
        let mut reasons: Vec<Point> = Vec::new();
        for reason in &fit.fits {
            if !reasons.contains(&reason.point) {
                reasons.push(reason.point.clone());
            }
        }
        let shown = |list: &[Compared]| list.iter().map(|reason| shown(reason, values)).collect();
        Self {
            score: rounded(fit.score),
            score_mine: rounded(fit.mine),
            score_theirs: rounded(fit.theirs),
            reasons,
            fits: shown(&fit.fits),
            gaps: shown(&fit.gaps),
            unknown: shown(&fit.unknown),
        }
    }
}

/// Returns a line with those values of the other listing that may be shown.
fn shown(reason: &Compared, values: Values) -> Compared {
    let mut reason = reason.clone();
    reason.share = reason.share.map(rounded);
    let theirs = match reason.point.asked_by {
        Side::Mine => &mut reason.found,
        Side::Theirs => &mut reason.asked,
    };
    let is_shown = match values {
        Values::All => true,
        Values::Listed => is_listed(theirs),
        Values::None => false,
    };
    if !is_shown {
        *theirs = Value::Null;
    }
    reason
}

/// Whether a value is a number, a date, a code or an amount, and not free text.
fn is_listed(value: &Value) -> bool {
    let is_code = |text: &str| {
        text.len() <= 24
            && (text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_')
                && text.contains('_')
                || text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-')
                || text.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_'))
    };
    match value {
        Value::String(text) => is_code(text),
        Value::Array(values) => values.iter().all(is_listed),
        Value::Object(members) => members.values().all(is_listed),
        _ => true,
    }
}

fn rounded(share: f64) -> f64 {
    (share * 1000.0).round() / 1000.0
}

#[output(Clone)]
pub(crate) struct CandidateView {
    candidate_id: String,
    session_id: String,
    state: Candidacy,
    /// The version, which increases with every change.
    version: u64,
    allowed_actions: Vec<&'static str>,
    /// The listing; null if it may no longer be shown.
    #[nullable]
    listing_card: Option<Shown>,
    #[serde(flatten)]
    scores: Scores,
    /// Sentences of both listings that ask for or exclude something and that no rule has compared, at
    /// most three of each listing, those that ask most clearly first. Compare them yourself: pass on
    /// the candidate, or ask. They do not count in the scores, which follow from the lines alone.
    to_check: Vec<ToCheck>,
    /// Whether both are interested.
    mutual: bool,
    pub(crate) pairing_id: Option<String>,
    pub(crate) thread_id: Option<String>,
}

impl CandidateView {
    /// Returns the id of a candidate on whom the person can decide and has not yet.
    pub(crate) fn undecided(&self) -> Option<&str> {
        let can_decide = self.allowed_actions.contains(&"decide");
        (self.state == Candidacy::New && can_decide).then_some(self.candidate_id.as_str())
    }

    /// Makes the view. `shown` is the listing, if it may still be shown.
    pub(crate) fn of(
        candidate: &Stored<Candidate>,
        open: bool,
        shown: Option<Profile>,
        mine: Option<&Profile>,
    ) -> Self {
        let value = &candidate.value;
        let decided = value.state == Candidacy::Mutual;
        let state = if shown.is_some() || decided { value.state } else { Candidacy::Unavailable };
        let allowed = if open { CANDIDATE.allowed(state) } else { Vec::new() };
        let values = if shown.is_some() { Values::All } else { Values::None };
        Self {
            candidate_id: candidate.id.clone(),
            session_id: value.session_id.clone(),
            state,
            version: candidate.revision,
            allowed_actions: allowed.into_iter().filter(|action| *action == "decide").collect(),
            to_check: to_check(mine, shown.as_ref()),
            listing_card: shown.map(Shown::from),
            scores: Scores::of(&value.fit, values),
            mutual: decided,
            pairing_id: value.pairing_id.clone(),
            thread_id: None,
        }
    }

    /// Makes the view of a possible partner in a round, before any decision.
    pub(crate) fn of_round(
        id: String,
        session_id: &str,
        shown: Profile,
        mine: Option<&Profile>,
        fit: &Fit,
    ) -> Self {
        Self {
            candidate_id: id,
            session_id: session_id.to_owned(),
            state: Candidacy::New,
            version: 0,
            allowed_actions: Vec::new(),
            to_check: to_check(mine, Some(&shown)),
            listing_card: Some(shown.into()),
            scores: Scores::of(fit, Values::All),
            mutual: false,
            pairing_id: None,
            thread_id: None,
        }
    }

    /// Adds the person's answer, and the pairing once both have accepted.
    pub(crate) fn with_answer(self, state: Candidacy, pairing_id: Option<String>) -> Self {
        Self { state, mutual: state == Candidacy::Mutual, pairing_id, ..self }
    }
}

/// Returns the sentences to check of the two listings; none if the other one may not be shown.
fn to_check(mine: Option<&Profile>, theirs: Option<&Profile>) -> Vec<ToCheck> {
    let Some(theirs) = theirs else { return Vec::new() };
    let own = mine.map(wishes::of_mine).unwrap_or_default();
    own.into_iter().chain(wishes::of_theirs(theirs)).collect()
}

/// A listing that would fit, without its owner.
#[output]
pub(crate) struct PreviewItem {
    category: String,
    category_label: String,
    /// When it was published (RFC 3339).
    published_at: String,
    distance_km: Option<f64>,
    #[serde(flatten)]
    scores: Scores,
}

impl PreviewItem {
    pub(crate) fn new(other: Profile, fit: Fit, distance_km: Option<f64>) -> Self {
        Self {
            category: other.category,
            category_label: other.label,
            published_at: rfc3339(other.published_at),
            distance_km: distance_km.map(f64::round),
            scores: Scores::of(&fit, Values::Listed),
        }
    }
}

#[output]
pub(crate) struct PreviewList {
    /// The listings, best first.
    pub(crate) items: Vec<PreviewItem>,
    /// Sentences of your listing that ask for or exclude something and that no rule compares, at most
    /// three. State such a wish as an attribute or a criterion if there is one. Those of the other
    /// listings are shown with the candidates of a session, because a preview shows no texts.
    pub(crate) to_check: Vec<ToCheck>,
}

#[output]
pub(crate) struct RoundView {
    round_id: String,
    category: String,
    /// The title, which the operator wrote.
    title: String,
    state: RoundState,
    allowed_actions: Vec<&'static str>,
    /// When it runs (RFC 3339).
    deadline: String,
    participants: usize,
}

impl RoundView {
    pub(crate) fn of(round: Stored<Round>) -> Self {
        view!(round.value => Self {
            category, title, state, participants;
            round_id: round.id,
            allowed_actions: ROUND.allowed(round.value.state),
            deadline: rfc3339(round.value.deadline),
        })
    }
}

/// A partner that a round has found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct PartnerView {
    /// The partner; null if their listing may no longer be shown. The state is `interested` when
    /// you have accepted, `mutual` when both have, `unavailable` when there is no answer to wait
    /// for.
    pub(crate) partner: Option<CandidateView>,
    /// The rank of the partner on your own list, from 1.
    pub(crate) rank_achieved: usize,
}

/// The result of a round for one session.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ResultView {
    pub(crate) session_id: String,
    pub(crate) state: State,
    /// The most preferred partner; null if there is none.
    pub(crate) partner: Option<CandidateView>,
    /// The rank of that partner on your own list, from 1.
    pub(crate) rank_achieved: Option<usize>,
    /// All partners, if the session accepts several; the most preferred first.
    pub(crate) partners: Vec<PartnerView>,
    /// Whether the matching is stable: no two who are not partners both prefer each other to their
    /// partners. It is always stable if there are two sides; with one side, a stable matching may
    /// not exist.
    pub(crate) stable: bool,
    /// The number of pairs who prefer each other to their partners.
    pub(crate) blocking_pairs: usize,
    pub(crate) participants: usize,
}
