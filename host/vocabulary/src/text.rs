//! Escapes untrusted texts before they are shown in a log or to a person.

/// Cuts the text to at most this number of bytes, and then escapes its control characters, so that a
/// component cannot forge lines of the operator's log.
pub fn one_line(text: &str, bytes: usize) -> String {
    let text = text.get(..text.floor_char_boundary(bytes)).unwrap_or_default();
    escape(text, char::is_control)
}

/// Escapes the control characters of a text of several lines except line breaks and tabs, because clients
/// show the text in terminals.
pub fn printable(text: &str) -> String {
    escape(text, |c| c.is_control() && !matches!(c, '\n' | '\t'))
}

fn escape(text: &str, must_escape: impl Fn(char) -> bool) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match must_escape(c) {
            true => escaped.extend(c.escape_default()),
            false => escaped.push(c),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_several_lines_becomes_one() {
        assert_eq!(one_line("a\nb\u{1b}[2J", 100), "a\\nb\\u{1b}[2J");
        assert_eq!(one_line("ä-ä", 4), "ä-");
    }

    #[test]
    fn a_printable_text_keeps_its_lines() {
        assert_eq!(printable("a\n\tb\u{1b}[2J\r\u{9b}ä"), "a\n\tb\\u{1b}[2J\\r\\u{9b}ä");
    }
}
