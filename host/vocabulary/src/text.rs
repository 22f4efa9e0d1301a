//! Checks and escapes untrusted texts before they are shown: invisible characters, and texts on a single
//! line for logs.

/// Returns whether a character is invisible. Some invisible characters reverse the direction of a text.
pub fn is_invisible(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(letter, '\u{2060}'..='\u{206f}' | '\u{feff}')
}

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

    #[test]
    fn invisible_characters_are_known() {
        assert!("\u{202e}\u{200b}\u{2066}\u{feff}\n\u{9b}".chars().all(is_invisible));
        assert!(!"Añ日 🌧".chars().any(is_invisible));
    }
}
