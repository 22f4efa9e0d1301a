//! `GET /map/`: the map that a person looks at. The page is built in `map/` and is part of this program;
//! all it shows it reads from the feeds.

use crate::{
    coding::Accepted,
    conditional::{is_known, known_tags},
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
/// Of the digest of a file's bytes, in its name.
const DIGITS: usize = 16;

/// The page asks nobody but this host, runs nothing but its own script, and makes no markup of text.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; \
    connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; \
    require-trusted-types-for 'script'; trusted-types default";
/// The page names the files of its own version.
const ASK_FIRST: &str = "no-cache";
/// A file that changes has another name.
const FOR_EVER: &str = "public, max-age=31536000, immutable";

/// A file as it goes over the wire, packed when it is first asked for.
struct File {
    name: String,
    media_type: &'static str,
    plain: Body,
    packed: Vec<Body>,
}

static FILES: LazyLock<Vec<File>> = LazyLock::new(|| {
    let page = File::new(String::new(), "text/html; charset=utf-8", PAGE);
    let assets =
        ASSETS.map(|(name, media_type, bytes)| File::new(served(name, bytes), media_type, bytes));
    iter::once(page).chain(assets).flatten().collect()
});

impl File {
    /// Nothing, if it could not be packed, which memory alone could be the reason of.
    fn new(name: String, media_type: &'static str, bytes: &[u8]) -> Option<Self> {
        let (plain, packed) = Body::in_every_coding(bytes.to_vec()).ok()?;
        Some(Self { name, media_type, plain, packed })
    }
}

/// `map.js` under a name that changes with it, as the build writes it into the page.
fn served(name: &str, bytes: &[u8]) -> String {
    let digest = Digest::of(bytes).hex();
    let digits = digest.get(..DIGITS).unwrap_or_default();
    match name.rsplit_once('.') {
        Some((stem, kind)) => format!("{stem}-{digits}.{kind}"),
        None => name.to_owned(),
    }
}

/// Everything is packed already, and needs no other layer than this.
pub(super) fn routes(clock: Clock) -> Router {
    Router::new()
        .route("/map", get(async || Redirect::permanent("/map/")))
        .route("/map/", get(page))
        .route("/map/assets/{name}", get(asset))
        .method_not_allowed_fallback(refusal::no_such_method)
        .layer(from_fn_with_state(clock, request_id::assign))
}

async fn page(headers: HeaderMap) -> Result<Response, Refusal> {
    let mut response = file("", ASK_FIRST, &headers).await?;
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
    file(&name, FOR_EVER, &headers).await
}

async fn file(name: &str, kept: &'static str, headers: &HeaderMap) -> Result<Response, Refusal> {
    let Some(file) = FILES.iter().find(|file| file.name == name) else {
        return Err(refusal::no_such_path().await);
    };
    let accepted = Accepted::of(headers);
    let bodies = iter::once(&file.plain).chain(&file.packed);
    let weighed = bodies.filter_map(|body| Some((accepted.weight(body.coding.name())?, body)));
    let body = weighed.max_by_key(|(weight, _)| *weight).map_or(&file.plain, |(_, body)| body);
    let about = [
        (header::ETAG, body.etag.as_str()),
        (header::CACHE_CONTROL, kept),
        (header::VARY, "accept-encoding"),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    ];
    if known_tags(headers).is_some_and(|tags| is_known(&tags, &body.etag)) {
        return Ok((StatusCode::NOT_MODIFIED, about).into_response());
    }
    let coding = body.coding.header().map(|name| [(header::CONTENT_ENCODING, name)]);
    let media_type = [(header::CONTENT_TYPE, file.media_type)];
    Ok((about, media_type, coding, body.bytes.clone()).into_response())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_names_every_file_as_it_is_served() {
        let page = std::str::from_utf8(PAGE).unwrap();
        for (name, _, bytes) in ASSETS {
            let served = served(name, bytes);
            assert!(page.contains(&format!("\"assets/{served}\"")), "{served}: `npm run build`");
        }
        assert_eq!(page.matches("assets/").count(), ASSETS.len());
    }
}
