//! The keeper's report for the operator: what is loaded, what is refused, and what waits for a decision.

use crate::{
    candidate::{Candidate, Waiting},
    capability::Capability,
    keeper::{FileState, Keeper},
    permission::Permission,
    refusal::LoadError,
    releases::Canary,
    status::{Loaded, Refused, Status},
};

impl Keeper {
    /// Returns the components about which the operator can decide.
    pub(super) fn waiting(&self) -> Vec<Waiting> {
        let mut waiting = Vec::new();
        for unapplied in self.unapplied.values() {
            if let LoadError::PendingApproval { candidate, missing } = &unapplied.error {
                waiting
                    .push(Waiting { candidate: (**candidate).clone(), missing: missing.clone() });
            }
        }
        for refusal in self.canaries.values().filter_map(Canary::refusal) {
            // The version of a release may wait as the desired version too.
            let is_new = |candidate: &Candidate| {
                waiting.iter().all(|other: &Waiting| other.candidate.digest != candidate.digest)
            };
            if let LoadError::PendingApproval { candidate, missing } = refusal
                && is_new(candidate)
            {
                waiting
                    .push(Waiting { candidate: (**candidate).clone(), missing: missing.clone() });
            }
        }
        for known in self.files.values() {
            match (&known.refused, &known.serving) {
                (Some(LoadError::PendingApproval { candidate, missing }), _) => waiting
                    .push(Waiting { candidate: (**candidate).clone(), missing: missing.clone() }),
                (
                    Some(
                        LoadError::PublisherMismatch { candidate, .. }
                        | LoadError::NamespaceTaken { candidate, .. },
                    ),
                    _,
                ) => {
                    waiting.push(Waiting { candidate: (**candidate).clone(), missing: Vec::new() })
                }
                (_, Some(serving)) => {
                    let missing = self.missing(serving);
                    if !missing.is_empty() {
                        waiting.push(Waiting { candidate: Candidate::new(serving), missing });
                    }
                }
                _ => {}
            }
        }
        waiting
    }

    /// Returns the permissions that a serving capability needs and does not have.
    fn missing(&self, capability: &Capability) -> Vec<Permission> {
        let others = self.files.values().filter_map(|known| known.serving.as_deref());
        self.catalog.missing(capability, others)
    }

    pub(super) fn status(&self) -> Status {
        let loaded = self.files.iter().filter_map(|(file, known)| {
            let capability = known.serving.as_ref()?;
            Some(Loaded {
                file: file.clone(),
                id: capability.id.to_string(),
                version: capability.descriptor.version.clone(),
                digest: capability.digest,
                bytes: capability.size,
                actions: capability.actions.len(),
                imports: capability
                    .prepared
                    .imports()
                    .iter()
                    .map(|import| import.name.clone())
                    .collect(),
                publisher: capability.publisher.to_string(),
                invokes: texts(&capability.descriptor.invokes, |invocation| {
                    format!("{}.{}", invocation.capability, invocation.action)
                }),
                publishes: texts(&capability.descriptor.publishes, |declared| {
                    declared.event_type.clone()
                }),
                subscribes: texts(&capability.descriptor.subscriptions, |declared| {
                    declared.event_type.clone()
                }),
                missing: texts(&self.missing(capability), ToString::to_string),
            })
        });
        let refused = self.files.iter().filter_map(|(file, known)| {
            let still_serving =
                known.serving.as_ref().map(|serving| serving.descriptor.version.clone());
            Some(Refused::new(file, known.refused.as_ref()?, still_serving))
        });
        let unapplied = self.unapplied.iter().map(|(id, unapplied)| {
            let snapshot = self.catalog.snapshot();
            let serving = snapshot.capabilities.get(id.as_str());
            let still_serving = serving.map(|serving| serving.descriptor.version.clone());
            Refused::new(&unapplied.file, &unapplied.error, still_serving)
        });
        let snapshot = self.catalog.snapshot();
        let is_pending = |known: &FileState| known.loading || known.changing.is_some();
        Status {
            catalog_version: snapshot.version,
            loaded: loaded.collect(),
            refused: refused.chain(unapplied).collect(),
            roles: snapshot.role_statuses(),
            pending: self
                .files
                .iter()
                .filter(|(_, known)| is_pending(known))
                .map(|(file, _)| file.clone())
                .collect(),
            migrations: self
                .files
                .iter()
                .filter_map(|(file, known)| Some((file, known.migrating.as_ref()?)))
                .flat_map(|(file, migrating)| migrating.progress.statuses(file, &migrating.id))
                .collect(),
            releases: self.release_statuses(),
            changes: self.changes.clone(),
        }
    }
}

fn texts<T>(values: &[T], text: impl Fn(&T) -> String) -> Vec<String> {
    values.iter().map(text).collect()
}
