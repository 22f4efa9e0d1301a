//! The OpenAPI descriptions of the catalog's pages, each made once.

use moka::sync::Cache;
use portolan_catalog::Document;
use std::sync::Arc;

/// The maximum number of bytes of all kept descriptions.
const MAX_BYTES: u64 = 64 << 20;

/// The descriptions of pages, by the catalog version and the first capability.
#[derive(Debug)]
pub(super) struct Descriptions(Cache<(u64, Arc<str>), Document>);

impl Descriptions {
    pub(super) fn new() -> Self {
        let bytes = |document: &Document| document.body.len().try_into().unwrap_or(u32::MAX);
        let cache = Cache::builder().max_capacity(MAX_BYTES);
        Self(cache.weigher(move |_, document| bytes(document)).build())
    }

    /// Returns the description of the page of this catalog version that begins with this capability.
    pub(super) fn get_or_make(
        &self,
        version: u64,
        first: Arc<str>,
        make: impl FnOnce() -> Document,
    ) -> Document {
        self.0.get_with((version, first), make)
    }
}
