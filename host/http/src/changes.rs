//! `GET /map/data/changes.json`: the log of changes of a city's feeds, as pages of JSON or NDJSON, or as
//! server-sent events.

use crate::{
    address::ClientAddress,
    change_streams::{ChangeStream, TooMany},
    city::City,
    connections::client_address,
    feeds::not_published,
    refusal::Refusal,
};
use axum::{
    body::Body,
    extract::{OriginalUri, RawQuery, State},
    http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header},
    response::{
        IntoResponse, Response, Sse,
        sse::{Event, KeepAlive},
    },
};
use futures_util::stream;
use portolan_publication::{
    Publication,
    changes::{Bounds, Cursor, Listed, Page, Wanted},
};
use portolan_vocabulary::{ErrorCode, Failure};
use serde_json::{Value, json};
use std::{collections::VecDeque, convert::Infallible, time::Duration};
use tokio::sync::watch;

const DEFAULT_LIMIT: usize = 100;
const MAX_LIMIT: usize = 1_000;
const MAX_ID_BYTES: usize = 100;
const MAX_FEEDS: usize = 16;
/// The maximum number of bytes that a stream holds for a slow reader, which its first change may exceed.
const MAX_STREAM_BYTES: usize = 64 << 10;
/// The seconds after which a client may try again when there are too many streams.
const RETRY_AFTER_S: u32 = 30;
/// The interval of comments in a stream without events.
const HEARTBEAT: Duration = Duration::from_secs(15);
/// The interval at which a waiting stream sees that the host stops.
const STOP_CHECK_INTERVAL: Duration = Duration::from_secs(1);
/// The path that answers NDJSON without a header.
const NDJSON_ENDING: &str = ".ndjson";
const NDJSON: &str = "application/x-ndjson";
const PROBLEM: &str = "application/problem+json";
/// The headers of a page of NDJSON, which has no other place for them.
const NEXT_CURSOR: HeaderName = HeaderName::from_static("next-cursor");
const HAS_MORE: HeaderName = HeaderName::from_static("has-more");

/// The parameters of the query.
#[derive(Debug)]
struct Parameters {
    since: Option<Cursor>,
    limit: usize,
    wanted: Wanted,
}

/// The reasons why a request gets no changes.
pub(super) enum Failed {
    Refused(Box<Refusal>),
    /// The cursor is not known, or its changes are not kept any more. Readers begin again at this path.
    Gone {
        index: String,
    },
}

impl<E: Into<Failure>> From<E> for Failed {
    fn from(error: E) -> Self {
        Self::Refused(Box::new(Refusal(error.into())))
    }
}

impl IntoResponse for Failed {
    fn into_response(self) -> Response {
        match self {
            Self::Refused(refusal) => refusal.into_response(),
            Self::Gone { index } => gone(&index),
        }
    }
}

/// Answers 410 with a problem document (RFC 9457) that is also the envelope of a refusal.
fn gone(index: &str) -> Response {
    let message = "The changes since this cursor are not kept any more, or it is the cursor of a publication that was taken back. Read the index and its documents again, and follow the changes from the cursor in the index.";
    let problem = json!({
        "type": "about:blank",
        "title": "Gone",
        "status": 410,
        "detail": message,
        "error_code": "cursor_invalid",
        "message": message,
        "retryable": false,
        "next": { "http": { "method": "GET", "url": index } },
    });
    let headers = [(header::CONTENT_TYPE, PROBLEM), (header::CACHE_CONTROL, "no-store")];
    (StatusCode::GONE, headers, problem.to_string()).into_response()
}

/// The form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Json,
    Ndjson,
    Events,
}

impl Form {
    fn of(path: &str, headers: &HeaderMap) -> Self {
        let accept = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok());
        let accepts = |media_type: &str| accept.is_some_and(|accept| accept.contains(media_type));
        match (accepts("text/event-stream"), accepts(NDJSON) || path.ends_with(NDJSON_ENDING)) {
            (true, _) => Self::Events,
            (false, true) => Self::Ndjson,
            (false, false) => Self::Json,
        }
    }
}

pub(super) async fn changes(
    State(city): State<City>,
    ClientAddress(address): ClientAddress,
    OriginalUri(uri): OriginalUri,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, Failed> {
    let index = city.feeds.index_path();
    let mut parameters = Parameters::parse(query.as_deref().unwrap_or_default(), &index)?;
    let form = Form::of(uri.path(), &headers);
    if form == Form::Events
        && let Some(last) = headers.get("last-event-id")
    {
        // A browser that reconnects sends the last id that it has received, but still the query of its
        // first request.
        parameters.since = Some(cursor(last.to_str().unwrap_or_default(), &index)?);
    }
    let publication = city.feeds.current();
    let publication = publication.ok_or_else(|| Failed::Refused(Box::new(not_published())))?;
    let is_history = parameters.wanted.id.is_some();
    let beginning = if is_history { publication.log.begin() } else { publication.log.end() };
    let since = parameters.since.clone().unwrap_or_else(|| beginning.clone());
    if form == Form::Events {
        // Clients behind a proxy that does not name them have no share.
        let client = address.filter(|address| !city.app.proxies.contain(*address));
        let streams = &city.app.change_streams;
        let stream = streams.open(client.map(client_address)).map_err(too_many)?;
        // A cursor that is not known is refused before the stream begins.
        let wanted = parameters.wanted.clone();
        read((&city, &publication), since.clone(), wanted, Bounds::of(1)).await?;
        return Ok(server_sent(city, since, parameters.wanted, stream));
    }
    let limit = Bounds::of(parameters.limit);
    let page = read((&city, &publication), since, parameters.wanted, limit).await?;
    if form == Form::Ndjson {
        return Ok(ndjson_page(page));
    }
    let snapshot = (parameters.since.is_none() && !is_history).then(|| {
        let url = format!("{}{index}", city.app.public_url);
        json!({ "index": url, "cursor": publication.log.end().to_string() })
    });
    Ok(json_page(&page, snapshot.as_ref()))
}

fn too_many(too_many: TooMany) -> Failure {
    let (code, message) = match too_many {
        TooMany::All => (ErrorCode::DependencyUnavailable, "Too many streams of changes are open."),
        TooMany::OfClient => {
            (ErrorCode::RateLimited, "Too many streams of changes are open from your address.")
        }
    };
    Failure::new(code).message(message).after_s(RETRY_AFTER_S)
}

async fn read(
    (city, publication): (&City, &Publication),
    since: Cursor,
    wanted: Wanted,
    bounds: Bounds,
) -> Result<Page, Failed> {
    match publication.changes(since, wanted, bounds).await {
        Ok(Some(page)) => Ok(page),
        Ok(None) => Err(Failed::Gone { index: city.feeds.index_path() }),
        Err(error) => {
            tracing::warn!(%error, "the log of changes of the feeds cannot be read");
            let message = "The log of changes cannot be read now.";
            let failure = Failure::new(ErrorCode::DependencyUnavailable).message(message);
            Err(failure.after_s(RETRY_AFTER_S).into())
        }
    }
}

fn json_page(page: &Page, snapshot: Option<&Value>) -> Response {
    // The changes are JSON already, and are not parsed again.
    let changes: Vec<&str> = page.changes.iter().map(|change| change.text.as_str()).collect();
    let snapshot = snapshot.map(|snapshot| format!(",\"snapshot\":{snapshot}"));
    let body = format!(
        "{{\"changes\":[{}],\"next\":\"{}\",\"has_more\":{}{}}}\n",
        changes.join(","),
        page.next,
        page.has_more,
        snapshot.unwrap_or_default(),
    );
    let headers = [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-cache")];
    (headers, body).into_response()
}

fn ndjson_page(page: Page) -> Response {
    let lines = page.changes.into_iter().map(|change| change.text + "\n");
    let mut response = Response::new(Body::from(lines.collect::<String>()));
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(NDJSON));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    // A cursor is printable, so this does not fail.
    if let Ok(next) = HeaderValue::from_str(&page.next.to_string()) {
        headers.insert(NEXT_CURSOR, next);
    }
    let has_more = if page.has_more { "true" } else { "false" };
    headers.insert(HAS_MORE, HeaderValue::from_static(has_more));
    response
}

/// A reader of server-sent events.
struct Follower {
    city: City,
    publications: watch::Receiver<u64>,
    /// The place up to which changes were read.
    since: Cursor,
    wanted: Wanted,
    /// The changes that were read and not sent yet.
    ready: VecDeque<Listed>,
    /// The last id that was sent.
    sent: Option<Cursor>,
    _stream: ChangeStream,
}

impl Follower {
    /// Returns the next event; `None` when the host stops, or when the log does not continue from the cursor.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(change) = self.ready.pop_front() {
                self.sent = Some(change.cursor.clone());
                return Some(event(change));
            }
            self.publications.mark_unchanged();
            let publication = self.city.feeds.current()?;
            let bounds = Bounds { bytes: MAX_STREAM_BYTES, ..Bounds::of(DEFAULT_LIMIT) };
            let source = (&self.city, &*publication);
            let reading = read(source, self.since.clone(), self.wanted.clone(), bounds);
            let page = reading.await.ok()?;
            self.since = page.next;
            self.ready.extend(page.changes);
            if !self.ready.is_empty() {
                continue;
            }
            // A browser keeps the id of an event without data, so a reader who has received nothing of what
            // was read resumes behind it.
            if self.sent.as_ref() != Some(&self.since) {
                self.sent = Some(self.since.clone());
                return Some(Event::default().id(self.since.to_string()));
            }
            if !page.has_more {
                self.wait().await?;
            }
        }
    }

    /// Waits for the next publication; `None` when the host stops.
    async fn wait(&mut self) -> Option<()> {
        loop {
            let changed = tokio::time::timeout(STOP_CHECK_INTERVAL, self.publications.changed());
            match changed.await {
                Ok(changed) => return changed.ok(),
                Err(_late) if self.city.app.host.events.is_stopping() => return None,
                Err(_late) => {}
            }
        }
    }
}

/// Returns a stream that ends when its reader disconnects, when the host stops, or when the log does not
/// continue from its cursor.
fn server_sent(city: City, since: Cursor, wanted: Wanted, stream: ChangeStream) -> Response {
    let publications = city.feeds.changes();
    let (ready, sent) = (VecDeque::new(), None);
    let follower = Follower { city, publications, since, wanted, ready, sent, _stream: stream };
    let events = stream::unfold(follower, |mut follower| async move {
        let event = follower.next().await?;
        Some((Ok::<_, Infallible>(event), follower))
    });
    let keep_alive = KeepAlive::new().interval(HEARTBEAT).text("alive");
    let mut response = Sse::new(events).keep_alive(keep_alive).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    // Proxies must not buffer the stream.
    headers.insert(HeaderName::from_static("x-accel-buffering"), HeaderValue::from_static("no"));
    response
}

/// Makes the server-sent event. Its id is the cursor from which a reader resumes.
fn event(change: Listed) -> Event {
    Event::default().id(change.cursor.to_string()).event(change.op).data(change.text)
}

fn cursor(text: &str, index: &str) -> Result<Cursor, Failure> {
    let next = json!({ "http": { "method": "GET", "url": index } });
    text.parse().map_err(|_| Failure::new(ErrorCode::CursorInvalid).next(next))
}

fn invalid(name: &str, expected: &str) -> Failure {
    let message = "A parameter of the request is invalid.";
    Failure::new(ErrorCode::ValidationFailed).message(message).conflict(json!({
        "kind": "validation",
        "errors": [{ "pointer": format!("/{name}"), "rule": "parameter", "expected": expected }],
    }))
}

impl Parameters {
    fn parse(query: &str, index: &str) -> Result<Self, Failure> {
        let mut parameters = Self { since: None, limit: DEFAULT_LIMIT, wanted: Wanted::default() };
        let pairs: Vec<(String, String)> = serde_urlencoded::from_str(query)
            .map_err(|_| invalid("", "a query of names and values"))?;
        for (name, value) in pairs {
            match name.as_str() {
                "since" if value.is_empty() => {}
                "since" => parameters.since = Some(cursor(&value, index)?),
                "limit" => {
                    let limit = value.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
                    parameters.limit = limit.ok_or_else(|| invalid("limit", "1 to 1000"))?;
                }
                "feed" => {
                    let feeds = value.split(',').map(str::trim).filter(|feed| !feed.is_empty());
                    parameters.wanted.feeds.extend(feeds.map(str::to_owned));
                }
                "id" if value.len() <= MAX_ID_BYTES => parameters.wanted.id = Some(value),
                _ => return Err(invalid(&name, "since, limit, feed or id")),
            }
        }
        match parameters.wanted.feeds.len() <= MAX_FEEDS {
            true => Ok(parameters),
            false => Err(invalid("feed", "at most 16 feeds")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURSOR: &str = "000000000041-00ff00ff00ff";

    #[test]
    fn a_query_is_read_and_a_wrong_one_is_refused() {
        let query = format!("since={CURSOR}&limit=7&feed=roles,people&feed=events&id=rol_1");
        let Parameters { since, limit, wanted } = Parameters::parse(&query, "/index").unwrap();
        assert_eq!((since.unwrap().to_string().as_str(), limit), (CURSOR, 7));
        assert_eq!((wanted.feeds.len(), wanted.id.as_deref()), (3, Some("rol_1")));
        for query in [
            "since=41",
            "limit=0",
            "limit=1001",
            "limit=x",
            "other=1",
            "feed=1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17",
        ] {
            assert!(Parameters::parse(query, "/index").is_err(), "{query}");
        }
        assert!(Parameters::parse(&format!("id={}", "x".repeat(101)), "/index").is_err());
    }

    #[test]
    fn the_form_is_that_of_the_path_or_of_the_header() {
        let form = |path: &str, accept: &'static str| {
            let headers =
                HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
            Form::of(path, &headers)
        };
        assert_eq!(form("/map/data/changes.json", "*/*"), Form::Json);
        assert_eq!(form("/map/data/changes.ndjson", "*/*"), Form::Ndjson);
        assert_eq!(form("/map/data/changes.json", "application/x-ndjson"), Form::Ndjson);
        assert_eq!(form("/map/data/changes.json", "text/event-stream"), Form::Events);
    }

    #[test]
    fn a_page_is_json() {
        let listed = |seq: u64| Listed {
            cursor: Cursor { seq, ..Cursor::default() },
            feed: "roles".to_owned(),
            id: None,
            op: "added".to_owned(),
            text: json!({ "seq": seq }).to_string(),
        };
        for changes in [Vec::new(), vec![listed(1)], vec![listed(1), listed(2)]] {
            let count = changes.len();
            let page = Page { changes, next: Cursor::default(), has_more: true };
            let response = json_page(&page, Some(&json!({ "index": "x" })));
            let body = axum::body::to_bytes(response.into_body(), 10_000);
            let body = futures_util::FutureExt::now_or_never(body).unwrap().unwrap();
            let body: Value = serde_json::from_slice(&body).unwrap();
            assert_eq!(body["changes"].as_array().unwrap().len(), count);
            assert_eq!(
                (&body["has_more"], &body["snapshot"]["index"]),
                (&json!(true), &json!("x"))
            );
        }
    }
}
