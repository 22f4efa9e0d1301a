//! Where contents are: in the folder, or in a bucket with the folder for those that arrive.

use crate::{
    bucket::Bucket,
    folder::Folder,
    settings::{MediaSettings, StoreKind},
};
use portolan_vocabulary::{Timestamp, made_at};
use std::{io, path::Path};
use tempfile::NamedTempFile;
use tokio::sync::Semaphore;

/// The maximum number of contents that are written to the bucket at once.
const WRITES: usize = 2;
/// How many bytes of a content are read at once to serve it: from the folder, and in a request to the bucket.
const FOLDER_CHUNK: u64 = 256 << 10;
const BUCKET_CHUNK: u64 = 2 << 20;

/// The place of contents.
#[derive(Debug)]
pub(crate) struct Contents {
    folder: Folder,
    bucket: Option<Bucket>,
    /// The room for writing to the bucket, whose client has a whole content in memory.
    writing: Semaphore,
}

impl Contents {
    pub(crate) async fn open(settings: &MediaSettings, data_dir: &Path) -> io::Result<Self> {
        let root = settings.folder.clone().unwrap_or_else(|| data_dir.join("media"));
        let at = root.display().to_string();
        let folder = Folder::open(root).map_err(|error| {
            let text = format!("{at}: {error}; let this user write there, or set media.folder");
            io::Error::new(error.kind(), text)
        })?;
        let bucket = match (settings.store, &settings.s3) {
            (StoreKind::S3, Some(s3)) => Some(Bucket::open(s3).await.map_err(|error| {
                let text = format!("the bucket {} of media.s3: {error}", s3.bucket);
                io::Error::new(error.kind(), text)
            })?),
            _ => None,
        };
        Ok(Self { folder, bucket, writing: Semaphore::new(WRITES) })
    }

    /// Creates a file for bytes that arrive. It is removed when it is dropped.
    pub(crate) async fn create(&self, now: Timestamp) -> io::Result<NamedTempFile> {
        self.folder.create(now).await
    }

    /// Keeps a file, whose bytes are on the disk, as the content of this name.
    pub(crate) async fn keep(&self, file: NamedTempFile, name: &str) -> io::Result<()> {
        let Some(bucket) = &self.bucket else { return self.folder.keep(file, name).await };
        let _room = self.writing.acquire().await.map_err(io::Error::other)?;
        bucket.store(name, tokio::fs::read(file.path()).await?).await
    }

    pub(crate) async fn store(
        &self,
        content: Vec<u8>,
        name: &str,
        now: Timestamp,
    ) -> io::Result<()> {
        match &self.bucket {
            Some(bucket) => {
                let _room = self.writing.acquire().await.map_err(io::Error::other)?;
                bucket.store(name, content).await
            }
            None => self.folder.store(content, name, now).await,
        }
    }

    /// Reads `length` bytes from `offset` on, which the content must have; `None` if the content is missing, such as after a restore.
    pub(crate) async fn read(
        &self,
        name: &str,
        offset: u64,
        length: u64,
    ) -> io::Result<Option<Vec<u8>>> {
        let read = match &self.bucket {
            Some(bucket) => bucket.read(name, offset, length).await,
            None => self.folder.read(name, offset, length).await,
        };
        match read {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                tracing::error!(name, "the content of a file is missing");
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    /// Returns whether a content is there.
    pub(crate) async fn has(&self, name: &str) -> io::Result<bool> {
        match &self.bucket {
            Some(bucket) => bucket.has(name).await,
            None => self.folder.has(name).await,
        }
    }

    /// Returns the number of bytes to read at once.
    pub(crate) fn chunk_bytes(&self) -> u64 {
        if self.bucket.is_some() { BUCKET_CHUNK } else { FOLDER_CHUNK }
    }

    /// Returns the text about the database that the place belongs to; `None` if it has none yet.
    pub(crate) async fn owner(&self) -> io::Result<Option<Vec<u8>>> {
        match &self.bucket {
            Some(bucket) => bucket.owner().await,
            None => self.folder.owner().await,
        }
    }

    /// Replaces the text about the database that the place belongs to.
    pub(crate) async fn set_owner(&self, text: Vec<u8>, now: Timestamp) -> io::Result<()> {
        match &self.bucket {
            Some(bucket) => bucket.set_owner(text).await,
            None => self.folder.set_owner(text, now).await,
        }
    }

    /// Removes a content. It is no error if there is none.
    pub(crate) async fn remove(&self, name: &str) -> io::Result<()> {
        match &self.bucket {
            Some(bucket) => bucket.remove(name).await,
            None => self.folder.remove(name).await,
        }
    }

    /// Removes what has arrived before this time and was neither kept nor removed.
    pub(crate) async fn remove_incoming(&self, before: Timestamp) -> io::Result<()> {
        self.folder.remove_incoming(before).await
    }

    /// Returns the beginnings of the digests by which contents are listed.
    pub(crate) async fn parts(&self) -> io::Result<Vec<String>> {
        match &self.bucket {
            Some(_) => Ok((0..=u8::MAX).map(|part| format!("{part:02x}")).collect()),
            None => self.folder.parts().await,
        }
    }

    /// Returns the names of contents with this beginning that were made before this time.
    pub(crate) async fn names(&self, part: &str, before: Timestamp) -> io::Result<Vec<String>> {
        let mut names = match &self.bucket {
            Some(bucket) => bucket.names(part).await?,
            None => self.folder.names(part).await?,
        };
        names.retain(|name| {
            let id = name.split_once('-').map(|(_, id)| id);
            id.and_then(made_at).is_some_and(|at| at < before)
        });
        Ok(names)
    }
}
