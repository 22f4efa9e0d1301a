//! The interface of a call to the host: its unit of work and the services of the host. The pipeline
//! that runs the call provides both, so nothing here knows how a service is implemented.

use crate::{answer::GuestAnswer, context::CallContext};
use portolan_blobs::Blobs;
use portolan_events::Events;
use portolan_publication::Publication;
use portolan_store::{Collection, CollectionId, StateError, Unit};
use portolan_vocabulary::{
    ApprovalPolicy, Claimed, DeliveryRules, KnownOwner, OwnedAgent, RulesChange, Suspension,
    Timestamp,
};
use std::{collections::BTreeMap, fmt, net::IpAddr, pin::Pin, sync::Arc, time::Duration};

/// What a sandbox has used for a call.
#[derive(Debug, Clone, Copy)]
pub struct SandboxUse {
    /// The time from its beginning to its end, with that of nested calls.
    pub time: Duration,
    /// The time without waits, and so without that of nested calls.
    pub computed: Duration,
    /// The bytes of memory that it held at its end.
    pub memory: usize,
}

/// The services of the host for a call, except the store.
///
/// The default of a method is the answer of a host that lacks the service.
pub trait HostServices: fmt::Debug + Send + Sync {
    /// Checks that the running action may publish events of this type; the error says why not.
    fn check_event(&self, event_type: &str) -> Result<(), String>;
    /// Returns the capability and the action of each subscriber to events of this type.
    fn subscribers(&self, event_type: &str) -> Vec<(String, String)>;
    /// Checks that `action` is an internal action of the running capability and that its schema
    /// accepts the input. Returns the input as it is stored; the error says what is wrong.
    fn check_timer(&self, action: &str, input: String) -> Result<String, String>;
    /// Returns the register of people and their agents, if the host has one.
    fn people(&self) -> Option<&dyn People> {
        None
    }
    /// Returns the inboxes and webhooks, if the host has them.
    fn events(&self) -> Option<Arc<Events>> {
        None
    }
    /// Returns the files of people, if the host has them.
    fn blobs(&self) -> Option<Arc<Blobs>> {
        None
    }
    /// Returns the current publication of the feeds, if there is one.
    fn publication(&self) -> Option<Arc<Publication>> {
        None
    }
    /// Counts what the sandbox of the running capability has used for a call.
    fn count_sandbox(&self, _context: &CallContext, _used: SandboxUse) {}
    /// Counts a log message of the running capability, and returns whether it may be logged.
    fn admit_log_message(&self, _bytes: usize) -> bool {
        true
    }
    /// Counts a text message in the call's unit of work, or returns why it is not sent.
    fn admit_text_message<'a>(
        &'a self,
        _unit: &'a mut Unit,
        _request: MessageRequest<'a>,
    ) -> StateFuture<'a, Result<(), MessageRefusal>> {
        Box::pin(async { Ok(Err(MessageRefusal::Destination)) })
    }
    /// Records that the running capability cannot read a document of its own at this revision.
    fn report_unreadable(&self, _: CollectionId, _id: String, _revision: u64, _reason: String) {}
    /// Runs an action of another capability in the caller's unit of work.
    fn call(self: Arc<Self>, call: NestedCall) -> NestedCallFuture;
}

/// A text message that a call wants to send.
#[derive(Debug, Clone, Copy)]
pub struct MessageRequest<'a> {
    /// In E.164.
    pub to: &'a str,
    /// Whether a person has proved to hold the number, as the component says.
    pub is_known: bool,
    /// The address of the calling agent.
    pub address: Option<IpAddr>,
    pub now: Timestamp,
}

/// The reason why a text message is not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MessageRefusal {
    #[error("the operator sends no messages to numbers with this prefix")]
    Destination,
    #[error("too many text messages: try again in {wait_s} seconds")]
    Limit { wait_s: u32 },
}

/// The register of people and their agents, read and changed in the unit of work of a call.
pub trait People: Send + Sync {
    /// Binds an agent to the owner with this key; if there is none, creates one whose id is made of
    /// `random`. `Conflict` if another owner has claimed the agent or the agent does not exist; `Limit`
    /// if the owner has as many agents as are allowed.
    fn claim<'a>(
        &'a self,
        unit: &'a mut Unit,
        agent_id: Arc<str>,
        person_key: String,
        random: u128,
    ) -> StateFuture<'a, Claimed>;
    /// Makes the agent anonymous again.
    fn unclaim<'a>(&'a self, unit: &'a mut Unit, agent_id: Arc<str>) -> StateFuture<'a, ()>;
    /// Gives the owner this key in place of the one before. `Conflict` if the key belongs to another
    /// owner, or this owner does not exist.
    fn rebind<'a>(
        &'a self,
        unit: &'a mut Unit,
        owner_id: String,
        person_key: String,
    ) -> StateFuture<'a, ()>;
    /// Returns an owner; `None` if the id is unknown.
    fn owner<'a>(
        &'a self,
        unit: &'a mut Unit,
        owner_id: String,
    ) -> StateFuture<'a, Option<KnownOwner>>;
    /// Returns the agents of an owner in the order in which they were claimed.
    fn agents<'a>(
        &'a self,
        unit: &'a mut Unit,
        owner_id: String,
    ) -> StateFuture<'a, Vec<OwnedAgent>>;
    /// Gives an agent another name. `Conflict` if the agent does not exist.
    fn rename<'a>(
        &'a self,
        unit: &'a mut Unit,
        agent_id: Arc<str>,
        name: String,
    ) -> StateFuture<'a, ()>;
    /// Revokes an agent: its tokens stop working, and it no longer counts as the owner's.
    fn revoke<'a>(&'a self, unit: &'a mut Unit, agent_id: Arc<str>) -> StateFuture<'a, ()>;
    /// Signs a person out: ends their sessions, and the codes and approvals that are pending. `Conflict` if
    /// this owner does not exist.
    fn sign_out<'a>(&'a self, unit: &'a mut Unit, owner_id: String) -> StateFuture<'a, ()>;
    /// Suspends a person, in place of an earlier suspension. `Conflict` if this owner does not exist.
    fn suspend<'a>(
        &'a self,
        unit: &'a mut Unit,
        owner_id: String,
        suspension: Suspension,
    ) -> StateFuture<'a, ()>;
    /// Ends the suspension of a person. Returns whether they were suspended. `Conflict` if this owner does
    /// not exist.
    fn reinstate<'a>(&'a self, unit: &'a mut Unit, owner_id: String) -> StateFuture<'a, bool>;
    /// Returns the delivery rules of a person, and the number of events that are held for them.
    fn delivery_state<'a>(
        &'a self,
        unit: &'a mut Unit,
        owner_id: String,
    ) -> StateFuture<'a, (DeliveryRules, u64)>;
    /// Changes the delivery rules of a person. Returns whether they are different now. `Conflict` if this
    /// owner does not exist; `Limit` if too many people and things are muted.
    fn change_delivery_rules<'a>(
        &'a self,
        unit: &'a mut Unit,
        owner_id: String,
        change: RulesChange,
    ) -> StateFuture<'a, bool>;
    /// Sets what the agents of a person may do alone; `None` ends every limit. `Conflict` if this owner does not
    /// exist; `Invalid` if the policy permits more than the one before and `may_loosen` is false.
    fn set_approval_policy<'a>(
        &'a self,
        unit: &'a mut Unit,
        owner_id: String,
        policy: Option<ApprovalPolicy>,
        may_loosen: bool,
    ) -> StateFuture<'a, ()>;
}

/// A boxed future of something that is done in a unit of work.
pub type StateFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, StateError>> + Send + 'a>>;

/// A boxed future of a nested call: its answer, and the work given back; `None` if the nested call ran
/// out of time.
pub type NestedCallFuture = Pin<Box<dyn Future<Output = (GuestAnswer, Option<Work>)> + Send>>;

/// A call that a running action makes to another capability.
#[derive(Debug)]
pub struct NestedCall {
    pub work: Work,
    pub context: CallContext,
    pub capability: String,
    pub action: String,
    pub input: String,
}

/// The unit of work of a call, and the services that go with it.
#[derive(Debug)]
pub struct Work {
    pub unit: Unit,
    /// The collections that the running capability declares, by name.
    pub collections: Arc<BTreeMap<String, Collection>>,
    /// Whether the call may write nothing, because its action has access `read`.
    pub read_only: bool,
    pub services: Arc<dyn HostServices>,
}
