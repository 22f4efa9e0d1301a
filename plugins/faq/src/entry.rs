//! An entry, and the tables that the build made of the files in `entries/`.

include!(concat!(env!("OUT_DIR"), "/tables.rs"));

/// A question with its answer.
#[derive(Debug)]
pub struct Entry {
    /// The id: `faq_` and a ULID; it stays the same when the slug changes.
    pub id: &'static str,
    pub slug: &'static str,
    pub question: &'static str,
    pub tags: &'static [&'static str],
    /// When the entry last changed (RFC 3339, UTC, milliseconds).
    pub updated_at: &'static str,
    /// Slugs of entries to read next.
    pub related: &'static [&'static str],
    /// Its index in `ENTRIES`, `ANSWERS` and `PROSE`. These are separate tables, so that a
    /// capability that shows whole answers carries no prose, and one that searches carries no HTML.
    pub(crate) place: u16,
}

/// The whole answer of an entry.
#[derive(Debug)]
pub struct Answer {
    /// The answer in CommonMark.
    pub markdown: &'static str,
    /// The answer as HTML; raw HTML in the Markdown is removed.
    pub html: &'static str,
}

/// The answer of an entry as plain text, without code blocks.
#[derive(Debug)]
pub(crate) struct Prose {
    pub(crate) text: &'static str,
    /// The words, in order.
    pub(crate) words: &'static [ProseWord],
    /// The sentences, in order.
    pub(crate) sentences: &'static [Sentence],
}

/// A word of an entry's prose.
#[derive(Debug)]
pub(crate) struct ProseWord {
    /// The position in the prose, in bytes.
    pub(crate) start: u16,
    pub(crate) end: u16,
    /// Its index in `TERMS`.
    pub(crate) term: u16,
}

/// A sentence, list item or heading of an entry's prose.
#[derive(Debug)]
pub(crate) struct Sentence {
    /// The position in the prose, in bytes.
    pub(crate) start: u16,
    pub(crate) end: u16,
    /// The index in `words` of its first word, and of the one after its last.
    pub(crate) first_word: u16,
    pub(crate) end_word: u16,
}

/// A stem, and the entries it occurs in.
#[derive(Debug)]
pub(crate) struct Term {
    pub(crate) stem: &'static str,
    pub(crate) postings: &'static [Posting],
}

/// How often a term occurs in the fields of an entry: question, tags, answer.
#[derive(Debug)]
pub(crate) struct Posting {
    pub(crate) entry: u16,
    pub(crate) frequencies: [u16; 3],
}

/// A word as it is written in the entries, for correcting misspelt ones.
#[derive(Debug)]
pub(crate) struct Spelling {
    pub(crate) form: &'static str,
    /// The set of its letters and digits, one bit each.
    pub(crate) letters: u64,
    /// The number of entries in which it occurs.
    pub(crate) entries: u16,
}

/// Returns all entries, ordered by slug.
pub fn entries() -> &'static [Entry] {
    &ENTRIES
}

/// Returns all tags, sorted.
pub fn tags() -> &'static [&'static str] {
    &TAGS
}

impl Entry {
    pub fn answer(&self) -> &'static Answer {
        static NONE: Answer = Answer { markdown: "", html: "" };
        ANSWERS.get(usize::from(self.place)).unwrap_or(&NONE)
    }

    pub(crate) fn prose(&self) -> &'static Prose {
        static NONE: Prose = Prose { text: "", words: &[], sentences: &[] };
        PROSE.get(usize::from(self.place)).unwrap_or(&NONE)
    }
}

pub fn by_id(id: &str) -> Option<&'static Entry> {
    ENTRIES.iter().find(|entry| entry.id == id)
}

pub fn by_slug(slug: &str) -> Option<&'static Entry> {
    let place = ENTRIES.binary_search_by(|entry| entry.slug.cmp(slug)).ok()?;
    ENTRIES.get(place)
}

/// Returns the term of a stem, with its index in `TERMS`.
pub(crate) fn term(stem: &str) -> Option<(usize, &'static Term)> {
    let place = TERMS.binary_search_by(|term| term.stem.cmp(stem)).ok()?;
    Some((place, TERMS.get(place)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_found_by_id_and_by_slug() {
        for entry in entries() {
            assert_eq!(by_slug(entry.slug).map(|found| found.id), Some(entry.id));
            assert_eq!(by_id(entry.id).map(|found| found.slug), Some(entry.slug));
        }
        assert!(by_slug("no-such-entry").is_none());
        assert!(by_id("faq_00000000000000000000000000").is_none());
    }
}
