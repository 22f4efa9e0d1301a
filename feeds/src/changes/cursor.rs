//! A place in the log of changes.

use std::{fmt, str::FromStr};

/// How many digits the number of a change has, so that the order of cursors is that of their texts.
const DIGITS: usize = 12;
/// How many characters the name of a segment has.
const NAME: usize = 12;

/// The place after a change: its number, and the name of the segment that has it. After the operator has
/// gone back to an earlier publication, numbers are given again, and only the names differ.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Cursor {
    pub seq: u64,
    pub segment: String,
}

impl Default for Cursor {
    /// Returns the beginning of a log without a segment.
    fn default() -> Self {
        Self { seq: 0, segment: "0".repeat(NAME) }
    }
}

impl Cursor {
    /// Makes a cursor in the segment whose content has this hexadecimal digest.
    pub(super) fn new(seq: u64, digest: &str) -> Self {
        Self { seq, segment: digest.chars().take(NAME).collect() }
    }
}

impl fmt::Display for Cursor {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:0DIGITS$}-{}", self.seq, self.segment)
    }
}

/// A text is no cursor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoCursor;

impl FromStr for Cursor {
    type Err = NoCursor;

    fn from_str(text: &str) -> Result<Self, NoCursor> {
        let (seq, segment) = text.split_once('-').ok_or(NoCursor)?;
        let is_number = seq.len() == DIGITS && seq.bytes().all(|byte| byte.is_ascii_digit());
        let is_name = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'a'..=b'f');
        if !is_number || segment.len() != NAME || !segment.bytes().all(is_name) {
            return Err(NoCursor);
        }
        Ok(Self { seq: seq.parse().map_err(|_| NoCursor)?, segment: segment.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_is_written_and_nothing_else_is() {
        let cursor = Cursor::new(41, "00ff00ff00ff00ff");
        assert_eq!(cursor.to_string(), "000000000041-00ff00ff00ff");
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for text in [
            "",
            "41",
            "000000000041",
            "41-00ff00ff00ff",
            "00000000004x-00ff00ff00ff",
            "000000000041-00FF00FF00FF",
            "000000000041-00ff00ff00ff0",
            "+00000000041-00ff00ff00ff",
            "é-é",
        ] {
            assert_eq!(text.parse::<Cursor>(), Err(NoCursor), "{text}");
        }
    }
}
