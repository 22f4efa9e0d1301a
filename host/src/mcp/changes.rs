//! Telling clients that the catalog has changed, as long as their tokens are good.

use crate::mcp::{Admitted, Mcp, server::admitted};
use rmcp::{
    ErrorData, RoleServer,
    service::{Peer, SubscriptionContext, SubscriptionSendError},
};
use std::{sync::Arc, time::Duration};
use tokio::sync::watch;

/// How often it is looked at whether a token is still good, if nothing happens.
const LOOK: Duration = Duration::from_secs(300);

/// Until the client leaves, its token ends, or the host stops.
pub(super) async fn tell(mcp: &Mcp, subscription: &SubscriptionContext) -> Result<(), ErrorData> {
    let admitted = admitted(&subscription.request_context().extensions)?;
    let mut changes = mcp.host.catalog.changes();
    loop {
        tokio::select! {
            () = subscription.cancelled() => return Ok(()),
            () = mcp.stop.cancelled() => return Ok(()),
            changed = next(&mut changes) => {
                if !mcp.still_may(admitted).await {
                    return Ok(());
                }
                if changed && tell_all(subscription).await.is_err() {
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

/// The same for a session of the older protocol.
pub(super) async fn tell_session(mcp: Arc<Mcp>, admitted: Admitted, peer: Peer<RoleServer>) {
    let mut changes = mcp.host.catalog.changes();
    while !peer.is_transport_closed() {
        let changed = next(&mut changes).await;
        if !mcp.still_may(&admitted).await {
            return;
        }
        let told = async {
            peer.notify_tool_list_changed().await?;
            peer.notify_resource_list_changed().await?;
            peer.notify_prompt_list_changed().await
        };
        if changed && told.await.is_err() {
            return;
        }
    }
}

/// Whether there is a change, or only nothing new for a while.
async fn next(changes: &mut watch::Receiver<u64>) -> bool {
    matches!(tokio::time::timeout(LOOK, changes.changed()).await, Ok(Ok(())))
}

impl Mcp {
    async fn still_may(&self, admitted: &Admitted) -> bool {
        let identity = &self.host.identity;
        identity.authenticate(&admitted.token, identity.mcp_audience()).await.is_ok()
    }
}
