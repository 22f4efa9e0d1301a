//! Inputs, limits and events.

use crate::{claims::Claim, states::*};
use people_kit::people::PersonId;
use portolan_sdk::prelude::*;
use std::collections::BTreeSet;

pub(crate) const CAPABILITY: &str = "references";
/// The category whose rules hold for texts.
pub(crate) const CATEGORY: &str = "lead.general";

/// The id of the encounter: `enc_` and a ULID.
#[id]
pub(crate) struct EncounterIdText(String);

/// The id of the reference: `ref_` and a ULID.
#[id]
pub(crate) struct Id(String);

/// The time after an encounter in which references can be written. At its end, those that were written are shown.
pub(crate) const OPEN_FOR: u64 = 14 * DAY;
/// The time after the last change after which two references are shown. Until then each can be changed, also the
/// second one.
pub(crate) const SETTLED_AFTER: u64 = HOUR;
/// The time after an encounter in which another one of the same two people gives no new references.
pub(crate) const COOLDOWN: u64 = 90 * DAY;
/// The maximum number of people of a meeting that counts as an encounter of each two of them.
pub(crate) const MOST_PEOPLE: usize = 6;
/// The maximum number of people to whom a person shows their references.
pub(crate) const MOST_VIEWERS: u64 = 100;

pub(crate) const WRITTEN_A_DAY: DailyLimit =
    DailyLimit { action: "write", name: "references_per_day", most: 40 };
pub(crate) const SHOWN_A_DAY: DailyLimit =
    DailyLimit { action: "show", name: "viewers_per_day", most: 20 };

pub(crate) type ReferenceEvent = Event<Data<Facts>>;

pub(crate) const INVITED: ReferenceEvent = Event::new("reference.invited");
pub(crate) const SHOWN: ReferenceEvent = Event::new("reference.shown");
pub(crate) const REPLIED: ReferenceEvent = Event::new("reference.replied");

/// The facts of an event.
#[output(Default)]
pub(crate) struct Facts {
    pub(crate) encounter_id: String,
    pub(crate) reference_id: Option<String>,
    /// The role of the person who gets the event; omitted if no reference is written.
    pub(crate) role: Option<Role>,
    /// When the references are shown at the latest (RFC 3339).
    pub(crate) closes_at: Option<String>,
}

/// The role of a person who reads a reference.
#[choice]
pub(crate) enum Role {
    /// Has written it.
    Sent,
    /// It is about the person.
    Received,
    /// The person about whom it is shows it to them.
    Viewer,
}

/// The role of a person in the references of a list.
#[choice]
pub(crate) enum Side {
    /// The person has written them.
    Sent,
    /// They are about the person.
    Received,
}

#[input]
pub(crate) struct Write {
    pub(crate) encounter_id: EncounterIdText,
    /// The person's claims about the other one: at most one of two that contradict each other.
    #[serde(default)]
    #[schemars(length(max = 6))]
    pub(crate) claims: BTreeSet<Claim>,
    /// A short text, without contact data. Needed if there are no claims.
    pub(crate) text: Option<Text<3, 600>>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Withdraw {
    pub(crate) encounter_id: EncounterIdText,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct WriteReply {
    pub(crate) reference_id: Id,
    /// The person's reply to the reference, without contact data.
    pub(crate) reply: Text<3, 500>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct EncounterId {
    pub(crate) encounter_id: EncounterIdText,
}

impl EncounterId {
    pub(crate) fn of(encounter_id: &str) -> Self {
        Self { encounter_id: encounter_id.to_owned().into() }
    }
}

#[input]
pub(crate) struct ReferenceId {
    pub(crate) reference_id: Id,
}

#[input]
pub(crate) struct Viewer {
    /// The person to whom the references about the person are shown.
    pub(crate) owner_id: PersonId,
}

#[input(Default)]
pub(crate) struct ListEncounters {
    /// Whether to return only those in which references can still be written.
    #[serde(default)]
    pub(crate) open_only: bool,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct List {
    /// The person's role in the references to return.
    pub(crate) role: Side,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct About {
    /// The person about whom the references are.
    pub(crate) owner_id: PersonId,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

impl Role {
    /// Returns the name of the role in the table of states; `None` for a viewer.
    pub(crate) fn name(self) -> Option<&'static str> {
        match self {
            Self::Sent => Some(AUTHOR),
            Self::Received => Some(SUBJECT),
            Self::Viewer => None,
        }
    }
}
