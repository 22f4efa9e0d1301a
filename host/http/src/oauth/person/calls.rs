//! The calls of a person's own page, in the person's name and through the pipeline, with every check.

use crate::App;
use portolan_catalog::{Capability, PersonPage};
use portolan_identity::{IdentityError, Session};
use portolan_pipeline::Call;
use portolan_vocabulary::{AgentCaller, ErrorCode, Failure};
use serde_json::{Map, Value};
use std::{net::IpAddr, sync::Arc, time::Duration};
use tokio::time::timeout;

/// How long a page waits for what it shows. Other parts of the page are shown without it.
const READ_TIME: Duration = Duration::from_secs(3);

/// The calls of one request for a page.
pub(in super::super) struct PersonCalls<'a> {
    app: &'a App,
    caller: AgentCaller,
    request_id: Arc<str>,
}

impl<'a> PersonCalls<'a> {
    pub(in super::super) async fn of(
        app: &'a App,
        session: &Session,
        request_id: Arc<str>,
        address: Option<IpAddr>,
    ) -> Result<Self, IdentityError> {
        let caller = app.host.identity.page_caller(session).await?;
        Ok(Self { app, caller: AgentCaller { address, ..caller }, request_id })
    }

    /// Returns the id of the person; an empty text if there is none.
    pub(super) fn person(&self) -> &str {
        self.caller.owner_id.as_deref().unwrap_or_default()
    }

    /// Returns whether the person is of test mode.
    pub(super) fn test_mode(&self) -> bool {
        self.caller.test_mode
    }

    /// Runs an action with an input and returns its output.
    pub(super) async fn call(
        &self,
        capability: &Capability,
        action: &str,
        input: Map<String, Value>,
    ) -> Result<Value, Failure> {
        self.run(capability, action, input, None).await
    }

    /// Runs an action that writes once for each key, and returns its output again if it was run before.
    pub(super) async fn call_once(
        &self,
        capability: &Capability,
        action: &str,
        input: Map<String, Value>,
        key: String,
    ) -> Result<Value, Failure> {
        self.run(capability, action, input, Some(key)).await
    }

    async fn run(
        &self,
        capability: &Capability,
        action: &str,
        input: Map<String, Value>,
        idempotency_key: Option<String>,
    ) -> Result<Value, Failure> {
        let mut body = input;
        body.insert("action".to_owned(), Value::String(action.to_owned()));
        let call = Call {
            caller: self.caller.clone(),
            capability: &capability.id,
            body: Ok(body),
            idempotency_key,
            request_id: Arc::clone(&self.request_id),
            by_person: true,
            trace: None,
        };
        Ok(self.app.host.call(call).await.outcome?.result)
    }

    /// Runs an action that reads, from a cursor on if one is given, for as long as a page waits.
    pub(super) async fn read(
        &self,
        capability: &Capability,
        page: &PersonPage,
        cursor: Option<&str>,
    ) -> Result<Value, Failure> {
        let mut input = page.input.clone();
        if let Some(cursor) = cursor {
            input.insert("cursor".to_owned(), Value::String(cursor.to_owned()));
        }
        let read = self.call(capability, &page.action, input);
        let late = |_elapsed| Failure::new(ErrorCode::CapabilityTimeout);
        timeout(READ_TIME, read).await.map_err(late)?
    }
}
