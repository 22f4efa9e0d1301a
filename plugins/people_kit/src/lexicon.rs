//! The words and phrases of a data file, and where a text has them.
//!
//! A file has a section for each language, `[de]`, with rows `label: term, term`. A term is one or
//! several words in their plain form; `*` at its end stands for any end of the last word, and `#`
//! for a number.

use crate::plain::{Word, words};
use std::collections::BTreeMap;

/// The beginnings of Arabic words that are words of their own: and, so, by, for, the.
const ARABIC_PREFIXES: &str = "وال بال لل ولل ال و ف ب ل";
/// The least letters of a term that ends in `*`.
const SHORTEST_STEM: usize = 2;
/// The most letters of such a term.
const LONGEST_STEM: usize = 24;
/// The numbers that `#` stands for: ages.
const AGES: std::ops::RangeInclusive<u16> = 10..=99;

/// A set of languages, one bit each in the order of the sections.
pub(crate) type Languages = u32;

/// The terms of data files, by their first word.
pub(crate) struct Lexicon {
    whole: BTreeMap<&'static str, Vec<Term>>,
    stems: BTreeMap<&'static str, Vec<Term>>,
}

struct Term {
    label: &'static str,
    language: Languages,
    rest: Vec<&'static str>,
    is_stem: bool,
}

/// A term that a text has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Found {
    pub(crate) label: &'static str,
    pub(crate) language: Languages,
    /// The number of words.
    pub(crate) length: usize,
}

impl Lexicon {
    /// Parses data files that have the same sections in the same order.
    pub(crate) fn parse(files: &[&'static str]) -> Self {
        let mut lexicon = Self { whole: BTreeMap::new(), stems: BTreeMap::new() };
        for file in files {
            let mut language = 0;
            for line in file.lines().filter(|line| !line.starts_with('#')) {
                if line.starts_with('[') {
                    language = if language == 0 { 1 } else { language << 1 };
                } else if let Some((label, terms)) = line.split_once(": ") {
                    terms.split(", ").for_each(|term| lexicon.add(label, language, term));
                }
            }
        }
        lexicon
    }

    fn add(&mut self, label: &'static str, language: Languages, written: &'static str) {
        let stem = written.strip_suffix('*');
        let mut parts = words_of_term(stem.unwrap_or(written)).into_iter();
        let Some(first) = parts.next() else { return };
        let term = Term { label, language, rest: parts.collect(), is_stem: stem.is_some() };
        let one = term.is_stem && term.rest.is_empty();
        let terms = if one { &mut self.stems } else { &mut self.whole };
        terms.entry(first).or_default().push(term);
    }

    /// Returns the terms that begin at a place among the words of a text.
    pub(crate) fn find<'a>(
        &'a self,
        text: &'a [Word<'a>],
        at: usize,
    ) -> impl Iterator<Item = Found> {
        let first = text.get(at).map_or("", |word| word.text);
        let after = text.get(at + 1..).unwrap_or_default();
        forms(first)
            .flat_map(move |form| {
                let stems =
                    form.char_indices().take(LONGEST_STEM).skip(SHORTEST_STEM - 1).filter_map(
                        move |(at, letter)| self.stems.get(form.get(..at + letter.len_utf8())?),
                    );
                let whole = self.whole.get(if is_age(form) { "#" } else { form });
                whole
                    .into_iter()
                    .chain(self.whole.get(form).filter(|_| is_age(form)))
                    .chain(stems)
                    .flatten()
            })
            .filter(move |term| term.continues(after))
            .map(|term| Found {
                label: term.label,
                language: term.language,
                length: term.rest.len() + 1,
            })
    }
}

impl Term {
    fn continues(&self, text: &[Word<'_>]) -> bool {
        text.len() >= self.rest.len()
            && self.rest.iter().zip(text).enumerate().all(|(place, (term, word))| {
                let is_last = place + 1 == self.rest.len();
                word.text == *term
                    || *term == "#" && is_age(word.text)
                    || self.is_stem && is_last && word.text.starts_with(term)
            })
    }
}

/// Returns the words of a term, of which `#` is one.
fn words_of_term(term: &'static str) -> Vec<&'static str> {
    let mut parts = Vec::new();
    for part in term.split(' ') {
        for piece in part.split_inclusive('#') {
            let letters = piece.trim_end_matches('#');
            parts.extend(
                words(letters).iter().filter_map(|word| letters.get(word.start..word.end())),
            );
            if letters.len() < piece.len() {
                parts.push("#");
            }
        }
    }
    parts
}

fn is_age(word: &str) -> bool {
    word.len() == 2 && word.parse().is_ok_and(|age| AGES.contains(&age))
}

/// Returns the word and, if it is Arabic, the words that are left without its prefixes.
fn forms(word: &str) -> impl Iterator<Item = &str> {
    let is_arabic = word.starts_with(|letter| ('\u{621}'..='\u{64a}').contains(&letter));
    let prefixes = ARABIC_PREFIXES.split(' ').filter(move |_| is_arabic);
    [word].into_iter().chain(prefixes.filter_map(move |prefix| word.strip_prefix(prefix)))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::plain::plain;

    const FILE: &str = "# comment\n[en]\nno: no, under #\n[zh]\nno: 不接受\n[de]\ngroup: ausland*, nicht alter als #\n[ar]\ngroup: اجانب";

    fn found(text: &str) -> Vec<(&'static str, Languages, usize)> {
        let text = plain(text);
        let (lexicon, words) = (Lexicon::parse(&[FILE]), words(&text));
        let all = (0..words.len()).flat_map(|at| lexicon.find(&words, at).collect::<Vec<_>>());
        all.map(|found| (found.label, found.language, found.length)).collect()
    }

    #[test]
    fn terms_are_found_with_their_language() {
        assert_eq!(found("No, under 30"), [("no", 1, 1), ("no", 1, 2)]);
        assert_eq!(found("under 300, northern"), []);
        assert_eq!(found("不 接受"), [("no", 2, 3)]);
        assert_eq!(found("Ausländer nicht älter als 40"), [("group", 4, 1), ("group", 4, 4)]);
        assert_eq!(found("للأجانب"), [("group", 8, 1)]);
    }

    /// Asserts that every term of a data file is in the form in which texts are searched.
    pub(crate) fn assert_terms_are_plain(file: &str) {
        for line in file.lines().filter(|line| !line.starts_with('#')) {
            let Some((_, terms)) = line.split_once(": ") else { continue };
            assert_eq!(terms, plain(terms), "{line}");
        }
    }
}
