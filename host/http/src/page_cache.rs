//! The pages about records that were rendered lately.

use moka::future::Cache;
use portolan_vocabulary::HOUR;
use std::sync::Arc;

/// The maximum number of bytes of the pages that are kept.
const MAX_BYTES: u64 = 32 << 20;

/// The name of a publication, the id of a feed and the id of a record.
pub(super) type PageKey = (String, &'static str, String);

/// Rendered pages. Another publication has other keys, so no page is ever out of date.
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
