//! Reports each call of a host to the author who observes it.

use crate::{host::Host, observed::ObservedCall, outcome::Answer};
use portolan_sandbox::People;
use portolan_store::{Attachments, Unit, Verdict};
use portolan_vocabulary::{AgentCaller, Failure};
use serde_json::{Map, Value};
use std::{sync::Arc, time::Instant};
use tokio::sync::mpsc;

/// An observed call that is being run.
pub(crate) struct Observation {
    capability: String,
    request: Option<(AgentCaller, Map<String, Value>)>,
    started: Instant,
}

impl Host {
    /// Returns a receiver of all calls from now on; `None` if there was one before.
    pub fn observe(&self) -> Option<mpsc::UnboundedReceiver<ObservedCall>> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.observer.set(sender).is_ok().then_some(receiver)
    }

    /// Begins to observe a call; `None` if there is no observer.
    pub(crate) fn begin_observation(
        &self,
        capability: &str,
        request: Option<(&AgentCaller, &Map<String, Value>)>,
    ) -> Option<Observation> {
        self.observer.get()?;
        let request = request.map(|(caller, body)| (caller.clone(), body.clone()));
        Some(Observation { capability: capability.to_owned(), request, started: Instant::now() })
    }

    /// Reports to the observer how a call ended. `action` is the name of the action that was run, if it is
    /// known.
    pub(crate) fn end_observation(
        &self,
        observation: Option<Observation>,
        action: Option<&str>,
        failure: Option<&Failure>,
    ) {
        let (Some(Observation { capability, request, started }), Some(observer)) =
            (observation, self.observer.get())
        else {
            return;
        };
        let requested_action = || request.as_ref()?.1.get("action")?.as_str();
        let action = action.or_else(requested_action).map(str::to_owned);
        let (failure, duration) = (failure.cloned(), started.elapsed());
        // An error means that the observer has stopped.
        let _sent = observer.send(ObservedCall { capability, action, request, failure, duration });
    }

    /// Binds an agent to the owner with this key, without a code, and returns the owner's id. It is for an
    /// author's own host.
    pub async fn bind_agent(&self, agent_id: &str, person_key: &str) -> Result<String, String> {
        let mut unit = Unit::new(self.store.clone(), self.clock.now());
        let agent_id: Arc<str> = Arc::from(agent_id);
        let person_key = person_key.to_owned();
        // An author's database has no other owner, so an id made of a constant is unique.
        let claimed = People::claim(&self.identity, &mut unit, agent_id, person_key, 1);
        let claimed = claimed.await.map_err(|error| error.to_string())?;
        match unit.commit(Attachments::default()).await {
            Ok(Verdict::Committed) => Ok(claimed.owner_id),
            Ok(verdict) => Err(format!("{verdict:?}")),
            Err(error) => Err(error.to_string()),
        }
    }
}

impl Answer {
    /// Returns the name of the action that answered.
    pub(crate) fn action(&self) -> &str {
        &self.meta.action
    }
}
