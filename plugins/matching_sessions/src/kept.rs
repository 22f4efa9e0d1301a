//! What is kept: sessions, their candidates, who is interested in whom, and rounds.

use crate::{life::*, score::*, types::*};
use people_kit::taxonomy::Criteria;
use portolan_sdk::{documents::OpenIds, prelude::*};
use std::collections::BTreeMap;

pub(crate) const SESSIONS: Collection<Session> = Collection::new("sessions")
    .index("mine", &["owner_id", "changed_at"])
    .index("state", &["state"])
    .index("watch", &["watch[]"])
    .index("round", &["round_id", "state"]);

pub(crate) const CANDIDATES: Collection<Candidate> = Collection::new("candidates")
    .index("session", &["session_id", "state", "score", "tie"])
    .index("listing", &["listing_id", "state", "at"])
    .index("people", &["for_owner", "owner_id"])
    .unique("pair", &["session_id", "listing_id"]);

/// Who was found for a session and not shown, by the session's id.
pub(crate) const QUEUES: Collection<Queue> = Collection::new("queues");

/// What one listing's person has decided on another listing, by both: `lst_…>lst_…`.
pub(crate) const OPINIONS: Collection<Opinion> = Collection::new("opinions");
/// The open sessions of a listing, by its id.
pub(crate) const BOOKS: Collection<OpenIds> = Collection::new("books");
pub(crate) const ROUNDS: Collection<Round> =
    Collection::new("rounds").index("state", &["state", "deadline"]);

/// Times are milliseconds since the Unix epoch in everything that is kept.
#[document]
#[entity(
    kind = "matching_session", subjects = "matching_sessions", collection = SESSIONS,
    owner = owner_id, not_found = MatchingError::SessionNotFound
)]
pub(crate) struct Session {
    pub(crate) owner_id: String,
    pub(crate) listing_id: String,
    pub(crate) category: String,
    pub(crate) mode: Mode,
    pub(crate) state: State,
    pub(crate) changed_at: u64,
    pub(crate) expires_at: u64,
    pub(crate) batch_size: u32,
    pub(crate) criteria: Option<Criteria>,
    /// Candidates so far, those who wait among them.
    pub(crate) found: u64,
    /// What a new listing has to have to be of interest, while it looks for more of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) watch: Vec<String>,
    /// Listings that came while there was somebody to decide on, with their scores.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) come: BTreeMap<String, f64>,
    #[serde(default)]
    pub(crate) news: Untold,
    pub(crate) reason: Option<Reason>,
    pub(crate) round_id: Option<String>,
    /// The sessions of the same round, the dearest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ranking: Vec<String>,
    #[serde(default)]
    pub(crate) only_ranked: bool,
    /// How many it takes in a round.
    #[serde(default = "one")]
    pub(crate) capacity: u32,
    pub(crate) outcome: Option<Outcome>,
}

/// They are looked for ahead of need, and looked at again before they are shown: what became of
/// their listings meanwhile changes nothing here.
#[document(Default)]
pub(crate) struct Queue {
    /// Where the next look begins; none before the first and after the last.
    pub(crate) cursor: Option<String>,
    /// Whether it has looked through all there is.
    pub(crate) looked: bool,
    /// Scores, by listing.
    pub(crate) waiting: BTreeMap<String, f64>,
}

/// What the person has not been told yet.
#[document(Default, PartialEq)]
pub(crate) struct Untold {
    pub(crate) new: u32,
    pub(crate) removed: u32,
    pub(crate) top: f64,
    /// When something was told last.
    pub(crate) told_at: u64,
}

/// What a round came to, for one of those who took part.
#[document]
pub(crate) struct Outcome {
    /// The dearest first.
    pub(crate) partners: Vec<Partner>,
    /// Whether no two would both rather have each other.
    pub(crate) stable: bool,
    pub(crate) blocking_pairs: usize,
    pub(crate) participants: usize,
}

#[document]
pub(crate) struct Partner {
    pub(crate) session_id: String,
    pub(crate) listing_id: String,
    /// From 1: the place on the person's own list.
    pub(crate) rank: usize,
    pub(crate) fit: Fit,
    /// `new` until the person has said something; the other side is asked for itself.
    pub(crate) state: Candidacy,
    /// When both have said yes.
    pub(crate) pairing_id: Option<String>,
}

impl Partner {
    /// Whether one of the two has yet to say something.
    pub(crate) fn waits(&self) -> bool {
        matches!(self.state, Candidacy::New | Candidacy::Interested)
    }
}

#[document]
pub(crate) struct Candidate {
    pub(crate) session_id: String,
    /// Whose session it is.
    pub(crate) for_owner: String,
    /// The other side's.
    pub(crate) listing_id: String,
    pub(crate) owner_id: String,
    pub(crate) state: Candidacy,
    #[serde(flatten)]
    pub(crate) fit: Fit,
    /// What decides between equal scores: no listing is always first.
    pub(crate) tie: u32,
    /// When this state began.
    pub(crate) at: u64,
    pub(crate) pairing_id: Option<String>,
    pub(crate) reason_code: Option<String>,
}

#[document]
pub(crate) struct Opinion {
    pub(crate) session_id: String,
    pub(crate) candidate_id: String,
    /// Otherwise passed.
    pub(crate) interested: bool,
    pub(crate) at: u64,
}

/// The id of an opinion.
pub(crate) fn opinion(of: &str, on: &str) -> String {
    format!("{of}>{on}")
}

#[document]
pub(crate) struct Round {
    pub(crate) category: String,
    pub(crate) title: String,
    pub(crate) state: RoundState,
    pub(crate) deadline: u64,
    pub(crate) participants: usize,
}

/// FNV-1a: the same for the same session and listing, on every machine.
pub(crate) fn tie(session_id: &str, listing_id: &str) -> u32 {
    let bytes = session_id.bytes().chain([b'/']).chain(listing_id.bytes());
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
