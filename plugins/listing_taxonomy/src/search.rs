//! Ranks categories by the words of a text.

use crate::{
    directions::Directions,
    taxonomy::{NODES, Node, Side, TERMS},
    words::{self, Word},
};
use people_kit::words::Language;
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

/// The scores of categories of the other side are divided by this number.
const OTHER_SIDE: u32 = 2;

/// The categories that are ranked.
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
///
/// Among categories that can have a listing, those of the side that the text speaks for come first if
/// no side is given. They have English words, so a text in another language is translated.
pub(crate) fn rank(text: &str, scope: Scope, limit: usize) -> Vec<Hit> {
    let words = words::words(text);
    let Scope::Listable(side) = scope else {
        return rank_words(&words, scope, None, limit);
    };
    let directions = side.is_none().then(|| Directions::of(text));
    let direct = rank_words(&words, scope, directions.as_ref(), limit);
    if !is_foreign(text, &words) {
        return direct;
    }
    let translated = words::words(&listing_answers::concept_names(text));
    let translated = rank_words(&translated, scope, directions.as_ref(), limit);
    let best = |hits: &[Hit]| hits.first().map_or(0, |hit| hit.score);
    if best(&translated) > best(&direct) { translated } else { direct }
}

/// Returns whether a text is not in English or, if its language is not clear, hardly has words of
/// the index.
fn is_foreign(text: &str, words: &[Word]) -> bool {
    let likely = listing_answers::languages(text);
    let known = words.iter().filter(|word| !postings(&word.stem).is_empty()).count();
    match likely.as_slice() {
        [Language::English] => false,
        likely if !likely.contains(&Language::English) => true,
        _ => known * 2 <= words.len(),
    }
}

fn rank_words(
    words: &[Word],
    scope: Scope,
    directions: Option<&Directions>,
    limit: usize,
) -> Vec<Hit> {
    let stems: BTreeSet<&str> = words.iter().map(|word| word.stem.as_str()).collect();
    let pairs: BTreeSet<String> = words::pairs(words).collect();
    let mut scores = [0_u32; NODES.len()];
    for term in stems.into_iter().chain(pairs.iter().map(String::as_str)) {
        for (node, weight) in postings(term) {
            if let Some(score) = scores.get_mut(usize::from(*node)) {
                *score += weight;
            }
        }
    }
    let scored = NODES.iter().zip(scores).map(|(node, score)| {
        let is_other_side = directions.is_some_and(|directions| directions.contradict(node));
        (node, if is_other_side { score / OTHER_SIDE } else { score })
    });
    let scored = scored.enumerate();
    let mut ranked: Vec<_> =
        scored.filter(|(_, (node, score))| *score > 0 && scope.admits(node)).collect();
    // The sort is stable: equal scores stay in tree order.
    ranked.sort_by_key(|(_, (_, score))| Reverse(*score));
    let best = ranked.into_iter().take(limit);
    best.map(|(index, (node, score))| Hit { node, score, matched: matched(words, index) }).collect()
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
