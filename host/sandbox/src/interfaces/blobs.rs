//! `blobs`: files that people upload, read and written in the call's unit of work.

use crate::{
    contract::{blobs, types::HostError},
    grant::Grant,
    interfaces::{
        interface::Interface,
        reply::{Answer, Reply},
        taped::{TapedState, taped},
    },
    state::CallState,
};
use portolan_blobs::{Blob, BlobError, Blobs, Holder, Serving};
use portolan_store::Unit;
use portolan_vocabulary::Timestamp;
use rand::RngExt as _;
use serde_json::json;
use std::{pin::Pin, sync::Arc};

pub(super) const INTERFACE: Interface = Interface::sensitive(Grant::Blobs, |linker| {
    blobs::add_to_linker::<_, TapedState>(linker, taped)
});

/// The maximum number of bytes of one `read`, and of one `derive`.
const READ_BYTES: u32 = 16 << 20;
const DERIVED_BYTES: usize = 2 << 20;

type BlobFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, BlobError>> + Send + 'a>>;

impl blobs::Host for CallState {
    async fn begin_upload(&mut self, max_bytes: u64, action: String) -> Reply<blobs::Upload> {
        Ok(self.begin_blob(max_bytes, action).await)
    }

    async fn get(&mut self, id: String) -> Reply<Option<blobs::Blob>> {
        let found = self.with_blobs(false, move |blobs, holder, unit| {
            Box::pin(async move { Ok(blobs.get(unit, holder, &id).await?) })
        });
        Ok(found.await.map(|blob| blob.map(shown)))
    }

    async fn read(&mut self, id: String, offset: u64, length: u32) -> Reply<Vec<u8>> {
        if length > READ_BYTES {
            let text = format!("a read has at most {READ_BYTES} bytes");
            return Ok(Err(HostError::Limit(text)));
        }
        let read = self.with_blobs(false, move |blobs, holder, unit| {
            let length = u64::from(length);
            Box::pin(async move { blobs.read(unit, (holder, &id), offset, length).await })
        });
        let missing = || HostError::Invalid("the capability has no such blob".to_owned());
        Ok(read.await.and_then(|bytes| bytes.ok_or_else(missing)))
    }

    async fn derive(&mut self, source: String, content: Vec<u8>) -> Reply<blobs::Blob> {
        if content.is_empty() || content.len() > DERIVED_BYTES {
            let text = format!("the content must have 1 to {DERIVED_BYTES} bytes");
            return Ok(Err(HostError::Limit(text)));
        }
        let random = self.random.host().random();
        let derived = self.with_blobs(true, move |blobs, holder, unit| {
            Box::pin(async move { blobs.derive(unit, (holder, &source), content, random).await })
        });
        Ok(derived.await.map(shown))
    }

    async fn serve(&mut self, id: String, how: Option<blobs::Serving>) -> Reply<()> {
        let serving =
            how.map(|blobs::Serving { media_type, public }| Serving { media_type, public });
        let served = self.with_blobs(true, move |blobs, holder, unit| {
            Box::pin(async move { Ok(blobs.serve(unit, (holder, &id), serving).await?) })
        });
        Ok(served.await)
    }

    async fn address(&mut self, id: String, until: u64) -> Reply<String> {
        let address = self.with_blobs(false, move |blobs, holder, unit| {
            let until = Timestamp::from_millis(until);
            Box::pin(async move { Ok(blobs.address(unit, (holder, &id), until).await?) })
        });
        Ok(address.await)
    }

    async fn delete(&mut self, id: String) -> Reply<bool> {
        let deleted = self.with_blobs(true, move |blobs, holder, unit| {
            Box::pin(async move { Ok(blobs.delete(unit, (holder, &id)).await?) })
        });
        Ok(deleted.await)
    }
}

impl CallState {
    async fn begin_blob(&mut self, max_bytes: u64, action: String) -> Answer<blobs::Upload> {
        let owner_id = self.context.agent().and_then(|agent| agent.owner_id.as_deref());
        let owner_id = owner_id.map(str::to_owned);
        let missing = || HostError::Invalid("nobody has claimed the calling agent".to_owned());
        let owner_id = owner_id.ok_or_else(missing)?;
        // The action must accept a blob's id as its input.
        let input = json!({ "blob_id": "blob_01J00000000000000000000001" }).to_string();
        self.work()?.services.check_timer(&action, input).map_err(HostError::Invalid)?;
        let random = self.random.host().random();
        let begun = self.with_blobs(true, move |blobs, holder, unit| {
            let of = (holder, owner_id);
            Box::pin(
                async move { Ok(blobs.begin_upload(unit, of, (max_bytes, action), random).await?) },
            )
        });
        let upload = begun.await?;
        Ok(blobs::Upload {
            id: upload.id,
            url: upload.url,
            expires_at: upload.expires_at.as_millis(),
            max_bytes: upload.max_bytes,
        })
    }

    /// Does something with the blobs of the running capability, which `writes` or only reads.
    async fn with_blobs<T>(
        &mut self,
        writes: bool,
        run: impl for<'a> FnOnce(&'a Blobs, Holder<'a>, &'a mut Unit) -> BlobFuture<'a, T> + Send,
    ) -> Answer<T> {
        let (capability, test_mode) =
            (Arc::clone(&self.capability), self.context.caller.test_mode());
        let work = if writes { self.writable_work()? } else { self.work()? };
        let blobs = work.services.blobs();
        let none = || HostError::Unavailable("this host keeps no files".to_owned());
        let blobs = blobs.ok_or_else(none)?;
        let holder = Holder { capability: &capability, test_mode };
        let done = run(&blobs, holder, &mut work.unit).await;
        done.map_err(|error| match error {
            BlobError::State(error) => self.host_error(error),
            error => {
                let (capability, request) = (&*self.capability, &*self.context.request_id);
                tracing::error!(capability, request, %error, "a file cannot be stored or read");
                HostError::Unavailable("the files cannot be reached".to_owned())
            }
        })
    }
}

fn shown(blob: Blob) -> blobs::Blob {
    blobs::Blob { id: blob.id, owner_id: blob.owner_id, sha256: blob.content, bytes: blob.bytes }
}
