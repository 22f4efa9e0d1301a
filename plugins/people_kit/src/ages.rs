//! Finds the ages that people state of themselves in their texts. The words of each language are in
//! `ages.txt`.

use crate::lexicon::{Found, Lexicon};
use crate::plain::{Word, plain, words};

const TERMS: &str = include_str!("ages.txt");
/// Signs that end a sentence or a part of it.
const ENDS: &[char] =
    &['.', ',', ';', ':', '!', '?', '\n', '(', ')', '|', '•', '。', '、', '،', '।', '؛', '؟'];

/// Returns the ages that the writer of a text states of themselves.
pub fn stated(text: &str) -> Vec<u64> {
    let plain = plain(text);
    let words = words(&plain);
    let lexicon = Lexicon::parse(&[TERMS]);
    let mut ages = Vec::new();
    for at in 0..words.len() {
        let is_stated = |term: &Found| match term.label {
            "age" => true,
            "bare" => is_closed(&plain, &words, &lexicon, at + term.length),
            _ => false,
        };
        let length = lexicon.find(&words, at).filter(is_stated).map(|term| term.length).max();
        let found = words.get(at..at + length.unwrap_or(0)).unwrap_or_default();
        ages.extend(found.iter().find_map(|word| word.text.parse::<u64>().ok()));
    }
    // A sentence can have the words of several phrases.
    ages.sort_unstable();
    ages.dedup();
    ages
}

/// Returns whether nothing that is counted or measured follows: the sentence or a part of it ends
/// before a word, or the word is one such as `and`.
fn is_closed(plain: &str, words: &[Word<'_>], lexicon: &Lexicon, next: usize) -> bool {
    let Some(word) = words.get(next) else { return true };
    let end = words.get(next - 1).map_or(0, Word::end);
    let gap = plain.get(end..word.start).unwrap_or_default();
    let is_number = word.text.bytes().all(|byte| byte.is_ascii_digit());
    let has = |label| lexicon.find(words, next).any(|term| term.label == label);
    gap.contains(ENDS) && !is_number || has("and") && !has("counted")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attempts::assert_lets_through;
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
            "私は２７歳です。",
            "J'ai 27 ans et de l'humour",
            "Tengo 27 años de edad y tres gatos",
            "Мне 27, живу у моря",
            "Ich bin 27, meine Schwester auch",
        ] {
            assert_eq!(stated(text), [27], "{text}");
        }
    }

    #[test]
    fn honest_texts_are_let_through() {
        assert_lets_through(|_, text| !stated(text).is_empty());
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
