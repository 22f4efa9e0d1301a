//! The erasure of a person while the host serves.

use crate::host::Host;
use portolan_store::{ErasureCounts, StateError};
use std::time::Duration;

/// How long a node may go on with what it knows of an agent, and a margin.
const STANDING_AGE: Duration = Duration::from_millis(1_500);

impl Host {
    /// Erases a person, and then what their agents have written meanwhile.
    pub async fn erase_person(&self, owner_id: &str) -> Result<ErasureCounts, StateError> {
        let ids = self.store.person_ids(owner_id).await?;
        let counts = self.store.erase_person(&ids, self.clock.now()).await?;
        // Other nodes know an agent for up to a second longer, and it may write meanwhile.
        self.identity.invalidate_standings();
        tokio::time::sleep(STANDING_AGE).await;
        self.store.erase_person(&ids, self.clock.now()).await?;
        tracing::info!(deleted = counts.deleted, redacted = counts.redacted, "a person is erased");
        Ok(counts)
    }
}
