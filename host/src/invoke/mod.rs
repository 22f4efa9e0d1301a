//! The one pipeline: permit, find, validate, run, commit, answer. Nothing else runs a component.

mod answer;
mod due;
mod idempotency;
mod lookups;
mod operate;
mod rates;
mod within;

use crate::{
    catalog::{Action, Capability, Catalog, Input, Snapshot},
    db::{
        Attachments, AuditRecord, IdempotencyKey, NewEvent, Spot, StateError, Store, Task, Unit,
        Verdict,
    },
    events::Events,
    feeds::Feeds,
    identity::Identity,
    lookups::Lookups,
    sandbox::{CallContext, Ending, Sandbox, Work},
    sms::Sms,
    vocabulary::{Access, AgentCaller, Caller, Failure, Timestamp},
};
pub use operate::{OPERATOR, Operation};
pub use rates::{Rates, Spent};

use answer::{Passed, answer};
use idempotency::{Keyed, Running};
use serde::Serialize;
use serde_json::{Map, Value, json};
use std::{collections::BTreeSet, fmt::Display, sync::Arc, time::Instant};
use tokio::sync::Mutex;
use within::Frame;

/// How often a call is run at most, when others change what it reads.
const RUNS: u32 = 6;
/// Calls that got in each other's way wait in so many queues.
const QUEUES: usize = 64;

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
    running: Running,
    queues: [Mutex<()>; QUEUES],
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

/// The result and the next step, or the refusal.
type Outcome = Result<(Value, Option<Value>), Failure>;

/// What runs, the same however often it is run again.
struct Run<'a> {
    snapshot: &'a Arc<Snapshot>,
    capability: &'a Arc<Capability>,
    action: &'a Action,
    context: Arc<CallContext>,
    input: String,
    dry_run: bool,
    keyed: Option<Keyed>,
    /// What the run is the doing of; done only if it succeeds.
    task: Option<Task>,
    started: Instant,
}

/// How a call ended.
struct Done {
    outcome: Outcome,
    /// The outcome is that of an earlier call with the same key.
    replayed: bool,
    /// What a rehearsal would have published.
    rehearsed: Option<Vec<Emitted>>,
}

/// An event that a rehearsal would have published.
#[derive(Debug, Serialize)]
pub struct Emitted {
    pub event_type: String,
    pub subject: String,
}

/// How one run of a call ended.
enum Ended {
    Done(Outcome, Option<Vec<Emitted>>),
    /// Somebody else changed what it read.
    InTheWay(Spot),
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
    ) -> Arc<Self> {
        let queues = std::array::from_fn(|_| Mutex::new(()));
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
            running,
            queues,
        })
    }

    /// Runs one call from its permission to its answer.
    pub async fn call(self: &Arc<Self>, call: Call<'_>) -> Called {
        let mut spent = Vec::new();
        let outcome = self.answer(call, &mut spent).await;
        Called { outcome, spent }
    }

    async fn answer(
        self: &Arc<Self>,
        call: Call<'_>,
        spent: &mut Vec<Spent>,
    ) -> Result<Answer, Failure> {
        let started = Instant::now();
        let now = Timestamp::now();
        let snapshot = self.catalog.snapshot();
        let capability = snapshot.find(call.capability, now)?;
        let selected = capability.select(call.body?)?;
        let action = selected.action;
        permit(&call.caller, action)?;
        *spent = self.rates.call(&call.caller, action.descriptor.access)?;
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
        let Done { outcome, replayed, rehearsed } = self.run(&run).await;
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
            would_emit: rehearsed,
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

    /// Runs until nobody was in the way.
    async fn run(self: &Arc<Self>, run: &Run<'_>) -> Done {
        let done = |outcome, replayed, rehearsed| Done { outcome, replayed, rehearsed };
        let mut turn = None;
        let queue_time = self.sandbox.limits().call_queue_time();
        for _ in 0..RUNS {
            if let Some(keyed) = &run.keyed {
                let now = run.context.now;
                match keyed.lookup(&self.store, now, run.capability, run.action).await {
                    Ok(None) => {}
                    Ok(Some(outcome)) => return done(outcome, true, None),
                    Err(failure) => return done(Err(failure), false, None),
                }
            }
            match self.run_once(run).await {
                Ended::Done(outcome, rehearsed) => return done(outcome, false, rehearsed),
                Ended::InTheWay(spot) => {
                    // Those who want the same now take turns: of many at once all but one would
                    // run in vain, again and again. The last turn ends before the next is taken.
                    drop(turn.take());
                    let Some(queue) = self.queues.get(spot.0 as usize % QUEUES) else { break };
                    match tokio::time::timeout(queue_time, queue.lock()).await {
                        Ok(next) => turn = Some(next),
                        Err(_elapsed) => break,
                    }
                }
            }
        }
        let failure = Failure::new("version_conflict").after_s(1);
        done(Err(failure), false, None)
    }

    async fn run_once(self: &Arc<Self>, run: &Run<'_>) -> Ended {
        let Run { snapshot, capability, action, context, .. } = run;
        let component = &capability.prepared;
        let place = match self.sandbox.place(component).await {
            Ok(place) => place,
            Err(error) => return Ended::Done(Err(Failure::from(error)), None),
        };
        let frame = Frame::new(
            Arc::clone(self),
            Arc::clone(snapshot),
            Arc::clone(capability),
            &action.descriptor.name,
        );
        let work = Work {
            unit: Unit::new(self.store.clone(), context.now),
            collections: Arc::clone(capability.collections.of(context.caller.test_mode())),
            read_only: action.descriptor.access == Access::Read,
            surroundings: Arc::<Frame>::clone(&frame),
        };
        let name = &action.descriptor.name;
        let asked = (name.as_str(), run.input.as_str());
        let (ending, work) =
            self.sandbox.run(component, &capability.id, context, asked, work).await;
        drop(place);
        let keep_writes = matches!(&ending, Ok(Ending::Refused { keep_writes: true, .. }));
        let outcome = match ending {
            Ok(ending) => answer(capability, action, ending, &context.request_id, &frame.passed()),
            Err(error) => {
                let (id, request) = (&*capability.id, &*context.request_id);
                tracing::warn!(capability = id, action = name, request, "{error}");
                Err(Failure::from(error))
            }
        };
        match work {
            Some(work) => self.commit(run, work.unit, outcome, keep_writes).await,
            None => Ended::Done(outcome, None),
        }
    }

    /// Commits what the run wrote, or holds what it read against the store before it is told.
    async fn commit(
        &self,
        run: &Run<'_>,
        mut unit: Unit,
        outcome: Outcome,
        keep_writes: bool,
    ) -> Ended {
        // A refusal that breaks the component's contract says that nothing was changed.
        let refused_soundly = outcome
            .as_ref()
            .is_err_and(|failure| failure.error_code != "capability_answer_invalid");
        let keep = !run.dry_run && (outcome.is_ok() || (keep_writes && refused_soundly));
        let rehearsed = run.dry_run.then(|| {
            let emitted = |event: &NewEvent| Emitted {
                event_type: event.event_type.clone(),
                subject: event.subject.clone(),
            };
            unit.events().map(emitted).collect()
        });
        match (keep, run.dry_run) {
            (true, _) => {}
            (false, true) => unit.discard_all(),
            (false, false) => unit.discard(),
        }
        let changes = !unit.writes_nothing();
        let audited = !run.dry_run
            && (changes
                || matches!(run.action.descriptor.access, Access::Write | Access::Internal));
        let attachments = Attachments {
            task: run.task.clone().filter(|_| outcome.is_ok()),
            kept: run.keyed.as_ref().filter(|_| keep).map(|it| it.keep(&outcome, unit.now())),
            audit: audited.then(|| {
                let code = outcome.as_ref().err().map(|failure| &*failure.error_code);
                record(&run.context, run.capability, run.action, code, run.started)
            }),
        };
        if !changes && !unit.needs_check() && attachments.is_empty() {
            return Ended::Done(outcome, rehearsed);
        }
        if let Err(error) = self.address(&mut unit).await {
            return Ended::Done(outcome.and(Err(self.uncommitted(run, &error))), None);
        }
        let agents = self.identity.written_agents(&unit);
        match unit.commit(attachments).await {
            Ok(Verdict::Committed) => {
                self.identity.forget(&agents);
                Ended::Done(outcome, rehearsed)
            }
            Ok(Verdict::Superseded) => Ended::Done(outcome, rehearsed),
            Ok(Verdict::Conflict(spot)) => Ended::InTheWay(spot),
            // A refusal that only lacks its audit row is still what the caller must read.
            Err(error) => Ended::Done(outcome.and(Err(self.uncommitted(run, &error))), None),
        }
    }

    fn uncommitted(&self, run: &Run<'_>, error: &dyn Display) -> Failure {
        let request = &*run.context.request_id;
        tracing::error!(request, %error, "a call is not committed");
        Failure::new("dependency_unavailable").after_s(1)
    }

    /// Finds the agents of each person that something was published for: those of the moment that
    /// the unit is committed in.
    async fn address(&self, unit: &mut Unit) -> Result<(), StateError> {
        let owners: BTreeSet<String> = unit.events().filter_map(|it| it.owner()).cloned().collect();
        for owner in owners {
            let agents = self.identity.agents_of(unit, &owner).await?;
            let events = unit.events_mut().filter(|event| event.owner() == Some(&owner));
            events.for_each(|event| event.agents.clone_from(&agents));
        }
        Ok(())
    }
}

/// The row of the audit log for a call that ended with this error code, or well.
fn record(
    context: &CallContext,
    capability: &Capability,
    action: &Action,
    code: Option<&str>,
    started: Instant,
) -> AuditRecord {
    let agent = context.agent();
    AuditRecord {
        at: context.now,
        request_id: context.request_id.to_string(),
        agent_id: agent.map(|agent| agent.agent_id.to_string()),
        owner_id: agent.and_then(|agent| agent.owner_id.as_deref()).map(str::to_owned),
        via: context.via.clone(),
        capability: capability.id.to_string(),
        version: capability.descriptor.version.clone(),
        digest: capability.digest.hex(),
        action: action.descriptor.name.clone(),
        outcome: code.unwrap_or("ok").to_owned(),
        duration_us: u64::try_from(started.elapsed().as_micros()).unwrap_or(u64::MAX),
    }
}

/// Whether an agent may run an action.
pub fn permit(caller: &AgentCaller, action: &Action) -> Result<(), Failure> {
    permit_access(caller, action.descriptor.access)
}

/// The claim comes before the scope: any write of an unclaimed identity is told to claim.
pub fn permit_access(caller: &AgentCaller, access: Access) -> Result<(), Failure> {
    if access.requires_claim() && caller.owner_id.is_none() {
        return Err(Failure::new("phone_binding_required")
            .conflict(json!({ "kind": "identity", "current": "anonymous", "required": "claimed" }))
            .next(json!({
                "capability": "svc.phone-binding",
                "input": { "action": "bind" },
                "missing": ["phone"],
                "ask_user": "Which mobile number may I send a code to?",
                "then": "retry_original",
            })));
    }
    match access.scope() {
        Some(scope) if !caller.holds(scope) => Err(Failure::new("insufficient_scope")
            .conflict(json!({ "kind": "scope", "required": [scope], "held": &*caller.scopes }))
            .next(json!({ "http": { "method": "POST", "url": "/oauth/token" }, "scope": scope }))),
        _ => Ok(()),
    }
}
