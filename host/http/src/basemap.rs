//! `GET /map/basemap.pmtiles`: the operator's file with streets for the map page, in parts (RFC 9110,
//! section 14).

use crate::{
    conditional::{matches_any_tag, parse_if_none_match},
    refusal::{self, Refusal},
};
use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures_util::stream;
use std::{
    io::{self, SeekFrom},
    path::Path,
    time::UNIX_EPOCH,
};
use tokio::{
    fs::File,
    io::{AsyncReadExt as _, AsyncSeekExt as _, Take},
};

/// How many bytes are read from the file at once.
const CHUNK_BYTES: usize = 64 << 10;
/// A changed file has another tag, by which the page notices it.
const CACHE_ONE_HOUR: &str = "public, max-age=3600";

/// What a request asks for of a file with so many bytes.
#[derive(Debug, PartialEq, Eq)]
enum Part {
    /// Everything: no range, several, or one that cannot be read.
    Whole,
    /// From this byte on, so many.
    Range { start: u64, length: u64 },
    /// Nothing of the file.
    None,
}

/// Returns whether there is a file to serve.
pub(super) async fn exists(path: &Path) -> bool {
    tokio::fs::metadata(path).await.is_ok_and(|found| found.is_file())
}

pub(super) async fn serve(path: &Path, headers: &HeaderMap) -> Result<Response, Refusal> {
    match answer(path, headers).await {
        Ok(Some(response)) => Ok(response),
        Ok(None) => Err(refusal::no_such_path().await),
        Err(error) => {
            tracing::warn!(%error, "cannot read the basemap");
            Err(refusal::no_such_path().await)
        }
    }
}

/// Returns `None` if there is no file.
async fn answer(path: &Path, headers: &HeaderMap) -> io::Result<Option<Response>> {
    let mut file = match File::open(path).await {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let found = file.metadata().await?;
    if !found.is_file() {
        return Ok(None);
    }
    let changed = found.modified()?.duration_since(UNIX_EPOCH).unwrap_or_default();
    let etag = format!("\"{:x}-{:x}\"", changed.as_nanos(), found.len());
    let common = [
        (header::ETAG, etag.clone()),
        (header::CACHE_CONTROL, CACHE_ONE_HOUR.to_owned()),
        (header::ACCEPT_RANGES, "bytes".to_owned()),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff".to_owned()),
    ];
    if parse_if_none_match(headers).is_some_and(|tags| matches_any_tag(&tags, &etag)) {
        return Ok(Some((StatusCode::NOT_MODIFIED, common).into_response()));
    }
    let size = found.len();
    // A part of another version of the file is of no use to the client.
    let same = headers.get(header::IF_RANGE).is_none_or(|tag| tag.as_bytes() == etag.as_bytes());
    let range = headers.get(header::RANGE).filter(|_| same).and_then(|value| value.to_str().ok());
    let (status, start, length) = match range.map_or(Part::Whole, |text| part(text, size)) {
        Part::Whole => (StatusCode::OK, 0, size),
        Part::Range { start, length } => (StatusCode::PARTIAL_CONTENT, start, length),
        Part::None => {
            let range = [(header::CONTENT_RANGE, format!("bytes */{size}"))];
            return Ok(Some((StatusCode::RANGE_NOT_SATISFIABLE, common, range).into_response()));
        }
    };
    file.seek(SeekFrom::Start(start)).await?;
    let mut response = (status, common, body(file.take(length))).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/vnd.pmtiles"));
    headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    if status == StatusCode::PARTIAL_CONTENT {
        let last = start.saturating_add(length).saturating_sub(1);
        let range = HeaderValue::try_from(format!("bytes {start}-{last}/{size}"));
        headers.extend(range.ok().map(|range| (header::CONTENT_RANGE, range)));
    }
    Ok(Some(response))
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

fn body(file: Take<File>) -> Body {
    Body::from_stream(stream::unfold(file, |mut file| async move {
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
    use axum::body::to_bytes;

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

    #[tokio::test]
    async fn a_file_is_served_whole_in_part_or_not_at_all() {
        let folder = tempfile::TempDir::new().unwrap();
        let path = folder.path().join("basemap.pmtiles");
        let none = HeaderMap::new();
        assert!(!exists(&path).await);
        assert!(serve(&path, &none).await.is_err());

        let content: Vec<u8> = (0..200_000_u32).map(|number| number.to_le_bytes()[0]).collect();
        std::fs::write(&path, &content).unwrap();
        assert!(exists(&path).await);
        let whole = serve(&path, &none).await.unwrap();
        let etag = whole.headers()[header::ETAG].clone();
        assert_eq!(whole.status(), StatusCode::OK);
        assert_eq!(whole.headers()[header::CONTENT_LENGTH], "200000");
        assert_eq!(to_bytes(whole.into_body(), 1 << 20).await.unwrap(), content);

        let ask = |name, value: &HeaderValue| HeaderMap::from_iter([(name, value.clone())]);
        let mut ranged = ask(header::RANGE, &HeaderValue::from_static("bytes=70000-140000"));
        let part = serve(&path, &ranged).await.unwrap();
        assert_eq!(part.status(), StatusCode::PARTIAL_CONTENT);
        assert_eq!(part.headers()[header::CONTENT_RANGE], "bytes 70000-140000/200000");
        assert_eq!(to_bytes(part.into_body(), 1 << 20).await.unwrap(), content[70_000..=140_000]);

        ranged.insert(header::IF_RANGE, HeaderValue::from_static("\"another\""));
        assert_eq!(serve(&path, &ranged).await.unwrap().status(), StatusCode::OK);
        let beyond = ask(header::RANGE, &HeaderValue::from_static("bytes=200000-"));
        let beyond = serve(&path, &beyond).await.unwrap();
        assert_eq!(beyond.status(), StatusCode::RANGE_NOT_SATISFIABLE);
        assert_eq!(beyond.headers()[header::CONTENT_RANGE], "bytes */200000");
        let known = serve(&path, &ask(header::IF_NONE_MATCH, &etag)).await.unwrap();
        assert_eq!(known.status(), StatusCode::NOT_MODIFIED);
    }
}
