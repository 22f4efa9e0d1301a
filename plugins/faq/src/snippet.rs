//! Snippets: the passage of an answer that matches the query best.

use crate::entry::{Prose, ProseWord, Sentence};

/// More sentences are added while the passage has at most this many bytes.
const ROOM: usize = 240;

/// A passage of an entry's answer, without markup.
#[derive(Debug, PartialEq, Eq)]
pub struct Snippet {
    pub text: &'static str,
    /// The highlights, in order and without overlap.
    pub highlights: Vec<Highlight>,
}

/// A word of the snippet that matches the query.
#[derive(Debug, PartialEq, Eq)]
pub struct Highlight {
    /// The word as it appears in the snippet.
    pub text: &'static str,
    /// The position of its first character in the snippet, in Unicode code points from 0.
    pub start: usize,
    /// The position after its last character.
    pub end: usize,
}

/// A term of the query: its index, and its weight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Sought {
    pub(crate) term: usize,
    pub(crate) weight: f32,
}

impl Sought {
    fn is(&self, word: &ProseWord) -> bool {
        usize::from(word.term) == self.term
    }
}

/// Returns the sentence with the highest weight of distinct query terms, and as many of the
/// sentences after it as fit. If the answer has none of the terms, the snippet starts at the
/// beginning of the answer.
pub(crate) fn snippet(prose: &'static Prose, sought: &[Sought]) -> Snippet {
    let mut best = (0, 0.0);
    for (place, sentence) in prose.sentences.iter().enumerate() {
        let weight = weight(words(prose, sentence, sentence), sought);
        if weight > best.1 {
            best = (place, weight);
        }
    }
    let passage = prose.sentences.get(best.0..).unwrap_or_default();
    let Some(first) = passage.first() else {
        return Snippet { text: "", highlights: Vec::new() };
    };
    let start = usize::from(first.start);
    let fits = |sentence: &&Sentence| usize::from(sentence.end) - start <= ROOM;
    let last = passage.iter().take_while(fits).last().unwrap_or(first);
    let text = prose.text.get(start..usize::from(last.end)).unwrap_or_default();
    let is_sought = |word: &&ProseWord| sought.iter().any(|sought| sought.is(word));
    let matching = words(prose, first, last).iter().filter(is_sought);
    Snippet { text, highlights: matching.filter_map(|word| highlight(text, start, word)).collect() }
}

/// Returns the words from one sentence to another, both included.
fn words(prose: &'static Prose, first: &Sentence, last: &Sentence) -> &'static [ProseWord] {
    let range = usize::from(first.first_word)..usize::from(last.end_word);
    prose.words.get(range).unwrap_or_default()
}

fn weight(words: &[ProseWord], sought: &[Sought]) -> f32 {
    let found = sought.iter().filter(|sought| words.iter().any(|word| sought.is(word)));
    found.map(|sought| sought.weight).sum()
}

fn highlight(text: &'static str, offset: usize, word: &ProseWord) -> Option<Highlight> {
    let (start, end) = (usize::from(word.start) - offset, usize::from(word.end) - offset);
    let (before, written) = (text.get(..start)?, text.get(start..end)?);
    let first = before.chars().count();
    Some(Highlight { text: written, start: first, end: first + written.chars().count() })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// "Ünï code. Nothing here. Two codes." with the terms 7 (code) and 9 (nothing).
    static PROSE: Prose = Prose {
        text: "Ünï code. Nothing here. Two codes.",
        words: &[
            ProseWord { start: 0, end: 5, term: 1 },
            ProseWord { start: 6, end: 10, term: 7 },
            ProseWord { start: 12, end: 19, term: 9 },
            ProseWord { start: 20, end: 24, term: 2 },
            ProseWord { start: 26, end: 29, term: 3 },
            ProseWord { start: 30, end: 35, term: 7 },
        ],
        sentences: &[
            Sentence { start: 0, end: 11, first_word: 0, end_word: 2 },
            Sentence { start: 12, end: 25, first_word: 2, end_word: 4 },
            Sentence { start: 26, end: 36, first_word: 4, end_word: 6 },
        ],
    };

    #[test]
    fn the_weightiest_sentence_starts_the_snippet() {
        let sought = [Sought { term: 7, weight: 1.0 }, Sought { term: 9, weight: 2.0 }];
        assert_eq!(snippet(&PROSE, &sought).text, "Nothing here. Two codes.");
    }

    #[test]
    fn ranges_count_code_points() {
        let found = snippet(&PROSE, &[Sought { term: 7, weight: 1.0 }]);
        assert_eq!(found.text, PROSE.text);
        let ranges: Vec<_> =
            found.highlights.iter().map(|word| (word.text, word.start, word.end)).collect();
        assert_eq!(ranges, [("code", 4, 8), ("codes", 28, 33)]);
    }

    #[test]
    fn an_answer_without_the_words_starts_at_its_beginning() {
        let found = snippet(&PROSE, &[Sought { term: 99, weight: 1.0 }]);
        assert!(found.text.starts_with("Ünï") && found.highlights.is_empty());
    }
}
