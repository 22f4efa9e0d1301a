//! A test call: one run of an action as an author's test describes it. The sandbox and the store are those
//! of any call, but nested calls get the answers that the test gives.

use crate::{
    call::CallBody,
    execution::{Executed, ensure_input, find},
    host::Host,
    nested::Frame,
    outcome::Outcome,
    run::{Attempt, Run},
};
use portolan_catalog::Snapshot;
use portolan_events::Events;
use portolan_publication::Publication;
use portolan_sandbox::{
    CallContext, HostServices, MessageRefusal, MessageRequest, NestedCall, NestedCallFuture,
    People, StateFuture,
};
use portolan_store::{
    Attachments, Collection, CollectionId, Document, Expectation, NewEvent, StateError,
    TimerChange, Unit, Verdict,
    query::{Query, Request},
};
use portolan_vocabulary::{
    Access, Caller, ErrorCode, Failure, Invocation, Timestamp, new_request_id,
};
use serde_json::{Map, Value};
use std::{sync::Arc, time::Instant};

/// The maximum number of documents of a page.
const PAGE_DOCUMENTS: u32 = 1_000;

/// The answers that a test gives to nested calls.
pub trait CalleeStubs: std::fmt::Debug + Send + Sync {
    /// Returns the output of an action for this input, or its refusal.
    fn answer(&self, callee: &Invocation, input: &Value) -> Result<Value, Failure>;
}

/// One call of an action, with everything that decides its outcome.
#[derive(Debug)]
pub struct TestCall<'a> {
    pub capability: &'a str,
    /// An agent, or the host itself for an internal action.
    pub caller: Caller,
    pub action: &'a str,
    /// The action's input, with the host's own fields.
    pub input: Map<String, Value>,
    pub idempotency_key: Option<String>,
    /// The seed of the call's randomness.
    pub seed: [u8; 32],
    pub stubs: Arc<dyn CalleeStubs>,
}

/// The outcome of a test call.
#[derive(Debug)]
pub struct TestCallOutcome {
    /// The output with the next step, or the failure.
    pub outcome: Result<(Value, Option<Value>), Failure>,
    pub effects: Effects,
}

/// The effects of a test call other than documents.
#[derive(Debug, Default)]
pub struct Effects {
    pub events: Vec<NewEvent>,
    /// The timers that were set: time, action and input.
    pub timers: Vec<(Timestamp, String, String)>,
}

impl Host {
    /// Runs one action and commits its writes.
    pub async fn run_test_call(self: &Arc<Self>, test_call: TestCall<'_>) -> TestCallOutcome {
        let mut effects = Effects::default();
        let outcome = self.test_call_outcome(test_call, &mut effects).await;
        TestCallOutcome { outcome, effects }
    }

    async fn test_call_outcome(
        self: &Arc<Self>,
        test_call: TestCall<'_>,
        effects: &mut Effects,
    ) -> Outcome {
        let TestCall { capability, caller, action, mut input, idempotency_key, seed, stubs } =
            test_call;
        let (started, now) = (Instant::now(), self.clock.now());
        let snapshot = self.catalog.snapshot();
        let (capability, action, input, dry_run, keyed) = match &caller {
            Caller::Agent(agent) => {
                input.insert("action".to_owned(), action.into());
                let call_body =
                    CallBody { body: Ok(input), idempotency_key, by_person: false, trace: None };
                let capability = snapshot.find(capability, now)?;
                let caller = (agent, &self.rates.of(agent, false));
                let (action, input) =
                    self.admit(capability, caller, call_body, &mut Vec::new()).await?;
                let keyed = self.begin_keyed(agent, capability, action, &input)?;
                (capability, action, input.fields, input.dry_run, keyed)
            }
            Caller::System { .. } => {
                let (capability, action) = find(&snapshot, &caller, (capability, action), now)?;
                if action.descriptor.access != Access::Internal {
                    return Err(Failure::new(ErrorCode::UnknownAction));
                }
                let input = Value::Object(input);
                ensure_input(action, &input.to_string())?;
                (capability, action, input, false, None)
            }
        };
        let platform = Arc::clone(&snapshot.platform);
        let context = CallContext::new(caller, now, new_request_id(now), platform);
        let run = Run {
            snapshot: &snapshot,
            capability,
            action,
            context: Arc::new(context.with_seed(seed)),
            input: input.to_string(),
            dry_run,
            keyed: keyed.as_ref(),
            task: None,
            rates: None,
            approval: None,
            started,
        };
        let permit = self.sandbox.permit(&capability.prepared).await?;
        let frame = self.frame(run.execution(), None);
        let services = Arc::new(StubbedServices { frame: Arc::clone(&frame), stubs });
        let unit = Unit::new(self.store.clone(), now);
        let executed = self.execute_with(run.execution(), (frame, services), unit, false).await;
        drop(permit);
        let (run_effects, keep_writes) = (Effects::of(&executed), executed.keep_writes);
        let outcome = match self.commit(&run, executed).await {
            Attempt::Done(outcome, _) => outcome,
            Attempt::Conflict(_) | Attempt::Replaced => {
                Err(Failure::new(ErrorCode::VersionConflict))
            }
        };
        if outcome.is_ok() || keep_writes {
            *effects = run_effects;
        }
        outcome
    }

    /// Stores new documents of a capability before a test call, given as ids and bodies; an error if one of
    /// them exists already.
    pub async fn put_documents(
        &self,
        (capability, test_mode): (&str, bool),
        collection: &str,
        documents: &[(String, String)],
    ) -> Result<(), StateError> {
        let snapshot = self.catalog.snapshot();
        let collection = find_collection(&snapshot, (capability, test_mode), collection)?;
        let mut unit = Unit::new(self.store.clone(), self.clock.now());
        for (id, body) in documents {
            unit.put(collection, id, body.clone(), Expectation::Absent).await?;
        }
        match unit.commit(Attachments::default()).await {
            Ok(Verdict::Committed) => Ok(()),
            Ok(verdict) => Err(StateError::Invalid(format!("they cannot be stored: {verdict:?}"))),
            Err(error) => Err(StateError::Invalid(format!("they cannot be stored: {error}"))),
        }
    }

    /// Returns all documents of a collection in the order of their ids.
    pub async fn documents(
        &self,
        capability: (&str, bool),
        collection: &str,
    ) -> Result<Vec<Document>, StateError> {
        let snapshot = self.catalog.snapshot();
        let collection = find_collection(&snapshot, capability, collection)?;
        let request = Request {
            filter: None,
            text: None,
            near: None,
            within: None,
            order: &[],
            limit: PAGE_DOCUMENTS,
            unchecked: true,
        };
        let query = Query::new(collection.shape(), request);
        let query = query.map_err(|error| StateError::Invalid(error.to_string()))?;
        let mut unit = Unit::new(self.store.clone(), self.clock.now());
        let (mut documents, mut cursor) = (Vec::new(), None);
        loop {
            let page = unit.find(collection, &query, cursor.as_deref()).await?;
            documents.extend(page.hits.into_iter().map(|hit| hit.document));
            cursor = page.next;
            if cursor.is_none() {
                return Ok(documents);
            }
        }
    }
}

fn find_collection<'s>(
    snapshot: &'s Snapshot,
    (capability, test_mode): (&str, bool),
    collection: &str,
) -> Result<&'s Collection, StateError> {
    let capability = snapshot.capabilities.get(capability);
    let found =
        capability.and_then(|capability| capability.collections.of(test_mode).get(collection));
    found.ok_or_else(|| StateError::Invalid(format!("there is no collection {collection}")))
}

impl Effects {
    fn of(executed: &Executed) -> Self {
        let Some(unit) = &executed.unit else { return Self::default() };
        let timers = unit.timer_changes().into_values().filter_map(|change| match change {
            TimerChange::Set { at, action, input, .. } => {
                Some((*at, action.clone(), input.clone()))
            }
            TimerChange::Cancel => None,
        });
        Self { events: unit.events().cloned().collect(), timers: timers.collect() }
    }
}

/// The services of a run, of which nested calls are answered by the test.
#[derive(Debug)]
struct StubbedServices {
    frame: Arc<Frame>,
    stubs: Arc<dyn CalleeStubs>,
}

impl StubbedServices {
    fn outcome(&self, nested: &NestedCall) -> Outcome {
        let callee =
            Invocation { capability: nested.capability.clone(), action: nested.action.clone() };
        self.frame.ensure_declared(&nested.context.via, &callee)?;
        let input = serde_json::from_str(&nested.input)
            .map_err(|_| Failure::new(ErrorCode::MalformedJson))?;
        self.stubs.answer(&callee, &input).map(|output| (output, None))
    }
}

impl HostServices for StubbedServices {
    fn check_event(&self, event_type: &str) -> Result<(), String> {
        self.frame.check_event(event_type)
    }

    fn subscribers(&self, event_type: &str) -> Vec<(String, String)> {
        self.frame.subscribers(event_type)
    }

    fn check_timer(&self, action: &str, input: String) -> Result<String, String> {
        self.frame.check_timer(action, input)
    }

    fn people(&self) -> Option<&dyn People> {
        self.frame.people()
    }

    fn events(&self) -> Option<Arc<Events>> {
        self.frame.events()
    }

    fn publication(&self) -> Option<Arc<Publication>> {
        self.frame.publication()
    }

    fn admit_log_message(&self, bytes: usize) -> bool {
        self.frame.admit_log_message(bytes)
    }

    fn admit_text_message<'a>(
        &'a self,
        unit: &'a mut Unit,
        request: MessageRequest<'a>,
    ) -> StateFuture<'a, Result<(), MessageRefusal>> {
        self.frame.admit_text_message(unit, request)
    }

    fn report_unreadable(
        &self,
        collection: CollectionId,
        id: String,
        revision: u64,
        reason: String,
    ) {
        self.frame.report_unreadable(collection, id, revision, reason);
    }

    fn call(self: Arc<Self>, nested: NestedCall) -> NestedCallFuture {
        let guest_answer = self.frame.guest_answer(self.outcome(&nested), false);
        Box::pin(async move { (guest_answer, Some(nested.work)) })
    }
}
