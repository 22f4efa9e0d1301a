//! The stored documents: policies, the calls that wait or have waited, and the list of those that wait for each person.

use crate::{refusals::*, states::*, types::*};
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::Personal;
use portolan_sdk::prelude::*;

/// The policy as the person has set it, keyed by the owner's id. The host has a copy, which it applies.
pub(crate) const POLICIES: Collection<Policy> = Collection::new("policies").people(&[
    Person::delete("$id").fields(&[Personal("$id"), Personal("always_ask"), Personal("known")]),
    Person::remove("always_ask[]"),
    Person::remove("known[]"),
]);

/// Calls that wait or have waited. A call that names somebody who is erased is forgotten.
pub(crate) const CALLS: Collection<WaitingCall> = Collection::new("calls")
    .people(&[
        Person::delete("owner_id").fields(&[
            Personal("$id"),
            Personal("input"),
            Personal("also"),
            Personal("call"),
            Personal("outcome"),
        ]),
        Person::delete("agent_id"),
        Person::delete("people[]"),
    ])
    .index("mine", &["owner_id", "changed_at"])
    .index("state", &["state"]);

/// The calls that wait for each person, those that were denied lately, and those about which nobody has decided, keyed
/// by the owner's id. Each call that is
/// added writes it, so that the same call does not wait twice.
pub(crate) const BOOKS: Collection<Book> =
    Collection::new("books").people(&[Person::delete("$id")]);

#[document(Default, PartialEq)]
pub(crate) struct Policy {
    /// `None` for all categories.
    pub(crate) alone: Option<Vec<Category>>,
    pub(crate) ask_first_contact: bool,
    pub(crate) max_amount: Option<u64>,
    pub(crate) currency: Option<String>,
    pub(crate) hours: Option<Hours>,
    pub(crate) always_ask: Vec<String>,
    pub(crate) known: Vec<String>,
    pub(crate) expires_after_hours: Option<u32>,
}

/// The hours of the day in which agents act alone.
#[document(PartialEq)]
pub(crate) struct Hours {
    /// Such as `08:00`.
    pub(crate) from: String,
    pub(crate) to: String,
    pub(crate) time_zone: String,
}

#[document]
#[entity(
    kind = "approval", subjects = "approvals", collection = CALLS, owner = owner_id,
    not_found = ApprovalsError::ApprovalNotFound
)]
pub(crate) struct WaitingCall {
    pub(crate) owner_id: String,
    pub(crate) agent_id: String,
    pub(crate) agent_name: Option<String>,
    pub(crate) state: State,
    pub(crate) capability: String,
    pub(crate) action: String,
    pub(crate) title: String,
    pub(crate) category: Option<String>,
    pub(crate) reason: Reason,
    pub(crate) digest: String,
    /// The input, and the inputs of the calls that it makes, as the person sees them; empty once the call was cancelled
    /// or has expired.
    pub(crate) input: String,
    pub(crate) also: Option<String>,
    /// The call as the host takes it back; empty once it has ended.
    pub(crate) call: String,
    pub(crate) people: Vec<String>,
    pub(crate) changed_at: u64,
    pub(crate) expires_at: u64,
    pub(crate) decided_at: Option<u64>,
    pub(crate) outcome: Option<Outcome>,
}

/// The outcome of an approved call.
#[document]
pub(crate) struct Outcome {
    pub(crate) code: Option<String>,
    pub(crate) message: Option<String>,
    pub(crate) output: Option<String>,
    pub(crate) waiting: Option<String>,
}

#[document(Default)]
pub(crate) struct Book {
    pub(crate) waiting: Vec<Entry>,
    pub(crate) denied: Vec<Denial>,
    /// The ids of the calls that were cancelled or have expired, the oldest first.
    #[serde(default)]
    pub(crate) undecided: Vec<String>,
}

/// A call that waits, or is approved and not made yet.
#[document]
pub(crate) struct Entry {
    pub(crate) approval_id: String,
    pub(crate) digest: String,
    pub(crate) bytes: usize,
}

/// A call that the person has denied.
#[document]
pub(crate) struct Denial {
    pub(crate) approval_id: String,
    pub(crate) digest: String,
    pub(crate) until: u64,
}
