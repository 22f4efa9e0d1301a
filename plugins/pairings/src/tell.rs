//! What each side is told.

use crate::{kept::*, refusals::*, types::*};
use portolan_sdk::prelude::*;

/// One thing that happened to a pairing.
pub(crate) struct News {
    pub(crate) event: Event<Told>,
    pub(crate) summary: &'static str,
    pub(crate) next: Next,
    /// Who did it is not told.
    pub(crate) by_nobody: bool,
}

impl News {
    pub(crate) fn new(
        pairing: &Stored<Pairing>,
        event: Event<Told>,
        summary: &'static str,
    ) -> Self {
        Self { event, summary, next: get(&pairing.id), by_nobody: false }
    }

    /// With the conversation as what to read next.
    pub(crate) fn in_thread(mut self, pairing: &Stored<Pairing>) -> Self {
        if let Some(thread_id) = &pairing.value.thread_id {
            self.next = read_thread(thread_id);
        }
        self
    }

    pub(crate) fn by_nobody(mut self) -> Self {
        self.by_nobody = true;
        self
    }

    /// Tells one side.
    pub(crate) fn tell(
        &self,
        call: &Call,
        pairing: &Stored<Pairing>,
        to: Role,
        facts: Facts,
    ) -> Result<(), HostError> {
        let value = &pairing.value;
        let resource = Resource {
            kind: "pairing",
            id: pairing.id.clone(),
            state: value.state.name(),
            version: pairing.revision,
        };
        let facts = Facts {
            from_listing_id: value.from.listing_id.clone(),
            to_listing_id: value.to.listing_id.clone(),
            thread_id: value.thread_id.clone(),
            ..facts
        };
        let data = match self.by_nobody {
            true => Data::by_system(resource, self.summary, facts),
            false => Data::new(call, resource, self.summary, facts),
        };
        let audience = Audience::Owner(value.side(to).owner_id.clone());
        let subject = format!("pairings/{}", pairing.id);
        self.event.publish(audience, subject, &data.next(self.next.clone()))
    }

    /// Tells both sides the same.
    pub(crate) fn tell_both(
        &self,
        call: &Call,
        pairing: &Stored<Pairing>,
        facts: impl Fn() -> Facts,
    ) -> Result<(), HostError> {
        self.tell(call, pairing, Role::Sent, facts())?;
        self.tell(call, pairing, Role::Received, facts())
    }
}

/// With what was said.
pub(crate) fn said(said: Option<&Said>) -> Facts {
    Facts { words: said.map(Words::from), ..Facts::default() }
}
