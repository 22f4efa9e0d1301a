//! The words of a text for which a search finds it.

use crate::{
    concepts::{Part, parts},
    search::{LANGUAGES, languages},
    tables::PIECES,
};
use people_kit::{
    taxonomy::Highlight,
    words::{self, Language},
};
use std::{collections::BTreeSet, ops::Range};

/// The concepts and stems of a query.
struct Sought {
    concepts: BTreeSet<&'static str>,
    stems: BTreeSet<String>,
}

/// Returns for each text its words that match the query, or mean the same, in order and without overlap.
pub fn highlights(query: &str, texts: &[String]) -> Vec<Vec<Highlight>> {
    let sought = sought(query);
    texts.iter().map(|text| matches(&sought, text)).collect()
}

fn sought(query: &str) -> Sought {
    let languages = languages(query);
    let parts = parts(query, &languages);
    let is_stop_word = |form: &str| languages.iter().any(|language| language.is_stop_word(form));
    let words = parts.iter().map(|part| part.form.as_str()).filter(|form| !is_stop_word(form));
    let folded = words::folded(query);
    let pieces = PIECES.iter().filter(|(piece, _)| folded.contains(piece));
    Sought {
        stems: words.flat_map(stems).collect(),
        concepts: parts
            .iter()
            .flat_map(|part| part.concepts)
            .chain(pieces.flat_map(|(_, concepts)| *concepts))
            .copied()
            .collect(),
    }
}

/// Returns the stems of a word in every language, and the parts of a Japanese run.
fn stems(form: &str) -> Vec<String> {
    if form.chars().any(words::is_cjk) {
        return words::stems(form, Language::Japanese);
    }
    LANGUAGES.map(|language| language.stem(form)).into()
}

fn matches(sought: &Sought, text: &str) -> Vec<Highlight> {
    let language = words::language(text);
    let is_sought = |part: &Part| {
        part.concepts.iter().any(|concept| sought.concepts.contains(concept))
            || stems(&part.form).iter().any(|stem| sought.stems.contains(stem))
    };
    let mut found: Vec<Range<usize>> = parts(text, &[language, Language::English])
        .into_iter()
        .filter(|part| !part.form.chars().any(words::is_cjk) && is_sought(part))
        .map(|part| part.range)
        .collect();
    if text.chars().any(words::is_cjk) {
        let has_concept =
            |concepts: &[&str]| concepts.iter().any(|concept| sought.concepts.contains(concept));
        let pieces = PIECES.iter().filter(|(_, concepts)| has_concept(concepts));
        let runs = sought.stems.iter().filter(|stem| stem.chars().any(words::is_cjk));
        let written = pieces.map(|(piece, _)| *piece).chain(runs.map(String::as_str));
        found.extend(
            written.flat_map(|piece| {
                text.match_indices(piece).map(|(at, piece)| at..at + piece.len())
            }),
        );
        found.sort_by_key(|range| (range.start, range.end));
    }
    let mut highlights: Vec<Highlight> = Vec::new();
    let mut end = 0;
    for range in found {
        let (Some(before), Some(written)) = (text.get(..range.start), text.get(range.clone()))
        else {
            continue;
        };
        if range.start >= end {
            let start = before.chars().count();
            let length = written.chars().count();
            let text = written.to_owned();
            highlights.push(Highlight { text, start, end: start + length });
            end = range.end;
        }
    }
    highlights
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_match_or_mean_the_same_are_highlighted() {
        for (query, text, expected) in [
            ("an apartment with a garden", "Bright flat with a yard", vec!["flat", "yard"]),
            ("Gärten", "Wohnung mit Garten in Köln", vec!["Garten"]),
            ("猫可のアパート", "駅近、猫と暮らせるマンション", vec!["猫", "マンション"]),
            ("the", "the flat", vec![]),
        ] {
            let found = highlights(query, &[text.to_owned()]).concat();
            let words: Vec<&str> = found.iter().map(|word| word.text.as_str()).collect();
            assert_eq!(words, expected, "{query}");
            let characters: Vec<char> = text.chars().collect();
            for Highlight { text, start, end } in &found {
                assert_eq!(characters.get(*start..*end).unwrap().iter().collect::<String>(), *text);
            }
        }
    }
}
