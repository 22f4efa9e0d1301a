//! The set of a word's letters as bits: a cheap bound on the similarity of two words.

/// Returns one bit for each of a to z and 0 to 9, and one for everything else.
pub(crate) fn letters(form: &str) -> u64 {
    form.chars().fold(0, |set, character| {
        let bit = match character {
            'a'..='z' => character as u32 - 'a' as u32,
            '0'..='9' => 26 + character as u32 - '0' as u32,
            _ => 36,
        };
        set | 1 << bit
    })
}
