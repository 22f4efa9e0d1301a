//! Inputs, limits and events.

use crate::documents::DAYS;
use crate::{refusals::*, states::*};
use people_kit::people::PersonId;
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "intros";

/// The id of the introduction: `intro_` and a ULID.
#[id]
pub(crate) struct Id(String);

/// The category whose rules hold for texts: an introduction may be about work, a home or friendship.
pub(crate) const CATEGORY: &str = "lead.general";

/// The time after which a request is over. Until then the requester learns nothing but that it has come
/// about.
pub(crate) const OPEN_FOR: u64 = 7 * DAY;
/// The time in which the introducer may answer. The rest of the time is the target's.
pub(crate) const INTRODUCER_HAS: u64 = 4 * DAY;
/// The time before the end of their time at which a person who has not answered is reminded, once.
pub(crate) const REMINDED_BEFORE: u64 = DAY;
/// The time after the end of a request in which the requester cannot ask for the same person again.
pub(crate) const COOLDOWN: u64 = 30 * DAY;
/// The time after its end after which an introduction that did not come about is deleted.
pub(crate) const KEPT_FOR: u64 = 90 * DAY;
/// The maximum number of open requests of one person.
pub(crate) const OPEN_OF_A_REQUESTER: usize = 5;
/// The maximum number of requests that one introducer has at the same time.
pub(crate) const OPEN_OF_AN_INTRODUCER: u64 = 10;
/// The maximum number of requests for one person at the same time, through whomever, and of those that are
/// forwarded to them.
pub(crate) const OPEN_OF_A_TARGET: u64 = 5;
/// How often one person may ask the same introducer. Requests that were withdrawn count too. That they have one of a
/// target's places at most follows from the cooldown.
pub(crate) const TO_ONE_INTRODUCER: Window = Window { most: 2, within: OPEN_FOR };
const REQUESTS_A_DAY: DailyLimit =
    DailyLimit { action: "request", name: "intros_per_day", most: 5 };

pub(crate) type IntroEvent = Event<Data<Facts>>;

pub(crate) const REQUESTED: IntroEvent = Event::new("intro.requested");
pub(crate) const COMPLETED: IntroEvent = Event::new("intro.completed");
/// The request is over, and the two were not introduced.
pub(crate) const ENDED: IntroEvent = Event::new("intro.ended");
pub(crate) const WITHDRAWN: IntroEvent = Event::new("intro.withdrawn");
pub(crate) const REMINDER: IntroEvent = Event::new("intro.reminder");
pub(crate) const CONTACT_EXCHANGED: IntroEvent = Event::new("intro.contact_exchanged");

/// The facts of an event.
#[output(Default)]
pub(crate) struct Facts {
    pub(crate) intro_id: String,
    /// The role of the person who gets the event.
    pub(crate) role: Option<Role>,
    /// The conversation, once the two are introduced.
    pub(crate) thread_id: Option<String>,
}

/// The role of a person in an introduction.
#[choice]
pub(crate) enum Role {
    /// Asks for the introduction.
    Requester,
    /// Knows both, and forwards the request or not.
    Introducer,
    /// The person whom the requester would like to meet.
    Target,
}

impl Role {
    /// Returns the name of the role in the table of states.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Requester => REQUESTER,
            Self::Introducer => INTRODUCER,
            Self::Target => TARGET,
        }
    }
}

#[input]
pub(crate) struct Request {
    /// The person who is to introduce: somebody whom the person knows.
    pub(crate) introducer_id: PersonId,
    /// The person whom the person would like to meet.
    pub(crate) target_id: PersonId,
    /// The reason, for both to read. Without contact data.
    pub(crate) reason: Text<10, 500>,
}

/// The answer of an introducer or a target.
#[choice]
pub(crate) enum Decision {
    /// The introducer forwards the request; the target agrees to the introduction.
    Accept,
    Decline,
}

#[input]
pub(crate) struct Respond {
    pub(crate) intro_id: Id,
    pub(crate) decision: Decision,
    /// The introducer's note to the target about the requester; only with `accept` of the introducer. The
    /// requester does not see it.
    pub(crate) note: Option<Text<1, 500>>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Step {
    pub(crate) intro_id: Id,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct ExchangeContact {
    pub(crate) intro_id: Id,
    /// Whether the person allows contact data in the conversation. It is allowed once both do.
    pub(crate) allow: bool,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct IntroId {
    pub(crate) intro_id: Id,
}

impl IntroId {
    pub(crate) fn of(intro_id: &str) -> Self {
        Self { intro_id: intro_id.to_owned().into() }
    }
}

/// A reminder that is due.
#[input]
pub(crate) struct Due {
    pub(crate) intro_id: Id,
    pub(crate) role: Role,
}

#[input(Default)]
pub(crate) struct List {
    /// The person's role in the introductions to return. Omit this field to get all of the person's.
    pub(crate) role: Option<Role>,
    /// The states of the introductions to return. Omit this field to get those in all states.
    #[schemars(length(min = 1, max = 7))]
    pub(crate) state: Option<Vec<State>>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

/// The data of `identity.owner_left`.
#[input]
pub(crate) struct OwnerLeft {
    pub(crate) owner_id: String,
}

/// Counts one more request of a person on this day.
pub(crate) fn count_request(call: &Call, owner_id: &str) -> Result<()> {
    Ok(REQUESTS_A_DAY.count(call, DAYS, owner_id, list(Role::Requester))?)
}
