//! Whether two people know each other: calls of `pairings`, `social_permissions` and `thread_meetings`.

use crate::relations;
use portolan_sdk::prelude::*;

/// The input of `pairings acquainted` and of `thread_meetings acquainted`. The order does not matter.
#[message]
pub struct TwoPeople {
    #[schemars(length(min = 1, max = 40))]
    pub one: String,
    #[schemars(length(min = 1, max = 40))]
    pub other: String,
}

/// The output of `pairings acquainted` and of `thread_meetings acquainted`.
#[message]
pub struct Acquainted {
    pub acquainted: bool,
}

pub const BY_MEETING: Invocation<TwoPeople, Acquainted> =
    Invocation::new("thread_meetings", "acquainted");
pub const BY_PAIRING: Invocation<TwoPeople, Acquainted> = Invocation::new("pairings", "acquainted");

/// Returns whether two people are connected as contacts.
pub fn are_contacts(one: &str, other: &str) -> Result<bool, Refusal> {
    relations::has_relation(format!("owner:{one}"), "connected", other)
}

/// Returns whether two people have met here: a meeting that both had confirmed took place.
pub fn have_met(one: &str, other: &str) -> Result<bool, Refusal> {
    let people = TwoPeople { one: one.to_owned(), other: other.to_owned() };
    Ok(BY_MEETING.call(&people)?.acquainted)
}

/// Returns whether two people know each other: they are contacts, are or were connected by a pairing, or
/// have met here.
pub fn know_each_other(one: &str, other: &str) -> Result<bool, Refusal> {
    let people = TwoPeople { one: one.to_owned(), other: other.to_owned() };
    Ok(are_contacts(one, other)? || BY_PAIRING.call(&people)?.acquainted || have_met(one, other)?)
}
