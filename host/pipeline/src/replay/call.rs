//! All runs of a recorded call, run again.

use super::{error::ReplayError, run::ReplayedRun};
use crate::host::Host;
use portolan_catalog::{Capability, Snapshot};
use portolan_sandbox::RecordedRun;
use portolan_store::RecordingEntry;
use serde::Serialize;
use std::sync::Arc;

/// The maximum number of bytes of the runs of a replay as JSON.
const MAX_BYTES: usize = 32 << 20;

/// A recorded call and its replay.
#[derive(Debug, Clone, Serialize)]
pub struct ReplayedCall {
    pub recording: RecordingEntry,
    /// The outermost run first, then those of its nested calls.
    pub runs: Vec<ReplayedRun>,
}

impl ReplayedCall {
    /// Returns whether every run gave the same bytes.
    pub fn is_same(&self) -> bool {
        self.runs.iter().all(|run| run.verdict == super::compare::ReplayVerdict::Same)
    }
}

/// Returns the number of bytes of a value as JSON.
pub(super) fn size(value: &impl Serialize) -> usize {
    serde_json::to_vec(value).map_or(usize::MAX, |json| json.len())
}

impl Host {
    /// Returns a recorded call with its runs, the outermost first.
    pub async fn recorded_call(
        &self,
        request_id: &str,
    ) -> Result<(RecordingEntry, Vec<RecordedRun>), ReplayError> {
        let found = self.store.recording(request_id).await?;
        let found = found.ok_or_else(|| ReplayError::Unknown(request_id.to_owned()))?;
        let content = found.content.ok_or(ReplayError::Unreadable)?;
        let runs = serde_json::from_slice(&content).map_err(|error| {
            tracing::warn!(%error, request_id, "a recording is not of this version's form");
            ReplayError::Unreadable
        })?;
        Ok((found.entry, runs))
    }

    /// Runs a recorded call again: with the recorded versions, or the serving ones where those are not kept; or, of
    /// its runs, those of a component that is given.
    pub async fn replay_call(
        self: &Arc<Self>,
        request_id: &str,
        component: Option<&[u8]>,
    ) -> Result<ReplayedCall, ReplayError> {
        let (recording, recorded) = self.recorded_call(request_id).await?;
        let given = match component {
            Some(content) => Some(self.load_candidate(content).await?),
            None => None,
        };
        let snapshot = self.catalog.snapshot();
        let (mut runs, mut remaining) = (Vec::new(), MAX_BYTES);
        for run in &recorded {
            let capability = match &given {
                Some(given) if *given.id == *run.capability => Arc::clone(given),
                Some(_) => continue,
                None => self.version_of(&snapshot, run).await?,
            };
            let replayed = self.replay_run(&snapshot, run, &capability).await;
            remaining = remaining.checked_sub(size(&replayed)).ok_or(ReplayError::TooLarge)?;
            runs.push(replayed);
        }
        match (runs.is_empty(), given) {
            (true, Some(given)) => Err(ReplayError::OtherCapability(given.id.to_string())),
            _ => Ok(ReplayedCall { recording, runs }),
        }
    }

    /// Returns the component of a recorded run, or the serving version if that one is not kept.
    pub(super) async fn version_of(
        &self,
        snapshot: &Snapshot,
        run: &RecordedRun,
    ) -> Result<Arc<Capability>, ReplayError> {
        let serving = snapshot.capabilities.get(run.capability.as_str());
        if let Some(serving) = serving.filter(|serving| serving.digest.to_string() == run.digest) {
            return Ok(Arc::clone(serving));
        }
        match (self.catalog.load_version(&run.digest).await, serving) {
            (Ok(capability), _) => Ok(Arc::new(capability)),
            (Err(_), Some(serving)) => Ok(Arc::clone(serving)),
            (Err(_), None) => Err(ReplayError::NoComponent {
                id: run.capability.clone(),
                version: run.version.clone(),
            }),
        }
    }
}
