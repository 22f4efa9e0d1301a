//! Reads files of this machine, with which an operator tries sources.

use super::error::FetchError;
use crate::charset;
use tokio::io::AsyncReadExt as _;
use url::Url;

pub(super) async fn read(url: &Url, most: usize) -> Result<Vec<u8>, FetchError> {
    let failed = |error: std::io::Error| FetchError::File(error.to_string());
    let mut plain = url.clone();
    plain.set_query(None);
    let path = plain
        .to_file_path()
        .map_err(|()| FetchError::File("the address is not that of a file".to_owned()))?;
    // Other things than files can be read without end, or wait for a writer.
    if !tokio::fs::metadata(&path).await.map_err(failed)?.is_file() {
        return Err(FetchError::File("it is not a regular file".to_owned()));
    }
    let file = tokio::fs::File::open(&path).await.map_err(failed)?;
    let mut bytes = Vec::new();
    let bound = u64::try_from(most).unwrap_or(u64::MAX).saturating_add(1);
    file.take(bound).read_to_end(&mut bytes).await.map_err(failed)?;
    match bytes.len() > most {
        true => Err(FetchError::TooLarge(most)),
        false => Ok(charset::utf_8(bytes, None)),
    }
}
