//! The events of an application, for the applicant and for those who act for the recipient.

use crate::{documents::*, refusals::*, states::*, types::*};
use portolan_sdk::prelude::*;

/// An event with its summary.
#[derive(Clone, Copy)]
pub(crate) struct Notice {
    event: ApplicationEvent,
    summary: &'static str,
    /// Whether the event omits the acting person.
    is_anonymous: bool,
}

pub(crate) const RECEIPT: Notice = Notice::new(RECEIVED, "Somebody applies or enquires.");
pub(crate) const DELIVERY: Notice =
    Notice::new(DELIVERED, "Somebody acts for the company now, and has what you sent.").anonymous();
pub(crate) const ANSWER: Notice = Notice::new(ANSWERED, "An offer was answered.");
pub(crate) const WITHDRAWAL: Notice = Notice::new(WITHDRAWN, "An application was withdrawn.");
pub(crate) const EXCHANGE: Notice =
    Notice::new(CONTACT_EXCHANGED, "Both sides allow contact data in the conversation.");
pub(crate) const REOPENING: Notice = Notice::new(
    CONVERSATION_REOPENED,
    "A new conversation is open, because the last one is closed.",
);
pub(crate) const EXPIRY: Notice =
    Notice::new(EXPIRED, "An application expired without a decision.");
/// The end of an application whose listing was paused or has ended.
pub(crate) const LISTING_END: Notice =
    Notice::new(EXPIRED, "An application has ended, because its listing is no longer active.");
pub(crate) const PROFILE_END: Notice = Notice::new(
    PROFILE_ENDED,
    "The applicant's listing is no longer active, so an application is shown without it.",
)
.anonymous();
pub(crate) const ABSENCE: Notice =
    Notice::new(COUNTERPART_CHANGED, "The other side cannot be reached at present.").anonymous();
pub(crate) const RETURN: Notice =
    Notice::new(COUNTERPART_CHANGED, "The other side can be reached again.").anonymous();
pub(crate) const TAKEN_BACK: Notice = Notice::new(DECIDED, "The offer was taken back.");
/// The end for a reason that is not disclosed, such as a block.
pub(crate) const CANCELLATION: Notice =
    Notice::new(CANCELLED, "An application has ended.").anonymous();

/// Returns the notice of a decision.
pub(crate) fn of_decision(decision: Decision) -> Notice {
    Notice::new(
        DECIDED,
        match decision {
            Decision::Shortlist => "What you sent was shortlisted.",
            Decision::Invite => "You are invited to talk: a conversation is open.",
            Decision::Offer => "You are offered the role.",
            Decision::Reject => "What you sent was rejected.",
        },
    )
}

impl Notice {
    const fn new(event: ApplicationEvent, summary: &'static str) -> Self {
        Self { event, summary, is_anonymous: false }
    }

    const fn anonymous(self) -> Self {
        Self { is_anonymous: true, ..self }
    }

    /// Publishes the event to these people.
    pub(crate) fn notify<'p>(
        self,
        call: &Call,
        application: &Stored<Application>,
        people: impl IntoIterator<Item = &'p String>,
        facts: Facts,
    ) -> Result<()> {
        let value = &application.value;
        let facts = Facts {
            application_id: application.id.clone(),
            kind: Some(value.kind),
            about: value.about.clone(),
            thread_id: value.thread_id.clone(),
            ..facts
        };
        let data = match self.is_anonymous {
            true => Data::by_system(application.resource(), self.summary, facts),
            false => Data::new(call, application.resource(), self.summary, facts),
        };
        let is_talking = TALKING.contains(&value.state);
        let data = data.next(match value.thread_id.as_ref().filter(|_| is_talking) {
            Some(thread_id) => read_thread(thread_id),
            None => get(&application.id),
        });
        for owner_id in people {
            application.publish(self.event, Audience::Owner(owner_id.clone()), &data)?;
        }
        Ok(())
    }
}

/// Tells other capabilities that a person of the conversation no longer exists, or is about to be erased.
pub(crate) fn publish_gone(application_id: &str, thread_id: &str) -> Result<()> {
    let facts = Facts {
        application_id: application_id.to_owned(),
        thread_id: Some(thread_id.to_owned()),
        ..Facts::default()
    };
    let id = application_id.to_owned();
    let resource = Resource { kind: "application", id, state: "changed", version: 0 };
    let summary = "A person of a conversation no longer exists.";
    let subject = format!("applications/{application_id}");
    let data = Data::by_system(resource, summary, facts);
    Ok(PERSON_GONE.publish(Audience::Capabilities, subject, &data)?)
}
