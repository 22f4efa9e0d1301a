//! Outputs: an application as one of its sides sees it.

use crate::{documents::*, presence, refusals::*, states::*, types::*};
use people_kit::listings::{self, Card, Profile as Listing};
use people_kit::people::{self, Person};
use people_kit::{UNTRUSTED, relations};
use portolan_sdk::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// The person who applies.
#[output]
pub(crate) struct Applicant {
    owner_id: String,
    display_name: Option<String>,
    /// The listing that was sent with it; null if there is none, or `listing_ended` is true.
    listing: Option<Card>,
    /// Whether a listing was sent with it that is not active now: it was paused or has ended.
    listing_ended: bool,
    /// Always `untrusted_user_content`: the name was written by the person.
    trust: &'static str,
}

/// A question of the role, and the answer.
#[output]
pub(crate) struct AnswerView {
    question: String,
    answer: String,
}

/// A decision of the recipients.
#[output]
pub(crate) struct DecisionView {
    decision: Decision,
    /// Why it was rejected.
    reason_code: Option<ReasonCode>,
    message: Option<String>,
    /// When it was decided (RFC 3339).
    decided_at: String,
}

/// Which side allows contact data in the conversation.
#[output]
pub(crate) struct ContactView {
    mine: bool,
    theirs: bool,
}

/// An application as one of its sides sees it.
#[output]
pub(crate) struct View {
    application_id: String,
    kind: Kind,
    pub(crate) state: State,
    /// The version, which increases with every change.
    version: u64,
    /// The actions that the person may take now.
    allowed_actions: Vec<&'static str>,
    role: Role,
    #[serde(flatten)]
    about: About,
    /// The title of the role or listing, or the name of the company.
    title: String,
    applicant: Applicant,
    profile: Option<Profile>,
    message: Option<String>,
    answers: Vec<AnswerView>,
    /// Whether nobody acts for the company yet: it is kept until `expires_at`, and delivered as soon
    /// as somebody proves to.
    recipient_unclaimed: bool,
    /// The company's own page for applications, while nobody acts for the company here.
    apply_url: Option<String>,
    /// The decisions, the first one first.
    decisions: Vec<DecisionView>,
    /// The conversation, once the applicant is invited or offered the role.
    #[nullable]
    thread_id: Option<String>,
    /// Whether that conversation is closed although the two sides still talk: a recipient opens a new one
    /// with `reopen_conversation`.
    conversation_closed: bool,
    /// Whether the other side can be reached; null unless the two sides talk.
    counterpart_reachable: Option<bool>,
    /// Once both sides allow it, contact data may be written in the conversation.
    contact: ContactView,
    /// The price; only for the applicant.
    cost_credits: Option<u32>,
    /// Why it ended without an action of one of the two sides: `unclaimed`, `undecided`,
    /// `listing_filled`, `listing_withdrawn`, `listing_expired`, `org_archived`, or `listing_inactive` if the listing was
    /// paused or for any other reason.
    end_reason: Option<String>,
    /// When it expires without a decision (RFC 3339); null if it has ended.
    #[nullable]
    expires_at: Option<String>,
    /// When it was sent (RFC 3339).
    created_at: String,
    /// When it last changed (RFC 3339).
    changed_at: String,
    /// Always `untrusted_user_content`: people wrote the texts here.
    trust: &'static str,
}

/// Returns the actions that this person, who is on this side, may take now. Only the member who talks
/// with the applicant allows contact data there, and only a closed conversation is opened again.
pub(crate) fn allowed(application: &Application, role: Role, me: &str) -> Vec<&'static str> {
    let name = match role {
        Role::Sent => APPLICANT,
        Role::Received => RECIPIENT,
    };
    let talks = role == Role::Sent || application.contact_id.as_deref() == Some(me);
    let actions = APPLICATION.allowed_as(name, application.state).into_iter();
    let is_possible = |action: &&str| match *action {
        "exchange_contact" => talks && !application.thread_closed,
        "reopen_conversation" => application.is_without_conversation(),
        _ => true,
    };
    actions.filter(is_possible).collect()
}

/// The data about applicants that views need.
pub(crate) struct ViewContext {
    hidden: BTreeSet<String>,
    people: BTreeMap<String, Person>,
    listings: BTreeMap<String, Listing>,
}

impl ViewContext {
    /// Loads the data for the views of at most 100 applications.
    pub(crate) fn load<'a>(
        me: &str,
        applications: impl IntoIterator<Item = &'a Stored<Application>>,
    ) -> Result<Self> {
        let (mut owners, mut ids) = (BTreeSet::new(), BTreeSet::new());
        for application in applications {
            owners.insert(application.value.owner_id.as_str());
            ids.extend(application.value.profile_listing_id.as_deref());
        }
        let listings = listings::profiles(ids)?.into_iter();
        Ok(Self {
            hidden: relations::hidden(Some(me), owners.iter().copied())?,
            people: people::people(owners)?,
            listings: listings.map(|listing| (listing.listing_id.clone(), listing)).collect(),
        })
    }

    /// Returns whether this person and the viewer are blocked.
    pub(crate) fn is_hidden(&self, owner_id: &str) -> bool {
        self.hidden.contains(owner_id)
    }

    pub(crate) fn view(&self, me: &str, application: &Stored<Application>) -> View {
        let value = &application.value;
        let is_mine = value.owner_id == me;
        let role = if is_mine { Role::Sent } else { Role::Received };
        let answer = |given: &Answered| AnswerView {
            question: given.question.clone(),
            answer: given.answer.clone(),
        };
        let decision = |decided: &Decided| {
            view!(decided => DecisionView {
                decision, reason_code, message;
                decided_at: rfc3339(decided.at),
            })
        };
        let Consents { applicant, recipient } = value.contact;
        let (mine, theirs) = if is_mine { (applicant, recipient) } else { (recipient, applicant) };
        let is_waiting = value.state == State::Waiting;
        let is_away = presence::is_away(value, !is_mine);
        view!(value => View {
            kind, state, about, title, profile, message, thread_id, end_reason;
            application_id: application.id.clone(),
            version: application.revision,
            allowed_actions: allowed(value, role, me),
            role,
            applicant: self.applicant(value),
            answers: value.answers.iter().map(answer).collect(),
            recipient_unclaimed: is_waiting,
            apply_url: value.apply_url.clone().filter(|_| is_waiting),
            decisions: value.decisions.iter().map(decision).collect(),
            counterpart_reachable: TALKING.contains(&value.state).then_some(!is_away),
            contact: ContactView { mine, theirs },
            conversation_closed: value.is_without_conversation(),
            cost_credits: Some(value.cost).filter(|_| is_mine),
            expires_at: value.due_at.map(rfc3339),
            created_at: rfc3339(application.created_at),
            changed_at: rfc3339(value.changed_at),
            trust: UNTRUSTED,
        })
    }

    fn applicant(&self, application: &Application) -> Applicant {
        let person = self.people.get(&application.owner_id);
        let listing = application.profile_listing_id.as_ref();
        let listing = listing.and_then(|listing_id| self.listings.get(listing_id));
        let listing = listing.filter(|listing| listing.is_active());
        Applicant {
            owner_id: application.owner_id.clone(),
            display_name: person.and_then(|person| person.display_name.clone()),
            listing: listing.map(Card::from),
            listing_ended: application.profile_listing_id.is_some() && listing.is_none(),
            trust: UNTRUSTED,
        }
    }
}

/// Returns the application as this person sees it.
pub(crate) fn view(me: &str, application: &Stored<Application>) -> Result<View> {
    Ok(ViewContext::load(me, [application])?.view(me, application))
}
