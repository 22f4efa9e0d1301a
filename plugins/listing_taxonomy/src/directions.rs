//! Whether the author of a text has something or looks for it.

use crate::taxonomy::{DIRECTIONS, Direction, Node, Side};
use std::collections::BTreeMap;

/// The side that a text speaks for, below each top-level category for which it says so.
pub(crate) struct Directions(BTreeMap<&'static str, Side>);

impl Directions {
    pub(crate) fn of(text: &str) -> Self {
        let text = text.to_lowercase().replace('’', "'");
        let is_part = |c: char| c.is_alphanumeric() || c == '\'';
        let words: Vec<&str> =
            text.split(|c: char| !is_part(c)).filter(|word| !word.is_empty()).collect();
        let words = format!(" {} ", words.join(" "));
        let mut longest: BTreeMap<&str, (usize, Side)> = BTreeMap::new();
        for direction in &DIRECTIONS {
            let length = longest_phrase(direction, &text, &words);
            let best = longest.get(direction.below).map_or(0, |(length, _)| *length);
            if length > best {
                longest.insert(direction.below, (length, direction.side));
            }
        }
        Self(longest.into_iter().map(|(below, (_, side))| (below, side)).collect())
    }

    /// Returns whether the text speaks for the other side than that of the category's listings.
    pub(crate) fn contradict(&self, node: &Node) -> bool {
        let root = node.code.split('.').next().unwrap_or_default();
        self.0.get(root).is_some_and(|side| !node.sides.contains(side))
    }
}

/// Returns the length of the longest phrase that the text has; 0 if it has none.
fn longest_phrase(direction: &Direction, text: &str, words: &str) -> usize {
    let has_words = |phrase: &&&str| words.contains(&format!(" {phrase} "));
    let has_part = |phrase: &&&str| text.contains(**phrase);
    let found = direction.words.iter().filter(has_words);
    let found = found.chain(direction.parts.iter().filter(has_part));
    found.map(|phrase| phrase.chars().count()).max().unwrap_or(0)
}
