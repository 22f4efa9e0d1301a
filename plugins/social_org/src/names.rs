//! The comparison of names.

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// Returns a name's key: in compatibility form, without case, accents and punctuation; empty if
/// nothing is left.
pub(crate) fn key(name: &str) -> String {
    let plain: String = name
        .nfkd()
        .filter(|letter| !is_combining_mark(*letter))
        .flat_map(char::to_lowercase)
        .collect();
    let words =
        plain.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::key;

    #[test]
    fn names_that_look_alike_are_the_same() {
        for (one, other) in [
            ("Copperleaf Robotics", "COPPERLEAF  robotics"),
            ("Café Zürich", "cafe zurich"),
            ("Acme, Inc.", "acme inc"),
            ("\u{ff21}cme", "Acme"),
            ("A-B", "a b"),
        ] {
            assert_eq!(key(one), key(other), "{one}");
        }
        assert_ne!(key("Acme One"), key("Acme Two"));
        assert_ne!(key("Ab"), key("A b"));
        assert_eq!(key("...!"), "");
    }
}
