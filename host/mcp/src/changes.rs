//! Telling clients that the catalog has changed, as long as their tokens are good.

use crate::{Admitted, Mcp, admitted::admitted};
use rmcp::{
    ErrorData, RoleServer,
    service::{Peer, SubscriptionContext, SubscriptionSendError},
};
use std::{sync::Arc, time::Duration};

/// How long a stream can go on at most after its token was revoked.
const LOOK: Duration = Duration::from_secs(10);

/// Until the client leaves, its token ends, or the host stops.
pub(super) async fn tell(mcp: &Mcp, subscription: &SubscriptionContext) -> Result<(), ErrorData> {
    let admitted = admitted(&subscription.request_context().extensions)?;
    let mut changes = mcp.host.catalog.changes();
    let mut ended = std::pin::pin!(mcp.ended(admitted));
    loop {
        tokio::select! {
            () = subscription.cancelled() => return Ok(()),
            () = &mut ended => return Ok(()),
            Ok(()) = changes.changed() => {
                if tell_all(subscription).await.is_err() {
                    return Ok(());
                }
            }
        }
    }
}

/// Of each list that changes with the catalog, to those who want to hear of it.
async fn tell_all(subscription: &SubscriptionContext) -> Result<(), SubscriptionSendError> {
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

/// The same for a session of the older protocol, as long as it lives. Its stream ends with the token
/// that this was opened with, and the next one may have another.
pub(super) async fn tell_session(mcp: Arc<Mcp>, peer: Peer<RoleServer>) {
    let mut changes = mcp.host.catalog.changes();
    while changes.changed().await.is_ok() {
        let told = async {
            peer.notify_tool_list_changed().await?;
            peer.notify_resource_list_changed().await?;
            peer.notify_prompt_list_changed().await
        };
        if told.await.is_err() {
            return;
        }
    }
}

impl Mcp {
    /// Waits until a stream must end: its token has expired or was revoked, or the host stops.
    pub async fn ended(&self, admitted: &Admitted) {
        let identity = &self.host.identity;
        let token = async {
            while let Ok(left) =
                identity.remaining_life(&admitted.token, identity.mcp_audience()).await
            {
                tokio::time::sleep(left.min(LOOK)).await;
            }
        };
        tokio::select! {
            () = token => {}
            () = self.stop.cancelled() => {}
        }
    }
}
