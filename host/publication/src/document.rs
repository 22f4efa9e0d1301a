//! A document as it goes over the wire, made once: its bytes in each coding.

use crate::{held::Held, places::Place};
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

/// The two above it save another 3 to 9 % of the bytes and take 10 and 50 times as long: a host would
/// be seconds later at its start.
const BROTLI_QUALITY: i32 = 9;

/// How bytes are packed (RFC 9110, section 8.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Coding {
    Identity,
    Gzip,
    Brotli,
}

impl Coding {
    pub fn name(self) -> &'static str {
        match self {
            Self::Identity => "identity",
            Self::Gzip => "gzip",
            Self::Brotli => "br",
        }
    }

    /// What the header `Content-Encoding` says, where there is one.
    pub fn header(self) -> Option<&'static str> {
        (self != Self::Identity).then(|| self.name())
    }
}

/// A document in one coding.
#[derive(Debug, Clone)]
pub struct Body {
    pub coding: Coding,
    pub bytes: Bytes,
    /// Of exactly these bytes, quoted, so each coding has another one (RFC 9110, section 8.8.3.3).
    pub etag: String,
    /// The same bytes, where the kernel can take them from.
    pub held: Option<Arc<Held>>,
}

impl Body {
    fn new(coding: Coding, bytes: Vec<u8>) -> Self {
        Self { coding, etag: etag(&bytes), bytes: bytes.into(), held: None }
    }

    /// Bytes as they are, and in each coding in which they are smaller, the largest first.
    pub fn in_every_coding(bytes: Vec<u8>) -> io::Result<(Self, Vec<Self>)> {
        let packed = [(Coding::Gzip, gzip(&bytes)?), (Coding::Brotli, brotli(&bytes)?)];
        let smaller = packed.into_iter().filter(|(_, packed)| packed.len() < bytes.len());
        let mut packed: Vec<_> =
            smaller.map(|(coding, packed)| Self::new(coding, packed)).collect();
        packed.sort_by_key(|body| std::cmp::Reverse(body.bytes.len()));
        Ok((Self::new(Coding::Identity, bytes), packed))
    }
}

/// A document of the publication.
#[derive(Debug)]
pub struct Document {
    pub place: &'static Place,
    pub modified: Timestamp,
    /// The same, as the header of that name has it (RFC 9110, section 5.6.7).
    pub last_modified: String,
    plain: Body,
    /// Those that are smaller, the largest first.
    packed: Vec<Body>,
}

impl Document {
    /// In this folder its bytes are put into files, so that the kernel can take them from there.
    pub(super) fn new(
        place: &'static Place,
        bytes: Vec<u8>,
        modified: Timestamp,
        folder: &Path,
    ) -> io::Result<Self> {
        let (mut plain, mut packed) = Body::in_every_coding(bytes)?;
        for body in iter::once(&mut plain).chain(&mut packed) {
            body.held = Held::of(&body.bytes, folder);
        }
        let at = UNIX_EPOCH + Duration::from_secs(modified.as_secs());
        Ok(Self { place, modified, last_modified: fmt_http_date(at), plain, packed })
    }

    /// As it was published. Its entity tag is the one that the index tells.
    pub fn plain(&self) -> &Body {
        &self.plain
    }

    /// In every coding that there is, the largest first.
    pub fn bodies(&self) -> impl Iterator<Item = &Body> {
        iter::once(&self.plain).chain(&self.packed)
    }
}

fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

fn brotli(bytes: &[u8]) -> io::Result<Vec<u8>> {
    let parameters = BrotliEncoderParams {
        quality: BROTLI_QUALITY,
        size_hint: bytes.len(),
        ..BrotliEncoderParams::default()
    };
    let mut packed = Vec::new();
    brotli::BrotliCompress(&mut &*bytes, &mut packed, &parameters)?;
    Ok(packed)
}
