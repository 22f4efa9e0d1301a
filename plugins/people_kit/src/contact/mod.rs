//! Finds contact data in public texts: e-mail addresses, phone numbers, and accounts of messengers,
//! plain or disguised. The words of each language are in `terms.txt`.

mod address;
mod phone;
mod runs;
mod services;
mod spelled;

use crate::lexicon::{Found, Lexicon};
use crate::plain::{Word, plain, words};
use portolan_names::is_invisible;
use std::sync::OnceLock;

/// So many invisible characters between digits are a disguise.
const MOST_HIDDEN: usize = 4;
const TERMS: &str = include_str!("terms.txt");

/// Returns whether the text contains an e-mail address, a phone number, or an account of a messenger.
pub fn has_contact_data(text: &str) -> bool {
    if has_hidden_number(text) {
        return true;
    }
    let plain = plain(text);
    let text = Text::new(&plain);
    address::has_email(&text)
        || phone::has_phone(&text)
        || spelled::has_number(&text)
        || services::has_account(&text)
}

/// Returns whether invisible characters separate many digits, as only a disguise does.
fn has_hidden_number(text: &str) -> bool {
    let (mut hidden, mut before, mut is_apart) = (0, ' ', false);
    for letter in text.chars() {
        if is_invisible(letter) && !letter.is_whitespace() {
            is_apart = true;
            continue;
        }
        hidden += usize::from(is_apart && before.is_numeric() && letter.is_numeric());
        (before, is_apart) = (letter, false);
    }
    hidden >= MOST_HIDDEN
}

/// A text in plain form with its words and the terms that begin at each word.
struct Text<'a> {
    plain: &'a str,
    words: Vec<Word<'a>>,
    terms: Vec<Vec<Found>>,
}

impl<'a> Text<'a> {
    fn new(plain: &'a str) -> Self {
        static LEXICON: OnceLock<Lexicon> = OnceLock::new();
        let lexicon = LEXICON.get_or_init(|| Lexicon::parse(TERMS));
        let words = words(plain);
        let terms = (0..words.len()).map(|at| lexicon.find(&words, at).collect()).collect();
        Self { plain, words, terms }
    }

    /// Returns the longest term with one of the labels that begins at a word.
    fn term(&self, at: usize, labels: &[&str]) -> Option<Found> {
        let terms = self.terms.get(at)?.iter().filter(|found| labels.contains(&found.label));
        terms.copied().max_by_key(|found| found.length)
    }

    /// Returns the text between a word and the word before it.
    fn gap(&self, at: usize) -> &'a str {
        let start =
            at.checked_sub(1).and_then(|before| self.words.get(before)).map_or(0, Word::end);
        let end = self.words.get(at).map_or(self.plain.len(), |word| word.start);
        self.plain.get(start..end).unwrap_or_default()
    }

    /// Returns whether a term with one of the labels begins among these words.
    fn has_term(&self, mut places: std::ops::Range<usize>, labels: &[&str]) -> bool {
        places.any(|at| self.term(at, labels).is_some())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempts::{Shares, innocent_listings, measure};
    use crate::lexicon::tests::assert_terms_are_plain;

    /// Returns the lines of a file, without its comments.
    fn texts(file: &'static str) -> impl Iterator<Item = &'static str> {
        file.lines().filter(|line| !line.starts_with('#'))
    }

    #[test]
    fn the_terms_are_plain() {
        assert_terms_are_plain(TERMS);
    }

    #[test]
    fn addresses_are_found() {
        for text in [
            "write to ada@example.com",
            "ada @ example . com, ada+x@example.co.uk",
            "Ada (at) example [dot] com",
            "ada\u{ff20}example.com",
        ] {
            assert!(has_contact_data(text), "{text}");
        }
    }

    #[test]
    fn numbers_are_found_however_they_are_written() {
        for text in texts(include_str!("numbers.txt")) {
            assert!(has_contact_data(text), "{text}");
        }
    }

    #[test]
    fn other_texts_are_let_through() {
        for text in texts(include_str!("others.txt")) {
            assert!(!has_contact_data(text), "{text}");
        }
    }

    #[test]
    fn the_listings_of_the_matching_corpus_are_let_through() {
        for (_, text) in innocent_listings() {
            assert!(!has_contact_data(&text), "{text}");
        }
    }

    #[test]
    fn attempts_of_many_languages_are_found() {
        let corpus = include_str!("../../../../tests/corpora/attempts/contact.json");
        let limits = Shares { recall: 90.0, false_alarms: 5.0 };
        let [held_out, fresh] = measure(corpus, limits, |text| has_contact_data(&text.text));
        assert!(held_out.recall >= 90.0 && held_out.false_alarms <= 5.0, "{held_out}");
        assert!(fresh.recall >= 90.0 && fresh.false_alarms <= 5.0, "{fresh}");
    }
}
