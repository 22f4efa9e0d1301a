//! Components that run recorded calls and never serve: candidates, and versions that are no longer served.

use crate::{capability::Capability, catalog::Catalog, load::load_content, refusal::LoadError};

/// The name of the file of a candidate.
const CANDIDATE: &str = "candidate.wasm";

impl Catalog {
    /// Loads a component that is in no catalog, with every check but those against what serves.
    pub async fn load_candidate(&self, content: &[u8]) -> Result<Capability, LoadError> {
        load_content(&self.sandbox, &self.options.trust, CANDIDATE, content).await
    }

    /// Loads a component of the history by its digest; `ContentMissing` if it is not kept.
    pub async fn load_version(&self, digest: &str) -> Result<Capability, LoadError> {
        let fetched = self.fetch_component(digest, CANDIDATE).await;
        fetched.map(|(capability, _content)| capability)
    }
}
