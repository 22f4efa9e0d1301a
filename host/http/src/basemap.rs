//! `GET /map/basemap.pmtiles`: the operator's file with streets for the map page, in parts (RFC 9110,
//! section 14).

use crate::{
    byte_range::{Part, asked, body, set_range},
    conditional::{matches_any_tag, parse_if_none_match},
    refusal::{self, Refusal},
};
use axum::{
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use std::{
    io::{self, SeekFrom},
    path::Path,
    time::UNIX_EPOCH,
};
use tokio::{
    fs::File,
    io::{AsyncReadExt as _, AsyncSeekExt as _},
};

/// A changed file has another tag, by which the page notices it.
const CACHE_ONE_HOUR: &str = "public, max-age=3600";

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
    let (status, start, length) = match asked(headers, &etag, size) {
        Part::Whole => (StatusCode::OK, 0, size),
        Part::Range { start, length } => (StatusCode::PARTIAL_CONTENT, start, length),
        Part::None => {
            let range = [(header::CONTENT_RANGE, format!("bytes */{size}"))];
            return Ok(Some((StatusCode::RANGE_NOT_SATISFIABLE, common, range).into_response()));
        }
    };
    file.seek(SeekFrom::Start(start)).await?;
    let mut response = (status, common, body(file.take(length))).into_response();
    let media_type = HeaderValue::from_static("application/vnd.pmtiles");
    response.headers_mut().insert(header::CONTENT_TYPE, media_type);
    set_range(&mut response, (start, length), size);
    Ok(Some(response))
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::body::to_bytes;

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
