//! Splits texts into words and reduces words to stems, in the languages that listings are written
//! in.

use snowball_stemmers_rs::{Algorithm, Stemmer};
use std::ops::Range;
use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// A language that listings are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Language {
    English,
    German,
    Spanish,
    French,
    Japanese,
}

/// The languages whose words are stemmed. [`STOP_WORDS`] has one line for each, in this order.
const STEMMED: [(Language, Algorithm); 4] = [
    (Language::English, Algorithm::English),
    (Language::German, Algorithm::German),
    (Language::Spanish, Algorithm::Spanish),
    (Language::French, Algorithm::French),
];
const STOP_WORDS: &str = include_str!("words/stop.txt");

impl Language {
    /// Returns the language of a BCP 47 tag such as `de-AT`; `None` for any other language.
    pub fn of_tag(tag: &str) -> Option<Self> {
        let primary = tag.split('-').next()?;
        let all = [Self::English, Self::German, Self::Spanish, Self::French, Self::Japanese];
        all.into_iter().find(|language| language.tag() == primary)
    }

    /// Returns its BCP 47 tag.
    pub fn tag(self) -> &'static str {
        match self {
            Self::English => "en",
            Self::German => "de",
            Self::Spanish => "es",
            Self::French => "fr",
            Self::Japanese => "ja",
        }
    }

    fn stop_words(self) -> &'static str {
        let place = STEMMED.iter().position(|(language, _)| *language == self);
        place.and_then(|place| STOP_WORDS.lines().nth(place)).unwrap_or_default()
    }

    /// Returns whether a word in lower case says nothing about the content.
    pub fn is_stop_word(self, form: &str) -> bool {
        self.stop_words().split(' ').any(|stop| stop == form)
    }

    /// Returns the stem of a word in lower case, without accents. Japanese words have no stem and
    /// are returned unchanged.
    pub fn stem(self, form: &str) -> String {
        match STEMMED.iter().find(|(language, _)| *language == self) {
            Some((_, algorithm)) => folded(&Stemmer::create(*algorithm).stem(form)),
            None => form.to_owned(),
        }
    }
}

/// Returns the language whose stop words are the most frequent; Japanese if there are Japanese letters.
pub fn language(text: &str) -> Language {
    if text.chars().any(is_cjk) {
        return Language::Japanese;
    }
    let forms = forms(text);
    let count = |of: Language| forms.iter().filter(|(_, form)| of.is_stop_word(form)).count();
    // `max_by_key` returns the last of several maxima, and so the first language of the table.
    let most = STEMMED.iter().rev().max_by_key(|(language, _)| count(*language));
    most.map_or(Language::English, |(language, _)| *language)
}

/// Returns the words of a text with their positions in bytes: in Unicode normal form KC and lower
/// case. `+` and `#` after a letter belong to it, as in `c++`.
pub fn forms(text: &str) -> Vec<(Range<usize>, String)> {
    let mut forms = Vec::new();
    let mut start = None;
    let mut before = ' ';
    for (at, letter) in text.char_indices().chain([(text.len(), ' ')]) {
        let joins = matches!(letter, '+' | '#') && before.is_alphanumeric()
            || letter == '+' && before == '+';
        let inside = letter.is_alphanumeric() || is_combining_mark(letter) || joins;
        match start {
            None if inside => start = Some(at),
            Some(first) if !inside => {
                let written = text.get(first..at).unwrap_or_default();
                let form = written.nfkc().flat_map(char::to_lowercase).collect();
                forms.push((first..at, form));
                start = None;
            }
            _ => {}
        }
        before = letter;
    }
    forms
}

/// Returns a text in lower case without accents and other marks on Latin letters.
pub fn folded(text: &str) -> String {
    let lower = text.nfkc().flat_map(char::to_lowercase).collect::<String>();
    if lower.chars().any(is_cjk) {
        return lower;
    }
    lower.nfd().filter(|letter| !is_combining_mark(*letter)).collect()
}

/// Returns the words of a text in order, as stems without stop words. Japanese, which has no
/// spaces, gives its katakana words and pairs of adjacent Chinese characters.
pub fn stems(text: &str, language: Language) -> Vec<String> {
    let mut stems = Vec::new();
    for (_, form) in forms(text) {
        if form.chars().any(is_cjk) {
            stems.extend(pieces(&form));
        } else if !language.is_stop_word(&form) {
            stems.push(language.stem(&form));
        }
    }
    stems
}

/// Returns the parts of a run of Japanese: katakana and Latin words whole, two adjacent Chinese
/// characters each. Hiragana are mostly endings and particles.
fn pieces(form: &str) -> Vec<String> {
    let letters: Vec<char> = form.chars().collect();
    let mut pieces = Vec::new();
    for run in letters.chunk_by(|one, other| script(*one) == script(*other)) {
        match run.first().map(|letter| script(*letter)) {
            Some(Script::Han) if run.len() > 2 => {
                pieces.extend(run.windows(2).map(|pair| pair.iter().collect::<String>()));
            }
            Some(Script::Hiragana) | None => {}
            Some(_) => pieces.push(run.iter().collect()),
        }
    }
    pieces
}

#[derive(PartialEq, Eq)]
enum Script {
    Han,
    Hiragana,
    Katakana,
    Other,
}

fn script(letter: char) -> Script {
    match letter {
        '\u{3041}'..='\u{309f}' => Script::Hiragana,
        '\u{30a0}'..='\u{30ff}' => Script::Katakana,
        '\u{3400}'..='\u{9fff}' | '々' => Script::Han,
        _ => Script::Other,
    }
}

/// Returns whether the letter belongs to a script that is written without spaces.
pub fn is_cjk(letter: char) -> bool {
    script(letter) != Script::Other
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_language_follows_from_the_text() {
        for (text, expected) in [
            ("A room with a view of the park", Language::English),
            ("Wir suchen ein Zimmer mit Balkon", Language::German),
            ("Busco una habitación en el centro", Language::Spanish),
            ("Je cherche une chambre dans le centre", Language::French),
            ("東京のアパートを探しています", Language::Japanese),
            ("Rust", Language::English),
        ] {
            assert_eq!(language(text), expected, "{text}");
        }
    }

    #[test]
    fn inflections_have_one_stem() {
        for (language, one, other) in [
            (Language::English, "gardens", "garden"),
            (Language::German, "Wohnungen", "Wohnung"),
            (Language::Spanish, "habitaciones", "habitación"),
            (Language::French, "infirmières", "infirmière"),
        ] {
            assert_eq!(stems(one, language), stems(other, language), "{one}");
        }
    }

    #[test]
    fn japanese_is_split_without_spaces() {
        assert_eq!(stems("東京のアパート", Language::Japanese), ["東京", "アパート"]);
        assert_eq!(stems("介護福祉士", Language::Japanese), ["介護", "護福", "福祉", "祉士"]);
    }

    #[test]
    fn signs_of_names_belong_to_the_word() {
        assert_eq!(stems("C++ and C#", Language::English), ["c++", "c#"]);
    }
}
