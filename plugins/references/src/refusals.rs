//! The refusals, each with the next step that helps.

use crate::types::*;
use people_kit::fair_text::FairTextError;
use portolan_sdk::prelude::*;

pub(crate) type Result<T, E = ReferenceError> = std::result::Result<T, E>;

#[derive(Debug, Refusals)]
pub(crate) enum ReferenceError {
    /// There is no such encounter of the person with somebody.
    #[refusal(not_found, next = encounters())]
    EncounterNotFound,
    /// The person has written no reference in this encounter.
    #[refusal(not_found, next = encounters())]
    DraftNotFound,
    /// There is no such reference that is shown to the person.
    #[refusal(not_found, next = list())]
    ReferenceNotFound,
    /// There is no such person, or the person is not visible to you.
    #[refusal(not_found, next = Next::action("social_relationships", "list"))]
    OwnerNotFound,
    /// The person has replied to this reference already.
    #[refusal(conflict, next = get(&reference_id))]
    ReplyExists { reference_id: String },
    #[refusal(transparent)]
    Text(FairTextError),
    #[refusal(transparent)]
    Common(Refusal),
}

impl ReferenceError {
    pub(crate) fn not_yours(reference_id: &str) -> Self {
        let message = "Only the person about whom this reference is may do this.";
        let refusal = Refusal::common(ErrorCode::NotPermitted, message);
        Self::Common(refusal.next(get(reference_id)))
    }

    pub(crate) fn too_many_viewers() -> Self {
        let limit = Limit::reached("viewers", MOST_VIEWERS);
        let message =
            "The person shows their references to too many people. Hide them from one first.";
        Self::Common(quota(message, &limit, Next::action(CAPABILITY, "shown_to")))
    }
}

pub(crate) fn encounters() -> Next {
    Next::action(CAPABILITY, "encounters")
}

pub(crate) fn read_encounter(encounter_id: &str) -> Next {
    Next::action(CAPABILITY, "encounter").field("encounter_id", encounter_id)
}

pub(crate) fn get(reference_id: &str) -> Next {
    Next::action(CAPABILITY, "get").field("reference_id", reference_id)
}

fn list() -> Next {
    Next::action(CAPABILITY, "list").field("role", "received")
}
