//! Inputs and outputs of files.

use crate::limits::LONGEST_FILE;
use portolan_sdk::prelude::*;

#[input]
pub(crate) struct ImportIcs {
    /// The file's text: iCalendar, RFC 5545.
    #[schemars(length(min = 1, max = LONGEST_FILE))]
    pub(crate) ics: String,
    /// Also remove what earlier imports brought and this file does not have.
    #[serde(default)]
    pub(crate) replace_all: bool,
}

/// What an import has changed, and what it left out.
#[output(Default)]
pub(crate) struct Imported {
    /// Blocks that are new.
    pub(crate) added: u32,
    /// Blocks that have become something else, by the same UID.
    pub(crate) replaced: u32,
    /// Blocks that were there already, just so.
    pub(crate) unchanged: u32,
    /// Blocks that are no longer there.
    pub(crate) removed: u32,
    pub(crate) skipped: Skipped,
    /// How many things were taken over in part only, because they say more than is kept here.
    pub(crate) unsupported_count: u32,
    /// The first 50 of them.
    pub(crate) unsupported: Vec<Unsupported>,
}

/// Events that take no time of the person's, or no longer.
#[output(Default)]
pub(crate) struct Skipped {
    /// `TRANSP:TRANSPARENT`, or free time.
    pub(crate) transparent: u32,
    pub(crate) cancelled: u32,
    /// Over by now.
    pub(crate) past: u32,
    /// Without length.
    pub(crate) empty: u32,
    /// Exported from this calendar, and still in it.
    pub(crate) own: u32,
}

#[output(Clone)]
pub(crate) struct Unsupported {
    /// Of the file.
    pub(crate) line: u32,
    /// What is not kept, such as `BYSETPOS`.
    pub(crate) part: String,
    /// What was done instead.
    pub(crate) instead: &'static str,
}

#[output]
pub(crate) struct Exported {
    /// iCalendar (RFC 5545), as `text/calendar`.
    pub(crate) ics: String,
    /// How many events it has.
    pub(crate) events: u32,
}
