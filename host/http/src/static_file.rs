//! Files that are linked into this program. They are compressed once, and a file whose name has its digest is
//! cached for good.

use crate::{
    coding::AcceptedCodings,
    conditional::{matches_any_tag, parse_if_none_match},
};
use axum::{
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use portolan_publication::Body;
use portolan_vocabulary::Digest;
use std::iter;

/// The number of digits of a file's digest in the file's name.
const DIGEST_DIGITS: usize = 16;

/// For a page that is validated at every use, because it names the current version of its files.
pub(super) const REVALIDATE: &str = "no-cache";
/// For a file that never expires, because a changed file has another name.
pub(super) const IMMUTABLE: &str = "public, max-age=31536000, immutable";

/// A file with its compressed bodies.
pub(super) struct StaticFile {
    pub(super) name: String,
    media_type: &'static str,
    plain: Body,
    compressed: Vec<Body>,
}

impl StaticFile {
    /// Returns `None` if the compression fails.
    pub(super) fn new(name: String, media_type: &'static str, bytes: &[u8]) -> Option<Self> {
        let (plain, compressed) = Body::in_every_coding(bytes.to_vec()).ok()?;
        Some(Self { name, media_type, plain, compressed })
    }

    /// Returns the response with the file in the best coding that the client accepts, or 304 if the client has
    /// it.
    pub(super) fn respond(&self, caching: &'static str, headers: &HeaderMap) -> Response {
        let bodies = iter::once(&self.plain).chain(&self.compressed);
        let body = AcceptedCodings::of(headers).best(bodies).unwrap_or(&self.plain);
        let common = [
            (header::ETAG, body.etag.as_str()),
            (header::CACHE_CONTROL, caching),
            (header::VARY, "accept-encoding"),
            (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        ];
        if parse_if_none_match(headers).is_some_and(|tags| matches_any_tag(&tags, &body.etag)) {
            return (StatusCode::NOT_MODIFIED, common).into_response();
        }
        let coding = body.coding.header().map(|name| [(header::CONTENT_ENCODING, name)]);
        let media_type = [(header::CONTENT_TYPE, self.media_type)];
        (common, media_type, coding, body.bytes.clone()).into_response()
    }
}

/// Returns the name with the digest of the content in it: `map-0123456789abcdef.js`.
pub(super) fn hashed_name(name: &str, bytes: &[u8]) -> String {
    let digest = Digest::of(bytes).hex();
    let digits = digest.get(..DIGEST_DIGITS).unwrap_or_default();
    match name.rsplit_once('.') {
        Some((stem, kind)) => format!("{stem}-{digits}.{kind}"),
        None => name.to_owned(),
    }
}
