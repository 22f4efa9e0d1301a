//! Languages: how they are recognised, their stop words and their stems.

use crate::tokens::{Token, cut, folded};
use snowball_stemmers_rs::{Algorithm, Stemmer};
use std::{collections::HashMap, sync::LazyLock};
use stop_words::Language as StopWords;
use unicode_script::{Script, UnicodeScript as _};

/// A language whose words are stemmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    English,
    German,
    Spanish,
    French,
    Portuguese,
    Italian,
    Dutch,
    Russian,
    Arabic,
    Hindi,
}

/// The shortest stem of a language that a text is probably not in, in characters. A shorter one would be another
/// word: the Italian stem of "note" is "not".
const MIN_FOREIGN_STEM: usize = 4;

/// A language with its script, its stemmer, and its list of stop words, if there is one.
struct Entry {
    language: Language,
    script: Script,
    algorithm: Algorithm,
    stop_words: Option<StopWords>,
}

const fn entry(
    language: Language,
    script: Script,
    algorithm: Algorithm,
    stop_words: StopWords,
) -> Entry {
    Entry { language, script, algorithm, stop_words: Some(stop_words) }
}

/// The languages of a script follow each other from the one that is assumed in doubt.
const LANGUAGES: [Entry; 10] = [
    entry(Language::English, Script::Latin, Algorithm::English, StopWords::English),
    entry(Language::German, Script::Latin, Algorithm::German, StopWords::German),
    entry(Language::Spanish, Script::Latin, Algorithm::Spanish, StopWords::Spanish),
    entry(Language::French, Script::Latin, Algorithm::French, StopWords::French),
    entry(Language::Portuguese, Script::Latin, Algorithm::Portuguese, StopWords::Portuguese),
    entry(Language::Italian, Script::Latin, Algorithm::Italian, StopWords::Italian),
    entry(Language::Dutch, Script::Latin, Algorithm::Dutch, StopWords::Dutch),
    entry(Language::Russian, Script::Cyrillic, Algorithm::Russian, StopWords::Russian),
    entry(Language::Arabic, Script::Arabic, Algorithm::Arabic, StopWords::Arabic),
    Entry {
        language: Language::Hindi,
        script: Script::Devanagari,
        algorithm: Algorithm::Hindi,
        stop_words: None,
    },
];

/// For each stop word, the languages in which it is one, as bits in the order of [`LANGUAGES`].
static STOP_WORDS: LazyLock<HashMap<&str, u16>> = LazyLock::new(|| {
    let mut languages = HashMap::new();
    for (place, entry) in LANGUAGES.iter().enumerate() {
        for word in entry.stop_words.into_iter().flat_map(stop_words::get) {
            *languages.entry(*word).or_default() |= 1 << place;
        }
    }
    languages
});

/// The language of a text, as far as the text tells it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Detected {
    pub(crate) language: Language,
    /// Whether one of its stop words is in the text.
    is_certain: bool,
}

impl Detected {
    /// Returns the distinct stems of a word in lower case: in the language, and if that is uncertain, in every
    /// language of the word's script.
    pub(crate) fn stems(self, word: &str) -> Vec<String> {
        let mut stems = self.language.stems(word);
        if !self.is_certain {
            let foreign = LANGUAGES
                .iter()
                .filter(|entry| entry.language != self.language && is_in(word, entry.script))
                .flat_map(|entry| entry.language.stems(word))
                .filter(|stem| stem.chars().count() >= MIN_FOREIGN_STEM);
            for stem in foreign {
                if !stems.contains(&stem) {
                    stems.push(stem);
                }
            }
        }
        stems
    }
}

impl Language {
    fn place(self) -> usize {
        LANGUAGES.iter().position(|entry| entry.language == self).unwrap_or_default()
    }

    /// Returns whether a word in lower case says nothing about the content.
    pub(crate) fn is_stop_word(self, word: &str) -> bool {
        STOP_WORDS.get(word).is_some_and(|languages| languages & (1 << self.place()) != 0)
    }

    /// Returns the stems of a word in lower case, without diacritics: that of the word as it is written, and
    /// that of the word without its diacritics.
    fn stems(self, word: &str) -> Vec<String> {
        let Some(entry) = LANGUAGES.get(self.place()).filter(|entry| is_in(word, entry.script))
        else {
            return vec![cut(&folded(word)).to_owned()];
        };
        let stemmer = Stemmer::create(entry.algorithm);
        let stem = |word: &str| {
            let stem = folded(&stemmer.stem(word));
            if stem.is_empty() { cut(&folded(word)).to_owned() } else { cut(&stem).to_owned() }
        };
        let mut stems = vec![stem(word)];
        if !word.is_ascii() {
            let other = stem(&folded(word));
            if !stems.contains(&other) {
                stems.push(other);
            }
        }
        stems
    }
}

fn is_in(word: &str, script: Script) -> bool {
    word.chars().any(|letter| letter.script() == script)
}

/// Returns the language whose stop words are the most frequent among those of the most frequent script.
pub(crate) fn detect<'t>(tokens: impl IntoIterator<Item = &'t Token>) -> Detected {
    let words = tokens.into_iter().filter_map(|token| match token {
        Token::Word(word) => Some(word.as_str()),
        Token::Run { .. } => None,
    });
    let (mut in_script, mut stop_words) = ([0_u32; LANGUAGES.len()], [0_u32; LANGUAGES.len()]);
    for word in words {
        let languages = STOP_WORDS.get(word).copied().unwrap_or_default();
        let counts = in_script.iter_mut().zip(&mut stop_words).zip(&LANGUAGES).enumerate();
        for (place, ((in_script, stop_words), entry)) in counts {
            *in_script += u32::from(is_in(word, entry.script));
            *stop_words += u32::from(languages & (1 << place) != 0);
        }
    }
    // `max_by_key` returns the last of several maxima, and so the first language of the table.
    let counts = in_script.iter().zip(&stop_words).zip(&LANGUAGES).rev();
    let most = counts.max_by_key(|((in_script, stop_words), _)| (**in_script, **stop_words));
    most.map_or(Detected { language: Language::English, is_certain: false }, |(counts, entry)| {
        Detected { language: entry.language, is_certain: *counts.1 > 0 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokens;

    #[test]
    fn the_language_follows_from_the_text() {
        for (text, expected) in [
            ("A room with a view of the park", Language::English),
            ("Wir suchen ein Zimmer mit Balkon", Language::German),
            ("Busco una habitación en el centro", Language::Spanish),
            ("Je cherche une chambre dans le centre", Language::French),
            ("Procuro um quarto com vista para o mar", Language::Portuguese),
            ("Cerco una camera con vista sul mare", Language::Italian),
            ("Ik zoek een kamer met uitzicht op het park", Language::Dutch),
            ("Ищу комнату с видом на парк", Language::Russian),
            ("أبحث عن شقة في وسط المدينة", Language::Arabic),
            ("मुझे एक कमरा चाहिए", Language::Hindi),
            ("Rust", Language::English),
            ("東京のアパート", Language::English),
        ] {
            assert_eq!(detect(&tokens(text)).language, expected, "{text}");
        }
    }

    #[test]
    fn inflections_have_one_stem() {
        for (language, one, other) in [
            (Language::English, "gardens", "garden"),
            (Language::German, "wohnungen", "wohnung"),
            (Language::Spanish, "habitaciones", "habitación"),
            (Language::French, "infirmières", "infirmière"),
            (Language::Portuguese, "quartos", "quarto"),
            (Language::Italian, "appartamenti", "appartamento"),
            (Language::Dutch, "kamers", "kamer"),
            (Language::Russian, "комнату", "комната"),
            (Language::Arabic, "المدينة", "مدينة"),
        ] {
            assert_eq!(language.stems(one).first(), language.stems(other).first(), "{one}");
        }
    }

    #[test]
    fn a_word_of_another_script_is_not_stemmed() {
        assert_eq!(Language::Russian.stems("flats"), ["flats"]);
        assert_eq!(Language::English.stems("комната"), ["комната"]);
    }
}
