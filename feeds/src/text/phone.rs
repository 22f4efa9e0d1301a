//! Finds phone numbers. A run is what may be one: groups of digits with the signs between them with which
//! people write phone numbers. A run that is something else, such as dates or an amount, is none.

use std::ops::Range;

/// The least digits of a number with a plus sign, and of one with a leading zero.
const WITH_PLUS: usize = 7;
const WITH_ZERO: usize = 8;
/// The digits of a number in several groups, or in a row.
const IN_GROUPS: usize = 9;
const IN_A_ROW: usize = 10;
const MOST_IN_A_ROW: usize = 15;
/// How many groups are looked at as one number.
const MOST_GROUPS: usize = 64;
/// How many signs may stand between two groups.
const MOST_BETWEEN: usize = 12;
/// The zeros of scripts that have digits of their own.
const ZEROS: [char; 20] = [
    '\u{660}',
    '\u{6f0}',
    '\u{7c0}',
    '\u{966}',
    '\u{9e6}',
    '\u{a66}',
    '\u{ae6}',
    '\u{b66}',
    '\u{be6}',
    '\u{c66}',
    '\u{ce6}',
    '\u{d66}',
    '\u{e50}',
    '\u{ed0}',
    '\u{f20}',
    '\u{1040}',
    '\u{17e0}',
    '\u{1810}',
    '\u{ff10}',
    '\u{1d7ce}',
];
/// Words and signs behind a number that is an amount.
const CURRENCIES: [&str; 17] = [
    "€", "$", "£", "¥", "₹", "eur", "usd", "gbp", "chf", "cad", "aud", "sek", "nok", "dkk", "pln",
    "dollar", "kr",
];

/// One group of digits: its digits, and where it stands in the text.
#[derive(Debug, Clone)]
struct Group {
    digits: Vec<u8>,
    place: Range<usize>,
}

impl Group {
    fn len(&self) -> usize {
        self.digits.len()
    }

    fn value(&self) -> u32 {
        self.digits.iter().take(9).fold(0, |value, digit| value * 10 + u32::from(*digit))
    }

    fn is_year(&self) -> bool {
        self.len() == 4 && (1900..2100).contains(&self.value())
    }

    fn is_short(&self, most: u32) -> bool {
        self.len() <= 2 && (1..=most).contains(&self.value())
    }
}

fn digit(character: char) -> Option<u8> {
    if character.is_ascii() {
        return character.to_digit(10).and_then(|value| u8::try_from(value).ok());
    }
    let value = |zero: &char| u32::from(character).checked_sub(u32::from(*zero));
    let found = ZEROS.iter().filter_map(value).find(|value| *value < 10)?;
    u8::try_from(found).ok()
}

fn is_dash(character: char) -> bool {
    matches!(character, '-' | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{ff0d}')
}

fn separates(character: char) -> bool {
    character.is_whitespace()
        || is_dash(character)
        || matches!(character, '(' | ')' | '.' | '/' | '·' | '•')
}

fn is_in_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

fn is_plus(character: char) -> bool {
    matches!(character, '+' | '＋' | '﹢')
}

/// Returns whether a text has digits enough for a phone number; without them it has none.
pub(super) fn may_be_in(text: &str) -> bool {
    let mut count = 0;
    for byte in text.bytes() {
        match byte {
            b'0'..=b'9' => count += 1,
            // A character of another script may be a digit.
            0x80.. => {
                return text.chars().filter(|one| digit(*one).is_some()).take(WITH_PLUS).count()
                    == WITH_PLUS;
            }
            _ => {}
        }
    }
    count >= WITH_PLUS
}

/// Returns where the phone numbers of a text are.
pub(super) fn all(text: &str) -> Vec<Range<usize>> {
    if !may_be_in(text) {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let Some(first) = digit(character) else { continue };
        let mut group = Group { digits: vec![first], place: at..at + character.len_utf8() };
        let mut groups = Vec::new();
        let mut between = 0;
        while let Some((at, character)) = characters.peek().copied() {
            let end = at + character.len_utf8();
            match digit(character) {
                Some(next) if between == 0 => {
                    group.digits.push(next);
                    group.place.end = end;
                }
                Some(next) => {
                    groups.push(std::mem::replace(
                        &mut group,
                        Group { digits: vec![next], place: at..end },
                    ));
                    between = 0;
                }
                None if separates(character) && between < MOST_BETWEEN => between += 1,
                None => break,
            }
            characters.next();
        }
        groups.push(group);
        judge(text, &groups, &mut found);
    }
    found
}

/// Adds the phone numbers of a run.
fn judge(text: &str, groups: &[Group], found: &mut Vec<Range<usize>>) {
    let mut waiting = vec![groups];
    while let Some(mut rest) = waiting.pop() {
        while let dates @ 1.. = dates(text, rest) {
            rest = rest.get(dates..).unwrap_or_default();
        }
        if rest.iter().take(WITH_PLUS).map(Group::len).sum::<usize>() < WITH_PLUS {
            continue;
        }
        let run = Run { text, groups: rest };
        let is_wide = |at: &usize| run.between(*at).chars().count() > 1;
        let is_date = |at: &usize| dates(text, rest.get(*at..).unwrap_or_default()) > 0;
        let part = (1..rest.len()).find(|at| is_wide(at) || is_date(at));
        // No number has so many groups: it is not looked for across them.
        let is_tried = rest.len() <= MOST_GROUPS || part.is_none();
        if is_tried && rest.iter().all(Group::is_year) {
            continue;
        }
        if is_tried && run.is_number() {
            found.push(run.place());
            continue;
        }
        // A number that belongs to a word says nothing of those behind it.
        if run.starts_in_word() && run.between(1).contains(char::is_whitespace) {
            waiting.extend(rest.get(1..));
        } else if let Some((before, after)) = part.and_then(|at| rest.split_at_checked(at)) {
            // A part of it, behind a wider space or before a date, may still be one.
            waiting.extend([after, before]);
        }
    }
}

fn digits(groups: &[Group]) -> usize {
    groups.iter().map(Group::len).sum()
}

/// Returns how many groups at the beginning are a date, a range of years, or "24/7".
fn dates(text: &str, groups: &[Group]) -> usize {
    let between = |at: usize| Run { text, groups }.between(at).trim();
    let is_date = |one: &Group, two: &Group, three: &Group| {
        (one.is_year() && two.is_short(12) && three.is_short(31))
            || (one.is_short(31) && two.is_short(31) && three.is_year())
    };
    if let [one, two, three, ..] = groups
        && matches!((between(1), between(2)), ("-", "-") | (".", ".") | ("/", "/"))
        && is_date(one, two, three)
    {
        return 3;
    }
    let [one, two, ..] = groups else { return 0 };
    let sign = between(1);
    let is_range = sign == "/" || sign.chars().all(is_dash);
    let is_month =
        |month: &Group, year: &Group| month.is_short(12) && year.is_year() && sign.len() == 1;
    let is_always = (one.value(), two.value(), sign) == (24, 7, "/");
    let is_two = (is_range && !sign.is_empty() && one.is_year() && two.is_year())
        || (matches!(sign, "/" | "." | "-") && (is_month(one, two) || is_month(two, one)))
        || is_always;
    if is_two { 2 } else { 0 }
}

/// Groups of digits that may be one phone number.
struct Run<'a> {
    text: &'a str,
    groups: &'a [Group],
}

impl<'a> Run<'a> {
    /// Returns what stands between the group at this position and the one before it.
    fn between(&self, at: usize) -> &'a str {
        let place = at
            .checked_sub(1)
            .and_then(|before| Some((self.groups.get(before)?, self.groups.get(at)?)));
        let range = place.map(|(before, group)| before.place.end..group.place.start);
        range.and_then(|range| self.text.get(range)).unwrap_or_default()
    }

    fn before(&self) -> &'a str {
        let start = self.groups.first().map_or(0, |group| group.place.start);
        self.text.get(..start).unwrap_or_default()
    }

    fn after(&self) -> &'a str {
        let end = self.groups.last().map_or(self.text.len(), |group| group.place.end);
        self.text.get(end..).unwrap_or_default()
    }

    /// Returns where the number is, with its plus sign and parenthesis.
    fn place(&self) -> Range<usize> {
        let before = self.before();
        let kept = before.trim_end_matches('(');
        let start = match self.has_plus() {
            true => kept.trim_end().trim_end_matches(is_plus).len(),
            false => kept.len(),
        };
        start..self.text.len() - self.after().len()
    }

    /// Returns whether there is a plus sign before the number, which is not one behind another number.
    fn has_plus(&self) -> bool {
        let before = self.before().trim_end_matches(|one: char| one == '(' || one.is_whitespace());
        let mut signs = before.chars().rev();
        signs.next().is_some_and(is_plus)
            && !signs.next().is_some_and(|one| is_plus(one) || digit(one).is_some())
    }

    fn is_number(&self) -> bool {
        let count = digits(self.groups);
        let lengths: Vec<usize> = self.groups.iter().map(Group::len).collect();
        let ends_in_word = self.after().starts_with(is_in_word);
        let is_wide = (1..self.groups.len())
            .any(|at| self.between(at).chars().filter(|one| !"()".contains(*one)).count() > 2);
        if self.has_plus() {
            return count >= WITH_PLUS;
        }
        if self.starts_in_word()
            || ends_in_word
            || self.is_amount()
            || self.is_postal_code()
            || self.is_time()
        {
            return false;
        }
        let has_zero = self.groups.first().is_some_and(|group| group.digits.starts_with(&[0]));
        match lengths.as_slice() {
            // "JR-00123456" and "#00123456" are identifiers.
            [8..IN_A_ROW] if self.is_named() => false,
            _ if (1..lengths.len()).any(|at| self.is_local(at)) => true,
            _ if has_zero => count >= WITH_ZERO,
            _ if is_wide => false,
            _ if lengths.iter().any(|length| (IN_A_ROW..=MOST_IN_A_ROW).contains(length)) => true,
            [3, 7] => true,
            [2, 2, 2, 2] => (1..4).all(|at| self.between(at) == " "),
            [_, _, _, ..] => lengths
                .split(|length| *length > 4)
                .any(|part| part.len() > 2 && part.iter().sum::<usize>() >= IN_GROUPS),
            _ => {
                let starts_with_area = self.between(1).contains(')') && lengths.first() == Some(&3);
                starts_with_area && count >= IN_GROUPS
            }
        }
    }

    /// Returns whether the group at this position and the one before it are a number such as "555-0142", and no
    /// range such as "100-1000".
    fn is_local(&self, at: usize) -> bool {
        let place = at.checked_sub(1).and_then(|before| self.groups.get(before..=at));
        let Some([one, two]) = place else { return false };
        let is_range =
            one.value() % 50 == 0 && two.value() % 100 == 0 && !two.digits.starts_with(&[0]);
        let mut signs = self.between(at).chars();
        let sign = signs.next().filter(|sign| is_dash(*sign) || *sign == '.');
        (one.len(), two.len()) == (3, 4) && sign.is_some() && signs.next().is_none() && !is_range
    }

    fn starts_in_word(&self) -> bool {
        self.before().ends_with(is_in_word)
    }

    /// Returns whether the groups are thousands or decimals, as "120 000 - 150 000 EUR" and "117.50-122.50".
    fn is_amount(&self) -> bool {
        let after: String =
            self.after().trim_start().chars().take(8).flat_map(char::to_lowercase).collect();
        let before: String = self.before().trim_end().chars().rev().take(8).collect();
        let before: String = before.chars().rev().flat_map(char::to_lowercase).collect();
        let has_currency =
            CURRENCIES.iter().any(|sign| after.starts_with(sign) || before.ends_with(sign));
        let is_decimal = |at: usize| self.between(at) == ".";
        let lengths: Vec<usize> = self.groups.iter().map(Group::len).collect();
        if let [_, 2, _, 2] = lengths.as_slice() {
            let dash = self.between(2).trim();
            return is_decimal(1) && is_decimal(3) && !dash.is_empty() && dash.chars().all(is_dash);
        }
        // The parts of a range begin anew.
        let mut is_grouped = true;
        let mut parts: Vec<&[Group]> = Vec::new();
        let mut start = 0;
        for at in 1..self.groups.len() {
            let sign = self.between(at);
            match sign.trim() {
                "" | "." if sign.chars().count() == 1 => is_grouped &= lengths.get(at) == Some(&3),
                dash if dash.chars().all(is_dash) && !dash.is_empty() => {
                    parts.extend(self.groups.get(start..at));
                    start = at;
                }
                _ => is_grouped = false,
            }
        }
        parts.extend(self.groups.get(start..));
        let is_whole = |part: &&[Group]| {
            part.first().is_some_and(|group| group.len() <= 3 && !group.digits.starts_with(&[0]))
        };
        let is_round = |part: &&[Group]| {
            part.len() == 1
                || part
                    .last()
                    .is_some_and(|group| group.digits == [0, 0, 0] || group.digits == [5, 0, 0])
        };
        let is_range =
            parts.len() <= 2 && is_grouped && self.groups.len() > 1 && parts.iter().all(is_whole);
        let is_grouped_somewhere = parts.iter().any(|part| part.len() > 1);
        is_range && is_grouped_somewhere && (has_currency || parts.iter().all(is_round))
    }

    /// Returns whether a letter and a dash, or a number sign, stand before it.
    fn is_named(&self) -> bool {
        let mut signs = self.before().chars().rev();
        match signs.next() {
            Some('#' | '№') => true,
            Some(sign) if is_dash(sign) => signs.next().is_some_and(char::is_alphanumeric),
            _ => false,
        }
    }

    /// Returns whether it is a postal code: "MA 02139-4307", "01310-100", "〒113-0033".
    fn is_postal_code(&self) -> bool {
        let [one, two] = self.groups else { return false };
        let before = self.before();
        let state: Vec<char> = before.trim_end().chars().rev().take(3).collect();
        let is_state = before.ends_with(' ')
            && matches!(state.as_slice(), [last, first, rest @ ..]
                if last.is_ascii_uppercase() && first.is_ascii_uppercase() && !rest.first().is_some_and(|one| one.is_alphanumeric()));
        self.between(1) == "-"
            && match (one.len(), two.len()) {
                (5, 4) => is_state,
                (5, 3) => true,
                (3, 4) => before.trim_end().ends_with('〒'),
                _ => false,
            }
    }

    /// Returns whether it is a range of times such as "0900-1700".
    fn is_time(&self) -> bool {
        let is_hour =
            |group: &Group| group.len() == 4 && group.value() <= 2400 && group.value() % 100 < 60;
        let [one, two] = self.groups else { return false };
        let sign = self.between(1).trim();
        is_hour(one) && is_hour(two) && !sign.is_empty() && sign.chars().all(is_dash)
    }
}

#[cfg(test)]
mod tests;
