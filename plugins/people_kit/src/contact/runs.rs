//! Finds the runs of digits in a text. The digits may be of any script, or written as English
//! words.

/// The words of the digits from 0 to 9.
const DIGIT_WORDS: &str = "zero one two three four five six seven eight nine";

/// A run: digits with only separators between them.
pub(super) struct Run<'a> {
    /// The whole text before the run.
    pub(super) before: &'a str,
    pub(super) after: &'a str,
    pub(super) is_international: bool,
    pub(super) groups: Vec<Group<'a>>,
}

#[derive(Clone, Copy)]
pub(super) struct Group<'a> {
    pub(super) digits: &'a str,
    /// The separator between this group and the one before.
    pub(super) separator: &'a str,
}

/// Returns the text in lower case, with every digit in ASCII, and with digits instead of their
/// words.
pub(super) fn in_digits(text: &str) -> String {
    let plain: String = text.to_lowercase().chars().map(ascii_digit).collect();
    let mut digits = String::with_capacity(plain.len());
    let mut rest = plain.as_str();
    while !rest.is_empty() {
        let word = rest.len() - rest.trim_start_matches(char::is_alphabetic).len();
        let length = if word > 0 { word } else { rest.chars().next().map_or(1, char::len_utf8) };
        let (part, after) = rest.split_at(length);
        match DIGIT_WORDS.split(' ').zip('0'..).find(|(word, _)| *word == part) {
            Some((_, digit)) => digits.push(digit),
            None => digits.push_str(if part == "oh" { "0" } else { part }),
        }
        rest = after;
    }
    digits
}

/// Translates decimal digits of other scripts, and the fullwidth plus sign, to ASCII.
fn ascii_digit(letter: char) -> char {
    /// The zeros of Arabic, Persian, Devanagari, Bengali and Thai digits, and of fullwidth digits.
    const ZEROS: [u32; 6] = [0x660, 0x6f0, 0x966, 0x9e6, 0xe50, 0xff10];
    let offsets = ZEROS.iter().map(|zero| u32::from(letter).wrapping_sub(*zero));
    match (letter, offsets.into_iter().find(|offset| *offset < 10)) {
        ('\u{ff0b}', _) => '+',
        (_, Some(digit)) => char::from_digit(digit, 10).unwrap_or(letter),
        (letter, None) => letter,
    }
}

pub(super) fn runs(text: &str) -> Vec<Run<'_>> {
    const SEPARATORS: &[char] =
        &[' ', '\u{a0}', '-', '\u{2010}', '\u{2011}', '\u{2013}', '.', '(', ')', '/'];
    let is_digit = |letter: char| letter.is_ascii_digit();
    let mut runs: Vec<Run<'_>> = Vec::new();
    let mut at = 0;
    while let Some(start) =
        text.get(at..).and_then(|rest| rest.find(is_digit)).map(|index| index + at)
    {
        let rest = text.get(start..).unwrap_or_default();
        let length = rest.find(|letter| !is_digit(letter)).unwrap_or(rest.len());
        let (digits, after) = rest.split_at(length);
        let separator = text.get(at..start).unwrap_or_default();
        let is_separator = separator.trim_matches(SEPARATORS).is_empty();
        match runs.last_mut() {
            Some(run) if is_separator && separator.chars().count() <= 4 => {
                run.groups.push(Group { digits, separator });
                run.after = after;
            }
            _ => {
                let before = text.get(..start).unwrap_or_default();
                let groups = vec![Group { digits, separator: "" }];
                let outside = before.trim_end_matches(['(', ' ']);
                let is_international = match outside.strip_suffix('+') {
                    Some(word) => {
                        !word.ends_with(|letter: char| letter == '+' || letter.is_alphanumeric())
                    }
                    None => digits.starts_with("00") && !digits.starts_with("000"),
                };
                runs.push(Run { before, after, is_international, groups });
            }
        }
        at = start + length;
    }
    runs
}
