//! `events`: the events that a call publishes, which are written with its commit.

use crate::{
    contract::{events, types::HostError},
    interfaces::{
        interface::Interface,
        names::ensure_name,
        reply::{Answer, Reply},
        taped::{TapedState, taped},
    },
    state::CallState,
};
use portolan_store::{Audience, NewEvent};
use portolan_vocabulary::{new_identifier, plain_json};
use rand::RngExt as _;
use serde_json::Value;

pub(super) const INTERFACE: Interface =
    Interface::open("events", |linker| events::add_to_linker::<_, TapedState>(linker, taped));

/// The maximum number of bytes of an event's data.
const EVENT_BYTES: usize = 20_000;
/// The maximum number of events of one call.
const EVENTS: usize = 100;

impl events::Host for CallState {
    async fn publish(&mut self, to: events::Audience, event: events::Event) -> Reply<()> {
        Ok(self.publish_event(to, event))
    }
}

impl CallState {
    fn publish_event(&mut self, to: events::Audience, event: events::Event) -> Answer<()> {
        let (now, random) = (self.context.now, self.random.host().random());
        let (capability, request_id) =
            (self.capability.to_string(), self.context.request_id.to_string());
        let test_mode = self.context.caller.test_mode();
        let work = self.writable_work()?;
        work.services.check_event(&event.event_type).map_err(HostError::Invalid)?;
        ensure_name("a subject", &event.subject)?;
        if let events::Audience::Agent(id) | events::Audience::Owner(id) = &to {
            ensure_name("an audience", id)?;
        }
        if event.data.len() > EVENT_BYTES {
            return Err(HostError::Limit(format!(
                "an event must have at most {EVENT_BYTES} bytes"
            )));
        }
        let Ok(data @ Value::Object(_)) = serde_json::from_str(&event.data) else {
            return Err(HostError::Invalid("an event's data must be a JSON object".to_owned()));
        };
        let data = plain_json(event.data, &data);
        if work.unit.event_count() >= EVENTS {
            return Err(HostError::Limit(format!("a call can publish at most {EVENTS} events")));
        }
        self.reserve_bytes(data.len())?;
        let work = self.writable_work()?;
        let event = NewEvent {
            id: new_identifier("evt", now, random),
            capability,
            subscribers: work.services.subscribers(&event.event_type),
            event_type: event.event_type,
            subject: event.subject,
            audience: match to {
                events::Audience::Agent(id) => Audience::Agent(id),
                events::Audience::Owner(id) => Audience::Owner(id),
                events::Audience::Capabilities => Audience::Capabilities,
            },
            data,
            request_id,
            trace: None,
            occurred_at: now,
            test_mode,
            agents: Vec::new(),
            rules: None,
            has_email: false,
        };
        work.unit.publish(event);
        Ok(())
    }
}
