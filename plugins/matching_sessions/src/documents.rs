//! The stored documents: sessions, their candidates, opinions, and rounds.

use crate::{score::*, states::*, types::*};
use people_kit::{listings::Profile, taxonomy::Criteria};
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::Personal;
use portolan_sdk::prelude::*;
use std::collections::BTreeMap;

pub(crate) const SESSIONS: Collection<Session> = Collection::new("sessions")
    .version(2)
    .people(&[
        Person::delete("owner_id").fields(&[Personal("$id")]),
        Person::remove("come{}.owner_id").fields(&[Personal("come{}.owner_id")]),
        Person::remove("ranking[].owner_id").fields(&[Personal("ranking[].owner_id")]),
        Person::remove("outcome.partners[].owner_id")
            .fields(&[Personal("outcome.partners[].owner_id")]),
    ])
    .index("mine", &["owner_id", "changed_at"])
    .index("state", &["state"])
    .index("watch", &["watch[]"])
    .index("round", &["round_id", "state"]);

/// The candidates of sessions; a person's opinion of one is theirs alone. Exports do not name the owner
/// of the candidate's listing, because some categories hide owners.
pub(crate) const CANDIDATES: Collection<Candidate> = Collection::new("candidates")
    .people(&[
        Person::delete("for_owner").fields(&[Personal("$id")]),
        Person::delete("owner_id").fields(&[Personal("owner_id")]),
    ])
    .index("session", &["session_id", "state", "score", "tie"])
    .index("listing", &["listing_id", "state", "at"])
    .index("people", &["for_owner", "owner_id"])
    .unique("pair", &["session_id", "listing_id"]);

/// The candidates that were found for a session and not shown yet, keyed by the session's id.
pub(crate) const QUEUES: Collection<Queue> = Collection::new("queues").version(2).people(&[
    Person::delete("for_owner").fields(&[Personal("$id")]),
    Person::remove("waiting{}.owner_id").fields(&[Personal("waiting{}.owner_id")]),
]);

/// The opinion of one listing's person on another listing, keyed by both ids: `lst_…>lst_…`.
pub(crate) const OPINIONS: Collection<Opinion> = Collection::new("opinions").people(&[
    Person::delete("for_owner").fields(&[Personal("$id")]),
    Person::delete("owner_id").fields(&[Personal("owner_id")]),
]);

/// The open sessions of a listing, keyed by the listing's id.
pub(crate) const BOOKS: Collection<Book> = Collection::new("books")
    .version(2)
    .people(&[Person::delete("owner_id"), Person::remove("open{}")]);

pub(crate) const ROUNDS: Collection<Round> =
    Collection::new("rounds").nobody().index("state", &["state", "deadline"]);

/// A session. All stored times are milliseconds since the Unix epoch.
#[document(Default)]
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
    /// The number of candidates found so far, including the queued ones.
    pub(crate) found: u64,
    /// The keys by which new listings find this session, while it looks for candidates.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) watch: Vec<String>,
    /// The listings that arrived while candidates were undecided.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(crate) come: BTreeMap<String, Queued>,
    #[serde(default)]
    pub(crate) news: PendingNews,
    pub(crate) reason: Option<Reason>,
    pub(crate) round_id: Option<String>,
    /// The sessions of the same round in the order of preference, the most preferred first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) ranking: Vec<Ranked>,
    #[serde(default)]
    pub(crate) only_ranked: bool,
    /// The number of partners that it accepts in a round.
    #[serde(default = "one")]
    pub(crate) capacity: u32,
    pub(crate) outcome: Option<Outcome>,
}

/// The queue of a session. Its listings are found in advance and checked again before they are
/// shown, so later changes of the listings do not have to be recorded here.
#[document(Default)]
pub(crate) struct Queue {
    /// The owner of the session.
    pub(crate) for_owner: String,
    /// The cursor of the next search; `None` before the first page and after the last one.
    pub(crate) cursor: Option<String>,
    /// Whether all listings were searched.
    pub(crate) looked: bool,
    /// The queued candidates, by listing.
    pub(crate) waiting: BTreeMap<String, Queued>,
}

/// A listing that was found and not shown yet.
#[document]
pub(crate) struct Queued {
    pub(crate) score: f64,
    pub(crate) owner_id: String,
}

impl Queued {
    pub(crate) fn new(other: &Profile, fit: &Fit) -> Self {
        Self { score: fit.score, owner_id: other.owner_id.clone() }
    }
}

/// A session that another one of the same round has ranked.
#[document]
pub(crate) struct Ranked {
    pub(crate) session_id: String,
    pub(crate) owner_id: String,
}

/// The open sessions of a listing.
#[document(Default)]
pub(crate) struct Book {
    /// The owner of the listing.
    pub(crate) owner_id: String,
    /// The owner of each session, by the session's id.
    pub(crate) open: BTreeMap<String, String>,
}

/// Adds a session to the open ones of its listing, and returns how many there are.
pub(crate) fn enter_book(session: &Stored<Session>) -> Result<usize> {
    let Session { owner_id, listing_id, .. } = &session.value;
    let mut book = BOOKS.get_or_default(listing_id)?;
    book.value.owner_id.clone_from(owner_id);
    book.value.open.insert(session.id.clone(), owner_id.clone());
    BOOKS.save(&mut book)?;
    Ok(book.value.open.len())
}

/// Removes a session from the open ones of its listing.
pub(crate) fn leave_book(session: &Stored<Session>) -> Result<()> {
    let Some(mut book) = BOOKS.get(&session.value.listing_id)? else { return Ok(()) };
    if book.value.open.remove(&session.id).is_none() {
        return Ok(());
    }
    match book.value.open.is_empty() {
        true => BOOKS.delete(&book.id, Expect::Revision(book.revision))?,
        false => BOOKS.save(&mut book)?,
    }
    Ok(())
}

/// The changes of which the person was not notified yet.
#[document(Default, PartialEq)]
pub(crate) struct PendingNews {
    pub(crate) new: u32,
    pub(crate) removed: u32,
    pub(crate) top: f64,
    /// When the person was last notified.
    pub(crate) told_at: u64,
}

/// The result of a round for one participant.
#[document]
pub(crate) struct Outcome {
    /// The partners, the most preferred first.
    pub(crate) partners: Vec<Partner>,
    /// Whether the matching is stable: no two participants both prefer each other to their
    /// partners.
    pub(crate) stable: bool,
    pub(crate) blocking_pairs: usize,
    pub(crate) participants: usize,
}

#[document]
pub(crate) struct Partner {
    pub(crate) session_id: String,
    /// The owner of the session; empty if the round ran before owners were stored.
    #[serde(default)]
    pub(crate) owner_id: String,
    pub(crate) listing_id: String,
    /// The rank of the partner on the person's own list, from 1.
    pub(crate) rank: usize,
    pub(crate) fit: Fit,
    /// The person's answer: `new` until they have given one. The other side has its own.
    pub(crate) state: Candidacy,
    /// The pairing, once both have accepted.
    pub(crate) pairing_id: Option<String>,
}

impl Partner {
    /// Whether an answer is still missing: the person's, or the other side's after the person
    /// accepted.
    pub(crate) fn is_waiting(&self) -> bool {
        matches!(self.state, Candidacy::New | Candidacy::Interested)
    }
}

#[document]
pub(crate) struct Candidate {
    pub(crate) session_id: String,
    /// The owner of the session.
    pub(crate) for_owner: String,
    /// The candidate's listing.
    pub(crate) listing_id: String,
    pub(crate) owner_id: String,
    pub(crate) state: Candidacy,
    #[serde(flatten)]
    pub(crate) fit: Fit,
    /// A number that decides between equal scores, so that no listing is always first.
    pub(crate) tie: u32,
    /// When this state began.
    pub(crate) at: u64,
    pub(crate) pairing_id: Option<String>,
    pub(crate) reason_code: Option<String>,
}

#[document]
pub(crate) struct Opinion {
    /// The person whose opinion it is; empty if it was stored before people were.
    #[serde(default)]
    pub(crate) for_owner: String,
    /// The owner of the other listing.
    #[serde(default)]
    pub(crate) owner_id: String,
    pub(crate) session_id: String,
    pub(crate) candidate_id: String,
    /// Whether the person is interested; otherwise they passed.
    pub(crate) interested: bool,
    pub(crate) at: u64,
}

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

/// Returns the FNV-1a hash of the ids of a session and a listing, which is the same on every
/// machine.
pub(crate) fn tie(session_id: &str, listing_id: &str) -> u32 {
    let bytes = session_id.bytes().chain([b'/']).chain(listing_id.bytes());
    bytes.fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}
