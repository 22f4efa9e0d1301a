//! `sms`: text messages, which are sent when the call has committed.

use crate::{
    contract::{sms, types::HostError},
    grant::Grant,
    interfaces::{
        interface::{Interface, State, host},
        reply::{Answer, Reply},
    },
    state::CallState,
};
use portolan_store::{TimerChange, TimerKey};
use portolan_vocabulary::{Caller, OUTGOING_SMS, TextMessage, new_identifier};
use rand::RngExt as _;

pub(super) const INTERFACE: Interface =
    Interface::sensitive(Grant::Sms, |linker| sms::add_to_linker::<_, State>(linker, host));

/// The maximum number of characters of a message; a provider splits it into parts of 153 characters.
const TEXT_CHARACTERS: usize = 1_000;

impl sms::Host for CallState {
    async fn send(&mut self, to: String, text: String) -> Reply<String> {
        Ok(self.send_sms(TextMessage { to, text }))
    }
}

impl CallState {
    fn send_sms(&mut self, message: TextMessage) -> Answer<String> {
        if !is_e164(&message.to) {
            return Err(HostError::Invalid("`to` is not a number in E.164".to_owned()));
        }
        if message.text.is_empty() || message.text.chars().count() > TEXT_CHARACTERS {
            let text = format!("a text message must have 1 to {TEXT_CHARACTERS} characters");
            return Err(HostError::Invalid(text));
        }
        if matches!(&self.context.caller, Caller::Agent(agent) if agent.test_mode) {
            return Err(HostError::Invalid("nothing is sent for an agent of test mode".to_owned()));
        }
        let address = self.context.agent().and_then(|agent| agent.address);
        if !self.work()?.services.admit_text_message(address) {
            let text = "too many text messages from this caller's address";
            return Err(HostError::Limit(text.to_owned()));
        }
        let now = self.context.now;
        let name = new_identifier("sms", now, self.random.generator().random());
        let random = self.random.generator().random();
        let key =
            TimerKey { capability: OUTGOING_SMS.to_owned(), name: name.clone(), test_mode: false };
        let input = message
            .seal(&name, self.work()?.unit.keys(), random)
            .ok_or_else(|| HostError::Unavailable("sealing failed".to_owned()))?;
        let set =
            TimerChange::Set { setting: name.clone(), at: now, action: "send".to_owned(), input };
        self.writable_work()?.unit.change_timer(key, set);
        Ok(name)
    }
}

/// Returns whether this is a telephone number in E.164 format.
fn is_e164(number: &str) -> bool {
    number.strip_prefix('+').is_some_and(|digits| {
        (7..=15).contains(&digits.len()) && digits.bytes().all(|byte| byte.is_ascii_digit())
    })
}
