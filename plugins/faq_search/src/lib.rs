//! The capability `faq_search`: finds the entries that answer a question in plain words.

mod intents;

use faq::{Found, Hit};
use portolan_sdk::documents::{NoWords, ensure_words};
use portolan_sdk::prelude::*;

#[input]
struct Search {
    /// The question or a few words of it, in English, such as `why was my write refused`. Error
    /// codes, field names and capability ids work as well. Misspelt words are not searched for;
    /// `did_you_mean` corrects them.
    #[schemars(length(max = 200))]
    query: String,
    /// Tags, such as `privacy`, `errors` or `listings`: only entries with at least one of them are
    /// found. Omit this field to search all entries; the refusal of an unknown tag lists the known
    /// ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10))]
    tags: Vec<String>,
    /// The maximum number of entries to return. The best one is usually among the first three.
    #[serde(default = "default_limit")]
    #[schemars(range(min = 1, max = 20))]
    limit: u8,
    /// The language to answer in, as a BCP 47 tag such as `en` or `de-CH`. Only `en` exists: other
    /// languages get English, and the answer's `locale` says so.
    #[schemars(length(min = 2, max = 35))]
    locale: Option<String>,
}

fn default_limit() -> u8 {
    5
}

#[derive(Serialize, JsonSchema)]
struct Results {
    /// The entries, best first; empty if no entry has any of the words.
    items: Vec<Item>,
    /// The query with its misspelt words corrected, to search for instead; null if there are none.
    did_you_mean: Option<String>,
    /// The language of these entries.
    locale: &'static str,
    /// Whether another language was requested.
    locale_fallback: bool,
}

#[output]
struct Item {
    id: &'static str,
    /// The slug, with which `faq_get` returns the whole answer.
    slug: &'static str,
    question: &'static str,
    /// The best matching passage of the answer, as plain text.
    snippet: &'static str,
    /// The score (BM25F): higher is better; comparable within one answer only.
    score: f64,
    /// The words of the snippet that match the query.
    highlights: Vec<Highlight>,
}

#[output]
struct Highlight {
    /// The word as it appears in the snippet.
    text: &'static str,
    /// The position of its first character in the snippet, in Unicode code points from 0.
    start: usize,
    /// The position after its last character.
    end: usize,
}

#[derive(Debug, Refusals)]
enum SearchError {
    /// The query has no word to search for.
    #[refusal(
        invalid,
        next = Next::action("faq_search", "search")
            .ask("query", "What would you like to know about this service?")
    )]
    QueryEmpty,
    #[refusal(transparent)]
    Common(Refusal),
}

pub struct FaqSearch;

/// Finds the answers to questions about this service.
///
/// Search here before you guess: how to register, claim, publish, contact, schedule or pay, what an
/// error code means, which rules hold, what happens to data. The entries are ranked by how well
/// they match the words, each with its best matching passage. Then fetch the whole answer with
/// `faq_get`.
#[capability(
    id = "faq_search",
    title = "FAQ search",
    tags = ["help", "faq", "documentation", "search"],
    default_action = "search"
)]
impl FaqSearch {
    /// Search the FAQ.
    ///
    /// Searches questions, tags and answers for the words of `query`, in any inflection. Small words
    /// such as `how` or `the` count only if there are no others. The `next` of the answer fetches the
    /// best entry, or repeats the search with the spelling corrected if nothing was found.
    #[action(
        access = read,
        idempotent,
        example = json!({ "query": "why does my write answer phone_binding_required", "limit": 3 }),
        example = json!({
            "query": "who sees my number", "tags": ["privacy"], "limit": 5, "locale": "en",
        }),
        intents = intents::SEARCH
    )]
    fn search(_call: &Call, input: Search) -> Result<Answer<Results>, SearchError> {
        let found = find(&input)?;
        let next = next(&found);
        Ok(Answer::with(results(found, input.locale.as_deref()), next))
    }
}

fn find(input: &Search) -> Result<Found, SearchError> {
    let tags: Vec<&str> = input.tags.iter().map(String::as_str).collect();
    if let Some(place) = tags.iter().position(|tag| faq::tags().binary_search(tag).is_err()) {
        let pointer = format!("/tags/{place}");
        return Err(Refusal::validation(&pointer, "enum", faq::tags().to_vec()).into());
    }
    ensure_words(Some(&input.query)).map_err(|NoWords| SearchError::QueryEmpty)?;
    Ok(faq::search(&input.query, &tags, usize::from(input.limit)))
}

/// Returns the next step: the call that reads the best entry, or else the search with the spelling
/// corrected.
fn next(found: &Found) -> Option<Next> {
    if let Some(best) = found.hits.first() {
        return Some(Next::action("faq_get", "get").field("slug", best.entry.slug));
    }
    let corrected = found.did_you_mean.as_deref()?;
    Some(Next::action("faq_search", "search").field("query", corrected))
}

fn results(found: Found, locale: Option<&str>) -> Results {
    Results {
        items: found.hits.into_iter().map(item).collect(),
        did_you_mean: found.did_you_mean,
        locale: faq::LOCALE,
        locale_fallback: faq::falls_back(locale),
    }
}

fn item(hit: Hit) -> Item {
    let Hit { entry, score, snippet } = hit;
    let highlights = snippet.highlights.iter();
    view!(entry => Item {
        id, slug, question;
        snippet: snippet.text,
        score: (f64::from(score) * 1000.0).round() / 1000.0,
        highlights: highlights.map(|word| view!(word => Highlight { text, start, end; })).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(query: &str, tags: &[&str]) -> Search {
        Search {
            query: query.into(),
            tags: tags.iter().map(|tag| (*tag).into()).collect(),
            limit: default_limit(),
            locale: None,
        }
    }

    fn refused(input: &Search) -> Refusal {
        find(input).unwrap_err().into()
    }

    #[test]
    fn the_best_entry_is_the_next_step() {
        let found = find(&asked("claim an agent by phone", &[])).unwrap();
        let step = portolan_sdk::to_value(&next(&found));
        assert_eq!(step["capability"], "faq_get");
        assert_eq!(step["input"]["slug"], "claim-by-phone");
        let results = results(found, Some("fr"));
        assert_eq!(results.items.len(), 5);
        assert!(results.items.is_sorted_by(|left, right| left.score >= right.score));
        assert_eq!((results.locale, results.locale_fallback), ("en", true));
    }

    #[test]
    fn a_misspelt_query_is_searched_again() {
        let found = find(&asked("webhok", &[])).unwrap();
        let step = portolan_sdk::to_value(&next(&found));
        assert_eq!(step["capability"], "faq_search");
        assert_eq!(step["input"]["query"], "webhook");
        assert!(next(&find(&asked("xylophone", &[])).unwrap()).is_none());
    }

    #[test]
    fn empty_queries_and_unknown_tags_are_refused() {
        for query in ["", "   ", "?!"] {
            assert_eq!(refused(&asked(query, &[])).code, "query_empty");
        }
        let refusal = refused(&asked("phone", &["privacy", "nonsense"]));
        assert_eq!(refusal.code, "validation_failed");
        assert_eq!(refusal.conflict.unwrap()["errors"][0]["pointer"], "/tags/1");
    }

    #[test]
    fn a_query_alone_is_enough() {
        let limit = |json| serde_json::from_str::<Search>(json).unwrap().limit;
        assert_eq!(limit(r#"{"query":"phone"}"#), 5);
        assert_eq!(limit(r#"{"query":"phone","limit":20}"#), 20);
    }
}
