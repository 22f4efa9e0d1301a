//! Finds the entries that answer a query, the best first.

use crate::{
    analysis::{self, Word},
    bm25,
    entry::{self, ENTRIES, Entry, TERMS},
    snippet::{Snippet, Sought, snippet},
    spelling,
};

/// The results of a query.
#[derive(Debug)]
pub struct Found {
    /// The entries, best first.
    pub hits: Vec<Hit>,
    /// The query with its misspelt words corrected, if there are any.
    pub did_you_mean: Option<String>,
}

/// An entry that matches.
#[derive(Debug)]
pub struct Hit {
    pub entry: &'static Entry,
    /// The score: higher is better; comparable within one answer only.
    pub score: f32,
    pub snippet: Snippet,
}

/// Returns the entries with at least one word of the query and, if there are `tags`, at least one
/// of these.
pub fn search(query: &str, tags: &[&str], limit: usize) -> Found {
    let words = analysis::words(query);
    let sought = sought(&words);
    let best = ranked(&sought, tags).into_iter().take(limit);
    let hit = |(score, entry): (f32, &'static Entry)| {
        let snippet = snippet(entry.prose(), &sought);
        Hit { entry, score, snippet }
    };
    Found { hits: best.map(hit).collect(), did_you_mean: spelling::did_you_mean(query, &words) }
}

/// Returns the query's terms that are in the index, each once. Stop words count only if there are
/// no other words.
fn sought(words: &[Word]) -> Vec<Sought> {
    let only_stop_words = words.iter().all(|word| analysis::is_stop_word(&word.form));
    let mut sought: Vec<Sought> = Vec::new();
    for Word { form, .. } in words {
        if analysis::is_stop_word(form) && !only_stop_words {
            continue;
        }
        let Some((place, term)) = entry::term(&analysis::stem(form)) else { continue };
        if !sought.iter().any(|known| known.term == place) {
            sought.push(Sought { term: place, weight: bm25::inverse_document_frequency(term) });
        }
    }
    sought
}

/// Ranks the entries. Equal scores are ordered by slug, so that the same query always has the same
/// answer.
fn ranked(sought: &[Sought], tags: &[&str]) -> Vec<(f32, &'static Entry)> {
    let mut scores = vec![0.0_f32; ENTRIES.len()];
    for Sought { term, weight } in sought {
        for posting in TERMS.get(*term).map(|term| term.postings).unwrap_or_default() {
            if let Some(score) = scores.get_mut(usize::from(posting.entry)) {
                *score += bm25::contribution(*weight, posting);
            }
        }
    }
    let has_tag = |entry: &Entry| entry.tags.iter().any(|tag| tags.contains(tag));
    let scored = scores.into_iter().zip(&ENTRIES).filter(|(score, _)| *score > 0.0);
    let mut ranked: Vec<_> =
        scored.filter(|(_, entry)| tags.is_empty() || has_tag(entry)).collect();
    ranked.sort_by(|(left, _), (right, _)| right.total_cmp(left));
    ranked
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_query_without_words_finds_nothing() {
        let found = search("  ?! ", &[], 5);
        assert!(found.hits.is_empty() && found.did_you_mean.is_none());
    }

    #[test]
    fn stop_words_count_only_when_there_is_nothing_else() {
        let with = search("what is the webhook", &[], 20);
        let without = search("webhook", &[], 20);
        let slugs = |found: &Found| found.hits.iter().map(|hit| hit.entry.slug).collect::<Vec<_>>();
        assert_eq!(slugs(&with), slugs(&without));
        assert!(!search("what is the", &[], 20).hits.is_empty());
    }

    #[test]
    fn tags_and_limit_narrow_the_answer() {
        let all = search("phone", &[], 20).hits;
        let tagged = search("phone", &["privacy"], 20).hits;
        assert!(tagged.len() < all.len() && !tagged.is_empty());
        assert!(tagged.iter().all(|hit| hit.entry.tags.contains(&"privacy")));
        assert_eq!(search("phone", &[], 2).hits.len(), 2);
    }

    #[test]
    fn repeating_a_word_changes_nothing() {
        let score = |query| search(query, &[], 1).hits.first().unwrap().score;
        assert!((score("credits") - score("credit credits CREDITS")).abs() < f32::EPSILON);
    }

    #[test]
    fn unknown_words_find_nothing_and_suggest_nothing() {
        let found = search("xylophone", &[], 5);
        assert!(found.hits.is_empty() && found.did_you_mean.is_none());
    }

    #[test]
    fn highlights_are_the_words_of_the_snippet() {
        for hit in search("erase my phone number and messages", &[], 20).hits {
            let characters: Vec<char> = hit.snippet.text.chars().collect();
            for word in &hit.snippet.highlights {
                let shown: String = characters.get(word.start..word.end).unwrap().iter().collect();
                assert_eq!(shown, word.text);
            }
        }
    }
}
