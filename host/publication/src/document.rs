//! A document as it is sent: its bytes in each content coding, made once.

use crate::{entries::DocumentEntry, file_backed::FileBacked};
use brotli::enc::BrotliEncoderParams;
use bytes::Bytes;
use flate2::{Compression, write::GzEncoder};
use httpdate::fmt_http_date;
use portolan_feeds::document::etag;
use portolan_vocabulary::Timestamp;
use std::{
    io::{self, Write as _},
    iter,
    path::Path,
    sync::Arc,
    time::{Duration, UNIX_EPOCH},
};

/// The two higher qualities save another 3 to 9 % of the bytes and take 10 and 50 times as long, which
/// would delay the start of a host by seconds. Large documents are compressed less, for the same reason.
const BROTLI_QUALITY: i32 = 9;
const LARGE_BROTLI_QUALITY: i32 = 5;
const LARGE_BYTES: usize = 4 << 20;

/// A content coding (RFC 9110, section 8.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    Identity,
    Gzip,
    Brotli,
}

impl Coding {
    /// Returns the registered name of the coding.
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Brotli => "br",
        }
    }

    /// Returns the value of the header `Content-Encoding`, if it is sent.
    pub fn header(self) -> Option<&'static str> {
        (self != Self::Identity).then(|| self.name())
    }
}

/// A document in one coding.
#[derive(Debug, Clone)]
pub struct Body {
    pub coding: Coding,
    pub bytes: Bytes,
    /// The entity tag of these bytes, quoted. Each coding has another one (RFC 9110, section 8.8.3.3).
    pub etag: String,
    /// The same bytes in a file, from which the kernel can send them.
    pub file: Option<Arc<FileBacked>>,
}

impl Body {
    fn new(coding: Coding, bytes: Vec<u8>) -> Self {
        Self { coding, etag: etag(&bytes), bytes: bytes.into(), file: None }
    }

    /// Returns the bytes as they are, and in each coding in which they are smaller, the largest first.
    pub fn in_every_coding(bytes: Vec<u8>) -> io::Result<(Self, Vec<Self>)> {
        let encoded = [(Coding::Gzip, gzip(&bytes)?), (Coding::Brotli, brotli(&bytes)?)];
        let smaller = encoded.into_iter().filter(|(_, encoded)| encoded.len() < bytes.len());
        let mut encoded: Vec<_> = smaller.map(|(coding, bytes)| Self::new(coding, bytes)).collect();
        encoded.sort_by_key(|body| std::cmp::Reverse(body.bytes.len()));
        Ok((Self::new(Coding::Identity, bytes), encoded))
    }
}

/// A document of the publication.
#[derive(Debug)]
pub struct Document {
    pub entry: Arc<DocumentEntry>,
    pub modified: Timestamp,
    /// The same time as the header `Last-Modified` (RFC 9110, section 5.6.7).
    pub last_modified: String,
    /// The header `Link` with the hubs and the address of a feed or of the index, if there are hubs.
    pub link: Option<String>,
    plain: Body,
    /// The codings that are smaller, the largest first.
    encoded: Vec<Body>,
}

impl Document {
    /// Encodes a document, and writes those of its bodies that are large enough to files in this
    /// folder.
    pub(crate) fn new(
        entry: Arc<DocumentEntry>,
        bytes: Vec<u8>,
        modified: Timestamp,
        link: Option<String>,
        folder: &Path,
    ) -> io::Result<Self> {
        let (mut plain, mut encoded) = Body::in_every_coding(bytes)?;
        for body in iter::once(&mut plain).chain(&mut encoded) {
            body.file = FileBacked::new(&body.bytes, folder);
        }
        let at = UNIX_EPOCH + Duration::from_secs(modified.as_secs());
        Ok(Self { entry, modified, last_modified: fmt_http_date(at), link, plain, encoded })
    }

    /// Returns the uncompressed body. The index lists its entity tag.
    pub fn plain(&self) -> &Body {
        &self.plain
    }

    /// Returns the document in every coding, the largest first.
    pub fn bodies(&self) -> impl Iterator<Item = &Body> {
        iter::once(&self.plain).chain(&self.encoded)
    }
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn brotli(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let parameters = BrotliEncoderParams {
        quality: if bytes.len() < LARGE_BYTES { BROTLI_QUALITY } else { LARGE_BROTLI_QUALITY },
        size_hint: bytes.len(),
        ..BrotliEncoderParams::default()
    };
    let mut encoded = Vec::new();
    brotli::BrotliCompress(&mut &*bytes, &mut encoded, &parameters)?;
    Ok(encoded)
}
