//! A component that is given to a replay: it may only be a version of what serves.

use super::error::ReplayError;
use crate::host::Host;
use portolan_catalog::Capability;
use portolan_sandbox::{Grant, ImportKind};
use portolan_vocabulary::Publisher;
use std::{collections::BTreeSet, sync::Arc};

impl Host {
    /// Loads a component for replays. It runs with the keys of the capability and sees what the capability was
    /// answered, so it must be of the same publisher as the serving version, and import no sensitive interface
    /// that the serving version lacks.
    pub(super) async fn load_candidate(
        &self,
        content: &[u8],
    ) -> Result<Arc<Capability>, ReplayError> {
        let candidate = self.catalog.load_candidate(content).await?;
        let snapshot = self.catalog.snapshot();
        let Some(serving) = snapshot.capabilities.get(&*candidate.id) else {
            return Err(ReplayError::NotServed(candidate.id.to_string()));
        };
        if !is_same_publisher(serving, &candidate) {
            return Err(ReplayError::OtherPublisher {
                id: candidate.id.to_string(),
                publisher: candidate.publisher.to_string(),
                owner: serving.publisher.to_string(),
            });
        }
        let more: Vec<_> = grants(&candidate).difference(&grants(serving)).copied().collect();
        if !more.is_empty() && candidate.publisher != Publisher::Host {
            let grants = more.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            return Err(ReplayError::MoreGrants { id: candidate.id.to_string(), grants });
        }
        Ok(Arc::new(candidate))
    }
}

/// Returns whether a component is of the publisher of the serving version. An unsigned one has the name of its file as
/// its publisher, and a given component has no file.
fn is_same_publisher(serving: &Capability, candidate: &Capability) -> bool {
    let are_unsigned = !serving.publisher.is_key() && !candidate.publisher.is_key();
    are_unsigned || candidate.same_publisher(serving)
}

/// Returns the grants that a component needs for what it imports.
fn grants(capability: &Capability) -> BTreeSet<Grant> {
    let grant = |kind: ImportKind| match kind {
        ImportKind::Sensitive(grant) => Some(grant),
        _ => None,
    };
    capability.prepared.imports().iter().filter_map(|import| grant(import.kind)).collect()
}
