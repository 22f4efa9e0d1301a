//! `sms`: text messages, which are sent when the call has committed.

use crate::{
    contract::{sms, types::HostError},
    grant::Grant,
    interfaces::{
        interface::Interface,
        reply::{Answer, Reply},
        taped::{TapedState, taped},
    },
    services::{MessageRefusal, MessageRequest},
    state::CallState,
};
use portolan_store::{TimerChange, TimerKey};
use portolan_vocabulary::{Caller, OUTGOING_SMS, TextMessage, new_identifier};
use rand::RngExt as _;
use std::sync::Arc;

pub(super) const INTERFACE: Interface =
    Interface::sensitive(Grant::Sms, |linker| sms::add_to_linker::<_, TapedState>(linker, taped));

/// The maximum number of characters of a message; a provider splits it into parts of 153 characters.
const TEXT_CHARACTERS: usize = 1_000;

/// The reason why a message is not sent.
pub(super) enum Unsent {
    Refused(MessageRefusal),
    Failed(HostError),
}

impl From<HostError> for Unsent {
    fn from(error: HostError) -> Self {
        Self::Failed(error)
    }
}

impl sms::Host for CallState {
    async fn send(&mut self, to: String, text: String) -> Reply<String> {
        let sent = self.send_text_message(TextMessage { to, text }, false).await;
        Ok(sent.map_err(|unsent| match unsent {
            Unsent::Failed(error) => error,
            Unsent::Refused(refusal @ MessageRefusal::Destination) => {
                HostError::Invalid(refusal.to_string())
            }
            Unsent::Refused(refusal @ MessageRefusal::Limit { .. }) => {
                HostError::Limit(refusal.to_string())
            }
        }))
    }
}

impl CallState {
    /// Sends a message when the call has committed, if the operator's limits allow it. Returns its id.
    pub(super) async fn send_text_message(
        &mut self,
        message: TextMessage,
        is_known: bool,
    ) -> Result<String, Unsent> {
        self.check_text_message(&message)?;
        let address = self.context.agent().and_then(|agent| agent.address);
        let now = self.context.now;
        let work = self.writable_work()?;
        let services = Arc::clone(&work.services);
        let request = MessageRequest { to: &message.to, is_known, address, now };
        match services.admit_text_message(&mut work.unit, request).await {
            Ok(Ok(())) => {}
            Ok(Err(refusal)) => return Err(Unsent::Refused(refusal)),
            Err(error) => return Err(self.host_error(error).into()),
        }
        Ok(self.queue_text_message(&message)?)
    }

    fn check_text_message(&self, message: &TextMessage) -> Answer<()> {
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
        Ok(())
    }

    fn queue_text_message(&mut self, message: &TextMessage) -> Answer<String> {
        let now = self.context.now;
        let name = new_identifier("sms", now, self.random.host().random());
        let random = self.random.host().random();
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
