//! The events of a pairing, for one side or both.

use crate::{kept::*, refusals::*, types::*};
use portolan_sdk::prelude::*;

/// An event of a pairing.
pub(crate) struct Notice {
    pub(crate) event: PairingEvent,
    pub(crate) summary: &'static str,
    pub(crate) next: Next,
    /// Whether the event omits who did it.
    pub(crate) is_anonymous: bool,
}

impl Notice {
    pub(crate) fn new(
        pairing: &Stored<Pairing>,
        event: PairingEvent,
        summary: &'static str,
    ) -> Self {
        Self { event, summary, next: get(&pairing.id), is_anonymous: false }
    }

    /// Sets the next step to reading the pairing's conversation.
    pub(crate) fn in_thread(mut self, pairing: &Stored<Pairing>) -> Self {
        if let Some(thread_id) = &pairing.value.thread_id {
            self.next = read_thread(thread_id);
        }
        self
    }

    pub(crate) fn anonymous(mut self) -> Self {
        self.is_anonymous = true;
        self
    }

    /// Publishes the event to one side.
    pub(crate) fn tell(
        &self,
        call: &Call,
        pairing: &Stored<Pairing>,
        to: Role,
        facts: Facts,
    ) -> Result<()> {
        let value = &pairing.value;
        let facts = Facts {
            from_listing_id: value.from.listing_id.clone(),
            to_listing_id: value.to.listing_id.clone(),
            thread_id: value.thread_id.clone(),
            ..facts
        };
        let data = match self.is_anonymous {
            true => Data::by_system(pairing.resource(), self.summary, facts),
            false => Data::new(call, pairing.resource(), self.summary, facts),
        };
        let audience = Audience::Owner(value.side(to).owner_id.clone());
        Ok(pairing.publish(self.event, audience, &data.next(self.next.clone()))?)
    }

    /// Publishes the same event to both sides.
    pub(crate) fn tell_both(
        &self,
        call: &Call,
        pairing: &Stored<Pairing>,
        facts: impl Fn() -> Facts,
    ) -> Result<()> {
        self.tell(call, pairing, Role::Sent, facts())?;
        self.tell(call, pairing, Role::Received, facts())
    }
}
