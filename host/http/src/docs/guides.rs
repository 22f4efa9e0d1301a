//! `GET /docs/guides/{name}`: the guides of this project, which are linked into this program.

use super::markdown::{Rendered, Section, render};
use crate::{
    App,
    conditional::tagged,
    page::{FormTargets, page_of_text},
    page_cache::PageKey,
    refusal::{self, Refusal},
};
use askama::Template;
use axum::{
    extract::{Path, State},
    http::{HeaderMap, StatusCode},
    response::Response,
};
use portolan_catalog::Snapshot;
use portolan_vocabulary::{ErrorCode, Failure};
use std::sync::Arc;

/// The name of these pages in the cache of pages.
const GUIDES_CACHE: &str = "guides";
/// The address of a host in the examples of the guides.
const EXAMPLE_URL: &str = "http://127.0.0.1:8080";

/// A guide.
pub(super) struct Guide {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) summary: &'static str,
    text: &'static str,
    /// Whether its examples are requests to the host that serves the guide.
    is_about_this_host: bool,
}

macro_rules! guide {
    ($name:literal, $title:literal, $summary:literal, $is_about_this_host:literal) => {
        Guide {
            name: $name,
            title: $title,
            summary: $summary,
            text: include_str!(concat!("../../../../docs/", $name, ".md")),
            is_about_this_host: $is_about_this_host,
        }
    };
}

/// Every guide, in the order of the list.
pub(super) const GUIDES: [Guide; 7] = [
    guide!("api", "The API", "Registration, tokens, calls, events, webhooks, refusals", true),
    guide!("mcp", "MCP", "Capabilities as tools of the Model Context Protocol", true),
    guide!("feeds", "The feeds", "Public documents about startups in a city", false),
    guide!("map", "The map", "The page that shows the feeds to people", false),
    guide!("plugin-guide", "Writing a capability", "From an empty folder to a catalog", false),
    guide!(
        "operations",
        "Operating a host",
        "Settings, versions, monitoring, people's data",
        false
    ),
    guide!("glossary", "Glossary", "What the words of these pages mean", false),
];

#[derive(Template)]
#[template(path = "docs/guide.html")]
struct GuidePage {
    title: String,
    sections: Vec<Section>,
    /// HTML that was rendered from a text of this project, in which markup stays text.
    html: String,
}

pub(crate) async fn show(
    State(app): State<Arc<App>>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let Some(guide) = GUIDES.iter().find(|guide| guide.name == name) else {
        return Err(refusal::no_such_path().await);
    };
    let snapshot = app.host.catalog.snapshot();
    let key = PageKey {
        publication: GUIDES_CACHE.to_owned(),
        catalog: snapshot.version,
        feed: GUIDES_CACHE,
        id: name,
    };
    let text = match app.pages.get(&key).await {
        Some(page) => page.to_string(),
        None => {
            let url = app.public_url.clone();
            let rendered = app.host.sandbox.compute(move || page(guide, &snapshot, &url)).await;
            let text = rendered.map_err(|error| {
                tracing::error!(%error, "a guide cannot be rendered");
                Failure::new(ErrorCode::InternalError)
            })?;
            app.pages.insert(key, &text).await;
            text
        }
    };
    Ok(tagged(&headers, text, |text| page_of_text(StatusCode::OK, text, FormTargets::ThisHost)))
}

fn page(guide: &Guide, snapshot: &Snapshot, url: &str) -> Result<String, askama::Error> {
    let text = match guide.is_about_this_host {
        true => guide.text.replace(EXAMPLE_URL, url),
        false => guide.text.to_owned(),
    };
    let Rendered { title, sections, html } = render(&text, |link| resolve(link, snapshot));
    GuidePage { title, sections, html }.render()
}

/// Returns where a link of a guide leads from this host; `None` for files that only the sources have.
fn resolve(link: &str, snapshot: &Snapshot) -> Option<String> {
    if link.starts_with('#') || link.starts_with("https://") {
        return Some(link.to_owned());
    }
    let (file, fragment) = match link.split_once('#') {
        Some((file, fragment)) => (file, format!("#{fragment}")),
        None => (link, String::new()),
    };
    if let Some(page) = file.strip_prefix("capabilities/").and_then(|file| file.strip_suffix(".md"))
    {
        // The files of the reference have no other punctuation in their names.
        let has_page = |id: &&Arc<str>| id.replace(['.', '-'], "_") == page;
        return Some(format!("/docs/{}", snapshot.capabilities.keys().find(has_page)?));
    }
    if file.trim_end_matches('/') == "capabilities" {
        return Some("/docs".to_owned());
    }
    let name = file.strip_suffix(".md")?;
    let guide = GUIDES.iter().find(|guide| guide.name == name)?;
    Some(format!("/docs/guides/{}{fragment}", guide.name))
}

/// Returns the names of the guides.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    GUIDES.iter().map(|guide| guide.name)
}
