//! Words that only the operator may use, however they are spelled: with letters of other scripts
//! that look alike, with digits, accents or ornaments, and with something between their parts.

use crate::{
    table::rows,
    words::{is_mark, words},
};
use unicode_normalization::UnicodeNormalization as _;
use unicode_security::skeleton;

const PRIVILEGED_WORDS: &str = include_str!("privileged_words.txt");

/// Letters and digits that are written for a letter, and that Unicode's table of confusables keeps
/// apart.
const SUBSTITUTES: [(char, char); 5] = [('3', 'e'), ('4', 'a'), ('5', 's'), ('7', 't'), ('i', 'l')];

/// The first letters of alphabets that Unicode does not decompose to A to Z: negative circled,
/// negative squared, and regional indicators.
const ORNAMENTED_ALPHABETS: [char; 3] = ['\u{1f150}', '\u{1f170}', '\u{1f1e6}'];

/// Returns a privileged word that the text has: as a word, or as several that are spelled apart, as
/// in "Help Desk".
pub(crate) fn find(text: &str) -> Option<&'static str> {
    let form = form(text);
    let words: Vec<&str> = words(&form).collect();
    rows(PRIVILEGED_WORDS).find(|word| is_spelled(&words, &self::form(word)))
}

/// Returns whether some consecutive words, joined without spaces, are `wanted`.
fn is_spelled(words: &[&str], wanted: &str) -> bool {
    (0..words.len()).any(|first| {
        let mut rest = Some(wanted);
        for word in words.iter().skip(first) {
            rest = rest.and_then(|rest| rest.strip_prefix(word));
            match rest {
                Some("") => return true,
                Some(_) => {}
                None => return false,
            }
        }
        false
    })
}

/// Returns the form that texts which look alike have in common: their skeleton (UTS #39, section 4)
/// without case and marks. The skeleton is taken again of the small letters, because `m` and `M`
/// have different ones.
fn form(text: &str) -> String {
    let plain: String = text.nfkc().map(without_ornament).collect();
    let lower: String = skeleton(&plain).flat_map(char::to_lowercase).collect();
    let lower: Vec<char> = skeleton(&lower).flat_map(char::to_lowercase).collect();
    let is_shown = |letter: &char| !is_mark(*letter);
    lower.into_iter().filter(is_shown).map(without_substitute).collect()
}

fn without_ornament(letter: char) -> char {
    let place = ORNAMENTED_ALPHABETS
        .iter()
        .filter_map(|first| u32::from(letter).checked_sub(u32::from(*first)))
        .find_map(|place| u8::try_from(place).ok().filter(|place| *place < 26));
    place.map_or(letter, |place| char::from(b'A' + place))
}

fn without_substitute(letter: char) -> char {
    let substitute = SUBSTITUTES.iter().find(|(written, _)| *written == letter);
    substitute.map_or(letter, |(_, meant)| *meant)
}
