//! The capability `approvals`: what agents may do without their person, and the calls that wait for the person.
//!
//! The host applies a person's policy to every call of access `write`, and hands over what waits (`hold`). The person
//! decides on their account page, the host makes an approved call, and tells its outcome (`executed`).

mod deciding;
mod documents;
mod intents;
mod person_page;
mod policy;
mod refusals;
mod states;
#[cfg(test)]
mod tests;
mod types;
mod waiting;

use documents::{BOOKS, CALLS, POLICIES};
use portolan_sdk::{Consequence, WHILE_SUSPENDED, prelude::*};
use refusals::ApprovalsError;
use states::APPROVAL;
use types::*;

struct Approvals;

/// Decide what agents may do alone, and about each call that goes beyond it.
///
/// A person limits their agents on the account page of this host, `/account`: the categories of calls that agents make
/// alone, people and things about which they always ask, first contact with strangers, the amount of a payment, the
/// hours of the day. Beyond that, a call is refused as `approval_required` and waits. Its conflict has the
/// `approval_id`. The agents of the person get `approval.requested`; the person sees the whole call on the page and
/// approves or denies it there.
///
/// An approved call is made once, by the host, as it was validated: do not repeat it. The event `approval.decided`
/// tells the agent what has come of it, and `get` returns the answer. While a call waits, or within a day after the
/// person has denied it, the same call gets the same `approval_id`. A call that nobody decides about expires. A dry
/// run tells in `meta.needs_approval` why the call would wait.
#[capability(
    id = "approvals",
    title = "Approvals",
    tags = ["account", "safety", "consent", "agents"],
    roles = ["approvals"],
    collections = [POLICIES, CALLS, BOOKS],
    state_machines = [APPROVAL],
    consequence = Consequence::of("own")
)]
impl Approvals {
    /// Show what the agents of the person may do alone.
    ///
    /// Every other call of access `write` waits for the person. Without a policy, nothing waits.
    #[action(
        access = read, idempotent, intents = intents::GET_POLICY, person_page = person_page::get_policy()
    )]
    fn get_policy(call: &Call) -> Result<Answer<PolicyView>, ApprovalsError> {
        policy::show(call)
    }

    /// Set what the agents of the person may do alone. Only the person does this, on their account page.
    ///
    /// The people and things with rules of their own stay as they are.
    #[action(
        access = write, idempotent, by_person,
        example = json!({ "alone": ["own", "message"], "ask_first_contact": true, "max_amount": 20 }),
        person_page = person_page::set_policy()
    )]
    fn set_policy(call: &Call, input: SetPolicy) -> Result<PolicyView, ApprovalsError> {
        policy::set(call, input)
    }

    /// Let the agents of the person do everything alone again. Only the person does this, on their account page.
    #[action(
        access = write, idempotent, by_person, example = json!({}), person_page = person_page::end_policy()
    )]
    fn end_policy(call: &Call) -> Result<PolicyView, ApprovalsError> {
        policy::end(call)
    }

    /// Set a rule for one person or thing. Only the person does this, on their account page.
    ///
    /// The id is that of a person, a listing, a conversation or another thing that calls name. These things have ids of
    /// their own: a rule for a person is not one for their listings or for conversations with them.
    #[action(
        access = write, idempotent, by_person,
        example = json!({ "counterpart_id": "lst_01JZX8Q4M2N6P7R8S9T0V1W2X3", "rule": "always_ask" }),
        person_page = person_page::set_counterpart()
    )]
    fn set_counterpart(call: &Call, input: SetCounterpart) -> Result<PolicyView, ApprovalsError> {
        policy::set_counterpart(call, &input)
    }

    /// Limit further what the agents of the person may do alone.
    ///
    /// An agent can do this without the person, and cannot undo it: only the person permits more.
    #[action(
        access = write, idempotent, annotations = [(WHILE_SUSPENDED, true)],
        example = json!({ "max_amount": 20 }),
        example = json!({ "alone": ["own"], "ask_first_contact": true }),
        intents = intents::TIGHTEN
    )]
    fn tighten(call: &Call, input: Tighten) -> Result<PolicyView, ApprovalsError> {
        policy::tighten(call, input)
    }

    /// List the calls of the person's agents that wait, or have waited in the last 30 days, last changed first.
    ///
    /// For an agent that nobody has claimed, the list is empty.
    #[action(
        access = read, idempotent, example = List::default(), intents = intents::LIST,
        person_page = person_page::list()
    )]
    fn list(call: &Call, input: List) -> Result<Answer<Items<ApprovalView>>, ApprovalsError> {
        waiting::list(call, input)
    }

    /// Get a call that waits or has waited, with what has come of it.
    #[action(
        access = read, idempotent, example = json!({ "approval_id": APPROVAL_ID }),
        intents = intents::GET
    )]
    fn get(call: &Call, input: ApprovalId) -> Result<ApprovalView, ApprovalsError> {
        waiting::get(call, &input.approval_id)
    }

    /// Approve a call. Only the person does this, on their account page.
    ///
    /// The host makes the call once, at once, exactly as it is shown.
    #[action(
        access = write, by_person, emits = [DECIDED],
        example = json!({ "approval_id": APPROVAL_ID }), person_page = person_page::approve()
    )]
    fn approve(call: &Call, input: Decide) -> Result<ApprovalView, ApprovalsError> {
        deciding::approve(call, &input)
    }

    /// Deny a call. Only the person does this, on their account page.
    ///
    /// The same call is refused as `approval_denied` for a day.
    #[action(
        access = write, by_person, emits = [DECIDED],
        example = json!({ "approval_id": APPROVAL_ID }), person_page = person_page::deny()
    )]
    fn deny(call: &Call, input: Decide) -> Result<ApprovalView, ApprovalsError> {
        deciding::deny(call, &input)
    }

    /// Cancel a waiting call, for the agent that has made it.
    #[action(
        access = write, annotations = [(WHILE_SUSPENDED, true)], emits = [DECIDED],
        example = json!({ "approval_id": APPROVAL_ID }), intents = intents::CANCEL
    )]
    fn cancel(call: &Call, input: Decide) -> Result<ApprovalView, ApprovalsError> {
        deciding::cancel(call, &input)
    }

    /// Keep a call that waits. The host hands it over.
    #[action(access = internal, emits = [REQUESTED])]
    fn hold(call: &Call, input: Hold) -> Result<Held, ApprovalsError> {
        waiting::hold(call, input)
    }

    /// Keep what has come of an approved call. The host tells it.
    #[action(access = internal, idempotent, emits = [DECIDED])]
    fn executed(call: &Call, input: Executed) -> Result<(), ApprovalsError> {
        deciding::executed(call, input)
    }

    /// Let a waiting call expire, end one whose outcome is unknown, and forget one that ended long ago.
    #[action(access = internal, idempotent, emits = [DECIDED])]
    fn due(call: &Call, input: ApprovalId) -> Result<(), ApprovalsError> {
        deciding::due(call, &input.approval_id)
    }
}

const APPROVAL_ID: &str = "apr_01JZX8Q4M2N6P7R8S9T0V1W2X3";
