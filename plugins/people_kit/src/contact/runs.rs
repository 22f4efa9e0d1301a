//! Finds the runs of digits in a text.

/// The letters that are written for digits.
const LETTERS: [(char, char); 3] = [('o', '0'), ('i', '1'), ('l', '1')];
/// A word of nothing but such letters has two to four of them if it stands for digits.
const LETTERS_ONLY: std::ops::RangeInclusive<usize> = 2..=4;

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

/// Returns the plain text with digits instead of the letters that are written for them: in words
/// that also have digits, and in short ones beside these. Each letter stays in its place.
pub(super) fn in_digits(plain: &str) -> String {
    let in_word = |letter: char| letter.is_alphanumeric();
    let mut parts: Vec<(String, bool)> = Vec::new();
    let mut rest = plain;
    while !rest.is_empty() {
        let is_word = rest.starts_with(in_word);
        let end = rest.find(|letter| in_word(letter) != is_word).unwrap_or(rest.len());
        let (part, after) = rest.split_at(end);
        let is_lettered = is_word && part.contains(is_digit) && part.chars().all(is_written_digit);
        parts.push((if is_lettered { digits_of(part) } else { part.to_owned() }, is_lettered));
        rest = after;
    }
    for at in 0..parts.len() {
        let is_near = |at: Option<usize>| {
            at.and_then(|at| parts.get(at)).is_some_and(|(_, is_lettered)| *is_lettered)
        };
        let is_beside = is_near(at.checked_sub(2)) || is_near(Some(at + 2));
        if let Some((part, is_lettered)) = parts.get_mut(at).filter(|_| is_beside)
            && LETTERS_ONLY.contains(&part.len())
            && part.chars().all(is_written_digit)
        {
            (*part, *is_lettered) = (digits_of(part), true);
        }
    }
    parts.into_iter().map(|(part, _)| part).collect()
}

fn is_digit(letter: char) -> bool {
    letter.is_ascii_digit()
}

fn is_written_digit(letter: char) -> bool {
    is_digit(letter) || LETTERS.iter().any(|(written, _)| *written == letter)
}

fn digits_of(word: &str) -> String {
    let digit = |letter| {
        let meant = LETTERS.iter().find(|(written, _)| *written == letter);
        meant.map_or(letter, |(_, digit)| *digit)
    };
    word.chars().map(digit).collect()
}

pub(super) fn runs(text: &str) -> Vec<Run<'_>> {
    const SEPARATORS: &[char] = &[
        ' ', '-', '\u{2010}', '\u{2013}', '\u{2014}', '\u{2212}', '.', '(', ')', '/', '_', '*',
        '~', '|', '·', '•',
    ];
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
