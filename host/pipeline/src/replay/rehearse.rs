//! A version that does not serve yet, run over the recorded calls of its capability.

use super::{
    call::size,
    compare::{Effect, ReplayVerdict},
    error::ReplayError,
    run::ReplayedRun,
};
use crate::host::Host;
use portolan_catalog::{Capability, Snapshot};
use portolan_sandbox::{Divergence, Ending, RecordedRun};
use portolan_store::RecordingQuery;
use serde::Serialize;
use std::{
    collections::BTreeMap,
    sync::Arc,
    time::{Duration, Instant},
};

/// The maximum number of changed runs that a rehearsal shows, and of their bytes as JSON.
const MAX_SHOWN: usize = 100;
const SHOWN_BYTES: usize = 4 << 20;

/// The longest time of a rehearsal, which calls that run into their time limit would otherwise take for long.
const LONGEST: Duration = Duration::from_secs(120);

/// The outcome of the recorded calls with another version.
#[derive(Debug, Clone, Serialize)]
pub struct Rehearsal {
    pub capability: String,
    pub version: String,
    pub digest: String,
    /// The number of recorded calls, and of their runs of this capability.
    pub calls: u64,
    pub runs: u64,
    /// The number of recordings that could not be read.
    pub unreadable: u64,
    pub verdicts: BTreeMap<&'static str, u64>,
    /// Whether all of the calls were run: a rehearsal ends after two minutes.
    pub complete: bool,
    /// Whether all was run, something was compared, and nothing changes that somebody should look at.
    pub passed: bool,
    /// The runs that are not the same, at most 100, and fewer if they are large.
    pub changes: Vec<RehearsedRun>,
    /// The number of bytes that further changes may take.
    #[serde(skip)]
    remaining: usize,
}

/// A run that a version does otherwise.
#[derive(Debug, Clone, Serialize)]
pub struct RehearsedRun {
    pub request_id: String,
    pub action: String,
    pub recorded_version: String,
    pub verdict: ReplayVerdict,
    pub recorded: Ending,
    pub recorded_code: Option<String>,
    pub replayed: Ending,
    pub code: Option<String>,
    /// The effects that only the recorded run has, and those that only this one has.
    pub missing_effects: Vec<Effect>,
    pub new_effects: Vec<Effect>,
    pub divergence: Option<Divergence>,
}

impl Host {
    /// Runs a component over the newest recorded calls of its capability, at most `limit` of them.
    pub async fn rehearse(
        self: &Arc<Self>,
        component: &[u8],
        limit: u32,
    ) -> Result<Rehearsal, ReplayError> {
        let candidate = self.load_candidate(component).await?;
        let snapshot = self.catalog.snapshot();
        let query = RecordingQuery {
            capability: Some(candidate.id.to_string()),
            limit,
            ..RecordingQuery::default()
        };
        let mut rehearsal = Rehearsal::new(
            candidate.id.to_string(),
            candidate.descriptor.version.clone(),
            candidate.digest.to_string(),
        );
        let started = Instant::now();
        for entry in self.store.recordings(&query).await? {
            if started.elapsed() > LONGEST {
                rehearsal.complete = false;
                break;
            }
            let recorded = match self.recorded_call(&entry.request_id).await {
                Ok((_entry, runs)) => runs,
                // It was removed meanwhile, or a person in it was erased.
                Err(ReplayError::Unknown(_) | ReplayError::Unreadable) => {
                    rehearsal.unreadable += 1;
                    continue;
                }
                Err(error) => return Err(error),
            };
            rehearsal.calls += 1;
            for run in recorded.iter().filter(|run| *run.capability == *candidate.id) {
                let replayed = self.rehearse_run(&snapshot, run, &candidate).await;
                rehearsal.add(&entry.request_id, replayed);
            }
        }
        rehearsal.finish();
        Ok(rehearsal)
    }

    /// Runs a recorded run with the candidate. What differs is run with the recorded version too, if it is there: a
    /// run that this one does not repeat either says nothing about the candidate.
    async fn rehearse_run(
        self: &Arc<Self>,
        snapshot: &Arc<Snapshot>,
        run: &RecordedRun,
        candidate: &Arc<Capability>,
    ) -> ReplayedRun {
        let mut replayed = self.replay_run(snapshot, run, candidate).await;
        if replayed.verdict.is_change()
            && !replayed.same_component
            && let Ok(recorded) = self.version_of(snapshot, run).await
            && recorded.digest.to_string() == run.digest
            && self.replay_run(snapshot, run, &recorded).await.verdict != ReplayVerdict::Same
        {
            replayed.verdict = ReplayVerdict::Unrepeatable;
        }
        replayed
    }
}

impl Rehearsal {
    fn new(capability: String, version: String, digest: String) -> Self {
        let count = |verdict: ReplayVerdict| (verdict.name(), 0);
        Self {
            capability,
            version,
            digest,
            calls: 0,
            runs: 0,
            unreadable: 0,
            verdicts: ReplayVerdict::ALL.map(count).into(),
            complete: true,
            passed: true,
            changes: Vec::new(),
            remaining: SHOWN_BYTES,
        }
    }

    fn add(&mut self, request_id: &str, run: ReplayedRun) {
        self.runs += 1;
        *self.verdicts.entry(run.verdict.name()).or_default() += 1;
        self.passed &= !run.verdict.is_change();
        if run.verdict == ReplayVerdict::Same || self.changes.len() == MAX_SHOWN {
            return;
        }
        let without = |effects: &[Effect], others: &[Effect]| -> Vec<Effect> {
            effects.iter().filter(|effect| !others.contains(effect)).cloned().collect()
        };
        let change = RehearsedRun {
            request_id: request_id.to_owned(),
            missing_effects: without(&run.recorded_effects, &run.effects),
            new_effects: without(&run.effects, &run.recorded_effects),
            action: run.action,
            recorded_version: run.recorded_version,
            verdict: run.verdict,
            recorded: run.recorded,
            recorded_code: run.recorded_code,
            replayed: run.replayed,
            code: run.code,
            divergence: run.divergence,
        };
        // One that is too large is counted, and not shown.
        if let Some(remaining) = self.remaining.checked_sub(size(&change)) {
            self.remaining = remaining;
            self.changes.push(change);
        }
    }

    /// Ends the rehearsal: one that has compared nothing has not passed.
    fn finish(&mut self) {
        let unrepeatable = self.verdicts.get(ReplayVerdict::Unrepeatable.name());
        self.passed &= self.complete && self.runs > unrepeatable.copied().unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(verdict: ReplayVerdict, text: &str) -> ReplayedRun {
        let ending = Ending::Success { output: "{}".to_owned(), next: None };
        let effect = Effect { function: "documents.put".to_owned(), arguments: text.into() };
        ReplayedRun {
            capability: String::new(),
            action: String::new(),
            recorded_version: String::new(),
            version: String::new(),
            same_component: false,
            verdict,
            recorded: ending.clone(),
            recorded_code: None,
            replayed: ending,
            code: None,
            recorded_effects: Vec::new(),
            effects: vec![effect],
            divergence: None,
            logs: Vec::new(),
        }
    }

    fn rehearsed(runs: Vec<ReplayedRun>) -> Rehearsal {
        let mut rehearsal = Rehearsal::new(String::new(), String::new(), String::new());
        runs.into_iter().for_each(|run| rehearsal.add("req_1", run));
        rehearsal.finish();
        rehearsal
    }

    #[test]
    fn a_rehearsal_passes_only_if_it_has_compared_something() {
        use ReplayVerdict::{Diverged, Fixed, Same, Unrepeatable};
        for (verdicts, passed) in [
            (vec![], false),
            (vec![Unrepeatable, Unrepeatable], false),
            (vec![Unrepeatable, Same], true),
            (vec![Fixed], true),
            (vec![Same, Diverged], false),
        ] {
            let runs = verdicts.iter().map(|verdict| run(*verdict, "")).collect();
            assert_eq!(rehearsed(runs).passed, passed, "{verdicts:?}");
        }
    }

    #[test]
    fn large_changes_are_counted_and_not_all_shown() {
        let text = "x".repeat(SHOWN_BYTES / 3);
        let runs = (0..10).map(|_| run(ReplayVerdict::EffectsDiffer, &text)).collect();
        let rehearsal = rehearsed(runs);
        assert_eq!((rehearsal.runs, rehearsal.changes.len()), (10, 2));
        assert_eq!(rehearsal.verdicts["effects_differ"], 10);
    }
}
