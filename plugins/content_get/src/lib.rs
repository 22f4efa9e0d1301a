//! Pages that explain the service, in Markdown, HTML or plain text.

mod intents;

use content::{Heading, LOCALE, NoSuchPage, PAGES, Page, find, serves};
use portolan_sdk::prelude::*;

/// The form of a page.
#[choice(Default)]
enum Format {
    /// CommonMark with tables; the shortest, and the best one for an agent to read.
    #[default]
    Markdown,
    /// A sanitised HTML fragment whose headings carry the anchors in `toc`.
    Html,
    /// Plain text without markup.
    Text,
}

impl Format {
    fn body(self, page: &Page) -> &'static str {
        match self {
            Self::Markdown => page.markdown,
            Self::Html => page.html,
            Self::Text => page.text,
        }
    }
}

#[input]
struct Get {
    /// The slug of the page, such as `getting-started`; the action `list` returns all slugs.
    #[schemars(length(min = 1, max = 80))]
    slug: String,
    /// A language tag (BCP 47). Pages are in English: for any other language you get English, and
    /// `locale_fallback` says so.
    #[schemars(length(min = 2, max = 35))]
    locale: Option<String>,
    /// The form of `body`.
    #[serde(default)]
    format: Format,
    /// The version that you have stored. If it is still the current one, the answer is short:
    /// `not_modified` is true, and there is no `body` and no `toc`.
    #[schemars(range(min = 1))]
    if_version: Option<u32>,
}

/// A page.
#[output]
struct GotPage {
    slug: &'static str,
    title: &'static str,
    /// The page's subject, in one sentence.
    summary: &'static str,
    /// The language of the answer.
    locale: &'static str,
    /// The requested language.
    requested_locale: String,
    /// True if the requested language is not available and the answer is in English.
    locale_fallback: bool,
    /// The version of the page. Store it, and send it as `if_version` next time.
    version: u32,
    /// When the page last changed (RFC 3339).
    updated_at: &'static str,
    /// The entity tag of the Markdown form; it changes whenever the text does.
    etag: &'static str,
    /// Whether `if_version` is the current version.
    not_modified: bool,
    format: Format,
    /// The page, unless it is unchanged.
    body: Option<&'static str>,
    /// The sections, in order.
    toc: Option<&'static [Heading]>,
}

/// A page as the list shows it.
#[output]
struct ListedPage {
    slug: &'static str,
    title: &'static str,
    /// The page's subject, in one sentence.
    summary: &'static str,
    version: u32,
    /// When the page last changed (RFC 3339).
    updated_at: &'static str,
    words: usize,
}

#[output]
struct PageList {
    /// The pages, in the reading order for newcomers.
    items: Vec<ListedPage>,
    /// The languages of the pages.
    locales: Vec<&'static str>,
}

pub struct ContentGet;

/// Pages that explain this service to agents and to the people they act for.
///
/// Read `getting-started` first if you are new here. The other pages explain one thing each: the
/// phone claim, searching, publishing, matching, contacting people, meetings, credits, events,
/// privacy and safety. Reading is free and needs no claimed identity. For a short answer to one
/// question, `faq_search` is quicker.
#[capability(
    id = "content_get",
    title = "Pages",
    tags = ["content", "help"],
    default_action = "get",
    roles = ["pages"]
)]
impl ContentGet {
    /// Read a page.
    ///
    /// Returns one page in the requested form. The refusal of an unknown slug lists the known ones.
    #[action(
        access = read,
        idempotent,
        example = json!({ "slug": "getting-started", "format": "markdown" }),
        example = json!({ "slug": "privacy", "locale": "de", "format": "text", "if_version": 1 }),
        intents = intents::GET
    )]
    fn get(_call: &Call, input: Get) -> Result<GotPage, NoSuchPage> {
        read(input)
    }

    /// List the pages.
    ///
    /// Returns every page's slug, title and summary, in reading order.
    #[action(
        access = read, idempotent, example = portolan_sdk::NoInput {},
        intents = intents::LIST
    )]
    fn list(_call: &Call) -> Result<PageList, Infallible> {
        Ok(PageList { items: PAGES.iter().map(listed).collect(), locales: vec![LOCALE] })
    }
}

fn read(input: Get) -> Result<GotPage, NoSuchPage> {
    let page = find(&input.slug)?;
    let requested_locale = input.locale.unwrap_or_else(|| LOCALE.into());
    let not_modified = input.if_version == Some(page.version);
    Ok(view!(page => GotPage {
        slug, title, summary, locale, version, updated_at, etag;
        locale_fallback: !serves(&requested_locale),
        requested_locale,
        not_modified,
        format: input.format,
        body: (!not_modified).then(|| input.format.body(page)),
        toc: (!not_modified).then_some(page.toc),
    }))
}

fn listed(page: &Page) -> ListedPage {
    view!(page => ListedPage { slug, title, summary, version, updated_at, words; })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn get(json: &str) -> GotPage {
        read(serde_json::from_str(json).unwrap()).unwrap()
    }

    #[test]
    fn each_format_has_its_own_body() {
        let markdown = get(r#"{"slug":"about"}"#);
        assert_eq!(markdown.format, Format::Markdown);
        assert!(markdown.body.unwrap().contains("\n## "));
        let html = get(r#"{"slug":"about","format":"html"}"#).body.unwrap();
        assert!(html.contains("<h2 id=\"section-"));
        let text = get(r#"{"slug":"about","format":"text"}"#).body.unwrap();
        assert!(!text.contains("## ") && !text.contains("<h2"));
    }

    #[test]
    fn another_language_falls_back_and_says_so() {
        let page = get(r#"{"slug":"about","locale":"de-AT"}"#);
        assert_eq!((page.locale, page.requested_locale.as_str()), ("en", "de-AT"));
        assert!(page.locale_fallback && page.body.is_some());
        assert!(!get(r#"{"slug":"about","locale":"en-GB"}"#).locale_fallback);
        assert!(!get(r#"{"slug":"about"}"#).locale_fallback);
    }

    #[test]
    fn a_kept_page_is_not_sent_again() {
        let current = get(r#"{"slug":"about"}"#);
        let ask = |version: u32| get(&format!(r#"{{"slug":"about","if_version":{version}}}"#));
        let same = ask(current.version);
        assert!(same.not_modified && same.body.is_none() && same.toc.is_none());
        assert_eq!(same.etag, current.etag);
        let other = ask(current.version + 1);
        assert!(!other.not_modified && other.body.is_some());
    }

    #[test]
    fn every_listed_page_can_be_read() {
        for page in PAGES {
            assert_eq!(get(&format!(r#"{{"slug":"{}"}}"#, listed(page).slug)).title, page.title);
        }
    }
}
