//! The stored documents: applications, those that prevent others, and the questions of roles.

use crate::{refusals::*, states::*, types::*};
use portolan_sdk::documents::Person;
use portolan_sdk::documents::PersonalField::Shared;
use portolan_sdk::prelude::*;

pub(crate) const APPLICATIONS: Collection<Application> = Collection::new("applications")
    .people(&[
        // A member of an organisation gets only their own decisions in an export: the rest is not theirs.
        Person::delete("owner_id").fields(&[
            Shared("$id"),
            Shared("profile"),
            Shared("message"),
            Shared("answers"),
        ]),
        Person::redact("agent_id", &[]),
        Person::redact(
            "to_owner_id",
            &[
                Shared("$id"),
                Shared("title"),
                Shared("about.listing_id"),
                Shared("answers[].question"),
            ],
        ),
        Person::redact("contact_id", &[]),
        Person::redact("decisions[].by", &[Shared("decisions[].message")]),
    ])
    .index("sent", &["owner_id", "changed_at"])
    .index("inbox", &["inbox", "changed_at"])
    .index("to_owner", &["to_owner_id", "changed_at"])
    .index("listing", &["about.listing_id", "state"])
    .index("target", &["about.target_id", "state"])
    .index("contact", &["contact_id", "state"])
    .index("org", &["about.org_id", "state"])
    .index("profile", &["profile_listing_id", "state"])
    .index("kind", &["kind"]);

/// The last application of a person to a role or a company, keyed by both. Two concurrent ones
/// conflict here.
pub(crate) const LAST: Collection<Last> =
    Collection::new("last").people(&[Person::delete("$id"), Person::delete("owner_id")]);

/// The questions of a role or a job listing, keyed by its id.
pub(crate) const QUESTIONS: Collection<Questions> = Collection::new("questions")
    .people(&[Person::delete("owner_id"), Person::redact("set_by", &[])]);

pub(crate) const DAYS: Collection<Day> = Collection::new("days").people(&[Person::delete("$id")]);

/// An application's kind.
#[choice(States)]
pub(crate) enum Kind {
    /// An application to a role.
    Role,
    Contact,
    Service,
    Pitch,
    Meeting,
}

#[choice]
pub(crate) enum Decision {
    /// Keep it for a later decision, and tell the applicant so.
    Shortlist,
    /// Talk with the applicant: a conversation is opened.
    Invite,
    /// Offer the role: a conversation is opened, and the applicant accepts or declines. Until then,
    /// `reject` takes the offer back.
    Offer,
    Reject,
}

impl Decision {
    /// Returns the state to which the decision leads.
    pub(crate) fn target(self) -> State {
        match self {
            Self::Shortlist => State::Shortlisted,
            Self::Invite => State::Invited,
            Self::Offer => State::Offered,
            Self::Reject => State::Rejected,
        }
    }

    /// Returns whether it is possible for applications only.
    pub(crate) fn is_for_roles(self) -> bool {
        matches!(self, Self::Shortlist | Self::Offer)
    }
}

#[choice]
pub(crate) enum ReasonCode {
    NotAFit,
    Experience,
    Skills,
    Location,
    Compensation,
    Timing,
    /// The role is filled.
    Filled,
    /// Applications or enquiries of this kind are not wanted.
    NotWanted,
    Other,
}

#[choice]
pub(crate) enum OfferAnswer {
    Accept,
    Decline,
}

/// An application's subject. Each kind has some of the ids.
#[message(Default)]
pub(crate) struct About {
    /// The company of the map.
    pub(crate) target_id: Option<String>,
    /// The role of the map.
    pub(crate) role_id: Option<String>,
    /// The listing that offers the job; empty if it was deleted with its person.
    pub(crate) listing_id: Option<String>,
    /// The person of the map.
    pub(crate) person_id: Option<String>,
    /// The signal of the map.
    pub(crate) signal_id: Option<String>,
    /// The organisation of the listing.
    pub(crate) org_id: Option<String>,
}

#[document]
#[entity(
    kind = "application", collection = APPLICATIONS,
    not_found = ApplicationError::ApplicationNotFound
)]
pub(crate) struct Application {
    /// The applicant.
    pub(crate) owner_id: String,
    /// The agent that last acted for the applicant.
    pub(crate) agent_id: Option<String>,
    pub(crate) kind: Kind,
    pub(crate) about: About,
    /// The owner of the listing, if it belongs to no organisation.
    pub(crate) to_owner_id: Option<String>,
    /// The target or organisation whose people list it, once it is delivered.
    pub(crate) inbox: Option<String>,
    /// The title of the role or listing, or the name of the company.
    pub(crate) title: String,
    /// The category of its conversation.
    pub(crate) category: String,
    /// The company's own page for applications.
    pub(crate) apply_url: Option<String>,
    pub(crate) profile_listing_id: Option<String>,
    pub(crate) profile: Option<Profile>,
    pub(crate) message: Option<String>,
    #[serde(default)]
    pub(crate) answers: Vec<Answered>,
    pub(crate) state: State,
    /// When it last changed, in milliseconds since the Unix epoch, like all times in this file.
    pub(crate) changed_at: u64,
    /// When it expires.
    pub(crate) due_at: Option<u64>,
    #[serde(default)]
    pub(crate) decisions: Vec<Decided>,
    /// The person with whom the conversation of the applicant was opened.
    pub(crate) contact_id: Option<String>,
    pub(crate) thread_id: Option<String>,
    /// Whether the conversation is closed.
    #[serde(default)]
    pub(crate) thread_closed: bool,
    /// The hold, while credits are held.
    pub(crate) hold_id: Option<String>,
    pub(crate) cost: u32,
    /// Whether each side allows contact data in the conversation.
    #[serde(default)]
    pub(crate) contact: Consents,
    /// Why a timer or a listing ended it, as [`Facts::reason`](crate::types::Facts) has it.
    #[serde(default)]
    pub(crate) end_reason: Option<String>,
    /// Whether the recipients were notified that the applicant has deactivated their account.
    #[serde(default)]
    pub(crate) applicant_away: bool,
    /// Whether the applicant was notified that nobody of the recipients is there.
    #[serde(default)]
    pub(crate) recipient_away: bool,
}

/// A question, and the applicant's answer.
#[document]
pub(crate) struct Answered {
    pub(crate) question: String,
    pub(crate) answer: String,
}

#[document]
pub(crate) struct Decided {
    pub(crate) decision: Decision,
    pub(crate) reason_code: Option<ReasonCode>,
    pub(crate) message: Option<String>,
    pub(crate) by: String,
    pub(crate) at: u64,
}

#[document(Default)]
pub(crate) struct Consents {
    pub(crate) applicant: bool,
    pub(crate) recipient: bool,
}

#[document(Default)]
pub(crate) struct Last {
    pub(crate) owner_id: String,
    /// The open application.
    pub(crate) open: Option<String>,
    /// The rejected application, and when it was rejected.
    pub(crate) rejected: Option<(String, u64)>,
}

#[document(Default)]
pub(crate) struct Questions {
    pub(crate) questions: Vec<Question>,
    pub(crate) set_by: String,
    /// The owner of the listing, if it belongs to no organisation: the questions are erased with them.
    #[serde(default)]
    pub(crate) owner_id: Option<String>,
}

#[document]
pub(crate) struct Question {
    pub(crate) question: String,
    pub(crate) required: bool,
}

impl Consents {
    pub(crate) fn of_both(&self) -> bool {
        self.applicant && self.recipient
    }
}

impl About {
    /// Returns the id of the subject of an application: the role, the listing, the person, or the
    /// company.
    fn subject_id(&self) -> &str {
        let ids = [&self.role_id, &self.listing_id, &self.person_id, &self.target_id];
        ids.into_iter().flatten().next().map_or("", String::as_str)
    }
}

impl Application {
    /// Returns the key of the applicant and the subject.
    pub(crate) fn key(&self) -> String {
        format!("{}/{}/{}", self.owner_id, self.kind.name(), self.about.subject_id())
    }

    /// Returns whether the two sides talk, and their conversation is closed.
    pub(crate) fn is_without_conversation(&self) -> bool {
        TALKING.contains(&self.state) && self.thread_closed
    }

    /// Returns the inbox in which it is once it is delivered; `None` if it is for one person.
    pub(crate) fn inbox_key(&self) -> Option<String> {
        self.about.org_id.clone().or_else(|| self.about.target_id.clone())
    }
}
