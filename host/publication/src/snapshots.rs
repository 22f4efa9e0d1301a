//! Snapshots of earlier days, read from the folder of the feeds piece by piece for each request.

use crate::part::Part;
use flate2::read::GzDecoder;
use portolan_feeds::snapshots;
use std::{
    collections::BTreeMap,
    fs::File,
    io::{self, Read},
    path::PathBuf,
    sync::{Arc, Mutex, PoisonError},
};

/// The entity tags of the documents of a snapshot, without compression, by their names below `data/`.
type Tags = BTreeMap<String, String>;

/// The snapshots in a folder of feeds.
#[derive(Debug)]
pub struct Snapshots {
    folder: PathBuf,
    /// The entity tags of the snapshots that were asked for, by day. Snapshots never change, and are removed only
    /// by a new publication.
    tags: Mutex<BTreeMap<String, Arc<Tags>>>,
}

/// A document of a snapshot.
#[derive(Debug)]
pub struct SnapshotDocument {
    /// The entity tag of the plain bytes, which the index of the snapshot lists.
    pub etag: String,
    /// The entity tag of the compressed bytes.
    pub packed_etag: String,
    /// The number of compressed bytes.
    pub packed_length: u64,
    file: File,
}

impl Snapshots {
    pub(crate) fn new(folder: PathBuf) -> Self {
        Self { folder, tags: Mutex::default() }
    }

    /// Returns the list of the days that have a snapshot, the newest first. `listed` makes it of the days.
    pub fn list(&self, listed: impl FnOnce(Vec<String>) -> Vec<u8>) -> io::Result<Part> {
        Part::new("application/json", &listed(snapshots::list(&self.folder)?))
    }

    /// Opens a document of the snapshot of a day; `file` is its name below `data/`.
    pub fn document(&self, day: &str, file: &str) -> io::Result<Option<SnapshotDocument>> {
        let Some(tags) = self.tags_of(day)? else { return Ok(None) };
        // Only what the snapshot's index lists is opened.
        let Some(etag) = tags.get(file) else { return Ok(None) };
        let Some(file) = snapshots::open(&self.folder, day, file)? else {
            return Ok(None);
        };
        Ok(Some(SnapshotDocument {
            packed_etag: format!("{}-gzip\"", etag.trim_end_matches('"')),
            etag: etag.clone(),
            packed_length: file.metadata()?.len(),
            file,
        }))
    }

    fn tags_of(&self, day: &str) -> io::Result<Option<Arc<Tags>>> {
        let known = || self.tags.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(tags) = known().get(day) {
            return Ok(Some(Arc::clone(tags)));
        }
        let Some(tags) = snapshots::etags(&self.folder, day)? else { return Ok(None) };
        let tags = Arc::new(tags);
        known().insert(day.to_owned(), Arc::clone(&tags));
        Ok(Some(tags))
    }

    /// Forgets all tags, because snapshots may have been removed.
    pub(crate) fn forget(&self) {
        self.tags.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}

impl SnapshotDocument {
    /// Returns the bytes, compressed or not. They are read from the file while they are sent.
    pub fn reader(self, is_packed: bool) -> Box<dyn Read + Send> {
        match is_packed {
            true => Box::new(self.file),
            false => Box::new(GzDecoder::new(self.file)),
        }
    }
}
