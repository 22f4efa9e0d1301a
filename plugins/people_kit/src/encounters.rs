//! The calls of `applications`, `pairings` and `thread_meetings` for encounters: who has dealt with whom,
//! once it is over.

use portolan_sdk::prelude::*;

/// The input of `encounter` of each of these capabilities: the id of its meeting, pairing or application.
#[message]
pub struct EncounterQuery {
    #[schemars(length(min = 1, max = 40))]
    pub id: String,
}

/// The output of `encounter`.
#[message]
pub struct Encounter {
    /// The people; empty if it is not over, or nothing came of it.
    pub owner_ids: Vec<String>,
}

/// A question of an encounter.
pub type Question = Invocation<EncounterQuery, Encounter>;

pub const BY_APPLICATION: Question = Question::new("applications", "encounter");
pub const BY_MEETING: Question = Question::new("thread_meetings", "encounter");
pub const BY_PAIRING: Question = Question::new("pairings", "encounter");

/// Returns the people of an encounter.
pub fn people(question: Question, id: &str) -> Result<Vec<String>, Refusal> {
    Ok(question.call(&EncounterQuery { id: id.to_owned() })?.owner_ids)
}
