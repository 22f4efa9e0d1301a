//! The refusals, each with the next step that helps.

use crate::{states::*, types::*};
use people_kit::text::{Fault, TextError, Violations};
use people_kit::threads::ThreadError;
use portolan_sdk::{entity::Duplicate, prelude::*, time::seconds};

pub(crate) type Result<T, E = ApplicationError> = std::result::Result<T, E>;

#[derive(Debug, Refusals)]
pub(crate) enum ApplicationError {
    /// There is no such role on the map.
    #[refusal(not_found, next = Next::action("map_search", "search"))]
    RoleNotFound,
    /// There is no such company on the map.
    #[refusal(not_found, next = Next::action("map_search", "search"))]
    TargetNotFound,
    /// There is no such person on the map.
    #[refusal(not_found, next = Next::action("map_search", "search"))]
    PersonNotFound,
    /// There is no such signal on the map.
    #[refusal(not_found, next = Next::action("map_search", "search"))]
    SignalNotFound,
    /// The map has no investor of this signal.
    #[refusal(unprocessable, next = Next::action("map_search", "search"))]
    InvestorUnknown,
    /// There is no such listing, or it is not visible to you.
    #[refusal(not_found, next = Next::action("agent_listings", "search"))]
    ListingNotFound,
    /// This listing is not active, or its category does not fit.
    #[refusal(conflict, next = read_listing(&listing_id))]
    ListingNotActive { listing_id: String },
    /// There is no such application.
    #[refusal(not_found, next = list())]
    ApplicationNotFound,
    /// The person has an open application of this kind already.
    #[refusal(
        conflict,
        conflict_detail = Duplicate::new(application_id.as_str(), state.name()),
        next = get(&application_id)
    )]
    ApplicationExists { application_id: String, state: State },
    /// The person and the owner of this listing are in contact by a pairing, or a proposal was
    /// declined recently.
    #[refusal(conflict, next = Next::action("pairings", "get").field("pairing_id", pairing_id))]
    PairingExists { pairing_id: String },
    /// An application of this person was rejected recently.
    #[refusal(
        conflict,
        retryable,
        conflict_detail = Limit::within("cooldown", &Window { most: 1, within: COOLDOWN }, wait),
        next = get(&application_id).after_s(seconds(wait)).then_retry()
    )]
    CooldownActive { application_id: String, wait: u64 },
    /// The person acts for the recipient themselves.
    #[refusal(unprocessable, next = list().field("role", "received"))]
    SelfApplication,
    /// They do not accept applications or enquiries from you now.
    #[refusal(conflict, next = list())]
    RecipientNotAccepting,
    /// The role has questions that must be answered: see the next step.
    #[refusal(unprocessable, retryable, next = next.then_retry())]
    AnswersRequired { next: Next },
    /// The text seems to exclude or prefer people by a protected characteristic, to ask for money in
    /// advance, or to instruct the agents that read it. Write it in other words.
    #[refusal(
        unprocessable,
        conflict_detail = Violations::new(errors),
        next = Next::call("faq_search").field("query", "prohibited criteria")
    )]
    UnfairText { errors: Vec<Fault> },
    /// The conversation is closed, so that nothing can be exchanged in it. The recipient can open a new one.
    #[refusal(conflict, next = get(&application_id))]
    ThreadClosed { application_id: String },
    /// The conversation is open. Only a closed one is replaced.
    #[refusal(conflict, next = get(&application_id))]
    ThreadOpen { application_id: String },
    #[refusal(transparent)]
    Text(TextError),
    #[refusal(transparent)]
    Common(Refusal),
}

impl ApplicationError {
    /// Translates a refusal of the conversation.
    pub(crate) fn of_thread(error: ThreadError, application_id: &str) -> Self {
        let refusal = Refusal::from(error);
        match refusal.code.as_str() {
            "thread_closed" | "thread_not_found" => {
                Self::ThreadClosed { application_id: application_id.to_owned() }
            }
            _ => Self::Common(refusal),
        }
    }

    pub(crate) fn not_yours(application_id: &str) -> Self {
        let message = "Only the other side of this application may do this.";
        let refusal = Refusal::common(ErrorCode::NotPermitted, message);
        Self::Common(refusal.next(get(application_id)))
    }

    pub(crate) fn not_a_recipient() -> Self {
        let message = "Only those who act for the company or own the listing may do this.";
        let next = Next::action("owner_verification", "status");
        Self::Common(Refusal::common(ErrorCode::NotPermitted, message).next(next))
    }

    /// Makes the refusal for a limit of applications that wait for unclaimed targets.
    pub(crate) fn too_many_waiting(name: &'static str, most: u64) -> Self {
        let limit = Limit::reached(name, most);
        let message =
            "Nobody acts for this company yet, and too many applications wait for such companies.";
        let waiting = portolan_sdk::to_value(&[State::Waiting]);
        Self::Common(quota(message, &limit, list().field("role", "sent").field("state", waiting)))
    }
}

pub(crate) fn get(application_id: &str) -> Next {
    Next::action(CAPABILITY, "get").field("application_id", application_id)
}

pub(crate) fn list() -> Next {
    Next::action(CAPABILITY, "list")
}

fn read_listing(listing_id: &str) -> Next {
    Next::action("agent_listings", "get").field("listing_id", listing_id)
}

/// Returns the call that reads the conversation of an application.
pub(crate) fn read_thread(thread_id: &str) -> Next {
    Next::action("conversations", "messages").field("thread_id", thread_id)
}
