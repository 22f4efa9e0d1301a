//! Numbers and texts as the pages of the console show them.

use portolan_vocabulary::{Timestamp, printable};

/// The maximum number of characters of a text of others.
const MAX_CHARACTERS: usize = 600;

/// Returns the instant for people to read, in UTC: `2026-11-21 18:30:05`.
pub(super) fn moment(at: Timestamp) -> String {
    let text = at.to_string();
    text.chars().take("2026-11-21T18:30:05".len()).collect::<String>().replace('T', " ")
}

/// Returns a text of others without control characters, and cut off where it is long.
pub(super) fn quoted(text: &str) -> String {
    let mut cut: String = printable(text).chars().take(MAX_CHARACTERS).collect();
    if cut.len() < text.len() && cut.chars().count() == MAX_CHARACTERS {
        cut.push('…');
    }
    cut
}

/// Returns a number with groups of three digits.
pub(super) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push('\u{202f}');
        }
        grouped.push(digit);
    }
    grouped
}

/// Returns the part of a whole in percent, at most 100.
pub(super) fn percent(part: u64, whole: u64) -> u64 {
    (u128::from(part) * 100 / u128::from(whole.max(1))).min(100) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_for_people() {
        assert_eq!(moment(Timestamp::from_millis(1_700_000_000_123)), "2023-11-14 22:13:20");
        assert_eq!(
            [7, 1_234, 1_234_567].map(grouped),
            ["7", "1\u{202f}234", "1\u{202f}234\u{202f}567"]
        );
        assert_eq!((percent(1, 3), percent(7, 0), percent(9, 3)), (33, 100, 100));
        assert_eq!(quoted("short"), "short");
        assert!(quoted(&"x".repeat(10_000)).len() < 700);
    }
}
