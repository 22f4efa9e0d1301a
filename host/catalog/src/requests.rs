//! The operator's requests: to publish a version, to roll back to an earlier one, and to see the history.

use crate::{
    capability::Capability,
    catalog::Catalog,
    check::undeclared_people,
    file_name::{is_component_name, is_source},
    load::load_content,
    publishing::{
        Cause, Decider, Installation, PublishError, PublishRequest, Published, PublishedState,
        Requested,
    },
    release_requests::ReleaseStatus,
    status::Status,
};
use portolan_store::{Arrival, DbError, Promotion, VersionEntry, VersionState};
use serde::Serialize;
use std::time::Duration;
use tokio::sync::oneshot;

/// The maximum number of bytes of the name of a file.
const NAME_BYTES: usize = 200;
/// How long a request waits for an installation. After that, the answer is that documents are being migrated.
const INSTALLATION_TIMEOUT: Duration = Duration::from_secs(30);

/// The history of a capability's component.
#[derive(Debug, Serialize)]
pub struct History {
    pub id: String,
    /// The version that serves at this node.
    pub serving: Option<ServingVersion>,
    /// The entry whose version every node is to serve; `None` if nothing was published.
    pub desired: Option<i64>,
    /// The newest entry first.
    pub versions: Vec<VersionEntry>,
    /// The versions that were given to a share of callers, the newest first.
    pub releases: Vec<ReleaseStatus>,
}

/// The version that serves.
#[derive(Debug, Serialize)]
pub struct ServingVersion {
    pub version: String,
    pub digest: String,
}

/// The outcome of a request to roll back to an earlier version.
#[derive(Debug)]
pub enum RolledBack {
    Installed(Box<Published>),
    /// An older version that waits in the catalog folder may serve next.
    Permitted,
}

impl Catalog {
    /// Returns the history of a capability; `None` if it has none and does not serve.
    pub async fn history(&self, id: &str) -> Result<Option<History>, DbError> {
        let versions = self.store.versions(id).await?;
        let snapshot = self.snapshot();
        let serving = snapshot.capabilities.get(id).map(|serving| ServingVersion {
            version: serving.descriptor.version.clone(),
            digest: serving.digest.to_string(),
        });
        if versions.is_empty() && serving.is_none() {
            return Ok(None);
        }
        let releases = self.releases(id).await?;
        let desired = desired(&versions).map(|entry| entry.seq);
        Ok(Some(History { id: id.to_owned(), serving, desired, versions, releases }))
    }

    /// Makes a component the desired version of its capability, on every node. It is checked and admitted
    /// at this node first; a refused component leaves nothing behind.
    pub async fn publish_component(
        &self,
        content: Vec<u8>,
        request: PublishRequest,
    ) -> Result<Published, PublishError> {
        let (capability, PublishRequest { file, source, decider }) =
            self.load_published(&content, request).await?;
        let request = (Arrival::Published, "operator:publish", source, decider);
        self.request_installation(capability, content, file, request, None).await
    }

    /// Loads a component that an operator publishes.
    pub(super) async fn load_published(
        &self,
        content: &[u8],
        request: PublishRequest,
    ) -> Result<(Capability, PublishRequest), PublishError> {
        if !is_file_name(&request.file) {
            return Err(PublishError::FileName(request.file));
        }
        let trust = &self.options.trust;
        let capability = load_content(&self.sandbox, trust, &request.file, content).await?;
        let undeclared = undeclared_people(&capability.descriptor);
        if !undeclared.is_empty() {
            return Err(PublishError::UndeclaredPeople(undeclared));
        }
        Ok((capability, request))
    }

    /// Makes an earlier version of the history the desired one, on every node: the one before the serving
    /// version, or the one with this version or digest. If no version is named and an older one waits in the
    /// catalog folder, that one may serve instead.
    pub async fn roll_back(
        &self,
        id: &str,
        to: Option<&str>,
        decider: Decider,
    ) -> Result<RolledBack, PublishError> {
        let is_waiting = |status: Status| {
            status.refused.iter().any(|refused| refused.older_of.as_deref() == Some(id))
        };
        if to.is_none() && is_waiting(self.status()) {
            self.permit_older(id, decider.operator.as_ref()).await?;
            return Ok(RolledBack::Permitted);
        }
        let entries = self.store.versions(id).await?;
        let snapshot = self.snapshot();
        let serving = snapshot.capabilities.get(id).map(|serving| serving.digest.to_string());
        let target = rollback_target(id, &entries, serving.as_deref(), to)?;
        let record = &target.record;
        if !target.kept {
            let (id, version) = (id.to_owned(), record.version.clone());
            return Err(PublishError::NotKept { id, version });
        }
        let (capability, content) = self.fetch_component(&record.digest, &record.file).await?;
        let source = format!("version {} of the history", record.version);
        let request = (Arrival::RolledBack, "operator:rollback", source, decider);
        let file = record.file.clone();
        let installed = self.request_installation(capability, content, file, request, None).await?;
        Ok(RolledBack::Installed(Box::new(installed)))
    }

    /// Asks the keeper to install a component, and waits for the answer; the state is `Migrating` after
    /// [`INSTALLATION_TIMEOUT`]. `promotion` is that of the version's release, if it is promoted: `NoRelease` if it does
    /// not run when the version is recorded.
    pub(super) async fn request_installation(
        &self,
        capability: Capability,
        content: Vec<u8>,
        file: String,
        (arrival, decision, source, decider): (Arrival, &'static str, String, Decider),
        promotion: Option<Promotion>,
    ) -> Result<Published, PublishError> {
        let migrating = Published {
            id: capability.id.to_string(),
            version: capability.descriptor.version.clone(),
            digest: capability.digest,
            publisher: capability.publisher.to_string(),
            file: file.clone(),
            state: PublishedState::Migrating,
            replaced: None,
            breaking: Vec::new(),
            missing: Vec::new(),
        };
        let (reply, answer) = oneshot::channel();
        let requested = Requested { arrival, source, decider, decision, promotion, reply };
        let cause = Cause::Requested(requested);
        let installation = Installation { capability, content, file, cause };
        self.installations.send(installation).map_err(|_stopped| PublishError::Stopping)?;
        match tokio::time::timeout(INSTALLATION_TIMEOUT, answer).await {
            Ok(Ok(answer)) => answer,
            Ok(Err(_dropped)) => Err(PublishError::Stopping),
            Err(_elapsed) => Ok(migrating),
        }
    }
}

fn desired(entries: &[VersionEntry]) -> Option<&VersionEntry> {
    entries.iter().find(|entry| entry.record.arrival != Arrival::Dropped)
}

/// Returns the entry to roll back to. The entries are those of the history, the newest first.
fn rollback_target<'a>(
    id: &str,
    entries: &'a [VersionEntry],
    serving: Option<&str>,
    to: Option<&str>,
) -> Result<&'a VersionEntry, PublishError> {
    let serves = |entry: &&VersionEntry| serving == Some(entry.record.digest.as_str());
    if let Some(wanted) = to {
        let mut named = entries
            .iter()
            .filter(|entry| entry.record.version == wanted || entry.record.digest == wanted);
        let first = named.clone().next();
        // Among several builds with one version, one that does not serve is preferred.
        let found = named.find(|entry| !serves(entry)).or(first);
        let unknown =
            || PublishError::UnknownVersion { id: id.to_owned(), version: wanted.to_owned() };
        return found.ok_or_else(unknown);
    }
    let is_pending =
        desired(entries).is_some_and(|entry| entry.record.state == VersionState::PendingApproval);
    if is_pending && let Some(serving) = entries.iter().find(serves) {
        return Ok(serving);
    }
    // The search begins where the serving version was published or dropped, not where it was rolled back
    // to, so that two rollbacks lead two versions back.
    let is_arrival =
        |entry: &VersionEntry| serves(&entry) && entry.record.arrival != Arrival::RolledBack;
    let start = entries.iter().position(is_arrival).map_or(0, |place| place + 1);
    let mut earlier = entries.iter().skip(start);
    let is_candidate =
        |entry: &&VersionEntry| !serves(entry) && entry.record.state == VersionState::Accepted;
    earlier.find(is_candidate).ok_or_else(|| PublishError::NothingEarlier(id.to_owned()))
}

/// Returns whether a text can be the name of a component's file in the folder.
fn is_file_name(name: &str) -> bool {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "._-+".contains(letter);
    let is_component = is_component_name(name) && !is_source(name);
    is_component && name.len() <= NAME_BYTES && name.chars().all(is_plain)
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_store::VersionRecord;
    use portolan_vocabulary::Timestamp;

    fn entries(history: &[(&str, Arrival, VersionState)]) -> Vec<VersionEntry> {
        let entry =
            |(index, (version, arrival, state)): (usize, &(&str, Arrival, VersionState))| {
                let record = VersionRecord {
                    capability_id: "weather".to_owned(),
                    version: (*version).to_owned(),
                    digest: format!("digest {version}"),
                    publisher: "unsigned:weather".to_owned(),
                    bytes: 1,
                    arrival: *arrival,
                    file: "weather.wasm".to_owned(),
                    source: String::new(),
                    decided_by: None,
                    at: Timestamp::from_millis(0),
                    breaking: Vec::new(),
                    state: *state,
                };
                VersionEntry { seq: index as i64, record, kept: true }
            };
        history.iter().enumerate().map(entry).rev().collect()
    }

    fn rolls_back_to(history: &[VersionEntry], serving: &str, to: Option<&str>) -> String {
        match rollback_target("weather", history, Some(&format!("digest {serving}")), to) {
            Ok(entry) => entry.record.version.clone(),
            Err(error) => error.reason().to_owned(),
        }
    }

    #[test]
    fn a_rollback_leads_to_the_version_before_the_serving_one() {
        use Arrival::{Dropped, Published, RolledBack};
        use VersionState::{Accepted, PendingApproval};
        let mut history = vec![
            ("1.0.0", Dropped, Accepted),
            ("1.1.0", Published, Accepted),
            ("1.2.0", Published, Accepted),
        ];
        assert_eq!(rolls_back_to(&entries(&history), "1.2.0", None), "1.1.0");
        assert_eq!(rolls_back_to(&entries(&history), "1.0.0", None), "nothing_earlier");
        assert_eq!(rolls_back_to(&entries(&history), "1.2.0", Some("1.0.0")), "1.0.0");
        assert_eq!(rolls_back_to(&entries(&history), "1.2.0", Some("digest 1.1.0")), "1.1.0");
        assert_eq!(rolls_back_to(&entries(&history), "1.2.0", Some("9.0.0")), "unknown_version");
        // Two rollbacks lead two versions back.
        history.push(("1.1.0", RolledBack, Accepted));
        assert_eq!(rolls_back_to(&entries(&history), "1.1.0", None), "1.0.0");
        // A version that waits for approval is given up.
        history.push(("1.3.0", Published, PendingApproval));
        assert_eq!(rolls_back_to(&entries(&history), "1.1.0", None), "1.1.0");
        // A version that only waited for approval is never rolled back to.
        history.push(("1.4.0", Published, Accepted));
        assert_eq!(rolls_back_to(&entries(&history), "1.4.0", None), "1.1.0");
    }

    #[test]
    fn a_file_name_stays_within_the_folder() {
        for name in ["weather.wasm", "city.map-search_1.wasm"] {
            assert!(is_file_name(name), "{name}");
        }
        for name in
            ["", ".wasm", "weather", "a/b.wasm", "../b.wasm", "~a.wasm", "a b.wasm", "ä.wasm"]
        {
            assert!(!is_file_name(name), "{name}");
        }
    }
}
