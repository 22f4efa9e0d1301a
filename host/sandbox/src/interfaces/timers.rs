//! `timers`: internal actions that a call sets for a later time.

use crate::{
    contract::{timers, types::HostError},
    interfaces::{
        interface::Interface,
        names::ensure_name,
        reply::{Answer, Reply},
        taped::{TapedState, taped},
    },
    state::CallState,
};
use portolan_store::{TimerChange, TimerKey};
use portolan_vocabulary::{Timestamp, new_identifier};
use rand::RngExt as _;

pub(super) const INTERFACE: Interface =
    Interface::open("timers", |linker| timers::add_to_linker::<_, TapedState>(linker, taped));

/// The maximum number of timers that one call may change.
const TIMERS: usize = 100;
/// The last instant of a timer: the end of the year 9999, because years have four digits in RFC 3339.
const LATEST: Timestamp = Timestamp::from_millis(253_402_300_799_999);

impl timers::Host for CallState {
    async fn set(&mut self, name: String, at: u64, action: String, input: String) -> Reply<()> {
        Ok(self.set_timer(name, at, action, input))
    }

    async fn cancel(&mut self, name: String) -> Reply<bool> {
        Ok(self.cancel_timer(name).await)
    }
}

impl CallState {
    fn timer_key(&self, name: String) -> TimerKey {
        let test_mode = self.context.caller.test_mode();
        TimerKey { capability: self.capability.to_string(), name, test_mode }
    }

    fn set_timer(&mut self, name: String, at: u64, action: String, input: String) -> Answer<()> {
        let setting = new_identifier("tmr", self.context.now, self.random.host().random());
        let key = self.timer_key(name);
        let work = self.writable_work()?;
        ensure_name("a timer's name", &key.name)?;
        let input = work.services.check_timer(&action, input).map_err(HostError::Invalid)?;
        if work.unit.timer_count() >= TIMERS {
            return Err(HostError::Limit(format!("a call can change at most {TIMERS} timers")));
        }
        self.reserve_bytes(input.len())?;
        let at = Timestamp::from_millis(at);
        if at > LATEST {
            let message = "a timer's time is after the year 9999: it is in milliseconds since 1970";
            return Err(HostError::Invalid(message.to_owned()));
        }
        let work = self.writable_work()?;
        work.unit.change_timer(key, TimerChange::Set { setting, at, action, input });
        Ok(())
    }

    async fn cancel_timer(&mut self, name: String) -> Answer<bool> {
        let key = self.timer_key(name);
        let unit = &mut self.writable_work()?.unit;
        let found = match unit.timer_change(&key) {
            Some(change) => Ok(matches!(change, TimerChange::Set { .. })),
            None => unit.has_timer(&key).await,
        };
        let found = self.answer(found)?;
        if found {
            self.writable_work()?.unit.change_timer(key, TimerChange::Cancel);
        }
        Ok(found)
    }
}
