//! Runs a call until it commits, with a retry after each conflict.

use crate::{
    approvals::Approval,
    execution::{Executed, Execution},
    explain::explain,
    health::is_own_fault,
    host::{Host, RETRY_LOCKS},
    idempotency::KeyedCall,
    outcome::{Emitted, Outcome},
    rates::CallerRates,
    traces::end_commit,
};
use portolan_catalog::{Action, Capability, Snapshot};
use portolan_sandbox::CallContext;
use portolan_store::{
    Attachments, Audience, ConflictKey, NewEvent, StateError, Task, Unit, Verdict,
};
use portolan_vocabulary::{Access, AgentCaller, CallResult, ErrorCode, Failure, is_told_by_email};
use std::{
    collections::BTreeSet,
    fmt::Display,
    sync::Arc,
    time::{Duration, Instant},
};

/// The maximum number of runs of a call that conflicts with others.
const MAX_ATTEMPTS: u32 = 6;

/// A call to run. Every attempt uses the same context and input.
pub(super) struct Run<'a> {
    pub(super) snapshot: &'a Arc<Snapshot>,
    pub(super) capability: &'a Arc<Capability>,
    pub(super) action: &'a Action,
    pub(super) context: Arc<CallContext>,
    pub(super) input: String,
    pub(super) dry_run: bool,
    pub(super) keyed: Option<&'a KeyedCall>,
    /// The due work that the run does, which is removed if the run succeeds.
    pub(super) task: Option<Task>,
    /// The rates of the calling agent; `None` if the system calls.
    pub(super) rates: Option<CallerRates<'a>>,
    /// The part that the caller's person has to approve, if they limit anything.
    pub(super) approval: Option<Arc<Approval>>,
    pub(super) started: Instant,
}

/// The outcome of a call.
pub(super) struct RunOutcome {
    pub(super) outcome: Outcome,
    /// Whether the outcome is the stored answer of an earlier call with the same key.
    pub(super) replayed: bool,
    /// The events that a dry run would have published.
    pub(super) emitted: Option<Vec<Emitted>>,
}

impl RunOutcome {
    pub(super) fn failed(failure: Failure) -> Self {
        Self { outcome: Err(failure), replayed: false, emitted: None }
    }
}

/// The outcome of one attempt at a call.
pub(super) enum Attempt {
    Done(Outcome, Option<Vec<Emitted>>),
    /// The read set changed before the commit.
    Conflict(ConflictKey),
    /// A collection that the attempt has used was replaced by that of a newer version of a capability.
    Replaced,
}

/// The time that a run takes. It is charged also if nobody waits for the run's end.
struct RunTime<'a> {
    rates: &'a CallerRates<'a>,
    begun: Instant,
}

impl Drop for RunTime<'_> {
    fn drop(&mut self) {
        self.rates.charge_run_time(self.begun.elapsed());
    }
}

impl Run<'_> {
    pub(super) fn execution(&self) -> Execution<'_> {
        Execution {
            snapshot: self.snapshot,
            capability: self.capability,
            action: self.action,
            context: &self.context,
            input: &self.input,
            dry_run: self.dry_run,
            approval: self.approval.as_ref(),
        }
    }

    /// Returns what its person has to approve, with its agent, if it is not a dry run.
    fn asked(&self) -> Option<(&Approval, &AgentCaller)> {
        let approval = self.approval.as_deref().filter(|_| !self.dry_run)?;
        Some((approval, self.context.agent()?))
    }
}

impl Host {
    /// Runs a call until it is committed, and counts it. The call is retried after conflicts and after a collection was
    /// replaced.
    pub(super) async fn run(self: &Arc<Self>, run: &Run<'_>) -> RunOutcome {
        let run_outcome = match self.retry(run).await {
            Some(run_outcome) => run_outcome,
            None => Box::pin(self.run_replaced(run)).await,
        };
        let now = self.clock.now();
        let (capability, action) = (&run.capability.id, &run.action.descriptor.name);
        let (failure, duration) = (run_outcome.outcome.as_ref().err(), run.started.elapsed());
        let code = failure.map(|failure| &*failure.error_code);
        if let Some(own) = self.instruments(run.capability, run.action) {
            let (called, trace) = ((&**capability, &**action), run.context.trace);
            self.meters.count_run(&own.meters, called, failure, duration, trace);
            own.recent.count(code, duration, now);
        }
        if !run.context.caller.test_mode() && !run.dry_run {
            self.health.count(capability, failure.is_some_and(is_own_fault), now);
        }
        self.recordings.keep(&run.context, code);
        if !run_outcome.replayed {
            self.count_for_release(run.execution(), failure, duration);
        }
        run_outcome
    }

    /// Counts a run for the release of its capability, if one runs. Calls without an identity always get the served
    /// version, so they are not compared.
    pub(super) fn count_for_release(
        &self,
        execution: Execution<'_>,
        failure: Option<&Failure>,
        time: Duration,
    ) {
        let Execution { snapshot, capability, context, .. } = execution;
        if snapshot.releases.is_empty() || context.agent().is_none() {
            return;
        }
        if let Some(release) = snapshot.releases.get(&capability.id) {
            release.count(capability, CallResult::of(failure), time, self.clock.now());
        }
    }

    /// Runs the call until it has an outcome, at most [`MAX_ATTEMPTS`] times; `None` if a newer version must
    /// run it.
    pub(super) async fn retry(self: &Arc<Self>, run: &Run<'_>) -> Option<RunOutcome> {
        let finished = |outcome, replayed, emitted| Some(RunOutcome { outcome, replayed, emitted });
        let mut retry_lock = None;
        let queue_time = self.sandbox.limits().call_queue_time();
        for _ in 0..MAX_ATTEMPTS {
            if let Some(keyed) = &run.keyed {
                let now = run.context.now;
                match keyed.find_answer(&self.store, now, run.capability, run.action).await {
                    Ok(None) => {}
                    Ok(Some(outcome)) => return finished(outcome, true, None),
                    Err(failure) => return finished(Err(failure), false, None),
                }
            }
            if let Some((approval, agent)) = run.asked().filter(|(asked, _)| asked.waits_itself()) {
                return finished(Err(self.hold(run, approval, agent).await), false, None);
            }
            match self.run_once(run).await {
                Attempt::Done(outcome, emitted) => {
                    let outcome = self.held(run, outcome).await;
                    return finished(outcome, false, emitted);
                }
                Attempt::Replaced => return None,
                Attempt::Conflict(key) => {
                    // Calls that conflict on one key retry one after the other, because at once all
                    // but one would conflict again. A call holds at most one retry lock.
                    drop(retry_lock.take());
                    let Some(lock) = self.retry_locks.get(key.0 as usize % RETRY_LOCKS) else {
                        break;
                    };
                    let begun = Instant::now();
                    let waited = tokio::time::timeout(queue_time, lock.lock()).await;
                    self.meters.count_retry_wait(begun.elapsed());
                    match waited {
                        Ok(guard) => retry_lock = Some(guard),
                        Err(_elapsed) => break,
                    }
                }
            }
        }
        let failure = Failure::new(ErrorCode::VersionConflict).after_s(1);
        finished(Err(failure), false, None)
    }

    /// Returns the outcome of a run. One that has failed where a nested call needs the person's approval waits.
    async fn held(self: &Arc<Self>, run: &Run<'_>, outcome: Outcome) -> Outcome {
        match (run.asked(), &outcome) {
            (Some((approval, agent)), Err(_)) if approval.reason().is_some() => {
                Err(self.hold(run, approval, agent).await)
            }
            _ => outcome,
        }
    }

    async fn run_once(self: &Arc<Self>, run: &Run<'_>) -> Attempt {
        let permit = match self.sandbox.permit(&run.capability.prepared).await {
            Ok(permit) => permit,
            Err(error) => return Attempt::Done(Err(Failure::from(error)), None),
        };
        if let Some(approval) = &run.approval {
            approval.begin_attempt();
        }
        if let Some(session) = run.context.session() {
            session.restart();
        }
        let unit = Unit::new(self.store.clone(), run.context.now);
        let run_time = run.rates.as_ref().map(|rates| RunTime { rates, begun: Instant::now() });
        let executed = self.execute(run.execution(), unit, false).await;
        drop(permit);
        drop(run_time);
        self.commit(run, executed).await
    }

    /// Commits the writes of a run. A run without writes is validated if it has read more than once.
    ///
    /// The futures of the writes are boxed: that of every call, which is moved several times, would otherwise have room
    /// for them.
    pub(super) async fn commit(&self, run: &Run<'_>, executed: Executed) -> Attempt {
        let Executed { outcome, keep_writes, unit } = executed;
        let mut unit = unit.unwrap_or_else(|| Unit::new(self.store.clone(), run.context.now));
        let input = run.task.is_none().then_some(&*run.input);
        let called = (&**run.capability, &*run.action.descriptor.name);
        let outcome = outcome.map_err(|failure| explain(failure, &unit, called, input));
        // A run that waits is made again.
        let waits = run.asked().is_some_and(|(approval, _)| approval.reason().is_some());
        let is_kept = !run.dry_run && (outcome.is_ok() || (keep_writes && !waits));
        let emitted = run.dry_run.then(|| {
            let summary = |event: &NewEvent| Emitted {
                event_type: event.event_type.clone(),
                subject: event.subject.clone(),
            };
            unit.events().map(summary).collect()
        });
        match (is_kept, run.dry_run) {
            (true, _) => {}
            (false, true) => unit.discard_all(),
            (false, false) => unit.discard(),
        }
        let has_writes = !unit.has_no_writes();
        let action = &run.action.descriptor.name;
        let is_audited = !run.dry_run
            && (has_writes
                || matches!(run.action.descriptor.access, Access::Write | Access::Internal))
            && (run.task.is_none()
                || self.audit_limits.admit(&run.capability.id, action, self.clock.now()));
        let attachments = Attachments {
            task: run.task.clone().filter(|_| outcome.is_ok()),
            answer: run
                .keyed
                .as_ref()
                .filter(|_| is_kept)
                .map(|keyed| keyed.stored_answer(&outcome, unit.now())),
            audit: is_audited.then(|| run.execution().audit(&outcome, run.started)),
        };
        if !has_writes && !unit.needs_validation() && attachments.is_empty() {
            return Attempt::Done(outcome, emitted);
        }
        let remainder = unit.remainder();
        match Box::pin(self.write(run, unit, attachments)).await {
            Ok(Verdict::Committed | Verdict::Superseded) => Attempt::Done(outcome, emitted),
            Ok(Verdict::Conflict(key)) => Attempt::Conflict(key),
            Ok(Verdict::Replaced) => Attempt::Replaced,
            Ok(Verdict::QuotaExceeded(exceeded)) => {
                self.meters.count_exceeded(&exceeded.capability, exceeded.quota);
                Box::pin(self.refuse(run, remainder, exceeded.into())).await
            }
            Ok(Verdict::Erased) => {
                let failure = Failure::new(ErrorCode::ResourceGone)
                    .message("The call is about a person whose data is erased.");
                Box::pin(self.refuse(run, remainder, failure)).await
            }
            // A refusal whose audit row cannot be written is still returned to the caller.
            Err(failure) => Attempt::Done(outcome.and(Err(failure)), None),
        }
    }

    /// Refuses a call whose writes the store has rejected. The writes that nested calls keep in any case are
    /// still written, unless the store rejects them too.
    async fn refuse(&self, run: &Run<'_>, remainder: Unit, failure: Failure) -> Attempt {
        let outcome = Err(failure);
        let empty = Unit::new(self.store.clone(), run.context.now);
        for unit in [remainder, empty] {
            let audit = Some(run.execution().audit(&outcome, run.started));
            let attachments = Attachments { audit, ..Attachments::default() };
            match self.write(run, unit, attachments).await {
                Ok(Verdict::QuotaExceeded(_) | Verdict::Erased) => {}
                Ok(Verdict::Conflict(key)) => return Attempt::Conflict(key),
                Ok(Verdict::Replaced) => return Attempt::Replaced,
                Ok(Verdict::Committed | Verdict::Superseded) | Err(_) => break,
            }
        }
        Attempt::Done(outcome, None)
    }

    async fn write(
        &self,
        run: &Run<'_>,
        mut unit: Unit,
        attachments: Attachments,
    ) -> Result<Verdict, Failure> {
        let added = self.add_recipients(&mut unit).await;
        added.map_err(|error| self.commit_failure(run, &error))?;
        let changes_standings = self.identity.changes_standings(&unit);
        let trace = run.context.trace;
        let publications = self.begin_publications(trace, &run.context.caller, &mut unit);
        let mut span = self.commit_span(trace, &unit);
        let (system, documents) = (self.store.system(), unit.write_count());
        let begun = Instant::now();
        let committed = unit.commit(attachments).await;
        self.meters.count_commit(system, &committed, begun.elapsed(), documents);
        end_commit(&mut span, publications, &committed);
        drop(span);
        let verdict = committed.map_err(|error| self.commit_failure(run, &error))?;
        if changes_standings && verdict == Verdict::Committed {
            self.identity.invalidate_standings();
        }
        Ok(verdict)
    }

    fn commit_failure(&self, run: &Run<'_>, error: &dyn Display) -> Failure {
        let request = &*run.context.request_id;
        tracing::error!(request, %error, "a call cannot be committed");
        Failure::new(ErrorCode::DependencyUnavailable).after_s(1)
    }

    /// Adds the agents of each owner in an audience to the event, and the owner's delivery rules. The owner's
    /// records are then in the read set, so agents and rules are still the owner's at the commit. An event of
    /// one mode reaches no agent of the other.
    async fn add_recipients(&self, unit: &mut Unit) -> Result<(), StateError> {
        let owners: BTreeSet<(String, bool)> = unit
            .events()
            .filter_map(|event| Some((event.owner()?.clone(), event.test_mode)))
            .collect();
        for (owner, test_mode) in owners {
            let found = self.identity.find_recipients(unit, &owner, test_mode).await?;
            let events = unit
                .events_mut()
                .filter(|event| event.owner() == Some(&owner) && event.test_mode == test_mode);
            for event in events {
                event.agents.clone_from(&found.agents);
                event.rules.clone_from(&found.rules);
                event.has_email =
                    found.has_email && is_told_by_email(&event.event_type, &event.data, &owner);
            }
        }
        self.add_rules_of_agents(unit).await
    }

    /// Adds the delivery rules of an agent's owner to each event for the agent alone.
    async fn add_rules_of_agents(&self, unit: &mut Unit) -> Result<(), StateError> {
        let agents: BTreeSet<(String, bool)> = unit
            .events()
            .filter_map(|event| match &event.audience {
                Audience::Agent(agent_id) => Some((agent_id.clone(), event.test_mode)),
                _ => None,
            })
            .collect();
        for (agent_id, test_mode) in agents {
            let known = self.identity.find_mode_and_owner(&agent_id).await?;
            let audience = Audience::Agent(agent_id.clone());
            let is_of_other_mode = known.as_ref().is_some_and(|(mode, _)| *mode != test_mode);
            let rules = match known {
                Some((mode, Some(owner))) if mode == test_mode => {
                    self.identity.find_recipients(unit, &owner, test_mode).await?.rules
                }
                _ => None,
            };
            let events = unit
                .events_mut()
                .filter(|event| event.audience == audience && event.test_mode == test_mode);
            for event in events {
                if is_of_other_mode {
                    event.audience = Audience::Capabilities;
                } else if rules.is_some() {
                    event.agents = vec![agent_id.clone()];
                    event.rules.clone_from(&rules);
                }
            }
        }
        Ok(())
    }
}
