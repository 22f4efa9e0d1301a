//! The pages about records and capabilities that were rendered recently.

use moka::future::Cache;
use portolan_vocabulary::HOUR;
use std::sync::Arc;

/// The maximum number of bytes of the pages that are kept.
const MAX_BYTES: u64 = 32 << 20;

/// The origin of a page: a record of a publication, and the capabilities that its links need; or a capability.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct PageKey {
    /// The path of the city and the name of the publication.
    pub(super) publication: String,
    /// The version of the catalog.
    pub(super) catalog: u64,
    pub(super) feed: &'static str,
    pub(super) id: String,
}

/// Rendered pages. Another publication or catalog has other keys, so no page is ever out of date.
#[derive(Debug)]
pub(super) struct PageCache(Cache<PageKey, Arc<str>>);

impl PageCache {
    pub(super) fn new() -> Self {
        let cache = Cache::builder()
            .max_capacity(MAX_BYTES)
            .weigher(|_, page: &Arc<str>| page.len().try_into().unwrap_or(u32::MAX))
            .time_to_live(HOUR)
            .build();
        Self(cache)
    }

    pub(super) async fn get(&self, key: &PageKey) -> Option<Arc<str>> {
        self.0.get(key).await
    }

    pub(super) async fn insert(&self, key: PageKey, page: &str) {
        self.0.insert(key, page.into()).await;
    }
}
