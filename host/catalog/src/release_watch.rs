//! The task that counts: it records what this node has counted of the calls of each release, applies the rules to what
//! all nodes have counted, and ends a release by itself.

use crate::{
    catalog::Catalog,
    publishing::{PublishError, PublishedState},
    releases::{Release, minute},
};
use portolan_store::{DbError, ReleaseCount, ReleaseEnding, ReleaseSide, ReleaseState};
use portolan_vocabulary::{
    RELEASE_SPANS_MINUTES, ReleaseBreach, ReleaseFigures, Timestamp, promotion_doubt,
    release_breach,
};
use std::{
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};
use tokio::sync::watch;

/// The interval in which counts are recorded and the rules applied.
const INTERVAL: Duration = Duration::from_secs(1);
/// How long only the node that has begun to promote a release by itself tries to. Its attempt has ended by then, or the
/// node has.
const PROMOTION_LEASE: Duration = Duration::from_secs(300);

impl Catalog {
    /// Watches the releases until `stop` changes. Without a release, it does nothing but look at the snapshot.
    pub(super) async fn watch_releases(self: Arc<Self>, mut stop: watch::Receiver<bool>) {
        let mut stopping = false;
        while !stopping {
            tokio::select! {
                () = tokio::time::sleep(INTERVAL) => {}
                _ = stop.changed() => stopping = true,
            }
            let snapshot = self.snapshot();
            for (capability, release) in &snapshot.releases {
                if let Err(error) = self.watch_release(capability, release).await {
                    tracing::warn!(%error, %capability, "a release cannot be watched");
                }
            }
        }
    }

    async fn watch_release(self: &Arc<Self>, id: &str, release: &Release) -> Result<(), DbError> {
        let now = self.options.clock.now();
        let counted = self.record_counts(release, now).await?;
        if counted || release.counts.is_stopped() {
            let counts = self.store.release_counts(release.id).await?;
            let in_a_row = release.counts.in_a_row();
            if let Some((breach, served, canary)) = find_breach(&counts, in_a_row, now) {
                return self.abort_by_rule(id, release, breach, (served, canary)).await;
            }
        }
        match release.counts.is_stopped() {
            true => Ok(()),
            false => self.promote_if_due(id, release, now).await,
        }
    }

    /// Records what this node has counted since the last time. Returns whether there was something.
    async fn record_counts(&self, release: &Release, now: Timestamp) -> Result<bool, DbError> {
        let counts = &release.counts;
        let changed = counts.take_new(now);
        if changed.is_empty() {
            return Ok(false);
        }
        let oldest = minute(now).saturating_sub(longest_span());
        let recorded =
            self.store.put_release_counts(release.id, &counts.node, &changed, oldest).await;
        if let Err(error) = recorded {
            counts.put_back(changed);
            return Err(error);
        }
        Ok(true)
    }

    async fn abort_by_rule(
        &self,
        id: &str,
        release: &Release,
        breach: ReleaseBreach,
        (served, canary): (ReleaseFigures, ReleaseFigures),
    ) -> Result<(), DbError> {
        release.counts.stop();
        let ReleaseBreach { rule, text } = breach;
        let ending = ReleaseEnding {
            by: None,
            rule: Some(rule.to_owned()),
            reason: Some(text.clone()),
            served,
            canary,
        };
        let now = self.options.clock.now();
        let ended = self.store.end_release(release.id, ReleaseState::Aborted, &ending, now).await;
        if ended? {
            let version = release.capability.descriptor.version.as_str();
            tracing::error!(id, version, rule, "a release is aborted: {text}");
            self.aborted_releases.fetch_add(1, Relaxed);
            let digest = release.capability.digest.to_string();
            let outcome = format!("{rule}: {text}");
            let recorded = self.record_abort((id, version, &digest), &outcome).await;
            if let Err(error) = recorded {
                tracing::error!(%error, id, "an abort is not in the audit log");
            }
        }
        self.decided.notify_one();
        Ok(())
    }

    /// Promotes a release whose time is over, if that was asked for and its calls do not speak against it. One node does
    /// it, in a task of its own, because the installation may take a while. If it fails for a reason that may pass, or the
    /// node ends, it is tried again after [`PROMOTION_LEASE`].
    async fn promote_if_due(
        self: &Arc<Self>,
        id: &str,
        release: &Release,
        now: Timestamp,
    ) -> Result<(), DbError> {
        let Some(due_at) = release.promotes_at.filter(|due_at| *due_at <= now) else {
            return Ok(());
        };
        if !self.store.claim_promotion(release.id, PROMOTION_LEASE, now).await? {
            return Ok(());
        }
        let (_, canary) = all_figures(&self.store.release_counts(release.id).await?, now);
        if let Some(doubt) = promotion_doubt(&canary) {
            tracing::warn!(id, "a release is not promoted by itself: {doubt}");
            return self.give_up_promotion(release.id).await;
        }
        let (catalog, id, release) = (Arc::clone(self), id.to_owned(), release.id);
        tracing::info!(id, %due_at, "a release is promoted, because its time is over");
        tokio::spawn(async move {
            match catalog.promote_by_itself(&id).await {
                Ok(published) if published.state == PublishedState::PendingApproval => {
                    tracing::warn!(id, "the version of a release waits for approval");
                }
                Ok(_) => {}
                Err(error) => catalog.note_failed_promotion(&id, release, error).await,
            }
        });
        Ok(())
    }

    async fn note_failed_promotion(&self, id: &str, release: i64, error: PublishError) {
        let reason = error.reason();
        tracing::error!(id, reason, "a release is not promoted by itself: {error}");
        if error.can_pass() {
            return;
        }
        // If this fails too, the next attempt ends here again.
        if let Err(error) = self.give_up_promotion(release).await {
            tracing::warn!(%error, id, "a release is still to be promoted by itself");
        }
    }

    /// Lets a release wait for a decision in place of being promoted by itself.
    async fn give_up_promotion(&self, release: i64) -> Result<(), DbError> {
        self.store.give_up_promotion(release, self.options.clock.now()).await?;
        self.decided.notify_one();
        Ok(())
    }
}

fn longest_span() -> u64 {
    RELEASE_SPANS_MINUTES.into_iter().max().unwrap_or_default()
}

/// Returns the figures of both versions in the last minutes.
pub(super) fn figures(
    counts: &[ReleaseCount],
    minutes: u64,
    now: Timestamp,
) -> (ReleaseFigures, ReleaseFigures) {
    let first = minute(now).saturating_sub(minutes - 1);
    let mut sums = (ReleaseFigures::default(), ReleaseFigures::default());
    for count in counts.iter().filter(|count| count.minute >= first) {
        match count.side {
            ReleaseSide::Served => sums.0.add(&count.figures),
            ReleaseSide::Canary => sums.1.add(&count.figures),
        }
    }
    sums
}

/// Returns the figures of both versions in the longest span.
pub(super) fn all_figures(
    counts: &[ReleaseCount],
    now: Timestamp,
) -> (ReleaseFigures, ReleaseFigures) {
    figures(counts, longest_span(), now)
}

/// Returns the rule that the canary breaks in one of the spans, with the figures of both versions in it.
fn find_breach(
    counts: &[ReleaseCount],
    in_a_row: u64,
    now: Timestamp,
) -> Option<(ReleaseBreach, ReleaseFigures, ReleaseFigures)> {
    RELEASE_SPANS_MINUTES.into_iter().find_map(|minutes| {
        let (served, canary) = figures(counts, minutes, now);
        release_breach(&served, &canary, in_a_row).map(|breach| (breach, served, canary))
    })
}
