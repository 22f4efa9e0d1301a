//! The catalog's documents in compressed codings. Each is compressed once, when it is first requested so.

use moka::future::Cache;
use portolan_catalog::Document;
use portolan_pipeline::Host;
use portolan_publication::Body;
use portolan_vocabulary::HOUR;
use std::{io, sync::Arc};

/// The maximum number of bytes of all bodies.
const MAX_BYTES: u64 = 64 << 20;

/// The compressed bodies of documents, by the documents' entity tags.
#[derive(Debug)]
pub(super) struct CompressedDocuments(Cache<String, Arc<[Body]>>);

impl CompressedDocuments {
    pub(super) fn new() -> Self {
        let bytes = |bodies: &[Body]| bodies.iter().map(|body| body.bytes.len()).sum::<usize>();
        let cache = Cache::builder()
            .max_capacity(MAX_BYTES)
            .weigher(move |_, bodies: &Arc<[Body]>| bytes(bodies).try_into().unwrap_or(u32::MAX))
            .time_to_idle(HOUR)
            .build();
        Self(cache)
    }

    /// Returns a document in each coding in which it is smaller, the largest first.
    pub(super) async fn bodies(
        &self,
        document: &Document,
        host: &Arc<Host>,
    ) -> Result<Arc<[Body]>, Arc<io::Error>> {
        if let Some(bodies) = self.0.get(&document.etag).await {
            return Ok(bodies);
        }
        let (cache, host) = (self.0.clone(), Arc::clone(host));
        let (etag, text) = (document.etag.clone(), Arc::clone(&document.body));
        // A task of its own, so that the work is not lost if the client disconnects.
        let compression = tokio::spawn(async move {
            let encode = move || Body::in_every_coding(text.as_bytes().to_vec());
            let compress = async {
                let (_, compressed) = host.sandbox.compute(encode).await?;
                Ok(compressed.into())
            };
            cache.try_get_with(etag, compress).await
        });
        compression.await.map_err(|error| Arc::new(io::Error::other(error)))?
    }
}
