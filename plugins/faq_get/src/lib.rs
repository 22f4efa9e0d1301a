//! The capability `faq_get`: one question about this service with its whole answer.

mod intents;

use faq::Entry;
use portolan_sdk::prelude::*;

#[input]
struct Get {
    /// The entry's id, from `faq_search`. It stays the same when the slug changes. Send either `id`
    /// or `slug`, not both.
    #[schemars(regex(pattern = r"^faq_[0-9A-HJKMNP-TV-Z]{26}$"))]
    id: Option<String>,
    /// The entry's readable name, such as `claim-by-phone`: from `faq_search`, from the `related`
    /// entries of another answer, or from a `help_slug` in an error.
    #[schemars(length(min = 1, max = 80))]
    slug: Option<String>,
    /// The language to answer in, as a BCP 47 tag such as `en` or `de-CH`. Only `en` exists: other
    /// languages get English, and the answer's `locale` says so.
    #[schemars(length(min = 2, max = 35))]
    locale: Option<String>,
}

#[output]
struct Question {
    id: &'static str,
    slug: &'static str,
    question: &'static str,
    /// The answer in CommonMark: the form for an agent to read or to pass on.
    answer_md: &'static str,
    /// The same answer as HTML, for a page.
    answer_html: &'static str,
    /// The tags of the entry. Each can restrict a `faq_search`.
    tags: &'static [&'static str],
    /// When the entry last changed (RFC 3339, UTC).
    updated_at: &'static str,
    /// Entries to read next.
    related: Vec<Related>,
    /// The language of this answer.
    locale: &'static str,
    /// Whether another language was requested.
    locale_fallback: bool,
}

#[output]
struct Related {
    slug: &'static str,
    question: &'static str,
}

#[derive(Debug, Refusals)]
enum GetError {
    /// There is no FAQ entry with this id or slug.
    #[refusal(not_found, next = *search)]
    FaqNotFound { search: Box<Next> },
    #[refusal(transparent)]
    Common(Refusal),
}

pub struct FaqGet;

/// Answers one question about this service in full.
///
/// The entries explain to agents, and to the people they act for, how things work here: registering,
/// tokens, claiming by phone, calling capabilities, errors, listings, matching, contact, meetings,
/// credits, events, privacy and safety. Fetch an entry by its slug or id. If you do not know either,
/// call `faq_search` with the question in plain words first.
#[capability(
    id = "faq_get",
    title = "FAQ entry",
    tags = ["help", "faq", "documentation"],
    default_action = "get"
)]
impl FaqGet {
    /// Get one FAQ entry.
    ///
    /// Fetches a question and its whole answer by exactly one of `id` and `slug`. An unknown one is
    /// refused with `faq_not_found`, whose `next` searches instead.
    #[action(
        access = read,
        idempotent,
        example = json!({ "slug": "claim-by-phone" }),
        example = json!({ "id": "faq_01M7WD7YA44946S951N7TV37VH", "locale": "en" }),
        intents = intents::GET
    )]
    fn get(_call: &Call, input: Get) -> Result<Question, GetError> {
        let entry = find(input.id.as_deref(), input.slug.as_deref())?;
        Ok(question(entry, input.locale.as_deref()))
    }
}

fn find(id: Option<&str>, slug: Option<&str>) -> Result<&'static Entry, GetError> {
    let (found, words) = match (id, slug) {
        (Some(id), None) => (faq::by_id(id), String::new()),
        (None, Some(slug)) => (faq::by_slug(slug), slug.replace(['-', '_'], " ")),
        _ => return Err(Refusal::validation("", "oneOf", "exactly one of id and slug").into()),
    };
    found.ok_or_else(|| GetError::FaqNotFound { search: Box::new(search(words.trim())) })
}

/// Returns the call that searches for the words or, without any, asks the person. A wrong slug
/// usually consists of words that find the entry; an id does not.
fn search(words: &str) -> Next {
    let search = Next::action("faq_search", "search");
    match words {
        "" => search.ask("query", "What would you like to know about this service?"),
        words => search.field("query", words),
    }
}

fn question(entry: &'static Entry, locale: Option<&str>) -> Question {
    let related = entry.related.iter().filter_map(|slug| faq::by_slug(slug));
    view!(entry => Question {
        id, slug, question, tags, updated_at;
        answer_md: entry.answer().markdown,
        answer_html: entry.answer().html,
        related: related.map(|entry| view!(entry => Related { slug, question; })).collect(),
        locale: faq::LOCALE,
        locale_fallback: faq::falls_back(locale),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(id: Option<&str>, slug: Option<&str>) -> Refusal {
        find(id, slug).unwrap_err().into()
    }

    #[test]
    fn id_and_slug_lead_to_the_same_entry() {
        let entry = find(None, Some("claim-by-phone")).unwrap();
        assert_eq!(find(Some(entry.id), None).unwrap().slug, "claim-by-phone");
        let question = question(entry, Some("de"));
        assert_eq!((question.locale, question.locale_fallback), ("en", true));
        assert_eq!(question.related.len(), entry.related.len());
    }

    #[test]
    fn neither_and_both_are_refused() {
        for (id, slug) in [(None, None), (Some("faq_x"), Some("mcp"))] {
            let refusal = refused(id, slug);
            assert_eq!(refusal.code, "validation_failed");
            assert_eq!(refusal.conflict.unwrap()["errors"][0]["rule"], "oneOf");
        }
    }

    #[test]
    fn a_miss_leads_to_the_search() {
        let next = |refusal: Refusal| {
            assert_eq!(refusal.code, "faq_not_found");
            portolan_sdk::to_value(&refusal.next.unwrap())
        };
        let by_slug = next(refused(None, Some("claim-by-fax")));
        let input = json!({ "action": "search", "query": "claim by fax" });
        assert_eq!(by_slug, json!({ "capability": "faq_search", "input": input }));
        let by_id = next(refused(Some("faq_00000000000000000000000000"), None));
        assert_eq!(by_id["missing"][0], "query");
        assert_eq!(next(refused(None, Some("--")))["missing"][0], "query");
    }

    #[test]
    fn the_example_id_is_an_entry() {
        assert_eq!(faq::by_id("faq_01M7WD7YA44946S951N7TV37VH").unwrap().slug, "claim-by-phone");
    }
}
