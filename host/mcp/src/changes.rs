//! Notifications about a new catalog version and new events, for clients with a valid token.

use crate::{Mcp, Sender, inbox::INBOX, sender::sender};
use portolan_events::InboxWatcher;
use rmcp::{
    ErrorData, RoleServer,
    service::{Peer, SubscriptionContext, SubscriptionSendError},
};
use std::{sync::Arc, time::Duration};

/// The interval at which a stream's token is checked: about the longest time that a stream outlives
/// a revocation.
const TOKEN_CHECK_INTERVAL: Duration = Duration::from_secs(10);

/// Notifies a subscription of each change, until the client disconnects, its token is no longer valid, or
/// the host stops.
pub(super) async fn notify_subscription(
    mcp: &Mcp,
    subscription: &SubscriptionContext,
) -> Result<(), ErrorData> {
    let sender = sender(&subscription.request_context().extensions)?;
    let mut changes = mcp.host.catalog.changes();
    let wanted = subscription.accepted().resource_subscriptions.as_deref().unwrap_or_default();
    let mut inbox = match wanted.iter().any(|uri| uri == INBOX) {
        true => Some(mcp.watch_inbox(sender).await?),
        false => None,
    };
    let mut stream_end = std::pin::pin!(mcp.stream_end(sender));
    loop {
        tokio::select! {
            () = subscription.cancelled() => return Ok(()),
            () = &mut stream_end => return Ok(()),
            Ok(()) = changes.changed() => {
                if notify_accepted(subscription).await.is_err() {
                    return Ok(());
                }
            }
            () = changed(&mut inbox) => {
                if subscription.sink().notify_resource_updated(INBOX).await.is_err() {
                    return Ok(());
                }
            }
        }
    }
}

/// Waits for a new event; for ever if no inbox is watched.
async fn changed(inbox: &mut Option<InboxWatcher>) {
    match inbox {
        Some(inbox) => inbox.changed().await,
        None => std::future::pending().await,
    }
}

/// Sends one notification for each list that the subscription accepts.
async fn notify_accepted(subscription: &SubscriptionContext) -> Result<(), SubscriptionSendError> {
    let (accepted, sink) = (subscription.accepted(), subscription.sink());
    if accepted.tools_list_changed == Some(true) {
        sink.notify_tool_list_changed().await?;
    }
    if accepted.resources_list_changed == Some(true) {
        sink.notify_resource_list_changed().await?;
    }
    if accepted.prompts_list_changed == Some(true) {
        sink.notify_prompt_list_changed().await?;
    }
    Ok(())
}

/// Notifies a session, as in MCP before 2026-07-28, of each change until the session ends. The token is not
/// checked here: each stream of the session ends with the token that opened it.
pub(super) async fn notify_session(mcp: Arc<Mcp>, peer: Peer<RoleServer>) {
    let mut changes = mcp.host.catalog.changes();
    while changes.changed().await.is_ok() {
        let sent = async {
            peer.notify_tool_list_changed().await?;
            peer.notify_resource_list_changed().await?;
            peer.notify_prompt_list_changed().await
        };
        if sent.await.is_err() {
            return;
        }
    }
}

impl Mcp {
    /// Waits until a stream must end: its token has expired, was revoked or cannot be checked, or
    /// the host stops.
    pub async fn stream_end(&self, sender: &Sender) {
        let identity = &self.host.identity;
        let token = async {
            while let Ok(remaining) =
                identity.remaining_life(&sender.token, identity.mcp_audience()).await
            {
                tokio::time::sleep(remaining.min(TOKEN_CHECK_INTERVAL)).await;
            }
        };
        tokio::select! {
            () = token => {}
            () = self.stop.cancelled() => {}
        }
    }
}
