//! The content of a text as a set of words, in which synonyms in five languages count as one word.

use crate::tables::{PIECES, WORDS};
use people_kit::words::{self, Language};
use std::{collections::BTreeSet, ops::Range};

/// The maximum number of words of a phrase that is looked up.
const LONGEST_PHRASE: usize = 3;
/// The minimum number of letters of the last part of a German compound, and of what is before it.
/// In a text of another language, the last part needs `SHORTEST_PART_ELSEWHERE` letters.
const SHORTEST_PART: usize = 4;
const SHORTEST_PART_ELSEWHERE: usize = 6;
/// The maximum number of words of a gist.
const MOST: usize = 100;

/// Returns the distinct words of a text without stop words, each as its stem or, if it has synonyms,
/// as `#` and their common name.
pub fn gist(text: &str) -> Vec<String> {
    let concepts = concepts(text, words::language(text));
    concepts.into_iter().take(MOST).collect()
}

/// Returns the number of words that two gists have in common. It needs no statistics of other texts,
/// so that the score of two listings does not depend on other listings, and is the same from both
/// sides.
pub fn words_in_common(one: &[String], other: &[String]) -> usize {
    let other_words: BTreeSet<&String> = other.iter().collect();
    one.iter().filter(|word| other_words.contains(word)).count()
}

/// Returns the concepts of a text in a language.
pub(crate) fn concepts(text: &str, language: Language) -> BTreeSet<String> {
    let mut concepts = BTreeSet::new();
    let latin = without_pieces(text, &mut concepts);
    for part in parts(&latin, &[language, Language::English]) {
        let form = part.form;
        if !part.concepts.is_empty() {
            concepts.extend(part.concepts.iter().map(|concept| format!("#{concept}")));
        } else if form.chars().any(words::is_cjk) {
            concepts.extend(words::stems(&form, language));
        } else if !language.is_stop_word(&form) && form.chars().count() > 1 {
            concepts.insert(language.stem(&form));
        }
    }
    concepts
}

/// Adds the Japanese words with synonyms, and returns the text without them.
fn without_pieces(text: &str, concepts: &mut BTreeSet<String>) -> String {
    replace_pieces(text, |_, found| {
        concepts.extend(found.iter().map(|concept| format!("#{concept}")));
        " ".to_owned()
    })
}

/// Returns the text with its Japanese words that have synonyms replaced, at each place the longest one.
pub(crate) fn replace_pieces(text: &str, mut with: impl FnMut(&str, &[&str]) -> String) -> String {
    if !text.chars().any(words::is_cjk) {
        return text.to_owned();
    }
    let folded = words::folded(text);
    let mut rest = folded.as_str();
    let mut replaced = String::new();
    while let Some(first) = rest.chars().next() {
        let piece = words::is_cjk(first)
            .then(|| PIECES.iter().find(|(piece, _)| rest.starts_with(piece)))
            .flatten();
        let length = match piece {
            Some((piece, found)) => {
                replaced.push_str(&with(piece, found));
                piece.len()
            }
            None => {
                replaced.push(first);
                first.len_utf8()
            }
        };
        rest = rest.get(length..).unwrap_or_default();
    }
    replaced
}

/// A word of a text, or a known phrase.
pub(crate) struct Part {
    /// The positions in bytes.
    pub(crate) range: Range<usize>,
    /// The first word, in lower case.
    pub(crate) form: String,
    /// The number of words.
    pub(crate) length: usize,
    /// The concepts of a known phrase or compound.
    pub(crate) concepts: &'static [&'static str],
}

/// Returns the words and the known phrases of a text in order. A phrase has the concepts of the first of the
/// languages in which it is known.
pub(crate) fn parts(text: &str, languages: &[Language]) -> Vec<Part> {
    let forms = words::forms(text);
    let mut parts = Vec::new();
    let mut at = 0;
    while let Some((range, form)) = forms.get(at) {
        let known = phrase(text, &forms, at, languages).or_else(|| {
            let language = languages.first().copied().unwrap_or(Language::English);
            Some((compound(form, language)?, 1))
        });
        let (concepts, length) = known.unwrap_or((&[], 1));
        let end = forms.get(at + length - 1).map_or(range.end, |(last, _)| last.end);
        parts.push(Part { range: range.start..end, form: form.clone(), length, concepts });
        at += length;
    }
    parts
}

/// Returns the concepts of the longest known phrase that begins at a word, and its number of words.
fn phrase(
    text: &str,
    forms: &[(Range<usize>, String)],
    at: usize,
    languages: &[Language],
) -> Option<(&'static [&'static str], usize)> {
    (1..=LONGEST_PHRASE).rev().find_map(|length| {
        let phrase = forms.get(at..at + length)?;
        if phrase.windows(2).any(|pair| is_separated(text, pair)) {
            return None;
        }
        let is_stop_word =
            |form: &str| languages.first().is_some_and(|first| first.is_stop_word(form));
        let is_stop = length == 1 && phrase.iter().any(|(_, form)| is_stop_word(form));
        if is_stop {
            return None;
        }
        let found = languages.iter().find_map(|language| {
            let stems: Vec<String> = phrase.iter().map(|(_, form)| language.stem(form)).collect();
            known(&format!("{}:{}", language.tag(), stems.join(" ")))
        });
        Some((found?, length))
    })
}

/// Returns whether a mark between two words separates them.
fn is_separated(text: &str, pair: &[(Range<usize>, String)]) -> bool {
    const SEPARATORS: [char; 7] = ['|', '.', '!', '?', ';', ':', '\n'];
    let [(one, _), (other, _)] = pair else { return false };
    text.get(one.end..other.start).is_some_and(|between| between.contains(SEPARATORS))
}

/// Returns the concepts of the longest known last part of a German compound: that part says what
/// the compound is.
fn compound(form: &str, language: Language) -> Option<&'static [&'static str]> {
    let shortest =
        if language == Language::German { SHORTEST_PART } else { SHORTEST_PART_ELSEWHERE };
    let starts = form.char_indices().map(|(at, _)| at);
    let starts = starts.skip(SHORTEST_PART).filter(|at| form.len() - at >= shortest);
    starts.into_iter().find_map(|at| {
        let part = form.get(at..)?;
        known(&format!("de:{}", language.stem(part)))
    })
}

pub(crate) fn known(key: &str) -> Option<&'static [&'static str]> {
    let place = WORDS.binary_search_by_key(&key, |(known, _)| known).ok()?;
    WORDS.get(place).map(|(_, concepts)| *concepts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn common(one: &str, other: &str) -> f64 {
        let (one, other) = (gist(one), gist(other));
        let both = (one.len() as f64 * other.len() as f64).sqrt();
        words_in_common(&one, &other) as f64 / both.max(1.0)
    }

    #[test]
    fn synonyms_meet_across_languages() {
        for (one, other) in [
            ("Backend dev", "backend engineer"),
            ("a flat with a yard", "an apartment with a garden"),
            ("Eine Wohnung mit Garten", "a flat with a garden"),
            ("Gartenwohnung", "flat"),
            ("Un piso con jardín", "an apartment with a garden"),
            ("Je cherche un appartement avec un jardin", "flat with garden"),
            ("庭付きのアパート", "apartment with a garden"),
            ("physio", "physiotherapist"),
        ] {
            assert!(common(one, other) > 0.4, "{one} / {other}: {:?} {:?}", gist(one), gist(other));
        }
    }

    #[test]
    fn other_words_do_not_meet() {
        assert_eq!(common("a flat with a garden", "a job for a nurse"), 0.0);
        assert_eq!(common("", "flat"), 0.0);
    }
}
