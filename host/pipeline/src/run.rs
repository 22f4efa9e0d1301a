//! Runs an action: as often as others are in its way, in a fresh sandbox each time, and to its commit.

use super::{
    Emitted, Host, QUEUES,
    answer::{answer, is_sound},
    idempotency::Keyed,
    within::Frame,
};
use portolan_catalog::{Action, Capability, Snapshot};
use portolan_sandbox::{CallContext, Ending, Work};
use portolan_store::{Attachments, AuditRecord, NewEvent, Spot, StateError, Task, Unit, Verdict};
use portolan_vocabulary::{Access, ErrorCode, Failure};
use serde_json::Value;
use std::{collections::BTreeSet, fmt::Display, sync::Arc, time::Instant};

/// How often a call is run at most, when others change what it reads.
const RUNS: u32 = 6;

/// The result and the next step, or the refusal.
pub(super) type Outcome = Result<(Value, Option<Value>), Failure>;

/// What runs, the same however often it is run again.
pub(super) struct Run<'a> {
    pub(super) snapshot: &'a Arc<Snapshot>,
    pub(super) capability: &'a Arc<Capability>,
    pub(super) action: &'a Action,
    pub(super) context: Arc<CallContext>,
    pub(super) input: String,
    pub(super) dry_run: bool,
    pub(super) keyed: Option<Keyed>,
    /// What the run is the doing of; done only if it succeeds.
    pub(super) task: Option<Task>,
    pub(super) started: Instant,
}

/// How a call ended.
pub(super) struct Done {
    pub(super) outcome: Outcome,
    /// The outcome is that of an earlier call with the same key.
    pub(super) replayed: bool,
    /// What a rehearsal would have published.
    pub(super) rehearsed: Option<Vec<Emitted>>,
}

/// How one run of a call ended.
enum Ended {
    Done(Outcome, Option<Vec<Emitted>>),
    /// Somebody else changed what it read.
    InTheWay(Spot),
}

impl Host {
    /// Runs until nobody was in the way, and counts it.
    pub(super) async fn run(self: &Arc<Self>, run: &Run<'_>) -> Done {
        let done = self.run_to_its_end(run).await;
        let (capability, action) = (&run.capability.id, &run.action.descriptor.name);
        self.meters.ran(capability, action, done.outcome.as_ref().err(), run.started.elapsed());
        done
    }

    async fn run_to_its_end(self: &Arc<Self>, run: &Run<'_>) -> Done {
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
        let failure = Failure::new(ErrorCode::VersionConflict).after_s(1);
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
        // A call within that did not end in time has what it was to write with it.
        let unit = match work {
            Some(work) => work.unit,
            None => Unit::new(self.store.clone(), context.now),
        };
        self.commit(run, unit, outcome, keep_writes).await
    }

    /// Commits what the run wrote, or holds what it read against the store before it is told.
    async fn commit(
        &self,
        run: &Run<'_>,
        mut unit: Unit,
        outcome: Outcome,
        keep_writes: bool,
    ) -> Ended {
        let keep = !run.dry_run && (outcome.is_ok() || (keep_writes && is_sound(&outcome)));
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
                self.identity.invalidate_agents(&agents);
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
        Failure::new(ErrorCode::DependencyUnavailable).after_s(1)
    }

    /// Finds the agents of each person that something was published for: those of the moment that
    /// the unit is committed in.
    async fn address(&self, unit: &mut Unit) -> Result<(), StateError> {
        let owners: BTreeSet<String> = unit.events().filter_map(|it| it.owner()).cloned().collect();
        for owner in owners {
            let agents = self.identity.find_agent_ids_by_owner(unit, &owner).await?;
            let events = unit.events_mut().filter(|event| event.owner() == Some(&owner));
            events.for_each(|event| event.agents.clone_from(&agents));
        }
        Ok(())
    }
}

/// The row of the audit log for a call that ended with this error code, or well.
pub(super) fn record(
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
