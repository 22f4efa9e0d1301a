//! Finds levels of languages in texts, such as `German C1` or `inglés B2`.

use crate::{
    clauses::{Word, matches, words_of},
    tables::LANGUAGES,
};

const LEVELS: [&str; 6] = ["a1", "a2", "b1", "b2", "c1", "c2"];

/// Returns the levels that a text names, as `de:C1`: each with the nearest language of its sentence.
pub(crate) fn levels(text: &str) -> Vec<String> {
    let words = words_of(text);
    let level = |at: usize| {
        let written = &words.get(at)?.text;
        if !LEVELS.contains(&written.as_str()) {
            return None;
        }
        let near = (0..words.len()).filter_map(|place| {
            let language = language_at(&words, place)?;
            let is_near = words.get(place)?.sentence == words.get(at)?.sentence;
            is_near.then_some((place.abs_diff(at), language))
        });
        let (_, language) = near.min()?;
        Some(format!("{language}:{}", written.to_uppercase()))
    };
    let mut found: Vec<String> = (0..words.len()).filter_map(level).collect();
    found.dedup();
    found
}

fn language_at(words: &[Word], at: usize) -> Option<&'static str> {
    let known = LANGUAGES
        .iter()
        .find(|(_, names)| names.iter().any(|name| matches(name, words, at).is_some()));
    known.map(|(tag, _)| *tag)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_belong_to_the_nearest_language() {
        assert_eq!(levels("Inglés C1 comprobable, alemán B1."), ["en:C1", "de:B1"]);
        assert_eq!(levels("Your German must carry a talk (C1). English is a plus."), ["de:C1"]);
        assert_eq!(levels("英語はC1です"), ["en:C1"]);
        assert!(levels("Gate B2, no language").is_empty());
    }
}
