//! Parts of files, as requests ask for them by `Range` (RFC 9110, section 14).

use crate::chunks::body_of;
use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::Response,
};
use futures_util::stream;
use std::io;
use tokio::{
    fs::File,
    io::{AsyncReadExt as _, Take},
};

/// How many bytes are read from the file at once.
const CHUNK_BYTES: usize = 64 << 10;

/// The part of a file of a known size that a request asks for.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Everything: no range, several, or one that cannot be read.
    Whole,
    /// From this byte on, so many.
    Range { start: u64, length: u64 },
    /// Nothing of the file.
    None,
}

/// Returns what a request asks for of a file with this tag and so many bytes.
pub(super) fn asked(headers: &HeaderMap, etag: &str, size: u64) -> Part {
    // A part of another version of the file is of no use to the client.
    let same = headers.get(header::IF_RANGE).is_none_or(|tag| tag.as_bytes() == etag.as_bytes());
    let range = headers.get(header::RANGE).filter(|_| same).and_then(|value| value.to_str().ok());
    range.map_or(Part::Whole, |text| part(text, size))
}

/// Sets the length of a response, and the range if it is a part of a file with so many bytes.
pub(super) fn set_range(response: &mut Response, (start, length): (u64, u64), size: u64) {
    let is_part = response.status() == StatusCode::PARTIAL_CONTENT;
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    if is_part {
        let last = start.saturating_add(length).saturating_sub(1);
        let range = HeaderValue::try_from(format!("bytes {start}-{last}/{size}"));
        headers.extend(range.ok().map(|range| (header::CONTENT_RANGE, range)));
    }
}

/// Reads a `Range` of one part. The file is served as a whole for every other form.
fn part(text: &str, size: u64) -> Part {
    let Some((first, last)) = text.strip_prefix("bytes=").and_then(|range| range.split_once('-'))
    else {
        return Part::Whole;
    };
    let (start, end) = match (first.trim().parse::<u64>(), last.trim().parse::<u64>()) {
        (Ok(start), Ok(last)) if start <= last => (start, last.saturating_add(1).min(size)),
        (Ok(start), Err(_)) if last.trim().is_empty() => (start, size),
        // The last bytes of the file.
        (Err(_), Ok(length)) if first.trim().is_empty() => (size.saturating_sub(length), size),
        _ => return Part::Whole,
    };
    if start < end { Part::Range { start, length: end - start } } else { Part::None }
}

/// Returns the bytes of a file as a body.
pub(super) fn body(file: Take<File>) -> Body {
    body_of(stream::unfold(file, |mut file| async move {
        let mut chunk = vec![0; CHUNK_BYTES];
        match file.read(&mut chunk).await {
            Ok(0) => None,
            Ok(read) => {
                chunk.truncate(read);
                Some((Ok::<_, io::Error>(chunk), file))
            }
            Err(error) => Some((Err(error), file)),
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_is_read_as_it_is_meant() {
        let range = |start, length| Part::Range { start, length };
        for (text, wanted) in [
            ("bytes=0-99", range(0, 100)),
            ("bytes=10-10", range(10, 1)),
            ("bytes=990-2000", range(990, 10)),
            ("bytes=990-", range(990, 10)),
            ("bytes=-10", range(990, 10)),
            ("bytes=-2000", range(0, 1000)),
            ("bytes=-0", Part::None),
            ("bytes=1000-", Part::None),
            ("bytes=1000-1001", Part::None),
            ("bytes=0-18446744073709551615", range(0, 1000)),
            ("bytes=9-3", Part::Whole),
            ("bytes=-", Part::Whole),
            ("bytes=0-1,5-6", Part::Whole),
            ("bytes=0-x", Part::Whole),
            ("bytes=99999999999999999999-", Part::Whole),
            ("pages=1-2", Part::Whole),
            ("", Part::Whole),
        ] {
            assert_eq!(part(text, 1000), wanted, "{text}");
        }
    }
}
