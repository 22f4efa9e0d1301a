//! Reads the roles on a company's own pages, where these describe them as schema.org's `JobPosting`. The
//! first page may describe roles, or lead to pages of the same site that do.

use super::{BoardError, Page, Site, Vendor, job_posting};
use crate::entries;
use regex::Regex;
use serde_json::Value;
use std::{collections::BTreeSet, sync::LazyLock};
use url::Url;

/// The board's `base` is the page itself.
pub(super) const VENDOR: Vendor = Vendor { base: "", path: "", read, skips: None, detail: None };

/// How many bytes a page may have.
const MOST_BYTES: usize = 8 * 1024 * 1024;
/// How many documents of data of one page are read.
const MOST_DOCUMENTS: usize = 200;
/// How many links of one page are kept.
const MOST_LINKS: usize = 500;
/// Parts of the paths of pages about roles, in several languages.
const PATHS: [&str; 14] = [
    "job", "career", "position", "opening", "vacanc", "role", "stelle", "karriere", "emploi",
    "carriere", "empleo", "lavor", "vacature", "recruit",
];
/// How the paths of files end that are no pages.
const NO_PAGES: [&str; 7] = [".pdf", ".png", ".jpg", ".css", ".js", ".xml", ".zip"];

// Patterns instead of a tree: a hostile page can make a tree that is much larger than itself.
static SCRIPTS: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?is)<script\b([^>]*)>(.*?)</script\s*>").ok());
static IS_DATA: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"(?i)\btype\s*=\s*["']?\s*application/ld\+json"#).ok());
static LINKS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r#"(?is)<a\s[^>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"']+))"#).ok()
});

fn read(bytes: &[u8], site: &Site<'_>) -> Result<Page, BoardError> {
    if bytes.len() > MOST_BYTES {
        return Err(BoardError::Page("it is too large"));
    }
    let text = String::from_utf8_lossy(bytes);
    if !text.contains('<') {
        return Err(BoardError::Page("it has no elements"));
    }
    let is_data = |attributes: &str| IS_DATA.as_ref().is_some_and(|kind| kind.is_match(attributes));
    let scripts = SCRIPTS.as_ref().into_iter().flat_map(|pattern| pattern.captures_iter(&text));
    let documents: Vec<Result<Value, BoardError>> = scripts
        .map(|script| script.extract::<2>().1)
        .filter(|[attributes, _]| is_data(attributes))
        .take(MOST_DOCUMENTS)
        .map(|[_, document]| job_posting::document(document))
        .collect();
    let read = documents.iter().flat_map(|document| match document {
        Ok(document) => job_posting::of_type(document, job_posting::TYPE)
            .into_iter()
            .map(|fields| (None, job_posting::posting(fields, site.page).map_err(str::to_owned)))
            .collect(),
        // A page has other data too, which says nothing about roles.
        Err(error) => vec![(None, Err(error.to_string()))],
    });
    let (postings, refused) = entries::sorted(read, "JobPosting");
    let entries = postings.len() + refused.len();
    Ok(Page { links: links(&text, &documents, site), postings, refused, entries, total: None })
}

/// Returns the pages of this site that this page names as pages about roles.
fn links(text: &str, documents: &[Result<Value, BoardError>], site: &Site<'_>) -> Vec<Url> {
    let anchors = LINKS.as_ref().into_iter().flat_map(|pattern| pattern.captures_iter(text));
    let anchors = anchors
        .filter_map(|anchor| anchor.iter().skip(1).flatten().next())
        .map(|href| href.as_str().replace("&amp;", "&"))
        .filter(|href| is_about_roles(href));
    let items = documents.iter().flatten().flat_map(|document| {
        let lists = job_posting::of_type(document, "ListItem").into_iter();
        lists.filter_map(|item| item.get("url").or_else(|| item.get("item"))?.as_str())
    });
    let mut seen = BTreeSet::new();
    items
        .map(str::to_owned)
        .chain(anchors)
        .filter_map(|address| site.page.join(&address).ok())
        .map(|mut url| {
            url.set_fragment(None);
            url
        })
        .filter(|url| url.origin() == site.page.origin() && url != site.page)
        .filter(|url| seen.insert(url.clone()))
        .take(MOST_LINKS)
        .collect()
}

fn is_about_roles(href: &str) -> bool {
    let path = href.split(['?', '#']).next().unwrap_or_default().to_lowercase();
    PATHS.iter().any(|part| path.contains(part)) && !NO_PAGES.iter().any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(text: &str) -> Page {
        let url = "https://copperleaf.example/careers/".parse().unwrap();
        read(text.as_bytes(), &Site { base: &url, page: &url }).unwrap()
    }

    #[test]
    fn roles_and_pages_about_roles_are_found() {
        let page = page(
            r#"<!doctype html><html><head><script type="application/ld+json; charset=utf-8">
            {"@type":"JobPosting","title":"Welder","description":"Line
            break","identifier":"w1","datePosted":"2026-11-01"}</script>
            <script type='application/ld+json'>{"@type":"ItemList","itemListElement":[{"@type":"ListItem","url":"/x/fitter"}]}</script>
            <script type="application/ld+json">{broken</script><script type="text/javascript">{"@type":"JobPosting"}</script></head>
            <body><a href="painter-job#top">Painter</a><a href="painter-job">Again</a><a href="/about">About</a>
            <a href="https://other.example/jobs/1">Other</a><a href="/jobs/brochure.pdf">PDF</a><a href="mailto:jobs@copperleaf.example">Mail</a>
            <a href="/careers/">Here</a></body></html>"#,
        );
        assert_eq!((page.postings.len(), page.refused.len()), (1, 1));
        assert_eq!(page.postings[0].source_url, "https://copperleaf.example/careers/");
        let links: Vec<_> = page.links.iter().map(Url::path).collect();
        assert_eq!(links, ["/x/fitter", "/careers/painter-job"]);
    }

    #[test]
    fn hostile_pages_cost_no_more_than_their_size() {
        for part in
            ["<script type=application/ld+json>", "<a href=", "<b a=1><p>", "<script ", "</script>"]
        {
            let read = page(&part.repeat(50_000));
            assert!(read.postings.is_empty() && read.links.is_empty(), "{part}");
        }
        let url = "https://copperleaf.example/".parse().unwrap();
        let large = vec![b'<'; MOST_BYTES + 1];
        assert!(super::read(&large, &Site { base: &url, page: &url }).is_err());
    }
}
