//! The events of an introduction. Each is for one person and about that person's seat.

use crate::{documents::*, refusals::*, types::*};
use portolan_sdk::prelude::*;

/// An event with its summary, and the person whom it names.
pub(crate) struct Notice {
    event: IntroEvent,
    summary: &'static str,
    by: By,
}

/// The person who is named in an event, and whose mute keeps it out.
enum By {
    /// The person of this role.
    Person(Role),
    Nobody,
}

pub(crate) const REQUEST: Notice = Notice {
    event: REQUESTED,
    summary: "Somebody whom you know asks you for an introduction. You need not answer.",
    by: By::Person(Role::Requester),
};
pub(crate) const FORWARDED: Notice = Notice {
    event: REQUESTED,
    summary: "Somebody whom you know would like to introduce a person to you. You need not answer.",
    by: By::Person(Role::Introducer),
};
pub(crate) const REMINDING: Notice = Notice {
    event: REMINDER,
    summary: "A request for an introduction ends in a day. You need not answer.",
    by: By::Nobody,
};
pub(crate) const INTRODUCED: Notice = Notice {
    event: COMPLETED,
    summary: "An introduction was made, and its conversation is open.",
    by: By::Person(Role::Target),
};
/// The end without an introduction. It is the same for all causes, so it does not tell who
/// declined.
pub(crate) const NOT_NOW: Notice = Notice {
    event: ENDED,
    summary: "The introduction that you asked for does not come about now.",
    by: By::Nobody,
};
pub(crate) const WITHDRAWAL: Notice = Notice {
    event: WITHDRAWN,
    summary: "A request for an introduction was withdrawn.",
    by: By::Person(Role::Requester),
};
pub(crate) const EXCHANGED: Notice = Notice {
    event: CONTACT_EXCHANGED,
    summary: "You and the other person both allow contact data in the conversation after your introduction.",
    by: By::Nobody,
};

impl Notice {
    /// Publishes the event to the person of a seat.
    pub(crate) fn notify(&self, seat: &Stored<Seat>) -> Result<()> {
        let value = &seat.value;
        let facts = Facts {
            intro_id: value.intro_id.clone(),
            role: Some(value.role),
            thread_id: value.thread_id.clone(),
        };
        let resource = Resource {
            kind: Seat::KIND,
            id: value.intro_id.clone(),
            state: value.state.name(),
            version: seat.revision,
        };
        let data = match self.by {
            By::Person(role) => Data::by_owner(value.person(role), resource, self.summary, facts),
            By::Nobody => Data::by_system(resource, self.summary, facts),
        };
        let data = data.next(match &value.thread_id {
            Some(thread_id) => read_thread(thread_id),
            None => get(&value.intro_id),
        });
        let subject = format!("{}/{}", Seat::SUBJECTS, value.intro_id);
        Ok(self.event.publish(Audience::Owner(value.owner_id.clone()), subject, &data)?)
    }
}
