//! An upload that arrives: it is written to the disk as it comes, and counts only when it is there whole.

use crate::{
    address,
    arrivals::Arrival,
    blobs::Blobs,
    error::BlobError,
    folder::Folder,
    records::{BlobRecord, commit, read, write},
};
use portolan_store::{Expectation, StateError, TimerChange, TimerKey, Unit};
use serde_json::json;
use sha2::{Digest as _, Sha256};
use std::sync::Arc;
use tempfile::NamedTempFile;
use tokio::{fs::File, io::AsyncWriteExt as _};

/// The maximum number of times that the end of an upload is tried again after a conflict.
const ATTEMPTS: usize = 8;

/// The bytes of an upload so far. They are removed when this is dropped before its end.
#[derive(Debug)]
pub struct Incoming {
    blobs: Arc<Blobs>,
    id: String,
    max_bytes: u64,
    named: NamedTempFile,
    file: File,
    digest: Sha256,
    bytes: u64,
    _arrival: Arrival,
}

/// A content that has arrived whole.
#[derive(Debug)]
pub struct Arrived {
    /// Its SHA-256 digest as 64 hexadecimal digits.
    pub digest: String,
    pub bytes: u64,
}

impl Blobs {
    /// Begins to receive an upload by the last part of its address. `expected` are the bytes that are announced.
    pub async fn receive(
        self: &Arc<Self>,
        token: &str,
        expected: Option<u64>,
    ) -> Result<Incoming, BlobError> {
        let (id, key) = token.split_once('.').ok_or(BlobError::NoUpload)?;
        if !address::is_signed(&self.keys, &address::upload_text(id), key) {
            return Err(BlobError::NoUpload);
        }
        let (record, _) = self.pending(&mut self.unit(), id).await?;
        let max_bytes = record.bytes;
        if expected.is_some_and(|bytes| bytes > max_bytes) {
            return Err(BlobError::TooLarge(max_bytes));
        }
        let arrival = self.arrivals.begin(id, &record.owner_id)?;
        let named = self.contents.create(self.clock.now()).await?;
        let file = File::from_std(named.as_file().try_clone()?);
        Ok(Incoming {
            blobs: Arc::clone(self),
            id: id.to_owned(),
            max_bytes,
            named,
            file,
            digest: Sha256::new(),
            bytes: 0,
            _arrival: arrival,
        })
    }

    /// Returns the record of an upload that has not arrived and whose time is not over.
    async fn pending(&self, unit: &mut Unit, id: &str) -> Result<(BlobRecord, u64), BlobError> {
        let found = read::<BlobRecord>(unit, &self.records.blobs, id).await?;
        let (record, revision) = found.ok_or(BlobError::NoUpload)?;
        let now = unit.now().as_millis();
        match record.expires_at.is_some_and(|expires_at| now < expires_at) {
            true => Ok((record, revision)),
            false => Err(BlobError::UploadEnded),
        }
    }
}

impl Incoming {
    /// Writes the next bytes.
    pub async fn write(&mut self, bytes: &[u8]) -> Result<(), BlobError> {
        self.bytes += bytes.len() as u64;
        if self.bytes > self.max_bytes {
            return Err(BlobError::TooLarge(self.max_bytes));
        }
        self.digest.update(bytes);
        Ok(self.file.write_all(bytes).await?)
    }

    /// Ends the upload: the content is on the disk, the blob has it, and the capability's action is due, or nothing has
    /// happened.
    pub async fn finish(mut self) -> Result<Arrived, BlobError> {
        if self.bytes == 0 {
            return Err(BlobError::Empty);
        }
        self.file.flush().await?;
        self.file.sync_all().await?;
        let Self { blobs, id, named, digest, bytes, .. } = self;
        let digest: String = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let object = Folder::new_name(&digest, blobs.clock.now());
        let mut named = Some(named);
        let ended = blobs.end_upload(&id, (&digest, bytes), &object, &mut named).await;
        if named.is_none()
            && is_unused(&ended)
            && let Err(error) = blobs.contents.remove(&object).await
        {
            tracing::error!(%error, object, "a file that no document names is left to the sweep");
        }
        ended.map(|_| Arrived { digest, bytes })
    }
}

/// Returns whether no document names the file of an upload that has ended so: another upload of the same content was
/// faster, or the blob was deleted meanwhile. After an error of the database its commit may have succeeded, so that the
/// file is left to the sweep.
fn is_unused(ended: &Result<bool, BlobError>) -> bool {
    !matches!(ended, Ok(true) | Err(BlobError::State(StateError::Db(_))))
}

impl Blobs {
    /// Gives a blob its content, and returns whether the content is the file `object`. The arrived file is moved there
    /// if the content is not stored yet.
    async fn end_upload(
        &self,
        id: &str,
        (digest, bytes): (&str, u64),
        object: &str,
        arrived: &mut Option<NamedTempFile>,
    ) -> Result<bool, BlobError> {
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let (mut record, revision) = self.pending(&mut unit, id).await?;
            let is_stored = self.reuse(&mut unit, digest).await?;
            if !is_stored {
                if let Some(file) = arrived.take() {
                    self.contents.keep(file, object).await?;
                }
                self.add_content(&mut unit, digest, (object.to_owned(), bytes)).await?;
            }
            let unused = record.bytes.saturating_sub(bytes);
            self.release(&mut unit, &record.owner_id, (0, unused)).await?;
            self.set_action(&mut unit, id, &record);
            record.content = Some(digest.to_owned());
            record.bytes = bytes;
            record.action = None;
            record.expires_at = None;
            let expect = Expectation::Revision(revision);
            write(&mut unit, &self.records.blobs, id, &record, expect).await?;
            if commit(unit).await? {
                return Ok(!is_stored);
            }
        }
        Err(StateError::Conflict.into())
    }

    /// Makes the capability's action due, with the id of the blob.
    fn set_action(&self, unit: &mut Unit, id: &str, record: &BlobRecord) {
        let Some(action) = record.action.clone() else { return };
        let key = TimerKey {
            capability: record.capability.clone(),
            name: format!("blob/{id}"),
            test_mode: record.test_mode,
        };
        let (at, input) = (unit.now(), json!({ "blob_id": id }).to_string());
        let setting = format!("arrived/{id}");
        unit.change_timer(key, TimerChange::Set { setting, at, action, input });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use portolan_store::DbError;

    #[test]
    fn the_file_of_an_upload_is_kept_only_if_a_document_may_name_it() {
        let unused = |ended: Result<bool, BlobError>| is_unused(&ended);
        assert!(unused(Ok(false)) && unused(Err(BlobError::NoUpload)));
        assert!(unused(Err(BlobError::UploadEnded)) && unused(Err(StateError::Conflict.into())));
        let unknown = DbError::Declaration(String::new());
        assert!(!unused(Ok(true)) && !unused(Err(unknown.into())));
    }
}
