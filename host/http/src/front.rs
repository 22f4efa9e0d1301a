//! `GET /`: what this host is and what is here now. Browsers get a page, those who ask for text the overview
//! of `/llms.txt`, and everybody else links as JSON.

use crate::{
    App,
    city::City,
    conditional::tagged,
    install::shell_string,
    media_type::{AcceptedTypes, HTML, JSON},
    metadata::overview,
    page::public_page,
};
use askama::Template;
use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, header},
    response::{IntoResponse as _, Response},
};
use portolan_catalog::Snapshot;
use portolan_publication::Publication;
use portolan_vocabulary::{Role, Timestamp};
use serde_json::{Value, json};
use std::sync::Arc;

const MARKDOWN: &str = "text/markdown";
const PLAIN: &str = "text/plain";
/// The media types of the answer. The first one is for those who accept anything.
const OFFERED: [&str; 4] = [JSON, HTML, PLAIN, MARKDOWN];

/// A number and what it counts.
type Figure = (&'static str, String);

#[derive(Template)]
#[template(path = "front.html")]
struct FrontPage<'a> {
    url: &'a str,
    organization: &'a str,
    /// The address at which the operator can be reached.
    contact: Option<&'a str>,
    /// A call that works when it is pasted into a shell.
    first_call: String,
    has_phone_verification: bool,
    is_empty: bool,
    catalog: Vec<Figure>,
    cities: Vec<CityNow>,
    /// Whether there is a manifest of the feeds.
    has_manifest: bool,
}

/// The contents of a city's current publication.
struct CityNow {
    name: String,
    /// The path of the map.
    map: String,
    /// The path of the page about objections.
    objection: String,
    /// The path of the index of the feeds.
    index: String,
    organisations: usize,
    roles: usize,
    published_at: Timestamp,
    is_synthetic: bool,
}

pub(super) async fn show(State(app): State<Arc<App>>, headers: HeaderMap) -> Response {
    match AcceptedTypes::of(&headers).best(&OFFERED) {
        Some(HTML) => front_page(&app, &headers),
        Some(PLAIN) => text(app, "text/plain; charset=utf-8").await,
        Some(MARKDOWN) => text(app, "text/markdown; charset=utf-8").await,
        _ => tagged(&headers, links(&app).to_string(), |text| {
            ([(header::CONTENT_TYPE, JSON)], text).into_response()
        }),
    }
}

fn front_page(app: &Arc<App>, headers: &HeaderMap) -> Response {
    let snapshot = app.host.catalog.snapshot();
    let capabilities = snapshot.capabilities.len();
    let feeds = app.host.feeds.host();
    let catalog_url = format!("{}/v1/capabilities", app.public_url);
    let shown = FrontPage {
        url: &app.public_url,
        organization: &feeds.provider.organization,
        contact: feeds.contact_url(),
        first_call: format!("curl -s {}", shell_string(&catalog_url)),
        has_phone_verification: snapshot.holder(Role::PhoneVerification).is_ok(),
        is_empty: capabilities == 0,
        catalog: vec![
            figure(capabilities, ["capability", "capabilities"]),
            figure(count_actions(&snapshot), ["action", "actions"]),
            ("version of the catalog", snapshot.version.to_string()),
        ],
        cities: cities(app),
        has_manifest: app.host.feeds.current().is_some(),
    };
    public_page(headers, &shown)
}

/// Returns the overview of the host, as for `/llms.txt`.
async fn text(app: Arc<App>, media_type: &'static str) -> Response {
    let mut response = overview(State(app)).await;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.insert(header::VARY, HeaderValue::from_static("accept"));
    response
}

/// Returns what the page says, for programs: where everything is, and what is here now.
fn links(app: &Arc<App>) -> Value {
    let at = |path: &str| format!("{}{path}", app.public_url);
    let snapshot = app.host.catalog.snapshot();
    let city = |city: CityNow| {
        json!({
            "name": city.name,
            "map": at(&city.map),
            "index": at(&city.index),
            "organisations": city.organisations,
            "open_roles": city.roles,
            "published_at": city.published_at,
            "synthetic": city.is_synthetic,
        })
    };
    let mut links = json!({
        "overview": at("/llms.txt"),
        "authentication": at("/auth.md"),
        "capabilities": at("/v1/capabilities"),
        "openapi": at("/openapi.json"),
        "mcp": at("/mcp"),
        "register": at("/v1/agents/register"),
        "api_catalog": at("/.well-known/api-catalog"),
        "protected_resource": at("/.well-known/oauth-protected-resource"),
        "reference": at("/docs"),
        "status": at("/status"),
    });
    if let Some(links) = links.as_object_mut()
        && app.host.feeds.current().is_some()
    {
        links.insert("feeds".to_owned(), json!(at("/.well-known/agent.json")));
    }
    json!({
        "name": app.host.feeds.host().provider.organization,
        "description": "A host for capabilities that software agents call for people.",
        "catalog": {
            "version": snapshot.version,
            "capabilities": snapshot.capabilities.len(),
            "actions": count_actions(&snapshot),
        },
        "cities": cities(app).into_iter().map(city).collect::<Vec<_>>(),
        "links": links,
        // A URI template (RFC 6570).
        "find": at("/v1/capabilities{?q}"),
    })
}

/// Returns the number of actions that agents may call.
fn count_actions(snapshot: &Snapshot) -> usize {
    snapshot.capabilities.values().map(|capability| capability.callable().count()).sum()
}

/// Returns the cities with feeds, the first one first.
fn cities(app: &Arc<App>) -> Vec<CityNow> {
    City::all(app).filter_map(|city| Some(CityNow::new(&city, &*city.feeds.current()?))).collect()
}

impl CityNow {
    fn new(city: &City, publication: &Publication) -> Self {
        let roads = city.roads();
        let count =
            |feed| publication.pages.entries.iter().filter(|entry| entry.feed == feed).count();
        Self {
            name: publication.meta.city.name.clone(),
            map: roads.page(""),
            objection: roads.objection(),
            index: city.feeds.index_path(),
            organisations: count("targets"),
            roles: count("roles"),
            published_at: publication.generated_at,
            is_synthetic: publication.meta.synthetic,
        }
    }

    fn figures(&self) -> [Figure; 2] {
        [
            figure(self.organisations, ["organisation", "organisations"]),
            figure(self.roles, ["open role", "open roles"]),
        ]
    }
}

/// Returns a number with its word for one and for several.
fn figure(count: usize, [one, several]: [&'static str; 2]) -> Figure {
    (if count == 1 { one } else { several }, grouped(count))
}

/// Returns a number with its thousands apart: `12,345`.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_thousands_apart() {
        let numbers = [0, 7, 999, 1_000, 12_345, 1_234_567].map(grouped);
        assert_eq!(numbers, ["0", "7", "999", "1,000", "12,345", "1,234,567"]);
        assert_eq!(figure(1, ["role", "roles"]), ("role", "1".to_owned()));
        assert_eq!(figure(2, ["role", "roles"]), ("roles", "2".to_owned()));
    }
}
