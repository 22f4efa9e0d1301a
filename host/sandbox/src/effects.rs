//! What a call leaves behind beside its documents: events and timers.

use crate::{
    contract::{events, timers, types::HostError},
    state::CallState,
    work::Reply,
};
use portolan_store::{Audience, NewEvent, TimerChange, TimerKey};
use portolan_vocabulary::{Timestamp, new_identifier};
use rand::RngExt as _;

/// What one event may carry.
const EVENT_BYTES: usize = 20_000;
/// What one call may publish, and how many timers it may change.
const EVENTS: usize = 100;
const TIMERS: usize = 100;
const NAME_BYTES: usize = 128;

impl events::Host for CallState {
    async fn publish(&mut self, to: events::Audience, event: events::Event) -> Reply<()> {
        Ok(self.publish(to, event))
    }
}

impl timers::Host for CallState {
    async fn set(&mut self, name: String, at: u64, action: String, input: String) -> Reply<()> {
        Ok(self.set_timer(name, at, action, input))
    }

    async fn cancel(&mut self, name: String) -> Reply<bool> {
        let key = self.timer(name);
        let there = match self.changing() {
            Ok(work) => match work.unit.timer_change(&key) {
                Some(change) => Ok(matches!(change, TimerChange::Set { .. })),
                None => work.unit.has_timer(&key).await,
            },
            Err(error) => return Ok(Err(error)),
        };
        match there {
            Ok(there) => {
                if let Some(work) = self.work.as_mut().filter(|_| there) {
                    work.unit.change_timer(key, TimerChange::Cancel);
                }
                Ok(Ok(there))
            }
            Err(error) => Ok(Err(self.refusal(error))),
        }
    }
}

impl CallState {
    fn publish(
        &mut self,
        to: events::Audience,
        event: events::Event,
    ) -> std::result::Result<(), HostError> {
        let (now, random) = (self.context.now, self.chance.generator().random());
        let (capability, request_id) =
            (self.capability.to_string(), self.context.request_id.to_string());
        let test_mode = self.context.caller.test_mode();
        let work = self.changing()?;
        work.surroundings.check_event(&event.event_type).map_err(HostError::Invalid)?;
        check_name("a subject", &event.subject)?;
        if let events::Audience::Agent(id) | events::Audience::Owner(id) = &to {
            check_name("an audience", id)?;
        }
        if event.data.len() > EVENT_BYTES {
            return Err(HostError::Limit(format!("an event has at most {EVENT_BYTES} bytes")));
        }
        if !matches!(serde_json::from_str(&event.data), Ok(serde_json::Value::Object(_))) {
            return Err(HostError::Invalid("an event's data is a JSON object".to_owned()));
        }
        if work.unit.event_count() >= EVENTS {
            return Err(HostError::Limit(format!("a call publishes at most {EVENTS} events")));
        }
        let event = NewEvent {
            id: new_identifier("evt", now, random),
            capability,
            subscribers: work.surroundings.subscribers(&event.event_type),
            event_type: event.event_type,
            subject: event.subject,
            audience: match to {
                events::Audience::Agent(id) => Audience::Agent(id),
                events::Audience::Owner(id) => Audience::Owner(id),
                events::Audience::Capabilities => Audience::Capabilities,
            },
            data: event.data,
            request_id,
            occurred_at: now,
            test_mode,
            agents: Vec::new(),
        };
        work.unit.publish(event);
        Ok(())
    }

    fn timer(&self, name: String) -> TimerKey {
        let test_mode = self.context.caller.test_mode();
        TimerKey { capability: self.capability.to_string(), name, test_mode }
    }

    fn set_timer(
        &mut self,
        name: String,
        at: u64,
        action: String,
        input: String,
    ) -> std::result::Result<(), HostError> {
        let setting = new_identifier("tmr", self.context.now, self.chance.generator().random());
        let key = self.timer(name);
        let work = self.changing()?;
        check_name("a timer's name", &key.name)?;
        work.surroundings.check_timer(&action, &input).map_err(HostError::Invalid)?;
        if work.unit.timer_count() >= TIMERS {
            return Err(HostError::Limit(format!("a call changes at most {TIMERS} timers")));
        }
        let at = Timestamp::from_millis(at);
        work.unit.change_timer(key, TimerChange::Set { setting, at, action, input });
        Ok(())
    }
}

fn check_name(what: &str, name: &str) -> std::result::Result<(), HostError> {
    if name.is_empty() || name.len() > NAME_BYTES || name.contains(char::is_control) {
        let text = format!("{what} has 1 to {NAME_BYTES} bytes and no control characters");
        return Err(HostError::Invalid(text));
    }
    Ok(())
}
