//! Finds the ages that people state of themselves in their texts. The words of each language are in
//! `ages.txt`.

use crate::lexicon::Lexicon;
use crate::plain::{plain, words};

const TERMS: &str = include_str!("ages.txt");
/// Signs and words after a number that is no age.
const MEASURED: &str = "% m km kg cm h hours minutes minuten stunden min std euro eur usd weeks months \
    days";

/// Returns the ages that the writer of a text states of themselves.
pub fn stated(text: &str) -> Vec<u64> {
    let plain = plain(text);
    let words = words(&plain);
    let lexicon = Lexicon::parse(TERMS);
    let mut ages = Vec::new();
    for at in 0..words.len() {
        let longest = lexicon.find(&words, at).map(|found| found.length).max();
        let after = longest.and_then(|length| words.get(at + length));
        if after.is_some_and(|word| MEASURED.split_whitespace().any(|unit| unit == word.text)) {
            continue;
        }
        let found = words.get(at..at + longest.unwrap_or(0)).unwrap_or_default();
        ages.extend(found.iter().find_map(|word| word.text.parse::<u64>().ok()));
    }
    // A sentence can have the words of several phrases.
    ages.sort_unstable();
    ages.dedup();
    ages
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexicon::tests::assert_terms_are_plain;

    #[test]
    fn the_terms_are_plain() {
        assert_terms_are_plain(TERMS);
    }

    #[test]
    fn ages_are_found_in_many_languages() {
        for text in [
            "I'm 27 years old and like to sail.",
            "I am a 27-year-old baker.",
            "Ich bin 27 und segle gern.",
            "Tengo 27 años.",
            "J’ai 27 ans.",
            "Tenho 27 anos.",
            "Ho 27 anni.",
            "Мне 27 лет.",
            "عمري ٢٧ عاما",
            "मैं २७ साल की हूँ",
            "我今年27岁",
            "２７歳です。",
        ] {
            assert_eq!(stated(text), [27], "{text}");
        }
    }

    #[test]
    fn other_numbers_are_no_ages_of_the_writer() {
        for text in [
            "I look for somebody up to 40 years old.",
            "Ich bin 30 Minuten vom Meer entfernt.",
            "My dog is 12, the house 90 years old.",
            "Busco a alguien de 30 a 40 años.",
            "30歳から40歳までの方",
            "I am 3 km away.",
        ] {
            assert_eq!(stated(text), Vec::<u64>::new(), "{text}");
        }
    }
}
