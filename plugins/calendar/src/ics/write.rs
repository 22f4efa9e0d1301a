//! Content lines, as RFC 5545 wants them written.

use jiff::civil::DateTime;

/// Octets of a line, without its end.
const WIDTH: usize = 75;

/// A file as it grows.
#[derive(Debug, Default)]
pub(crate) struct Writer(String);

impl Writer {
    /// One line, folded; a character is never split.
    pub(crate) fn line(&mut self, text: &str) {
        let mut width = 0;
        for letter in text.chars() {
            if width + letter.len_utf8() > WIDTH {
                self.0.push_str("\r\n ");
                width = 1;
            }
            self.0.push(letter);
            width += letter.len_utf8();
        }
        self.0.push_str("\r\n");
    }

    pub(crate) fn text(&mut self, name: &str, value: &str) {
        self.line(&format!("{name}:{}", escaped(value)));
    }

    pub(crate) fn into_inner(self) -> String {
        self.0
    }
}

fn escaped(value: &str) -> String {
    let mut text = String::with_capacity(value.len());
    for letter in value.chars() {
        match letter {
            '\\' | ';' | ',' => text.extend(['\\', letter]),
            '\n' => text.push_str("\\n"),
            letter if letter.is_control() => {}
            letter => text.push(letter),
        }
    }
    text
}

pub(crate) fn local(at: DateTime) -> String {
    at.strftime("%Y%m%dT%H%M%S").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ics::lines::{read, unescaped};
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_written_is_read_again(value in "[^\\x00-\\x1f\\x7f-\\u{9f}]{0,200}", breaks in 0..3_usize) {
            let value = format!("{value}{}", "\n".repeat(breaks));
            let mut writer = Writer::default();
            writer.text("SUMMARY", &value);
            let text = writer.into_inner();
            prop_assert!(text.ends_with("\r\n"));
            prop_assert!(text.split("\r\n").all(|line| line.len() <= WIDTH));
            prop_assert!(!text.replace("\r\n", "").contains(['\r', '\n']));
            let lines = read(&text).unwrap();
            prop_assert_eq!(lines.len(), 1);
            prop_assert_eq!(unescaped(&lines[0].value), value);
        }
    }
}
