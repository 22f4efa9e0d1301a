//! Telling clients that the catalog has changed, as long as their tokens are good.

use crate::mcp::{Admitted, Mcp, server::admitted};
use rmcp::{ErrorData, RoleServer, service::{Peer, SubscriptionContext}};
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
                let accepted = subscription.accepted();
                if changed && accepted.tools_list_changed == Some(true)
                    && subscription.sink().notify_tool_list_changed().await.is_err()
                {
                    return Ok(());
                }
            }
        }
    }
}

/// The same for a session of the older protocol.
pub(super) async fn tell_session(mcp: Arc<Mcp>, admitted: Admitted, peer: Peer<RoleServer>) {
    let mut changes = mcp.host.catalog.changes();
    while !peer.is_transport_closed() {
        let changed = next(&mut changes).await;
        if !mcp.still_may(&admitted).await
            || (changed && peer.notify_tool_list_changed().await.is_err())
        {
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
