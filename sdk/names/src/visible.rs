//! Characters that cannot be seen, and the places where a text needs them.

use icu_properties::{
    CodePointMapData, CodePointSetData,
    props::{DefaultIgnorableCodePoint, ExtendedPictographic, GeneralCategory},
};
use unicode_script::{Script, UnicodeScript as _};

/// Symbols and marks that are drawn as nothing, although Unicode does not say so: the braille
/// pattern without dots, the object replacement character, the Khitan filler, the null note head.
const BLANKS: [char; 4] = ['\u{2800}', '\u{fffc}', '\u{16fe4}', '\u{1d159}'];

const NON_JOINER: char = '\u{200c}';
const JOINER: char = '\u{200d}';
const EMOJI_PRESENTATION: char = '\u{fe0f}';
const KEYCAP: char = '\u{20e3}';
const SKIN_TONES: std::ops::RangeInclusive<char> = '\u{1f3fb}'..='\u{1f3ff}';

/// The scripts in which joiners between letters change how these are written (UAX #31, section 2.3).
const JOINED_SCRIPTS: [Script; 16] = [
    Script::Arabic,
    Script::Bengali,
    Script::Devanagari,
    Script::Gujarati,
    Script::Gurmukhi,
    Script::Kannada,
    Script::Khmer,
    Script::Malayalam,
    Script::Mongolian,
    Script::Myanmar,
    Script::Nko,
    Script::Oriya,
    Script::Sinhala,
    Script::Syriac,
    Script::Tamil,
    Script::Telugu,
];

/// Returns whether a character is invisible. Some invisible characters reverse the direction of a
/// text.
pub fn is_invisible(letter: char) -> bool {
    use GeneralCategory::{Control, Format, LineSeparator, ParagraphSeparator};
    let category = CodePointMapData::<GeneralCategory>::new().get(letter);
    matches!(category, Control | Format | LineSeparator | ParagraphSeparator)
        || CodePointSetData::new::<DefaultIgnorableCodePoint>().contains(letter)
        || BLANKS.contains(&letter)
}

/// Returns the first invisible character that the text does not need. It needs joiners between
/// letters of some scripts, and joiners and variation selectors inside emoji.
pub fn find_invisible(text: &str) -> Option<char> {
    let mut before = None;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        if is_invisible(letter) && !is_needed(before, letter, letters.peek().copied()) {
            return Some(letter);
        }
        before = Some(letter);
    }
    None
}

/// Returns whether the text needs an invisible character between these two.
fn is_needed(before: Option<char>, letter: char, after: Option<char>) -> bool {
    let Some(before) = before else { return false };
    match (letter, after) {
        (NON_JOINER, Some(after)) => are_joined(before, after),
        (JOINER, Some(after)) => are_joined(before, after) || are_one_emoji(before, after),
        (EMOJI_PRESENTATION, Some(KEYCAP)) => matches!(before, '0'..='9' | '#' | '*'),
        (EMOJI_PRESENTATION, _) => is_pictographic(before),
        _ => false,
    }
}

fn are_joined(before: char, after: char) -> bool {
    let has = |letter: char, script: Script| {
        let scripts = letter.script_extension();
        let is_neutral = scripts.is_common() || scripts.is_inherited();
        !is_neutral && scripts.contains_script(script)
    };
    JOINED_SCRIPTS.iter().any(|script| has(before, *script) && has(after, *script))
}

/// Returns whether a joiner makes one emoji of these two (UTS #51, section 1.4.8).
fn are_one_emoji(before: char, after: char) -> bool {
    let ends_emoji = before == EMOJI_PRESENTATION || SKIN_TONES.contains(&before);
    (ends_emoji || is_pictographic(before)) && is_pictographic(after)
}

fn is_pictographic(letter: char) -> bool {
    CodePointSetData::new::<ExtendedPictographic>().contains(letter)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invisible_characters_are_known() {
        assert!(
            "\u{202e}\u{200b}\u{2066}\u{feff}\n\u{9b}\u{3164}\u{2800}".chars().all(is_invisible)
        );
        assert!(!"Añ日 🌧".chars().any(is_invisible));
    }

    #[test]
    fn joiners_and_selectors_stand_where_a_text_needs_them() {
        for (text, found) in [
            ("می\u{200c}خواهم", None),
            ("क्\u{200d}ष", None),
            ("a\u{200d}b", Some(JOINER)),
            ("می\u{200c}", Some(NON_JOINER)),
            ("می\u{200c} x", Some(NON_JOINER)),
            ("1\u{200c}2", Some(NON_JOINER)),
            ("👩🏽\u{200d}💻", None),
            ("🏳\u{fe0f}\u{200d}🌈", None),
            ("💻\u{200d}", Some(JOINER)),
            ("💻\u{200d}a", Some(JOINER)),
            ("1\u{fe0f}\u{20e3}", None),
            ("1\u{fe0f}", Some(EMOJI_PRESENTATION)),
            ("a\u{fe0f}", Some(EMOJI_PRESENTATION)),
            ("❤\u{fe0f}\u{fe0f}", Some(EMOJI_PRESENTATION)),
        ] {
            assert_eq!(find_invisible(text), found, "{text:?}");
        }
    }
}
