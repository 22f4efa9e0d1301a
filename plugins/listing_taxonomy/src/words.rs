//! Splits text into words and stems them, for the index and for queries.

use snowball_stemmers_rs::{Algorithm, Stemmer};

/// Stop words: words that say nothing about a category.
const STOP: [&str; 72] = [
    "a", "about", "all", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but",
    "by", "can", "could", "do", "does", "for", "from", "get", "has", "have", "he", "her", "his",
    "how", "i", "i'd", "i'm", "if", "in", "is", "it", "its", "just", "like", "me", "my", "near",
    "no", "not", "of", "on", "or", "our", "please", "she", "so", "some", "somebody", "someone",
    "that", "the", "their", "them", "there", "they", "this", "to", "us", "very", "was", "we",
    "what", "who", "will", "with", "would", "you", "your",
];

/// A word as it was written, in lower case, and its stem.
#[derive(Debug)]
pub(crate) struct Word {
    pub(crate) text: String,
    pub(crate) stem: String,
}

/// Returns the words of a text in order, without stop words.
pub(crate) fn words(text: &str) -> Vec<Word> {
    let stemmer = Stemmer::create(Algorithm::English);
    text.to_lowercase()
        .replace('’', "'")
        .split(|character: char| !character.is_alphanumeric() && character != '\'')
        .map(|word| word.trim_matches('\''))
        .filter(|word| !word.is_empty() && STOP.binary_search(word).is_err())
        .map(|word| Word { text: word.to_owned(), stem: stemmer.stem(word).into_owned() })
        .collect()
}

/// Returns the stems of pairs of adjacent words, which are terms of the index too.
pub(crate) fn pairs(words: &[Word]) -> impl Iterator<Item = String> {
    words
        .iter()
        .zip(words.iter().skip(1))
        .map(|(first, second)| format!("{} {}", first.stem, second.stem))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stems(text: &str) -> Vec<String> {
        words(text).into_iter().map(|word| word.stem).collect()
    }

    #[test]
    fn words_are_folded_and_stemmed() {
        assert_eq!(stems("Designers, DESIGNING the design"), ["design", "design", "design"]);
        assert_eq!(stems("Ärzte/Köche"), ["ärzte", "köche"]);
        assert_eq!(stems("the landlord’s flats"), ["landlord", "flat"]);
    }

    #[test]
    fn stop_words_are_in_order_and_left_out() {
        assert!(STOP.is_sorted());
        assert!(stems("I would like to be with you").is_empty());
    }

    #[test]
    fn pairs_skip_stop_words() {
        let words = words("looking for a room");
        assert_eq!(pairs(&words).collect::<Vec<_>>(), ["look room"]);
    }
}
