//! The terms under which a text is indexed.

use crate::{
    Language,
    tokens::{Token, tokens},
};
use unicode_script::Script;

/// Returns the terms of a text in their order. A word gives its stems in the language. A run of a script
/// without spaces gives each pair of adjacent characters, and of Chinese and Japanese also each
/// ideograph, because a single one can be a word.
pub fn terms(text: &str, language: Language) -> Vec<String> {
    let mut terms = Vec::new();
    for token in tokens(text) {
        match token {
            Token::Word(word) => terms.extend(language.stems(&word)),
            Token::Run { script, characters } => {
                if script == Script::Han || characters.len() == 1 {
                    terms.extend(characters.iter().map(char::to_string));
                }
                terms.extend(pairs(&characters));
            }
        }
    }
    terms
}

/// Returns the pairs of adjacent characters.
pub(crate) fn pairs(characters: &[char]) -> impl Iterator<Item = String> {
    characters.windows(2).map(|pair| pair.iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use unicode_normalization::UnicodeNormalization as _;

    fn english(text: &str) -> Vec<String> {
        terms(text, Language::English)
    }

    #[test]
    fn spelling_case_and_inflection_do_not_matter() {
        assert_eq!(english("Flats, two FLAT houses"), ["flat", "two", "flat", "hous"]);
        assert_eq!(english("Café cafe\u{301} ＣＡＦＥ"), ["cafe", "cafe", "cafe"]);
        assert_eq!(english("ﬁelds x²"), ["field", "x2"]);
    }

    #[test]
    fn scripts_without_spaces_are_indexed_by_pairs() {
        assert_eq!(english("東京の"), ["東", "京", "東京", "の"]);
        assert_eq!(english("かわいい"), ["かわ", "わい", "いい"]);
    }

    proptest! {
        #[test]
        fn any_text_has_terms_of_bounded_length(text in any::<String>()) {
            for term in terms(&text, Language::of(&[&text])) {
                prop_assert!(!term.is_empty() && term.len() <= 64, "{term:?}");
            }
        }

        #[test]
        fn composed_and_decomposed_text_is_the_same(text in any::<String>()) {
            let (composed, decomposed): (String, String) = (text.nfc().collect(), text.nfd().collect());
            prop_assert_eq!(english(&composed), english(&decomposed));
        }
    }
}
