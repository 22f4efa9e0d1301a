//! The refusals, each with the next step that helps.

use crate::{documents::Seat, states::*, types::*};
use people_kit::fair_text::FairTextError;
use people_kit::threads::ThreadError;
use portolan_sdk::{entity::Duplicate, prelude::*, time::seconds};

pub(crate) type Result<T, E = IntroError> = std::result::Result<T, E>;

#[derive(Debug, Refusals)]
pub(crate) enum IntroError {
    /// There is no such introduction.
    #[refusal(not_found, next = Next::action(CAPABILITY, "list"))]
    IntroNotFound,
    /// There is no such person, or the person is not visible to you.
    #[refusal(not_found, next = Next::action("social_relationships", "list"))]
    OwnerNotFound,
    /// The two people do not know each other here: they are not contacts, were not connected by a pairing,
    /// and have not met. Ask somebody whom you know, and forward a request only to somebody whom you know.
    #[refusal(unprocessable, next = Next::action("social_relationships", "list"))]
    NotAcquainted,
    /// The person knows the other one already, so nobody has to introduce them.
    #[refusal(unprocessable, next = Next::action("conversations", "list"))]
    AlreadyAcquainted,
    /// The requester, the introducer and the other person have to be three different people.
    #[refusal(unprocessable, next = Next::action("social_relationships", "list"))]
    SamePerson,
    /// The person has an open request for an introduction to this person.
    #[refusal(
        conflict,
        conflict_detail = Duplicate::new(intro_id.as_str(), State::Asked.name()),
        next = get(&intro_id)
    )]
    IntroExists { intro_id: String },
    /// A request for an introduction to this person ended recently. Ask again after the cooldown.
    #[refusal(
        conflict,
        retryable,
        conflict_detail = Limit::within("cooldown", &Window { most: 1, within: COOLDOWN }, wait),
        next = list(Role::Requester).after_s(seconds(wait)).then_retry()
    )]
    CooldownActive { wait: u64 },
    /// Somebody who is needed for this introduction cannot take part now.
    #[refusal(conflict, next = Next::action(CAPABILITY, "list"))]
    RecipientNotAccepting,
    /// The conversation is closed, so contact data cannot be exchanged in it.
    #[refusal(conflict, next = get(&intro_id))]
    ThreadClosed { intro_id: String },
    #[refusal(transparent)]
    Text(FairTextError),
    #[refusal(transparent)]
    Common(Refusal),
}

impl IntroError {
    /// Translates a refusal of the conversation.
    pub(crate) fn of_thread(error: ThreadError, intro_id: &str) -> Self {
        let refusal = Refusal::from(error);
        match refusal.code.as_str() {
            "thread_closed" | "thread_not_found" => {
                Self::ThreadClosed { intro_id: intro_id.to_owned() }
            }
            _ => Self::Common(refusal),
        }
    }

    pub(crate) fn not_yours(seat: &Seat) -> Self {
        let message = "Another person of this introduction may do this.";
        let refusal = Refusal::common(ErrorCode::NotPermitted, message);
        Self::Common(refusal.next(get(&seat.intro_id)))
    }

    /// Makes the refusal of one more request of a person who has too many open ones.
    pub(crate) fn too_many_open() -> Self {
        let limit = Limit::reached("open_intros", OPEN_OF_A_REQUESTER as u64);
        let message =
            "Too many requests of the person are open. Withdraw one, or wait until one is over.";
        let open = list(Role::Requester).field("state", portolan_sdk::to_value(&[State::Asked]));
        Self::Common(quota(message, &limit, open))
    }

    /// Makes the refusal of one more request to an introducer whom the person has asked lately; another one is
    /// possible in `wait` milliseconds.
    pub(crate) fn too_many_to_one(wait: u64) -> Self {
        let limit = Limit::within("intros_per_introducer", &TO_ONE_INTRODUCER, wait);
        let message =
            "The person has asked this introducer often enough lately. Ask somebody else, or wait.";
        Self::Common(quota(message, &limit, list(Role::Requester)))
    }
}

pub(crate) fn get(intro_id: &str) -> Next {
    Next::action(CAPABILITY, "get").field("intro_id", intro_id)
}

pub(crate) fn list(role: Role) -> Next {
    Next::action(CAPABILITY, "list").field("role", role.name())
}

/// Returns the call that reads the conversation of an introduction.
pub(crate) fn read_thread(thread_id: &str) -> Next {
    Next::action("conversations", "messages").field("thread_id", thread_id)
}
