//! The parsers of queries and header fields, for the fuzz targets of `tests/fuzz`.

use crate::{
    Proxies,
    coding::AcceptedCodings,
    conditional::{is_unmodified_since, matches_any_tag, parse_if_none_match},
    events::PollParameters,
    input::idempotency_key,
    oauth::{parameters, parse_basic},
};
use axum::http::{HeaderMap, HeaderValue, header};
use portolan_vocabulary::Timestamp;
use std::net::IpAddr;

/// Parses one text as each of the header fields that this crate reads itself, and as a query.
pub fn parse_all(text: &[u8], peer: IpAddr, proxies: &Proxies) {
    let _form = parameters(text);
    if let Ok(text) = std::str::from_utf8(text) {
        let _poll = PollParameters::parse(text).ok();
        let _credentials = parse_basic(text);
    }
    let Ok(value) = HeaderValue::from_bytes(text) else { return };
    let mut headers = HeaderMap::new();
    for name in [header::ACCEPT_ENCODING, header::IF_NONE_MATCH, header::IF_MODIFIED_SINCE] {
        headers.insert(name, value.clone());
    }
    for name in ["idempotency-key", "x-forwarded-for"] {
        headers.insert(name, value.clone());
    }
    let codings = AcceptedCodings::of(&headers);
    let _weights = ["identity", "gzip", "br"].map(|coding| codings.weight(coding));
    let tags = parse_if_none_match(&headers).unwrap_or_default();
    let _same = matches_any_tag(&tags, "\"tag\"");
    let _old = is_unmodified_since(&headers, Timestamp::from_millis(0));
    let _key = idempotency_key(&headers);
    let _client = proxies.client_address(peer, &headers);
}
