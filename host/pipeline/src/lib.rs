//! The one pipeline: permit, find, validate, run, commit, answer. Nothing else runs a component.

mod answer;
mod due;
mod execute;
mod idempotency;
mod lookups;
mod meters;
mod nested;
mod operate;
mod permission;
mod rates;
mod run;

pub use meters::Meters;
pub use operate::Operation;
pub use permission::ensure_permitted;
use portolan_catalog::{Action, Capability, Catalog, Input};
use portolan_events::Events;
use portolan_identity::Identity;
use portolan_outgoing::{lookups::Lookups, sms::Sms};
use portolan_publication::Feeds;
use portolan_sandbox::{CallContext, Sandbox};
use portolan_store::{IdempotencyKey, Store};
use portolan_vocabulary::{AgentCaller, Caller, Clock, Failure};
pub use rates::{Rates, Spent};

use idempotency::{Keyed, Running};
use run::{Done, Run};
use serde::Serialize;
use serde_json::{Map, Value};
use std::{sync::Arc, time::Instant};
use tokio::sync::Mutex;

/// Locks on which calls that conflict wait for their next attempt, chosen by the conflict key.
const RETRY_LOCKS: usize = 64;

/// The rooms that a call passes.
#[derive(Debug)]
pub struct Host {
    pub identity: Identity,
    pub catalog: Arc<Catalog>,
    pub sandbox: Arc<Sandbox>,
    pub store: Store,
    pub events: Arc<Events>,
    pub feeds: Arc<Feeds>,
    pub sms: Sms,
    pub lookups: Lookups,
    pub rates: Rates,
    pub meters: Meters,
    /// The clock of everything that serves or runs calls.
    pub clock: Clock,
    running: Running,
    retry_locks: [Mutex<()>; RETRY_LOCKS],
}

/// One call as a door hands it in.
#[derive(Debug)]
pub struct Call<'a> {
    pub caller: AgentCaller,
    pub capability: &'a str,
    /// The body, or why there is none; told only once the capability is found.
    pub body: Result<Map<String, Value>, Failure>,
    /// Of the header; the body's own field says the same.
    pub idempotency_key: Option<String>,
    pub request_id: Arc<str>,
}

/// An event that a rehearsal would have published.
#[derive(Debug, Serialize)]
pub struct Emitted {
    pub event_type: String,
    pub subject: String,
}

/// How a call went, and what is left of its caller's limits.
#[derive(Debug)]
pub struct Called {
    pub outcome: Result<Answer, Failure>,
    pub spent: Vec<Spent>,
}

/// The success body: `{result, meta, next?}`.
#[derive(Debug, Serialize)]
pub struct Answer {
    pub result: Value,
    pub meta: Meta,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Value>,
}

/// Which action of which version answered, and how.
#[derive(Debug, Serialize)]
pub struct Meta {
    pub capability: Arc<str>,
    pub action: String,
    pub version: String,
    pub request_id: Arc<str>,
    pub replayed: bool,
    pub test_mode: bool,
    pub cost_credits: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub dry_run: bool,
    /// Of a rehearsal.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub would_emit: Option<Vec<Emitted>>,
}

impl Host {
    #[expect(clippy::too_many_arguments, reason = "the rooms that a call passes, each once")]
    pub fn new(
        identity: Identity,
        catalog: Arc<Catalog>,
        sandbox: Arc<Sandbox>,
        store: Store,
        events: Arc<Events>,
        feeds: Arc<Feeds>,
        sms: Sms,
        lookups: Lookups,
        rates: Rates,
        clock: Clock,
    ) -> Arc<Self> {
        let retry_locks = std::array::from_fn(|_| Mutex::new(()));
        let running = Running::default();
        Arc::new(Self {
            identity,
            catalog,
            sandbox,
            store,
            events,
            feeds,
            sms,
            lookups,
            rates,
            meters: Meters::default(),
            clock,
            running,
            retry_locks,
        })
    }

    /// Runs one call from its permission to its answer.
    pub async fn call(self: &Arc<Self>, call: Call<'_>) -> Called {
        let mut spent = Vec::new();
        let outcome = self.answer(call, &mut spent).await;
        if let Err(failure) = &outcome {
            self.meters.refused(&failure.error_code);
        }
        Called { outcome, spent }
    }

    async fn answer(
        self: &Arc<Self>,
        call: Call<'_>,
        spent: &mut Vec<Spent>,
    ) -> Result<Answer, Failure> {
        let started = Instant::now();
        let now = self.clock.now();
        let snapshot = self.catalog.snapshot();
        let capability = snapshot.find(call.capability, now)?;
        let selected = capability.select(call.body?)?;
        let action = selected.action;
        *spent = self.permit(&call.caller, action.descriptor.access)?;
        let input = capability.check_input(selected, call.idempotency_key)?;
        let keyed = self.keyed(&call.caller, capability, action, &input)?;
        let test_mode = call.caller.test_mode;
        let context = CallContext::new(
            Caller::Agent(call.caller),
            now,
            Arc::clone(&call.request_id),
            Arc::clone(&snapshot.platform),
        );
        let run = Run {
            snapshot: &snapshot,
            capability,
            action,
            context: Arc::new(context),
            input: input.fields.to_string(),
            dry_run: input.dry_run,
            keyed,
            task: None,
            started,
        };
        let Done { outcome, replayed, emitted } = self.run(&run).await;
        let (result, next) = outcome?;
        let meta = Meta {
            capability: Arc::clone(&capability.id),
            action: action.descriptor.name.clone(),
            version: capability.descriptor.version.clone(),
            request_id: call.request_id,
            replayed,
            test_mode,
            cost_credits: action.descriptor.cost_credits,
            dry_run: input.dry_run,
            would_emit: emitted,
        };
        Ok(Answer { result, meta, next })
    }

    fn keyed(
        &self,
        caller: &AgentCaller,
        capability: &Capability,
        action: &Action,
        input: &Input,
    ) -> Result<Option<Keyed>, Failure> {
        // A rehearsal leaves nothing behind, so there is nothing to keep.
        let Some(key) = input.idempotency_key.as_ref().filter(|_| !input.dry_run) else {
            return Ok(None);
        };
        let key = IdempotencyKey {
            agent_id: caller.agent_id.to_string(),
            capability: capability.id.to_string(),
            action: action.descriptor.name.clone(),
            key: key.clone(),
        };
        self.running.begin(key, &input.fields).map(Some)
    }
}

/// The result and the next step, or the failure.
type Outcome = Result<(Value, Option<Value>), Failure>;
