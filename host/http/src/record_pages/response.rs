//! The answer to a request for a page: HTML or JSON, conditional, and what is answered for records that are
//! gone or never were.

use super::{error::PageError, kind::Kind, reader::Reader};
use crate::{
    Refusal,
    city::City,
    conditional::tagged,
    feeds::not_published,
    page::{FormTargets, page, page_of_text},
    page_cache::PageKey,
};
use askama::Template;
use axum::{
    extract::Path,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use portolan_publication::{Publication, Roads};
use portolan_vocabulary::{ErrorCode, Failure};
use serde_json::Value;
use std::sync::Arc;

/// The maximum length of a record's id.
const MAX_ID: usize = 40;
const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// A page that says why a record is not there.
#[derive(Template)]
#[template(path = "records/absent.html")]
struct AbsentPage<'a> {
    /// The path of the map page.
    map: String,
    title: &'a str,
    text: &'a str,
}

/// Answers a request for the page about a record; its id may end in `.json`.
pub(super) async fn respond(
    city: &City,
    kind: Kind,
    id: Option<Path<String>>,
    headers: &HeaderMap,
) -> Response {
    let id = id.map(|Path(id)| id).unwrap_or_default();
    let (id, is_json) = match id.strip_suffix(".json") {
        Some(id) => (id, true),
        None => (&*id, prefers_json(headers)),
    };
    let roads = city.roads();
    let Some(publication) = city.feeds.current() else {
        return if is_json { not_published().into_response() } else { empty_map(roads) };
    };
    let found = match is_id(id) {
        true => publication.records.record(kind.feed(), id).await,
        false => Ok(None),
    };
    let record = match found {
        Ok(Some(record)) => record,
        Ok(None) => return absent((&publication, roads), id, is_json),
        Err(error) => return failed(&error.into()),
    };
    let canonical = format!("{}{}", roads.feeds, roads.page(&format!("{}/{id}", kind.folder())));
    let mut response = match is_json {
        true => tagged(headers, record.to_string(), |text| {
            ([(header::CONTENT_TYPE, JSON)], text).into_response()
        }),
        false => match rendered(city, &publication, kind, id, &record).await {
            Ok(text) => tagged(headers, text, |text| {
                page_of_text(StatusCode::OK, text, FormTargets::ThisHostWithScript)
            }),
            Err(error) => return failed(&error),
        },
    };
    if let Ok(link) = HeaderValue::from_str(&format!("<{canonical}>; rel=\"canonical\"")) {
        response.headers_mut().insert(header::LINK, link);
    }
    response
}

async fn rendered(
    city: &City,
    publication: &Arc<Publication>,
    kind: Kind,
    id: &str,
    record: &Value,
) -> Result<String, PageError> {
    let key = PageKey {
        publication: format!("{}/{}", city.roads().map, publication.name),
        catalog: city.app.host.catalog.snapshot().version,
        feed: kind.feed(),
        id: id.to_owned(),
    };
    if let Some(page) = city.app.pages.get(&key).await {
        return Ok(page.to_string());
    }
    let page = kind.render(&Reader { city, publication }, record).await?;
    city.app.pages.insert(key, &page).await;
    Ok(page)
}

/// Returns whether a client asks for JSON and not for a page.
fn prefers_json(headers: &HeaderMap) -> bool {
    let accept = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let accept: String = accept.collect::<Vec<_>>().join(",").to_ascii_lowercase();
    accept.contains("application/json") && !accept.contains("text/html")
}

pub(super) fn is_id(text: &str) -> bool {
    let is_safe = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !text.is_empty() && text.len() <= MAX_ID && text.bytes().all(is_safe)
}

/// Returns the answer for a record that was removed, or that never was.
fn absent((publication, roads): (&Publication, &Roads), id: &str, is_json: bool) -> Response {
    let is_gone = publication.pages.gone.contains(id);
    let (code, status, title, text) = match is_gone {
        true => (
            ErrorCode::ResourceGone,
            StatusCode::GONE,
            "This is no longer on the map",
            "It was here, and was removed: the source does not have it any more, or somebody objected.",
        ),
        false => (
            ErrorCode::NotFound,
            StatusCode::NOT_FOUND,
            "This is not on the map",
            "Nothing on the map has this address.",
        ),
    };
    let mut response = match is_json {
        true => Refusal(Failure::new(code)).into_response(),
        false => {
            page(status, &AbsentPage { map: roads.page(""), title, text }, FormTargets::ThisHost)
        }
    };
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
    response
}

fn empty_map(roads: &Roads) -> Response {
    let (title, text) = ("There is no map here yet", "This host has no feeds. Come back later.");
    let absent = AbsentPage { map: roads.page(""), title, text };
    page(StatusCode::SERVICE_UNAVAILABLE, &absent, FormTargets::ThisHost)
}

pub(super) fn failed(error: &PageError) -> Response {
    tracing::error!(%error, "a page about a record cannot be made");
    let failure = Failure::new(ErrorCode::InternalError);
    Refusal(failure).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_for_those_who_ask_for_it_alone() {
        let asks = |text: &str| HeaderMap::from_iter([(header::ACCEPT, text.parse().unwrap())]);
        for (accept, json) in [
            ("application/json", true),
            ("Application/JSON;q=0.9, */*", true),
            ("text/html,application/json", false),
            ("*/*", false),
            ("", false),
        ] {
            assert_eq!(prefers_json(&asks(accept)), json, "{accept}");
        }
        assert!(!prefers_json(&HeaderMap::new()));
    }

    #[test]
    fn only_what_can_be_an_id_is_looked_up() {
        assert!(is_id("tgt_0000000000000000000000000A"));
        for text in ["", "..", "tgt_ä", "a/b", &"x".repeat(41)] {
            assert!(!is_id(text), "{text}");
        }
    }
}
