//! Words for searches: a listing is indexed under the concepts of its texts and values, and a query has them as
//! alternatives to its own words.

use crate::{
    concepts::{Part, gist, parts, replace_pieces},
    numbers,
    tables::WORDS,
};
use people_kit::words::{self, Language};
use serde_json::{Map, Value};
use std::collections::BTreeSet;

/// The languages of the known words.
pub(crate) const LANGUAGES: [Language; 4] =
    [Language::English, Language::German, Language::Spanish, Language::French];
/// The minimum number of letters of a word in which one letter may be wrong, missing or too many. Shorter words are too
/// often other words.
const SHORTEST_TYPO: usize = 6;
/// The minimum number of letters of a word in which two letters may be swapped.
const SHORTEST_SWAP: usize = 5;

/// Returns the words, other than those of its texts, by which a listing is found: the concepts of its texts, and its
/// values with their concepts.
pub fn index_words(text: &str, values: [&Map<String, Value>; 2]) -> String {
    let mut said = String::new();
    for (name, value) in values.into_iter().flatten() {
        write_value(&mut said, name, value);
    }
    let concepts: BTreeSet<String> = [text, &said]
        .into_iter()
        .flat_map(gist)
        .filter_map(|word| Some(marker(word.strip_prefix('#')?)))
        .collect();
    concepts.into_iter().fold(said, |all, concept| all + " " + &concept)
}

/// Adds the words of a value; a number has the name of its attribute.
fn write_value(words: &mut String, name: &str, value: &Value) {
    match value {
        Value::String(text) => {
            words.push(' ');
            words.push_str(&text.replace('_', " "));
        }
        Value::Number(number) => {
            words.push_str(&format!(" {number} {}", name.replace('_', " ")));
        }
        Value::Array(values) => values.iter().for_each(|value| write_value(words, name, value)),
        Value::Object(values) => {
            values.iter().for_each(|(name, value)| write_value(words, name, value));
        }
        Value::Bool(true) => {
            words.push(' ');
            words.push_str(&name.replace('_', " "));
        }
        Value::Bool(false) | Value::Null => {}
    }
}

/// Returns a query in which each word has its concepts as alternatives, separated by `|`.
pub fn expand_query(query: &str) -> String {
    let query = replace_pieces(query, |piece, found| format!(" {} ", alternatives(piece, found)));
    let languages = languages(&query);
    let mut expanded = String::new();
    let mut end = 0;
    for part in parts(&query, &languages) {
        expanded.push_str(query.get(end..part.range.start).unwrap_or_default());
        let written = query.get(part.range.clone()).unwrap_or_default();
        expanded.push_str(&expand(&part, written, &languages));
        end = part.range.end;
    }
    expanded + query.get(end..).unwrap_or_default()
}

/// Returns the names of the concepts of a query, which are English words, in whichever language the query is.
pub fn concept_names(query: &str) -> String {
    let mut names = BTreeSet::new();
    let latin = replace_pieces(query, |_, found| {
        names.extend(found.iter().copied().map(str::to_owned));
        " ".to_owned()
    });
    for part in parts(&latin, &languages(&latin)) {
        names.extend(part.concepts.iter().copied().map(str::to_owned));
    }
    names.into_iter().collect::<Vec<_>>().join(" ").replace('_', " ")
}

/// Returns the languages that a query may be in: those of which it has the most stop words. A query is short, so
/// there are often several.
pub fn languages(query: &str) -> Vec<Language> {
    let forms = words::forms(query);
    let stop_words = LANGUAGES
        .map(|language| forms.iter().filter(|(_, form)| language.is_stop_word(form)).count());
    let most = stop_words.iter().max();
    let likely = LANGUAGES.into_iter().zip(&stop_words).filter(|(_, count)| Some(*count) == most);
    likely.map(|(language, _)| language).collect()
}

fn expand(part: &Part, written: &str, languages: &[Language]) -> String {
    if part.length > 1 {
        // A listing has each word of the phrase, or one of the concepts.
        let words = words::forms(written).into_iter();
        let words = words.map(|(_, word)| alternatives(&word, part.concepts));
        return words.collect::<Vec<_>>().join(" ");
    }
    if !part.concepts.is_empty() {
        return alternatives(written, part.concepts);
    }
    if languages.iter().any(|language| language.is_stop_word(&part.form)) {
        return written.to_owned();
    }
    let folded = words::folded(&part.form);
    match languages.iter().find_map(|language| numbers::number(&folded, *language)) {
        Some(number) => format!("{written}|{number}"),
        None => alternatives(written, &similar(&part.form)),
    }
}

/// Returns a word with the markers of concepts as alternatives.
fn alternatives(written: &str, concepts: &[&str]) -> String {
    markers(concepts).into_iter().fold(written.to_owned(), |all, marker| all + "|" + &marker)
}

fn markers(concepts: &[&str]) -> BTreeSet<String> {
    concepts.iter().map(|concept| marker(concept)).collect()
}

/// Returns the word under which a concept is indexed. It ends with a digit, so that no stemmer changes it and no word
/// is equal to it.
fn marker(concept: &str) -> String {
    concept.chars().filter(|letter| letter.is_alphanumeric()).chain(['0']).collect()
}

/// Returns the concepts of the known words that differ from a word by one typing error.
fn similar(form: &str) -> Vec<&'static str> {
    let length = form.chars().count();
    if length < SHORTEST_SWAP || form.chars().any(words::is_cjk) {
        return Vec::new();
    }
    let stems = LANGUAGES.map(|language| (language.tag(), language.stem(form)));
    let is_similar = |key: &str| {
        let Some((tag, known)) = key.split_once(':') else { return false };
        let Some((_, stem)) = stems.iter().find(|(of, _)| *of == tag) else { return false };
        let is_swap = || known.len() == stem.len() && sorted(known) == sorted(stem);
        known.starts_with(stem.get(..1).unwrap_or(stem))
            && known.len().abs_diff(stem.len()) <= 1
            && (length >= SHORTEST_TYPO || is_swap())
            && strsim::osa_distance(known, stem) == 1
    };
    let known = WORDS.iter().filter(|(key, _)| is_similar(key));
    known.flat_map(|(_, concepts)| concepts.iter().copied()).collect()
}

fn sorted(word: &str) -> Vec<char> {
    let mut letters: Vec<char> = word.chars().collect();
    letters.sort_unstable();
    letters
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn words_of_queries_have_their_concepts_as_alternatives() {
        for (query, expanded) in [
            ("a flat with a yard", "a flat|apartment0 with a yard|garden0|house0"),
            ("Wohnung mit Garten", "Wohnung|apartment0 mit Garten|garden0"),
            ("two cats", "two|2 cats|cat0"),
            ("board games", "board|games0 games|games0"),
            ("flat|apartment", "flat|apartment0|apartment|apartment0"),
            ("猫", " 猫|cat0 "),
            ("家賃", " 家賃|rent0 "),
            ("Zanzibar 7", "Zanzibar 7"),
        ] {
            assert_eq!(expand_query(query), expanded);
        }
    }

    #[test]
    fn a_typing_error_is_corrected() {
        for (query, concept) in
            [("appartment", "apartment0"), ("paino", "piano0"), ("gardne", "garden0")]
        {
            assert!(expand_query(query).split('|').any(|word| word == concept), "{query}");
        }
        assert_eq!(expand_query("Tokyo"), "Tokyo");
    }

    #[test]
    fn listings_are_found_by_what_their_texts_and_values_mean() {
        let attributes = json!({ "bedrooms": 2, "pets": "not_allowed", "elevator": true });
        let words = index_words("Piso con jardín", [attributes.as_object().unwrap(), &Map::new()]);
        let words: Vec<&str> = words.split_whitespace().collect();
        for word in ["2", "bedrooms", "not", "allowed", "elevator", "apartment0", "garden0"] {
            assert!(words.contains(&word), "{word}: {words:?}");
        }
    }
}
