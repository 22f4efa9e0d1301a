//! The files that have an address: those that a capability serves, with the type that it has declared.

use crate::{
    address,
    blobs::{Blobs, file_text},
    error::BlobError,
    records::{BlobRecord, read},
};
use portolan_vocabulary::Timestamp;

/// The types that are served, and whether a browser may show them. All others are refused when a capability declares
/// them, so nothing that a browser would run has an address.
const TYPES: [(&str, bool); 3] =
    [("image/jpeg", true), ("image/png", true), ("application/pdf", false)];

/// The path of files.
const FILES: &str = "/media/";
const DIGEST_DIGITS: usize = 64;

/// A file that is served.
#[derive(Debug)]
pub struct Served {
    object: String,
    pub media_type: &'static str,
    /// Whether a browser may show it; otherwise it is downloaded.
    pub is_shown: bool,
    pub bytes: u64,
    /// Until when the address is valid; `None` if everybody may read the file.
    pub until: Option<Timestamp>,
}

/// The signed part of an address.
#[derive(Debug)]
pub struct SignedAddress<'a> {
    /// In seconds since the Unix epoch.
    pub until: u64,
    pub key: &'a str,
}

impl Blobs {
    /// Returns the file at the address of a blob and its content; `None` if nobody serves it there.
    pub async fn served(
        &self,
        (digest, blob): (&str, &str),
        signed: Option<SignedAddress<'_>>,
    ) -> Result<Option<Served>, BlobError> {
        let is_digest = digest.len() == DIGEST_DIGITS
            && digest.chars().all(|c| c.is_ascii_digit() || ('a'..='f').contains(&c));
        if !is_digest {
            return Ok(None);
        }
        let mut unit = self.unit();
        let until = match signed {
            None => None,
            Some(SignedAddress { until, key }) => {
                let is_signed =
                    address::is_signed(&self.keys, &file_text(digest, blob, until), key);
                if !is_signed || unit.now().as_secs() >= until {
                    return Ok(None);
                }
                Some(Timestamp::from_millis(until.saturating_mul(1000)))
            }
        };
        let found = read::<BlobRecord>(&mut unit, &self.records.blobs, blob).await?;
        let found = found.filter(|(record, _)| record.content.as_deref() == Some(digest));
        let Some((record, _)) = found else { return Ok(None) };
        let Some(serving) = &record.serving else { return Ok(None) };
        if until.is_none() && !serving.public {
            return Ok(None);
        }
        let Some((media_type, is_shown)) = served_type(&serving.media_type) else {
            return Ok(None);
        };
        let Some(object) = self.object(&mut unit, &record).await? else { return Ok(None) };
        Ok(Some(Served { object, media_type, is_shown, bytes: record.bytes, until }))
    }

    /// Returns how many bytes of a file are read at once.
    pub fn chunk_bytes(&self) -> u64 {
        self.contents.chunk_bytes()
    }

    /// Reads at most `length` bytes of a served file from `offset` on; `None` if its content is missing.
    pub async fn read_served(
        &self,
        served: &Served,
        offset: u64,
        length: u64,
    ) -> Result<Option<Vec<u8>>, BlobError> {
        let length = length.min(served.bytes.saturating_sub(offset));
        Ok(self.contents.read(&served.object, offset, length).await?)
    }
}

pub(crate) fn path(digest: &str) -> String {
    format!("{FILES}{digest}")
}

pub(crate) fn is_served_type(name: &str) -> bool {
    served_type(name).is_some()
}

fn served_type(name: &str) -> Option<(&'static str, bool)> {
    TYPES.into_iter().find(|(known, _)| *known == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_a_browser_would_run_is_served() {
        for name in ["text/html", "image/svg+xml", "application/xhtml+xml", "text/javascript", ""] {
            assert!(!is_served_type(name), "{name}");
        }
        assert_eq!(served_type("application/pdf"), Some(("application/pdf", false)));
    }
}
