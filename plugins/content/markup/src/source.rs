//! Limits how deeply a text can nest blocks, before it is parsed.
//!
//! The parser visits every open block quote and list item once per line, so tens of thousands of
//! them on one line cost seconds over the lines that follow. Depth comes from markers and from
//! indentation at the start of a line, and both are limited here.

use crate::removed::{Tally, What};
use std::borrow::Cow;

/// The maximum number of markers of block quotes and list items at the start of one line.
const MOST_MARKERS: usize = 64;

/// The maximum number of columns of indentation before a line's markers, all together.
const WIDEST_INDENT: usize = 256;

/// Returns the text with every marker beyond the limits escaped, so that it is read as ordinary
/// characters.
pub(crate) fn bounded<'a>(markdown: &'a str, removed: &mut Tally) -> Cow<'a, str> {
    let mut escaped = String::new();
    let mut copied = 0;
    let mut start = 0;
    for line in markdown.split_inclusive(['\n', '\r']) {
        if let Some(offset) = excess_marker(line.as_bytes()) {
            let (before, after) = markdown.split_at(start + offset);
            escaped.push_str(before.get(copied..).unwrap_or_default());
            escaped.push('\\');
            copied = markdown.len() - after.len();
            removed.count(What::Nesting, "");
        }
        start += line.len();
    }
    if copied == 0 {
        return Cow::Borrowed(markdown);
    }
    escaped.push_str(markdown.get(copied..).unwrap_or_default());
    Cow::Owned(escaped)
}

/// Returns where to put a backslash in this line, if it has too many markers or too much
/// indentation.
fn excess_marker(line: &[u8]) -> Option<usize> {
    if is_thematic_break(line) {
        return None;
    }
    let (mut offset, mut indent, mut markers) = (0, 0, 0);
    loop {
        let rest = line.get(offset..)?;
        match rest.first()? {
            b' ' => indent += 1,
            b'\t' => indent += 4,
            _ => {
                let length = marker(rest)?;
                markers += 1;
                if markers > MOST_MARKERS || indent > WIDEST_INDENT {
                    return Some(offset + length - 1);
                }
                offset += length - 1;
            }
        }
        offset += 1;
    }
}

/// Returns the length of the marker of a block quote or a list item at the start of the text. A
/// backslash before its last byte escapes it.
fn marker(text: &[u8]) -> Option<usize> {
    let digits = text.iter().take(9).take_while(|byte| byte.is_ascii_digit()).count();
    let ends =
        |length: usize| matches!(text.get(length), None | Some(b' ' | b'\t' | b'\n' | b'\r'));
    match text.get(digits)? {
        b'>' if digits == 0 => Some(1),
        b'-' | b'+' | b'*' if digits == 0 && ends(1) => Some(1),
        b'.' | b')' if digits > 0 && ends(digits + 1) => Some(digits + 1),
        _ => None,
    }
}

/// Whether the line is a thematic break such as `* * *`: one element, however long.
fn is_thematic_break(line: &[u8]) -> bool {
    let mut marks = line.iter().filter(|byte| !byte.is_ascii_whitespace());
    match marks.next() {
        Some(first @ (b'*' | b'-')) => marks.all(|mark| mark == first),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(markdown: &str) -> (String, usize) {
        let mut removed = Tally::default();
        let text = bounded(markdown, &mut removed).into_owned();
        (text, removed.into_list().iter().map(|entry| entry.count).sum())
    }

    #[test]
    fn ordinary_text_is_left_alone() {
        for text in [
            "",
            "> quote\n\n- item\n  - item\n\n10. ten\n",
            "1.5 is not a list, nor is -1 or *this*\n",
            &"* ".repeat(500),
            &format!("    {}", ">".repeat(MOST_MARKERS)),
            &format!("{}x > y", " ".repeat(400)),
        ] {
            assert_eq!(counted(text), (text.to_owned(), 0));
        }
    }

    #[test]
    fn one_marker_too_many_becomes_text() {
        for marker in [">", "> ", "- ", "+ ", "* ", "1. ", "23) ", "-\t"] {
            let kept = marker.repeat(MOST_MARKERS);
            let (text, count) = counted(&format!("{kept}{marker}a\nb\n"));
            let harmless = marker.trim_end();
            let (head, last) = harmless.split_at(harmless.len() - 1);
            let rest = marker.get(harmless.len()..).unwrap_or_default();
            assert_eq!(text, format!("{kept}{head}\\{last}{rest}a\nb\n"));
            assert_eq!(count, 1);
        }
    }

    #[test]
    fn indentation_counts_as_well() {
        let (text, count) = counted(&format!("a\n{}- b\n", " ".repeat(WIDEST_INDENT + 1)));
        assert!(text.ends_with(" \\- b\n"));
        assert_eq!(count, 1);
    }

    #[test]
    fn every_line_is_bounded() {
        let line = format!("{}a\n", ">".repeat(MOST_MARKERS + 1));
        let (text, count) = counted(&line.repeat(10));
        assert_eq!(text.matches('\\').count(), 10);
        assert_eq!(count, 10);
    }
}
