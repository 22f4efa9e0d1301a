//! The operations of capabilities on blobs, in the unit of work of their call.

use crate::{
    address,
    arrivals::Arrivals,
    contents::Contents,
    error::BlobError,
    folder::Folder,
    records::{AccountRecord, BlobRecord, ContentRecord, Records, Serving, read, write},
    served_type::{is_served_type, path},
    settings::MediaSettings,
};
use portolan_store::{Expectation, StateError, Store, TimerChange, TimerKey, Unit};
use portolan_vocabulary::{Clock, Digest, Keyring, Timestamp, new_identifier};
use std::{path::Path, sync::Arc};
use tokio::runtime::Handle;

/// The maximum number of blobs that one call may write or delete, and of contents that it may make.
const CHANGES: usize = 16;
/// The longest time for which the address of a private file is valid.
const LONGEST_ADDRESS_MS: u64 = 24 * 3600 * 1000;

/// The blobs of a host.
#[derive(Debug)]
pub struct Blobs {
    pub(crate) store: Store,
    pub(crate) records: Records,
    pub(crate) contents: Arc<Contents>,
    pub(crate) settings: MediaSettings,
    pub(crate) keys: Keyring,
    pub(crate) public_url: String,
    pub(crate) clock: Clock,
    /// The room for uploads that arrive now.
    pub(crate) arrivals: Arc<Arrivals>,
}

/// An upload that a capability has begun.
#[derive(Debug)]
pub struct Upload {
    pub id: String,
    pub url: String,
    pub expires_at: Timestamp,
    pub max_bytes: u64,
}

/// A blob as a capability sees it.
#[derive(Debug)]
pub struct Blob {
    pub id: String,
    pub owner_id: String,
    /// The SHA-256 digest of the content; `None` until it is uploaded.
    pub content: Option<String>,
    pub bytes: u64,
}

/// The capability that works with a blob, and its mode.
#[derive(Debug, Clone, Copy)]
pub struct Holder<'a> {
    pub capability: &'a str,
    pub test_mode: bool,
}

impl Blobs {
    /// Opens the place of the contents and declares the collections.
    pub async fn open(
        store: Store,
        data_dir: &Path,
        settings: MediaSettings,
        keys: &Keyring,
        public_url: &str,
        clock: Clock,
    ) -> Result<Self, BlobError> {
        let contents = Arc::new(Contents::open(&settings, data_dir).await?);
        let records = Records::open(&store).await?;
        let arrivals = Arc::new(Arrivals::new(settings.uploads_at_once));
        let (keys, public_url) = (keys.clone(), public_url.to_owned());
        Ok(Self { store, records, contents, settings, keys, public_url, clock, arrivals })
    }

    /// Begins an upload for a person: when it has arrived, `action` of the capability runs. `random` makes the id.
    /// `Limit` if the person has too many files or bytes, or `max_bytes` is above the operator's limit.
    pub async fn begin_upload(
        &self,
        unit: &mut Unit,
        (holder, owner_id): (Holder<'_>, String),
        (max_bytes, action): (u64, String),
        random: u128,
    ) -> Result<Upload, StateError> {
        let most = self.settings.upload_bytes;
        if max_bytes == 0 || max_bytes > most {
            let text = format!("a file of {max_bytes} bytes: it must have 1 to {most} bytes");
            return Err(StateError::Limit(text));
        }
        self.ensure_room(unit)?;
        let now = unit.now();
        let id = new_identifier("blob", now, random);
        self.reserve(unit, &owner_id, (1, max_bytes)).await?;
        let expires_at = now.as_millis() + self.settings.upload_minutes * 60_000;
        let record = BlobRecord {
            capability: holder.capability.to_owned(),
            owner_id,
            test_mode: holder.test_mode,
            content: None,
            bytes: max_bytes,
            action: Some(action),
            expires_at: Some(expires_at),
            serving: None,
        };
        self.put_new(unit, &id, &record).await?;
        let url = format!(
            "{}/media/uploads/{id}.{}",
            self.public_url,
            address::sign(&self.keys, &address::upload_text(&id))
        );
        Ok(Upload { id, url, expires_at: Timestamp::from_millis(expires_at), max_bytes })
    }

    /// Returns a blob of the capability; `None` if it has no such blob in this mode.
    pub async fn get(
        &self,
        unit: &mut Unit,
        holder: Holder<'_>,
        id: &str,
    ) -> Result<Option<Blob>, StateError> {
        let found = self.load(unit, holder, id).await?;
        Ok(found.map(|(record, _)| blob(id.to_owned(), record)))
    }

    /// Reads at most `length` bytes of a content from `offset` on; `None` if the capability has no such blob with a
    /// content.
    pub async fn read(
        &self,
        unit: &mut Unit,
        (holder, id): (Holder<'_>, &str),
        offset: u64,
        length: u64,
    ) -> Result<Option<Vec<u8>>, BlobError> {
        let Some((record, _)) = self.load(unit, holder, id).await? else { return Ok(None) };
        let Some(object) = self.object(unit, &record).await? else { return Ok(None) };
        let length = length.min(record.bytes.saturating_sub(offset));
        Ok(self.contents.read(&object, offset, length).await?)
    }

    /// Stores a content that the capability has made of a blob, for the same person. `Invalid` if the capability has
    /// no such blob; `Limit` if the person has too many files or bytes. The file is removed if the unit is not
    /// committed.
    pub async fn derive(
        &self,
        unit: &mut Unit,
        (holder, source): (Holder<'_>, &str),
        content: Vec<u8>,
        random: u128,
    ) -> Result<Blob, BlobError> {
        self.ensure_room(unit)?;
        if unit.count_stored_content() > CHANGES {
            return Err(too_many().into());
        }
        let Some((source, _)) = self.load(unit, holder, source).await? else {
            return Err(unknown().into());
        };
        let (now, bytes) = (unit.now(), content.len() as u64);
        self.reserve(unit, &source.owner_id, (1, bytes)).await?;
        let digest = Digest::of(&content).hex();
        if !self.reuse(unit, &digest).await? {
            let object = Folder::new_name(&digest, now);
            self.remove_unless_committed(unit, &object);
            self.contents.store(content, &object, now).await?;
            self.add_content(unit, &digest, (object, bytes)).await?;
        }
        let id = new_identifier("blob", now, random);
        let record = BlobRecord {
            content: Some(digest),
            bytes,
            action: None,
            expires_at: None,
            serving: None,
            ..source
        };
        self.put_new(unit, &id, &record).await?;
        Ok(blob(id, record))
    }

    /// Removes the file of this name in the background if the unit is not committed.
    fn remove_unless_committed(&self, unit: &mut Unit, object: &str) {
        // Without a runtime, the file is left to the sweep.
        let Ok(runtime) = Handle::try_current() else { return };
        let (contents, object) = (Arc::clone(&self.contents), object.to_owned());
        unit.guard(move || {
            runtime.spawn(async move {
                if let Err(error) = contents.remove(&object).await {
                    tracing::error!(%error, object, "a file that no document names is left to the sweep");
                }
            });
        });
    }

    /// Sets how a blob is served; with `None` it is not. `Invalid` if the capability has no such blob with a content,
    /// or nothing of this type is served.
    pub async fn serve(
        &self,
        unit: &mut Unit,
        (holder, id): (Holder<'_>, &str),
        serving: Option<Serving>,
    ) -> Result<(), StateError> {
        if let Some(serving) = &serving
            && !is_served_type(&serving.media_type)
        {
            let text = format!("files of the type {:?} are not served", serving.media_type);
            return Err(StateError::Invalid(text));
        }
        let Some((mut record, revision)) = self.load(unit, holder, id).await? else {
            return Err(unknown());
        };
        if record.content.is_none() {
            return Err(unknown());
        }
        record.serving = serving;
        write(unit, &self.records.blobs, id, &record, Expectation::Revision(revision)).await
    }

    /// Returns the address of a blob that is served, signed until this time unless everybody may read it. `Invalid` if
    /// the capability has no such blob, or it is not served.
    pub async fn address(
        &self,
        unit: &mut Unit,
        (holder, id): (Holder<'_>, &str),
        until: Timestamp,
    ) -> Result<String, StateError> {
        let found = self.load(unit, holder, id).await?;
        let Some((BlobRecord { content: Some(digest), serving: Some(serving), .. }, _)) = found
        else {
            return Err(unknown());
        };
        let latest = unit.now().as_millis() + LONGEST_ADDRESS_MS;
        let until = until.as_millis().min(latest) / 1000;
        let (url, path) = (&self.public_url, path(&digest));
        if serving.public {
            return Ok(format!("{url}{path}?blob={id}"));
        }
        let key = address::sign(&self.keys, &address::file_text(&digest, id, until));
        Ok(format!("{url}{path}?blob={id}&until={until}&key={key}"))
    }

    /// Deletes a blob, and its content if no other blob has it. Returns whether the capability had it.
    pub async fn delete(
        &self,
        unit: &mut Unit,
        (holder, id): (Holder<'_>, &str),
    ) -> Result<bool, StateError> {
        let Some((record, revision)) = self.load(unit, holder, id).await? else {
            return Ok(false);
        };
        self.ensure_room(unit)?;
        self.release(unit, &record.owner_id, (1, record.bytes)).await?;
        self.remove(unit, (id, revision), &record).await?;
        Ok(true)
    }

    /// Deletes a record with this revision, and requests the removal of its content.
    pub(crate) async fn remove(
        &self,
        unit: &mut Unit,
        (id, revision): (&str, u64),
        record: &BlobRecord,
    ) -> Result<(), StateError> {
        unit.delete(&self.records.blobs, id, Expectation::Revision(revision)).await?;
        if let Some(digest) = &record.content {
            let (at, setting) = (unit.now(), format!("unused/{id}"));
            let (action, input) = (String::new(), "{}".to_owned());
            let change = TimerChange::Set { setting, at, action, input };
            unit.change_timer(unused_timer(digest), change);
        }
        Ok(())
    }

    /// Returns a blob's record with its revision, if it is the capability's and in this mode.
    async fn load(
        &self,
        unit: &mut Unit,
        holder: Holder<'_>,
        id: &str,
    ) -> Result<Option<(BlobRecord, u64)>, StateError> {
        let found = read::<BlobRecord>(unit, &self.records.blobs, id).await?;
        Ok(found.filter(|(record, _)| {
            record.capability == holder.capability && record.test_mode == holder.test_mode
        }))
    }

    async fn put_new(
        &self,
        unit: &mut Unit,
        id: &str,
        record: &BlobRecord,
    ) -> Result<(), StateError> {
        write(unit, &self.records.blobs, id, record, Expectation::Absent).await
    }

    fn ensure_room(&self, unit: &Unit) -> Result<(), StateError> {
        match unit.written_ids(&self.records.blobs).len() < CHANGES {
            true => Ok(()),
            false => Err(too_many()),
        }
    }

    /// Returns the name of the file with a blob's content.
    pub(crate) async fn object(
        &self,
        unit: &mut Unit,
        record: &BlobRecord,
    ) -> Result<Option<String>, StateError> {
        let Some(digest) = &record.content else { return Ok(None) };
        let found = read::<ContentRecord>(unit, &self.records.contents, digest).await?;
        Ok(found.map(|(content, _)| content.object))
    }

    /// Marks a content as used now, and returns whether it is stored. A removal at the same time then conflicts.
    pub(crate) async fn reuse(&self, unit: &mut Unit, digest: &str) -> Result<bool, BlobError> {
        let contents = &self.records.contents;
        let Some((mut record, revision)) = read::<ContentRecord>(unit, contents, digest).await?
        else {
            return Ok(false);
        };
        if !self.contents.has(&record.object).await? {
            return Ok(false);
        }
        record.used_at = unit.now().as_millis();
        write(unit, contents, digest, &record, Expectation::Revision(revision)).await?;
        Ok(true)
    }

    /// Adds a content whose file is stored.
    pub(crate) async fn add_content(
        &self,
        unit: &mut Unit,
        digest: &str,
        (object, bytes): (String, u64),
    ) -> Result<(), StateError> {
        let contents = &self.records.contents;
        let expect = match read::<ContentRecord>(unit, contents, digest).await? {
            // Its file is missing.
            Some((_, revision)) => Expectation::Revision(revision),
            None => Expectation::Absent,
        };
        let record = ContentRecord { object, bytes, used_at: unit.now().as_millis() };
        write(unit, contents, digest, &record, expect).await
    }

    /// Counts files and bytes for a person.
    async fn reserve(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        (files, bytes): (u64, u64),
    ) -> Result<(), StateError> {
        let (mut account, expect) = self.account(unit, owner_id).await?;
        account.files = account.files.saturating_add(files);
        account.bytes = account.bytes.saturating_add(bytes);
        let MediaSettings { files_per_person, bytes_per_person, .. } = self.settings;
        for (used, most, what) in [
            (account.files, files_per_person, "files"),
            (account.bytes, bytes_per_person, "bytes of files"),
        ] {
            if used > most {
                let text = format!(
                    "A person can have {most} {what}. Delete some that are not needed any more."
                );
                return Err(StateError::Limit(text));
            }
        }
        write(unit, &self.records.accounts, owner_id, &account, expect).await
    }

    /// Counts files and bytes of a person no longer.
    pub(crate) async fn release(
        &self,
        unit: &mut Unit,
        owner_id: &str,
        (files, bytes): (u64, u64),
    ) -> Result<(), StateError> {
        let (mut account, expect) = self.account(unit, owner_id).await?;
        account.files = account.files.saturating_sub(files);
        account.bytes = account.bytes.saturating_sub(bytes);
        write(unit, &self.records.accounts, owner_id, &account, expect).await
    }

    async fn account(
        &self,
        unit: &mut Unit,
        owner_id: &str,
    ) -> Result<(AccountRecord, Expectation), StateError> {
        let found = read::<AccountRecord>(unit, &self.records.accounts, owner_id).await?;
        Ok(match found {
            Some((account, revision)) => (account, Expectation::Revision(revision)),
            None => (AccountRecord::default(), Expectation::Absent),
        })
    }

    pub(crate) fn unit(&self) -> Unit {
        Unit::new(self.store.clone(), self.clock.now())
    }
}

/// The id that the timers for the removal of contents have in place of a capability's id. A timer's name is the digest.
pub const UNUSED_CONTENTS: &str = ":blobs";

pub(crate) fn unused_timer(digest: &str) -> TimerKey {
    let (capability, name) = (UNUSED_CONTENTS.to_owned(), digest.to_owned());
    TimerKey { capability, name, test_mode: false }
}

fn blob(id: String, record: BlobRecord) -> Blob {
    Blob { id, owner_id: record.owner_id, content: record.content, bytes: record.bytes }
}

fn too_many() -> StateError {
    StateError::Limit(format!("a call can change at most {CHANGES} files"))
}

fn unknown() -> StateError {
    StateError::Invalid("the capability has no such blob".to_owned())
}
