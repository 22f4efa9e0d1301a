//! Escapes untrusted texts before they are shown: texts on a single line for logs.

/// Cuts the text to at most this number of bytes, and then escapes its control characters, so that a
/// component cannot forge lines of the operator's log.
pub fn one_line(text: &str, bytes: usize) -> String {
    let text = text.get(..text.floor_char_boundary(bytes)).unwrap_or_default();
    let escape = |c: char| match c.is_control() {
        true => c.escape_default().to_string(),
        false => c.to_string(),
    };
    text.chars().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_several_lines_becomes_one() {
        assert_eq!(one_line("a\nb\u{1b}[2J", 100), "a\\nb\\u{1b}[2J");
        assert_eq!(one_line("ä-ä", 4), "ä-");
    }
}
