//! The operator's requests about releases: to begin one, to change its share, to promote or abort it, and to see it.

use crate::{
    capability::Capability,
    catalog::Catalog,
    publishing::{Decider, PublishError, PublishRequest, Published, PublishedState},
    release_watch::all_figures,
    releases::obstacles,
    snapshot::Snapshot,
};
use portolan_store::{
    Arrival, DbError, NewRelease, Promotion, ReleaseEnding, ReleaseRecord, ReleaseState,
};
use portolan_vocabulary::{RELEASE_SHARES, ReleaseFigures, Timestamp};
use serde::Serialize;
use std::time::Duration;

/// How long a request waits until this node gives the version to its share of callers, or to nobody any more.
const TAKING_EFFECT: Duration = Duration::from_secs(30);
/// The maximum number of releases in an answer.
const LISTED: usize = 20;

/// How a version is given to a share of callers.
#[derive(Debug, Clone)]
pub struct ReleasePlan {
    /// In percent.
    pub share: u64,
    /// The time after which it is promoted or is to be decided about.
    pub lasts: Option<Duration>,
    /// Whether it is promoted by itself after this time.
    pub promotes: bool,
}

/// A release, for the operator.
#[derive(Debug, Clone, Serialize)]
pub struct ReleaseStatus {
    pub id: String,
    pub version: String,
    pub digest: String,
    /// The version that the other callers get, or got.
    pub served_version: String,
    pub served_digest: String,
    /// In percent.
    pub share: u64,
    pub state: ReleaseState,
    pub source: String,
    pub started_at: Timestamp,
    pub started_by: String,
    pub due_at: Option<Timestamp>,
    /// Whether it is promoted by itself when it is due.
    pub promotes: bool,
    pub ended_at: Option<Timestamp>,
    /// `None` if the host ended it, or it runs.
    pub ended_by: Option<String>,
    /// The rule that it broke.
    pub rule: Option<String>,
    pub reason: Option<String>,
    /// What all nodes have counted in the last hours, or until its end.
    pub figures: BothFigures,
}

#[derive(Debug, Clone, Serialize)]
pub struct BothFigures {
    pub served: ShownFigures,
    pub canary: ShownFigures,
}

#[derive(Debug, Clone, Serialize)]
pub struct ShownFigures {
    pub calls: u64,
    pub failures: u64,
    pub refusals: u64,
    pub median_ms: Option<f64>,
}

impl From<&ReleaseFigures> for ShownFigures {
    fn from(figures: &ReleaseFigures) -> Self {
        let ReleaseFigures { calls, failures, refusals, .. } = *figures;
        Self { calls, failures, refusals, median_ms: figures.median_ms() }
    }
}

impl ReleaseStatus {
    fn new(record: ReleaseRecord, figures: &(ReleaseFigures, ReleaseFigures)) -> Self {
        let ReleaseRecord { release, state, ended_at, ending, .. } = record;
        let ending = ending.unwrap_or_default();
        let (served, canary) = match state {
            ReleaseState::Running => (&figures.0, &figures.1),
            _ => (&ending.served, &ending.canary),
        };
        Self {
            figures: BothFigures { served: served.into(), canary: canary.into() },
            id: release.capability_id,
            version: release.version,
            digest: release.digest,
            served_version: release.served_version,
            served_digest: release.served_digest,
            share: release.share,
            state,
            source: release.source,
            started_at: release.started_at,
            started_by: release.started_by,
            due_at: release.due_at,
            promotes: release.promotes,
            ended_at,
            ended_by: ending.by,
            rule: ending.rule,
            reason: ending.reason,
        }
    }
}

impl Catalog {
    /// Gives a component to a share of the callers of its capability, on every node, while the present version serves.
    /// It is checked and admitted at this node first; a refused component leaves nothing behind.
    pub async fn begin_release(
        &self,
        content: Vec<u8>,
        request: PublishRequest,
        plan: ReleasePlan,
    ) -> Result<Published, PublishError> {
        let ReleasePlan { share, lasts, promotes } = plan;
        ensure_share(share)?;
        let (capability, PublishRequest { file, source, decider }) =
            self.load_published(&content, request).await?;
        let snapshot = self.snapshot();
        let id = capability.id.to_string();
        let serving = snapshot.capabilities.get(id.as_str());
        let served = serving.ok_or_else(|| PublishError::NothingServes(id.clone()))?;
        let published = describe(&capability, &file, served);
        if served.digest == capability.digest {
            return Ok(Published { state: PublishedState::Unchanged, ..published });
        }
        let problems = obstacles(served, &capability);
        if !problems.is_empty() {
            let version = capability.descriptor.version.clone();
            return Err(PublishError::NotForAShare { id, version, problems });
        }
        let others = snapshot.capabilities.values().map(|other| &**other);
        self.ensure_admissible(&capability, false, others).await?;
        let now = self.options.clock.now();
        let release = NewRelease {
            capability_id: id.clone(),
            version: capability.descriptor.version.clone(),
            digest: capability.digest.to_string(),
            file,
            source,
            served_version: served.descriptor.version.clone(),
            served_digest: served.digest.to_string(),
            share,
            started_at: now,
            started_by: decider.name.clone(),
            due_at: lasts.map(|lasts| now.plus(lasts)),
            promotes: promotes && lasts.is_some(),
        };
        if self.store.begin_release(&release, &content).await?.is_none() {
            return Err(PublishError::ReleaseRuns(id));
        }
        self.record_release_decision(&release, "operator:publish", &decider).await;
        let digest = capability.digest;
        let is_given = move |snapshot: &Snapshot| {
            let release = snapshot.releases.get(id.as_str());
            release.is_some_and(|release| release.capability.digest == digest)
        };
        self.takes_effect(is_given).await;
        Ok(published)
    }

    /// Changes the share of the callers who get the canary of a release.
    pub async fn share_release(
        &self,
        id: &str,
        share: u64,
        decider: Decider,
    ) -> Result<ReleaseStatus, PublishError> {
        ensure_share(share)?;
        let running = self.running_release(id).await?;
        if !self.store.set_release_share(running.id, share).await? {
            return Err(PublishError::NoRelease(id.to_owned()));
        }
        self.record_release_decision(&running.release, "operator:share_release", &decider).await;
        self.takes_effect(|snapshot| {
            snapshot.releases.get(id).is_none_or(|release| release.share == share)
        })
        .await;
        self.newest_release(id).await
    }

    /// Takes the canary of a release back from its share of callers.
    pub async fn abort_release(
        &self,
        id: &str,
        reason: Option<String>,
        decider: Decider,
    ) -> Result<ReleaseStatus, PublishError> {
        let running = self.running_release(id).await?;
        let ending = ReleaseEnding {
            by: Some(decider.name.clone()),
            reason,
            ..self.ending_of(running.id).await?
        };
        let now = self.options.clock.now();
        if !self.store.end_release(running.id, ReleaseState::Aborted, &ending, now).await? {
            return Err(PublishError::NoRelease(id.to_owned()));
        }
        self.record_release_decision(&running.release, "operator:abort_release", &decider).await;
        self.takes_effect(|snapshot| {
            snapshot.releases.get(id).is_none_or(|release| release.id != running.id)
        })
        .await;
        self.newest_release(id).await
    }

    /// Publishes the canary of a release for all callers, which ends the release. Once it has ended, nothing is published:
    /// `NoRelease`.
    pub async fn promote_release(
        &self,
        id: &str,
        decider: Decider,
    ) -> Result<Published, PublishError> {
        self.promote(id, "operator:promote_release", decider).await
    }

    /// Promotes a release whose time is over.
    pub(super) async fn promote_by_itself(&self, id: &str) -> Result<Published, PublishError> {
        let name = format!("{}, by --promote", self.running_release(id).await?.release.started_by);
        let decider = Decider { operator: None, name };
        self.promote(id, "release:promoted", decider).await
    }

    async fn promote(
        &self,
        id: &str,
        decision: &'static str,
        decider: Decider,
    ) -> Result<Published, PublishError> {
        let ReleaseRecord { id: release_id, release, .. } = self.running_release(id).await?;
        let (capability, content) = self.fetch_component(&release.digest, &release.file).await?;
        let source = format!("a release to {} % of the callers; {}", release.share, release.source);
        let by = Some(decider.name.clone());
        let ending = ReleaseEnding { by, ..self.ending_of(release_id).await? };
        let promotion = Promotion { release: release_id, ending };
        let request = (Arrival::Published, decision, source, decider);
        self.request_installation(capability, content, release.file, request, Some(promotion)).await
    }

    /// Ends a release since whose beginning a version with this digest was published or rolled back to.
    pub(super) async fn end_overtaken_release(
        &self,
        id: i64,
        digest: &str,
        by: Option<String>,
    ) -> Result<(), DbError> {
        let running = self.store.running_releases().await?;
        let Some(record) = running.into_iter().find(|record| record.id == id) else {
            return Ok(());
        };
        let state = match record.release.digest == digest {
            true => ReleaseState::Promoted,
            false => ReleaseState::Replaced,
        };
        let ending = ReleaseEnding { by, ..self.ending_of(id).await? };
        self.store.end_release(id, state, &ending, self.options.clock.now()).await?;
        let (id, version) = (record.release.capability_id, record.release.version);
        tracing::info!(id, version, ?state, "a release has ended");
        Ok(())
    }

    /// Returns the releases of a capability, the newest first.
    pub async fn releases(&self, id: &str) -> Result<Vec<ReleaseStatus>, DbError> {
        let mut statuses = Vec::new();
        for record in self.store.releases(id).await?.into_iter().take(LISTED) {
            let figures = match record.state {
                ReleaseState::Running => {
                    let counts = self.store.release_counts(record.id).await?;
                    all_figures(&counts, self.options.clock.now())
                }
                _ => Default::default(),
            };
            statuses.push(ReleaseStatus::new(record, &figures));
        }
        Ok(statuses)
    }

    /// Returns the newest release of a capability, which may have ended.
    pub async fn newest_release(&self, id: &str) -> Result<ReleaseStatus, PublishError> {
        let newest = self.releases(id).await?.into_iter().next();
        newest.ok_or_else(|| PublishError::NoRelease(id.to_owned()))
    }

    /// Returns the releases that were aborted at `since` or later, where nothing was published since.
    pub async fn newly_aborted(&self, since: Timestamp) -> Result<Vec<ReleaseStatus>, DbError> {
        let records = self.store.newly_aborted_releases(since).await?;
        let nothing = Default::default();
        Ok(records.into_iter().map(|record| ReleaseStatus::new(record, &nothing)).collect())
    }

    async fn running_release(&self, id: &str) -> Result<ReleaseRecord, PublishError> {
        let running = self.store.running_releases().await?;
        let found = running.into_iter().find(|record| record.release.capability_id == id);
        found.ok_or_else(|| PublishError::NoRelease(id.to_owned()))
    }

    /// Returns an ending with the figures until now.
    async fn ending_of(&self, release: i64) -> Result<ReleaseEnding, DbError> {
        let counts = self.store.release_counts(release).await?;
        let (served, canary) = all_figures(&counts, self.options.clock.now());
        Ok(ReleaseEnding { served, canary, ..ReleaseEnding::default() })
    }

    async fn record_release_decision(
        &self,
        release: &NewRelease,
        decision: &str,
        decider: &Decider,
    ) {
        let about = (&*release.capability_id, &*release.version, &*release.digest);
        let operator = decider.operator.as_ref();
        if let Err(error) = self.record_version_decision(about, decision, operator).await {
            tracing::error!(%error, decision, id = release.capability_id, "a decision is not in the audit log");
        }
    }

    /// Waits until the snapshot of this node is as it should be after a decision, for a while at most.
    async fn takes_effect(&self, is_so: impl Fn(&Snapshot) -> bool) {
        let mut published = self.published.subscribe();
        self.decided.notify_one();
        let waited = tokio::time::timeout(TAKING_EFFECT, async {
            // `changed` fails only if the sender was dropped, but this catalog owns it.
            while !is_so(&self.snapshot()) && published.changed().await.is_ok() {}
        });
        if waited.await.is_err() {
            tracing::warn!("a decision about a release has not taken effect at this node yet");
        }
    }
}

fn ensure_share(share: u64) -> Result<(), PublishError> {
    if RELEASE_SHARES.contains(&share) { Ok(()) } else { Err(PublishError::Share(share)) }
}

/// Returns the answer for a version that a share of callers gets.
fn describe(capability: &Capability, file: &str, served: &Capability) -> Published {
    Published {
        id: capability.id.to_string(),
        version: capability.descriptor.version.clone(),
        digest: capability.digest,
        publisher: capability.publisher.to_string(),
        file: file.to_owned(),
        state: PublishedState::Shared,
        replaced: Some(served.descriptor.version.clone()),
        breaking: Vec::new(),
        missing: Vec::new(),
    }
}
