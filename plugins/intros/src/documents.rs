//! The stored documents: the seat of each person in an introduction, and the recent requests of each
//! requester.
//!
//! A seat has what its person sees, and nothing else: its revision, its times and its state do not change when
//! another person acts in secret, and an export of the person's data has only their own seats.

use crate::{refusals::*, states::*, types::*};
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::Personal;
use portolan_sdk::prelude::*;

/// The seats, keyed by the introduction's and the person's id.
pub(crate) const SEATS: Collection<Seat> = Collection::new("seats")
    .people(&[
        Person::delete("$id"),
        Person::delete("owner_id").fields(&[Personal("$id")]),
        Person::delete("requester_id"),
        Person::delete("introducer_id"),
        Person::delete("target_id"),
    ])
    .index("owner", &["owner_id", "changed_at"])
    .index("role", &["owner_id", "role", "state"])
    .index("introducer", &["introducer_id", "role", "ends_at"])
    .index("target", &["target_id", "role", "ends_at"])
    .index("intro", &["intro_id"]);

/// The recent requests of each person, keyed by their id. Each new request writes this document, so that of
/// two concurrent ones the second sees the first.
pub(crate) const REQUESTERS: Collection<Requester> = Collection::new("requesters").people(&[
    Person::delete("$id").fields(&[Personal("$id")]),
    Person::remove("recent[].target_id"),
]);

/// The actions of each person on one day, keyed by their id.
pub(crate) const DAYS: Collection<Day> = Collection::new("days").people(&[Person::delete("$id")]);

/// An introduction as one person sees it. All times are milliseconds since the Unix epoch.
#[document]
#[entity(
    kind = "intro", collection = SEATS, owner = owner_id, subjects = "intros",
    not_found = IntroError::IntroNotFound
)]
pub(crate) struct Seat {
    pub(crate) intro_id: String,
    /// The person whose seat it is.
    pub(crate) owner_id: String,
    pub(crate) role: Role,
    pub(crate) requester_id: String,
    pub(crate) introducer_id: String,
    pub(crate) target_id: String,
    /// Why the requester would like to meet the target, in the requester's words.
    pub(crate) reason: String,
    /// The introducer's note to the target; not in the requester's seat.
    pub(crate) note: Option<String>,
    pub(crate) state: State,
    pub(crate) requested_at: u64,
    /// When the person may last answer; for the requester, when the request is over.
    pub(crate) ends_at: u64,
    pub(crate) changed_at: u64,
    /// The conversation of requester and target; not in the introducer's seat.
    pub(crate) thread_id: Option<String>,
    /// Whether this person and the other one of the conversation allow contact data in it.
    #[serde(default)]
    pub(crate) contact: Consents,
    /// The hold, while credits of the requester are held.
    pub(crate) hold_id: Option<String>,
    /// The price; 0 but for the requester.
    #[serde(default)]
    pub(crate) cost: u32,
}

#[document(Default, Copy)]
pub(crate) struct Consents {
    pub(crate) mine: bool,
    pub(crate) theirs: bool,
}

#[document(Default)]
pub(crate) struct Requester {
    pub(crate) recent: Vec<Recent>,
}

/// A request that still counts: it is open for the requester, or its cooldown lasts.
#[document]
pub(crate) struct Recent {
    pub(crate) intro_id: String,
    pub(crate) target_id: String,
    /// Until when it is open, as the requester sees it.
    pub(crate) open_until: u64,
}

impl Consents {
    pub(crate) fn of_both(self) -> bool {
        self.mine && self.theirs
    }
}

/// Returns the id of a person's seat.
pub(crate) fn seat_id(intro_id: &str, owner_id: &str) -> String {
    format!("{intro_id}/{owner_id}")
}

impl Seat {
    /// Returns the ids of the two other people.
    pub(crate) fn others(&self) -> [&str; 2] {
        let (requester, introducer, target) =
            (self.requester_id.as_str(), self.introducer_id.as_str(), self.target_id.as_str());
        match self.role {
            Role::Requester => [introducer, target],
            Role::Introducer => [requester, target],
            Role::Target => [requester, introducer],
        }
    }

    /// Returns the id of the person with this role.
    pub(crate) fn person(&self, role: Role) -> &str {
        match role {
            Role::Requester => &self.requester_id,
            Role::Introducer => &self.introducer_id,
            Role::Target => &self.target_id,
        }
    }

    /// Returns the seat of another person of the same introduction, if they have one.
    pub(crate) fn find(&self, role: Role) -> Result<Option<Stored<Seat>>> {
        Ok(SEATS.get(&seat_id(&self.intro_id, self.person(role)))?)
    }

    /// Returns a seat of this introduction for another person. Nothing that belongs to this seat's person
    /// alone is in it.
    pub(crate) fn for_other(&self, role: Role, state: State, now: u64) -> Self {
        Self {
            owner_id: self.person(role).to_owned(),
            role,
            state,
            changed_at: now,
            hold_id: None,
            cost: 0,
            ..self.clone()
        }
    }
}

/// Adds a seat.
pub(crate) fn add(seat: Seat, now: u64) -> Result<Stored<Seat>> {
    Ok(SEATS.add(seat_id(&seat.intro_id, &seat.owner_id), seat, now)?)
}

/// Changes the state of a seat and saves it.
pub(crate) fn enter(seat: &mut Stored<Seat>, to: State, now: u64) -> Result<()> {
    (seat.value.state, seat.value.changed_at) = (to, now);
    Ok(seat.save()?)
}
