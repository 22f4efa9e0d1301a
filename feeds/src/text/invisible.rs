//! Characters that nobody sees: they hide contact data from programs, change the direction of writing, or are
//! instructions that only programs read.

use std::borrow::Cow;

/// Unicode's ignorable characters, its format characters, and letters and signs that are blank.
const INVISIBLE: [(char, char); 23] = [
    ('\u{ad}', '\u{ad}'),
    ('\u{34f}', '\u{34f}'),
    ('\u{61c}', '\u{61c}'),
    ('\u{115f}', '\u{1160}'),
    ('\u{17b4}', '\u{17b5}'),
    ('\u{180b}', '\u{180f}'),
    ('\u{200b}', '\u{200f}'),
    ('\u{202a}', '\u{202e}'),
    ('\u{2060}', '\u{206f}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{fe00}', '\u{fe0f}'),
    ('\u{feff}', '\u{feff}'),
    ('\u{ffa0}', '\u{ffa0}'),
    ('\u{fff0}', '\u{fffb}'),
    ('\u{110bd}', '\u{110bd}'),
    ('\u{110cd}', '\u{110cd}'),
    ('\u{13430}', '\u{1343f}'),
    ('\u{16fe4}', '\u{16fe4}'),
    ('\u{1bca0}', '\u{1bca3}'),
    ('\u{1d159}', '\u{1d159}'),
    ('\u{1d173}', '\u{1d17a}'),
    ('\u{e0000}', '\u{e0fff}'),
];
/// The joiners, without which some scripts and pictures of several parts are not what they were.
const JOINERS: [char; 2] = ['\u{200c}', '\u{200d}'];
/// The selectors of a picture's style.
const STYLES: [char; 2] = ['\u{fe0e}', '\u{fe0f}'];

/// Returns whether nobody sees this character, or it changes the order in which others are shown.
pub fn is_invisible(character: char) -> bool {
    let is_in = |(first, last): &(char, char)| (*first..=*last).contains(&character);
    !character.is_ascii() && INVISIBLE.iter().any(is_in)
}

fn is_picture(character: char) -> bool {
    matches!(character, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
        && !is_invisible(character)
}

/// Returns whether a letter is of a script that has joiners between letters: Arabic, those of India, Khmer.
fn joins(character: char) -> bool {
    matches!(character, '\u{600}'..='\u{18af}') && !is_invisible(character)
}

/// Returns whether an invisible character belongs to the ones around it.
fn belongs(character: char, before: Option<char>, after: Option<char>) -> bool {
    let (Some(before), Some(after)) = (before, after) else {
        return STYLES.contains(&character) && before.is_some_and(is_picture);
    };
    let is_styled = is_picture(before) || STYLES.contains(&before);
    match JOINERS.contains(&character) {
        true => (is_styled && is_picture(after)) || (joins(before) && joins(after)),
        false => STYLES.contains(&character) && is_picture(before),
    }
}

/// Returns the first character of a text that nobody sees.
pub fn hidden_in(text: &str) -> Option<char> {
    let is_plain = |byte: u8| (0x20..0x7f).contains(&byte) || matches!(byte, b'\n' | b'\t' | b'\r');
    if text.bytes().all(is_plain) {
        return None;
    }
    let mut before = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        let is_hidden = (is_invisible(character)
            && !belongs(character, before, characters.peek().copied()))
            || (character.is_control() && !matches!(character, '\n' | '\t' | '\r'));
        if is_hidden {
            return Some(character);
        }
        before = Some(character);
    }
    None
}

/// Removes what nobody sees, and other control characters than ends of lines and tabs.
pub fn visible(text: &str) -> Cow<'_, str> {
    if hidden_in(text).is_none() {
        return Cow::Borrowed(text);
    }
    let mut kept = String::with_capacity(text.len());
    let mut before = None;
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        // What stands after a removed one decides whether a joiner belongs.
        let is_kept = match character {
            '\n' | '\t' | '\r' => true,
            _ if character.is_control() => false,
            _ if is_invisible(character) => belongs(character, before, characters.peek().copied()),
            _ => true,
        };
        if is_kept {
            kept.push(character);
            before = Some(character);
        }
    }
    Cow::Owned(kept)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_nobody_sees_is_removed_and_what_belongs_to_letters_stays() {
        for hidden in [
            "jo\u{fe0f}@copperleaf",
            "jo@\u{34f}copperleaf",
            "jo\u{e0020}@copperleaf",
            "jo\u{200b}@\u{200d}copper\u{2060}leaf",
            "\u{202e}jo@copperleaf\u{202c}",
            "jo@copper\u{61c}\u{180e}leaf",
            "j\u{0}o@copperleaf\u{e0041}\u{e007e}\u{3164}\u{115f}",
        ] {
            assert!(hidden_in(hidden).is_some(), "{hidden:?}");
            assert_eq!(visible(hidden), "jo@copperleaf", "{hidden:?}");
        }
        for whole in [
            "plain text\nin two lines",
            "café – 東京 – مرحبا",
            "\u{645}\u{6cc}\u{200c}\u{62e}\u{648}\u{627}\u{647}\u{645}",
            "\u{915}\u{94d}\u{200d}\u{937}",
            "\u{1f469}\u{200d}\u{1f4bb} \u{2764}\u{fe0f}",
        ] {
            assert_eq!((visible(whole).as_ref(), hidden_in(whole)), (whole, None));
        }
    }

    proptest! {
        #[test]
        fn nothing_hidden_is_left(text in "[a@\u{200b}\u{200c}\u{200d}\u{fe0f}\u{1f469}\u{2764}\u{645}\u{202e}\u{e0041}\n]{0,12}") {
            let shown = visible(&text).into_owned();
            prop_assert_eq!(hidden_in(&shown), None);
        }
    }
}
