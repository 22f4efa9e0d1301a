//! Inputs and outputs for calendar files.

use crate::limits::LONGEST_FILE;
use portolan_sdk::prelude::*;

#[input]
pub(crate) struct ImportIcs {
    /// The content of the file: iCalendar, RFC 5545. The whole body of the call has at most 256 KiB, in
    /// which each line break takes up to 4 bytes: leave out what is long past, or import a larger file in
    /// several parts, without `replace_all`.
    #[schemars(length(min = 1, max = LONGEST_FILE))]
    pub(crate) ics: String,
    /// Whether to remove what earlier imports added and this file does not contain.
    #[serde(default)]
    pub(crate) replace_all: bool,
}

/// The changes of an import, and what it left out.
#[output(Default)]
pub(crate) struct Imported {
    /// The number of new blocks.
    pub(crate) added: u32,
    /// The number of blocks that were replaced by an event with the same UID.
    pub(crate) replaced: u32,
    /// The number of blocks that stayed the same.
    pub(crate) unchanged: u32,
    /// The number of blocks that were removed.
    pub(crate) removed: u32,
    pub(crate) skipped: Skipped,
    /// How many parts of the file were not imported as they are, because a calendar here cannot store them
    /// or their time zone is not known.
    pub(crate) unsupported_count: u32,
    /// The first 50 of these parts.
    pub(crate) unsupported: Vec<Unsupported>,
}

/// The events of the file that were not imported: those that do not make the person busy, and
/// those with an error.
#[output(Default)]
pub(crate) struct Skipped {
    /// Events with `TRANSP:TRANSPARENT` or `X-MICROSOFT-CDO-BUSYSTATUS:FREE`, and free time.
    pub(crate) transparent: u32,
    pub(crate) cancelled: u32,
    /// Events that have ended.
    pub(crate) past: u32,
    /// Events that end when they begin.
    pub(crate) empty: u32,
    /// Events that were exported from this calendar and are still in it.
    pub(crate) own: u32,
    /// Events and busy times with an error, or with a rule that has too many occurrences. Entries
    /// of earlier imports for them stay.
    pub(crate) faulty: u32,
    /// The first 50 of these.
    pub(crate) entries: Vec<SkippedEntry>,
}

/// An event or a busy time that was left out because of an error.
#[output(Clone)]
pub(crate) struct SkippedEntry {
    /// The line with the error.
    pub(crate) line: u32,
    /// The UID of the event, if it has one.
    pub(crate) uid: Option<String>,
    /// The expected form of this line.
    pub(crate) reason: String,
}

#[output(Clone)]
pub(crate) struct Unsupported {
    /// The line in the file.
    pub(crate) line: u32,
    /// The part that is not supported, such as `EXRULE`.
    pub(crate) part: String,
    /// The import's fallback.
    pub(crate) instead: &'static str,
}

#[output]
pub(crate) struct Exported {
    /// The file: iCalendar (RFC 5545), as `text/calendar`.
    pub(crate) ics: String,
    /// The number of events in it.
    pub(crate) events: u32,
}
