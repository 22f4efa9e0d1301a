//! The removal of contents that no blob has, of uploads that never arrived, and of everything of an erased person.

use crate::{
    blobs::Blobs,
    error::BlobError,
    records::{BlobRecord, CONTENT, ContentRecord, EXPIRES_AT, OWNER, commit, find, parse, read},
};
use portolan_store::{Expectation, Hit, StateError};
use portolan_vocabulary::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// The maximum number of documents that one unit removes or looks at.
const BATCH: u32 = 100;
/// The time after which a file that no document names is left over: far longer than a call or the end of an upload.
const LEFT_OVER_MS: u64 = 3600 * 1000;
/// The maximum number of times that a removal is tried again after a conflict.
const ATTEMPTS: usize = 8;

impl Blobs {
    /// Removes a content if no blob has it.
    pub async fn remove_unused(&self, digest: &str) -> Result<(), BlobError> {
        for _ in 0..ATTEMPTS {
            let mut unit = self.unit();
            let contents = &self.records.contents;
            let found = read::<ContentRecord>(&mut unit, contents, digest).await?;
            let Some((content, revision)) = found else { return Ok(()) };
            let users = (CONTENT, json!({ "eq": digest }));
            if !find(&mut unit, &self.records.blobs, users, 1).await?.is_empty() {
                return Ok(());
            }
            // A blob that was given the content meanwhile has changed the record, so this does not commit.
            unit.delete(contents, digest, Expectation::Revision(revision)).await?;
            if commit(unit).await? {
                return Ok(self.contents.remove(&content.object).await?);
            }
        }
        Err(StateError::Conflict.into())
    }

    /// Removes every blob of a person who is being erased, with the contents that nobody else has.
    pub async fn remove_all_of(&self, owner_id: &str) -> Result<(), BlobError> {
        let digests = self.remove_found((OWNER, json!({ "eq": owner_id })), false).await?;
        for digest in &digests {
            self.remove_unused(digest).await?;
        }
        Ok(())
    }

    /// Removes uploads that never arrived, contents that no blob has, and files that no document names. What fails does
    /// not keep the rest; the first error is returned.
    pub async fn sweep(&self) -> Result<(), BlobError> {
        let now = self.clock.now();
        let expired = (EXPIRES_AT, json!({ "lte": now.as_millis() }));
        let before = Timestamp::from_millis(now.as_millis().saturating_sub(LEFT_OVER_MS));
        let mut first = None;
        let mut note = |step: &str, error: BlobError| {
            tracing::error!(step, %error, "files cannot be removed");
            first.get_or_insert(error);
        };
        if let Err(error) = self.remove_found(expired, true).await {
            note("uploads that never arrived", error);
        }
        if let Err(error) = self.contents.remove_incoming(before).await {
            note("what was arriving", error.into());
        }
        let is_own = match self.hold_place(false).await {
            Ok(is_own) => is_own,
            Err(error) => {
                // A place that does not answer has no parts either.
                note("the owner of the files", error);
                return first.map_or(Ok(()), Err);
            }
        };
        if !is_own {
            tracing::error!(
                "the files may belong to another database: none is removed that no document names"
            );
        }
        match self.contents.parts().await {
            Ok(parts) => {
                for part in parts {
                    if let Err(error) = self.sweep_part(&part, before, is_own).await {
                        note(&part, error);
                    }
                }
            }
            Err(error) => note("the parts of the folder", error.into()),
        }
        first.map_or(Ok(()), Err)
    }

    /// Sweeps the files whose digests begin with these digits.
    async fn sweep_part(
        &self,
        part: &str,
        before: Timestamp,
        is_own: bool,
    ) -> Result<(), BlobError> {
        let names = self.contents.names(part, before).await?;
        for names in names.chunks(BATCH as usize) {
            self.sweep_files(names, is_own).await?;
        }
        Ok(())
    }

    /// Removes those of these files that no document names, if the place `is_own`, and the contents among them that no
    /// blob has.
    async fn sweep_files(&self, names: &[String], is_own: bool) -> Result<(), BlobError> {
        let digest = |name: &String| name.split('-').next().unwrap_or_default().to_owned();
        let digests: Vec<String> = names.iter().map(digest).collect();
        let ids: Vec<&str> = digests.iter().map(String::as_str).collect();
        let mut unit = self.unit();
        let contents = unit.get_many(&self.records.contents, &ids).await?;
        // The contents that are kept.
        let mut used = BTreeSet::new();
        for (name, content) in names.iter().zip(contents) {
            let content = content.map(|found| parse::<ContentRecord>(&found.id, &found.body));
            let content = match content.transpose() {
                Ok(content) => content,
                Err(error) => {
                    tracing::error!(name, %error, "a file is kept whose record cannot be read");
                    used.insert(digest(name));
                    continue;
                }
            };
            if is_own && content.is_none_or(|content| content.object != *name) {
                self.contents.remove(name).await?;
                tracing::info!(name, "a file that no document named is removed");
            }
        }
        let users = (CONTENT, json!({ "in": digests }));
        let users = find(&mut unit, &self.records.blobs, users, BATCH).await?;
        // One that cannot be read keeps its content too: `remove_unused` finds it by the index.
        let users = users.iter().filter_map(readable);
        used.extend(users.filter_map(|record| record.content));
        for digest in digests.iter().filter(|digest| !used.contains(*digest)) {
            self.remove_unused(digest).await?;
        }
        Ok(())
    }

    /// Removes the blobs whose records satisfy a comparison, and returns the digests of their contents. A record that
    /// cannot be read is logged and stays. `counts` tells whether the person's account is kept.
    async fn remove_found(
        &self,
        (path, comparison): (&str, Value),
        counts: bool,
    ) -> Result<BTreeSet<String>, BlobError> {
        let (mut digests, mut conflicts) = (BTreeSet::new(), 0);
        loop {
            let mut unit = self.unit();
            let found =
                find(&mut unit, &self.records.blobs, (path, comparison.clone()), BATCH).await?;
            let mut removed = 0;
            for hit in found {
                let Some(record) = readable(&hit) else { continue };
                let document = hit.document;
                digests.extend(record.content.clone());
                if counts {
                    self.release(&mut unit, &record.owner_id, (1, record.bytes)).await?;
                }
                self.remove(&mut unit, (&document.id, document.revision), &record).await?;
                removed += 1;
            }
            if removed == 0 {
                return Ok(digests);
            }
            if !commit(unit).await? {
                conflicts += 1;
            }
            if conflicts > ATTEMPTS {
                return Err(StateError::Conflict.into());
            }
        }
    }
}

/// Returns the record of a blob; `None`, with a line in the log, if it cannot be read.
fn readable(hit: &Hit) -> Option<BlobRecord> {
    let document = &hit.document;
    let record = parse(&document.id, &document.body);
    record.inspect_err(|error| tracing::error!(%error, "a record of a file is left out")).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{blobs::Holder, folder::Folder, records::write, settings::MediaSettings};
    use portolan_store::{DatabaseUrl, Store, Unit};
    use portolan_vocabulary::{Clock, Digest, Keyring, Quotas};
    use std::time::Duration;
    use tempfile::TempDir;
    use tokio::time::{sleep, timeout};

    const OWNER_ID: &str = "own_01J00000000000000000000001";

    async fn opened(folder: &TempDir) -> Blobs {
        let keys = Keyring::parse(&Keyring::generate().unwrap()).unwrap();
        let url = DatabaseUrl::from(folder.path().join("portolan.db"));
        let store = Store::open(&url, &keys, Clock::system(), Quotas::default()).await.unwrap();
        let (settings, url) = (MediaSettings::default(), "https://host.example");
        Blobs::open(store, folder.path(), settings, &keys, url, Clock::system()).await.unwrap()
    }

    fn upload() -> BlobRecord {
        BlobRecord {
            capability: "media".to_owned(),
            owner_id: OWNER_ID.to_owned(),
            test_mode: false,
            content: None,
            bytes: 1,
            action: None,
            expires_at: Some(1),
            serving: None,
        }
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_record_that_cannot_be_read_does_not_keep_others() {
        let folder = TempDir::new().unwrap();
        let blobs = opened(&folder).await;
        let absent = Expectation::Absent;
        let unreadable = json!({ "owner_id": OWNER_ID, "expires_at": 1 }).to_string();
        let mut unit = blobs.unit();
        unit.put(&blobs.records.blobs, "blob_1", unreadable, absent).await.unwrap();
        write(&mut unit, &blobs.records.blobs, "blob_2", &upload(), absent).await.unwrap();
        assert!(commit(unit).await.unwrap());
        blobs.sweep().await.unwrap();
        blobs.remove_all_of(OWNER_ID).await.unwrap();
        let left =
            blobs.unit().get_many(&blobs.records.blobs, &["blob_1", "blob_2"]).await.unwrap();
        assert_eq!(left.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false]);
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_file_whose_record_cannot_be_read_stays() {
        let folder = TempDir::new().unwrap();
        let blobs = opened(&folder).await;
        let at = Timestamp::from_millis(1);
        let names = ["ab01", "ab02"].map(|digest| Folder::new_name(digest, at));
        for name in &names {
            blobs.contents.store(b"content".to_vec(), name, at).await.unwrap();
        }
        let mut unit = blobs.unit();
        let unreadable = json!({ "used_at": 1 }).to_string();
        let absent = Expectation::Absent;
        unit.put(&blobs.records.contents, "ab01", unreadable, absent).await.unwrap();
        assert!(commit(unit).await.unwrap());
        blobs.sweep().await.unwrap();
        assert!(blobs.contents.has(&names[0]).await.unwrap());
        assert!(!blobs.contents.has(&names[1]).await.unwrap());
    }

    /// Returns the digests of the stored files.
    async fn stored(blobs: &Blobs) -> BTreeSet<String> {
        let (mut digests, end) = (BTreeSet::new(), Timestamp::from_millis(u64::MAX));
        for part in blobs.contents.parts().await.unwrap() {
            for name in blobs.contents.names(&part, end).await.unwrap() {
                digests.insert(name.split('-').next().unwrap().to_owned());
            }
        }
        digests
    }

    /// Waits until the files of these contents are left, and no others.
    async fn ensure_left(blobs: &Blobs, contents: &[&str]) {
        let digest = |content: &&str| Digest::of(content.as_bytes()).hex();
        let expected: BTreeSet<String> = contents.iter().map(digest).collect();
        for _ in 0..500 {
            if stored(blobs).await == expected {
                return;
            }
            sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(stored(blobs).await, expected);
    }

    /// Returns a unit that has stored a content made of the blob `blob_1`.
    async fn with_derived(blobs: &Blobs, content: &str) -> Unit {
        let mut unit = blobs.unit();
        let holder = Holder { capability: "media", test_mode: false };
        let content = content.as_bytes().to_vec();
        let random = rand::random();
        blobs.derive(&mut unit, (holder, "blob_1"), content, random).await.unwrap();
        unit
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn a_derived_file_is_left_only_if_its_call_may_be_committed() {
        let folder = TempDir::new().unwrap();
        let blobs = opened(&folder).await;
        let mut unit = blobs.unit();
        let absent = Expectation::Absent;
        write(&mut unit, &blobs.records.blobs, "blob_1", &upload(), absent).await.unwrap();
        assert!(commit(unit).await.unwrap());

        // Both count a file for the person, so the second one conflicts.
        let committed = with_derived(&blobs, "committed").await;
        let conflicting = with_derived(&blobs, "conflicting").await;
        ensure_left(&blobs, &["committed", "conflicting"]).await;
        assert!(commit(committed).await.unwrap());
        assert!(!commit(conflicting).await.unwrap());
        ensure_left(&blobs, &["committed"]).await;

        drop(with_derived(&blobs, "refused").await);
        ensure_left(&blobs, &["committed"]).await;

        // The caller does not wait for the verdict of a commit that has begun.
        let unknown = commit(with_derived(&blobs, "unknown").await);
        drop(timeout(Duration::ZERO, unknown).await);
        drop(with_derived(&blobs, "refused").await);
        ensure_left(&blobs, &["committed", "unknown"]).await;
    }
}
