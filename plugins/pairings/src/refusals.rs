//! The refusals, each with the next step that helps.

use crate::{limits::*, states::*, types::*};
use people_kit::text::{Fault, TextError, Violations};
use people_kit::{taxonomy::Side, threads::ThreadError};
use portolan_sdk::{entity::Duplicate, prelude::*, states::StateConflict, time::seconds};

/// The conflict of a refusal because of age: the minimum age.
#[derive(Debug, Serialize)]
pub(crate) struct TooYoung {
    kind: &'static str,
    policy: &'static str,
    min_age: u8,
}

/// The category and side by which similar listings are searched.
#[derive(Debug)]
pub(crate) struct Like {
    pub(crate) category: String,
    pub(crate) side: Side,
}

pub(crate) type Result<T, E = PairingError> = std::result::Result<T, E>;

#[derive(Debug, Refusals)]
pub(crate) enum PairingError {
    /// There is no such listing, or it is not visible to you.
    #[refusal(not_found, next = Next::action("agent_listings", "search"))]
    ListingNotFound,
    /// This listing is not active. Only active listings can be paired.
    #[refusal(conflict, next = step)]
    ListingNotActive { step: Next },
    /// This category has a minimum age, and the person's record does not show that they have
    /// reached it.
    #[refusal(
        forbidden,
        retryable,
        conflict_detail = TooYoung { kind: "policy", policy: "min_age", min_age },
        next = state_age(is_known)
    )]
    AgeRestricted { min_age: u8, is_known: bool },
    /// There is no such pairing.
    #[refusal(not_found, next = list())]
    PairingNotFound,
    /// The two listings have an open pairing already.
    #[refusal(
        conflict,
        conflict_detail = Duplicate::new(pairing_id.as_str(), existing_state),
        next = get(&pairing_id)
    )]
    PairingExists { pairing_id: String, existing_state: &'static str },
    /// Both listings belong to the person you act for.
    #[refusal(unprocessable, next = search(like))]
    SelfPairing { like: Like },
    /// The two listings are not each other's counterpart. The next step searches the counterpart's
    /// category and side.
    #[refusal(
        unprocessable,
        conflict_detail = Violations::new(vec![Fault {
            pointer: "/to_listing_id".into(),
            rule: "counterpart",
            expected: "a listing of the counterpart category and side",
        }]),
        next = search(like)
    )]
    CategoryMismatch { like: Like },
    /// This person does not accept proposals like this one from you now.
    #[refusal(conflict, next = step)]
    RecipientNotAccepting { step: Next },
    /// The other side has recently declined a proposal of this listing.
    #[refusal(
        conflict,
        retryable,
        conflict_detail = Limit::within("cooldown", &Window { most: 1, within: COOLDOWN }, wait),
        next = get(&pairing_id).after_s(seconds(wait)).then_retry()
    )]
    CooldownActive { pairing_id: String, wait: u64 },
    /// The limit of questions is reached. Accept or decline.
    #[refusal(conflict, next = get(&pairing_id))]
    QuestionLimit { pairing_id: String },
    /// The two are not connected, and no question waits for an answer.
    #[refusal(conflict, next = get(&pairing_id))]
    PairingNotConnected { pairing_id: String },
    /// Contact data can be disclosed only while the two are connected.
    #[refusal(
        conflict,
        conflict_detail = StateConflict::new(state.name(), allowed_actions),
        next = get(&pairing_id)
    )]
    DisclosureNotAllowed { pairing_id: String, state: State, allowed_actions: Vec<&'static str> },
    /// This person does not act for the organisation, or cannot answer here.
    #[refusal(not_found, next = members(&org_id))]
    MemberNotFound { org_id: String },
    /// The conversation of the two is closed: nobody can write in it any more.
    #[refusal(conflict, next = get(&pairing_id))]
    ThreadClosed { pairing_id: String },
    #[refusal(transparent)]
    Text(TextError),
    #[refusal(transparent)]
    Common(Refusal),
}

impl PairingError {
    /// Translates a refusal of the pairing's conversation.
    pub(crate) fn of_thread(error: ThreadError, pairing_id: &str) -> Self {
        let refusal = Refusal::from(error);
        match refusal.code.as_str() {
            "thread_closed" => Self::ThreadClosed { pairing_id: pairing_id.to_owned() },
            // A person who has left the conversation cannot write in it.
            "thread_not_found" => Self::PairingNotConnected { pairing_id: pairing_id.to_owned() },
            _ => Self::Common(refusal),
        }
    }

    pub(crate) fn not_yours(pairing_id: &str) -> Self {
        let message = "Somebody else on this pairing has to do this: see allowed_actions.";
        Self::Common(Refusal::common(ErrorCode::NotPermitted, message).next(get(pairing_id)))
    }

    /// Makes the refusal of a question while an earlier one waits for its answer.
    pub(crate) fn question_open(
        pairing_id: &str,
        state: State,
        allowed_actions: Vec<&'static str>,
    ) -> Self {
        let message = "Your question waits for its answer. Ask again once the proposer has answered it, or accept or decline now.";
        let conflict = StateConflict::new(state.name(), allowed_actions);
        let refusal = Refusal::common(ErrorCode::InvalidTransition, message).conflict(&conflict);
        Self::Common(refusal.next(get(pairing_id)))
    }

    pub(crate) fn not_acting() -> Self {
        let message = "You do not act in the name of this organisation.";
        let mine = Next::action("social_org", "list_mine");
        Self::Common(Refusal::common(ErrorCode::NotPermitted, message).next(mine))
    }

    pub(crate) fn not_your_listing(listing_id: &str) -> Self {
        let message = "Only the owner of this listing may propose it.";
        Self::Common(Refusal::common(ErrorCode::NotOwner, message).next(read_listing(listing_id)))
    }

    pub(crate) fn too_many_open() -> Self {
        let limit = Limit::reached("open_proposals_of_a_listing", OPEN_OF_A_LISTING as u64);
        let states = portolan_sdk::to_value(WAITING);
        let next = list().field("role", "sent").field("state", states);
        let message = "The limit of open proposals of this listing is reached. Withdraw one first.";
        Self::Common(quota(message, &limit, next))
    }

    /// Makes the refusal for disclosed kinds without a value: all missing values are reported
    /// together.
    pub(crate) fn undisclosable(errors: Vec<Fault>, next: Next) -> Self {
        let message = "A value that is to be disclosed is not known.";
        let refusal = Refusal::common(ErrorCode::ValidationFailed, message);
        Self::Common(refusal.conflict(&Violations::new(errors)).next(next))
    }
}

pub(crate) fn get(pairing_id: &str) -> Next {
    Next::action(CAPABILITY, "get").field("pairing_id", pairing_id)
}

pub(crate) fn list() -> Next {
    Next::action(CAPABILITY, "list")
}

fn members(org_id: &str) -> Next {
    Next::action("social_org", "members").field("org_id", org_id)
}

pub(crate) fn read_listing(listing_id: &str) -> Next {
    Next::action("agent_listings", "get").field("listing_id", listing_id)
}

/// Returns the call that reads the conversation of a pairing.
pub(crate) fn read_thread(thread_id: &str) -> Next {
    Next::action("conversations", "messages").field("thread_id", thread_id)
}

pub(crate) fn search(like: Like) -> Next {
    Next::action("agent_listings", "search")
        .field("category", like.category)
        .field("side", portolan_sdk::to_value(&like.side))
}

fn state_age(is_known: bool) -> Next {
    if is_known {
        return Next::action("owners", "me");
    }
    Next::action("owners", "update_profile")
        .ask("birth_year", "In which year were you born? Others do not see it.")
        .then_retry()
}
