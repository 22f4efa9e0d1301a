//! An index of texts by their words, ranked by query likelihood: how probable a query's words are in what is said of a
//! document and of its group, against what is said of all (Dirichlet smoothing; Zhai and Lafferty 2001). Words such as
//! "my" or "again" count too: they often tell what people want.

use portolan_text::terms;
use std::collections::{BTreeMap, HashMap};

/// How many terms of all documents are added to those of one document, and of one group.
const DOCUMENT_SMOOTHING: f64 = 30.0;
const GROUP_SMOOTHING: f64 = 100.0;

/// The weight of two words that follow each other, against one of a single word.
const PAIR_WEIGHT: f64 = 0.2;

/// A document: its group, and its texts, each with a weight.
pub(super) type Document = (usize, Vec<(f64, String)>);

/// The index. Documents have the numbers of their order.
#[derive(Debug)]
pub(super) struct Index {
    documents: Counts,
    groups: Counts,
    group_of: Vec<usize>,
    /// The weighted count of each term in all documents, and of all terms.
    counts: HashMap<String, f64>,
    total: f64,
}

/// A term of a query, with its share of all texts.
struct Wanted {
    term: String,
    weight: f64,
    share: f64,
}

/// The weighted counts of terms in numbered texts.
#[derive(Debug, Default)]
struct Counts {
    by_term: HashMap<String, HashMap<usize, f64>>,
    lengths: Vec<f64>,
}

impl Counts {
    fn add(&mut self, place: usize, term: &str, weight: f64) {
        if self.lengths.len() <= place {
            self.lengths.resize(place + 1, 0.0);
        }
        if let Some(length) = self.lengths.get_mut(place) {
            *length += weight;
        }
        let counts = self.by_term.entry(term.to_owned()).or_default();
        *counts.entry(place).or_default() += weight;
    }

    /// Returns the logarithm of the likelihood of these terms in each text that has one of them, against their
    /// likelihood in all texts.
    fn scores(&self, terms: &[Wanted], smoothing: f64) -> HashMap<usize, f64> {
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for Wanted { term, weight, share } in terms {
            for (place, count) in self.by_term.get(term).into_iter().flatten() {
                let gain = (count / (smoothing * share)).ln_1p();
                *scores.entry(*place).or_default() += weight * gain;
            }
        }
        let weight: f64 = terms.iter().map(|term| term.weight).sum();
        for (place, score) in &mut scores {
            let length = self.lengths.get(*place).copied().unwrap_or_default();
            *score += weight * (smoothing / (length + smoothing)).ln();
        }
        scores
    }
}

impl Index {
    pub(super) fn new(documents: &[Document]) -> Self {
        let mut index = Self {
            documents: Counts::default(),
            groups: Counts::default(),
            group_of: documents.iter().map(|(group, _)| *group).collect(),
            counts: HashMap::new(),
            total: 0.0,
        };
        for (place, (group, texts)) in documents.iter().enumerate() {
            for (weight, text) in texts {
                for (term, of_term) in terms_of(text) {
                    let weight = weight * of_term;
                    index.documents.add(place, &term, weight);
                    index.groups.add(*group, &term, weight);
                    index.total += weight;
                    *index.counts.entry(term).or_default() += weight;
                }
            }
        }
        index
    }

    /// Returns the documents that have words of a query, the best first. Without words, all documents in their order.
    pub(super) fn search(&self, query: &str) -> Vec<usize> {
        // In order, so that equal sums are equal.
        let terms: BTreeMap<String, f64> = terms_of(query).into_iter().collect();
        if terms.is_empty() {
            return (0..self.group_of.len()).collect();
        }
        let known = terms.into_iter().filter_map(|(term, weight)| {
            let share = self.counts.get(&term)? / self.total;
            Some(Wanted { term, weight, share })
        });
        let terms: Vec<_> = known.collect();
        let groups = self.groups.scores(&terms, GROUP_SMOOTHING);
        let of_group = |place: usize| self.group_of.get(place).and_then(|group| groups.get(group));
        let mut found: Vec<(usize, f64)> = self
            .documents
            .scores(&terms, DOCUMENT_SMOOTHING)
            .into_iter()
            .map(|(place, score)| (place, score + of_group(place).copied().unwrap_or_default()))
            .collect();
        found.sort_by(|(left, one), (right, other)| other.total_cmp(one).then(left.cmp(right)));
        found.into_iter().map(|(place, _)| place).collect()
    }
}

/// Returns the terms of a text and each two that follow each other, with their weights.
fn terms_of(text: &str) -> Vec<(String, f64)> {
    let terms = terms(&[vec![text]]).concat();
    let pairs = terms.windows(2).map(|pair| (pair.join(" "), PAIR_WEIGHT));
    let pairs: Vec<_> = pairs.collect();
    terms.into_iter().map(|term| (term, 1.0)).chain(pairs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(texts: &[&str]) -> Index {
        let documents = texts.iter().enumerate();
        let documents = documents.map(|(place, text)| (place, vec![(1.0, (*text).to_owned())]));
        Index::new(&documents.collect::<Vec<_>>())
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
        let text = |weight: f64, text: &str| (weight, text.to_owned());
        let index = Index::new(&[
            (0, vec![text(1.0, "block"), text(1.0, "calendar time")]),
            (1, vec![text(3.0, "block"), text(1.0, "people safety")]),
        ]);
        assert_eq!(index.search("block"), [1, 0]);
        let index = Index::new(&[
            (0, vec![text(1.0, "cancel it")]),
            (1, vec![text(1.0, "cancel it")]),
            (1, vec![text(1.0, "the meeting with a friend")]),
        ]);
        assert_eq!(index.search("cancel the meeting").last(), Some(&0));
    }
}
