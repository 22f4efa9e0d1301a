//! Finds phone numbers by the ways in which people write them. Digits alone are not enough: they
//! can be a price, a year or an id.

use super::runs::{Group, Run, in_digits, runs};
use super::text::Text;
use crate::words::is_cjk;

/// The digits of an E.164 number, including the country code.
const INTERNATIONAL: std::ops::RangeInclusive<usize> = 8..=15;
/// The digits of a number after a word such as `phone`.
const ANNOUNCED: std::ops::RangeInclusive<usize> = 7..=15;
/// The digits of a number with the trunk zero of most countries.
const WITH_TRUNK_ZERO: std::ops::RangeInclusive<usize> = 9..=13;
/// A number has at most this many groups.
const MOST_GROUPS: usize = 13;
/// At least this many single digits in a row are taken for a disguised number.
const SPACED_OUT: usize = 7;

/// The shapes of numbers that are found without another sign of a phone number: the possible first
/// digits, and the lengths of the groups.
const SHAPES: [(&str, &[usize]); 9] = [
    // North America, with and without its country code.
    ("23456789", &[3, 3, 4]),
    ("1", &[1, 3, 3, 4]),
    // Spain and its like; France without its zero.
    ("679", &[3, 3, 3]),
    ("679", &[3, 2, 2, 2]),
    // Russia.
    ("78", &[1, 3, 3, 2, 2]),
    // China, India, Brazil.
    ("1", &[3, 4, 4]),
    ("6789", &[5, 5]),
    ("123456789", &[2, 5, 4]),
    ("123456789", &[2, 4, 4]),
];

/// How many words before a number can announce it.
const MOST_ANNOUNCING: usize = 5;
/// Words that may be between a word that announces a number, such as `phone`, and the number.
const BETWEEN: &str = "at by is me my no nr number on or under us via with";
/// Signs before digits that make them an amount, or a number of a register.
const BEFORE_AMOUNTS: [char; 6] = ['$', '€', '£', '¥', '₹', '#'];
/// Signs after digits that make them an amount.
const AFTER_AMOUNTS: [char; 6] = ['$', '€', '£', '¥', '₹', '%'];

fn has_word(words: &str, wanted: &str) -> bool {
    words.split(' ').any(|word| word == wanted)
}

/// Returns whether the text contains a phone number.
pub(super) fn has_phone(text: &Text<'_>) -> bool {
    let digits = in_digits(text.plain);
    runs(&digits).iter().any(|run| run.is_phone(text))
}

impl Run<'_> {
    fn is_phone(&self, text: &Text<'_>) -> bool {
        if self.is_part_of_a_word() && !self.is_announced(text) {
            return false;
        }
        if self.is_international {
            return INTERNATIONAL.contains(&count(&self.groups)) && !is_amount(&self.groups);
        }
        if is_spaced_out(&self.groups) {
            return true;
        }
        if is_amount(&self.groups) || self.is_measured(text) {
            return false;
        }
        let mut parts = without_dates(&self.groups);
        let announced = self.is_announced(text) && parts.next().is_some_and(is_callable);
        announced || without_dates(&self.groups).any(|groups| self.is_shaped(groups))
    }

    /// Returns whether the digits are the end of an id or a word, such as `lst_01`.
    fn is_part_of_a_word(&self) -> bool {
        let in_word = |letter: char| letter.is_alphanumeric() && !is_cjk(letter) || letter == '_';
        self.before.ends_with(in_word)
    }

    fn is_measured(&self, text: &Text<'_>) -> bool {
        let end = text.plain.len() - self.after.len();
        let next = text.words.partition_point(|word| word.start < end);
        let after = self.after.trim_start();
        self.before.trim_end().ends_with(BEFORE_AMOUNTS)
            || after.starts_with(AFTER_AMOUNTS)
            || after.starts_with(char::is_alphanumeric) && text.term(next, &["unit"]).is_some()
    }

    /// Returns whether a word such as `phone` is before the number, with at most a few such as `is`
    /// between them.
    fn is_announced(&self, text: &Text<'_>) -> bool {
        let place = text.words.partition_point(|word| word.start < self.before.len());
        let is_between = |at: usize| {
            let word = text.words.get(at).map_or("", |word| word.text);
            has_word(BETWEEN, word) || text.term(at, &["id", "as"]).is_some()
        };
        (place.saturating_sub(MOST_ANNOUNCING)..place).rev().any(|at| {
            let found = text.term(at, &["announce"]);
            let after = found.map(|found| at + found.length).filter(|after| *after <= place);
            after.is_some_and(|after| (after..place).all(is_between))
        })
    }

    fn is_shaped(&self, groups: &[Group<'_>]) -> bool {
        let begins = |at: usize| groups.get(at..).unwrap_or_default();
        (0..groups.len()).any(|at| has_shape(begins(at)) || has_trunk_zero(begins(at)))
            || groups.iter().any(|group| !group.is_fraction() && is_whole_number(group.digits))
            || self.has_area_in_brackets(groups)
    }

    /// Returns whether the area code is in brackets, as in `(415) 5550123`.
    fn has_area_in_brackets(&self, groups: &[Group<'_>]) -> bool {
        groups.iter().zip(groups.iter().skip(1)).enumerate().any(|(at, (area, next))| {
            let opened = area.separator.contains('(') || (at == 0 && self.before.ends_with('('));
            let in_brackets = opened && next.separator.contains(')');
            let rest = groups.get(at..).unwrap_or_default();
            let digits = if rest.len() <= MOST_GROUPS { count(rest) } else { 0 };
            in_brackets && (2..=5).contains(&area.digits.len()) && (8..=13).contains(&digits)
        })
    }
}

impl Group<'_> {
    fn is_fraction(&self) -> bool {
        self.separator == "."
    }
}

fn count(groups: &[Group<'_>]) -> usize {
    groups.iter().map(|group| group.digits.len()).sum()
}

/// Returns whether the digits are an amount: groups of three of which the last is `000`, such as
/// `2 000 000` or `2.500.000`, or a single group that ends in five zeros.
fn is_amount(groups: &[Group<'_>]) -> bool {
    match groups {
        [one] => one.digits.ends_with("00000"),
        [first, rest @ .., last] => {
            let by_thousands = rest.iter().all(|group| group.digits.len() == 3);
            first.digits.len() <= 3 && by_thousands && last.digits == "000"
        }
        [] => false,
    }
}

fn is_spaced_out(groups: &[Group<'_>]) -> bool {
    groups.split(|group| group.digits.len() > 1).any(|single| single.len() >= SPACED_OUT)
}

/// Returns whether the groups after a word such as `phone` can be a phone number: they have 7 to 15
/// digits and are not only years. Dates and amounts were excluded before.
fn is_callable(groups: &[Group<'_>]) -> bool {
    let is_year = |group: &Group<'_>| is_year(group.digits);
    ANNOUNCED.contains(&count(groups)) && !groups.iter().all(is_year)
}

fn is_year(digits: &str) -> bool {
    digits.len() == 4 && (digits.starts_with("19") || digits.starts_with("20"))
}

/// The parts of dates such as `2026-11-21`, `21.11.2026`, `11/2026` and `2026-11`: the highest
/// number of a month or a day, `None` for a year.
const DATES: [&[Option<usize>]; 4] = [
    &[None, Some(12), Some(31)],
    &[Some(31), Some(31), None],
    &[Some(12), None],
    &[None, Some(12)],
];

/// Returns how many groups the date has with which the groups begin; 0 if they do not begin with a
/// date.
fn date_length(groups: &[Group<'_>]) -> usize {
    let is_part = |(group, most): (&Group<'_>, &Option<usize>)| match most {
        None => is_year(group.digits),
        Some(most) => {
            group.digits.len() <= 2 && group.digits.parse().is_ok_and(|n: usize| n <= *most)
        }
    };
    let is_date = |parts: &&&[Option<usize>]| {
        groups.get(..parts.len()).is_some_and(|groups| {
            let mut separators = groups.iter().skip(1).map(|group| group.separator);
            groups.iter().zip(parts.iter()).all(is_part)
                && separators.all(|separator| ["-", ".", "/", ". "].contains(&separator))
        })
    };
    DATES.iter().find(is_date).map_or(0, |parts| parts.len())
}

/// Returns the groups before, between and after dates.
fn without_dates<'a>(groups: &'a [Group<'a>]) -> impl Iterator<Item = &'a [Group<'a>]> {
    let mut parts = Vec::new();
    let (mut start, mut at) = (0, 0);
    while at < groups.len() {
        let length = date_length(groups.get(at..).unwrap_or_default());
        if length > 0 {
            parts.push(groups.get(start..at).unwrap_or_default());
            start = at + length;
        }
        at += length.max(1);
    }
    parts.push(groups.get(start..).unwrap_or_default());
    parts.into_iter()
}

fn has_shape(groups: &[Group<'_>]) -> bool {
    SHAPES.iter().any(|(first, lengths)| {
        let begins = |group: &Group<'_>| group.digits.starts_with(|digit| first.contains(digit));
        let fits = groups.iter().map(|group| group.digits.len()).take(lengths.len());
        // Points between groups of three are those of an amount.
        let points = groups.iter().skip(1).take(lengths.len() - 1).all(Group::is_fraction);
        groups.first().is_some_and(begins)
            && groups.len() >= lengths.len()
            && fits.eq(lengths.iter().copied())
            && !(points && lengths.iter().all(|length| *length <= 3))
    })
}

/// Returns whether the number has a trunk zero, as in `030 1234567` or `01 42 68 53 00`.
fn has_trunk_zero(groups: &[Group<'_>]) -> bool {
    let Some(([area, first], _)) =
        groups.split_first_chunk().filter(|_| groups.len() <= MOST_GROUPS)
    else {
        return false;
    };
    // Times of the day are pairs too, but not five of them with the same separator.
    let pairs = groups.iter().all(|group| group.digits.len() <= 2);
    let alike = groups.iter().skip(1).all(|group| group.separator == first.separator);
    area.digits.starts_with('0')
        && area.digits.len() >= 2
        && WITH_TRUNK_ZERO.contains(&count(groups))
        && (!pairs || (groups.len() == 5 && alike))
}

/// Returns whether digits without separators are a phone number: ten of North America, with or
/// without its country code, or ten or eleven with a trunk zero.
fn is_whole_number(digits: &str) -> bool {
    if digits.ends_with("00000") {
        return false;
    }
    let american = |digits: &str| {
        let starts = |at: usize| digits.chars().nth(at).is_some_and(|digit| digit >= '2');
        digits.len() == 10 && starts(0) && starts(3)
    };
    let has_zero = digits.starts_with('0') && !digits.starts_with("00");
    american(digits)
        || digits.strip_prefix('1').is_some_and(american)
        || has_zero && (10..=11).contains(&digits.len())
}
