//! Whether a text has a word at all. Capabilities ask this before they search, so it needs neither stop words nor
//! stems.

use unicode_normalization::char::is_combining_mark;

/// Returns whether a text has a word that can be searched for: a letter or a digit. A symbol that stands for letters,
/// such as `℃`, does not count, although it is searched as these letters beside other words.
pub fn has_words(text: &str) -> bool {
    text.chars().any(is_letter)
}

/// Returns whether a character alone is a word in normal form KC.
fn is_letter(character: char) -> bool {
    character.is_alphanumeric() && !is_combining_mark(character) && !is_spaced_mark(character)
}

/// Returns whether a letter is only a combining mark in normal form KC, perhaps after a space.
fn is_spaced_mark(character: char) -> bool {
    matches!(
        character,
        '\u{37a}' | '\u{fc5e}'..='\u{fc63}' | '\u{fe70}'..='\u{fe7f}' | '\u{ff9e}'..='\u{ff9f}'
    )
}

#[cfg(all(test, feature = "stems"))]
mod tests {
    use super::*;
    use crate::{tokens::tokens, words};
    use proptest::prelude::*;

    #[test]
    fn letters_and_digits_of_any_script_are_words() {
        for text in ["a", "7", "---x", "東", "ア", "ñ", "कमरा", "서", "½", "C++"] {
            assert!(has_words(text), "{text}");
        }
        for text in ["", " ", "---", "😀", "\u{301}", "ा", "\u{ff9e}", "\u{37a}", "\"*\"", "℃"]
        {
            assert!(!has_words(text), "{text}");
        }
    }

    #[test]
    fn each_letter_is_a_word_of_a_search() {
        for letter in ('\0'..=char::MAX).filter(|letter| is_letter(*letter)) {
            assert!(!tokens(letter.encode_utf8(&mut [0; 4])).is_empty(), "{letter:?}");
        }
    }

    proptest! {
        #[test]
        fn a_text_with_a_letter_has_words_to_search_for(text in any::<String>()) {
            prop_assert!(!has_words(&text) || !words(&text).is_empty());
        }
    }
}
