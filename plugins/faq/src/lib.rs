//! The questions and answers about the service, and the search over them.
//!
//! The entries are the Markdown files in `entries/`. `build/` turns them into static tables, the
//! search index among them, so that a call parses and indexes nothing.

mod analysis;
mod bm25;
mod entry;
mod locale;
mod search;
mod snippet;
mod spelling;

pub use entry::{Answer, Entry, by_id, by_slug, entries, tags};
pub use locale::{LOCALE, falls_back};
pub use search::{Found, Hit, search};
pub use snippet::{Highlight, Snippet};
