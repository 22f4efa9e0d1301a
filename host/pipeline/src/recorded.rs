//! Writes recorded calls in batches, in the background.

use crate::{host::Host, recordings::KeptCall};
use portolan_sandbox::Lost;
use portolan_store::{NewRecording, RecordingUse};
use portolan_vocabulary::person_ids;
use std::{collections::BTreeSet, sync::Arc, time::Duration};
use tokio::sync::{mpsc, watch};

/// The maximum number of recordings that are written at once.
const BATCH: usize = 64;
/// The wait between two batches, so that there are more recordings in each.
const INTERVAL: Duration = Duration::from_millis(100);
/// The maximum number of people and agents whom a recording may name.
const MAX_PEOPLE: usize = 32;
/// The number of recordings after which old ones are removed, besides once an hour.
const TRIM_AFTER: usize = 256;

impl Host {
    /// Writes recorded calls until `stop` becomes true, then those that still wait.
    pub(super) async fn write_recordings(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let Some(mut queue) = self.recordings.take_queue() else { return };
        let mut since_trim = TRIM_AFTER;
        let mut stopping = false;
        loop {
            let first = match stopping {
                true => queue.try_recv().ok(),
                false => tokio::select! {
                    first = queue.recv() => first,
                    _ = stop.changed() => None,
                },
            };
            stopping |= *stop.borrow() || stop.has_changed().is_err();
            let batch = self.next_batch(first, &mut queue);
            if batch.is_empty() {
                if stopping {
                    return;
                }
                continue;
            }
            since_trim += batch.len();
            self.write_batch(batch).await;
            if since_trim >= TRIM_AFTER {
                since_trim = 0;
                self.trim_recordings().await;
            }
            if !stopping {
                tokio::time::sleep(INTERVAL).await;
            }
        }
    }

    fn next_batch(
        &self,
        first: Option<KeptCall>,
        queue: &mut mpsc::Receiver<KeptCall>,
    ) -> Vec<KeptCall> {
        let mut batch: Vec<_> = first.into_iter().collect();
        while batch.len() < BATCH {
            match queue.try_recv() {
                Ok(call) => batch.push(call),
                Err(_empty) => break,
            }
        }
        batch.iter().for_each(|call| self.recordings.dequeue(call));
        batch
    }

    async fn write_batch(&self, batch: Vec<KeptCall>) {
        let calls = batch.len() as u64;
        let recordings: Vec<_> = batch.into_iter().filter_map(new_recording).collect();
        let left_out = calls - recordings.len() as u64;
        if left_out > 0 {
            self.recordings.count_lost(Lost::TooManyPeople, left_out);
        }
        let given = recordings.len() as u64;
        match self.store.add_recordings(recordings).await {
            Ok(written) => self.recordings.count_kept(written),
            Err(error) => {
                tracing::warn!(%error, "recorded calls cannot be written");
                self.recordings.count_lost(Lost::Unwritten, given);
            }
        }
    }

    /// Removes recordings that are too old or too many.
    pub(super) async fn trim_recordings(&self) {
        let settings = self.recordings.settings();
        let most = RecordingUse { calls: settings.calls, bytes: settings.bytes };
        let oldest = settings.oldest(self.clock.now());
        if let Err(error) = self.store.trim_recordings(oldest, most).await {
            tracing::warn!(%error, "old recordings cannot be removed");
        }
    }
}

/// Returns a call as it is written; `None` if it names too many people.
fn new_recording(call: KeptCall) -> Option<NewRecording> {
    let KeptCall { at, request_id, outcome, failed, test_mode, runs, .. } = call;
    let outermost = runs.first()?;
    let content = serde_json::to_string(&runs).ok()?;
    let people: BTreeSet<String> = person_ids(&content).map(str::to_owned).collect();
    if people.len() > MAX_PEOPLE {
        return None;
    }
    Some(NewRecording {
        request_id: request_id.to_string(),
        at,
        capability: outermost.capability.clone(),
        action: outermost.action.clone(),
        version: outermost.version.clone(),
        digest: outermost.digest.clone(),
        outcome,
        failed,
        test_mode,
        capabilities: runs.iter().map(|run| run.capability.clone()).collect(),
        people,
        content: content.into_bytes(),
    })
}
