//! The words of a text, and the scripts of a word.

use icu_properties::{
    CodePointMapData,
    props::{GeneralCategory, GeneralCategoryGroup},
};
use unicode_normalization::UnicodeNormalization as _;
use unicode_script::{Script, UnicodeScript as _};
use unicode_security::{MixedScript as _, skeleton};

pub(crate) fn is_mark(letter: char) -> bool {
    let category = CodePointMapData::<GeneralCategory>::new().get(letter);
    GeneralCategoryGroup::Mark.contains(category)
}

pub(crate) fn is_letter_or_digit(letter: char) -> bool {
    letter.is_alphanumeric() && !is_mark(letter)
}

/// Returns the words of a text: its runs of letters, digits and marks on them.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_between = |letter: char| !letter.is_alphanumeric() && !is_mark(letter);
    text.split(is_between).filter(|word| !word.is_empty())
}

/// Returns whether the letters of a word belong together (UTS #39, section 5.2, "highly
/// restrictive"): they are of one script, or of Chinese, Japanese or Korean with Latin letters
/// among them, as in 株式会社ABC. A letter of these three that looks like a Latin one is refused there.
pub(crate) fn is_in_one_script(word: &str) -> bool {
    if word.is_single_script() {
        return true;
    }
    let others: String = word.nfc().filter(|letter| letter.script() != Script::Latin).collect();
    let scripts = others.as_str().resolve_script_set();
    (scripts.hanb || scripts.jpan || scripts.kore) && !others.chars().any(looks_latin)
}

/// Returns whether a letter looks like a letter or a digit of ASCII.
fn looks_latin(letter: char) -> bool {
    let is_neutral = matches!(letter.script(), Script::Common | Script::Inherited);
    !is_neutral
        && skeleton(letter.encode_utf8(&mut [0; 4])).all(|letter| letter.is_ascii_alphanumeric())
}
