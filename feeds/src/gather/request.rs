//! Fetches the documents of one source.

use crate::fetch::{Budget, Fetcher, Request};
use url::Url;

pub(super) struct Asker<'f> {
    pub(super) fetcher: &'f Fetcher,
    /// Whether the operator says that `robots.txt` does not count for this source.
    pub(super) ignores_robots: bool,
    /// What the source may still cost.
    pub(super) budget: Budget,
}

impl Asker<'_> {
    pub(super) async fn fetched(&self, url: &Url, most: usize) -> Result<Vec<u8>, String> {
        let request =
            Request { url, most, ignores_robots: self.ignores_robots, budget: &self.budget };
        self.fetcher.get(request).await.map_err(|error| error.to_string())
    }

    /// Fetches a document of the usual size.
    pub(super) async fn usual(&self, url: &Url) -> Result<Vec<u8>, String> {
        self.fetched(url, self.fetcher.limits().body_bytes).await
    }
}
