//! An index of texts by their words, ranked by BM25 with a weight for each text of a document (BM25F, Robertson and
//! Zaragoza 2009). A word of a query counts once, by the best of its terms, because its stem is uncertain in a short
//! query.

use portolan_text::{terms, words};
use std::collections::HashMap;

/// The parameters of BM25: how soon a term's repetition stops to count, and how much long documents count less.
const SATURATION: f64 = 1.2;
const LENGTH: f64 = 0.5;

/// The index. Documents have the numbers of their order.
#[derive(Debug)]
pub(super) struct Index {
    /// The documents that have a term, each with the term's weighted count.
    postings: HashMap<String, Vec<(usize, f64)>>,
    /// The length of each document divided by the average.
    lengths: Vec<f64>,
}

impl Index {
    /// Makes the index of documents of weighted texts.
    pub(super) fn new(documents: &[Vec<(f64, String)>]) -> Self {
        let mut postings: HashMap<String, Vec<(usize, f64)>> = HashMap::new();
        let mut lengths = Vec::with_capacity(documents.len());
        for (document, texts) in documents.iter().enumerate() {
            let mut counts: HashMap<String, f64> = HashMap::new();
            for (weight, text) in texts {
                for term in terms(&[vec![text.as_str()]]).concat() {
                    *counts.entry(term).or_default() += weight;
                }
            }
            lengths.push(counts.values().sum::<f64>());
            for (term, count) in counts {
                postings.entry(term).or_default().push((document, count));
            }
        }
        let average = lengths.iter().sum::<f64>() / lengths.len().max(1) as f64;
        lengths.iter_mut().for_each(|length| *length /= average.max(f64::MIN_POSITIVE));
        Self { postings, lengths }
    }

    /// Returns the documents that have words of a query, the best first. Without words, all documents in their order.
    pub(super) fn search(&self, query: &str) -> Vec<usize> {
        let words = words(query);
        if words.is_empty() {
            return (0..self.lengths.len()).collect();
        }
        let mut scores: HashMap<usize, f64> = HashMap::new();
        for word in words {
            let mut best: HashMap<usize, f64> = HashMap::new();
            for (document, score) in word.terms.iter().flatten().flat_map(|term| self.scores(term))
            {
                let known = best.entry(document).or_default();
                *known = known.max(score);
            }
            best.into_iter()
                .for_each(|(document, score)| *scores.entry(document).or_default() += score);
        }
        let mut found: Vec<(usize, f64)> = scores.into_iter().collect();
        found.sort_by(|(left, one), (right, other)| other.total_cmp(one).then(left.cmp(right)));
        found.into_iter().map(|(document, _)| document).collect()
    }

    /// Returns the documents with a term, each with the term's score.
    fn scores(&self, term: &str) -> impl Iterator<Item = (usize, f64)> {
        let found = self.postings.get(term).map(Vec::as_slice).unwrap_or_default();
        let (count, having) = (self.lengths.len() as f64, found.len() as f64);
        let rarity = (1.0 + (count - having + 0.5) / (having + 0.5)).ln();
        found.iter().map(move |(document, weight)| {
            let length = self.lengths.get(*document).copied().unwrap_or(1.0);
            let norm = SATURATION * (1.0 - LENGTH + LENGTH * length);
            (*document, rarity * weight * (SATURATION + 1.0) / (weight + norm))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn index(texts: &[&str]) -> Index {
        Index::new(&texts.iter().map(|text| vec![(1.0, (*text).to_owned())]).collect::<Vec<_>>())
    }

    #[test]
    fn the_document_with_the_rarest_words_is_first() {
        let index = index(&["Lists the books", "Lends a book to somebody", "Lists the members"]);
        assert_eq!(index.search("lending books"), [1, 0]);
        assert_eq!(index.search("members"), [2]);
        assert_eq!(index.search("weather"), [] as [usize; 0]);
        assert_eq!(index.search("?!"), [0, 1, 2]);
    }

    #[test]
    fn a_text_counts_by_its_weight() {
        let index = Index::new(&[
            vec![(1.0, "block".to_owned()), (1.0, "calendar time".to_owned())],
            vec![(3.0, "block".to_owned()), (1.0, "people safety".to_owned())],
        ]);
        assert_eq!(index.search("block"), [1, 0]);
    }
}
