//! The sessions of MCP before 2026-07-28, which are kept in the database: a node that does not know a session starts
//! it again with what the client said when it began.

use crate::Mcp;
use portolan_identity::McpSession;
use portolan_pipeline::Host;
use rmcp::{
    model::InitializeRequestParams,
    transport::streamable_http_server::session::{SessionState, SessionStore, SessionStoreError},
};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::{future::Future, pin::Pin, sync::Arc};

/// The maximum number of bytes that are kept of what a client says when it begins a session. A session with more
/// ends with its node.
const PARAMETER_BYTES: usize = 8 << 10;

/// The `initialize` request that begins a session.
#[derive(Deserialize)]
struct Initialize<'a> {
    #[serde(borrow)]
    params: &'a RawValue,
}

/// The store in which the transport finds a session that its node does not know.
pub(super) struct KeptSessions(pub(super) Arc<Host>);

type Answer<'a, T> = Pin<Box<dyn Future<Output = Result<T, SessionStoreError>> + Send + 'a>>;

impl SessionStore for KeptSessions {
    fn load<'life0, 'life1, 'async_trait>(
        &'life0 self,
        id: &'life1 str,
    ) -> Answer<'async_trait, Option<SessionState>>
    where
        'life0: 'async_trait,
        'life1: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move {
            let Some(kept) = self.0.identity.find_mcp_session(id).await? else { return Ok(None) };
            let parameters: InitializeRequestParams = serde_json::from_str(&kept.parameters)?;
            Ok(Some(SessionState::new(parameters)))
        })
    }

    /// Does nothing: [`Mcp::keep_session`] keeps the session together with its agent, which the transport does not
    /// know.
    fn store<'life0, 'life1, 'life2, 'async_trait>(
        &'life0 self,
        _id: &'life1 str,
        _state: &'life2 SessionState,
    ) -> Answer<'async_trait, ()>
    where
        'life0: 'async_trait,
        'life1: 'async_trait,
        'life2: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async { Ok(()) })
    }

    fn delete<'life0, 'life1, 'async_trait>(
        &'life0 self,
        id: &'life1 str,
    ) -> Answer<'async_trait, ()>
    where
        'life0: 'async_trait,
        'life1: 'async_trait,
        Self: 'async_trait,
    {
        Box::pin(async move { Ok(self.0.identity.end_mcp_session(id).await?) })
    }
}

impl Mcp {
    /// Keeps a session that this `initialize` request has begun. A session that cannot be kept ends with its node.
    pub async fn keep_session(&self, id: &str, agent_id: &str, request: &[u8]) {
        let Ok(Initialize { params }) = serde_json::from_slice(request) else { return };
        if params.get().len() > PARAMETER_BYTES {
            return;
        }
        let session =
            McpSession { agent_id: agent_id.to_owned(), parameters: params.get().to_owned() };
        if let Err(error) = self.host.identity.keep_mcp_session(id, session).await {
            tracing::warn!(%error, "a session is not kept and ends with this node");
        }
    }

    /// Returns the id of the agent that began a session on another node, or before a restart; `None` if there is no
    /// such session.
    pub async fn agent_of_kept_session(&self, id: &str) -> Option<String> {
        match self.host.identity.find_mcp_session(id).await {
            Ok(kept) => kept.map(|session| session.agent_id),
            Err(error) => {
                tracing::warn!(%error, "a session cannot be looked up");
                None
            }
        }
    }
}
