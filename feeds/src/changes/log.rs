//! The segments of the log that a publication has, and pages of changes from them.

use super::{Cursor, FOLDER};
use crate::{
    files::{found, link},
    timestamp::{Timestamp, days},
};
use flate2::read::GzDecoder;
use serde::Deserialize;
use std::{
    borrow::Cow,
    fs::{self, File},
    io::{self, BufRead as _, BufReader},
    path::{Path, PathBuf},
    time::Duration,
};

/// How long changes are kept, and how many compressed bytes of them.
pub const KEPT: Duration = days(30);
pub const MOST_BYTES: u64 = 256 << 20;
const ENDING: &str = ".ndjson.gz";

/// The changes from one publication to the next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    path: PathBuf,
    from: Cursor,
    to: Cursor,
    at: Timestamp,
    bytes: u64,
}

impl Segment {
    pub(super) fn name(from: &Cursor, to: &Cursor, at: Timestamp) -> String {
        format!("{from}_{to}_{:015}{ENDING}", at.as_millis())
    }

    /// Returns the segment in a file; `None` if the file has another name.
    fn of(path: PathBuf, bytes: u64) -> Option<Self> {
        let name = path.file_name()?.to_str()?.strip_suffix(ENDING)?;
        let mut fields = name.splitn(3, '_');
        let from = fields.next()?.parse().ok()?;
        let to = fields.next()?.parse().ok()?;
        let at = Timestamp::from_millis(fields.next()?.parse().ok()?);
        Some(Self { path, from, to, at, bytes })
    }

    /// Returns whether the cursor is before one of the segment's changes.
    fn continues(&self, cursor: &Cursor) -> bool {
        *cursor == self.from
            || (cursor.segment == self.to.segment
                && (self.from.seq..self.to.seq).contains(&cursor.seq))
    }

    /// Opens the file. After its publication was removed, it is in one of those beside it: each has the
    /// segments of the one before, and the name has the digest of the content. `None`: it is kept nowhere.
    fn open(&self) -> io::Result<Option<File>> {
        if let Some(file) = found(File::open(&self.path))? {
            return Ok(Some(file));
        }
        let all = self.path.ancestors().nth(3);
        let Some((all, name)) = all.zip(self.path.file_name()) else { return Ok(None) };
        for publication in found(fs::read_dir(all))?.into_iter().flatten() {
            let path = publication?.path().join(FOLDER).join(name);
            if let Ok(file) = File::open(path) {
                return Ok(Some(file));
            }
        }
        Ok(None)
    }
}

/// The log of a publication. It never changes.
#[derive(Debug, Clone)]
pub struct Log {
    segments: Vec<Segment>,
    /// The cursor of the publication.
    end: Cursor,
}

/// The changes that a reader wants: of some feeds, or of all, and of one record, or of all.
#[derive(Debug, Clone, Default)]
pub struct Wanted {
    pub feeds: Vec<String>,
    pub id: Option<String>,
}

/// The size of a page.
#[derive(Debug, Clone, Copy)]
pub struct Bounds {
    pub changes: usize,
    /// How many bytes a page may have; the first change may exceed them.
    pub bytes: usize,
    /// How many bytes are read for it.
    pub read: usize,
}

impl Bounds {
    /// Returns the size of a page with this many changes, for readers from outside.
    pub const fn of(changes: usize) -> Self {
        Self { changes, bytes: 1 << 20, read: 16 << 20 }
    }
}

/// Some changes, each as a line of JSON with its cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    pub changes: Vec<Listed>,
    /// The place after them.
    pub next: Cursor,
    pub has_more: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    pub cursor: Cursor,
    pub op: String,
    pub feed: String,
    /// The id of the record; `None` for the fields of a document besides its records.
    pub id: Option<String>,
    pub text: String,
}

impl Log {
    /// Opens the log of the publication in a folder; `end` is the publication's cursor.
    pub fn open(publication: &Path, end: Cursor) -> io::Result<Self> {
        let entries = found(fs::read_dir(publication.join(FOLDER)))?;
        let mut segments = Vec::new();
        for entry in entries.into_iter().flatten() {
            let entry = entry?;
            segments.extend(Segment::of(entry.path(), entry.metadata()?.len()));
        }
        segments.sort_by(|one: &Segment, other| other.to.cmp(&one.to));
        // The newest segments that follow each other, and lead to the publication.
        let mut next = end.clone();
        segments.retain(|segment| {
            let is_linked = segment.to == next;
            if is_linked {
                next = segment.from.clone();
            }
            is_linked
        });
        segments.reverse();
        Ok(Self { segments, end })
    }

    /// Returns the cursor of the publication.
    pub fn end(&self) -> &Cursor {
        &self.end
    }

    /// Returns the earliest cursor from which changes are kept.
    pub fn begin(&self) -> &Cursor {
        self.segments.first().map_or(&self.end, |segment| &segment.from)
    }

    /// Links the segments that are not too old into another folder.
    pub(super) fn link(&self, folder: &Path, now: Timestamp) -> io::Result<()> {
        let mut left = MOST_BYTES;
        for segment in self.segments.iter().rev() {
            left = match left.checked_sub(segment.bytes) {
                Some(left) if now.since(segment.at) < KEPT => left,
                _ => break,
            };
            let Some(name) = segment.path.file_name() else { continue };
            link(&segment.path, &folder.join(name))?;
        }
        Ok(())
    }

    /// Returns the changes after a cursor. `None`: the cursor is not known here, or no longer.
    pub fn page(
        &self,
        since: &Cursor,
        wanted: &Wanted,
        bounds: Bounds,
    ) -> io::Result<Option<Page>> {
        let mut page = Page { changes: Vec::new(), next: since.clone(), has_more: false };
        if *since == self.end {
            return Ok(Some(page));
        }
        let first = self.segments.iter().position(|segment| segment.continues(since));
        let Some(first) = first else { return Ok(None) };
        let (mut bytes, mut read) = (0, 0);
        for segment in self.segments.iter().skip(first) {
            let Some(file) = segment.open()? else { return Ok(None) };
            let mut lines = BufReader::new(GzDecoder::new(file));
            loop {
                // The writer has bounded what a line can have.
                let mut text = String::new();
                let length = lines.read_line(&mut text)?;
                if length == 0 {
                    break;
                }
                // What is only skipped is read, too.
                let is_exhausted = read >= bounds.read && page.next != *since;
                read += length;
                let line: Line<'_> = serde_json::from_str(&text)?;
                let cursor = Cursor { seq: line.seq, ..segment.to.clone() };
                if line.seq <= since.seq {
                    continue;
                }
                let is_wanted = wanted.has(&line);
                let is_full = page.changes.len() >= bounds.changes
                    || (bytes + length > bounds.bytes && !page.changes.is_empty());
                if is_exhausted || (is_wanted && is_full) {
                    page.has_more = true;
                    return Ok(Some(page));
                }
                page.next = cursor.clone();
                if is_wanted {
                    bytes += length;
                    let Line { op, feed, id, .. } = line;
                    let (op, feed, id) =
                        (op.into_owned(), feed.into_owned(), id.map(Cow::into_owned));
                    text.truncate(text.trim_end().len());
                    page.changes.push(Listed { cursor, op, feed, id, text });
                }
            }
        }
        Ok(Some(page))
    }
}

/// The fields of a line by which it is found; the others are skipped.
#[derive(Deserialize)]
struct Line<'a> {
    seq: u64,
    #[serde(borrow)]
    op: Cow<'a, str>,
    #[serde(borrow)]
    feed: Cow<'a, str>,
    id: Option<Cow<'a, str>>,
}

impl Wanted {
    fn has(&self, line: &Line<'_>) -> bool {
        let is_feed = self.feeds.is_empty() || self.feeds.iter().any(|feed| *feed == line.feed);
        is_feed && self.id.as_deref().is_none_or(|id| line.id.as_deref() == Some(id))
    }
}
