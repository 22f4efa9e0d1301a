//! Ranks categories by the words of a text.

use crate::{
    taxonomy::{NODES, Node, Side, TERMS},
    words::{self, Word},
};
use std::{cmp::Reverse, collections::BTreeSet};

/// A category that shares words with a text.
pub(crate) struct Hit {
    pub(crate) node: &'static Node,
    /// The score, times 1000: the sum of the weights of the words and pairs of words that the
    /// category shares with the text.
    pub(crate) score: u32,
    /// The words of the text that match the category, as they were written, in lower case.
    pub(crate) matched: Vec<String>,
}

/// Which categories are ranked.
#[derive(Clone, Copy)]
pub(crate) enum Scope {
    Every,
    /// The categories that can have a listing, of this side if a side is given.
    Listable(Option<Side>),
}

impl Scope {
    fn admits(self, node: &Node) -> bool {
        match self {
            Self::Every => true,
            Self::Listable(None) => !node.sides.is_empty(),
            Self::Listable(Some(side)) => node.sides.contains(&side),
        }
    }
}

/// Returns at most `limit` categories of the scope that match the text, the best match first.
pub(crate) fn rank(text: &str, scope: Scope, limit: usize) -> Vec<Hit> {
    let words = words::words(text);
    let stems: BTreeSet<&str> = words.iter().map(|word| word.stem.as_str()).collect();
    let pairs: BTreeSet<String> = words::pairs(&words).collect();
    let mut scores = [0_u32; NODES.len()];
    for term in stems.into_iter().chain(pairs.iter().map(String::as_str)) {
        for (node, weight) in postings(term) {
            if let Some(score) = scores.get_mut(usize::from(*node)) {
                *score += weight;
            }
        }
    }
    let scored = NODES.iter().zip(scores).enumerate();
    let mut ranked: Vec<_> =
        scored.filter(|(_, (node, score))| *score > 0 && scope.admits(node)).collect();
    // The sort is stable: equal scores stay in tree order.
    ranked.sort_by_key(|(_, (_, score))| Reverse(*score));
    let best = ranked.into_iter().take(limit);
    best.map(|(index, (node, score))| Hit { node, score, matched: matched(&words, index) })
        .collect()
}

fn postings(term: &str) -> &'static [(u16, u32)] {
    let place = TERMS.binary_search_by_key(&term, |(known, _)| known).ok();
    place.and_then(|place| TERMS.get(place)).map_or(&[], |(_, postings)| postings)
}

fn matched(words: &[Word], index: usize) -> Vec<String> {
    let mut matched: Vec<String> = Vec::new();
    for word in words {
        let knows = postings(&word.stem).iter().any(|(node, _)| usize::from(*node) == index);
        if knows && !matched.contains(&word.text) {
            matched.push(word.text.clone());
        }
    }
    matched
}

#[cfg(test)]
mod tests;
