//! The log of changes: what was added, changed and removed from one publication to the next. It is in
//! segments of bounded size, at least one for each publication with a change, compressed, in the folder of the
//! publication that they led to; so a publication and its changes become current in the same step. Older segments are linked
//! from the publication before, for a bounded time and size.

mod cursor;
mod diff;
mod follow;
mod log;

pub use cursor::{Cursor, NoCursor};
pub use diff::Op;
pub use follow::Follower;
pub use log::{Bounds, KEPT, Listed, Log, MOST_BYTES, Page, Segment, Wanted};

use crate::{
    files::{found, sync_folder},
    identifier::hexadecimal,
    parts::Documents,
    record::FEEDS,
    timestamp::Timestamp,
};
use diff::{Change, changes};
use flate2::{Compression, write::GzEncoder};
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::Path,
};

/// The folder of the log in a publication, and the file name of the paths at which it is served.
pub const FOLDER: &str = "changes";
/// How many bytes a record may have. A page has at least one change.
pub const MOST_RECORD: usize = 1 << 20;
/// How many bytes are in one segment at most. A page that begins near the end of a segment reads
/// all of it.
const MOST_SEGMENT: usize = 2 << 20;
/// The place in the index of the cursor that belongs to a publication.
const CURSOR: &str = "/changes/cursor";

/// What happens to earlier publications, snapshots and changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Past {
    /// They are kept for their time.
    Kept,
    /// They are removed, because they have what somebody objects to.
    Forgotten,
}

/// A line of the log.
#[derive(Serialize)]
struct Line<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<String>,
    seq: u64,
    at: Timestamp,
    #[serde(flatten)]
    change: &'a Change<'a>,
}

/// Returns the cursor in an index.
pub fn cursor_of(index: &[u8]) -> Option<Cursor> {
    let index: Value = serde_json::from_slice(index).ok()?;
    index.pointer(CURSOR)?.as_str()?.parse().ok()
}

/// Returns an index with this cursor.
fn with_cursor(index: &[u8], cursor: &Cursor) -> Option<Vec<u8>> {
    let mut parsed: Value = serde_json::from_slice(index).ok()?;
    *parsed.pointer_mut(CURSOR)? = cursor.to_string().into();
    let mut bytes = serde_json::to_vec(&parsed).ok()?;
    bytes.push(b'\n');
    Some(bytes)
}

/// Returns where the log begins of a folder in which nothing was published before. It differs from that of
/// every other folder, so that a cursor of one is not known in another.
fn first_cursor(documents: &Documents, now: Timestamp) -> Cursor {
    let mut digest = Sha256::new_with_prefix(now.to_string());
    documents.values().for_each(|bytes| digest.update(bytes));
    Cursor::new(0, &hexadecimal(&digest.finalize()))
}

/// Writes the log of a publication into its draft: the segments of the `former` publication's folder that are
/// not too old, unless they are forgotten, and new ones with the changes from there to these documents. Returns
/// the cursor that belongs to the publication, and the index with it, unless the index has it already.
pub fn write(
    draft: &Path,
    former: Option<&Path>,
    documents: &Documents,
    index: &str,
    past: Past,
    now: Timestamp,
) -> io::Result<(Cursor, Option<Vec<u8>>)> {
    let own = documents.get(index).map(Vec::as_slice).unwrap_or_default();
    let folder = draft.join(FOLDER);
    fs::create_dir(&folder)?;
    let cursor = match former {
        Some(former) => follow(&folder, former, (documents, index), past, now)?,
        // The documents are where followers begin. If they were copied from elsewhere, they have a cursor.
        None => cursor_of(own)
            .filter(|cursor| *cursor != Cursor::default())
            .unwrap_or_else(|| first_cursor(documents, now)),
    };
    sync_folder(&folder)?;
    let stamped = match cursor_of(own).as_ref() == Some(&cursor) {
        true => None,
        false => with_cursor(own, &cursor),
    };
    Ok((cursor, stamped))
}

/// Writes the changes since the former publication, and returns the cursor after them.
fn follow(
    folder: &Path,
    former: &Path,
    (documents, index): (&Documents, &str),
    past: Past,
    now: Timestamp,
) -> io::Result<Cursor> {
    let before = |file: &str| Ok(found(fs::read(former.join(file)))?.unwrap_or_default());
    let begin = cursor_of(&before(index)?).unwrap_or_default();
    if past == Past::Kept {
        Log::open(former, begin.clone())?.link(folder, now)?;
    }
    segments(folder, begin, documents, before, now)
}

/// Writes the changes in segments, and returns the cursor after them.
fn segments(
    folder: &Path,
    begin: Cursor,
    documents: &Documents,
    before: impl Fn(&str) -> io::Result<Vec<u8>>,
    now: Timestamp,
) -> io::Result<Cursor> {
    let mut all: Vec<Change<'_>> = Vec::new();
    for feed in &FEEDS {
        let after = documents.get(feed.file).map(Vec::as_slice).unwrap_or_default();
        all.extend(changes((feed.id, feed.file), &before(feed.file)?, after));
    }
    if let Some(large) = all.iter().find(|change| change.record_bytes() > MOST_RECORD) {
        let Change { feed, id, .. } = large;
        let id = id.as_deref().unwrap_or_default();
        let what = format!("{id} of {feed} is too large for the log of changes");
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    let (mut bytes, mut cursor) = (0, begin);
    let fits = |one: &Change<'_>, next: &Change<'_>| {
        bytes += one.line_bytes();
        let fits = bytes + next.line_bytes() <= MOST_SEGMENT;
        bytes = if fits { bytes } else { 0 };
        fits
    };
    for part in all.chunk_by(fits) {
        cursor = segment(folder, &cursor, part, now)?;
    }
    Ok(cursor)
}

/// Writes a segment, and returns the cursor after it.
fn segment(
    folder: &Path,
    begin: &Cursor,
    all: &[Change<'_>],
    now: Timestamp,
) -> io::Result<Cursor> {
    let line = |cursor, (change, seq)| Line { cursor, seq, at: now, change };
    let numbered = || all.iter().zip(begin.seq + 1..);
    // The digest of a segment covers those before it.
    let mut digest = Digested(Sha256::new_with_prefix(begin.to_string()));
    for pair in numbered() {
        serde_json::to_writer(&mut digest, &line(None, pair))?;
    }
    let digest = hexadecimal(&digest.0.finalize());
    let last = begin.seq + u64::try_from(all.len()).unwrap_or(u64::MAX);
    let end = Cursor::new(last, &digest);
    let draft = folder.join(".draft");
    let mut writer = BufWriter::new(GzEncoder::new(File::create(&draft)?, Compression::default()));
    for (change, seq) in numbered() {
        let cursor = Cursor { seq, ..end.clone() }.to_string();
        serde_json::to_writer(&mut writer, &line(Some(cursor), (change, seq)))?;
        writer.write_all(b"\n")?;
    }
    writer.into_inner()?.finish()?.sync_all()?;
    fs::rename(draft, folder.join(Segment::name(begin, &end, now)))?;
    Ok(end)
}

/// A writer that makes a digest.
struct Digested(Sha256);

impl Write for Digested {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
