//! A call by an agent, from its permission to its answer.

use crate::{
    host::Host,
    idempotency::Keyed,
    outcome::{Answer, Meta},
    rates::Spent,
    run::{Done, Run},
};
use portolan_catalog::{Action, Capability, Input};
use portolan_sandbox::CallContext;
use portolan_store::IdempotencyKey;
use portolan_vocabulary::{AgentCaller, Caller, Failure};
use serde_json::{Map, Value};
use std::{sync::Arc, time::Instant};

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

/// How a call went, and what is left of its caller's limits.
#[derive(Debug)]
pub struct Called {
    pub outcome: Result<Answer, Failure>,
    pub spent: Vec<Spent>,
}

impl Host {
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
