//! Turns text into index terms, in the same way for the index and for a query.

use snowball_stemmers_rs::{Algorithm, Stemmer};
use std::ops::Range;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// A word of a text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Word {
    /// Its position, in bytes of the text.
    pub(crate) range: Range<usize>,
    /// Its form in Unicode normal form KC and lower case, without apostrophes.
    pub(crate) form: String,
}

/// Returns the words of a text in order. Identifiers such as `client_id` give one word per part.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut start = None;
    for (at, character) in text.char_indices() {
        let inside = character.is_alphanumeric() || is_combining_mark(character);
        match start {
            None if inside => start = Some(at),
            Some(first) if !inside && !joins(text, at, character) => {
                words.extend(word(text, first..at));
                start = None;
            }
            _ => {}
        }
    }
    words.extend(start.and_then(|first| word(text, first..text.len())));
    words
}

/// Whether this apostrophe between letters belongs to the word: `person's`, `don’t`.
fn joins(text: &str, at: usize, character: char) -> bool {
    let after = text.get(at + character.len_utf8()..).and_then(|rest| rest.chars().next());
    matches!(character, '\'' | '’') && after.is_some_and(char::is_alphanumeric)
}

fn word(text: &str, range: Range<usize>) -> Option<Word> {
    let written = text.get(range.clone())?;
    let form: String = written
        .nfkc()
        .flat_map(char::to_lowercase)
        .filter(|character| !matches!(character, '\'' | '’'))
        .collect();
    (!form.is_empty()).then_some(Word { range, form })
}

/// Returns the stem of a word, which all its inflections share (the Snowball stemmer for English).
pub(crate) fn stem(form: &str) -> String {
    Stemmer::create(Algorithm::English).stem(form).into_owned()
}

/// Whether the word is too common to search for, unless the query has no other words.
pub(crate) fn is_stop_word(form: &str) -> bool {
    STOP_WORDS.split_whitespace().any(|word| word == form)
}

/// Words that are too common to search for. Question words and auxiliaries are among them, because
/// queries here are questions.
const STOP_WORDS: &str = include_str!("stop_words.txt");

/// Returns the set of a word's letters as bits, which is a cheap bound on the similarity of two words:
/// one bit for each of a to z and 0 to 9, and one for everything else.
pub(crate) fn letters(form: &str) -> u64 {
    form.chars().fold(0, |set, character| {
        let bit = match character {
            'a'..='z' => character as u32 - 'a' as u32,
            '0'..='9' => 26 + character as u32 - '0' as u32,
            _ => 36,
        };
        set | 1 << bit
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.form).collect()
    }

    #[test]
    fn words_are_normalised_and_identifiers_split() {
        assert_eq!(forms("Why phone_binding_required?"), ["why", "phone", "binding", "required"]);
        assert_eq!(forms("ＡＰＩ ﬁelds Cafe\u{301}"), ["api", "fields", "café"]);
        assert_eq!(
            forms("I don’t know a person's 'name'"),
            ["i", "dont", "know", "a", "persons", "name"]
        );
        assert!(forms(" ?! … ' ").is_empty());
    }

    #[test]
    fn ranges_point_into_the_text() {
        let text = "Ünder «Wörter», ok";
        let written: Vec<_> =
            words(text).into_iter().map(|word| text.get(word.range).unwrap_or("?")).collect();
        assert_eq!(written, ["Ünder", "Wörter", "ok"]);
    }

    #[test]
    fn inflections_share_a_term() {
        assert_eq!(stem("listings"), stem("listing"));
        assert_eq!(stem("erased"), stem("erasing"));
        assert_ne!(stem("code"), stem("credit"));
    }

    #[test]
    fn stop_words_are_known() {
        assert!(is_stop_word("the") && !is_stop_word("phone"));
    }
}
