//! The terms under which a text is indexed.

use crate::{
    language::{Detected, detect},
    tokens::{Token, tokens},
};
use unicode_script::Script;

/// Returns the terms of each field of a document in their order. Its texts are in one language, which all of them
/// tell together.
pub fn terms(fields: &[Vec<&str>]) -> Vec<Vec<String>> {
    let fields: Vec<Vec<Token>> =
        fields.iter().map(|texts| texts.iter().flat_map(|text| tokens(text)).collect()).collect();
    let detected = detect(fields.iter().flatten());
    fields
        .iter()
        .map(|tokens| tokens.iter().flat_map(|token| terms_of(token, detected)).collect())
        .collect()
}

/// Returns the terms of a word or a run. A word gives its stems. A run of a script without spaces gives each pair of
/// adjacent characters, and of Chinese and Japanese also each ideograph, because a single one can be a word.
fn terms_of(token: &Token, detected: Detected) -> Vec<String> {
    match token {
        Token::Word(word) => detected.stems(word),
        Token::Run { script, characters } => {
            let is_single = *script == Script::Han || characters.len() == 1;
            let single = characters.iter().filter(|_| is_single).map(char::to_string);
            single.chain(pairs(characters)).collect()
        }
    }
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

    fn of(text: &str) -> Vec<String> {
        terms(&[vec![text]]).concat()
    }

    #[test]
    fn spelling_case_and_inflection_do_not_matter() {
        assert_eq!(of("The flats, a FLAT"), ["the", "flat", "a", "flat"]);
        assert_eq!(of("the café cafe\u{301} ＣＡＦＥ"), ["the", "cafe", "cafe", "cafe"]);
        assert_eq!(of("the ﬁelds x²"), ["the", "field", "x2"]);
    }

    #[test]
    fn a_document_without_stop_words_has_the_stems_of_each_language() {
        let terms = of("Wohnungen Berlin");
        assert!(["wohnung", "wohnungen"].iter().all(|stem| terms.contains(&(*stem).to_owned())));
    }

    #[test]
    fn the_fields_of_a_document_tell_its_language_together() {
        let fields = terms(&[vec!["Helle Wohnungen"], vec!["in der Stadt", "und auf dem Land"]]);
        assert_eq!(fields.first().unwrap(), &["hell", "wohnung"]);
        assert_eq!(fields.get(1).unwrap().len(), 7);
    }

    #[test]
    fn scripts_without_spaces_are_indexed_by_pairs() {
        assert_eq!(of("東京の"), ["東", "京", "東京", "の"]);
        assert_eq!(of("かわいい"), ["かわ", "わい", "いい"]);
    }

    proptest! {
        #[test]
        fn any_text_has_terms_of_bounded_length(text in any::<String>()) {
            for term in of(&text) {
                prop_assert!(!term.is_empty() && term.len() <= 64, "{term:?}");
            }
        }

        #[test]
        fn composed_and_decomposed_text_is_the_same(text in any::<String>()) {
            let (composed, decomposed): (String, String) = (text.nfc().collect(), text.nfd().collect());
            prop_assert_eq!(of(&composed), of(&decomposed));
        }
    }
}
