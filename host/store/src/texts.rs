//! Texts that both databases can contain. A text of PostgreSQL has no U+0000: a statement with one fails whole.

/// Returns whether both databases can contain a text. No stored text equals one that they cannot.
pub(crate) fn is_storable(text: &str) -> bool {
    !text.contains('\0')
}

/// Returns a text that only people read as both databases can contain it: U+FFFD replaces U+0000.
pub(crate) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// Returns those of these texts that a stored text may equal.
pub(crate) fn storable_of(texts: &[String]) -> impl Iterator<Item = String> + '_ {
    texts.iter().filter(|text| is_storable(text)).cloned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_nul_cannot_be_stored() {
        let control = "\u{1}\t\u{7f}\u{feff}";
        assert!(is_storable(control) && is_storable(""));
        assert!(!is_storable("a\0"));
        assert_eq!(storable("a\0b\u{1}"), "a\u{fffd}b\u{1}");
        let texts = ["a".to_owned(), "\0".to_owned()];
        assert_eq!(storable_of(&texts).collect::<Vec<_>>(), ["a"]);
    }
}
