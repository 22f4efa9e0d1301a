//! The stored documents.
//!
//! The words of a person that are not shown yet are a draft of their own, in a collection of its own; they become
//! a reference when they are shown. The encounter, which both people see, is not written in between. So no read,
//! no version, no order and no export of the other person's data depends on whether there is a draft.

use crate::{claims::Claim, refusals::*, states::*};
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::{Personal, Shared};
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

pub(crate) const ENCOUNTERS: Collection<Encounter> = Collection::new("encounters")
    .people(&[Person::delete("people[]")])
    .index("people", &["people[]", "opened_at"])
    .index("subject", &["subject_id"])
    .index("state", &["state"]);

/// The last encounter of each two people, keyed by both ids.
pub(crate) const PAIRS: Collection<Pair> =
    Collection::new("pairs").people(&[Person::delete("$id")]);

/// The drafts, keyed by the encounter's and the author's id.
pub(crate) const DRAFTS: Collection<Draft> = Collection::new("drafts").people(&[
    Person::delete("$id"),
    Person::delete("author_id").fields(&[Personal("$id")]),
    Person::delete("about_id"),
]);

pub(crate) const REFERENCES: Collection<Reference> = Collection::new("references")
    .people(&[
        Person::delete("author_id").fields(&[Shared("claims"), Shared("text")]),
        Person::delete("about_id").fields(&[Shared("reply")]),
    ])
    .index("written", &["author_id", "shown_at"])
    .index("received", &["about_id", "state", "shown_at"])
    .index("encounter", &["encounter_id"]);

/// The viewers of the references about a person, keyed by both ids.
pub(crate) const GRANTS: Collection<Grant> = Collection::new("grants")
    .people(&[
        Person::delete("$id"),
        Person::delete("owner_id").fields(&[Personal("$id")]),
        Person::delete("viewer_id"),
    ])
    .index("owner", &["owner_id", "since"]);

/// The actions of each person on one day, keyed by their id.
pub(crate) const DAYS: Collection<Day> = Collection::new("days").people(&[Person::delete("$id")]);

#[choice]
pub(crate) enum Kind {
    /// A meeting that was confirmed, and whose time is over.
    Meeting,
    /// A connection of two people who have met, which was closed with an outcome.
    Pairing,
    /// An application whose offer was accepted.
    Application,
}

/// Two people who have dealt with each other. All times are milliseconds since the Unix epoch.
#[document]
#[entity(
    kind = "encounter", collection = ENCOUNTERS,
    not_found = ReferenceError::EncounterNotFound
)]
pub(crate) struct Encounter {
    /// Both people, in the order of their ids.
    pub(crate) people: Vec<String>,
    pub(crate) kind: Kind,
    /// The meeting, the pairing or the application.
    pub(crate) subject_id: String,
    pub(crate) state: EncounterState,
    pub(crate) opened_at: u64,
    /// When the references are shown at the latest.
    pub(crate) closes_at: u64,
}

#[document(Default)]
pub(crate) struct Pair {
    /// When the last encounter was opened.
    pub(crate) opened_at: u64,
}

#[document]
#[entity(kind = "reference", collection = DRAFTS, not_found = ReferenceError::DraftNotFound)]
pub(crate) struct Draft {
    pub(crate) encounter_id: String,
    pub(crate) author_id: String,
    pub(crate) about_id: String,
    pub(crate) state: State,
    pub(crate) claims: BTreeSet<Claim>,
    pub(crate) text: Option<String>,
    /// When it was last written.
    pub(crate) written_at: u64,
}

#[document]
#[entity(
    kind = "reference", collection = REFERENCES,
    not_found = ReferenceError::ReferenceNotFound
)]
pub(crate) struct Reference {
    pub(crate) encounter_id: String,
    pub(crate) author_id: String,
    pub(crate) about_id: String,
    pub(crate) state: State,
    pub(crate) claims: BTreeSet<Claim>,
    pub(crate) text: Option<String>,
    pub(crate) shown_at: u64,
    pub(crate) reply: Option<Reply>,
}

/// The reply of the person about whom a reference is.
#[document]
pub(crate) struct Reply {
    pub(crate) text: String,
    pub(crate) at: u64,
}

#[document]
pub(crate) struct Grant {
    pub(crate) owner_id: String,
    pub(crate) viewer_id: String,
    pub(crate) since: u64,
}

impl Encounter {
    /// Returns the other one of the two people; `None` for a person who is neither.
    pub(crate) fn other(&self, me: &str) -> Option<&str> {
        let is_theirs = self.people.iter().any(|person| person == me);
        let mut others = self.people.iter().filter(|person| *person != me);
        others.next().filter(|_| is_theirs).map(String::as_str)
    }

    /// Returns the state at this time: nothing is written after the end, also if it is not closed yet.
    pub(crate) fn state_at(&self, now: u64) -> EncounterState {
        if now < self.closes_at { self.state } else { EncounterState::Closed }
    }
}

/// Returns the key of two ids.
pub(crate) fn both(first: &str, second: &str) -> String {
    format!("{first}/{second}")
}
