//! What a running component reaches through the pipeline: calls to other capabilities in its own
//! unit of work, and what its declaration allows of events and timers.

use crate::{
    Host,
    answer::{Passed, answer, is_sound},
    ensure_permitted,
    run::record,
};
use portolan_catalog::{Action, Capability, Snapshot};
use portolan_events::Events;
use portolan_publication::records::Records;
use portolan_sandbox::{CalleeFuture, Ending, People, Surroundings, Within, Work};
use portolan_vocabulary::{Access, Caller, ErrorCode, Failure};
use serde_json::{Value, json};
use std::{
    net::IpAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

/// How many calls may stand within each other.
const DEPTH: usize = 8;

/// One running action and what it may reach.
#[derive(Debug)]
pub(super) struct Frame {
    host: Arc<Host>,
    snapshot: Arc<Snapshot>,
    capability: Arc<Capability>,
    action: String,
    /// Refusals that callees gave it: it may pass them on as its own.
    passed: Mutex<Vec<Passed>>,
}

impl Frame {
    pub(super) fn new(
        host: Arc<Host>,
        snapshot: Arc<Snapshot>,
        capability: Arc<Capability>,
        action: &str,
    ) -> Arc<Self> {
        let (action, passed) = (action.to_owned(), Mutex::default());
        Arc::new(Self { host, snapshot, capability, action, passed })
    }

    pub(super) fn passed(&self) -> Vec<Passed> {
        self.passed.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The callee and the input it takes, if the caller may call it from here.
    fn callee(&self, within: &Within) -> Result<(Arc<Capability>, Value), Failure> {
        let (via, context) = (&within.context.via, &within.context);
        let refused =
            |message: &'static str| Err(Failure::new(ErrorCode::NotPermitted).message(message));
        if via.contains(&within.capability) {
            return refused("A capability cannot be called by what it called.");
        }
        if via.len() >= DEPTH {
            return refused("Too many calls within each other.");
        }
        let capability = self.snapshot.find(&within.capability, context.now)?;
        let action = capability
            .action(&within.action)
            .ok_or_else(|| Failure::new(ErrorCode::UnknownAction))?;
        if let Caller::Agent(agent) = &context.caller {
            ensure_permitted(agent, action.descriptor.access)?;
        }
        if within.work.read_only && action.descriptor.access == Access::Write {
            return refused("An action of access read cannot call one of access write.");
        }
        let input = serde_json::from_str(&within.input).map_err(|_| {
            Failure::new(ErrorCode::MalformedJson).message("The input is not JSON.")
        })?;
        if let Some(conflict) = action.schemas.input.violations(&input) {
            return Err(Failure::new(ErrorCode::ValidationFailed).conflict(conflict));
        }
        Ok((Arc::clone(capability), input))
    }

    async fn run(self: Arc<Self>, within: Within) -> (Ending, Option<Work>) {
        let (capability, input) = match self.callee(&within) {
            Ok(callee) => callee,
            Err(failure) => return (self.refuse(failure, false), Some(within.work)),
        };
        let Within { work, context, action: name, .. } = within;
        let Some(action) = capability.action(&name) else {
            return (self.refuse(Failure::new(ErrorCode::UnknownAction), false), Some(work));
        };
        let started = Instant::now();
        let Work { mut unit, collections, read_only, surroundings } = work;
        unit.begin();
        let frame = Self::new(
            Arc::clone(&self.host),
            Arc::clone(&self.snapshot),
            Arc::clone(&capability),
            &name,
        );
        let inner = Work {
            unit,
            collections: Arc::clone(capability.collections.of(context.caller.test_mode())),
            read_only: read_only || action.descriptor.access == Access::Read,
            surroundings: Arc::<Self>::clone(&frame),
        };
        let (context, input) = (Arc::new(context), input.to_string());
        let run = self.host.sandbox.run(
            &capability.prepared,
            &capability.id,
            &context,
            (&name, &input),
            inner,
        );
        let (ending, inner) = run.await;
        let keep_writes = matches!(&ending, Ok(Ending::Refused { keep_writes: true, .. }));
        let outcome = match ending {
            Ok(ending) => answer(&capability, action, ending, &context.request_id, &frame.passed()),
            Err(error) => {
                let (id, request) = (&*capability.id, &*context.request_id);
                tracing::warn!(capability = id, action = name, request, "{error}");
                Err(Failure::from(error))
            }
        };
        let keep_writes = keep_writes && is_sound(&outcome);
        let Some(Work { mut unit, .. }) = inner else {
            return (self.refuse(Failure::new(ErrorCode::CapabilityTimeout), false), None);
        };
        if action.descriptor.access != Access::Read {
            let code = outcome.as_ref().err().map(|failure| &*failure.error_code);
            let record = record(&context, &capability, action, code, started);
            unit.note(record, keep_writes);
        }
        let ending = match outcome {
            Ok((output, next)) => {
                unit.keep();
                let next = next.map(|next| next.to_string());
                Ending::Success { output: output.to_string(), next }
            }
            Err(failure) if keep_writes => {
                unit.keep_in_any_case();
                self.refuse(failure, true)
            }
            Err(failure) => {
                unit.take_back();
                self.refuse(failure, false)
            }
        };
        (ending, Some(Work { unit, collections, read_only, surroundings }))
    }

    /// A refusal as the component gets it, remembered so that it may pass it on.
    fn refuse(&self, failure: Failure, keep_writes: bool) -> Ending {
        let text = |value: Option<Box<Value>>| value.map(|value| value.to_string());
        self.passed.lock().unwrap_or_else(PoisonError::into_inner).push(Passed {
            code: failure.error_code.clone(),
            kind: failure.kind,
            retryable: failure.retryable,
        });
        Ending::Refused {
            code: failure.error_code.into_owned(),
            message: failure.message.into_owned(),
            conflict: text(failure.conflict),
            next: text(failure.next),
            keep_writes,
        }
    }

    fn own(&self) -> Option<&Action> {
        self.capability.action(&self.action)
    }
}

impl Surroundings for Frame {
    fn check_event(&self, event_type: &str) -> Result<(), String> {
        let mut emits = self.own().into_iter().flat_map(|action| &action.descriptor.emits);
        match emits.any(|declared| declared == event_type) {
            true => Ok(()),
            false => Err(format!(
                "the action {} does not declare that it emits {event_type}",
                self.action
            )),
        }
    }

    fn subscribers(&self, event_type: &str) -> Vec<(String, String)> {
        self.snapshot.subscribers(event_type)
    }

    fn check_timer(&self, action: &str, input: &str) -> Result<(), String> {
        let internal = self
            .capability
            .action(action)
            .filter(|action| action.descriptor.access == Access::Internal)
            .ok_or_else(|| format!("{action} is not an internal action"))?;
        let input = serde_json::from_str(input).map_err(|_| "the input is not JSON".to_owned())?;
        match internal.schemas.input.violations(&input) {
            None => Ok(()),
            Some(conflict) => Err(format!("the input is not one of {action}: {}", json!(conflict))),
        }
    }

    fn people(&self) -> Option<&dyn People> {
        Some(&self.host.identity)
    }

    fn events(&self) -> Option<Arc<Events>> {
        Some(Arc::clone(&self.host.events))
    }

    fn records(&self) -> Option<Arc<Records>> {
        Some(Arc::clone(&self.host.feeds.current()?.records))
    }

    fn may_send(&self, address: Option<IpAddr>) -> bool {
        self.host.rates.message(address).is_ok()
    }

    fn call(self: Arc<Self>, within: Within) -> CalleeFuture {
        Box::pin(self.run(within))
    }
}
