//! `messages`: text messages within the operator's budget, for a known or an unknown recipient.

use crate::{
    contract::messages::{self, Recipient},
    grant::Grant,
    interfaces::{
        interface::Interface,
        sms::Unsent,
        taped::{TapedState, taped},
    },
    services::MessageRefusal,
    state::CallState,
};
use portolan_vocabulary::TextMessage;

pub(super) const INTERFACE: Interface =
    Interface::with_grant_of(Grant::Sms, "messages", |linker| {
        messages::add_to_linker::<_, TapedState>(linker, taped)
    });

impl messages::Host for CallState {
    async fn send(
        &mut self,
        to: String,
        text: String,
        recipient: Recipient,
    ) -> wasmtime::Result<Result<String, messages::Unsent>> {
        let is_known = matches!(recipient, Recipient::Known);
        let sent = self.send_text_message(TextMessage { to, text }, is_known).await;
        Ok(sent.map_err(|unsent| match unsent {
            Unsent::Failed(error) => messages::Unsent::Failed(error),
            Unsent::Refused(MessageRefusal::Destination) => messages::Unsent::Destination,
            Unsent::Refused(MessageRefusal::Limit { wait_s }) => messages::Unsent::Later(wait_s),
        }))
    }
}
