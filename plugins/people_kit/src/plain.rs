//! The plain form of texts, in which filters look for words: without the ways in which letters and
//! digits are disguised.

use portolan_names::is_invisible;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

use crate::words::is_cjk;
use std::ops::RangeInclusive;

/// The zeros of the decimal digits of other scripts, of which the nine other digits follow.
const ZEROS: [u32; 18] = [
    0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50,
    0xed0, 0xf20, 0x1040, 0x17e0, 0x1810,
];
/// The alphabets whose letters look like Latin ones: Greek, Cyrillic, Armenian.
const FOREIGN: RangeInclusive<char> = '\u{370}'..='\u{58f}';
/// The Latin letters, each with the small letters of these alphabets that look like it: the part of
/// Unicode's table of confusables (UTS #39) that words need. The whole table is ten times as large as
/// everything else here.
const LOOKALIKES: &str = include_str!("lookalikes.txt");

/// Returns a text in Unicode normal form KD and lower case, without invisible characters and the
/// marks that writers leave out, with decimal digits in ASCII, and with Latin letters instead of
/// those of other alphabets that are mixed into Latin words.
pub(crate) fn plain(text: &str) -> String {
    // The normal form would make a word of the sign for numbers.
    let signs = text.chars().map(|letter| if letter == '№' { '#' } else { letter });
    let shown = signs.nfkd().filter(|letter| *letter == '\n' || !is_invisible(*letter));
    let written = shown.filter(|letter| !is_left_out(*letter)).flat_map(char::to_lowercase);
    without_lookalikes(written.map(same).map(ascii_digit).collect())
}

/// Returns whether writers leave the mark out: accents of Latin, Greek and Cyrillic letters, vowels
/// and hamza of Arabic ones, the nukta of Devanagari.
fn is_left_out(letter: char) -> bool {
    matches!(letter, '\u{300}'..='\u{36f}' | '\u{640}' | '\u{64b}'..='\u{655}' | '\u{670}' | '\u{93c}')
}

/// Returns the letter that is also written for another one.
fn same(letter: char) -> char {
    match letter {
        '\u{901}' => '\u{902}',
        'ى' => 'ي',
        'ة' => 'ه',
        other => other,
    }
}

fn ascii_digit(letter: char) -> char {
    let mut offsets = ZEROS.iter().map(|zero| u32::from(letter).wrapping_sub(*zero));
    let digit = offsets.find(|offset| *offset < 10);
    digit.and_then(|digit| char::from_digit(digit, 10)).unwrap_or(letter)
}

fn is_foreign(letter: char) -> bool {
    FOREIGN.contains(&letter) && letter.is_alphabetic()
}

/// Replaces the letters that look like Latin ones, in words that have both.
fn without_lookalikes(text: String) -> String {
    if !text.contains(is_foreign) {
        return text;
    }
    let mut plain = String::with_capacity(text.len());
    for word in text.split_inclusive(|letter: char| !letter.is_alphanumeric()) {
        let is_mixed = word.contains(|letter: char| letter.is_ascii_lowercase());
        match is_mixed {
            true => plain.extend(word.chars().map(latin)),
            false => plain.push_str(word),
        }
    }
    plain
}

/// Returns the Latin letter that looks like the letter; otherwise the letter itself.
fn latin(letter: char) -> char {
    if !is_foreign(letter) {
        return letter;
    }
    let mut rows = LOOKALIKES.lines().filter_map(|line| line.split_once(": "));
    let latin = rows.find(|(_, similar)| similar.contains(letter));
    latin.and_then(|(latin, _)| latin.chars().next()).unwrap_or(letter)
}

/// A word of a plain text with its place in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Word<'a> {
    pub(crate) text: &'a str,
    pub(crate) start: usize,
}

impl Word<'_> {
    pub(crate) fn end(&self) -> usize {
        self.start + self.text.len()
    }
}

#[derive(PartialEq, Eq, Clone, Copy)]
enum Kind {
    Letters,
    Digits,
    /// A letter of a script without spaces, which is a word by itself.
    Single,
    Other,
}

fn kind(letter: char, before: Kind) -> Kind {
    match letter {
        _ if letter.is_ascii_digit() => Kind::Digits,
        _ if is_combining_mark(letter) => before,
        _ if !letter.is_alphanumeric() => Kind::Other,
        _ if is_cjk(letter) || letter == '〇' => Kind::Single,
        _ => Kind::Letters,
    }
}

/// Returns the words of a plain text: its runs of letters, its runs of digits, and each letter of a
/// script that is written without spaces.
pub(crate) fn words(plain: &str) -> Vec<Word<'_>> {
    let mut words = Vec::new();
    let (mut start, mut of) = (0, Kind::Other);
    let ends = plain.char_indices().chain([(plain.len(), ' ')]);
    for (at, letter) in ends {
        let next = kind(letter, of);
        let is_mark = is_combining_mark(letter);
        if next == of && (next != Kind::Single || is_mark) {
            continue;
        }
        if of != Kind::Other {
            words.push(Word { text: plain.get(start..at).unwrap_or_default(), start });
        }
        (start, of) = (at, next);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use unicode_security::skeleton;

    #[test]
    fn disguises_are_removed() {
        for (text, expected) in [
            ("４１５\u{200b} ①", "415 1"),
            ("٤١٥ ४१५ 四", "415 415 四"),
            ("M\u{430}il m\u{ad}e\u{2060}", "mail me"),
            ("Сама мама", "сама мама"),
            ("120 m² № 5", "120 m2 # 5"),
        ] {
            assert_eq!(plain(text), expected, "{text}");
        }
        assert_eq!(plain("étrangère ёлка أجنبي फ़ोन"), "etrangere елка اجنبي फोन");
    }

    #[test]
    fn the_lookalikes_are_those_of_unicode() {
        let mut rows: BTreeMap<char, String> = BTreeMap::new();
        for letter in FOREIGN.filter(|letter| letter.is_lowercase()) {
            let prototype: String = skeleton(&letter.to_string()).collect();
            if let Some(latin) = prototype.chars().next().filter(char::is_ascii_alphabetic)
                && prototype.len() == 1
            {
                rows.entry(latin.to_ascii_lowercase()).or_default().push(letter);
            }
        }
        let expected: Vec<String> =
            rows.iter().map(|(latin, similar)| format!("{latin}: {similar}")).collect();
        assert_eq!(LOOKALIKES.trim_end(), expected.join("\n"));
    }

    #[test]
    fn letters_digits_and_ideographs_are_words() {
        let text = "four5 外国人 हिंदी 30歳";
        let found: Vec<&str> = words(text).iter().map(|word| word.text).collect();
        assert_eq!(found, ["four", "5", "外", "国", "人", "हिंदी", "30", "歳"]);
    }
}
