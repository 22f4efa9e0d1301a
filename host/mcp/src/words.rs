//! An index of texts by their words, ranked by query likelihood: how probable a query's words are in the texts about a
//! document and its group, against the texts about all documents (Dirichlet smoothing; Zhai and Lafferty 2001). Words
//! such as "my" or "again" count too: they often tell what people want. So do parts of words, for words that are
//! misspelled, compounded or of another form than those of a document.

use portolan_text::terms;
use std::collections::{BTreeMap, HashMap};

/// How many terms of all documents are added to those of one document, and of one group.
const DOCUMENT_SMOOTHING: f64 = 20.0;
const GROUP_SMOOTHING: f64 = 200.0;
const PART_SMOOTHING: f64 = 200.0;
/// The weight of two words that follow each other, and of a part of a word, against one of a single word.
const PAIR_WEIGHT: f64 = 0.2;
const PART_WEIGHT: f64 = 0.15;
/// The numbers of characters of a part of a word.
const PART_CHARACTERS: [usize; 3] = [3, 4, 5];
/// The share of a query's parts of words that a document without any of its words must have to be found.
const FOUND_PARTS: f64 = 0.5;

/// The texts about a document.
#[derive(Debug, Default)]
pub(super) struct Document {
    /// The number of its group. Documents are in the order of their groups.
    pub(super) group: usize,
    /// Texts in which parts of words count too.
    pub(super) wanted: Vec<String>,
    /// Further texts, each with a weight.
    pub(super) texts: Vec<(f64, String)>,
}

/// The index. Documents have the numbers of their order.
#[derive(Debug)]
pub(super) struct Index {
    words: Counts,
    words_of_groups: Counts,
    parts: Counts,
    group_of: Vec<usize>,
}

/// A term of a query, with its share of all texts.
struct Wanted<'a> {
    term: &'a str,
    weight: f64,
    share: f64,
}

/// The weighted counts of terms in numbered texts.
#[derive(Debug, Default)]
struct Counts {
    /// The numbers of the texts, in order, each with the count.
    by_term: HashMap<String, Vec<(usize, f64)>>,
    lengths: Vec<f64>,
    total: f64,
}

impl Counts {
    /// Adds a term to the text with this number, which is the last one or one after it.
    fn add(&mut self, place: usize, term: String, weight: f64) {
        if self.lengths.len() <= place {
            self.lengths.resize(place + 1, 0.0);
        }
        if let Some(length) = self.lengths.get_mut(place) {
            *length += weight;
        }
        self.total += weight;
        let counts = self.by_term.entry(term).or_default();
        match counts.last_mut() {
            Some((last, count)) if *last == place => *count += weight,
            _ => counts.push((place, weight)),
        }
    }

    /// Returns the terms of a query that are known, in order, so that equal sums are equal.
    fn known<'a>(&self, terms: &'a BTreeMap<String, f64>) -> Vec<Wanted<'a>> {
        let known = terms.iter().filter_map(|(term, weight)| {
            let count: f64 = self.by_term.get(term)?.iter().map(|(_, count)| count).sum();
            Some(Wanted { term, weight: *weight, share: count / self.total })
        });
        known.collect()
    }

    fn texts_with(&self, term: &str) -> impl Iterator<Item = (usize, f64)> {
        self.by_term.get(term).into_iter().flatten().copied()
    }

    /// Returns for each text the logarithm of the likelihood of these terms, against their likelihood in all texts.
    fn scores(&self, terms: &[Wanted<'_>], smoothing: f64) -> Vec<f64> {
        let weight: f64 = terms.iter().map(|term| term.weight).sum();
        let without = |length: &f64| weight * (smoothing / (length + smoothing)).ln();
        let mut scores: Vec<f64> = self.lengths.iter().map(without).collect();
        for Wanted { term, weight, share } in terms {
            for (place, count) in self.texts_with(term) {
                if let Some(score) = scores.get_mut(place) {
                    *score += weight * (count / (smoothing * share)).ln_1p();
                }
            }
        }
        scores
    }

    /// Returns for each text the weight of those of these terms that it has.
    fn weights(&self, terms: &[Wanted<'_>]) -> Vec<f64> {
        let mut weights = vec![0.0; self.lengths.len()];
        for Wanted { term, weight, .. } in terms {
            for (place, _) in self.texts_with(term) {
                if let Some(sum) = weights.get_mut(place) {
                    *sum += weight;
                }
            }
        }
        weights
    }
}

impl Index {
    pub(super) fn new(documents: &[Document]) -> Self {
        let [mut words, mut words_of_groups, mut parts]: [Counts; 3] = Default::default();
        for (place, document) in documents.iter().enumerate() {
            let wanted = document.wanted.iter().map(|text| (&1.0, text));
            let texts = document.texts.iter().map(|(weight, text)| (weight, text));
            for (weight, text) in wanted.chain(texts) {
                for (term, of_term) in words_of(text) {
                    words.add(place, term.clone(), weight * of_term);
                    words_of_groups.add(document.group, term, weight * of_term);
                }
            }
            for part in document.wanted.iter().flat_map(|text| parts_of(text)) {
                parts.add(place, part, 1.0);
            }
        }
        let group_of = documents.iter().map(|document| document.group).collect();
        Self { words, words_of_groups, parts, group_of }
    }

    /// Returns the documents that have words of a query, or many parts of its words, the best first. Without words,
    /// all documents in their order.
    pub(super) fn search(&self, query: &str) -> Vec<usize> {
        let words: BTreeMap<String, f64> = words_of(query).into_iter().collect();
        if words.is_empty() {
            return (0..self.group_of.len()).collect();
        }
        let parts: BTreeMap<String, f64> =
            parts_of(query).into_iter().map(|part| (part, PART_WEIGHT)).collect();
        let enough_parts = parts.values().sum::<f64>() * FOUND_PARTS;
        let (words, parts) = (self.words.known(&words), self.parts.known(&parts));
        let (with_words, with_parts) = (self.words.weights(&words), self.parts.weights(&parts));
        let of_words = self.words.scores(&words, DOCUMENT_SMOOTHING);
        let of_groups = self.words_of_groups.scores(&words, GROUP_SMOOTHING);
        let of_parts = self.parts.scores(&parts, PART_SMOOTHING);
        let at = |scores: &[f64], place: usize| scores.get(place).copied().unwrap_or_default();
        let found = self.group_of.iter().enumerate().filter(|(place, _)| {
            at(&with_words, *place) > 0.0 || at(&with_parts, *place) >= enough_parts
        });
        let mut found: Vec<(usize, f64)> = found
            .map(|(place, group)| {
                let scores = [at(&of_words, place), at(&of_groups, *group), at(&of_parts, place)];
                (place, scores.iter().sum())
            })
            .collect();
        found.sort_by(|(left, one), (right, other)| other.total_cmp(one).then(left.cmp(right)));
        found.into_iter().map(|(place, _)| place).collect()
    }
}

/// Returns the words of a text, as stems, and each two that follow each other, with their weights.
fn words_of(text: &str) -> Vec<(String, f64)> {
    let words = terms(&[vec![text]]).concat();
    let pairs = words.windows(2).map(|pair| (pair.join(" "), PAIR_WEIGHT));
    let pairs: Vec<_> = pairs.collect();
    words.into_iter().map(|word| (word, 1.0)).chain(pairs).collect()
}

/// Returns the parts of the words of a text, with a space at the beginning and the end of each word.
fn parts_of(text: &str) -> Vec<String> {
    let mut parts = Vec::new();
    let lower = text.to_lowercase();
    for word in lower.split(|character: char| !character.is_alphanumeric()) {
        let characters: Vec<char> = format!(" {word} ").chars().collect();
        for count in PART_CHARACTERS.into_iter().filter(|_| !word.is_empty()) {
            if characters.len() <= count {
                parts.push(characters.iter().collect());
                break;
            }
            parts.extend(characters.windows(count).map(|part| part.iter().collect::<String>()));
        }
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(texts: &[&str]) -> Index {
        let document = |(group, text): (usize, &&str)| Document {
            group,
            wanted: vec![(*text).to_owned()],
            ..Document::default()
        };
        Index::new(&texts.iter().enumerate().map(document).collect::<Vec<_>>())
    }

    #[test]
    fn the_document_with_the_most_of_the_words_is_first() {
        let index = index(&["Lists the books", "Lends a book to somebody", "Lists the members"]);
        assert_eq!(index.search("lending books"), [1, 0]);
        assert_eq!(index.search("members"), [2]);
        assert_eq!(index.search("weather"), [] as [usize; 0]);
        assert_eq!(index.search("?!"), [0, 1, 2]);
    }

    #[test]
    fn a_text_counts_by_its_weight_and_a_document_with_its_group() {
        let said = |group: usize, texts: &[(f64, &str)]| {
            let texts = texts.iter().map(|(weight, text)| (*weight, (*text).to_owned()));
            Document { group, texts: texts.collect(), ..Document::default() }
        };
        let index = Index::new(&[
            said(0, &[(1.0, "block"), (1.0, "calendar time")]),
            said(1, &[(3.0, "block"), (1.0, "people safety")]),
        ]);
        assert_eq!(index.search("block"), [1, 0]);
        let index = Index::new(&[
            said(0, &[(1.0, "cancel it")]),
            said(1, &[(1.0, "cancel it")]),
            said(1, &[(1.0, "the meeting with a friend")]),
        ]);
        assert_eq!(index.search("cancel the meeting").last(), Some(&0));
    }

    #[test]
    fn a_misspelled_or_compounded_word_finds_its_document() {
        let index =
            index(&["Show my calendar", "Lists the members of a club", "Termin vorschlagen"]);
        assert_eq!(index.search("calender"), [0]);
        assert_eq!(index.search("clubmembers"), [1]);
        assert_eq!(index.search("Terminvorschlag"), [2]);
        assert_eq!(
            parts_of("A-bc, defg"),
            [
                " a ", " bc", "bc ", " bc ", " de", "def", "efg", "fg ", " def", "defg", "efg ",
                " defg", "defg "
            ]
        );
    }
}
