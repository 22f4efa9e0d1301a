//! The state a call works on: what its component may reach of the store, and how.

use crate::{
    contract::{invoke, types, types::HostError},
    run::Ending,
    state::{CallContext, CallState},
};
use portolan_events::Events;
use portolan_publication::records::Records;
use portolan_store::{Collection, StateError, Unit};
use portolan_vocabulary::{Claimed, KnownOwner, OwnedAgent};
use rand::RngExt as _;
use std::{collections::BTreeMap, fmt, net::IpAddr, pin::Pin, sync::Arc};
use wasmtime::Result;

/// What a call can reach of the host beside the store. Given by the pipeline that runs the call.
pub trait Surroundings: fmt::Debug + Send + Sync {
    /// Why the running action may not publish this type of event, if so.
    fn check_event(&self, event_type: &str) -> std::result::Result<(), String>;
    /// Capability and action of each subscriber of this type.
    fn subscribers(&self, event_type: &str) -> Vec<(String, String)>;
    /// Why this is not an internal action of the running capability with an input it takes, if so.
    fn check_timer(&self, action: &str, input: &str) -> std::result::Result<(), String>;
    /// Who stands behind agents, if that is known here.
    fn people(&self) -> Option<&dyn People>;
    /// Inboxes and webhooks, if there are any here.
    fn events(&self) -> Option<Arc<Events>>;
    /// The feeds in force, if there are any.
    fn records(&self) -> Option<Arc<Records>>;
    /// Whether another text message may be sent for a caller at this address.
    fn may_send(&self, address: Option<IpAddr>) -> bool;
    /// Runs an action of another capability in the same unit of work.
    fn call(self: Arc<Self>, within: Within) -> CalleeFuture;
}

/// Who stands behind agents: read and changed in the unit of work of a call.
pub trait People: Send + Sync {
    /// Binds an agent to the person behind this key; a person who is not known yet gets an id made
    /// of `random`. `Conflict` if somebody else has claimed the agent, or it is gone; `Limit` if the
    /// person has as many agents as one may have.
    fn claim<'a>(
        &'a self,
        unit: &'a mut Unit,
        agent_id: Arc<str>,
        person_key: String,
        random: u128,
    ) -> Answer<'a, Claimed>;
    /// The agent becomes anonymous again.
    fn unclaim<'a>(&'a self, unit: &'a mut Unit, agent_id: Arc<str>) -> Answer<'a, ()>;
    /// From now on this key means the person, and the one before means nobody. `Conflict` if it
    /// means somebody else, or there is no such person.
    fn rebind<'a>(
        &'a self,
        unit: &'a mut Unit,
        owner_id: String,
        person_key: String,
    ) -> Answer<'a, ()>;
    /// A person, or none.
    fn owner<'a>(&'a self, unit: &'a mut Unit, owner_id: String) -> Answer<'a, Option<KnownOwner>>;
    /// The agents of a person, in the order in which they were claimed.
    fn agents<'a>(&'a self, unit: &'a mut Unit, owner_id: String) -> Answer<'a, Vec<OwnedAgent>>;
    /// Gives an agent another name. `Conflict` if it is gone.
    fn rename<'a>(&'a self, unit: &'a mut Unit, agent_id: Arc<str>, name: String)
    -> Answer<'a, ()>;
    /// Ends an agent for good: its tokens stop working, and it no longer counts as the person's.
    fn revoke<'a>(&'a self, unit: &'a mut Unit, agent_id: Arc<str>) -> Answer<'a, ()>;
}

/// What is answered about people, from the state of the unit.
pub type Answer<'a, T> =
    Pin<Box<dyn Future<Output = std::result::Result<T, StateError>> + Send + 'a>>;

pub type CalleeFuture = Pin<Box<dyn Future<Output = (Ending, Option<Work>)> + Send>>;

/// A call within a call.
#[derive(Debug)]
pub struct Within {
    pub work: Work,
    pub context: CallContext,
    pub capability: String,
    pub action: String,
    pub input: String,
}

/// What one call has of the store.
#[derive(Debug)]
pub struct Work {
    pub unit: Unit,
    /// The collections that the running capability declares, by name.
    pub collections: Arc<BTreeMap<String, Collection>>,
    /// An action of access `read` changes nothing.
    pub read_only: bool,
    pub surroundings: Arc<dyn Surroundings>,
}

pub(super) type Reply<T> = Result<std::result::Result<T, HostError>>;

impl CallState {
    pub(super) fn work(&mut self) -> std::result::Result<&mut Work, HostError> {
        self.work
            .as_mut()
            .ok_or_else(|| HostError::Unavailable("there is no store here".to_owned()))
    }

    pub(super) fn changing(&mut self) -> std::result::Result<&mut Work, HostError> {
        let work = self.work()?;
        if work.read_only {
            let text = "an action of access read changes nothing: declare another access";
            return Err(HostError::Invalid(text.to_owned()));
        }
        Ok(work)
    }

    /// What a refusal of the store means to the component. The database's own troubles are for the
    /// operator.
    pub(super) fn refusal(&self, error: StateError) -> HostError {
        match error {
            StateError::Invalid(text) => HostError::Invalid(text),
            StateError::Conflict => HostError::Conflict,
            StateError::Duplicate(holder) => HostError::Duplicate(holder),
            StateError::Limit(text) => HostError::Limit(text),
            StateError::CursorInvalid => HostError::BadCursor,
            StateError::Db(error) => {
                let (capability, request) = (&*self.capability, &*self.context.request_id);
                tracing::error!(capability, request, %error, "the store does not answer");
                HostError::Unavailable("the store does not answer".to_owned())
            }
        }
    }
}

impl invoke::Host for CallState {
    async fn call(
        &mut self,
        capability: String,
        action: String,
        input: String,
    ) -> Result<std::result::Result<types::Success, types::Failure>> {
        let seed = self.chance.generator().random();
        let context = self.context.within(&self.capability, seed);
        let Some(work) = self.work.take() else {
            wasmtime::bail!("there is nothing to call here");
        };
        let surroundings = Arc::clone(&work.surroundings);
        let within = Within { work, context, capability, action, input };
        let (ending, work) = surroundings.call(within).await;
        if work.is_none() {
            wasmtime::bail!("the call within this one took too long");
        }
        self.work = work;
        Ok(match ending {
            Ending::Success { output, next } => Ok(types::Success { output, next }),
            Ending::Refused { code, message, conflict, next, keep_writes: _ } => {
                // Whether the caller's own writes are kept is for the caller to say.
                Err(types::Failure { code, message, conflict, next, keep_writes: false })
            }
        })
    }
}
