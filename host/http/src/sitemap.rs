//! `GET /robots.txt` and `/sitemap.xml`: what crawlers may read, the pages about this host, and those about the
//! records. The sitemap is an index of the pages of all cities; its parts are at the same path, because a sitemap
//! may only list addresses below its own.

use crate::{
    App,
    city::City,
    conditional::{matches_any_tag, parse_if_none_match},
    docs, refusal,
};
use axum::{
    extract::{Query, State, rejection::QueryRejection},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use portolan_publication::{PageEntry, Publication, Roads, page_folder, record_feeds};
use portolan_vocabulary::Digest;
use serde::Deserialize;
use std::{fmt::Write as _, sync::Arc};

/// How many addresses one part has; the protocol allows 50,000 and 50 MB.
const PART: usize = 10_000;
/// The name of the part with the pages that are about no record.
const SITE: &str = "site";
const NAMESPACE: &str = "http://www.sitemaps.org/schemas/sitemap/0.9";
const XML: (HeaderName, &str) = (header::CONTENT_TYPE, "application/xml; charset=utf-8");
const CACHE: (HeaderName, &str) = (header::CACHE_CONTROL, "public, max-age=3600");
/// The pages about this host, beside the guides and the reference of each capability.
const OWN_PAGES: [&str; 5] = ["/", "/status", "/docs", "/docs/connect", "/docs/errors"];
/// The paths that crawlers should not read: links that begin something, and pages for one person.
const CLOSED: [&str; 10] = [
    "/account",
    "/approve",
    "/claim/",
    "/device",
    "/email/",
    "/handoff/",
    "/m/",
    "/map/handoffs/",
    "/oauth/",
    "/passkey",
];

#[derive(Debug, Default, Deserialize)]
pub(super) struct Asked {
    part: Option<String>,
}

/// The cities with feeds, the first one first.
type Published = Vec<(Roads, Arc<Publication>)>;

/// One part: its name, and the records whose pages it lists.
struct Part<'a> {
    name: String,
    /// The path of the pages' folder.
    folder: String,
    entries: &'a [PageEntry],
}

pub(super) async fn robots(State(app): State<Arc<App>>) -> Response {
    let mut text = "User-agent: *\n".to_owned();
    for path in CLOSED {
        let _infallible = writeln!(text, "Disallow: {path}");
    }
    let _infallible = write!(text, "Allow: /\n\nSitemap: {}/sitemap.xml\n", app.public_url);
    ([(header::CONTENT_TYPE, "text/plain; charset=utf-8"), CACHE], text).into_response()
}

pub(super) async fn sitemap(
    State(app): State<Arc<App>>,
    asked: Result<Query<Asked>, QueryRejection>,
    headers: HeaderMap,
) -> Response {
    let current = |city: City| Some((city.roads().clone(), city.feeds.current()?));
    let published: Published = City::all(&app).filter_map(current).collect();
    let Query(Asked { part }) = asked.unwrap_or_default();
    let text = match part {
        None => Some(index(&published, &app.public_url)),
        Some(name) if name == SITE => Some(site(&app, &published)),
        Some(name) => parts(&published)
            .into_iter()
            .find(|part| part.name == name)
            .map(|part| list(&part, &app.public_url)),
    };
    match text {
        Some(text) => answer(&headers, text),
        None => refusal::no_such_path().await.into_response(),
    }
}

fn answer(headers: &HeaderMap, text: String) -> Response {
    let etag = format!("W/\"{}\"", Digest::of(text.as_bytes()).hex());
    let is_known = parse_if_none_match(headers).is_some_and(|tags| matches_any_tag(&tags, &etag));
    let mut response = match is_known {
        true => ([CACHE], StatusCode::NOT_MODIFIED).into_response(),
        false => ([CACHE, XML], text).into_response(),
    };
    if let Ok(etag) = HeaderValue::from_str(&etag) {
        response.headers_mut().insert(header::ETAG, etag);
    }
    response
}

/// Returns the parts that list records.
fn parts(published: &Published) -> Vec<Part<'_>> {
    published.iter().flat_map(|(roads, publication)| parts_of_city(roads, publication)).collect()
}

fn parts_of_city<'a>(roads: &Roads, publication: &'a Publication) -> Vec<Part<'a>> {
    // The parts of the first city are named after the feeds alone.
    let city = roads.city().map_or_else(String::new, |slug| format!("{slug}-"));
    let mut parts = Vec::new();
    // The entries are sorted by feed.
    for entries in publication.pages.entries.chunk_by(|one, other| one.feed == other.feed) {
        let feed =
            entries.first().and_then(|entry| record_feeds().find(|feed| feed.id == entry.feed));
        let Some(folder) = feed.and_then(page_folder) else { continue };
        let name = folder.trim_end_matches('/');
        parts.extend(entries.chunks(PART).enumerate().map(|(at, entries)| Part {
            name: format!("{city}{name}-{}", at + 1),
            folder: roads.page(folder),
            entries,
        }));
    }
    parts
}

fn index(published: &Published, url: &str) -> String {
    let mut text = begun("sitemapindex");
    let _infallible =
        writeln!(text, "<sitemap><loc>{}/sitemap.xml?part={SITE}</loc></sitemap>", escaped(url));
    for part in parts(published) {
        let Some(last) = part.entries.iter().map(|entry| entry.updated_at).max() else { continue };
        let _infallible = writeln!(
            text,
            "<sitemap><loc>{}/sitemap.xml?part={}</loc><lastmod>{last}</lastmod></sitemap>",
            escaped(url),
            part.name,
        );
    }
    text.push_str("</sitemapindex>\n");
    text
}

fn site(app: &App, published: &Published) -> String {
    let mut text = begun("urlset");
    let snapshot = app.host.catalog.snapshot();
    let reference = snapshot.capabilities.keys().map(|id| format!("/docs/{}", escaped(id)));
    let guides = docs::guide_names().map(|name| format!("/docs/guides/{name}"));
    let of_host = OWN_PAGES.map(str::to_owned).into_iter().chain(guides).chain(reference);
    let of_cities = published.iter().flat_map(|(roads, _)| [roads.page(""), roads.objection()]);
    for path in of_host.chain(of_cities) {
        let _infallible =
            writeln!(text, "<url><loc>{}{path}</loc></url>", escaped(&app.public_url));
    }
    text.push_str("</urlset>\n");
    text
}

fn list(part: &Part<'_>, url: &str) -> String {
    let mut text = begun("urlset");
    let begin = format!("<url><loc>{}{}", escaped(url), part.folder);
    for PageEntry { id, updated_at, .. } in part.entries {
        let id = escaped(id);
        let _infallible = writeln!(text, "{begin}{id}</loc><lastmod>{updated_at}</lastmod></url>");
    }
    text.push_str("</urlset>\n");
    text
}

fn begun(element: &str) -> String {
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<{element} xmlns=\"{NAMESPACE}\">\n")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
