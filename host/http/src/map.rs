//! `GET /map/`: the map page of a city for people. Its files are built in `map/` and linked into this program;
//! its data comes from the feeds of the city, and its streets from a file of the operator.

use crate::{
    App, basemap,
    city::City,
    map_settings::MapSettings,
    refusal::{self, Refusal},
    request_id,
    static_file::{IMMUTABLE, REVALIDATE, StaticFile, hashed_name},
};
use axum::{
    Json, Router,
    extract::{Path, RawQuery, State},
    http::{HeaderMap, HeaderName, HeaderValue, header},
    middleware::from_fn_with_state,
    response::{IntoResponse as _, Redirect, Response},
    routing::get,
};
use serde::Serialize;
use std::sync::{Arc, LazyLock};

const PAGE: &[u8] = include_bytes!("../../../map/dist/index.html");
/// The page without the parts that belong to this host alone, for pages that embed it.
const EMBEDDED_PAGE: &[u8] = include_bytes!("../../../map/dist/embed.html");
const HTML: &str = "text/html; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";
const ASSETS: [(&str, &str, &[u8]); 7] = [
    ("map.js", SCRIPT, include_bytes!("../../../map/dist/map.js")),
    ("chart.js", SCRIPT, include_bytes!("../../../map/dist/chart.js")),
    ("reader.js", SCRIPT, include_bytes!("../../../map/dist/reader.js")),
    ("basemap.js", SCRIPT, include_bytes!("../../../map/dist/basemap.js")),
    ("map.css", "text/css; charset=utf-8", include_bytes!("../../../map/dist/map.css")),
    ("icon.svg", "image/svg+xml", include_bytes!("../../../map/dist/icon.svg")),
    ("LICENSES.txt", "text/plain; charset=utf-8", include_bytes!("../../../map/dist/LICENSES.txt")),
];
/// The page loads from this host only, runs only its own script, and turns no text into markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; \
    require-trusted-types-for 'script'; trusted-types default; frame-ancestors ";
const NOBODY: &str = "'none'";
/// The file with streets, relative to the page.
const BASEMAP: &str = "basemap.pmtiles";

static PAGES: LazyLock<Option<[StaticFile; 2]>> = LazyLock::new(|| {
    let page = |bytes| StaticFile::new(String::new(), HTML, bytes);
    Some([page(PAGE)?, page(EMBEDDED_PAGE)?])
});

static FILES: LazyLock<Vec<StaticFile>> = LazyLock::new(|| {
    let assets =
        ASSETS.map(|(name, kind, bytes)| StaticFile::new(hashed_name(name, bytes), kind, bytes));
    assets.into_iter().flatten().collect()
});

/// The map of a city.
#[derive(Debug)]
struct Map {
    city: City,
    settings: MapSettings,
}

/// Returns the routes, without the compression layer: every body is compressed already.
pub(super) fn routes(app: &Arc<App>) -> Router {
    let routes = City::all(app).fold(Router::new(), |router, city| router.merge(of_city(city)));
    routes
        .method_not_allowed_fallback(refusal::no_such_method)
        .layer(from_fn_with_state(Arc::clone(app), request_id::assign))
}

fn of_city(city: City) -> Router {
    let roads = city.roads().clone();
    let home = roads.page("");
    let settings = match roads.city() {
        None => city.app.map.clone(),
        Some(_) => city.app.map.of_city(city.feeds.folder()),
    };
    Router::new()
        .route(&roads.map, get(async move || Redirect::permanent(&home)))
        .route(&roads.page(""), get(page))
        .route(&roads.page("settings.json"), get(page_settings))
        .route(&roads.page(BASEMAP), get(streets))
        .route(&roads.page("assets/{name}"), get(asset))
        .with_state(Arc::new(Map { city, settings }))
}

async fn page(
    State(map): State<Arc<Map>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Refusal> {
    let embedded = query
        .is_some_and(|query| query.split('&').any(|pair| pair.split('=').next() == Some("embed")));
    let page = PAGES.as_ref().map(|[whole, embed]| if embedded { embed } else { whole });
    let mut response = file(page, REVALIDATE, &headers).await?;
    // The configuration's check allows only origins, so this does not fail.
    let ancestors = if embedded { map.settings.embed.join(" ") } else { String::new() };
    let framed = HeaderValue::try_from(format!("{POLICY}{ancestors}"));
    let framed = framed.ok().filter(|_| !ancestors.is_empty());
    let headers = response.headers_mut();
    if framed.is_none() {
        headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    }
    let policy = framed.map_or_else(|| HeaderValue::try_from(format!("{POLICY}{NOBODY}")), Ok);
    headers.extend(policy.ok().map(|policy| (header::CONTENT_SECURITY_POLICY, policy)));
    for (name, value) in [
        (header::REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        headers.insert(name, HeaderValue::from_static(value));
    }
    Ok(response)
}

/// The settings that the page cannot know from its own files.
#[derive(Debug, Serialize)]
struct PageSettings {
    #[serde(skip_serializing_if = "Option::is_none")]
    basemap: Option<&'static str>,
    /// The other cities of this host.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    cities: Vec<CityLink>,
}

/// The link to another city's map.
#[derive(Debug, Serialize)]
struct CityLink {
    name: String,
    path: String,
}

/// Returns the links to the maps of the other cities. The first one is named by its feeds, so it has no link
/// while it has none.
fn other_cities(city: &City) -> Vec<CityLink> {
    let first = &city.app.host.feeds;
    let publication = first.current();
    let first = publication.map(|publication| CityLink {
        name: publication.meta.city.name.clone(),
        path: first.roads().page(""),
    });
    let others = city.feeds.host().cities.iter();
    let others = others.map(|city| CityLink { name: city.name.clone(), path: city.map_path() });
    let here = city.roads().page("");
    first.into_iter().chain(others).filter(|link| link.path != here).collect()
}

async fn page_settings(State(map): State<Arc<Map>>) -> Response {
    let there = match &map.settings.basemap {
        Some(path) => basemap::exists(path).await,
        None => false,
    };
    let settings =
        PageSettings { basemap: there.then_some(BASEMAP), cities: other_cities(&map.city) };
    let common = [(header::CACHE_CONTROL, REVALIDATE), (header::X_CONTENT_TYPE_OPTIONS, "nosniff")];
    (common, Json(settings)).into_response()
}

async fn streets(State(map): State<Arc<Map>>, headers: HeaderMap) -> Result<Response, Refusal> {
    match &map.settings.basemap {
        Some(path) => basemap::serve(path, &headers).await,
        None => Err(refusal::no_such_path().await),
    }
}

async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, Refusal> {
    file(FILES.iter().find(|file| file.name == name), IMMUTABLE, &headers).await
}

async fn file(
    file: Option<&StaticFile>,
    caching: &'static str,
    headers: &HeaderMap,
) -> Result<Response, Refusal> {
    match file {
        Some(file) => Ok(file.respond(caching, headers)),
        None => Err(refusal::no_such_path().await),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_name_every_file_as_it_is_served() {
        for page in [PAGE, EMBEDDED_PAGE] {
            let page = std::str::from_utf8(page).unwrap();
            for (name, _, bytes) in ASSETS {
                let name = hashed_name(name, bytes);
                assert!(page.contains(&format!("\"assets/{name}\"")), "{name}: `npm run build`");
            }
            assert_eq!(page.matches("assets/").count(), ASSETS.len());
        }
    }
}
