//! Snapshots of earlier days, read from the folder of the feeds for each request.

use crate::{Feeds, part::Part};
use portolan_feeds::{document::etag, snapshots};
use std::io;

impl Feeds {
    /// Returns the days that have a snapshot, the newest first.
    pub fn snapshot_days(&self) -> io::Result<Vec<String>> {
        snapshots::list(&self.options.folder)
    }

    /// Returns a document of the snapshot of a day; `file` is its name below `/map/data/`.
    pub fn snapshot(&self, day: &str, file: &str) -> io::Result<Option<Part>> {
        let packed = snapshots::packed(&self.options.folder, day, file)?;
        Ok(packed.map(|packed| Part {
            media_type: "application/json",
            packed_etag: etag(&packed),
            // The plain bytes are the same if the compressed ones are, and need another entity tag.
            etag: etag(format!("plain {}", etag(&packed)).as_bytes()),
            packed: packed.into(),
        }))
    }
}
