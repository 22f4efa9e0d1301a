//! One recorded run, run again with one component.

use super::compare::{Effect, ReplayVerdict, effects, verdict};
use crate::{
    answer::{NestedRefusal, check_answer},
    execution::{Execution, ensure_input},
    host::Host,
    nested::Frame,
};
use portolan_catalog::{Action, Capability, Snapshot};
use portolan_sandbox::{
    CallContext, Divergence, Ending, GuestAnswer, HostServices, LoggedLine, NestedCall,
    NestedCallFuture, Player, Ran, RecordedRun, Tape, Work,
};
use portolan_store::Unit;
use portolan_vocabulary::{Caller, ErrorCode, ErrorKind, Failure, Timestamp, from_hex};
use serde::{Deserialize, Serialize};
use std::{borrow::Cow, sync::Arc};

/// A recorded run and its replay.
#[derive(Debug, Clone, Serialize)]
pub struct ReplayedRun {
    pub capability: String,
    pub action: String,
    /// The version that was recorded, and the one of the replay.
    pub recorded_version: String,
    pub version: String,
    /// Whether the component is the recorded one.
    pub same_component: bool,
    pub verdict: ReplayVerdict,
    pub recorded: Ending,
    pub recorded_code: Option<String>,
    pub replayed: Ending,
    pub code: Option<String>,
    pub recorded_effects: Vec<Effect>,
    pub effects: Vec<Effect>,
    /// The first question that the record does not answer.
    pub divergence: Option<Divergence>,
    pub logs: Vec<LoggedLine>,
}

/// The services of a replayed run: only the checks of what it does. The record answers everything else.
#[derive(Debug)]
struct ReplayServices(Arc<Frame>);

impl HostServices for ReplayServices {
    fn check_event(&self, event_type: &str) -> Result<(), String> {
        self.0.check_event(event_type)
    }

    fn subscribers(&self, _event_type: &str) -> Vec<(String, String)> {
        Vec::new()
    }

    fn check_timer(&self, action: &str, input: String) -> Result<String, String> {
        self.0.check_timer(action, input)
    }

    fn call(self: Arc<Self>, nested: NestedCall) -> NestedCallFuture {
        let refused = GuestAnswer::Refused {
            code: ErrorCode::DependencyUnavailable.name().to_owned(),
            message: "A replay makes no nested calls.".to_owned(),
            conflict: None,
            next: None,
            keep_writes: false,
        };
        Box::pin(async move { (refused, Some(nested.work)) })
    }
}

impl Host {
    /// Runs a recorded run again with a component that has its id.
    pub(super) async fn replay_run(
        self: &Arc<Self>,
        snapshot: &Arc<Snapshot>,
        recorded: &RecordedRun,
        capability: &Arc<Capability>,
    ) -> ReplayedRun {
        let mut player = Player::new(recorded.imports.clone());
        let (ending, code) = match capability.action(&recorded.action) {
            None => refused(&Failure::new(ErrorCode::UnknownAction)),
            Some(action) => match ensure_input(action, &recorded.input) {
                Err(failure) => refused(&failure),
                Ok(()) => {
                    let run = self.replay_action(snapshot, recorded, (capability, action), player);
                    let (ending, code, used) = run.await;
                    player = used;
                    (ending, code)
                }
            },
        };
        let (recorded_effects, effects) = effects(&player);
        ReplayedRun {
            capability: recorded.capability.clone(),
            action: recorded.action.clone(),
            recorded_version: recorded.version.clone(),
            version: capability.descriptor.version.clone(),
            same_component: recorded.digest == capability.digest.to_string(),
            verdict: verdict(recorded, (&ending, code.as_deref()), &player),
            recorded: recorded.ending.clone(),
            recorded_code: recorded.code.clone(),
            replayed: ending,
            code,
            recorded_effects,
            effects,
            divergence: player.divergence().cloned(),
            logs: player.logs().to_vec(),
        }
    }

    async fn replay_action(
        self: &Arc<Self>,
        snapshot: &Arc<Snapshot>,
        recorded: &RecordedRun,
        (capability, action): (&Arc<Capability>, &Action),
        player: Player,
    ) -> (Ending, Option<String>, Player) {
        let context = Arc::new(context(snapshot, recorded));
        let execution = Execution {
            snapshot,
            capability,
            action,
            context: &context,
            input: &recorded.input,
            dry_run: true,
            approval: None,
        };
        let services = Arc::new(ReplayServices(self.frame(execution, None)));
        let work = Work {
            // It is never committed.
            unit: Unit::new(self.store.clone(), context.now),
            collections: Arc::default(),
            read_only: recorded.read_only,
            services,
        };
        let permit = self.sandbox.permit(&capability.prepared).await;
        let ran = match permit {
            Err(error) => {
                Ran { answer: Err(error), work: None, tape: Tape::Replaying(Box::new(player)) }
            }
            Ok(_permit) => {
                let input = (recorded.action.as_str(), recorded.input.as_str());
                let tape = Tape::Replaying(Box::new(player));
                let (prepared, id) = (&capability.prepared, &capability.id);
                self.sandbox.run(prepared, id, &context, input, (work, tape)).await
            }
        };
        let Ran { answer, tape, .. } = ran;
        let ending = Ending::of(&answer);
        let failure = match answer {
            Ok(answer) => {
                let refusals = nested_refusals(recorded);
                check_answer(capability, action, answer, &context.request_id, &refusals).err()
            }
            Err(error) => Some(Failure::from(error)),
        };
        let player = match tape {
            Tape::Replaying(player) => *player,
            _ => Player::new(Vec::new()),
        };
        (ending, failure.map(|failure| failure.error_code.into_owned()), player)
    }
}

/// Returns the ending of a run that is refused before it begins.
fn refused(failure: &Failure) -> (Ending, Option<String>) {
    let code = failure.error_code.to_string();
    let ending = Ending::Refused {
        code: code.clone(),
        message: failure.message.to_string(),
        conflict: failure.conflict.as_ref().map(ToString::to_string),
        next: None,
        keep_writes: false,
    };
    (ending, Some(code))
}

fn context(snapshot: &Snapshot, recorded: &RecordedRun) -> CallContext {
    let seed = from_hex(&recorded.seed).and_then(|seed| seed.try_into().ok());
    let context = CallContext::new(
        Caller::from(&recorded.caller),
        Timestamp::from_millis(recorded.at),
        Arc::from(recorded.request_id.as_str()),
        Arc::clone(&snapshot.platform),
    );
    let mut context = context.with_seed(seed.unwrap_or_default());
    context.via.clone_from(&recorded.via);
    context
}

/// The answer of a nested call as it is recorded.
#[derive(Deserialize)]
struct NestedAnswer {
    #[serde(rename = "Ok")]
    result: Option<NestedResult>,
}

#[derive(Deserialize)]
struct NestedResult {
    #[serde(rename = "Err")]
    refusal: Option<RecordedRefusal>,
}

#[derive(Deserialize)]
struct RecordedRefusal {
    code: String,
}

/// Returns the refusals of nested calls, whose codes the run may return as its own.
fn nested_refusals(recorded: &RecordedRun) -> Vec<NestedRefusal> {
    let calls = recorded.imports.iter().filter(|import| import.function == "invoke.call");
    let refusal = calls.filter_map(|import| {
        let answer: NestedAnswer = serde_json::from_str(import.answer.get()).ok()?;
        answer.result?.refusal
    });
    // Kind and retryability are not compared.
    let nested = |refusal: RecordedRefusal| NestedRefusal {
        code: Cow::Owned(refusal.code),
        kind: ErrorKind::Conflict,
        retryable: false,
    };
    refusal.map(nested).collect()
}
