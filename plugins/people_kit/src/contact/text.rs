//! A text in the form in which contact data is looked for.

use crate::lexicon::{Found, Lexicon};
use crate::plain::{Word, words};
use std::sync::OnceLock;

pub(super) const TERMS: &str = include_str!("terms.txt");

/// A text in plain form with its words and the terms that begin at each word.
pub(super) struct Text<'a> {
    pub(super) plain: &'a str,
    pub(super) words: Vec<Word<'a>>,
    pub(super) terms: Vec<Vec<Found>>,
}

impl<'a> Text<'a> {
    pub(super) fn new(plain: &'a str) -> Self {
        static LEXICON: OnceLock<Lexicon> = OnceLock::new();
        let lexicon = LEXICON.get_or_init(|| Lexicon::parse(&[TERMS]));
        let words = words(plain);
        let terms = (0..words.len()).map(|at| lexicon.find(&words, at).collect()).collect();
        Self { plain, words, terms }
    }

    /// Returns the longest term with one of the labels that begins at a word.
    pub(super) fn term(&self, at: usize, labels: &[&str]) -> Option<Found> {
        let terms = self.terms.get(at)?.iter().filter(|found| labels.contains(&found.label));
        terms.copied().max_by_key(|found| found.length)
    }

    /// Returns the text between a word and the word before it.
    pub(super) fn gap(&self, at: usize) -> &'a str {
        let start =
            at.checked_sub(1).and_then(|before| self.words.get(before)).map_or(0, Word::end);
        let end = self.words.get(at).map_or(self.plain.len(), |word| word.start);
        self.plain.get(start..end).unwrap_or_default()
    }

    /// Returns whether a term with one of the labels begins among these words.
    pub(super) fn has_term(&self, mut places: std::ops::Range<usize>, labels: &[&str]) -> bool {
        places.any(|at| self.term(at, labels).is_some())
    }
}
