//! `GET /map/`: the map page for people. Its files are built in `map/` and linked into this program; its
//! data comes from the feeds.

use crate::{
    coding::AcceptedCodings,
    conditional::{matches_any_tag, parse_if_none_match},
    refusal::{self, Refusal},
    request_id,
};
use axum::{
    Router,
    extract::Path,
    http::{HeaderMap, HeaderName, StatusCode, header},
    middleware::from_fn_with_state,
    response::{IntoResponse as _, Redirect, Response},
    routing::get,
};
use portolan_publication::Body;
use portolan_vocabulary::{Clock, Digest};
use std::{iter, sync::LazyLock};

const PAGE: &[u8] = include_bytes!("../../../map/dist/index.html");
const ASSETS: [(&str, &str, &[u8]); 4] = [
    ("map.js", "text/javascript; charset=utf-8", include_bytes!("../../../map/dist/map.js")),
    ("map.css", "text/css; charset=utf-8", include_bytes!("../../../map/dist/map.css")),
    ("icon.svg", "image/svg+xml", include_bytes!("../../../map/dist/icon.svg")),
    ("LICENSES.txt", "text/plain; charset=utf-8", include_bytes!("../../../map/dist/LICENSES.txt")),
];
/// The number of digits of a file's digest in the file's name.
const DIGEST_DIGITS: usize = 16;

/// The page loads from this host only, runs only its own script, and turns no text into markup.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types default";
/// The page is validated at every use, because it names the current version of the files.
const REVALIDATE: &str = "no-cache";
/// The files never expire, because a changed file has another name.
const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// A file with its compressed bodies. All files are compressed when one is first requested.
struct File {
    name: String,
    media_type: &'static str,
    plain: Body,
    compressed: Vec<Body>,
}

static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
    let page = File::new(String::new(), "text/html; charset=utf-8", PAGE);
    let assets = ASSETS
        .map(|(name, media_type, bytes)| File::new(hashed_name(name, bytes), media_type, bytes));
    iter::once(page).chain(assets).flatten().collect()
});

impl File {
    /// Returns `None` if the compression fails.
    fn new(name: String, media_type: &'static str, bytes: &[u8]) -> Option<Self> {
        let (plain, compressed) = Body::in_every_coding(bytes.to_vec()).ok()?;
        Some(Self { name, media_type, plain, compressed })
    }
}

/// Returns the name with the digest of the content in it, as the build writes it into the page:
/// `map-0123456789abcdef.js`.
fn hashed_name(name: &str, bytes: &[u8]) -> String {
    let digest = Digest::of(bytes).hex();
    let digits = digest.get(..DIGEST_DIGITS).unwrap_or_default();
    match name.rsplit_once('.') {
        Some((stem, kind)) => format!("{stem}-{digits}.{kind}"),
        None => name.to_owned(),
    }
}

/// Returns the routes, without the compression layer: every body is compressed already.
pub(super) fn routes(clock: Clock) -> Router {
    Router::new()
        .route("/map", get(async || Redirect::permanent("/map/")))
        .route("/map/", get(page))
        .route("/map/assets/{name}", get(asset))
        .method_not_allowed_fallback(refusal::no_such_method)
        .layer(from_fn_with_state(clock, request_id::assign))
}

async fn page(headers: HeaderMap) -> Result<Response, Refusal> {
    let mut response = file("", REVALIDATE, &headers).await?;
    for (name, value) in [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::X_FRAME_OPTIONS, "DENY"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
    ] {
        response.headers_mut().insert(name, header::HeaderValue::from_static(value));
    }
    Ok(response)
}

async fn asset(Path(name): Path<String>, headers: HeaderMap) -> Result<Response, Refusal> {
    file(&name, IMMUTABLE, &headers).await
}

async fn file(name: &str, caching: &'static str, headers: &HeaderMap) -> Result<Response, Refusal> {
    let Some(file) = FILES.iter().find(|file| file.name == name) else {
        return Err(refusal::no_such_path().await);
    };
    let bodies = iter::once(&file.plain).chain(&file.compressed);
    let body = AcceptedCodings::of(headers).best(bodies).unwrap_or(&file.plain);
    let common = [
        (header::ETAG, body.etag.as_str()),
        (header::CACHE_CONTROL, caching),
        (header::VARY, "accept-encoding"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    if parse_if_none_match(headers).is_some_and(|tags| matches_any_tag(&tags, &body.etag)) {
        return Ok((StatusCode::NOT_MODIFIED, common).into_response());
    }
    let coding = body.coding.header().map(|name| [(header::CONTENT_ENCODING, name)]);
    let media_type = [(header::CONTENT_TYPE, file.media_type)];
    Ok((common, media_type, coding, body.bytes.clone()).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_every_file_as_it_is_served() {
        let page = std::str::from_utf8(PAGE).unwrap();
        for (name, _, bytes) in ASSETS {
            let name = hashed_name(name, bytes);
            assert!(page.contains(&format!("\"assets/{name}\"")), "{name}: `npm run build`");
        }
        assert_eq!(page.matches("assets/").count(), ASSETS.len());
    }
}
