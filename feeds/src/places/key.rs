//! Makes keys of names: names that differ only by case, accents or punctuation have the same key.

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};

/// Letters that have no decomposition, with the letters by which they are usually replaced.
const REPLACED: [(char, &str); 10] = [
    ('ß', "ss"),
    ('æ', "ae"),
    ('œ', "oe"),
    ('ø', "o"),
    ('ł', "l"),
    ('đ', "d"),
    ('ð', "d"),
    ('þ', "th"),
    ('ı', "i"),
    ('ħ', "h"),
];

/// Returns the key of a name: words in small letters without accents, separated by one space.
pub(super) fn key(name: &str) -> String {
    match name.is_ascii() {
        true => joined(name.chars().map(|character| character.to_ascii_lowercase())),
        false => {
            let plain = name.nfkd().filter(|character| !is_combining_mark(*character));
            joined(plain.flat_map(char::to_lowercase))
        }
    }
}

fn joined(characters: impl Iterator<Item = char>) -> String {
    let mut key = String::new();
    let mut is_gap = false;
    for character in characters {
        // "U.S." is "US", and "d'Ivoire" is "dIvoire".
        if matches!(character, '.' | '\'' | '’' | 'ʼ' | '‘') {
            continue;
        }
        if !character.is_alphanumeric() {
            is_gap = !key.is_empty();
            continue;
        }
        if is_gap {
            key.push(' ');
            is_gap = false;
        }
        let replaced = REPLACED.iter().find(|(letter, _)| *letter == character);
        match replaced.filter(|_| !character.is_ascii()) {
            Some((_, letters)) => key.push_str(letters),
            None => key.push(character),
        }
    }
    key
}

/// Returns the key with "st" and "saint" exchanged.
pub(super) fn saint(key: &str) -> String {
    let mut words = key.split(' ').map(|word| match word {
        "st" => "saint",
        "saint" => "st",
        other => other,
    });
    let first = words.next().unwrap_or_default().to_owned();
    words.fold(first, |key, word| key + " " + word)
}

/// Returns a hash of a key (FNV-1a): the gazetteer keeps hashes of its names instead of the names.
pub(super) fn hash(key: &str) -> u64 {
    key.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_written_differently_have_one_key() {
        for (one, other) in [
            ("München", "MUNCHEN"),
            ("Île-de-France", "ile de france"),
            ("U.S.", "US"),
            ("  St.  Louis ", "St Louis"),
            ("Łódź", "lodz"),
            ("Straße", "strasse"),
            ("Ｔｏｋｙｏ", "Tokyo"),
            ("Côte d’Ivoire", "Cote d'Ivoire"),
        ] {
            assert_eq!(key(one), key(other), "{one}");
        }
        assert_ne!(key("東京"), key("大阪"));
        assert_eq!(key(" -/🌍"), "");
    }
}
