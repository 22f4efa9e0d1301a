//! The files that have an address: those that a capability serves, with the type that it has declared.

use crate::{
    address,
    blobs::Blobs,
    error::BlobError,
    records::{BlobRecord, read},
    served_type::served_type,
};
use portolan_vocabulary::Timestamp;

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
                    address::is_signed(&self.keys, &address::file_text(digest, blob, until), key);
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
