//! The agent's inbox as a resource that clients subscribe to.

use crate::{Mcp, Sender};
use portolan_events::InboxWatcher;
use portolan_pipeline::ensure_permitted;
use portolan_vocabulary::{Access, Failure};
use rmcp::{
    ErrorData, RoleServer,
    model::{Resource, ResourceUpdatedNotificationParam},
    service::Peer,
};
use serde_json::json;

/// The URI of the reader's own inbox.
pub(super) const INBOX: &str = "portolan://inbox";
pub(super) const JSON: &str = "application/json";

impl Mcp {
    /// Returns the inbox for the list of resources; `None` without the scope for events.
    pub(super) fn inbox(&self, sender: &Sender) -> Option<Resource> {
        self.ensure_inbox(sender).ok()?;
        Some(
            Resource::new(INBOX, "inbox")
                .with_title("Inbox")
                .with_description(
                    "The events of this agent that are not acknowledged, at most 50, the oldest first. Subscribe to \
                     it to be told of new ones; acknowledge events with the tool of the capability for events.",
                )
                .with_mime_type(JSON),
        )
    }

    /// Returns the inbox as JSON.
    pub(super) async fn read_inbox(&self, sender: &Sender) -> Result<String, ErrorData> {
        let caller = &sender.caller;
        let _rate_limits = self.host.permit(caller, Access::Events).map_err(refused)?;
        let read = self.host.events.unacknowledged(&caller.agent_id, caller.test_mode).await;
        let (events, has_more) = read.map_err(|error| unavailable(&error))?;
        Ok(json!({ "events": events, "has_more": has_more }).to_string())
    }

    /// Watches the inbox of a message's sender, which costs a call.
    pub(super) async fn watch_inbox(&self, sender: &Sender) -> Result<InboxWatcher, ErrorData> {
        let _rate_limits = self.host.permit(&sender.caller, Access::Events).map_err(refused)?;
        let watched = self.host.events.watch(&sender.caller.agent_id).await;
        watched.map_err(|error| unavailable(&error))
    }

    /// Notifies a session, as in MCP before 2026-07-28, of each change of a watched inbox, in place of one that it
    /// watched before, until [`end_subscriptions`](Self::end_subscriptions).
    pub(super) fn notify_session_of_inbox(
        &self,
        session: &str,
        inbox: InboxWatcher,
        peer: Peer<RoleServer>,
    ) {
        self.subscriptions.start(session, notify_of_inbox(inbox, peer));
    }

    /// Ends the subscriptions of a session. A session that has ended, or is no longer counted because its client is
    /// gone, must not be kept by notifications.
    pub fn end_subscriptions(&self, session: &str) {
        self.subscriptions.end(session);
    }

    fn ensure_inbox(&self, sender: &Sender) -> Result<(), Failure> {
        ensure_permitted(&sender.caller, Access::Events, self.host.catalog.roles())
    }
}

async fn notify_of_inbox(mut inbox: InboxWatcher, peer: Peer<RoleServer>) {
    let mut sent = Ok(());
    while sent.is_ok() {
        inbox.changed().await;
        let inbox = ResourceUpdatedNotificationParam::new(INBOX);
        sent = peer.notify_resource_updated(inbox).await;
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it maps the error of a result")]
fn refused(failure: Failure) -> ErrorData {
    ErrorData::invalid_request("the inbox cannot be read; `data` says why", Some(json!(failure)))
}

fn unavailable(error: &dyn std::error::Error) -> ErrorData {
    tracing::warn!(%error, "an inbox cannot be read");
    ErrorData::internal_error("the inbox cannot be read now", None)
}
