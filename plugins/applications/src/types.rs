//! Inputs, limits and events.

use crate::{documents::*, states::*};
use people_kit::listings::Card;
use portolan_sdk::prelude::*;

pub(crate) const CAPABILITY: &str = "applications";

/// The id of the application: `app_` and a ULID.
#[id]
pub(crate) struct Id(String);

/// The daily limit of applications and enquiries of one person.
pub(crate) const SENT_A_DAY: DailyLimit =
    DailyLimit { action: "send", name: "applications_per_day", most: 20 };
/// The maximum number of applications and enquiries that wait for one target that nobody has
/// claimed.
pub(crate) const WAITING_FOR_A_TARGET: u64 = 50;
/// The maximum number of a person's applications and enquiries that wait for such targets.
pub(crate) const WAITING_OF_A_PERSON: u64 = 10;
/// The time for which an application waits for somebody to claim its target.
pub(crate) const UNCLAIMED: u64 = 30 * DAY;
/// The time without a decision after which a delivered application expires.
pub(crate) const UNDECIDED_FOR: u64 = 45 * DAY;
/// The cooldown after a rejection, in which the person cannot apply to the same role again.
pub(crate) const COOLDOWN: u64 = 90 * DAY;
/// The maximum number of applications that one call ends after a block; the others follow in calls of
/// their own. Only the applicants are notified.
pub(crate) const BLOCKED_AT_ONCE: u32 = 10;
/// The same after the end of a listing. Each end is an event for up to 51 people, and a call can
/// publish 100.
pub(crate) const LEFT_AT_ONCE: u32 = 1;
/// The maximum number of people whom a call tells that applications have ended.
pub(crate) const MOST_TOLD: usize = 90;

/// The interval in which an application with a conversation is compared with its people.
pub(crate) const CHECK_INTERVAL: u64 = DAY;
/// The time after the deactivation of a person in which those who talk with them get to know whether they
/// were erased.
pub(crate) const CHECKED_AFTER: u64 = 10 * MINUTE;
/// The time after the acceptance of an offer in which it is compared with its people.
pub(crate) const CHECKED_FOR: u64 = 180 * DAY;

/// An event of an application.
pub(crate) type ApplicationEvent = Event<Data<Facts>>;

pub(crate) const RECEIVED: ApplicationEvent = Event::new("application.received");
pub(crate) const DELIVERED: ApplicationEvent = Event::new("application.delivered");
pub(crate) const DECIDED: ApplicationEvent = Event::new("application.decided");
pub(crate) const ANSWERED: ApplicationEvent = Event::new("application.answered");
pub(crate) const WITHDRAWN: ApplicationEvent = Event::new("application.withdrawn");
pub(crate) const CONTACT_EXCHANGED: ApplicationEvent = Event::new("application.contact_exchanged");
pub(crate) const CONVERSATION_REOPENED: ApplicationEvent =
    Event::new("application.conversation_reopened");
/// Tells other capabilities that a person of the conversation no longer exists. Nobody else gets it.
pub(crate) const PERSON_GONE: ApplicationEvent = Event::new("application.person_gone");
pub(crate) const EXPIRED: ApplicationEvent = Event::new("application.expired");
/// The listing that was sent with an application is no longer shown.
pub(crate) const PROFILE_ENDED: ApplicationEvent = Event::new("application.profile_ended");
pub(crate) const COUNTERPART_CHANGED: ApplicationEvent =
    Event::new("application.counterpart_changed");
pub(crate) const CANCELLED: ApplicationEvent = Event::new("application.cancelled");

/// The facts of the events; each event has some of them.
#[output(Default)]
pub(crate) struct Facts {
    pub(crate) application_id: String,
    pub(crate) kind: Option<Kind>,
    /// The target, role, listing, person and signal that it is about.
    #[serde(flatten)]
    pub(crate) about: About,
    /// Whether nobody acts for the target yet.
    pub(crate) recipient_unclaimed: Option<bool>,
    pub(crate) decision: Option<Decision>,
    pub(crate) reason_code: Option<ReasonCode>,
    pub(crate) answer: Option<OfferAnswer>,
    /// Why a timer or a listing ended it: `unclaimed`, `undecided`, `listing_filled`,
    /// `listing_withdrawn`, `listing_expired`, `org_archived` or, if the listing was paused or for any other
    /// reason, `listing_inactive`.
    pub(crate) reason: Option<&'static str>,
    pub(crate) thread_id: Option<String>,
    /// Whether the other side can be reached now.
    pub(crate) counterpart_reachable: Option<bool>,
    /// When it expires (RFC 3339).
    pub(crate) expires_at: Option<String>,
    /// The public part of the listing that was sent with it.
    pub(crate) card: Option<Card>,
}

/// The part of `conversation.closed` that is read.
#[input]
pub(crate) struct ThreadClosed {
    pub(crate) thread_id: String,
    #[serde(default)]
    pub(crate) pairing_id: Option<String>,
}

/// The part of `org.member_changed` that is read.
#[input]
pub(crate) struct MemberChanged {
    pub(crate) owner_id: String,
}

/// An application to be compared with its people, and its conversation.
#[input]
pub(crate) struct Check {
    pub(crate) application_id: String,
    pub(crate) thread_id: String,
}

/// The applicant's experience, in fields.
#[input(Clone, Default)]
#[serde(deny_unknown_fields)]
pub(crate) struct Profile {
    /// The occupation, such as `Robotics engineer`.
    #[schemars(length(min = 2, max = 120))]
    pub(crate) headline: String,
    /// The applicant's experience and wishes.
    #[schemars(length(min = 1, max = 4000))]
    pub(crate) summary: Option<String>,
    /// The applicant's skills, such as `Rust`.
    #[serde(default)]
    #[schemars(length(max = 30), inner(length(min = 1, max = 60)))]
    pub(crate) skills: Vec<String>,
    /// The years of experience in this kind of work.
    #[schemars(range(min = 0, max = 70))]
    pub(crate) years_experience: Option<u32>,
    /// The languages, as tags of BCP 47.
    #[serde(default)]
    #[schemars(length(max = 20), inner(length(min = 2, max = 35)))]
    pub(crate) languages: Vec<String>,
    /// Where the applicant can work, such as `San Francisco or remote`.
    #[schemars(length(min = 1, max = 120))]
    pub(crate) location: Option<String>,
    /// From when the applicant can work (RFC 3339 date).
    #[schemars(extend("format" = "date"))]
    pub(crate) available_from: Option<String>,
}

/// An answer to a question of the role.
#[input(Clone)]
#[serde(deny_unknown_fields)]
pub(crate) struct AnswerInput {
    /// The question, from `questions`.
    #[schemars(length(min = 1, max = 10))]
    pub(crate) question_id: String,
    /// The answer.
    #[schemars(length(min = 1, max = 2000))]
    pub(crate) answer: String,
}

#[input]
pub(crate) struct Apply {
    /// An open role of the map, `rol_…`. Give either this or `listing_id`.
    pub(crate) role_id: Option<Text<1, 64>>,
    /// A listing of somebody who offers a job.
    pub(crate) listing_id: Option<Text<1, 40>>,
    /// The person's own active listing below `work.candidate`. The recipients see it as it is then,
    /// and only while it is active. Give this, `profile` or both.
    pub(crate) profile_listing_id: Option<Text<1, 40>>,
    /// The applicant's profile, in fields.
    pub(crate) profile: Option<Profile>,
    /// A letter to the recipients.
    pub(crate) message: Option<Text<1, 4000>>,
    /// The answers to the questions of the role.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10))]
    pub(crate) answers: Vec<AnswerInput>,
}

/// An enquiry's purpose.
#[choice]
pub(crate) enum Purpose {
    /// To get in touch with a company.
    Contact,
    /// To offer the company a service.
    Service,
    /// To pitch to an investor.
    Pitch,
    /// To meet a founder.
    Meeting,
}

#[input]
pub(crate) struct Enquire {
    /// The enquiry's purpose.
    pub(crate) purpose: Purpose,
    /// A company or investor of the map, `tgt_…`. Give exactly one of `target_id`, `person_id` and
    /// `signal_id`.
    pub(crate) target_id: Option<Text<1, 64>>,
    /// A person of the map, `per_…`: it goes to their company.
    pub(crate) person_id: Option<Text<1, 64>>,
    /// A funding signal of the map, `sig_…`: it goes to the first of its investors who is on the
    /// map.
    pub(crate) signal_id: Option<Text<1, 64>>,
    /// The subject, and the request to them.
    pub(crate) message: Text<1, 4000>,
    /// The person's own active listing, such as one of a service. The recipients see it as it is
    /// then, and only while it is active.
    pub(crate) listing_id: Option<Text<1, 40>>,
}

#[input]
pub(crate) struct ApplicationId {
    pub(crate) application_id: Id,
}

#[input]
pub(crate) struct Step {
    pub(crate) application_id: Id,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct Decide {
    pub(crate) application_id: Id,
    /// `shortlist` and `offer` are for applications only.
    pub(crate) decision: Decision,
    /// Why it is rejected, or why an offer is taken back; required then. The applicant reads it.
    pub(crate) reason_code: Option<ReasonCode>,
    /// A message to the applicant.
    pub(crate) message: Option<Text<1, 2000>>,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct AnswerOffer {
    pub(crate) application_id: Id,
    /// The answer to the offer.
    pub(crate) answer: OfferAnswer,
    pub(crate) expected_version: Option<Version>,
}

#[input]
pub(crate) struct ExchangeContact {
    pub(crate) application_id: Id,
    /// Whether this side allows contact data in the conversation. It can be taken back until the
    /// other side allows it too.
    pub(crate) allow: bool,
    pub(crate) expected_version: Option<Version>,
}

/// The side of an application on which a person is.
#[choice]
pub(crate) enum Role {
    /// The person sent it.
    Sent,
    /// The person acts for the recipient.
    Received,
}

#[input(Default)]
pub(crate) struct List {
    /// The side of the applications to return. Omit this field to get those of both sides.
    pub(crate) role: Option<Role>,
    /// The states of the applications to return. Omit this field to get all.
    #[schemars(length(min = 1, max = 11))]
    pub(crate) state: Option<Vec<State>>,
    /// The kinds of the applications to return. Omit this field to get all.
    #[schemars(length(min = 1, max = 5))]
    pub(crate) kind: Option<Vec<Kind>>,
    #[serde(flatten)]
    pub(crate) page: PageInput,
}

#[input]
pub(crate) struct RoleInput {
    /// An open role of the map, `rol_…`. Give either this or `listing_id`.
    pub(crate) role_id: Option<Text<1, 64>>,
    /// A listing of somebody who offers a job.
    pub(crate) listing_id: Option<Text<1, 40>>,
}

/// A question to those who apply.
#[input]
#[serde(deny_unknown_fields)]
pub(crate) struct NewQuestion {
    /// The question.
    #[schemars(length(min = 1, max = 300))]
    pub(crate) question: String,
    /// Whether an application without an answer is refused.
    #[serde(default)]
    pub(crate) required: bool,
}

#[input]
pub(crate) struct SetQuestions {
    #[serde(flatten)]
    pub(crate) of: RoleInput,
    /// All questions from now on; an empty list removes them.
    #[schemars(length(max = 10))]
    pub(crate) questions: Vec<NewQuestion>,
    pub(crate) expected_version: Option<Version>,
}

/// The part of `verification.updated` that is read.
#[input]
pub(crate) struct Verification {
    /// The target; `None` if the event is about an organisation.
    pub(crate) target_id: Option<String>,
    #[serde(default)]
    pub(crate) anybody_verified: bool,
}

/// The part of `org.target_linked` that is read.
#[input]
pub(crate) struct Linked {
    pub(crate) target_id: Option<String>,
}

/// The part of `relationship.blocked` that is read, and where to go on.
#[input(Clone)]
pub(crate) struct Blocked {
    pub(crate) blocker_id: String,
    pub(crate) blocked_id: String,
    #[serde(default)]
    pub(crate) cursor: Option<String>,
}

/// The part of a listing's event that is read, and where to go on.
#[input(Clone)]
pub(crate) struct ListingLeft {
    pub(crate) listing_id: String,
    #[serde(default)]
    pub(crate) cursor: Option<String>,
}

/// The part of `owner.deactivated` that is read: nothing, because its subject is the person.
#[input(Clone)]
pub(crate) struct Deactivated {}

/// The part of `org.archived` that is read.
#[input(Clone)]
pub(crate) struct OrgArchived {
    pub(crate) org_id: String,
}

/// The data of `identity.owner_left`.
#[input]
pub(crate) struct OwnerLeft {
    pub(crate) owner_id: String,
}
