//! Splits text into the words of the index, the same way for documents and for queries.

use snowball_stemmers_rs::{Algorithm, Stemmer};
use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// The longest word, in bytes; what is longer is cut.
const MAX_WORD: usize = 64;

/// Returns the words of a text in their order: in normal form KC and lower case, without diacritics
/// or English inflections.
pub fn words(text: &str) -> Vec<String> {
    let folded: String = text
        .nfkc()
        .flat_map(char::to_lowercase)
        .nfd()
        .filter(|&character| !is_combining_mark(character))
        // Without composition, a Korean syllable would be up to three characters.
        .nfc()
        .collect();
    let stemmer = Stemmer::create(Algorithm::English);
    folded
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(|word| cut(&stemmer.stem(cut(word))).to_owned())
        .collect()
}

fn cut(word: &str) -> &str {
    word.get(..word.floor_char_boundary(MAX_WORD)).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn spelling_case_and_inflection_do_not_matter() {
        assert_eq!(words("Flats, two FLAT houses"), ["flat", "two", "flat", "hous"]);
        assert_eq!(words("Café cafe\u{301} ＣＡＦＥ"), ["cafe", "cafe", "cafe"]);
        assert_eq!(words("ﬁelds İzmir x²"), ["field", "izmir", "x2"]);
        assert_eq!(words("phone_binding-2"), ["phone", "bind", "2"]);
        assert_eq!(
            words("한국 東京 Київ"),
            ["한국", "東京", "київ"].map(|word| words(word).concat())
        );
        assert!(words(" ?! … ' ").is_empty());
    }

    #[test]
    fn long_words_are_cut_at_a_character() {
        assert_eq!(words(&"x".repeat(100)), ["x".repeat(64)]);
        assert_eq!(words(&"ß".repeat(100)), ["ß".repeat(32)]);
        assert_eq!(words(&"東".repeat(100)), ["東".repeat(21)]);
    }

    proptest! {
        #[test]
        fn any_text_has_words_of_bounded_length(text in any::<String>()) {
            for word in words(&text) {
                prop_assert!(!word.is_empty() && word.len() <= MAX_WORD);
            }
        }

        #[test]
        fn composed_and_decomposed_text_is_the_same(text in any::<String>()) {
            let (composed, decomposed): (String, String) = (text.nfc().collect(), text.nfd().collect());
            prop_assert_eq!(words(&composed), words(&decomposed));
        }

        #[test]
        fn english_words_are_never_empty(text in "[a-z]{1,12}") {
            prop_assert_eq!(words(&text).len(), 1);
            prop_assert!(!words(&text).concat().is_empty());
        }
    }
}
