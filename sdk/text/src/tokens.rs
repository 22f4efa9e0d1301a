//! The words of a text, and the runs of scripts that are written without spaces.

use unicode_normalization::{UnicodeNormalization as _, char::is_combining_mark};
use unicode_script::{Script, UnicodeScript as _};

/// The longest word, in bytes; what is longer is cut.
const MAX_WORD: usize = 64;

/// A part of a text that is searched as one word.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Token {
    /// A word, in lower case and normal form KC.
    Word(String),
    /// Adjacent characters of one script that is written without spaces.
    Run { script: Script, characters: Vec<char> },
}

/// Returns the tokens of a text in their order.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let normal: Vec<char> = text.nfkc().flat_map(char::to_lowercase).nfc().collect();
    let mut tokens = Vec::new();
    let mut rest = normal.as_slice();
    let begins = |character: &char| character.is_alphanumeric() && !is_combining_mark(*character);
    while let Some(first) = rest.iter().position(begins) {
        rest = rest.get(first..).unwrap_or_default();
        let script = rest.first().copied().and_then(unspaced);
        let inside = |character: &char| {
            (character.is_alphanumeric() || is_combining_mark(*character))
                && (is_combining_mark(*character) || unspaced(*character) == script)
        };
        let end = rest.iter().position(|character| !inside(character)).unwrap_or(rest.len());
        let (characters, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        tokens.push(match script {
            Some(script) => Token::Run { script, characters: characters.to_vec() },
            None => Token::Word(cut(&word(characters, after)).to_owned()),
        });
        rest = after;
    }
    tokens
}

/// Returns the word with a sign after it that belongs to it, spelled out: `C++` and `C#` are names.
fn word(characters: &[char], after: &[char]) -> String {
    let sign = match after {
        ['+', '+', ..] => "plusplus",
        ['#', next, ..] if next.is_alphanumeric() => "",
        ['#', ..] => "sharp",
        _ => "",
    };
    characters.iter().collect::<String>() + sign
}

/// Returns the script of a character, if the script is written without spaces between words. Korean
/// is among them, because its particles follow the word without a space.
fn unspaced(character: char) -> Option<Script> {
    use Script::{Bopomofo, Han, Hangul, Hiragana, Katakana, Khmer, Lao, Myanmar, Thai, Tibetan};
    if character == 'ー' {
        return Some(Katakana);
    }
    let script = character.script();
    [Bopomofo, Han, Hangul, Hiragana, Katakana, Khmer, Lao, Myanmar, Thai, Tibetan]
        .contains(&script)
        .then_some(script)
}

/// Returns a word without the marks of its letters: those of the scripts in which people leave them out.
pub(crate) fn folded(word: &str) -> String {
    if word.is_ascii() {
        return word.to_owned();
    }
    let mut is_kept = false;
    word.nfd()
        .filter(|&character| {
            if !is_combining_mark(character) {
                use Script::{Arabic, Cyrillic, Greek, Hebrew, Latin};
                let script = character.script();
                is_kept = ![Arabic, Cyrillic, Greek, Hebrew, Latin].contains(&script);
                return true;
            }
            is_kept
        })
        .nfc()
        .flat_map(letters)
        .collect()
}

/// Returns the usual spelling of a letter that has no decomposition.
fn letters(letter: char) -> impl Iterator<Item = char> {
    let spelling = match letter {
        'ß' => ['s', 's'],
        'æ' => ['a', 'e'],
        'œ' => ['o', 'e'],
        'ø' => ['o', '\0'],
        'ł' => ['l', '\0'],
        'đ' => ['d', '\0'],
        'ı' => ['i', '\0'],
        other => [other, '\0'],
    };
    spelling.into_iter().filter(|letter| *letter != '\0')
}

/// Returns the beginning of a word that is too long for the index.
pub(crate) fn cut(word: &str) -> &str {
    word.get(..word.floor_char_boundary(MAX_WORD)).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Vec<String> {
        let text_of = |token| match token {
            Token::Word(word) => word,
            Token::Run { characters, .. } => characters.into_iter().collect(),
        };
        tokens(text).into_iter().map(text_of).collect()
    }

    #[test]
    fn words_end_at_what_is_no_letter() {
        assert_eq!(written("Flats, two FLAT-houses"), ["flats", "two", "flat", "houses"]);
        assert_eq!(written("ＣＡＦＥ ﬁelds x²"), ["cafe", "fields", "x2"]);
        assert_eq!(written("phone_binding-2"), ["phone", "binding", "2"]);
        assert!(written(" ?! … ' 😀 \" * %").is_empty());
    }

    #[test]
    fn signs_of_names_belong_to_the_word() {
        assert_eq!(written("C++, C# and #1 a+b"), ["cplusplus", "csharp", "and", "1", "a", "b"]);
    }

    #[test]
    fn scripts_without_spaces_give_runs() {
        assert_eq!(
            written("東京のアパートを2LDKで"),
            ["東京", "の", "アパート", "を", "2ldk", "で"]
        );
        assert_eq!(written("서울에서 방"), ["서울에서", "방"]);
        assert_eq!(written("ｱﾊﾟｰﾄ"), ["アパート"]);
        assert_eq!(written("บ้านเช่า"), ["บ้านเช่า"]);
    }

    #[test]
    fn marks_are_removed_where_people_leave_them_out() {
        assert_eq!(folded("habitación"), "habitacion");
        assert_eq!(folded("straße"), "strasse");
        assert_eq!(folded("łódź"), "lodz");
        assert_eq!(folded("कमरा"), "कमरा");
        assert_eq!(folded("한국"), "한국");
    }

    #[test]
    fn long_words_are_cut_at_a_character() {
        assert_eq!(cut(&"x".repeat(100)), "x".repeat(64));
        assert_eq!(cut(&"ß".repeat(100)), "ß".repeat(32));
    }
}
